"""Text of unknown origin as Markdown that shows it as it is."""

import re

from dse.base.escaping import shown

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&-])")


def code(text: str) -> str:
    """Return a text in the line as code."""
    return "`" + shown(text).replace("`", "'") + "`"


def fenced(text: str) -> str:
    """Return a declaration as a block of CAL."""
    return "```cal\n" + shown(text).replace("`", "'") + "\n```"


def prose(text: str) -> str:
    """Return lines of a comment as a paragraph, its marks as they are written."""
    return "  \n".join(_MARKS.sub(r"\\\1", shown(line)) for line in text.split("\n"))
