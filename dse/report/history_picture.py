"""How a search went: the makespan of each mapping in the order of estimation, the best so far, and the lower bound."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.model.estimate import TickUnit
from dse.report.quantities import time_text
from dse.report.svg import PALETTE, picture, tag, text

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 760.0, 260.0, 90.0, 34.0, 24.0
_MOST_DOTS = 3000
"""More are thinned: a page stays light, and the best of all are kept."""
_SPAN = 3.0
"""Makespans above so many times the best are drawn at the upper edge: one bad mapping must not flatten all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A mapping that was estimated: the how-manieth it was, from 0, and its makespan in ticks."""

    ordinal: int
    makespan: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axes:
    """From evaluations and ticks to the picture."""

    evaluations: int
    low: float
    high: float

    def across(self, ordinal: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * ordinal / max(1, self.evaluations - 1)

    def up(self, ticks: float) -> float:
        share = (min(ticks, self.high) - self.low) / ((self.high - self.low) or 1)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)


def history_picture(found: Sequence[Found], evaluations: int, bound: int, unit: TickUnit) -> str:
    """Return the picture. ``found``: the best first; ``evaluations``: how many there were; ``bound``: in ticks."""
    best = found[0].makespan
    highest = min(max(f.makespan for f in found), round(_SPAN * best))
    low = min(bound, best) if bound else best
    margin = 0.05 * (highest - low)
    axes = _Axes(evaluations=evaluations, low=max(0.0, low - margin), high=highest + margin)
    content = [_frame(axes, unit), *_dots(axes, found), _steps(axes, found), *_bound(axes, bound, unit)]
    label = f"{evaluations} mappings estimated, the best takes {time_text(best, unit)}"
    return picture(_WIDTH, _HEIGHT, "".join(content), label)


def _frame(axes: _Axes, unit: TickUnit) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - 20
    corner = f"{_LEFT},{_TOP} {_LEFT},{bottom} {right},{bottom}"
    content = [tag("polyline", [("points", corner), ("fill", "none"), ("stroke", "#999")])]
    for step in range(5):
        ticks = axes.low + (axes.high - axes.low) * step / 4
        y = axes.up(ticks)
        content.append(text(_LEFT - 6, y + 4, time_text(round(ticks), unit), anchor="end", size=10, fill="#555"))
    content.append(text(right, bottom + 26, f"{axes.evaluations:,} mappings in the order of estimation", anchor="end"))
    return "".join(content)


def _dots(axes: _Axes, found: Sequence[Found]) -> list[str]:
    thin = -(-len(found) // _MOST_DOTS)
    shown = [f for k, f in enumerate(found) if k % thin == 0]
    return [
        tag(
            "circle",
            [
                ("cx", axes.across(f.ordinal)),
                ("cy", axes.up(f.makespan)),
                ("r", 2.2),
                ("fill", PALETTE[0]),
                ("fill-opacity", "0.55"),
            ],
        )
        for f in shown
    ]


def _steps(axes: _Axes, found: Sequence[Found]) -> str:
    """Return the line of the best so far."""
    best, points = None, list[str]()
    for one in sorted(found, key=lambda f: f.ordinal):
        if best is None or one.makespan < best:
            x = axes.across(one.ordinal)
            points += [] if best is None else [f"{x:.1f},{axes.up(best):.1f}"]
            points.append(f"{x:.1f},{axes.up(one.makespan):.1f}")
            best = one.makespan
    assert best is not None, "a ranking holds a mapping"
    points.append(f"{axes.across(axes.evaluations - 1):.1f},{axes.up(best):.1f}")
    return tag(
        "polyline",
        [("points", " ".join(points)), ("fill", "none"), ("stroke", PALETTE[1]), ("stroke-width", 2)],
        tag("title", [], "the best so far"),
    )


def _bound(axes: _Axes, bound: int, unit: TickUnit) -> list[str]:
    """Return the line of the lower bound, with its name; nothing where it is 0."""
    if not bound:
        return []
    y = axes.up(bound)
    place: list[tuple[str, str | float]] = [
        ("x1", _LEFT),
        ("y1", y),
        ("x2", _WIDTH - 20),
        ("y2", y),
        ("stroke", PALETTE[2]),
    ]
    dashed = tag("line", [*place, ("stroke-dasharray", "5 4")])
    return [dashed, text(_WIDTH - 24, y - 4, f"lower bound {time_text(bound, unit)}", anchor="end", size=10)]
