"""The words of a mapping as text: from characters to partitions and settings, each word with its place.

The grammar, where blanks and line ends separate::

    mapping   = { partition | setting }
    partition = NAME { "*" CORES | "@" UNIT [ "=" MHZ ] | "/" POLICY [ "=" ACTOR { "," ACTOR } ] } ":" actors
    actors    = ( ACTOR | "*" ) { "," ( ACTOR | "*" ) }
    setting   = NAME "=" [ NAME "=" ] VALUE { "," [ NAME "=" ] VALUE }

A name with blanks or one of ``, : = @ * ' "`` in it stands in quotes of either kind, and so does the name of a
partition or a unit with ``/`` in it. Inside, a backslash goes before a quote or a backslash, and ``\\uXXXX`` is a
character by its number. Blanks may follow ``:`` and ``,``. What the words mean is up to ``mapping_text``. The format is
our own.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic
from dse.base.source import Span

LONGEST = 1 << 20
"""Characters of a mapping as text; what is longer is none."""
REST = "*"
"""Stands for all actors that are named nowhere else."""
_QUOTES = "'\""
_STOPS = ",:=@*" + _QUOTES
_HEAD_STOPS = _STOPS + "/"
_ESCAPED = "\\" + _QUOTES
_HEXADECIMAL = re.compile("[0-9a-fA-F]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrigin:
    """Where a mapping stands: in a file from a line and column on, or, without ``in_file``, on a command line."""

    path: str = "mapping"
    line: int = 1
    column: int = 1
    in_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A name or a value, and where it stands: offsets into the text, the end exclusive."""

    text: str
    start: int
    end: int
    quoted: bool = False

    @property
    def is_rest(self) -> bool:
        """Whether it stands for all other actors."""
        return self.text == REST and not self.quoted


@dataclass(slots=True, kw_only=True)
class PartitionWords:
    """A partition as it is written; None and empty: not said."""

    name: Word
    cores: Word | None = None
    unit: Word | None = None
    clock: Word | None = None
    policy: Word | None = None
    order: list[Word] = field(default_factory=list)
    actors: list[Word] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class SettingWords:
    """A setting as it is written: (what of, None where that is not said; value)."""

    name: Word
    values: list[tuple[Word | None, Word]] = field(default_factory=list)


class _Malformed(Exception):
    """The text cannot go on like this; what is wrong is gathered."""


