"""The ranking of a study and the table of given mappings: rows, aligned text, JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import PartitionAccount, TickUnit
from dse.model.measurement import MeasuredPoint
from dse.model.study import Evaluation, ObjectiveAxis, Study
from dse.report.mapping_cells import ShownMappings, wide_note
from dse.report.mapping_table import GAP, LEAST_MAPPING, WIDTH, plain_console, width_of
from dse.report.measured import Measurements, main_state, measured_json, measured_text
from dse.report.quantities import percent_text, ratio, time_text, value_text
from dse.report.tables import NamesTable

OBJECTIVES_SHOWN = 3
"""So many of the objectives that rank have a column in the text; the page and the JSON show all."""
OTHERS = ("speed-up", "to bound", "busiest")
SAME = "the same"
NEAR = 0.001
"""Makespans that differ by less of the smaller one than this tell nothing apart."""
NEAR_SHOWN = 2
"""So many rows are shown that hardly differ from the one above them."""
COLUMNS_SHOWN = 4
"""Columns between rank and mapping in the text, unless more objectives rank."""


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
    """As ``--mapping`` takes it."""
    point: DesignPoint
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


def unit_text(partition: Partition) -> str:
    """Return the unit of a partition, with its clock if that was chosen: ``cpu@1200MHz``."""
    clock = partition.clock_mhz
    return partition.unit if clock is None else f"{partition.unit}@{float(clock):.11g}MHz"


def ranked_rows(
    study: Study, texts: MappingTexts, count: int, measured: Measurements | None = None
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
            mapping=texts.of(e.point),
            point=e.point,
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


def near_ties(rows: Sequence[RankedRow]) -> list[tuple[RankedRow, ...]]:
    """Return the rows in groups: a row and those behind it that take at most ``NEAR`` of its makespan longer.

    Where another objective ranks than the makespan, each row is a group.
    """
    groups: list[list[RankedRow]] = []
    for row in rows:
        if groups and not row.values and row.makespan <= groups[-1][0].makespan * (1 + NEAR):
            groups[-1].append(row)
        else:
            groups.append([row])
    return [tuple(group) for group in groups]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What a line of the ranking shows: its cells but the mapping, and the row, or words in place of its mapping."""

    cells: tuple[str, ...]
    row: RankedRow | None = None
    beside: RankedRow | None = None
    """The row that the mapping is compared with."""
    words: str = ""


def ranking_table(rows: Sequence[RankedRow], texts: MappingTexts, width: int = WIDTH) -> tuple[Table, str]:
    """Return the ranking as a table of ``width`` columns, and what is to be said below it (mostly nothing).

    Rows that tell nothing apart stand together: the first one in full, of the others two, by how much longer they take.
    Many objectives, measured times or a narrow terminal leave no room for what is said of the makespan: the busiest
    partition goes, then bound and speed-up. Mappings break between names; long ones are shown by ``ShownMappings``.
    """
    heads = cost_columns(rows)[:OBJECTIVES_SHOWN]
    heads = heads if MAKESPAN in heads else (*heads, MAKESPAN)
    ran = () if (measured := measured_head(rows)) is None else (measured,)
    most = COLUMNS_SHOWN - len(heads) - len(ran)
    room = 0
    for others in range(max(0, most), -1, -1):
        lines = list(_lines(rows, heads, ran, others))
        plain = _plain_table(rows, heads, ran, others, lines)
        room = width - width_of(plain) - GAP
        if room >= LEAST_MAPPING:
            break
    shown = ShownMappings.of(texts, rows[0].point, max(LEAST_MAPPING, room))
    mappings = [_mapping_lines(line, rows[0], shown) for line in lines]
    table = _headed(rows, heads, ran, others)
    table.add_column("mapping", no_wrap=True, min_width=max(len(text) for cell in mappings for text in cell))
    for line, mapping in zip(lines, mappings, strict=True):
        table.add_row_of_lines(*line.cells, last=mapping)
    return table, wide_note(shown, [cell[0] for cell in mappings], "ranking.json")


def _plain_table(
    rows: Sequence[RankedRow], heads: Sequence[str], ran: Sequence[str], others: int, lines: Sequence[_Line]
) -> Table:
    """Return the table without the mappings."""
    table = _headed(rows, heads, ran, others)
    for line in lines:
        table.add_row(*line.cells)
    return table


def _headed(rows: Sequence[RankedRow], heads: Sequence[str], ran: Sequence[str], others: int) -> NamesTable:
    """Return a table without rows that has all columns but the mapping."""
    table = NamesTable()
    table.add_column("#", justify="right")
    for name in heads:
        least = max((len(cost_cells(row)[name]) for row in rows), default=0)
        table.add_column(name, justify="right", overflow="fold", min_width=least)  # a long head wraps, no value does
    for name in (*ran, *OTHERS[:others]):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _lines(rows: Sequence[RankedRow], heads: Sequence[str], ran: Sequence[str], others: int) -> Iterator[_Line]:
    """Yield the lines of the ranking."""
    state = main_state(row.measured for row in rows)

    def times(row: RankedRow) -> list[str]:
        return [measured_text(row.measured, state) for _ in ran]

    for first, *near in near_ties(rows):
        costs = (cost_cells(first)[name] for name in heads)
        yield _Line(cells=(str(first.rank), *costs, *times(first), *_other_cells(first)[:others]), row=first)
        shown = [row for number, row in enumerate(near) if number < NEAR_SHOWN or row.measured is not None]
        for row in shown:
            cells = (str(row.rank), _longer(row, first), *times(row), *[""] * others)
            yield _Line(cells=cells, row=row, beside=first)
        if len(near) > len(shown):
            words = f"{len(near) - len(shown)} more that take {_at_most(near[-1], first)}"
            yield _Line(cells=("",) * (2 + len(ran) + others), words=words)


def _at_most(row: RankedRow, first: RankedRow) -> str:
    longer = _longer(row, first)
    return longer if longer == SAME else f"at most {longer.removeprefix('+')} longer"


def _longer(row: RankedRow, first: RankedRow) -> str:
    """Return by how much a row takes longer than another one."""
    return SAME if row.makespan == first.makespan else f"+{100 * (row.makespan / first.makespan - 1):.2g} %"


def _mapping_lines(line: _Line, first: RankedRow, shown: ShownMappings) -> list[str]:
    """Return the lines of the last cell: the mapping, or its difference from a row above."""
    if line.row is None:
        return [line.words]
    if line.beside is not None:
        return shown.beside(line.row.point, line.beside.point, str(line.beside.rank))
    if line.row is first or shown.short is shown.texts:
        return shown.full(line.row.point)
    return shown.beside(line.row.point, first.point, str(first.rank))


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
    """Return tables and lines as plain text without trailing blanks; tables fit the console, else 100 columns."""
    plain = console or plain_console()
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
