"""Exhaustive search: every point once, those with the smallest bound first, until no bound can beat the best ones.

The order matters twice: good points come early, so a budget that ends the search early has seen the likely best, and
the first bound above the worst of the kept points proves all the rest worse at once.
"""

import bisect
import itertools
from collections.abc import Iterator, Sequence

from dse.explore.method import SearchContext
from dse.explore.methods.choose import EXHAUSTIVE_POINTS
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

_CHUNK = 4096
_LOOKED_AT = 4 * _CHUNK
"""After so many points that their bound excludes the clock is looked at."""


class Exhaustive:
    """Asks for all points of the space that their bound does not exclude."""

    exact = True
    proven = 0
    ceiling = 0

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._size = context.space.size
        self._asked = 0
        self._best: list[int] = []
        self._pruned = 0
        self._sorted = self._size <= EXHAUSTIVE_POINTS
        self._points: Iterator[tuple[int, Candidate]] = iter(self._ordered())
        self._next = next(self._points, None)

    def _ordered(self) -> Iterator[tuple[int, Candidate]]:
        """Yield (bound, candidate); sorted when the space is small enough, ties in enumeration order."""
        pairs = self._bounded()
        return iter(sorted(pairs, key=lambda pair: pair[0])) if self._sorted else pairs

    def _bounded(self) -> Iterator[tuple[int, Candidate]]:
        candidates = self._context.space.candidates()
        while chunk := list(itertools.islice(candidates, _CHUNK)):
            yield from zip(self._context.bounds(chunk), chunk, strict=True)

    @property
    def done(self) -> bool:
        """Whether every point was asked for or excluded."""
        return self._next is None

    @property
    def pruned(self) -> int:
        """The number of points that were excluded by their bound."""
        return self._pruned

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next points whose bound is not above the worst kept makespan; maybe none after a long look."""
        points: list[DesignPoint] = []
        looked_at = 0
        while self._next is not None and len(points) < n and looked_at < _LOOKED_AT:
            looked_at += 1
            bound, candidate = self._next
            if len(self._best) < self._context.keep or bound <= self._best[-1]:
                points.append(self._context.space.to_point(candidate))
                self._asked += 1
            elif self._sorted:
                self._pruned = self._size - self._asked
                self._next = None
                break
            else:
                self._pruned += 1
            self._next = next(self._points, None)
        return points

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Keep the best makespans seen, in ascending order."""
        for result in results:
            if not result.deadlock and not result.cut:
                bisect.insort(self._best, result.makespan)
        del self._best[self._context.keep :]
