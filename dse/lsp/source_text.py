"""Places in a text: offsets, the lines and columns of our spans, the lines and characters of an editor.

An offset counts the characters (code points) before a place. Our columns count characters too, from 1, and the lines
of a CAL file end with a line feed only. An editor counts lines from 0, ends them with ``\\r`` as well, and counts in a
line the units of UTF-16, unless both sides agree on another encoding.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dse.base.source import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_ANY_BREAK = re.compile(r"\r\n|\r|\n")
_LINE_FEED = re.compile(r"\n")
_WORD = re.compile(r"\w+|[^\r\n]")
_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Place:
    """A place as an editor counts: line and character, both from 0."""

    line: int
    character: int


class SourceText:
    """A text with the starts of its lines. ``is_xml``: our own lines end as in XML, not as in CAL."""

    def __init__(self, path: str, text: str, *, is_xml: bool) -> None:
        self.path = path
        self.text = text
        self._shown = [0, *(m.end() for m in _ANY_BREAK.finditer(text))]
        self._own = self._shown if is_xml else [0, *(m.end() for m in _LINE_FEED.finditer(text))]
        self._unmarked = 1 if text.startswith(_MARK) and not is_xml else 0
        """Characters before column 1 of line 1."""

    # Our spans

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column that count from 1; of a place outside the text, the nearest."""
        if line < 1:
            return 0
        if line > len(self._own):
            return len(self.text)
        start = self._own[line - 1] + (self._unmarked if line == 1 else 0)
        end = self._own[line] if line < len(self._own) else len(self.text)
        return max(start, min(start + column - 1, end))

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column, both from 1, of an offset."""
        line = bisect_right(self._own, offset)
        return line, offset - self._own[line - 1] + 1 - (self._unmarked if line == 1 else 0)

    def range_of(self, span: Span) -> tuple[int, int]:
        """Return the offsets of start and end of a span."""
        start = self.offset(span.line, span.column)
        return start, max(start, self.offset(span.end_line, span.end_column))

    def word_end(self, offset: int) -> int:
        """Return the end of the word at an offset; where none begins, one character further on the line."""
        found = _WORD.match(self.text, offset)
        return offset if found is None else found.end()

    def span_of(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        return Span(self.path, *self.line_and_column(start), *self.line_and_column(end))

    # Places of an editor

    def place(self, offset: int, encoding: Encoding) -> Place:
        """Return an offset as an editor counts."""
        line = bisect_right(self._shown, offset) - 1
        return Place(line, _units(self.text[self._shown[line] : offset], encoding))

    def at(self, place: Place, encoding: Encoding) -> int:
        """Return the offset of a place; of one behind the end of its line, that of the end."""
        if place.line < 0:
            return 0
        if place.line >= len(self._shown):
            return len(self.text)
        start = self._shown[place.line]
        end = self._shown[place.line + 1] if place.line + 1 < len(self._shown) else len(self.text)
        line = self.text[start:end].rstrip("\r\n")
        if place.character <= 0:
            return start
        if line.isascii() or encoding == "utf-32":
            return start + min(place.character, len(line))
        taken = 0
        for index, character in enumerate(line):
            taken += _units(character, encoding)
            if taken > place.character:
                return start + index
        return start + len(line)

    def lines_before(self, offset: int) -> Iterable[str]:
        """Yield the lines before the one of an offset, the nearest first."""
        line = bisect_right(self._own, offset) - 1
        for index in range(line - 1, -1, -1):
            yield self.text[self._own[index] : self._own[index + 1]].rstrip("\r\n")


def _units(text: str, encoding: Encoding) -> int:
    """Return how many units of an encoding a text takes; half of a pair that stands alone takes one."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(c > "\uffff" for c in text)
