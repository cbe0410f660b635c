"""Tables for other tools: CSV (RFC 4180, UTF-8, a head line, lines that end in ``\\n``) and Parquet.

Parquet is written by pyarrow, which the extra ``parquet`` installs. An empty cell is a value that is absent.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.errors import FormatError, OptionError
from dse.base.escaping import encodable
from dse.base.extras import import_extra
from dse.base.files import whole_file, write_whole
from dse.base.source import file_span


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its name and the value of each row; all values have one type, or are None."""

    name: str
    values: Sequence[str | int | float | None]


def csv_text(columns: Sequence[Column]) -> str:
    """Return columns of one length as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in columns)
    writer.writerows(zip(*(column.values for column in columns), strict=True))
    return encodable(out.getvalue())


def write_table(path: str, columns: Sequence[Column]) -> None:
    """Write a table, whole or not at all; the name tells how.

    Raises:
        OptionError: the name ends neither in ``.csv`` nor in ``.parquet``, or pyarrow is not installed.
        FormatError: the file cannot be written.
    """
    kind = path.lower().rpartition(".")[2]
    if kind not in ("csv", "parquet"):
        raise OptionError(f"'{path}' is no name of a table", expected="end it in .csv or .parquet")
    try:
        if kind == "csv":
            write_whole(path, csv_text(columns))
        else:
            _write_parquet(path, columns)
    except OSError as cause:
        raise FormatError(
            f"cannot write this file: {cause.strerror or cause}",
            span=file_span(path, 0),
            expected="choose another place",
        ) from cause


def _write_parquet(path: str, columns: Sequence[Column]) -> None:
    arrow = import_extra("pyarrow", "a table in Parquet", extra="parquet")
    parquet = import_extra("pyarrow.parquet", "a table in Parquet", extra="parquet")
    table = arrow.table({column.name: list(column.values) for column in columns})
    with whole_file(path) as file:
        parquet.write_table(table, file)
