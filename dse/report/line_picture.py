"""Lines over one axis as SVG: named series of points, with ticks; for fits, centroids and errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.escaping import page_text
from dse.report.svg import colour, picture, tag, text

WIDTH, HEIGHT = 560.0, 340.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 150.0, 34.0, 48.0
_TICKS, _LEAST_STEP = 5, 0.7
_LONGEST = 20
_LINE, _INSET = 15.0, 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line through points (x, y), ascending in x; ``dots``: the points alone."""

    name: str
    points: tuple[tuple[float, float], ...]
    dots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """A picture of series. The vertical axis begins at 0 unless ``from_zero`` is false or the axes are logarithmic.

    ``marks``: where the horizontal axis has numbers, if not at round ones.
    """

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    from_zero: bool = True
    logarithmic: bool = False
    marks: tuple[float, ...] = ()


def line_chart(chart: LineChart) -> str:
    """Return the picture as SVG; its file may be opened alone."""
    xs, ys = _axes(chart)
    height = max(HEIGHT, _TOP + 20 + _LINE * len(chart.series))
    frame = f"{_LEFT:.2f},{_TOP:.2f} {_LEFT:.2f},{HEIGHT - _BOTTOM:.2f} {WIDTH - _RIGHT:.2f},{HEIGHT - _BOTTOM:.2f}"
    content = [
        tag("polyline", [("points", frame), ("fill", "none"), ("stroke", "#999")]),
        text(WIDTH / 2, 18, chart.title, anchor="middle", size=14),
        text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, chart.across, anchor="middle"),
        text(8, _TOP - 8, chart.up),
        *(text(xs.at(v), HEIGHT - _BOTTOM + 16, f"{v:g}", anchor="middle", size=11) for v in chart.marks or xs.ticks),
        *(text(_LEFT - 6, ys.at(v) + 4, f"{v:g}", anchor="end", size=11) for v in ys.ticks),
        *(_drawn(series, k, xs, ys) for k, series in enumerate(chart.series)),
    ]
    return picture(WIDTH, height, "".join(content), chart.title)


def _axes(chart: LineChart) -> tuple["_Axis", "_Axis"]:
    points = [point for series in chart.series for point in series.points] or [(0.0, 0.0)]
    zero = [0.0] if chart.from_zero and not chart.logarithmic else []
    return (
        _Axis([x for x, _ in points], _LEFT + _INSET, WIDTH - _RIGHT - _INSET, logarithmic=chart.logarithmic),
        _Axis([y for _, y in points] + zero, HEIGHT - _BOTTOM, _TOP, logarithmic=chart.logarithmic),
    )


def _drawn(series: Series, index: int, xs: "_Axis", ys: "_Axis") -> str:
    places = [(xs.at(x), ys.at(y)) for x, y in series.points]
    shade, y = colour(index), _TOP + 10 + _LINE * index
    name = series.name if len(series.name) <= _LONGEST else f"{series.name[: _LONGEST - 3]}..."
    parts = [text(WIDTH - _RIGHT + 24, y + 4, name, size=11), _dot(WIDTH - _RIGHT + 14, y, shade, series.name)]
    if not series.dots:
        path = " ".join(f"{a:.2f},{b:.2f}" for a, b in places)
        parts.append(tag("polyline", [("points", path), ("fill", "none"), ("stroke", shade), ("stroke-width", 1.6)]))
    for (a, b), (x, value) in zip(places, series.points, strict=True):
        parts.append(_dot(a, b, shade, f"{series.name}: {x:g}, {value:.4g}"))
    return "".join(parts)


def _dot(x: float, y: float, shade: str, title: str) -> str:
    return tag("circle", [("cx", x), ("cy", y), ("r", 3.0), ("fill", shade)], tag("title", [], page_text(title)))


class _Axis:
    """Maps values to a coordinate; ``ticks`` are round numbers within. Values of a logarithmic one are above 0."""

    def __init__(self, values: Sequence[float], begin: float, end: float, *, logarithmic: bool = False) -> None:
        self._logarithmic = logarithmic
        self._low, self._high = self._scaled(min(values)), self._scaled(max(values))
        self._begin, self._end = begin, end
        self.ticks = _powers(min(values), max(values)) if logarithmic else round_ticks(self._low, self._high)

    def at(self, value: float) -> float:
        """Return the coordinate of a value; the middle where all values are the same."""
        span = self._high - self._low
        return self._begin + (self._end - self._begin) * ((self._scaled(value) - self._low) / span if span else 0.5)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._logarithmic else value


def _powers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten from low to high, or powers alone where those are enough."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1,), (1, 2, 5)):
        found = [float(f"{m * 10.0**k:.12g}") for k in range(first, last + 1) for m in factors]
        found = [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(found) > _TICKS // 2:
            return found
    return found or [low]


def round_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from low to high."""
    if not high > low:
        return [low]
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= _LEAST_STEP * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
