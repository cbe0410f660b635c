"""Words of the command line that say what macros of a kernel are."""

import re
from collections.abc import Iterable

from dse.base.errors import OptionError

_NAME = re.compile(r"[A-Za-z_]\w*")


def defines_of(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the macros. Raises ``OptionError`` for one that is given two values."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = parse_define(text)
        if found.setdefault(name, value) != value:
            raise OptionError(f"--define gives {name} two values: {found[name]} and {value}", expected="give one")
    return tuple(found.items())


def parse_define(text: str) -> tuple[str, str]:
    """Return (name, value) of ``N=1024``; without a value it is 1, as for a compiler. Raises ``OptionError``."""
    name, equals, value = text.partition("=")
    if not _NAME.fullmatch(name) or (equals and not value.strip()):
        raise OptionError(f"define '{text}' is not understood", expected="NAME=VALUE, such as N=1024")
    return name, value if equals else "1"
