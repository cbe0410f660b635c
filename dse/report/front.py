"""A Pareto front as a table, in words and as plain values."""

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.study import Front
from dse.report.quantities import value_text
from dse.report.tables import NamesTable

SHOWN = 20
"""At most so many points of a front are printed, spread over it."""


def front_table(front: Front, texts: MappingTexts) -> Table:
    """Return the points of a front, one row each, by the first objective."""
    table = NamesTable()
    for axis in front.axes:
        table.add_column(axis.name, justify="right")
    table.add_column("mapping", overflow="fold")
    step = max(1, -(-len(front.points) // SHOWN))
    for point in front.points[::step]:
        values = (value_text(value, axis.unit) for value, axis in zip(point.values, front.axes, strict=True))
        table.add_row(*values, texts.of(point.evaluation.point))
    return table


def front_text(front: Front) -> str:
    """Return in one sentence how good the front is."""
    found = front.history[-1][0]
    one = len(front.points) == 1
    points = (
        "1 point that no other one beats in any objective; it dominates"
        if one
        else f"{len(front.points)} points that no other one beats in every objective; they dominate"
    )
    return (
        f"{points} "
        f"{100 * front.hypervolume:.1f} % of the box from the worst to the best values seen; "
        f"the last joined after {found:,} mappings"
    )


def values_json(front: Front, values: tuple[float, ...]) -> dict[str, float]:
    """Return values by the names of their objectives; counts stay integers."""
    return {axis.name: value for axis, value in zip(front.axes, values, strict=True)}
