"""The steady state of a run of many iterations: when all actors begin to repeat what they did, and how long that takes.

A self-timed execution with FIFOs of limited sizes comes to a state that it was in before, and from then on repeats
itself (Ghamarian et al., "Throughput analysis of synchronous data flow graphs", ACSD 2006). It is looked for from the
end back, in the part where no actor has fired for the last time: the latest time before which all actors began their
firings as one period earlier, each as often as in a whole number of iterations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """What repeats: ``iterations`` of the program take ``ticks``."""

    ticks: int
    iterations: int

    @property
    def period(self) -> Fraction:
        """Ticks of an iteration."""
        return Fraction(self.ticks, self.iterations)


def steady_state(starts: Sequence[IntArray], firings: Sequence[int]) -> Steady | None:
    """Return what a run repeats before its first actor is done; None where it is too short to tell.

    ``starts[a]``: the start of each firing of actor a in ticks, shape (n_firings,). ``firings[a]``: of it in an
    iteration. At least two whole repetitions are seen, and longer than any firing of the actor that begins most seldom.
    """
    end = min(int(of_actor[-1]) for of_actor in starts)
    begun = [int(np.searchsorted(of_actor, end, side="left")) for of_actor in starts]
    most = min(n // (3 * q) for n, q in zip(begun, firings, strict=True))
    first, count, q = min(zip(starts, begun, firings, strict=True), key=lambda actor: actor[2])
    for iterations in range(1, most + 1):
        ticks = int(first[count - 1] - first[count - 1 - iterations * q])
        if ticks > 0 and all(
            _repeats(of_actor, end, ticks, iterations * each) for of_actor, each in zip(starts, firings, strict=True)
        ):
            return Steady(ticks=ticks, iterations=iterations)
    return None


def _repeats(starts: IntArray, end: int, ticks: int, firings: int) -> bool:
    """Return whether an actor began so many firings in each of the two periods before the end, at the same times."""
    marks = np.searchsorted(starts, [end - 2 * ticks, end - ticks, end], side="left")
    if (np.diff(marks) != firings).any() or marks[0] < firings:
        return False
    later = starts[marks[0] : marks[2]]
    return bool((later - starts[marks[0] - firings : marks[2] - firings] == ticks).all())


def last_half(starts: Sequence[IntArray], firings: Sequence[int]) -> tuple[Fraction, int]:
    """Return the ticks of an iteration in the second half of a run, and how many whole iterations the run has.

    About what the period will be, where the run is too short to tell.
    """
    made = min(len(of_actor) // n for of_actor, n in zip(starts, firings, strict=True))
    half = made // 2
    pairs = zip(starts, firings, strict=True)
    last = max((int(of_actor[made * n - n] - of_actor[half * n]) for of_actor, n in pairs), default=0)
    return Fraction(last, max(1, made - 1 - half)), made
