"""Places in source files. Owns the span type that tokens, AST nodes, IR nodes and errors share."""

from typing import NamedTuple


class Span(NamedTuple):
    """A range of characters in a file; lines and columns count from 1, the end is exclusive.

    A named tuple and not a dataclass: a parse of a corpus makes millions, and tuples are built four times faster.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, end: "Span") -> "Span":
        """Return the span from the start of this one to the end of ``end``."""
        return Span(self.path, self.line, self.column, end.end_line, end.end_column)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


NO_SPAN = Span("<none>", 0, 0, 0, 0)
"""The span of things that stand in no file (imported traces, values made by the program)."""


def file_span(path: str, line: int = 1, column: int = 1) -> Span:
    """Return an empty span at a line and column of ``path`` (line 0: the file as a whole)."""
    return Span(path, line, column, line, column)
