"""The ranking of a study and the table of given mappings: rows, aligned text, JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import PartitionAccount, TickUnit
from dse.model.measurement import MeasuredPoint
from dse.model.study import Evaluation, ObjectiveAxis, Study
from dse.model.trace import Topology
from dse.report.measured import Measurements, main_state, measured_json, measured_text
from dse.report.quantities import percent_text, ratio, time_text, value_text
from dse.report.tables import NamesTable

OBJECTIVES_SHOWN = 3
"""So many of the objectives that rank have a column in the text; the page and the JSON show all."""
COLUMNS_SHOWN = 4
"""Columns between rank and mapping in the text, unless more objectives rank."""
NAMES_SHOWN = 5
"""Of a partition, at most this many actors are named in a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busiest:
    """The partition with the largest share of busy core time."""

    partition: str
    busy: int
    core_time: int


MAKESPAN = "makespan"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedValue:
    """What a point of the ranking is worth in one objective, in the unit of the axis."""

    axis: ObjectiveAxis
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """One line of the ranking. ``gap`` is makespan / lower bound - 1; None where there is nothing to compare with.

    ``values``: the objectives that rank, in their order; empty where that is the makespan alone.
    """

    rank: int
    makespan: int
    tick_unit: TickUnit
    speedup: float | None
    gap: float | None
    partitions: int
    busiest: Busiest | None
    mapping: str
    digest: str
    values: tuple[RankedValue, ...] = ()
    measured: MeasuredPoint | None = None
    """What running it gave; None where that was not asked for."""


def busiest_partition(point: DesignPoint, accounts: Sequence[PartitionAccount]) -> Busiest | None:
    """Return the busiest partition by share of its core time; the first of equals. None when no time passed."""
    found: Busiest | None = None
    for partition, account in zip(point.partitions, accounts, strict=True):
        core_time = account.busy + account.unoccupied
        if core_time and (found is None or account.busy * found.core_time > found.busy * core_time):
            found = Busiest(partition=partition.name, busy=account.busy, core_time=core_time)
    return found


def mapping_text(point: DesignPoint, topology: Topology, *, shown: int = NAMES_SHOWN) -> str:
    """Return a mapping in one line: ``P0:a,b P1:c,d,+3``, and the clocks that were chosen; it may break at blanks."""
    groups = (f"{p.name}:{_names([topology.actors[a].name for a in p.actors], shown)}" for p in point.partitions)
    clocks = dict.fromkeys(unit_text(p) for p in point.partitions if p.clock_mhz is not None)
    return " ".join((*groups, *clocks))


def unit_text(partition: Partition) -> str:
    """Return the unit of a partition, with its clock if that was chosen: ``cpu@1200MHz``."""
    clock = partition.clock_mhz
    return partition.unit if clock is None else f"{partition.unit}@{float(clock):.11g}MHz"


def _names(names: Sequence[str], shown: int) -> str:
    if len(names) <= shown:
        return ",".join(names)
    return ",".join([*names[: shown - 1], f"+{len(names) - shown + 1}"])


def ranked_rows(
    study: Study, topology: Topology, count: int, measured: Measurements | None = None
) -> tuple[RankedRow, ...]:
    """Return the first ``count`` rows of the ranking, with what was ``measured`` of them."""
    bound = study.lower_bounds[0].makespan
    return tuple(
        RankedRow(
            rank=rank,
            makespan=e.makespan,
            tick_unit=e.tick_unit,
            speedup=speedup(study.baseline, e),
            gap=None if bound == 0 else e.makespan / bound - 1,
            partitions=len(e.point.partitions),
            busiest=busiest_partition(e.point, e.partitions),
            mapping=mapping_text(e.point, topology),
            digest=e.digest,
            values=_values(study, rank - 1),
            measured=None if measured is None else measured.of(e.digest),
        )
        for rank, e in enumerate(study.ranking[:count], start=1)
    )


def _values(study: Study, index: int) -> tuple[RankedValue, ...]:
    if study.front is None:
        return ()
    pairs = zip(study.front.axes, study.values[index], strict=True)
    return tuple(RankedValue(axis=axis, value=value) for axis, value in pairs)


