"""A sweep as a table and as pictures: time over what varies, time over throughput, errors of what was measured.

Figures 4 and 5 of Hu, Liu and Dong are sweeps over warps and strides; 8 and 9 of CGPredict errors by size and model.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from rich.table import Table

from dse.model.sweep import BY_HAND, Sweep, SweepPoint
from dse.report.bar_picture import BarChart, BarSeries, bar_chart
from dse.report.kernel_tables import seconds_text
from dse.report.line_picture import LineChart, Series, line_chart
from dse.report.tables import NamesTable

_WIDE = 50.0
"""Axes are logarithmic where the longest time is more than so many times the shortest."""
_MARKS = 9
_NAMED, _BOUND = ("kernel", "device", "model"), "bound by"


def sweep_table(found: Sweep) -> Table:
    """Return a row for each point; what is the same everywhere has no column."""
    columns = _columns(found)
    table = NamesTable()
    for name, _ in columns:
        table.add_column(name, justify="left" if name in (*_NAMED, _BOUND) else "right", no_wrap=True)
    for point in found.points:
        table.add_row(*(cell(point) for _, cell in columns))
    return table


# ways: one for each column
def _columns(found: Sweep) -> list[tuple[str, Callable[[SweepPoint], str]]]:
    """Return the names of the columns, and what stands in them."""
    points = found.points
    columns: list[tuple[str, Callable[[SweepPoint], str]]] = []
    columns += [(name, attrgetter(name)) for name in _several(points)]
    columns += [(axis.name, lambda p, k=k: p.values[k]) for k, axis in enumerate(found.axes)]  # type: ignore[misc]
    columns.append(("time", lambda p: seconds_text(p.time_s)))
    if any(p.measured_s is not None for p in points):
        columns.append(("measured", lambda p: "" if p.measured_s is None else seconds_text(p.measured_s)))
        columns.append(("error", lambda p: "" if p.error is None else f"{100 * p.error:.2f} %"))
    if any(p.kernel != BY_HAND for p in points):
        columns.append(("warps", lambda p: f"{p.warps:,.0f}"))
        columns.append(("a request", lambda p: f"{p.transactions:.4g}"))
    if any(p.requests_hz is not None for p in points):
        columns.append(("requests/s", lambda p: "" if p.requests_hz is None else f"{p.requests_hz:.4g}"))
    return [*columns, (_BOUND, lambda p: p.bottleneck)]


def sweep_pictures(found: Sweep) -> Iterator[tuple[str, str]]:
    """Yield (name of the file, SVG)."""
    numbers = found.axes[0].numbers
    yield "time.svg", bar_chart(_time_bars(found)) if numbers is None else line_chart(_times(found, numbers))
    if all(point.requests_hz is not None for point in found.points):
        yield "throughput.svg", line_chart(_throughputs(found))
    if any(point.error is not None for point in found.points):
        yield "error.svg", bar_chart(_errors(found))


def _times(found: Sweep, numbers: tuple[float, ...]) -> LineChart:
    axis = found.axes[0]
    place = dict(zip(axis.values, numbers, strict=True))
    lines = list(_lines(found, lambda p: (place[p.values[0]], 1e3 * p.time_s)))
    dots = [(place[p.values[0]], 1e3 * p.measured_s) for p in found.points if p.measured_s is not None]
    if dots:
        lines.append(Series(name="measured", points=tuple(sorted(set(dots))), dots=True))
    return LineChart(
        title=_title(found),
        across=axis.name,
        up="ms",
        series=tuple(lines),
        logarithmic=_is_wide(lines),
        marks=numbers if len(numbers) <= _MARKS else (),
    )


def _title(found: Sweep) -> str:
    return f"time over {found.axes[0].name}" + (f", by {found.axes[1].name}" if len(found.axes) > 1 else "")


def _time_bars(found: Sweep) -> BarChart:
    """Return a group for each value of an axis that has no order, such as the block."""
    values = found.axes[0].values
    place = dict(zip(values, range(len(values)), strict=True))
    lines = _lines(found, lambda p: (place[p.values[0]], 1e3 * p.time_s))
    series = tuple(BarSeries(name=line.name, values=tuple(ms for _, ms in line.points)) for line in lines)
    return BarChart(title=_title(found), up="ms", groups=values, series=series)


def _throughputs(found: Sweep) -> LineChart:
    """Return time over requests a second, as figure 5 of Hu, Liu and Dong: a line joins what differs in throughput."""

    def place(point: SweepPoint) -> tuple[float, float]:
        return 1e-6 * (point.requests_hz or 0.0), 1e3 * point.time_s

    by = len(found.axes) - 1
    if by and all(len({x for x, _ in line.points}) == 1 for line in _lines(found, place, by)):
        by = 0
    lines = tuple(_lines(found, place, by))
    return LineChart(
        title="time over throughput",
        across="million requests a second",
        up="ms",
        series=lines,
        logarithmic=_is_wide(lines),
    )


def _lines(found: Sweep, place: Callable[[SweepPoint], tuple[float, float]], by: int = 1) -> Iterator[Series]:
    """Yield a line for each kernel, device, model and, of two axes, value of the axis with the number ``by``."""
    several = _several(found.points)
    lines: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for p in found.points:
        words = [getattr(p, name) for name in several]
        if len(found.axes) > 1:
            words.append(f"{found.axes[by].name} {p.values[by]}")
        lines.setdefault(tuple(words), []).append(place(p))
    for key, points in lines.items():
        yield Series(name=", ".join(key) or "predicted", points=tuple(sorted(points)))


def _several(points: Sequence[SweepPoint]) -> list[str]:
    """Return which of kernel, device and model differ."""
    return [name for name in _NAMED if len({getattr(p, name) for p in points}) > 1]


def _is_wide(lines: Sequence[Series]) -> bool:
    """Return whether logarithmic axes show lines better; they need values above 0."""
    points = [point for line in lines for point in line.points]
    times = [y for _, y in points]
    return min(x for x, _ in points) > 0 and max(times) > _WIDE * min(times)


def _errors(found: Sweep) -> BarChart:
    """Return errors: a group a kernel, and a bar a model or, where there is one, a size; figures 9 and 8."""
    points = [p for p in found.points if p.error is not None]
    bar_of = _model if "model" in _several(points) else lambda p: _values(found, p)
    groups = dict.fromkeys(_group(found, points, p) for p in points)
    errors = {(_group(found, points, p), bar_of(p)): 100 * (p.error or 0.0) for p in points}
    series = (
        BarSeries(name=bar, values=tuple(errors.get((group, bar)) for group in groups))
        for bar in dict.fromkeys(bar for _, bar in errors)
    )
    return BarChart(title="predicted against measured", up="error in %", groups=tuple(groups), series=tuple(series))


def _model(point: SweepPoint) -> str:
    return point.model


def _group(found: Sweep, points: Sequence[SweepPoint], point: SweepPoint) -> str:
    """Return the group of a point: its kernel, and what else differs and is no bar."""
    several = _several(points)
    words = [point.kernel, *([point.device] if "device" in several else ())]
    if "model" in several and len({p.values for p in points}) > 1:
        words.append(_values(found, point))
    return " ".join(words)


def _values(found: Sweep, point: SweepPoint) -> str:
    return ", ".join(f"{axis.name}={value}" for axis, value in zip(found.axes, point.values, strict=True))
