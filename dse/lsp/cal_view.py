"""One CAL file as an editor asks about it: what stands at a place, where it is declared, what it is, what is seen."""

import bisect
import contextlib
import re
from dataclasses import dataclass

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.lexer import tokenize
from dse.frontend.cal.references import Declaration, FileNames, names_of
from dse.frontend.cal.tokens import IDENTIFIER, RESERVED, TokenStream
from dse.lsp.source_text import SourceText
from dse.lsp.workspace import Workspace

LONGEST_HEAD = 400
_HEAD_ENDS = {
    "function": ("var", "end"),
    "native function": ("var", "end"),
    "procedure": ("var", "begin", "end"),
    "native procedure": ("var", "begin", "end"),
    "action": ("guard", "var", "do", "end"),
    "initializer": ("guard", "var", "do", "end"),
}
_COMMENT_LINE = re.compile(r"\s*//+ ?(.*)")


@dataclass(frozen=True, slots=True)
class Word:
    """A name, whole or dotted, that stands at a place."""

    text: str
    span: Span


class CalView:
    """A CAL file, analysed for questions about places. Of a broken file it knows what the parser recovers."""

    def __init__(self, path: str, text: str, workspace: Workspace) -> None:
        self.source = SourceText(path, text, is_xml=False)
        self.tokens: TokenStream = tokenize(path, text, Gatherer())
        self._places = list(zip(self.tokens.lines, self.tokens.columns, strict=True))
        self.tree: CalFile | None = workspace.files.recovered(path)
        self.names: FileNames | None = None
        if self.tree is not None:
            with contextlib.suppress(RecursionError):  # a chain of hundreds of imports
                self.names = names_of(self.tree, lambda name: workspace.unit(path, name))

    # What stands where

    def word_at(self, line: int, column: int) -> Word | None:
        """Return the name at a place or ending there, with the dots in it."""
        at = self._token_at(line, column)
        if at is None:
            return None
        kinds, texts = self.tokens.kinds, self.tokens.texts
        first = last = at
        while first >= 2 and kinds[first - 1] == "." and kinds[first - 2] == IDENTIFIER:
            first -= 2
        while kinds[last + 1] == "." and kinds[last + 2] == IDENTIFIER:
            last += 2
        text = "".join(texts[first : last + 1])
        lines, columns, ends = self.tokens.lines, self.tokens.columns, self.tokens.ends
        return Word(text, Span(self.source.path, lines[first], columns[first], lines[last], ends[last]))

    def _token_at(self, line: int, column: int) -> int | None:
        """Return the index of the name at a place, or ending there."""
        at = bisect.bisect_right(self._places, (line, column)) - 1
        for index in (at, at - 1):
            if index >= 0 and self._covers(index, line, column) and self.tokens.kinds[index] == IDENTIFIER:
                return index
        return None

    def _covers(self, index: int, line: int, column: int) -> bool:
        tokens = self.tokens
        return tokens.lines[index] == line and tokens.columns[index] <= column <= tokens.ends[index]

    def targets_at(self, line: int, column: int) -> tuple[Declaration, ...]:
        """Return what the name at a place means, or the declaration whose name stands there."""
        word = self.word_at(line, column)
        if word is None or self.names is None:
            return ()
        referred = next((r for r in self.names.references if _touches(r.span, line, column)), None)
        if referred is not None:
            return referred.targets
        seen = self.names.seen_at(line, column)
        return self._declared_at((self.names.entity, *seen), line, column) or _meant(seen, word.text)

    def _declared_at(self, known: tuple[Declaration, ...], line: int, column: int) -> tuple[Declaration, ...]:
        """Return the declaration of this file whose name stands at a place."""
        named = (d for d in known if d.name and d.span.path == self.source.path)
        found = next((d for d in named if _touches(self.name_span(d), line, column)), None)
        return () if found is None else (found,)

    # Declarations of this file

    def name_span(self, declared: Declaration) -> Span:
        """Return the place of the name of a declaration of this file; of its first word where it has none."""
        tokens = self.tokens
        at = bisect.bisect_left(self._places, declared.name_from)
        last = (declared.span.end_line, declared.span.end_column)
        first_word = declared.name.partition(".")[0]
        for index in range(at, len(self._places)):
            if self._places[index] >= last:
                break
            if tokens.texts[index] == first_word and first_word:
                length = len(declared.name) if declared.name.count(".") else len(first_word)
                line, column = self._places[index]
                return Span(self.source.path, line, column, line, column + length)
        start = min(at, len(self._places) - 1)
        line, column = self._places[start]
        return Span(self.source.path, line, column, line, max(column + 1, tokens.ends[start]))

    def head_text(self, declared: Declaration) -> str:
        """Return what a declaration says before its body."""
        start, end = self.source.range_of(declared.span)
        ends = _HEAD_ENDS.get(declared.kind, ())
        if ends or declared.kind in ("actor", "unit"):
            end = min(end, self._head_end(declared, ends))
        text = " ".join(self.source.text[start:end].split())
        return text if len(text) <= LONGEST_HEAD else text[:LONGEST_HEAD] + " ..."

    def _head_end(self, declared: Declaration, ends: tuple[str, ...]) -> int:
        """Return the offset behind the head: before a word that ends it, or its closing colon."""
        tokens = self.tokens
        first = bisect.bisect_left(self._places, (declared.span.line, declared.span.column))
        inside = 0
        arrow = declared.kind == "unit"
        for index in range(first, len(self._places)):
            kind = tokens.kinds[index]
            arrow = arrow or kind in ("==>", "-->")
            closes = kind == ":" and arrow and tokens.kinds[index - 1] != "type" and declared.kind not in _BEHAVIOUR
            if inside == 0 and (closes or kind in ends):
                return self.source.offset(*self._places[index])
            inside += {"if": 1, "(": 1, "[": 1, "end": -1, ")": -1, "]": -1}.get(kind, 0)
            inside = max(0, inside)
        return len(self.source.text)

    def comment_above(self, declared: Declaration) -> str:
        """Return the comment that stands right above a declaration, without its marks."""
        start, _ = self.source.range_of(declared.span)
        lines: list[str] = []
        block = False
        for line in self.source.lines_before(start):
            written = _COMMENT_LINE.match(line)
            if not block and written is not None:
                lines.append(written[1])
            elif block or (line.rstrip().endswith("*/") and not lines):
                block = "/*" not in line
                lines.append(line.strip().removeprefix("/*").removesuffix("*/").lstrip("*").strip())
                if not block:
                    break
            else:
                break
            if len(lines) > 40:
                break
        return "\n".join(reversed(lines)).strip()

    # Names

    def seen_at(self, line: int, column: int) -> tuple[Declaration, ...]:
        """Return all that has a name at a place, the innermost first, each name once."""
        if self.names is None:
            return ()
        found: dict[str, Declaration] = {}
        for declared in self.names.seen_at(line, column):
            if declared.name:
                found.setdefault(declared.name, declared)
        return tuple(found.values())


_BEHAVIOUR = ("action", "initializer")
KEYWORDS = tuple(sorted(RESERVED))


def _touches(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def _meant(seen: tuple[Declaration, ...], name: str) -> tuple[Declaration, ...]:
    """Return what a name means by its text, in a construct that the parser could not recover."""
    found = [d for d in seen if d.name == name]
    return (found[0],) if found else ()
