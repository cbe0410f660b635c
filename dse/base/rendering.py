"""Diagnostics as text: what is wrong and where, the source line with a caret, what to do."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from dse.base.escaping import cells, shown, shown_message
from dse.base.files import whole_content
from dse.base.source import NO_SPAN, Span

_EXCERPT_CHARACTERS = 240
"""Of a longer source line only so much is shown."""
MOST_ALIKE = 5
"""So many diagnostics of a file that say the same are each told."""
MOST_LINES = 8
"""Of the others the lines of so many."""


class Finding(Protocol):
    """What is rendered of a diagnostic, which the errors hold that show themselves by this module."""

    @property
    def message(self) -> str:
        """What is wrong."""

    @property
    def span(self) -> Span:
        """Where."""

    @property
    def severity(self) -> str:
        """Error or warning."""

    @property
    def expected(self) -> str:
        """What was expected, or what to do; may be empty."""

    @property
    def excerpt(self) -> str | None:
        """The line of the span where that stands in no file; None: the file has it."""


def read_source(path: str) -> str:
    """Return the text of a source file: UTF-8, or Latin-1 where it is not (cal.md 1.2: a few corpus files are)."""
    data = whole_content(Path(path))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def render(diagnostic: Finding) -> str:
    """Return the text of one diagnostic: place, message, what was expected, source line and caret.

    What does not print is replaced in all of them. Further lines of a message are those that are indented.
    """
    head = f"{diagnostic.severity}: {shown_message(diagnostic.message)}"
    expected = f"  = {shown_message(diagnostic.expected)}"
    span = diagnostic.span
    if span is NO_SPAN or span.path == NO_SPAN.path:
        return head + (f"\n{expected}" if diagnostic.expected else "")
    place = shown(span.path if span.line == 0 else str(span))
    lines = [f"{place}: {head}"]
    if span.line > 0:
        lines += _excerpt(span, diagnostic.excerpt)
    if diagnostic.expected:
        lines.append(expected)
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Finding]) -> list[str]:
    """Return the texts of diagnostics in their order.

    What a file has in more than ``MOST_ALIKE`` places is told at the first of them, with the lines of the others.
    """
    told = list(diagnostics)
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in told:
        alike.setdefault(_kind(one), []).append(one)
    texts, seen = [], set()
    for one in told:
        group = alike[_kind(one)]
        if len(group) <= MOST_ALIKE or one.span.line == 0:
            texts.append(render(one))
        elif _kind(one) not in seen:
            seen.add(_kind(one))
            texts.append(f"{render(one)}\n  = {_others(group[1:])}")
    return texts


def _kind(one: Finding) -> tuple[str, ...]:
    return one.span.path, one.severity, one.message, one.expected


def _others(group: Sequence[Finding]) -> str:
    """Return where else the same is."""
    lines = sorted({one.span.line for one in group})
    named = ", ".join(map(str, lines[:MOST_LINES]))
    more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return f"the same {len(group)} times more, in {'line' if len(lines) == 1 else 'lines'} {named}{more}"


def _line_of_file(span: Span) -> str:
    """Return the source line of a span; empty when the file cannot be read."""
    try:
        source_lines = read_source(span.path).split("\n")
    except (OSError, ValueError):  # a name with a zero byte is no file name
        return ""
    return source_lines[span.line - 1] if span.line <= len(source_lines) else ""


def _excerpt(span: Span, line: str | None) -> list[str]:
    """Return the source line of a span, or ``line`` where one is given, and the caret line below it; or nothing."""
    source_line = _line_of_file(span) if line is None else line
    text = "\t".join(map(shown, source_line.rstrip("\r").split("\t")))
    if not text.strip():
        return []
    width = span.end_column - span.column if span.end_line == span.line else len(text) - span.column + 1
    text, column, width = _window(text, span.column - 1, max(1, width))
    margin = "\t".join(" " * cells(part) for part in text[:column].split("\t"))
    marked = text[column : column + width]
    carets = "^" * max(1, width - len(marked) + cells(marked))
    return [f"    {text}", f"    {margin}{carets}"]


def _window(text: str, column: int, width: int) -> tuple[str, int, int]:
    """Return a line as shown, cut around the marked part if it is long (machine-written files may be one line).

    ``column`` counts from 0; returned are the text, and column and width of the mark in it.
    """
    if len(text) <= _EXCERPT_CHARACTERS:
        return text, column, width
    first = max(0, min(column - _EXCERPT_CHARACTERS // 4, len(text) - _EXCERPT_CHARACTERS))
    last = min(len(text), first + _EXCERPT_CHARACTERS)
    left, right = ("..." if first else ""), ("..." if last < len(text) else "")
    return f"{left}{text[first:last]}{right}", column - first + len(left), max(1, min(width, last - column))
