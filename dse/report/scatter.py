"""Estimates against measurements as a picture with the identity line: SVG for pages, PNG for everything else.

As figures 11, 12, 14 and 15 of the paper (``004_fe729001a6d206e7.txt``): both axes are normalised, the identity line is
orange. Points of several groups (FIFO sizes, inputs) have colours of their own; points that are not scored are hollow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.base.escaping import page_text
from dse.formats.pictures import png_of_samples
from dse.report.small_font import HEIGHT, dots
from dse.report.svg import PALETTE, colour, picture, tag, text

SIZE = 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 34, 52
_IDENTITY = PALETTE[1]
_RADIUS = 3.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPoint:
    """A point: the normalised estimate and measurement, 0 and more; ``group`` chooses its colour."""

    name: str
    estimated: float
    measured: float
    group: int = 0
    hollow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """A picture: its points, one name a group, and a title."""

    title: str
    points: tuple[ScatterPoint, ...]
    groups: tuple[str, ...] = ()

    @property
    def most(self) -> float:
        """Where both axes end: at 1, or behind the farthest point."""
        return max(1.0, *(max(p.estimated, p.measured) for p in self.points)) if self.points else 1.0

    def across(self, value: float) -> float:
        """Return the horizontal coordinate of a normalised estimate."""
        return _LEFT + value / self.most * (SIZE - _LEFT - _RIGHT)

    def up(self, value: float) -> float:
        """Return the vertical coordinate of a normalised measurement."""
        return SIZE - _BOTTOM - value / self.most * (SIZE - _TOP - _BOTTOM)


def scatter_svg(scatter: Scatter) -> str:
    """Return the picture as SVG."""
    low, high = (scatter.across(0), scatter.up(0)), (scatter.across(scatter.most), scatter.up(scatter.most))
    frame = f"{low[0]:.2f},{high[1]:.2f} {low[0]:.2f},{low[1]:.2f} {high[0]:.2f},{low[1]:.2f}"
    content = [
        tag("polyline", [("points", frame), ("fill", "none"), ("stroke", "#999")]),
        tag("line", [("x1", low[0]), ("y1", low[1]), ("x2", high[0]), ("y2", high[1]), ("stroke", _IDENTITY)]),
        text(SIZE / 2, 20, scatter.title, anchor="middle", size=14),
        text((low[0] + high[0]) / 2, SIZE - 10, "estimated, normalised", anchor="middle"),
        text(low[0] - 6, high[1] - 8, "measured, normalised"),
        *(_tick_svg(scatter, value) for value in _ticks(scatter)),
        *(_dot_svg(scatter, point) for point in scatter.points),
        *(_group_svg(low[0], high[1], k, name) for k, name in enumerate(scatter.groups)),
    ]
    return picture(SIZE, SIZE, "".join(content), scatter.title)


def _ticks(scatter: Scatter) -> list[float]:
    """Return quarters; where those were too many, as many of them apart as leave about eight."""
    step = max(1, round(scatter.most / 2))
    return [k / 4 for k in range(0, int(scatter.most * 4) + 1, step)]


def _tick_svg(scatter: Scatter, value: float) -> str:
    x, y = scatter.across(value), scatter.up(value)
    return text(x, scatter.up(0) + 16, f"{value:g}", anchor="middle", size=11) + text(
        scatter.across(0) - 6, y + 4, f"{value:g}", anchor="end", size=11
    )


def _dot_svg(scatter: Scatter, point: ScatterPoint) -> str:
    shade = colour(0 if point.group == 0 else point.group + 1)
    return tag(
        "circle",
        [
            ("cx", scatter.across(point.estimated)),
            ("cy", scatter.up(point.measured)),
            ("r", _RADIUS),
            ("fill", "none" if point.hollow else shade),
            ("fill-opacity", "0.7"),
            ("stroke", shade),
        ],
        tag("title", [], page_text(f"{point.name}: {point.estimated:.3f}, {point.measured:.3f}")),
    )


def _group_svg(x: float, y: float, index: int, name: str) -> str:
    shade = colour(0 if index == 0 else index + 1)
    place: list[tuple[str, str | float]] = [
        ("cx", x + 14),
        ("cy", y + 14 + 16 * index),
        ("r", _RADIUS),
        ("fill", shade),
    ]
    return tag("circle", place) + text(x + 24, y + 18 + 16 * index, name, size=11)


def scatter_png(scatter: Scatter) -> bytes:
    """Return the picture as a PNG file of 520 x 520 pixels."""
    canvas = _Canvas(SIZE)
    low, high = (scatter.across(0), scatter.up(0)), (scatter.across(scatter.most), scatter.up(scatter.most))
    canvas.line((low[0], high[1]), low, "#999999")
    canvas.line(low, (high[0], low[1]), "#999999")
    canvas.line(low, high, _IDENTITY)
    canvas.text(scatter.title, SIZE / 2, 14, middle=True)
    canvas.text("estimated, normalised", (low[0] + high[0]) / 2, SIZE - 18, middle=True)
    canvas.text("measured, normalised", low[0] - 6, high[1] - 14)
    for value in _ticks(scatter):
        canvas.text(f"{value:g}", scatter.across(value), low[1] + 10, middle=True)
        canvas.text(f"{value:g}", low[0] - 6 - 6 * len(f"{value:g}"), scatter.up(value) - 3)
    for point in scatter.points:
        shade = colour(0 if point.group == 0 else point.group + 1)
        canvas.disc(scatter.across(point.estimated), scatter.up(point.measured), shade, hollow=point.hollow)
    for k, name in enumerate(scatter.groups):
        canvas.disc(low[0] + 14, high[1] + 14 + 16 * k, colour(0 if k == 0 else k + 1))
        canvas.text(name, low[0] + 24, high[1] + 11 + 16 * k)
    return png_of_samples(canvas.samples())


class _Canvas:
    """White paper of a square number of pixels, with soft edges."""

    def __init__(self, size: int) -> None:
        self._paper = np.full((size, size, 3), 255.0)
        self._y, self._x = np.mgrid[0:size, 0:size].astype(np.float64)

    def samples(self) -> NDArray[np.uint8]:
        """Return the picture, shape (size, size, 3)."""
        return np.asarray(np.clip(np.rint(self._paper), 0, 255), dtype=np.uint8)

    def line(self, start: tuple[float, float], end: tuple[float, float], shade: str) -> None:
        """Draw a straight line of one pixel."""
        (x0, y0), (x1, y1) = start, end
        length = max(float(np.hypot(x1 - x0, y1 - y0)), 1e-9)
        along = ((self._x - x0) * (x1 - x0) + (self._y - y0) * (y1 - y0)) / length
        beside = np.abs((self._x - x0) * (y1 - y0) - (self._y - y0) * (x1 - x0)) / length
        inside = np.clip(np.minimum(along, length - along) + 0.5, 0, 1)
        self._paint(np.clip(1 - beside, 0, 1) * inside, shade)

    def disc(self, x: float, y: float, shade: str, *, hollow: bool = False) -> None:
        """Draw a point."""
        near = np.s_[max(0, round(y) - 6) : round(y) + 7, max(0, round(x) - 6) : round(x) + 7]
        distance = np.hypot(self._x[near] - x, self._y[near] - y)
        ring, filled = np.clip(1 - np.abs(distance - _RADIUS), 0, 1), np.clip(_RADIUS + 0.5 - distance, 0, 1)
        self._paint(ring if hollow else 0.7 * filled, shade, near)

    def text(self, line: str, x: float, y: float, *, middle: bool = False) -> None:
        """Draw a line of text whose upper left corner, or the middle of whose upper edge, is given; cut at the edge."""
        shape = dots(line).astype(np.float64)
        left = max(0, round(x - (shape.shape[1] / 2 if middle else 0)))
        cover = np.zeros(self._paper.shape[:2])
        width = min(shape.shape[1], cover.shape[1] - left)
        cover[round(y) : round(y) + HEIGHT, left : left + width] = shape[:, :width]
        self._paint(cover, "#222222")

    def _paint(self, cover: NDArray[np.float64], shade: str, part: tuple[slice, slice] = np.s_[:, :]) -> None:
        """Let a shade cover a part of the paper, 1 wholly and 0 not at all."""
        paint = np.array([int(shade[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)
        self._paper[part] += cover[..., None] * (paint - self._paper[part])
