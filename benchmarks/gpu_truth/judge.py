"""How well predictions agree with measured times: errors, order, and what a choice of block costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.flows.measured_kernels import rank_correlation

CHOSEN = 3
"""Blocks of which the best is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A kernel at one size, as one predictor prices its blocks. Errors and regrets are shares; NaN: there is none."""

    rows: int
    median_error: float
    mean_error: float
    correlation: float
    regret: float
    regret_of_three: float


def judged(predicted: np.ndarray, measured: np.ndarray, *, times: bool = True) -> Cell:
    """Return a cell of times, shape (blocks,). ``times`` False: only the order of the predicted numbers means anything.

    Of blocks with equal predictions the mean of their regrets counts, so that the order of the rows is no luck.
    """
    best = float(measured.min())
    errors = np.abs(predicted / measured - 1) if times else np.full(len(measured), np.nan)
    return Cell(
        rows=len(measured),
        median_error=float(np.median(errors)),
        mean_error=float(np.mean(errors)),
        correlation=rank_correlation(predicted.tolist(), measured.tolist()),
        regret=float(measured[predicted <= predicted.min() * (1 + 1e-9)].mean()) / best - 1,
        regret_of_three=float(measured[np.argsort(predicted, kind="stable")[:CHOSEN]].min()) / best - 1,
    )


def random_block(measured: np.ndarray) -> Cell:
    """Return what a block taken by chance costs, and the best of three, as expectations."""
    ordered = np.sort(measured)
    n, best = len(ordered), float(ordered[0])
    k = np.arange(n)
    share = (n - k - 1) * (n - k - 2) / 2 / (n * (n - 1) * (n - 2) / 6)
    none = float("nan")
    return Cell(
        rows=n,
        median_error=none,
        mean_error=none,
        correlation=0.0,
        regret=float(ordered.mean()) / best - 1,
        regret_of_three=float((share * ordered).sum()) / best - 1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Cells together: medians over them, and the mean of the regrets too."""

    cells: int
    rows: int
    median_error: float
    mean_error: float
    correlation: float
    regret_median: float
    regret_mean: float
    regret_of_three: float


def together(cells: Sequence[Cell]) -> Summary:
    """Return the summary of some cells."""
    return Summary(
        cells=len(cells),
        rows=sum(c.rows for c in cells),
        median_error=float(np.median([c.median_error for c in cells])),
        mean_error=float(np.median([c.mean_error for c in cells])),
        correlation=float(np.median([c.correlation for c in cells])),
        regret_median=float(np.median([c.regret for c in cells])),
        regret_mean=float(np.mean([c.regret for c in cells])),
        regret_of_three=float(np.mean([c.regret_of_three for c in cells])),
    )
