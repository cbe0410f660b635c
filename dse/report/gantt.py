"""Timelines of a mapping: how occupied each partition is over the whole run, and every firing in a window of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, FiringTimes
from dse.model.trace import Trace
from dse.report.quantities import time_text
from dse.report.svg import colour, picture, rectangle, text

WINDOW_FIRINGS = 700
"""The window is chosen to hold about this many firings: more make a heavy page and thin lines."""
STRIPS = 240
_LEFT, _WIDTH, _LANE = 130.0, 1000.0, 16.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of simulated time, in ticks."""

    start: int
    end: int


def steady_window(times: Sequence[FiringTimes], makespan: int, firings: int = WINDOW_FIRINGS) -> Window:
    """Return a window around the middle of the run that holds about ``firings`` firings."""
    starts = np.sort(np.concatenate([t.start for t in times])) if times else np.zeros(0, dtype=np.int64)
    if len(starts) <= firings:
        return Window(start=0, end=max(1, makespan))
    first = (len(starts) - firings) // 2
    start, end = int(starts[first]), int(starts[first + firings])
    return Window(start=start, end=max(start + 1, end))


def occupancy(times: Sequence[FiringTimes], actors: Sequence[int], makespan: int, strips: int) -> NDArray[np.float64]:
    """Return the mean number of running firings of ``actors`` in each strip of the run; shape (strips,)."""
    edges = np.linspace(0, max(1, makespan), strips + 1)
    busy = np.zeros(strips + 1)
    for actor in actors:
        # The firings of an actor do not overlap: its busy time up to an edge is a piecewise linear function.
        start, end = times[actor].start, times[actor].end
        done = np.concatenate([[0], np.cumsum(end - start)])
        at = np.searchsorted(start, edges, side="right")
        running = np.where(at > 0, np.clip(edges - np.append(start, 0)[at - 1], 0, None), 0.0)
        length = np.where(at > 0, np.append(end - start, 0)[at - 1], 0)
        busy += np.where(at > 0, done[np.maximum(at - 1, 0)], 0) + np.minimum(running, length)
    return np.asarray(np.diff(busy) / np.diff(edges), dtype=np.float64)


def occupancy_picture(point: DesignPoint, estimate: Estimate) -> str:
    """Return one strip a partition, darker where it is busier, over the whole run."""
    assert estimate.firing_times is not None, "a timeline needs firing times"
    content, step = list[str](), (_WIDTH - _LEFT) / STRIPS
    for row, (partition, account) in enumerate(zip(point.partitions, estimate.partitions, strict=True)):
        y = 4 + row * 24
        content.append(text(_LEFT - 8, y + 14, partition.name, anchor="end"))
        content.append(rectangle(_LEFT, y, _WIDTH - _LEFT, 18, "#f2f2f2"))
        load = occupancy(estimate.firing_times, partition.actors, estimate.makespan, STRIPS) / account.cores
        for strip, share in enumerate(np.clip(load, 0, 1)):
            if share > 0.005:
                box = rectangle(_LEFT + strip * step, y, step + 0.3, 18, colour(row))
                content.append(box.replace("/>", f' opacity="{share:.2f}"/>'))
    bottom = 4 + len(point.partitions) * 24
    content.append(_axis(bottom + 4, Window(start=0, end=max(1, estimate.makespan)), estimate))
    return picture(_WIDTH + 40, bottom + 28, "".join(content), "occupancy of the partitions over the whole run")


def gantt_picture(trace: Trace, point: DesignPoint, estimate: Estimate, window: Window) -> str:
    """Return one lane an actor, grouped and coloured by partition, with every firing in the window."""
    assert estimate.firing_times is not None, "a timeline needs firing times"
    topology, y, content = trace.topology, 4.0, list[str]()
    for index, partition in enumerate(point.partitions):
        height = _LANE * len(partition.actors)
        content.append(rectangle(0, y, 5, height, colour(index), partition.name))
        for actor in partition.actors:
            content.append(text(_LEFT - 8, y + 12, _short(topology.actors[actor].name), anchor="end", size=11))
            content.append(rectangle(_LEFT, y + 1, _WIDTH - _LEFT, _LANE - 2, "#f7f7f7"))
            content += _firings(trace, actor, estimate.firing_times[actor], window, y, colour(index))
            y += _LANE
        y += 6
    content.append(_axis(y, window, estimate))
    label = (
        f"firings between {time_text(window.start, estimate.tick_unit)} and {time_text(window.end, estimate.tick_unit)}"
    )
    return picture(_WIDTH + 40, y + 24, "".join(content), label)


def _firings(trace: Trace, actor: int, times: FiringTimes, window: Window, y: float, fill: str) -> list[str]:
    scale = (_WIDTH - _LEFT) / (window.end - window.start)
    first = int(np.searchsorted(times.end, window.start, side="right"))
    last = int(np.searchsorted(times.start, window.end, side="left"))
    actions = trace.topology.actors[actor].actions
    found = []
    for firing in range(first, last):
        start, end = max(int(times.start[firing]), window.start), min(int(times.end[firing]), window.end)
        name = f"{actions[int(trace.firings[actor][firing])].name} (firing {firing})"
        width = max(0.4, (end - start) * scale - 0.4)  # the gap lets adjacent firings be told apart
        found.append(rectangle(_LEFT + (start - window.start) * scale, y + 2, width, _LANE - 4, fill, name))
    return found


def _axis(y: float, window: Window, estimate: Estimate) -> str:
    content = []
    for step in range(6):
        x = _LEFT + (_WIDTH - _LEFT) * step / 5
        ticks = window.start + (window.end - window.start) * step // 5
        content.append(rectangle(x, y, 0.7, 5, "#888"))
        content.append(text(x, y + 17, time_text(ticks, estimate.tick_unit), anchor="middle", size=10, fill="#555"))
    return "".join(content)


def _short(name: str, length: int = 18) -> str:
    return name if len(name) <= length else "..." + name[-(length - 3) :]
