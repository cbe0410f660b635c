"""Bars in groups as SVG: for each group one bar a series, with its value; for errors and times of kernels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dse.report.line_picture import round_ticks
from dse.report.svg import colour, picture, rectangle, tag, text

_LEFT, _RIGHT, _TOP, _HEIGHT = 64.0, 16.0, 52.0, 220.0
_BOTTOM, _BOTTOM_SLANTED = 28.0, 76.0
_BAR, _GAP, _LEAST_GROUP = 16.0, 14.0, 44.0
_LEAST_WIDTH = 420.0
_LETTER = 6.9
_LONGEST = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class BarSeries:
    """One bar for each group; None where there is nothing."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """A picture of bars; ``up`` is what they show."""

    title: str
    up: str
    groups: tuple[str, ...]
    series: tuple[BarSeries, ...]


def bar_chart(chart: BarChart) -> str:
    """Return the picture as SVG; it is as wide as its groups need."""
    group = max(_LEAST_GROUP, _BAR * len(chart.series) + _GAP)
    legend, legend_width = _legend(chart.series)
    width = max(_LEAST_WIDTH, _LEFT + group * len(chart.groups) + _RIGHT, _LEFT + legend_width + _RIGHT)
    most = max((v for s in chart.series for v in s.values if v is not None), default=0.0) or 1.0
    bottom = _TOP + _HEIGHT
    step = (width - _LEFT - _RIGHT) / max(1, len(chart.groups))
    content = [
        text(width / 2, 18, chart.title, anchor="middle", size=14),
        text(8, _TOP - 10, chart.up),
        *(_tick(value, bottom - _HEIGHT * value / most, width) for value in round_ticks(0.0, most)),
    ]
    for at, name in enumerate(chart.groups):
        middle = _LEFT + step * (at + 0.5)
        content += [*_group(chart, at, middle, most), *_name(name, middle, bottom, step)]
    line = f"{_LEFT:.2f},{bottom:.2f} {width - _RIGHT:.2f},{bottom:.2f}"
    content += [tag("polyline", [("points", line), ("fill", "none"), ("stroke", "#999")]), legend]
    below = _BOTTOM if all(_fits(name, step) for name in chart.groups) else _BOTTOM_SLANTED
    return picture(width, bottom + below, "".join(content), chart.title)


def _group(chart: BarChart, at: int, middle: float, most: float) -> Iterator[str]:
    """Yield the bars of a group."""
    for k, series in enumerate(chart.series):
        value = series.values[at]
        if value is not None:
            height = _HEIGHT * value / most
            x, y = middle + _BAR * (k - len(chart.series) / 2), _TOP + _HEIGHT - height
            title = f"{chart.groups[at]}, {series.name}: {value:.4g}"
            yield rectangle(x, y, _BAR - 2, height, colour(k), title)


def _tick(value: float, y: float, width: float) -> str:
    line = f"{_LEFT:.2f},{y:.2f} {width - _RIGHT:.2f},{y:.2f}"
    grid = tag("polyline", [("points", line), ("fill", "none"), ("stroke", "#e4e4e4")])
    return grid + text(_LEFT - 6, y + 4, f"{value:g}", anchor="end", size=11)


def _name(name: str, x: float, bottom: float, step: float) -> list[str]:
    """Return the name under a group, slanted where it is longer than the group is wide."""
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
    if _fits(name, step):
        return [text(x, bottom + 16, short, anchor="middle", size=11)]
    slanted = [("transform", f"rotate(-30 {x:.2f} {bottom + 14:.2f})")]
    return [tag("g", [*slanted], text(x, bottom + 14, short, anchor="end", size=11))]


def _fits(name: str, step: float) -> bool:
    return min(len(name), _LONGEST) * _LETTER <= step - 4


def _legend(series: Sequence[BarSeries]) -> tuple[str, float]:
    """Return the legend, a line above the bars, and its width."""
    content, x = list[str](), _LEFT + 110
    for k, one in enumerate(series):
        content += [rectangle(x, _TOP - 22, 12, 12, colour(k)), text(x + 16, _TOP - 11.5, one.name, size=11)]
        x += 36 + _LETTER * len(one.name)
    return "".join(content), x - _LEFT
