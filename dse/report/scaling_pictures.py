"""Pictures of scaling: surfaces (figure 1 of Wu et al. 2015), centroids by axis, predictions, errors; as SVG texts."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from dse.gpu.scaling.judge import Judged
from dse.gpu.scaling.surfaces import along, clock_surface
from dse.model.scaling import ClusterSet, Reals, ScalingGrid, ScalingModel, ScalingSet, SurfaceModel
from dse.report.line_picture import LineChart, Series, line_chart
from dse.report.scatter import Scatter, ScatterPoint, scatter_svg
from dse.report.surface_picture import Surface, surfaces_picture

_SHOWN = 4


def training_pictures(given: ScalingSet, model: ScalingModel) -> Iterator[tuple[str, str]]:
    """Yield (name of the file, SVG): the surfaces of kernels that differ most, and the centroids by axis."""
    for name, values, surfaces in (
        ("time", given.time_ms, model.time),
        ("power", given.power_watt, model.power),
    ):
        if values is None or surfaces is None:
            continue
        yield f"surfaces-{name}.svg", _kernel_surfaces(given, values, name)
        for axis, chart in _centroids(model, surfaces, name):
            yield f"centroids-{name}-{axis}.svg", line_chart(chart)


def _kernel_surfaces(given: ScalingSet, values: Reals, name: str) -> str:
    """Return the surfaces of a few kernels: the one that is least like the mean, then what is least like those."""
    unit, core, _ = given.base_index
    base = values[(slice(None), *given.base_index)]
    by_units = len(given.grid.compute_units) > 1
    seen = values[:, :, core, :] if by_units else values[:, unit]
    scaled = base[:, None, None] / seen if name == "time" else seen / base[:, None, None]
    chosen = _unlike(np.log(scaled.reshape(len(scaled), -1)))
    first = given.grid.compute_units if by_units else given.grid.core_mhz
    return surfaces_picture(
        [
            Surface(
                name=given.kernels[k],
                values=scaled[k],
                axes=("compute units" if by_units else "core MHz", "memory MHz"),
                first=_floats(first),
                second=_floats(given.grid.memory_mhz),
            )
            for k in chosen
        ],
        f"{'performance' if name == 'time' else name} over that at {given.base}",
        "from the least to the most",
    )


def _unlike(rows: Reals) -> list[int]:
    """Return the row farthest from the mean, then those farthest from all before."""
    away = np.abs(rows - rows.mean(axis=0)).max(axis=1)
    chosen = [int(away.argmax())]
    while len(chosen) < min(_SHOWN, len(rows)):
        near = np.min([np.abs(rows - rows[k]).max(axis=1) for k in chosen], axis=0)
        chosen.append(int(near.argmax()))
    return chosen


def _centroids(model: ScalingModel, surfaces: SurfaceModel, name: str) -> Iterator[tuple[str, LineChart]]:
    """Yield a chart for each axis that varies: the quantity over that at the base, one line a centroid."""
    grid, (unit, core, memory) = model.grid, model.base_index
    _, n_core, n_memory = grid.shape
    found = surfaces.by_clocks[unit]
    whole = [clock_surface(row, n_core, n_memory, (core, memory)) for row in found.centroids]
    if n_core > 1:
        yield "core", _axis_chart(name, "core MHz", grid.core_mhz, [s[:, memory] for s in whole], found)
    if n_memory > 1:
        yield "memory", _axis_chart(name, "memory MHz", grid.memory_mhz, [s[core] for s in whole], found)
    if surfaces.by_units is not None:
        lines = [along(row, unit) for row in surfaces.by_units.centroids]
        yield "units", _axis_chart(name, "compute units", grid.compute_units, lines, surfaces.by_units)


def _axis_chart(
    name: str, axis: str, values: Sequence[Fraction | int], lines: Sequence[Reals], found: ClusterSet
) -> LineChart:
    series = tuple(
        Series(
            name=f"{k + 1}: {len(found.members[k])} kernel{'s' if len(found.members[k]) != 1 else ''}",
            points=tuple(zip(_floats(values), line.tolist(), strict=True)),
        )
        for k, line in enumerate(lines)
    )
    return LineChart(
        title=f"{name}: centroids by {axis}", across=axis, up=f"{name} over the base", series=series, from_zero=False
    )


def judged_pictures(
    judged: Sequence[Judged], given: ScalingSet, by_clusters: Sequence[tuple[int, Sequence[Judged]]]
) -> Iterator[tuple[str, str]]:
    """Yield (name of the file, SVG): predicted against measured, errors by distance and by number of clusters."""
    for q, one in enumerate(judged):
        yield f"predicted-{one.quantity}.svg", scatter_svg(_scatter(one, given))
        yield f"error-by-distance-{one.quantity}.svg", line_chart(_by_distance(one, given))
        if by_clusters:
            yield f"error-by-clusters-{one.quantity}.svg", line_chart(_by_clusters(q, by_clusters))


def _scatter(one: Judged, given: ScalingSet) -> Scatter:
    points = []
    for kernel in one.kernels:
        measured = kernel.measured / kernel.measured[given.base_index]
        pairs = zip(given.grid.configurations(), kernel.surface.ravel(), measured.ravel(), strict=True)
        points += [
            ScatterPoint(name=f"{kernel.name} at {where}", estimated=float(e), measured=float(m))
            for where, e, m in pairs
            if where != given.base
        ]
    return Scatter(title=f"{one.quantity} of unseen kernels, over the base", points=tuple(points))


def error_by_distance(one: Judged, given: ScalingSet) -> list[tuple[int, float, float]]:
    """Return (steps on the grid from the base, mean error of the model, that of the base value) for each distance."""
    steps = np.abs(np.indices(given.grid.shape) - np.array(given.base_index).reshape(3, 1, 1, 1)).sum(axis=0)
    model, copied = [], []
    for kernel in one.kernels:
        base = kernel.measured[given.base_index]
        model.append(np.abs(kernel.surface * base / kernel.measured - 1))
        copied.append(np.abs(base / kernel.measured - 1))
    return [
        (
            d,
            float(np.mean([m[steps == d].mean() for m in model])),
            float(np.mean([c[steps == d].mean() for c in copied])),
        )
        for d in range(1, int(np.max(steps)) + 1)
    ]


def _by_distance(one: Judged, given: ScalingSet) -> LineChart:
    rows = error_by_distance(one, given)
    return LineChart(
        title=f"error of {one.quantity} by distance",
        across="steps on the grid from the base",
        up="mean error, %",
        series=(
            Series(name="model", points=tuple((float(d), 100 * m) for d, m, _ in rows)),
            Series(name="base value", points=tuple((float(d), 100 * c) for d, _, c in rows)),
        ),
    )


def _by_clusters(q: int, by_clusters: Sequence[tuple[int, Sequence[Judged]]]) -> LineChart:
    of = [(count, judged[q]) for count, judged in by_clusters]
    series = [Series(name="best cluster", points=tuple((float(k), 100 * j.mean("best")) for k, j in of))]
    if of[0][1].classified:
        series.insert(0, Series(name="classifier", points=tuple((float(k), 100 * j.mean("error")) for k, j in of)))
    return LineChart(
        title=f"error of {of[0][1].quantity} by number of clusters",
        across="clusters of each set",
        up="mean error, %",
        series=tuple(series),
    )


def _floats(values: Sequence[Fraction | int]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def grid_text(grid: ScalingGrid) -> str:
    """Return the size of a grid in words: ``5 core clocks x 4 memory clocks``."""
    units = f"{len(grid.compute_units)} numbers of compute units x " if len(grid.compute_units) > 1 else ""
    return f"{units}{len(grid.core_mhz)} core clocks x {len(grid.memory_mhz)} memory clocks"
