"""The fit: equations 4.7 to 4.9 of Chapa Martell 2014, least squares with no coefficient below 0.

Knots, its future work: each term may grow by more above the values that it has where a work-group begins to need
another wave-front; a linear spline whose slopes never fall, so that its parts are still times.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from dse.base.extras import import_extra
from dse.model.breakdown import Breakdown, Coefficient, Factors, MeasuredTile, Reading
from dse.model.scaling import Reals

TERMS = ("PUT", "G2ST", "S2PT")
_CERTAIN = 0.975


def fit(
    terms: Sequence[Factors], measured: Sequence[MeasuredTile], reading: Reading, *, knots: bool = False
) -> Breakdown:
    """Return the breakdown of measured times, at least one. Raises ``OptionError`` without scipy."""
    columns, names = _columns(terms, knots=knots)
    times = np.array([tile.ms / 1e3 for tile in measured])
    weights = np.sqrt(np.array([tile.repeats for tile in measured], dtype=np.float64))
    norms = np.linalg.norm(columns, axis=0)
    scale = np.where(norms > 0, norms, 1.0)  # a term that is 0 in every tile, as of a kernel that computes nothing
    design = columns / scale * weights[:, None]
    optimize = import_extra("scipy.optimize", "dse gpu breakdown", extra="gpu")
    found = optimize.nnls(design, times * weights)[0]
    values = found / scale
    fitted = columns @ values
    least, most = _intervals(design, times * weights, found)
    most = np.where(norms > 0, most, np.inf)  # no tile tells what such a term takes
    shares = np.zeros((len(terms), len(TERMS)))
    for k, (term, _) in enumerate(names):
        shares[:, TERMS.index(term)] += columns[:, k] * values[k]
    return Breakdown(
        reading=reading,
        coefficients=tuple(
            Coefficient(term=term, value=v, least=a, most=b, knot=knot)
            for (term, knot), v, a, b in zip(
                names, values.tolist(), (least / scale).tolist(), (most / scale).tolist(), strict=True
            )
        ),
        parts=tuple((a, b, c) for a, b, c in shares.tolist()),
        condition=float(np.linalg.cond(design)),
        correlation=_correlation(columns[:, 1], columns[:, 2]),
        error=float(np.mean(np.abs(fitted / times - 1))),
    )


def _columns(terms: Sequence[Factors], *, knots: bool) -> tuple[Reals, list[tuple[str, float | None]]]:
    """Return the matrix of terms, and of each column the term and the knot."""
    rows = np.array([one.terms for one in terms])
    columns = [rows[:, k] for k in range(len(TERMS))]
    names: list[tuple[str, float | None]] = [(term, None) for term in TERMS]
    for k, term in enumerate(TERMS if knots else ()):
        for at in sorted({float(rows[i, k]) for i in _changes(terms)}):
            above = np.maximum(0.0, rows[:, k] - at)
            if above.any():
                columns.append(above)
                names.append((term, at))
    return np.stack(columns, axis=1), names


def _changes(terms: Sequence[Factors]) -> list[int]:
    """Return the places at which a work-group needs other wave-fronts than at the tile before."""
    pairs = itertools.pairwise(terms)
    return [i for i, (a, b) in enumerate(pairs, start=1) if a.wavefronts_per_group != b.wavefronts_per_group]


def _intervals(design: Reals, times: Reals, found: Reals) -> tuple[Reals, Reals]:
    """Return the ends of the 95 % intervals: of ordinary least squares around the fit, cut at 0.

    Endless where there are no more measurements than coefficients.
    """
    free = len(times) - design.shape[1]
    if free < 1:
        return np.zeros_like(found), np.full_like(found, np.inf)
    stats = import_extra("scipy.stats", "dse gpu breakdown", extra="gpu")
    residual = times - design @ found
    variance = float(residual @ residual) / free
    spread = np.sqrt(np.maximum(0.0, variance * np.diag(np.linalg.pinv(design.T @ design))))
    reach = float(stats.t.ppf(_CERTAIN, free)) * spread
    return np.maximum(0.0, found - reach), found + reach


def _correlation(a: Reals, b: Reals) -> float:
    if len(a) < 2 or not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
