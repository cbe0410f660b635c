"""Splits measured durations into the costs of what happened in them, by non-negative least squares.

A visit takes what its parts take: ``duration = counts @ costs``, costs not negative. Visits with more firings vary
more, so each is weighted by one over its variance, which is taken to grow with the number of firings. Columns that the
data cannot tell apart (they occur in a fixed proportion) get one value for both, and are listed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.measure.outliers import ordinary

FloatArray = NDArray[np.float64]

_LEAST_SHARE = 1e-3
"""Columns of unit length that cancel to less than this (squared) are not told apart: noise would be 30 times larger."""
_OUTLIER_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """The costs that durations were split into.

    ``costs``: shape (k,), of one occurrence of each column; NaN where a column never occurs. ``shared``: groups of
    columns that have one value, each of at least two. ``contained``: optional columns that the data cannot tell from
    the others: their cost is 0 and contained in that of the others. ``kept``: shape (n,), which durations were used.
    ``predicted``: shape (n,), what the costs give for each duration.
    """

    costs: FloatArray
    shared: tuple[tuple[int, ...], ...]
    contained: tuple[int, ...]
    kept: NDArray[np.bool_]
    predicted: FloatArray


def split_durations(
    durations: FloatArray, counts: NDArray[np.generic], optional: tuple[int, ...] = (), *, filtered: bool = True
) -> Split:
    """Split durations, shape (n,), by what occurred in each, shape (n, k).

    ``optional``: columns that are left out first where they cannot be told apart from others. ``filtered``: leave
    outliers out (``dse.measure.outliers``), but not all in which a column occurs; else all are used.
    """
    amounts = np.asarray(counts, dtype=np.float64)
    needed = [c for c in range(amounts.shape[1]) if c not in optional]
    weights = 1.0 / (1.0 + amounts[:, needed].sum(axis=1))
    kept = np.ones(len(durations), dtype=np.bool_)
    fit = _fit(durations, amounts, weights, kept, optional)
    for _ in range(_OUTLIER_ROUNDS if filtered else 0):
        beyond = (durations - fit.predicted) * np.sqrt(weights)
        fewer = _with_every_column(kept & ordinary(beyond), kept, amounts, beyond)
        if fewer.sum() == kept.sum():
            break
        kept = fewer
        fit = _fit(durations, amounts, weights, kept, optional)
    return fit


def _with_every_column(
    fewer: NDArray[np.bool_], kept: NDArray[np.bool_], amounts: FloatArray, beyond: FloatArray
) -> NDArray[np.bool_]:
    """Return the rows of ``fewer``, and for each column in none of them the row of ``kept`` least beyond its fit.

    What occurs once is fitted exactly. Where an interruption has raised the fit of all others, the filter takes that
    for an outlier, although nothing else is known of the column.
    """
    found = fewer.copy()
    for column in np.flatnonzero((amounts[kept] > 0).any(axis=0) & ~(amounts[fewer] > 0).any(axis=0)).tolist():
        rows = np.flatnonzero(kept & (amounts[:, column] > 0))
        found[rows[np.argmin(beyond[rows])]] = True
    return found


def _fit(
    durations: FloatArray, amounts: FloatArray, weights: FloatArray, kept: NDArray[np.bool_], optional: tuple[int, ...]
) -> Split:
    """Return the costs by the durations that are kept."""
    rows = amounts[kept]
    weighted = rows * weights[kept, None]
    solved = solve_moments(weighted.T @ rows, weighted.T @ durations[kept], optional)
    return Split(
        costs=solved.costs,
        shared=solved.shared,
        contained=solved.contained,
        kept=kept,
        predicted=amounts @ np.nan_to_num(solved.costs),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """The costs of columns, as in ``Split``."""

    costs: FloatArray
    shared: tuple[tuple[int, ...], ...]
    contained: tuple[int, ...]


def solve_moments(gram: FloatArray, moment: FloatArray, optional: tuple[int, ...] = ()) -> Solved:
    """Return the costs of k columns by the products of the columns, shape (k, k), and with durations, shape (k,)."""
    groups, contained = separable_columns(gram, optional)
    joined = np.zeros((len(groups), len(gram)))
    for g, group in enumerate(groups):
        joined[g, list(group)] = 1.0
    values = non_negative(joined @ gram @ joined.T, joined @ moment)
    costs = np.where(np.diagonal(gram) > 0, joined.T @ values, np.nan)
    return Solved(costs=costs, shared=tuple(group for group in groups if len(group) > 1), contained=contained)


def separable_columns(
    gram: FloatArray, optional: tuple[int, ...] = ()
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Return groups of columns that data can tell apart, and the ``optional`` columns that it cannot.

    ``gram``: shape (k, k), the products of the columns. Columns of zeros are in no group. Where a combination of
    columns nearly vanishes, an optional column in it is left out, else the two that weigh most in it are joined.
    """
    groups: list[tuple[int, ...]] = [(c,) for c in range(len(gram)) if gram[c, c] > 0]
    contained: list[int] = []
    while len(groups) > 1:
        part_of_it = _vanishing(gram, groups)
        if not part_of_it:
            break
        left_out = next((g for g in part_of_it if len(groups[g]) == 1 and groups[g][0] in optional), None)
        if left_out is not None:
            contained.append(groups.pop(left_out)[0])
            continue
        one, other = sorted(part_of_it[:2])
        groups[one] = tuple(sorted(groups[one] + groups.pop(other)))
    return groups, tuple(sorted(contained))


