"""Tables as CSV with a header: each row with its place, or what is wrong with the table."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.source import Span, file_span

Cells: TypeAlias = dict[str | None, str]
"""The cells of a row by the names of the columns; under None what is behind the last column."""


def rows_of(path: str, text: str, needed: Sequence[str], expected: str) -> Iterator[tuple[Cells, Span]]:
    """Yield the rows of a table. Raises ``FormatError`` where a column of ``needed`` lacks or the text is no CSV."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
    try:
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise FormatError(f"there is no column {', '.join(missing)}", span=file_span(path, 1), expected=expected)
        for cells in reader:
            yield cells, file_span(path, reader.line_num)
    except csv.Error as cause:
        span = file_span(path, reader.line_num)
        raise FormatError(f"this is no CSV: {cause}", span=span, expected=expected) from cause


def milliseconds(text: str, limits: tuple[float, float], span: Span, gather: Gatherer) -> float:
    """Return a measured time; one outside of the limits is an error that is gathered."""
    least, most = limits
    try:
        ms = float(text)
    except ValueError:
        ms = math.nan
    if not least <= ms <= most:
        gather.error(f"ms is '{text[:40]}'", span, f"expected a number from {least:g} to {most:g}")
    return ms
