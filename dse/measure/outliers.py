"""Outliers: the Gaussian filter of the paper (``004_fe729001a6d206e7.txt``, section 4.1), with its bound stated.

A sample is an outlier if it lies so far above the mean that, were the samples normally distributed, not even half a
sample of that size or more would be expected among so many (Chauvenet's criterion, one-sided). The filter is applied
again to what is left until it takes nothing more. Only long samples are outliers: an interruption never shortens one.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

RULE = "longer than a normal distribution gives half a sample among as many (Chauvenet, one-sided), repeated"
"""The rule in words, for manifests."""
_FEWEST = 8
"""Of fewer samples nothing is said."""
_MOST_ROUNDS = 50


def far_deviations(count: int) -> float:
    """Return how many standard deviations above the mean an outlier of ``count`` samples lies at least."""
    return NormalDist().inv_cdf(1.0 - 0.5 / max(count, 2))


def ordinary(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which samples are no outliers; shape (n,), as ``values``."""
    kept = np.ones(len(values), dtype=np.bool_)
    for _ in range(_MOST_ROUNDS):
        inside = values[kept]
        if len(inside) < _FEWEST:
            break
        bound = inside.mean() + far_deviations(len(inside)) * inside.std()
        smaller = kept & (values <= bound)
        if smaller.sum() == kept.sum():
            break
        kept = smaller
    return kept
