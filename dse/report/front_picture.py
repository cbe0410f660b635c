"""Pictures of a Pareto front: its points by the first two objectives, and how the front grew during the search."""

from collections.abc import Sequence
from fractions import Fraction

from dse.base.escaping import page_text
from dse.model.study import Front
from dse.report.quantities import value_text
from dse.report.svg import colour, picture, tag, text

WIDTH, HEIGHT = 440.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 92.0, 14.0, 14.0, 46.0


def front_pictures(front: Front) -> str:
    """Return both pictures; the first one only where there are two objectives and more than one point."""
    parts = [_growth(front)] if len(front.history) > 1 else []
    if len(front.axes) > 1 and len(front.points) > 1:
        parts.insert(0, front_scatter(front))
    return "".join(parts)


def front_scatter(front: Front) -> str:
    """Return the points of a front of several objectives, by the first two."""
    across, up = front.axes[:2]
    points = [point.values[:2] for point in front.points]
    xs, ys = (
        _Scale([x for x, _ in points], _LEFT, WIDTH - _RIGHT),
        _Scale([y for _, y in points], HEIGHT - _BOTTOM, _TOP),
    )
    dots = [
        tag(
            "circle",
            [("cx", xs.at(x)), ("cy", ys.at(y)), ("r", 4.0), ("fill", colour(0))],
            tag("title", [], page_text(f"{value_text(x, across.unit)}, {value_text(y, up.unit)}")),
        )
        for x, y in points
    ]
    labels = [
        *_ends(xs, [value_text(v, across.unit) for v in xs.ends], across.name),
        *_side(ys, [value_text(v, up.unit) for v in ys.ends], up.name),
    ]
    return picture(WIDTH, HEIGHT, _frame() + "".join(dots + labels), f"the front: {up.name} by {across.name}")


def _growth(front: Front) -> str:
    counts = [float(count) for count, _ in front.history]
    xs, ys = _Scale([0.0, *counts], _LEFT, WIDTH - _RIGHT), _Scale([0.0, 1.0], HEIGHT - _BOTTOM, _TOP)
    corners, before = [(xs.at(counts[0]), ys.at(0.0))], 0.0
    for count, share in front.history:
        corners += [(xs.at(count), ys.at(before)), (xs.at(count), ys.at(share))]
        before = share
    path = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
    line = tag("polyline", [("points", path), ("fill", "none"), ("stroke", colour(0)), ("stroke-width", 2.0)])
    labels = [
        *_ends(xs, [f"{round(v):,}" for v in xs.ends], "mappings estimated"),
        *_side(ys, ["0 %", "100 %"], "hypervolume"),
    ]
    return picture(WIDTH, HEIGHT, _frame() + line + "".join(labels), "hypervolume of the front over the search")


class _Scale:
    """Maps values to a coordinate, linearly; exact, so that equal values of any size stay equal."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self.ends = min(values), max(values)
        self.begin = begin
        self.end = end

    def at(self, value: float) -> float:
        """Return the coordinate of a value; the middle where all values are the same."""
        low, high = map(Fraction, self.ends)
        share = 0.5 if high == low else float((Fraction(value) - low) / (high - low))
        return self.begin + share * (self.end - self.begin)


def _frame() -> str:
    left, bottom = _LEFT, HEIGHT - _BOTTOM
    path = f"{left:.2f},{_TOP:.2f} {left:.2f},{bottom:.2f} {WIDTH - _RIGHT:.2f},{bottom:.2f}"
    return tag("polyline", [("points", path), ("fill", "none"), ("stroke", "#999")])


def _ends(scale: _Scale, shown: Sequence[str], name: str) -> list[str]:
    """Return the labels of the horizontal axis."""
    y = HEIGHT - _BOTTOM + 16
    middle = (scale.begin + scale.end) / 2
    return [
        text(scale.begin, y, shown[0], size=11),
        text(scale.end, y, shown[1], anchor="end", size=11),
        text(middle, y + 18, name, anchor="middle"),
    ]


def _side(scale: _Scale, shown: Sequence[str], name: str) -> list[str]:
    """Return the labels of the vertical axis."""
    return [
        text(_LEFT - 6, scale.begin, shown[0], anchor="end", size=11),
        text(_LEFT - 6, scale.end + 8, shown[1], anchor="end", size=11),
        text(_LEFT - 6, (scale.begin + scale.end) / 2, name, anchor="end"),
    ]
