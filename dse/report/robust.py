"""A ranking under uncertain weights, as text and as JSON: how sure each place is, and what cannot be told apart."""

from collections.abc import Sequence

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.estimate import TickUnit
from dse.model.uncertainty import RankedBy, Robust, RobustRow
from dse.report.mapping_table import GAP, LEAST_MAPPING, MappingRow, mapping_table, width_of
from dse.report.quantities import time_text
from dse.report.ranking import RankedRow
from dse.report.tables import NamesTable


def robust_table(rows: Sequence[RankedRow], robust: Robust, texts: MappingTexts, width: int) -> tuple[Table, str]:
    """Return the mappings with the makespans that draws give them, and what is to be said below (mostly nothing).

    ``rows``: those of the ranking, in its order. Where there is no room, what the estimates alone say is left out.
    """
    cells, heads = robust_cells(robust)[: len(rows)], robust_heads(robust)
    plain = _headed(heads)
    for of_row in cells:
        plain.add_row(*of_row)
    if width - width_of(plain) - GAP < LEAST_MAPPING:
        heads, cells = (heads[0], *heads[2:]), [(of_row[0], *of_row[2:]) for of_row in cells]
    shown = [MappingRow(cells=of, point=row.point) for of, row in zip(cells, rows, strict=False)]
    return mapping_table(heads, shown, texts, width=width, whole="ranking.json")


def named_robust_table(names: Sequence[str], robust: Robust) -> Table:
    """Return given mappings with the makespans that draws give them; ``names``: of each, by ``RobustRow.index``."""
    table = _headed(robust_heads(robust))
    table.add_column("mapping", overflow="fold")
    for row, cells in zip(robust.rows, robust_cells(robust), strict=True):
        table.add_row(*cells, names[row.index])
    return table


def robust_heads(robust: Robust) -> tuple[str, ...]:
    """Return the heads of the columns that ``robust_cells`` fills."""
    return ("#", "estimated", by_text(robust.by), "95 % of draws", "first", "regret")


def _headed(heads: Sequence[str]) -> NamesTable:
    table = NamesTable()
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def by_text(by: RankedBy) -> str:
    """Return what ranks as the head of a column: ``mean``, ``95 % within``."""
    return "mean" if by == "mean" else f"{100 * by:g} % within"


def rank_text(place: int, robust: Robust) -> str:
    """Return the place of a mapping, ties with an equals sign: ``1=``, ``3``."""
    head = robust.rows[place].tied
    followed = any(row.tied == place for row in robust.rows)
    return f"{head + 1}=" if head is not None else f"{place + 1}{'=' if followed else ''}"


def robust_cells(robust: Robust) -> list[tuple[str, ...]]:
    """Return of each mapping in words what the draws say of it."""
    return [_cells(place, row, robust) for place, row in enumerate(robust.rows)]


def _cells(place: int, row: RobustRow, robust: Robust) -> tuple[str, ...]:
    unit = robust.unit
    return (
        rank_text(place, robust),
        time_text(row.nominal, unit),
        _time(row.value, unit),
        _between(row, unit),
        f"{100 * row.first:.0f} %",
        f"{100 * row.regret / row.mean if row.mean else 0:.2g} %",
    )


def _between(row: RobustRow, unit: TickUnit) -> str:
    """Return the interval of a row; a unit that both ends have stands once."""
    low, high = (_time(value, unit).rpartition(" ") for value in (row.low, row.high))
    return f"{low[0]} to {''.join(high)}" if low[2] == high[2] else f"{''.join(low)} to {''.join(high)}"


def _time(value: float, unit: TickUnit) -> str:
    return time_text(round(value), unit)


def robust_lines(robust: Robust) -> list[str]:
    """Return in sentences how sure the first place is, and what was drawn."""
    first = robust.rows[0]
    ties = sum(row.tied == 0 for row in robust.rows)
    apart = (
        f"the weights cannot tell it apart from the {ties} mappings behind it that are marked ="
        if ties > 1
        else "the weights cannot tell it apart from the mapping behind it that is marked ="
        if ties
        else "the weights tell it apart from all others"
    )
    regret = _time(first.regret, robust.unit)
    return [
        f"the first is the best of {len(robust.rows)} in {100 * first.first:.0f} % of {robust.draws:,} draws (seed"
        f" {robust.seed}), {apart}; expected regret of choosing it: {regret}",
        f"drawn: {'; '.join(robust.sources)}",
    ]


def robust_json(robust: Robust) -> dict[str, object]:
    """Return what all rows have in common."""
    return {
        "by": robust.by,
        "draws": robust.draws,
        "seed": robust.seed,
        "unit": robust.unit,
        "drawn": list(robust.sources),
    }


def drawn_json(row: RobustRow) -> dict[str, object]:
    """Return what draws say of a mapping as a part of its document."""
    return {"robust": robust_row_json(row)}


def robust_row_json(row: RobustRow) -> dict[str, object]:
    """Return what draws say of one mapping; times are in ticks of the unit of the ranking."""
    return {
        "estimated": row.nominal,
        "value": row.value,
        "mean": row.mean,
        "low_2.5%": row.low,
        "high_97.5%": row.high,
        "probability_first": row.first,
        "expected_regret": row.regret,
        "tied_with_rank": None if row.tied is None else row.tied + 1,
    }
