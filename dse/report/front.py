"""A Pareto front as a table, in words and as plain values."""

from collections.abc import Iterator

from rich.table import Table

from dse.formats.mapping_text import MappingTexts
from dse.model.study import Front
from dse.report.mapping_cells import lines_of
from dse.report.mapping_table import GAP, LEAST_MAPPING, WIDTH
from dse.report.quantities import value_text
from dse.report.tables import NamesTable

SHOWN = 20
"""At most so many points of a front are printed, spread over it."""


def front_table(front: Front, texts: MappingTexts, width: int = WIDTH) -> Table:
    """Return the points of a front in ``width`` columns, one row each, by the first objective."""
    table = NamesTable()
    for axis in front.axes:
        table.add_column(axis.name, justify="right")
    points = front.points[:: max(1, -(-len(front.points) // SHOWN))]
    cells = [[value_text(v, axis.unit) for v, axis in zip(p.values, front.axes, strict=True)] for p in points]
    widths = (max(len(axis.name), *(len(row[k]) for row in cells)) for k, axis in enumerate(front.axes))
    room = max(LEAST_MAPPING, width - sum(of + GAP for of in widths))
    table.add_column("mapping", no_wrap=True)
    for row, point in zip(cells, points, strict=True):
        table.add_row_of_lines(*row, last=lines_of(texts.of(point.evaluation.point), room))
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
        f"the last joined after {found:,} mappings{''.join(_limits(front))}"
    )


def _limits(front: Front) -> Iterator[str]:
    """Yield what no mapping can beat, as far as that is known."""
    for axis, limit in zip(front.axes, front.limits, strict=False):
        if limit is not None:
            beyond = "above" if axis.maximise else "below"
            yield f"; no mapping has a {axis.name} {beyond} {value_text(limit, axis.unit)}"


def values_json(front: Front, values: tuple[float, ...]) -> dict[str, float]:
    """Return values by the names of their objectives; counts stay integers."""
    return {axis.name: value for axis, value in zip(front.axes, values, strict=True)}
