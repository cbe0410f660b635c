"""Tables whose last column holds mappings, in the width of the terminal: lines break between names only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from dse.formats.mapping_text import CompleteTexts, MappingTexts
from dse.model.design_point import DesignPoint
from dse.report.mapping_cells import ShownMappings, wide_note
from dse.report.tables import NamesTable

WIDTH = 100
"""Columns of a table where no terminal says another number."""
GAP = 3
"""Columns between two columns of a table."""
LEAST_MAPPING = 32
"""A mapping has at least so many columns."""


def plain_console(width: int = WIDTH) -> Console:
    """Return a console that makes plain text of so many columns."""
    return Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)


def width_of(table: Table) -> int:
    """Return the columns that a table takes where nothing limits it."""
    console = plain_console(10_000)
    return Measurement.get(console, console.options, table).maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """A row: its cells, and the mapping behind them. ``name``: what is shown where it fits, or where it is no text."""

    cells: tuple[str, ...]
    point: DesignPoint
    name: str | None = None
    """None: the mapping itself is shown."""
    textual: bool = True
    """Whether the name is the mapping as text, of which a shorter form may be shown."""


def mapping_table(
    heads: Sequence[str],
    rows: Sequence[MappingRow],
    texts: MappingTexts | CompleteTexts,
    *,
    width: int = WIDTH,
    whole: str,
    differences: bool = True,
    keep: int | None = None,
) -> tuple[Table, str]:
    """Return a table of ``width`` columns, and what is to be said below it (mostly nothing).

    Long mappings are shown without what all names begin with, and, with ``differences``, those behind the first one by
    what is other in them. ``whole``: what has them in full. ``keep``: see ``fitted_table``.
    """
    notes: list[str] = []

    def lines(room: int) -> list[list[str]]:
        cells, note = _mapping_cells(rows, texts, room, whole, differences=differences)
        notes.append(note)
        return cells

    longest = max((len(texts.of(row.point)) if row.name is None else len(row.name) for row in rows), default=0)
    table = fitted_table(heads, [row.cells for row in rows], lines, longest=longest, width=width, keep=keep)
    return table, notes[-1]


def fitted_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    lines: Callable[[int], Sequence[Sequence[str]]],
    *,
    longest: int,
    width: int,
    keep: int | None = None,
) -> Table:
    """Return a table whose last column has the ``lines`` of each row, made for so many columns of text.

    Where there is no room for a mapping, ``longest`` characters or ``LEAST_MAPPING``, the last heads go; the first
    ``keep`` stay (None: all).
    """
    least = len(heads) if keep is None else keep
    for count in range(len(heads), least - 1, -1):
        plain = _headed(heads[:count])
        for cells in rows:
            plain.add_row(*cells[:count])
        room = width - width_of(plain) - GAP
        if room >= min(longest, LEAST_MAPPING):
            break
    last = lines(max(LEAST_MAPPING, room))
    table = _headed(heads[:count])
    table.add_column("mapping", no_wrap=True, min_width=max((len(text) for cell in last for text in cell), default=0))
    for cells, cell in zip(rows, last, strict=True):
        table.add_row_of_lines(*cells[:count], last=cell)
    return table


def _headed(heads: Sequence[str]) -> NamesTable:
    table = NamesTable()
    for name in heads:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _mapping_cells(
    rows: Sequence[MappingRow], texts: MappingTexts | CompleteTexts, room: int, whole: str, *, differences: bool
) -> tuple[list[list[str]], str]:
    """Return the lines of each cell, and what is to be said of them."""
    mappings = [row.point for row in rows if not _is_named(row, room)]
    if not mappings:
        return [[row.name or ""] for row in rows], ""
    largest = max(mappings, key=lambda point: len(texts.of(point)))
    cells = _Cells(room, ShownMappings.of(texts, largest, room), mappings[0] if differences else None)
    found = [cells.of(row) for row in rows]
    return found, wide_note(cells.shown, [cell[0] for cell in found], whole)


@dataclass(frozen=True, slots=True)
class _Cells:
    """How the rows of a table are shown; ``first``: the mapping that the others may be compared with."""

    room: int
    shown: ShownMappings
    first: DesignPoint | None

    def of(self, row: MappingRow) -> list[str]:
        """Return the lines of the last cell of a row."""
        shown, first, point = self.shown, self.first, row.point
        if _is_named(row, self.room):
            return [row.name or ""]
        if first is None or point is first or shown.short is shown.texts:
            return shown.full(point)
        return shown.beside(point, first, "the first")


def _is_named(row: MappingRow, room: int) -> bool:
    return row.name is not None and (not row.textual or len(row.name) <= room)
