"""What actors on one core take at least, and sets of them that a program has to tear apart.

If a tree of buffers has its ends on one core, all its actors share it: the makespan is at least what their firings
take one at a time, each between its limits (``dse.estimate.bounds.one_core``). If c buffers of the tree are cut, its
actors are on no more than c + 1 cores, and the makespan is at least their work over c + 1. Both fall with c, and are
convex, so that a line through two values next to each other is below all others. An actor on another unit takes its
work away, but has cut its buffers too: what is left is above the line less half of that work. Where only the first
value counts, of no buffer cut, no actor is elsewhere.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dse.estimate.bounds.one_core import on_one_core
from dse.estimate.bounds.token_paths import Windows
from dse.estimate.problem.tables import IntArray

GAIN = 1.0005
"""What excludes a makespan by less is not worth a row."""
SMALL = 0.3
"""Sets with less work, for the least makespan, are not looked at: hardly any takes longer than that."""
SET_FIRINGS = 4_000_000
"""Sets that are looked at for one program have so many firings together; the others take their work at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """That the makespan is at least ``height``, less ``slope`` for each of some buffers that is cut, in ticks."""

    buffers: tuple[int, ...]
    height: float
    slope: float
    elsewhere: dict[int, float]
    """And less so much for each of these actors that is on another unit."""
    excess: float
    """How far that is above the makespan of what was looked at."""


@dataclass(slots=True)
class _Grown:
    """A tree of buffers, its actors, their work in ticks, and how many of the buffers are cut, in parts too."""

    buffers: list[int]
    members: list[int]
    work: int
    cuts: float


class CoreSets:
    """Sets of actors on the cores of a unit.

    ``ticks``: of all firings there, as numbered in ``windows``; ``ties``: for each actor its buffers to others, and
    these.
    """

    def __init__(self, windows: Windows, ticks: IntArray, ties: list[list[tuple[int, int]]], *, cores: int) -> None:
        self._windows, self._ticks, self._ties = windows, ticks, ties
        self._cores = cores
        total = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(ticks)])
        self._work: list[int] = np.diff(total[windows.base]).tolist()
        self._counts: list[int] = np.diff(windows.base).tolist()
        self._known: dict[tuple[int, ...], int] = {}
        self._firings = SET_FIRINGS

    def on_one_core(self, actors: Sequence[int]) -> int:
        """Return what these actors on one core take at least, in ticks."""
        key = tuple(sorted(actors))
        if key not in self._known:
            self._known[key] = max(self._scheduled(key), sum(self._work[a] for a in key))
        return self._known[key]

    def _scheduled(self, actors: tuple[int, ...]) -> int:
        self._firings -= sum(self._counts[a] for a in actors)
        return 0 if self._firings < 0 else on_one_core(self._windows, self._ticks, actors)

    def torn(self, first: int, cut: Sequence[float], *, makespan: float, least: int) -> Torn | None:
        """Return what excludes ``makespan`` most of the trees that grow from an actor, None where none does.

        ``cut``: how far each buffer is cut, from 0 to 1. ``least``: a bound of all placements, in ticks. A tree grows
        by the buffer that is cut least.
        """
        found: Torn | None = None
        excess = makespan * (GAIN - 1)
        for tree in self._trees(first, cut):
            for height, slope in self._lines(tree, least):
                over = height - slope * tree.cuts - makespan
                if over > excess:
                    elsewhere = {a: self._work[a] / 2 for a in tree.members} if slope < height - least else {}
                    found = Torn(
                        buffers=tuple(tree.buffers), height=height, slope=slope, elsewhere=elsewhere, excess=over
                    )
                    excess = over
        return found

    def _trees(self, first: int, cut: Sequence[float]) -> Iterator[_Grown]:
        """Yield a tree as it grows; it is one object."""
        tree = _Grown(buffers=[], members=[first], work=self._work[first], cuts=0.0)
        inside = {first}
        open_ends = [(cut[b], -self._work[a], b, a) for b, a in self._ties[first]]
        heapq.heapify(open_ends)
        while open_ends:
            part, _, buffer, actor = heapq.heappop(open_ends)
            if actor in inside:
                continue
            tree.cuts += part
            if tree.cuts >= self._cores:
                return
            inside.add(actor)
            tree.members.append(actor)
            tree.buffers.append(buffer)
            tree.work += self._work[actor]
            for b, a in self._ties[actor]:
                if a not in inside:
                    heapq.heappush(open_ends, (cut[b], -self._work[a], b, a))
            yield tree

    def _lines(self, tree: _Grown, least: int) -> Iterator[tuple[float, float]]:
        """Yield height and slope of the lines that say most at as many cuts."""
        k = math.floor(tree.cuts) + 1
        share, next_share = tree.work / k, max(least, tree.work / (k + 1))
        if k == 1 and tree.work > SMALL * least:
            height = float(self.on_one_core(tree.members))
            yield height, height - next_share
            yield height, height - least
        elif share > least:
            yield share + (share - next_share) * (k - 1), share - next_share