class MappingWords:
    """The words of one text. ``malformed``: whether a part of it was skipped, which is then gathered as an error."""

    def __init__(self, text: str, origin: TextOrigin, gather: Gatherer) -> None:
        self.text = text
        self.malformed = False
        self._origin = origin
        self._gather = gather
        self._at = 0
        self.partitions: list[PartitionWords] = []
        self.settings: list[SettingWords] = []
        self._read()

    # Places

    @property
    def whole(self) -> Word:
        """The text as one word."""
        return Word(text=self.text, start=0, end=len(self.text))

    def error(self, message: str, word: Word, expected: str = "") -> None:
        """Record an error at a word."""
        line, column = self._place(word.start)
        end_line, end_column = self._place(word.end)
        span = Span(self._origin.path, line, column, end_line, end_column)
        excerpt = None if self._origin.in_file else self.text.split("\n")[line - self._origin.line]
        self._gather.extend([Diagnostic(message=message, span=span, expected=expected, excerpt=excerpt)])

    def place_text(self, word: Word) -> str:
        """Return where a word stands, for a message about another one: ``in column 7``."""
        line, column = self._place(word.start)
        return f"in column {column}" if line == self._origin.line else f"in line {line}, column {column}"

    def _place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset."""
        before = self.text[:offset]
        lines = before.count("\n")
        column = offset - (before.rfind("\n") + 1) + 1
        return self._origin.line + lines, column + (self._origin.column - 1 if lines == 0 else 0)

    # Grammar

    def _read(self) -> None:
        while self._skip_blanks():
            try:
                self._item()
            except _Malformed:
                self.malformed = True
                self._skip_item()

    def _item(self) -> None:
        """Read a partition or a setting."""
        name = self._word(_HEAD_STOPS, "the name of a partition")
        if self._next() == "=":
            self.settings.append(self._setting(name))
            return
        found = PartitionWords(name=name)
        while self._next() and self._next() in "*@/":
            self._suffix(found)
        if self._next() != ":":
            self._fail(f"there is no ':' after partition '{name.text}'", name, "write NAME:ACTOR,ACTOR: P0:a,b P1:c")
        self._at += 1
        found.actors = self._list("the name of an actor", rest=True)
        self.partitions.append(found)

    def _suffix(self, found: PartitionWords) -> None:
        """Read cores, unit or policy behind the name of a partition."""
        start, sign = self._at, self._next()
        self._at += 1
        match sign:
            case "*":
                first, found.cores = found.cores, self._word(_HEAD_STOPS, "the number of cores")
            case "@":
                first, found.unit = found.unit, self._word(_HEAD_STOPS, "the name of a unit")
                if self._next() == "=":
                    self._at += 1
                    found.clock = self._word(_HEAD_STOPS, "a clock in MHz")
            case _:
                first, found.policy = found.policy, self._word(_HEAD_STOPS, "a policy")
                if self._next() == "=":
                    self._at += 1
                    found.order = self._list("the name of an actor", rest=False)
        if first is not None:
            again = Word(text=self.text[start : self._at], start=start, end=self._at)
            self._fail(f"'{sign}' stands twice in partition '{found.name.text}'", again, "say it once")

    def _setting(self, name: Word) -> SettingWords:
        """Read the values of a setting."""
        found = SettingWords(name=name)
        while not found.values or self._next() == ",":
            self._at += 1
            first = self._word(_STOPS, "a value")
            if self._next() == "=":
                self._at += 1
                found.values.append((first, self._word(_STOPS, "a value")))
            else:
                found.values.append((None, first))
        return found

    def _list(self, what: str, *, rest: bool) -> list[Word]:
        """Read words with commas between them; the cursor is behind the sign before the first one."""
        words = [self._listed(what, rest)]
        while self._next_behind_blanks() == ",":
            self._skip_blanks()
            self._at += 1
            words.append(self._listed(what, rest))
        return words

    def _listed(self, what: str, rest: bool) -> Word:
        self._skip_blanks()
        if rest and self._next() == REST:
            self._at += 1
            return Word(text=REST, start=self._at - 1, end=self._at)
        return self._word(_STOPS, what)

    # Characters

    def _next(self) -> str:
        """Return the next character, or nothing at the end."""
        return self.text[self._at : self._at + 1]

    def _next_behind_blanks(self) -> str:
        here = self._at
        while self.text[here : here + 1].isspace():
            here += 1
        return self.text[here : here + 1]

    def _skip_blanks(self) -> bool:
        """Go to what is no blank; return whether anything is there."""
        while self._next().isspace():
            self._at += 1
        return bool(self._next())

    def _skip_item(self) -> None:
        """Go to the next blank outside quotes, behind what cannot be read."""
        while self._next() and not self._next().isspace():
            self._at += 1

    def _word(self, stops: str, what: str) -> Word:
        """Read a name or a value; ``what``: it is, for the message where there is none."""
        if self._next() and self._next() in _QUOTES:
            return self._quoted()
        start = self._at
        while self._next() and self._next() not in stops and not self._next().isspace():
            self._at += 1
        if start == self._at:
            found = f"'{self._next()}'" if self._next().strip() else "nothing"
            here = Word(text=self._next(), start=start, end=start + (found != "nothing"))
            self._fail(f"expected {what}, found {found}", here, "P0:a,b P1@UNIT:c; quote odd names: P0:'a b'")
        return Word(text=self.text[start : self._at], start=start, end=self._at)

    def _quoted(self) -> Word:
        """Read a name in quotes."""
        start, quote = self._at, self._next()
        self._at += 1
        characters = "".join(self._quoted_characters(quote))
        return Word(text=characters, start=start, end=self._at, quoted=True)

    def _quoted_characters(self, quote: str) -> Iterator[str]:
        """Yield the characters up to the closing quote, which is read too."""
        start = self._at
        while (character := self._next()) != quote:
            if not character:
                opened = Word(text=quote, start=start - 1, end=start)
                self._fail("the quote is not closed", opened, f"expected another {quote} behind the name")
            yield self._escaped() if character == "\\" else character
            self._at += 1
        self._at += 1

    def _escaped(self) -> str:
        """Return the character of an escape sequence; the cursor is then at its last character."""
        start = self._at
        self._at += 1
        sign = self._next()
        digits = {"u": 4, "U": 8}.get(sign, 0)
        if sign and sign in _ESCAPED:
            return sign
        number = _from_hexadecimal(self.text[self._at + 1 : self._at + 1 + digits], digits)
        if number is None:
            here = Word(text="\\", start=start, end=min(self._at + 1, len(self.text)))
            self._fail("a backslash has no meaning here", here, "expected \\\\, \\', \\\" or \\uXXXX")
        self._at += digits
        return chr(number)

    def _fail(self, message: str, word: Word, expected: str) -> NoReturn:
        self.error(message, word, expected)
        raise _Malformed


def _from_hexadecimal(text: str, digits: int) -> int | None:
    """Return the number of a character of so many digits; None where it is none."""
    if digits == 0 or len(text) != digits or not _HEXADECIMAL.fullmatch(text):
        return None
    number = int(text, 16)
    return number if number <= sys.maxunicode else None


def quoted_name(name: str, *, head: bool = False) -> str:
    """Return a name as a mapping writes it: plain, or in quotes where it has to be; ``head``: of partition or unit."""
    stops = _HEAD_STOPS if head else _STOPS
    if name and name.isprintable() and not any(c in stops or c.isspace() for c in name):
        return name
    return "'" + "".join(map(_escape, name)) + "'"


def _escape(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
