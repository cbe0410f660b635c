"""Many mappings in one CSV file: a header, then one mapping a row; the format is our own.

The column ``mapping`` holds texts as ``mapping_text`` reads them, and a column ``name``, if there is one, what the rows
are called. Other columns, such as results of an earlier estimation, are left alone. Letter case of the header is free.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.diagnostics import Gatherer
from dse.base.errors import DseError, FormatError
from dse.base.source import Span, file_span
from dse.formats.mapping_words import TextOrigin
from dse.formats.xml_source import read_bytes

_COLUMN = "mapping"
_EXAMPLE = "expected a header with 'mapping', then rows: name,mapping and first,\"P0:a,b P1:c\""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRow:
    """A row: its name, or empty, the mapping as text, and where that stands."""

    name: str
    text: str
    origin: TextOrigin


def read_mapping_csv(path: str, gather: Gatherer | None = None) -> tuple[MappingRow, ...]:
    """Return the rows of a CSV file, in their order. Rows without a mapping are left out: ``gather`` is warned of them.

    Raises:
        FormatError: the file cannot be read, has no column ``mapping``, or no row.
    """
    source = read_text(path, _EXAMPLE)
    rows = _rows(path, source)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if _COLUMN not in header:
        raise FormatError("there is no column 'mapping'", span=_line(path, source, 1), expected=_EXAMPLE)
    column, name = header.index(_COLUMN), header.index("name") if "name" in header else len(header)
    found = tuple(
        MappingRow(name=_cell(cells, name), text=text, origin=_origin(path, source, line, text))
        for line, cells in rows[1:]
        if (text := _cell(cells, column))
    )
    if not found:
        raise FormatError("there is no mapping in the file", span=file_span(path, 0), expected=_EXAMPLE)
    left_out = [_line(path, source, line) for line, cells in rows[1:] if not _cell(cells, column)]
    _warn_of(left_out, len(rows) - 1, gather)
    return found


def _warn_of(left_out: Sequence[Span], rows: int, gather: Gatherer | None) -> None:
    """Warn of rows without a mapping."""
    if left_out and gather is not None:
        message = f"{len(left_out)} of {rows} rows have no mapping and are left out, this one first"
        gather.warning(message, left_out[0])


def _cell(cells: Sequence[str], column: int) -> str:
    """Return a cell without the blanks around it; empty where the row is too short."""
    return cells[column].strip() if column < len(cells) else ""


def read_text(path: str, expected: str = "") -> str:
    """Return the text of a file; ``expected``: what errors tell to do.

    Raises ``FormatError`` where it cannot be read or is no UTF-8.
    """
    try:
        data = read_bytes(path)
    except DseError as error:
        raise FormatError(error.first_error.message, span=file_span(path, 0), expected=expected) from error
    if b"\0" in data:
        advice = expected or "if an editor shows it, save it as UTF-8"
        raise FormatError("this is a binary file", span=file_span(path, 0), expected=advice)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise FormatError("the text is not UTF-8", span=file_span(path, 0), expected=expected) from cause


def _rows(path: str, source: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty with the lines in which they begin."""
    reader = csv.reader(io.StringIO(source, newline=""), strict=True)
    found, begin = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((begin, cells))
            begin = reader.line_num + 1
    except csv.Error as cause:
        span = _line(path, source, begin)
        raise FormatError(f"this is no CSV: {cause}", span=span, expected=_EXAMPLE) from cause
    return found


def _line(path: str, source: str, line: int) -> Span:
    """Return the span of a line."""
    lines = source.split("\n")
    length = len(lines[line - 1].rstrip("\r")) if line <= len(lines) else 0
    return Span(path, line, 1, line, length + 1)


def _origin(path: str, source: str, line: int, text: str) -> TextOrigin:
    """Return where a cell stands: in the file where its line holds it as it is, else by itself."""
    lines = source.split("\n")
    column = lines[line - 1].find(text) if line <= len(lines) else -1
    return TextOrigin(path=path, line=line, column=max(0, column) + 1, in_file=column >= 0)
