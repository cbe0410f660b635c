"""Measured times of GPU kernels as CSV: one row a kernel, problem size and block; the columns are those of KLARAPTOR.

``benchmark``, ``kernel``, ``n``, ``block_x``, ``block_y`` and ``median_ms`` are read, in any order, and ``gpu`` and
``klaraptor_cycles`` where they are; other columns are left alone.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.source import Span, file_span
from dse.formats.csv_tables import Cells, rows_of
from dse.formats.mapping_csv import read_text
from dse.formats.yaml_source import format_error

_NEEDED = ("benchmark", "kernel", "n", "block_x", "block_y", "median_ms")
_EXAMPLE = "expected a header with benchmark,kernel,n,block_x,block_y,median_ms, and perhaps gpu, then rows"
_MOST = 1e9
_MOST_ERRORS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """A row. ``gpu``: empty without such a column; ``klaraptor_cycles``: what that program predicted, or None."""

    gpu: str
    benchmark: str
    kernel: str
    n: int
    block: tuple[int, int]
    median_ms: float
    klaraptor_cycles: float | None = None
    span: Span


def read_measured_csv(path: str) -> tuple[MeasuredTime, ...]:
    """Return the rows of a file, in their order. Raises ``FormatError`` with the first errors of it."""
    gather = Gatherer()
    found = tuple(_rows(path, gather))
    if gather.errors:
        raise format_error(gather)
    if not found:
        raise FormatError("there is no measured time in the file", span=file_span(path, 0), expected=_EXAMPLE)
    return found


def _rows(path: str, gather: Gatherer) -> Iterator[MeasuredTime]:
    """Yield the rows without errors, up to the most errors that are told."""
    for cells, span in rows_of(path, read_text(path, _EXAMPLE), _NEEDED, _EXAMPLE):
        row = _row(cells, span, gather)
        if row is not None:
            yield row
        if len(gather.errors) >= _MOST_ERRORS:
            return


def _row(cells: Cells, span: Span, gather: Gatherer) -> MeasuredTime | None:
    """Return a row, or None with its errors gathered."""
    whole = [_number(cells, name, span, gather, whole=True) for name in ("n", "block_x", "block_y")]
    median = _number(cells, "median_ms", span, gather)
    if median is None or None in whole:
        return None
    n, x, y = (int(value or 0) for value in whole)
    return MeasuredTime(
        gpu=cells.get("gpu", "").strip(),
        benchmark=cells["benchmark"].strip(),
        kernel=cells["kernel"].strip(),
        n=n,
        block=(x, y),
        median_ms=median,
        klaraptor_cycles=_told(cells.get("klaraptor_cycles", "")),
        span=span,
    )


def _told(text: str) -> float | None:
    """Return what another program predicted, None where that is no number above 0."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def _number(cells: Cells, name: str, span: Span, gather: Gatherer, *, whole: bool = False) -> float | None:
    """Return a number above 0, or None with the error gathered."""
    text = (cells[name] or "").strip()
    try:
        value = float(int(text) if whole else float(text))
    except ValueError:
        value = math.nan
    if 0 < value <= _MOST:
        return value
    kind = "a whole number" if whole else "a number"
    gather.error(f"{name} is '{text[:40]}'", span, f"expected {kind} above 0 and at most {_MOST:g}")
    return None