def _vanishing(gram: FloatArray, groups: list[tuple[int, ...]]) -> list[int]:
    """Return which groups a combination is made of that nearly vanishes, those that weigh most in it first.

    They are two at least: one may be the sum of so many others that each of them weighs little.
    """
    joined = np.array([[gram[np.ix_(a, b)].sum() for b in groups] for a in groups])
    length = np.sqrt(np.diagonal(joined))
    values, vectors = np.linalg.eigh(joined / np.outer(length, length))
    if values[0] >= _LEAST_SHARE:
        return []
    weight = np.abs(vectors[:, 0])
    heaviest: list[int] = np.argsort(-weight, kind="stable").tolist()
    return heaviest[: max(2, int((weight > 0.1 * weight.max()).sum()))]


def non_negative(gram: FloatArray, moment: FloatArray) -> FloatArray:
    """Return the x >= 0 that makes ``x @ gram @ x - 2 * moment @ x`` least; shape (k,).

    The active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23) on the normal
    equations. ``gram`` is positive definite.
    """
    scale = np.sqrt(np.diagonal(gram))
    gram, moment = gram / np.outer(scale, scale), moment / scale
    x = np.zeros(len(moment))
    inside = np.zeros(len(moment), dtype=np.bool_)
    tolerance = 1e-10 * max(float(np.abs(moment).max(initial=0.0)), 1e-300)
    for _ in range(10 * len(moment) + 10):
        gradient = np.where(inside, -np.inf, moment - gram @ x)
        best = int(np.argmax(gradient)) if len(gradient) else 0
        if not len(gradient) or gradient[best] <= tolerance:
            break
        inside[best] = True
        x = _retreated(gram, moment, x, inside)
    return np.asarray(x / scale)


def _retreated(gram: FloatArray, moment: FloatArray, x: FloatArray, inside: NDArray[np.bool_]) -> FloatArray:
    """Return the least point of the face of the columns ``inside``, of which those that would be negative are taken."""
    while True:
        free = np.flatnonzero(inside)
        full = np.zeros_like(x)
        full[free] = np.linalg.solve(gram[np.ix_(free, free)], moment[free])
        below = free[full[free] <= 0]
        if not len(below):
            return full
        step = float(np.min(x[below] / np.maximum(x[below] - full[below], 1e-300)))
        x = x + step * (full - x)
        inside[below[x[below] <= 1e-14]] = False
        inside[below[np.argmin(x[below])]] = False  # at least one leaves, whatever rounding does
        x = np.where(inside, x, 0.0)
