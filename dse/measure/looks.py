"""Looks: what a scheduler takes from one visit to the next, and how much of it are calls of actors in vain.

On several cores a scheduler calls each actor with a FIFO to another core in every pass, ready or not. A thread that has
work pays for such calls, one that waits does not: so they are told apart from the visit that comes next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.measure.regression import split_durations
from dse.measure.samples import MOST_VAIN, Samples, Visits


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What lies between two visits of a thread that had work all the time, in counts; by ``gaps`` such pairs.

    ``between``: without a call in vain; ``look``: what each call in vain takes more.
    """

    between: float = 0.0
    look: float = 0.0
    gaps: int = 0

    def scaled(self, factor: float) -> "Looks":
        """Return what lies between visits where all costs are so many times as large."""
        return replace(self, between=factor * self.between, look=factor * self.look)


def looks_of(records: Sequence[Samples], reading: float) -> Looks:
    """Return what lies between visits in some runs, by regression over all pairs; ``reading``: what a reading takes.

    Where nothing was called in vain ``look`` is 0; where nothing else happened both have the same part.
    """
    pairs = [_of_thread(thread.visits, reading) for samples in records for thread in samples.threads]
    gaps = np.concatenate([np.zeros(0), *(gap for gap, _ in pairs)])
    vain = np.concatenate([np.zeros(0), *(calls for _, calls in pairs)])
    if not len(gaps):
        return Looks()
    between, look = np.nan_to_num(split_durations(gaps, np.column_stack([np.ones(len(gaps)), vain])).costs).tolist()
    return Looks(between=between, look=look, gaps=len(gaps))


def _of_thread(visits: Visits, reading: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far visits of a thread are from the one before them, without readings, and the calls in vain between.

    Only visits that follow at once, and of which the calls were counted.
    """
    rows = np.flatnonzero(visits.behind & (visits.vain < MOST_VAIN))
    vain = visits.vain[rows].astype(np.float64)
    gap = (visits.start[rows].astype(np.int64) - visits.end[rows - 1].astype(np.int64)).astype(np.float64)
    return gap - reading * (1.0 + visits.vain_readings * vain), vain
