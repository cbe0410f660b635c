"""Surfaces over two axes as wire meshes, side by side, as figure 1 of Wu et al. 2015 shows them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.model.scaling import Reals
from dse.report.svg import colour, picture, tag, text

_PANEL_WIDTH, _PANEL_HEIGHT = 350.0, 250.0
_COLUMNS = 2
_DEPTH = (70.0, 52.0)
"""How far to the right and up the second axis goes."""
_ACROSS, _UP = 170.0, 110.0
_LEFT, _BOTTOM = 52.0, 46.0
_RAISED = 10.0
"""How far the least of all values is above the floor."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """A quantity above 0 by two axes: ``values`` of shape (n_first, n_second), the first axis to the right."""

    name: str
    values: Reals
    axes: tuple[str, str]
    first: tuple[float, ...]
    second: tuple[float, ...]


def surfaces_picture(surfaces: Sequence[Surface], title: str, up: str) -> str:
    """Return the meshes in rows of two, all on one scale from the least to the most; ``up`` says what they show."""
    heights = min((float(s.values.min()) for s in surfaces), default=0.0), _most(surfaces)
    rows = -(-len(surfaces) // _COLUMNS)
    panels = [_panel(surface, k, heights, up) for k, surface in enumerate(surfaces)]
    width, height = _COLUMNS * _PANEL_WIDTH, 26 + rows * _PANEL_HEIGHT
    return picture(width, height, text(width / 2, 18, title, anchor="middle", size=14) + "".join(panels), title)


def _most(surfaces: Sequence[Surface]) -> float:
    return max((float(s.values.max()) for s in surfaces), default=1.0)


def _panel(surface: Surface, index: int, heights: tuple[float, float], up: str) -> str:
    least, most = heights
    left = (index % _COLUMNS) * _PANEL_WIDTH + _LEFT
    bottom = 26 + (index // _COLUMNS + 1) * _PANEL_HEIGHT - _BOTTOM
    across = np.linspace(0.0, 1.0, len(surface.first)) if len(surface.first) > 1 else np.zeros(1)
    depth = np.linspace(0.0, 1.0, len(surface.second)) if len(surface.second) > 1 else np.zeros(1)
    x = left + across[:, None] * _ACROSS + depth[None, :] * _DEPTH[0]
    floor = bottom - depth[None, :] * _DEPTH[1] + 0 * across[:, None]
    span = most - least
    y = floor - _RAISED - (surface.values - least) / (span if span > 0 else 1.0) * (_UP - _RAISED)
    base = [(left, bottom), (left + _ACROSS, bottom), (left + _ACROSS + _DEPTH[0], bottom - _DEPTH[1])]
    parts = [
        _line([(left, bottom - _UP), *base], "#999"),
        text(left - 5, bottom - _RAISED + 4, f"{least:.3g}", anchor="end", size=10),
        text(left - 5, bottom - _UP + 4, f"{most:.3g}", anchor="end", size=10),
        *(_line(list(zip(x[i], y[i], strict=True)), colour(index)) for i in range(len(surface.first))),
        *(_line(list(zip(x[:, j], y[:, j], strict=True)), colour(index)) for j in range(len(surface.second))),
        text(left, bottom - _UP - _DEPTH[1] - 14, surface.name, size=12),
        text(left, bottom + 14, f"{surface.first[0]:g}", size=10),
        text(left + _ACROSS, bottom + 14, f"{surface.first[-1]:g}", anchor="middle", size=10),
        text(left + _ACROSS / 2, bottom + 28, surface.axes[0], anchor="middle", size=11),
        text(left + _ACROSS + _DEPTH[0] + 2, bottom - _DEPTH[1] + 4, f"{surface.second[-1]:g}", size=10),
        text(left + _ACROSS + _DEPTH[0] / 2 + 8, bottom - 12, surface.axes[1], size=11),
        text(left, bottom + 40, f"{up}: {surface.values.min():.3g} to {surface.values.max():.3g}", size=10),
    ]
    return "".join(parts)


def _line(points: Sequence[tuple[float, float]], shade: str) -> str:
    path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return tag("polyline", [("points", path), ("fill", "none"), ("stroke", shade)])
