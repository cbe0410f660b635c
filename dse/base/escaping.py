"""Text of unknown origin made harmless: for terminals, for markup (HTML, SVG, XML), for JSON.

Names, paths and messages come from files that others wrote. A terminal obeys the control characters in them, a browser
the markup, and marks of writing direction show a text in another order than it has. All output goes through here.
"""

import json
import math
import re
import unicodedata
from pathlib import Path
from typing import Any

REPLACEMENT = "\ufffd"
"""Stands for each character that is not shown."""
_PLAIN = re.compile(r"[ -~]*")
_PLAIN_LINES = re.compile(r"[\t\n -~]*")
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def shown(text: str) -> str:
    """Return ``text`` for one line of a terminal: each character that does not print becomes ``REPLACEMENT``.

    Those are all control characters (a line end and a tab too), marks of direction, characters of no width, spaces that
    are none, private and unassigned ones, and halves of surrogate pairs (bytes of a file name that are not UTF-8).
    The number of characters stays.
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(c if c.isprintable() else REPLACEMENT for c in text)


def shown_message(text: str) -> str:
    """Return ``text`` as ``shown``, but a line end stays where two blanks follow: so a message goes on in a new line.

    A line end in a name could let what follows look like a message of its own.
    """
    return "\n  ".join(map(shown, text.split("\n  ")))


def shown_lines(text: str) -> str:
    """Return ``text`` for several lines of a terminal: as ``shown``, but line ends and tabs stay."""
    if _PLAIN_LINES.fullmatch(text):
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else REPLACEMENT for c in text.replace("\r\n", "\n"))


def cells(text: str) -> int:
    """Return how many columns of a terminal the printable ``text`` takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def markup(text: str) -> str:
    """Return ``text`` as content of an HTML or XML element, or as an attribute's value between quotes of either kind.

    Reading it back gives the same text, but ``REPLACEMENT`` for what no XML document may hold.
    """
    return _NOT_IN_XML.sub(REPLACEMENT, text).translate(_REFERENCES)


def page_text(text: str) -> str:
    """Return ``text`` as ``markup`` of a page or picture for people: what does not print is replaced too."""
    return markup(shown_lines(text))


def not_in_xml(text: str) -> str:
    """Return the characters of ``text`` that no XML document may hold, each once; mostly none."""
    return "".join(dict.fromkeys(_NOT_IN_XML.findall(text)))


def encodable(name: str) -> str:
    """Return the name of a file so that UTF-8 can hold it: bytes of it that are no UTF-8 become ``\\udcXX``."""
    return name.encode("utf-8", "backslashreplace").decode()


def name_of_file(path: str) -> str:
    """Return the name of what a file holds that does not say it: that of the file, as all formats can hold it."""
    return shown(encodable(Path(path).stem))


def json_text(document: Any) -> str:
    """Return a document as JSON, indented, in printable ASCII: what does not print is an escape sequence.

    A number that JSON does not have (without end, or of nothing) is null.
    """
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(document), indent=2)
    return text.replace("\x7f", "\\u007f")


def _finite(document: Any) -> Any:
    """Return a document with None in the place of every number that is not finite."""
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_finite(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document
