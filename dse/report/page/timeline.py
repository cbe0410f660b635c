"""The timeline of a mapping as columns: every firing, or where there are too many, levels of detail and windows.

Above ``Detail.all_firings`` firings a document holds for each actor how busy it was in each of ``BINS`` equal parts of
the run, and every firing in windows around the longest waits. A wait is a stretch in which no actor of a partition
fires, between two in which one does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.design_point import DesignPoint
from dse.model.estimate import FiringTimes
from dse.model.steps import FiringSteps
from dse.model.trace import Trace
from dse.report.gantt import occupancy
from dse.report.page.columns import column, steps_up

WAITS = 20
"""So many of the longest waits are listed."""
BINS = 4096
"""Parts of the run in which the share of an actor is told where not every firing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much of a timeline a document holds."""

    all_firings: int = 200_000
    """Up to so many firings all are in it; above, about half as many, in windows."""
    packed: bool = True
    """Whether columns are shrunk: it takes time, and a file or a network is the better for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """No actor of ``partition`` fires from ``start`` to ``end``, in ticks; then firing ``firing`` of ``actor`` does."""

    partition: int
    actor: int
    firing: int
    start: int
    end: int


def timeline_json(
    trace: Trace,
    point: DesignPoint,
    times: Sequence[FiringTimes],
    makespan: int,
    detail: Detail,
    steps: Sequence[FiringSteps] | None = None,
) -> dict[str, object]:
    """Return the timeline of a mapping as JSON; ``times`` and ``steps``: one entry for each actor."""
    made = [int(np.count_nonzero(t.end >= t.start)) if (t.end < 0).any() else len(t.end) for t in times]
    whole = [FiringTimes(start=t.start[:n], end=t.end[:n]) for t, n in zip(times, made, strict=True)]
    waits = longest_waits(point, whole)
    complete = sum(made) <= detail.all_firings
    windows = [] if complete else windows_around(waits, whole, detail.all_firings // 2)
    chosen = [np.arange(n) if complete else _inside(t, windows) for t, n in zip(whole, made, strict=True)]
    return {
        "firings": sum(made),
        "held": sum(map(len, chosen)),
        "complete": complete,
        "windows": windows,
        "waits": [[w.start, w.end, w.partition, w.actor, w.firing] for w in waits],
        **_columns(trace, whole, chosen, complete, detail.packed, steps),
        "levels": None if complete else _levels(whole, makespan, detail.packed),
    }


def _columns(
    trace: Trace,
    times: Sequence[FiringTimes],
    chosen: Sequence[NDArray[np.int64]],
    complete: bool,
    packed: bool,
    steps: Sequence[FiringSteps] | None,
) -> dict[str, object]:
    """Return the columns of the chosen firings: those of the first actor, then those of the second, and so on.

    ``index`` and ``start`` hold differences from the firing before, the first of an actor from 0.
    """

    def of_all(arrays: Iterable[NDArray[np.int64]]) -> dict[str, object]:
        return column(_joined(arrays), packed=packed)

    pairs = list(zip(times, chosen, strict=True))
    actions = (ids[k].astype(np.int64) for ids, k in zip(trace.firings, chosen, strict=True))
    return {
        "counts": [len(k) for k in chosen],
        "index": None if complete else of_all(map(steps_up, chosen)),
        "start": of_all(steps_up(t.start[k]) for t, k in pairs),
        "length": of_all(t.end[k] - t.start[k] for t, k in pairs),
        "action": of_all(actions),
        "parts": None if steps is None else [of_all(part) for part in _parts(pairs, steps)],
    }


PARTS = ("scheduling", "reading", "processing")
"""The parts of a firing whose lengths a document holds; what is left of it is writing."""


def _parts(
    pairs: Sequence[tuple[FiringTimes, NDArray[np.int64]]], steps: Sequence[FiringSteps]
) -> Iterator[list[NDArray[np.int64]]]:
    """Yield for each of ``PARTS`` its lengths, one array for each actor."""
    both = list(zip(pairs, steps, strict=True))
    yield [of.scheduled[k] - t.start[k] for (t, k), of in both]
    yield [of.read[k] - of.scheduled[k] for (_, k), of in both]
    yield [of.computed[k] - of.read[k] for (_, k), of in both]


def _joined(arrays: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def longest_waits(point: DesignPoint, times: Sequence[FiringTimes]) -> tuple[Wait, ...]:
    """Return the longest waits of all partitions, the longest first."""
    found = [wait for p, partition in enumerate(point.partitions) for wait in _waits_of(p, partition.actors, times)]
    return tuple(sorted(found, key=lambda w: (w.start - w.end, w.start, w.partition))[:WAITS])


def _waits_of(partition: int, actors: Sequence[int], times: Sequence[FiringTimes]) -> list[Wait]:
    """Return the longest waits of a partition."""
    starts = _joined([times[a].start for a in actors])
    if len(starts) < 2:
        return []
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    ends = np.maximum.accumulate(_joined([times[a].end for a in actors])[order])
    gaps = starts[1:] - ends[:-1]
    places = np.flatnonzero(gaps > 0)
    if len(places) > WAITS:
        places = places[np.argpartition(gaps[places], len(places) - WAITS)[len(places) - WAITS :]]
    first = np.cumsum([0, *(len(times[a].start) for a in actors)])
    found = []
    for place in places.tolist():
        number = int(order[place + 1])
        owner = int(np.searchsorted(first, number, side="right")) - 1
        firing = number - int(first[owner])
        start, end = int(ends[place]), int(starts[place + 1])
        found.append(Wait(partition=partition, actor=actors[owner], firing=firing, start=start, end=end))
    return found


def windows_around(waits: Sequence[Wait], times: Sequence[FiringTimes], firings: int) -> list[list[int]]:
    """Return stretches [start, end] around waits that hold about so many firings in all, in order, without overlap."""
    starts = np.sort(_joined([t.start for t in times]), kind="stable")
    each, last = max(1, firings // max(1, len(waits))), len(starts) - 1
    found = list[list[int]]()
    for wait in waits:
        begin, end = (int(p) for p in np.searchsorted(starts, [wait.start, wait.end]))
        begin = max(begin, end - each // 2)  # a wait that holds more firings of others is shown from its end
        margin = max(1, (each - (end - begin)) // 2)
        found.append([int(starts[max(0, begin - margin)]), int(starts[min(last, end + margin)])])
    joined = list[list[int]]()
    for window in sorted(found):
        if joined and window[0] <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], window[1])
        else:
            joined.append(window)
    return joined


def _inside(times: FiringTimes, windows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return the firings of an actor that begin in a window, and those that reach into one."""
    found = []
    for start, end in windows:
        first = int(np.searchsorted(times.end, start, side="right"))
        found.append(np.arange(first, int(np.searchsorted(times.start, end, side="right"))))
    return np.unique(_joined(found))


def _levels(times: Sequence[FiringTimes], makespan: int, packed: bool) -> dict[str, object]:
    """Return how busy each actor was in each part of the run: 0, never, to 255, always."""
    shares = [np.rint(255 * np.clip(occupancy([_once(t)], [0], makespan, BINS), 0, 1)).astype(np.int64) for t in times]
    return {"bins": BINS, "busy": column(_joined(shares), packed=packed)}


def _once(times: FiringTimes) -> FiringTimes:
    """Return the times with each block of firings that run together once."""
    if not len(times.start):
        return times
    new = np.concatenate([[True], (np.diff(times.start) > 0) | (np.diff(times.end) > 0)])
    return FiringTimes(start=times.start[new], end=times.end[new])
