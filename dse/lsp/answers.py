"""What the session answers, in terms of this package: places are offsets in a text."""

from dataclasses import dataclass
from typing import Literal

from dse.base.errors import Severity
from dse.lsp.source_text import SourceText


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A declaration: ``start`` to ``end`` all of it, ``name_start`` to ``name_end`` its name."""

    source: SourceText
    start: int
    end: int
    name_start: int
    name_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hovered:
    """Markdown about the name that stands from ``start`` to ``end``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlined:
    """An entry of the outline. ``kind``: a kind of declaration, or the name of an XDF element."""

    name: str
    detail: str
    kind: str
    start: int
    end: int
    name_start: int
    name_end: int
    children: tuple["Outlined", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A name to be put between ``start`` and ``end``; ``kind`` as in ``Outlined``, or "keyword" or "class"."""

    name: str
    kind: str
    detail: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnostic at a place of a text."""

    message: str
    severity: Severity
    start: int
    end: int


Language = Literal["cal", "xdf"]