def cost_columns(rows: Sequence[RankedRow]) -> tuple[str, ...]:
    """Return the heads of the columns of what ranks, in that order; the makespan is among them or behind them."""
    names = tuple(value.axis.name for value in rows[0].values) if rows else ()
    return names if MAKESPAN in names else (*names, MAKESPAN)


def cost_cells(row: RankedRow) -> dict[str, str]:
    """Return the texts of a row by the heads of ``cost_columns``, in their order."""
    cells = {value.axis.name: value_text(value.value, value.axis.unit) for value in row.values}
    return {**cells, MAKESPAN: time_text(row.makespan, row.tick_unit)}


def measured_head(rows: Sequence[RankedRow]) -> str | None:
    """Return the head of the column of measured times, which names the state of the machine; None where none are."""
    if all(row.measured is None for row in rows):
        return None
    state = main_state(row.measured for row in rows)
    return f"measured ({state})" if state else "measured"


def speedup(baseline: Evaluation | None, evaluation: Evaluation) -> float | None:
    """Return how much faster than one core an evaluation is; None where one core is impossible or deadlocks."""
    if baseline is None or baseline.deadlock:
        return None
    return ratio(baseline.makespan, evaluation.makespan)


def ranking_table(rows: Sequence[RankedRow]) -> Table:
    """Return the ranking as a table that fits 100 columns; long mappings wrap in the last column.

    Many objectives, or measured times, leave no room for what is said of the makespan: the busiest partition goes, then
    bound and speed-up.
    """
    table = NamesTable()
    table.add_column("#", justify="right")
    heads = cost_columns(rows)[:OBJECTIVES_SHOWN]
    heads = heads if MAKESPAN in heads else (*heads, MAKESPAN)
    for name in heads:
        width = max((len(cost_cells(row)[name]) for row in rows), default=0)
        table.add_column(name, justify="right", overflow="fold", min_width=width)  # a long head wraps, no value does
    measured, state = measured_head(rows), main_state(row.measured for row in rows)
    ran = () if measured is None else (measured,)
    others = ("speed-up", "to bound", "busiest")[: COLUMNS_SHOWN - len(heads) - len(ran)]
    for name in (*ran, *others):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("mapping", overflow="fold")
    for row in rows:
        costs = (cost_cells(row)[name] for name in heads)
        times = [measured_text(row.measured, state) for _ in ran]
        table.add_row(str(row.rank), *costs, *times, *_other_cells(row)[: len(others)], row.mapping)
    return table


def _other_cells(row: RankedRow) -> tuple[str, str, str]:
    """Return speed-up, gap to the bound and the busiest partition; empty where there is none."""
    return (
        "" if row.speedup is None else f"{row.speedup:.2f}x",
        "" if row.gap is None else f"+{100 * row.gap:.1f} %",
        "" if row.busiest is None else f"{row.busiest.partition} {_busy_percent(row.busiest)}",
    )


def _busy_percent(busiest: Busiest) -> str:
    return percent_text(busiest.busy, busiest.core_time)


def render(*parts: Table | str, console: Console | None = None) -> str:
    """Return tables and lines as plain text of at most 100 columns, without trailing blanks."""
    plain = console or Console(width=100, color_system=None, highlight=False, markup=False, emoji=False)
    with plain.capture() as capture:
        for part in parts:
            plain.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in capture.get().rstrip().splitlines())


def row_json(row: RankedRow) -> dict[str, Any]:
    """Return a row of ``--json``: ticks as integers with their unit, ratios as plain numbers."""
    return {
        "rank": row.rank,
        "mapping": row.mapping,
        "makespan": row.makespan,
        "unit": row.tick_unit,
        **({"values": {value.axis.name: value.value for value in row.values}} if row.values else {}),
        "speedup": row.speedup,
        "gap_to_lower_bound": row.gap,
        "partitions": row.partitions,
        "busiest_partition": None if row.busiest is None else row.busiest.partition,
        "busiest_share": None if row.busiest is None else row.busiest.busy / row.busiest.core_time,
        "digest": row.digest,
        **({} if row.measured is None else {"measured": measured_json(row.measured)}),
    }
