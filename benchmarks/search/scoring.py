"""How searches are scored: the methodology of Kernel Tuner's authors, of numbers alone.

Willemsen, Schoonhoven, Filipovič, Tørring, van Nieuwpoort and van Werkhoven, *A methodology for comparing optimization
algorithms for auto-tuning* (Future Generation Computer Systems, 2024). The *performance* of a search at a moment is how
much of the way from what random search is expected to have found by then to the optimum it has come: 0 is as good as
random search, 1 is the optimum, below 0 is worse. The budget of a space ends where random search is expected to have
come 95 % of the way from the median of the space to the optimum, or at a common limit. Curves are taken at equidistant
parts of the budget, so that spaces can be averaged; the score is the mean over the curve.

Here the budget is evaluations, an optimum that nobody knows is the best known, and what random search is expected to
find comes from a sample where the space is too large to be known whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
CUTOFF = 0.95
"""The budget ends where random search is expected to have come so far from the median to the optimum."""
MOMENTS = 50
RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Random search in one space. ``expected[k - 1]``: the expected best of k different points; ``median``: of one."""

    expected: tuple[float, ...]
    median: float

    def budget(self, optimum: float) -> int:
        """Return the number of evaluations at which random search is as near the optimum as it has to be."""
        enough = self.median - CUTOFF * (self.median - optimum)
        return next((k for k, value in enumerate(self.expected, 1) if value <= enough), len(self.expected))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure with the ends of its interval."""

    value: float
    low: float
    high: float


def baseline_of(values: Sequence[int], most: int) -> Baseline:
    """Return what random search is expected to find with 1 to ``most`` draws without replacement from all ``values``.

    The least of k draws is value i of the sorted ones, or a later one, with the chance that all k are from the n - i
    last: the product over j < k of (n - i - j) / (n - j).
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    steps, behind = np.diff(ordered), n - np.arange(1, n, dtype=np.float64)
    chance, expected = np.ones(n - 1), []
    for k in range(1, most + 1):
        if k <= n:
            chance *= np.maximum(behind - (k - 1), 0) / (n - k + 1)
        expected.append(float(ordered[0] + chance @ steps))
    return Baseline(expected=tuple(expected), median=float(np.median(ordered)))


def moments(budget: int) -> NDArray[np.int64]:
    """Return the evaluations at equidistant parts of a budget, shape (MOMENTS,)."""
    return np.maximum(1, np.round(np.arange(1, MOMENTS + 1) * budget / MOMENTS)).astype(np.int64)


def performance(best_after: Sequence[float], baseline: Baseline, optimum: float, budget: int) -> FloatArray:
    """Return the performance at each moment of a budget. ``best_after[k - 1]``: the best of k evaluations."""
    at = moments(budget) - 1
    usual = np.asarray(baseline.expected)[at]
    found = np.asarray(best_after, dtype=np.float64)[at]
    room = usual - optimum
    # Where random search is expected to have the optimum, nothing is left to gain, and all that can be done is as well.
    return np.where(room > 0, (usual - found) / np.where(room > 0, room, 1), np.where(found <= optimum, 1.0, 0.0))


Curves: TypeAlias = Mapping[str, FloatArray]
"""For each space the curves of the runs of one method there, shape (n_runs, MOMENTS)."""


def aggregate(curves: Curves) -> FloatArray:
    """Return the curve of a method: the mean of its runs in each space, then the mean of the spaces."""
    return np.mean([own.mean(axis=0) for own in curves.values()], axis=0)  # type: ignore[no-any-return]


def resampled_scores(curves: Curves, seed: int) -> FloatArray:
    """Return the score of a method in resamples: spaces are drawn with replacement, and runs in each of them.

    The same seed draws the same spaces for each method, so that differences of two methods are of the same spaces.
    """
    spaces = np.random.default_rng(seed).integers(len(curves), size=(RESAMPLES, len(curves)))
    rng = np.random.default_rng(seed + 1)
    of_space = np.empty((RESAMPLES, len(curves)))
    runs = [own.mean(axis=1) for own in curves.values()]
    for place in range(len(curves)):
        for space, scores in enumerate(runs):
            here = np.flatnonzero(spaces[:, place] == space)
            of_space[here, place] = scores[rng.integers(len(scores), size=(len(here), len(scores)))].mean(axis=1)
    return of_space.mean(axis=1)  # type: ignore[no-any-return]


def interval(value: float, resamples: FloatArray) -> Interval:
    """Return a figure with the percentiles of its resamples."""
    low, high = np.quantile(resamples, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(value=value, low=float(low), high=float(high))
