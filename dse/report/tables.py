"""Tables of the terminal: aligned columns under a line, cells shown as they are."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from dse.base.escaping import shown


class NamesTable(Table):
    """A table of rich whose cells are plain strings from anywhere: filtered before their width is measured."""

    def __init__(self) -> None:
        super().__init__(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)

    def add_row(self, *cells: str) -> None:  # type: ignore[override]  # plain cells only, no styles of rows
        """Add a row."""
        super().add_row(*map(shown, cells))

    def add_row_of_lines(self, *cells: str, last: Sequence[str]) -> None:
        """Add a row whose last cell has several lines."""
        super().add_row(*map(shown, cells), "\n".join(map(shown, last)))
