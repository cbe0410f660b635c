"""The slices of a timeline: a firing, or a SIMD block of firings, is one; and what they read and write, by counting."""

import numpy as np
from numpy.typing import NDArray

from dse.model.trace import FiringIds
from dse.report.timeline.timeline import ActorTimes

Numbers = NDArray[np.int64]


class ActorSlices:
    """The slices of one actor, in order. Nothing is copied where each firing is a slice of its own."""

    def __init__(self, times: ActorTimes) -> None:
        self._times = times
        start, end = times.start, times.end
        in_block = (start[1:] == start[:-1]) & (end[1:] == end[:-1]) & (end[1:] > start[1:])
        self.has_blocks = bool(in_block.any())
        self._first = np.flatnonzero(np.concatenate([[True], ~in_block])) if self.has_blocks else None
        self.count = len(start) if self._first is None else len(self._first)

    def first(self, begin: int, end: int) -> Numbers:
        """Return the first firings of the slices ``begin`` to ``end``, and that behind them; shape (n + 1,)."""
        if self._first is None:
            return np.arange(begin, end + 1)
        known = self._first[begin : end + 1]
        return known if end < self.count else np.append(known, len(self._times.start))

    def before(self, tick: int) -> int:
        """Return how many slices start before a tick."""
        firings = int(np.searchsorted(self._times.start, tick, side="left"))
        return firings if self._first is None else int(np.searchsorted(self._first, firings, side="left"))


class TokenBounds:
    """The tokens that a port has moved before and behind each slice of its actor, counted slice after slice.

    ``rates``: tokens of each action; ``before``: what counts as moved at the start.
    """

    def __init__(self, slices: ActorSlices, ids: FiringIds, rates: Numbers, before: int) -> None:
        self._slices = slices
        self._ids = ids
        self._rates = rates
        self._at = 0
        self._total = before

    def following(self, count: int) -> Numbers:
        """Return the tokens before the next ``count`` slices, and behind each of them; shape (n + 1,)."""
        end = min(self._at + count, self._slices.count)
        firsts = self._slices.first(self._at, end)
        moved = np.cumsum(self._rates[self._ids[firsts[0] : firsts[-1]]])
        bounds = np.concatenate([[self._total], self._total + moved[firsts[1:] - firsts[0] - 1]])
        self._at, self._total = end, int(bounds[-1])
        return bounds

    @property
    def ended(self) -> bool:
        """Whether all slices are counted."""
        return self._at == self._slices.count


_PIECE = 4096
"""So many slices are counted at once where breaks are looked for."""


class TokenBreaks:
    """Where the tokens of one slice end and those of the next begin, asked for in rising order."""

    def __init__(self, bounds: TokenBounds) -> None:
        self._bounds = bounds
        self._known: Numbers = bounds.following(0)

    def between(self, low: int, high: int) -> Numbers:
        """Return the different breaks from ``low`` to below ``high``; ``low`` is none below that of an earlier call."""
        while self._known[-1] < high and not self._bounds.ended:
            self._known = np.concatenate([self._known, np.unique(self._bounds.following(_PIECE))])
        passed = min(int(np.searchsorted(self._known, low)), len(self._known) - 1)
        self._known = self._known[passed:]
        found = self._known[: np.searchsorted(self._known, high)]
        return np.unique(found[found >= low])
