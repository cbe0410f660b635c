"""How well estimates agree with measurements: rank correlations, regret, divergence, baselines. Pure functions.

All take two arrays of one shape, (n,), float64: what was estimated and what was measured of each candidate, in one
unit, above 0. Divergence is that of figures 11, 12, 14 and 15 of the paper (``004_fe729001a6d206e7.txt``): estimates
and measurements are each divided by a number of their own; the absolute difference is the divergence of a candidate.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Mean and largest divergence of some candidates, as shares (0.1 is 10 %)."""

    mean: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How well some estimates agree with measurements. Correlations are NaN where all values of a side are equal.

    ``regret_first``: how much slower the predicted best is than the measured best, as a share; ``regret_ten``: the same
    of the best among the predicted first ten. ``normalised``: estimates divided by the largest estimate, measurements
    by the largest measurement; ``common``: both divided by the largest measurement; ``relative``: the error of each
    estimate as a share of its measurement.
    """

    candidates: int
    spearman: float
    kendall: float
    regret_first: float
    regret_ten: float
    normalised: Divergence
    common: Divergence
    relative: Divergence


def agreement(estimated: ArrayLike, measured: ArrayLike) -> Agreement:
    """Return all figures of agreement of candidates, at least one; both arrays of shape (n,), above 0."""
    e, m = _pair(estimated, measured)
    return Agreement(
        candidates=len(e),
        spearman=spearman(e, m),
        kendall=kendall(e, m),
        regret_first=regret(e, m, 1),
        regret_ten=regret(e, m, 10),
        normalised=divergence(e / e.max(), m / m.max()),
        common=divergence(e / m.max(), m / m.max()),
        relative=divergence(e / m, np.ones_like(m)),
    )


def _pair(estimated: ArrayLike, measured: ArrayLike) -> tuple[FloatArray, FloatArray]:
    e, m = np.asarray(estimated, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    assert e.ndim == 1, "one estimate for each candidate"
    assert e.shape == m.shape, "estimates and measurements of the same candidates"
    assert min(e.min(initial=np.inf), m.min(initial=np.inf)) > 0, "times are above 0"
    return e, m


def ranks(values: ArrayLike) -> FloatArray:
    """Return the ranks of values from 1, shape (n,); equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: FloatArray = (last - (counts - 1) / 2.0)[inverse]
    return mean


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Return Spearman's rank correlation, ties with mean ranks; NaN where a side has only one value."""
    x, y = ranks(a), ranks(b)
    x, y = x - x.mean(), y - y.mean()
    norm = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / norm if norm > 0 else math.nan


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Return Kendall's rank correlation tau-b, which corrects for ties; NaN where a side has only one value."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    agreeing, untied_x, untied_y = 0, 0, 0
    for i in range(len(x) - 1):  # a row at a time: the memory of all pairs would be quadratic
        dx, dy = np.sign(x[i + 1 :] - x[i]), np.sign(y[i + 1 :] - y[i])
        agreeing += int(dx @ dy)
        untied_x += int(np.count_nonzero(dx))
        untied_y += int(np.count_nonzero(dy))
    norm = math.sqrt(untied_x) * math.sqrt(untied_y)
    return agreeing / norm if norm > 0 else math.nan


def regret(estimated: ArrayLike, measured: ArrayLike, tried: int) -> float:
    """Return how much slower than the measured best the best of the first ``tried`` by estimate is, as a share.

    Among equal estimates the slower candidates come first: a prediction earns nothing by not deciding.
    """
    e, m = _pair(estimated, measured)
    order = np.lexsort((-m, e))
    return float(m[order[:tried]].min() / m.min()) - 1.0


def random_regret(measured: ArrayLike, tried: int) -> float:
    """Return the regret to expect of the best among ``tried`` different candidates that are picked at random."""
    m = np.sort(np.asarray(measured, dtype=np.float64))
    n, k = len(m), min(tried, len(m))
    # The best pick is the i-th fastest with probability C(n - 1 - i, k - 1) / C(n, k).
    chances = np.array([math.comb(n - 1 - i, k - 1) / math.comb(n, k) for i in range(n)])
    return float(chances @ m / m[0]) - 1.0


def divergence(a: ArrayLike, b: ArrayLike) -> Divergence:
    """Return mean and largest absolute difference of two arrays that are normalised already."""
    difference = np.abs(np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64))
    return Divergence(mean=float(difference.mean()), maximum=float(difference.max()))


def divergence_by_first(estimated: ArrayLike, measured: ArrayLike) -> Divergence:
    """Return the divergence of figures 11 and 14: estimates and measurements each divided by their own first."""
    e, m = _pair(estimated, measured)
    return divergence(e / e[0], m / m[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and quartiles of repeated measurements of one thing, and their number."""

    median: float
    lower: float
    upper: float
    count: int

    @property
    def relative(self) -> float:
        """The interquartile range as a share of the median."""
        return (self.upper - self.lower) / self.median if self.median else 0.0


def spread_of(values: Sequence[float]) -> Spread:
    """Return median and quartiles of at least one value."""
    lower, median, upper = np.quantile(np.asarray(values, dtype=np.float64), [0.25, 0.5, 0.75])
    return Spread(median=float(median), lower=float(lower), upper=float(upper), count=len(values))


def noise_floor(
    repeats: Sequence[Sequence[float]], time_of: Callable[[Sequence[float]], float] = median
) -> Agreement | None:
    """Return how well one half of the runs agrees with the other: what no estimate can be better than.

    ``repeats``: the runs of each candidate in the order of their making; every second one belongs to the other half.
    None where no candidate has two runs. ``time_of``: makes one time of several runs.
    """
    twice = [runs for runs in repeats if len(runs) > 1]
    if not twice:
        return None
    halves = [[time_of(runs[half::2]) for runs in twice] for half in (0, 1)]
    return agreement(halves[0], halves[1])
