"""Tables for pandas, which only those need who ask for one: ``pip install 'dse[pandas]'``."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from dse.base.errors import OptionError
from dse.base.extras import import_extra
from dse.model.estimate import TickUnit

DataFrame: TypeAlias = Any
"""A ``pandas.DataFrame``: not named as such, since pandas need not be there."""
TimeUnit: TypeAlias = Literal["ticks", "seconds"]
Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]
"""A line of a table, by the names of its columns."""

PS_PER_S = 10**12


def seconds_of(ticks: int, unit: TickUnit) -> float | None:
    """Return ticks as seconds; None where they are cycles without a clock."""
    return ticks / PS_PER_S if unit == "ps" else None


def frame(rows: Sequence[Row], index: str) -> DataFrame:
    """Return rows as a table of pandas whose index is one of the columns. Raises ``OptionError`` without pandas."""
    pandas = import_extra("pandas", "to_frame", extra="pandas")
    table = pandas.DataFrame.from_records([dict(row) for row in rows], columns=None if rows else [index])
    return table.set_index(index)


def check_time_unit(wanted: TimeUnit, unit: TickUnit) -> None:
    """Raise ``OptionError`` for a unit of time that there is not, and for seconds where ticks are cycles."""
    if wanted not in ("ticks", "seconds"):
        raise OptionError(f"unknown unit of time '{wanted}'", expected="'ticks' or 'seconds'")
    if wanted == "seconds" and unit == "cycles":
        raise OptionError(
            "the times are cycles without a clock, which are no seconds",
            expected="take unit='ticks', or give weights with a frequency and a platform with clocks",
        )


def in_unit(row: Row, times: Collection[str], wanted: TimeUnit) -> Row:
    """Return a row whose ``times``, in ps, are in the unit that is wanted."""
    if wanted == "ticks":
        return row
    return {name: cell / PS_PER_S if name in times and isinstance(cell, int) else cell for name, cell in row.items()}
