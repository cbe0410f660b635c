"""Measured times of a kernel by tile width as CSV: ``tile``, ``ms`` and, if known, ``local_size``, ``repeats``."""

from collections.abc import Sequence

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.files import write_whole
from dse.base.numbers import integer_from
from dse.base.source import Span, file_span
from dse.formats.csv_tables import Cells, milliseconds, rows_of
from dse.formats.mapping_csv import read_text
from dse.formats.yaml_source import format_error
from dse.model.breakdown import MeasuredTile

_EXAMPLE = "expected a header with tile,ms, perhaps local_size,repeats, then a row for each tile width"
_MOST, _MS = 1 << 20, (1e-9, 1e9)
_TERMS = 3
_COLUMNS = ("tile", "local_size", "ms", "repeats")


def read_tiles(path: str) -> tuple[MeasuredTile, ...]:
    """Return the rows of a file by tile. Raises ``FormatError`` with all that is wrong in it."""
    gather = Gatherer()
    rows = _rows(path, read_text(path, _EXAMPLE), gather)
    if gather.errors:
        raise format_error(gather)
    found = tuple(sorted(rows, key=lambda row: (row.tile, row.local_size or 0)))
    if len({(row.tile, row.local_size) for row in found}) < _TERMS:
        raise FormatError(
            "there are fewer than three tile widths", span=file_span(path, 0), expected="three terms need three times"
        )
    return found


def _rows(path: str, text: str, gather: Gatherer) -> list[MeasuredTile]:
    """Return the rows without errors. Raises ``FormatError`` where the text is no such table."""
    rows = [_row(cells, span, gather) for cells, span in rows_of(path, text, ("tile", "ms"), _EXAMPLE)]
    return [row for row in rows if row is not None]


def _row(cells: Cells, span: Span, gather: Gatherer) -> MeasuredTile | None:
    """Return a row, or None with its errors gathered."""
    before = len(gather.errors)
    tile = _whole(cells, "tile", span, gather)
    local_size, repeats = (_whole(cells, name, span, gather) for name in ("local_size", "repeats"))
    ms = milliseconds(cells["ms"], _MS, span, gather)
    if tile is None and len(gather.errors) == before:
        gather.error("a row has no tile", span, "expected a whole number above 0")
    if tile is None or len(gather.errors) > before:
        return None
    return MeasuredTile(tile=tile, local_size=local_size, ms=ms, repeats=repeats or 1)


def _whole(cells: Cells, name: str, span: Span, gather: Gatherer) -> int | None:
    """Return a number of a row, None where it is empty or, with the error gathered, wrong."""
    text = (cells.get(name) or "").strip()
    if not text:
        return None
    value = integer_from(text, least=1, most=_MOST)
    if value is None:
        gather.error(f"{name} is '{text[:40]}'", span, f"expected a whole number from 1 to {_MOST:,}")
    return value


def write_tiles(path: str, tiles: Sequence[MeasuredTile]) -> None:
    """Write measured times. Raises ``OSError``."""
    rows = [f"{t.tile},{t.local_size or ''},{t.ms!r},{t.repeats}" for t in tiles]
    write_whole(path, "\n".join([",".join(_COLUMNS), *rows]) + "\n")
