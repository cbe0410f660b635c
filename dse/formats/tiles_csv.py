"""Measured times of a kernel by tile width as CSV: ``tile``, ``ms`` and, if known, ``local_size``, ``repeats``."""

import csv
import io
import math
from collections.abc import Sequence

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.files import write_whole
from dse.base.numbers import integer_from
from dse.base.source import Span, file_span
from dse.formats.mapping_csv import read_text
from dse.formats.yaml_source import format_error
from dse.model.breakdown import MeasuredTile

_EXAMPLE = "expected a header with tile,ms, perhaps local_size,repeats, then a row for each tile width"
_MOST, _LEAST_MS, _MOST_MS = 1 << 20, 1e-9, 1e9
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
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
    try:
        missing = [name for name in ("tile", "ms") if name not in (reader.fieldnames or ())]
        if missing:
            raise FormatError(f"there is no column {', '.join(missing)}", span=file_span(path, 1), expected=_EXAMPLE)
        rows = [_row(cells, Span(path, reader.line_num, 1, reader.line_num, 1), gather) for cells in reader]
    except csv.Error as cause:
        span = file_span(path, reader.line_num)
        raise FormatError(f"this is no CSV: {cause}", span=span, expected=_EXAMPLE) from cause
    return [row for row in rows if row is not None]


def _row(cells: dict[str, str], span: Span, gather: Gatherer) -> MeasuredTile | None:
    """Return a row, or None with its errors gathered."""
    before = len(gather.errors)
    tile = _whole(cells, "tile", span, gather)
    local_size, repeats = (_whole(cells, name, span, gather) for name in ("local_size", "repeats"))
    ms = _milliseconds(cells["ms"], span, gather)
    if tile is None and len(gather.errors) == before:
        gather.error("a row has no tile", span, "expected a whole number above 0")
    if tile is None or len(gather.errors) > before:
        return None
    return MeasuredTile(tile=tile, local_size=local_size, ms=ms, repeats=repeats or 1)


def _milliseconds(text: str, span: Span, gather: Gatherer) -> float:
    try:
        ms = float(text)
    except ValueError:
        ms = math.nan
    if not _LEAST_MS <= ms <= _MOST_MS:
        gather.error(f"ms is '{text[:40]}'", span, f"expected a number from {_LEAST_MS:g} to {_MOST_MS:g}")
    return ms


def _whole(cells: dict[str, str], name: str, span: Span, gather: Gatherer) -> int | None:
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
