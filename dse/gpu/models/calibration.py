"""Calibration: the rates of the model ``hierarchy`` that fit measured times of a card best, and how sure they are.

Nine rates are fitted, as logarithms, to the logarithms of ratios of predicted to measured times, by the method of
Levenberg and Marquardt (Marquardt, SIAM J. Appl. Math. 11(2), 1963) with the weights of Huber (Ann. Math. Stat. 35(1),
1964) against outliers. Kernels with many blocks count about the same. The rates of the device file pull
a little, so that what no kernel measures stays as it is. An interval is that of the linearised fit, 95 %, with each
kernel taken as one observation: block sizes of one kernel err together.

How good a calibration is tells only a kernel that it has not seen: ``left_out`` predicts the kernels of each family
from a fit to all other families.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dse.base.errors import OptionError
from dse.gpu.models.hierarchy import RATES as FITTED
from dse.gpu.models.hierarchy import Demand, P, Rates

_DEMANDS = (
    *("load_lines", "load_sectors", "store_lines", "whole_sectors", "partial_sectors", "lone_sectors"),
    *(
        "waits",
        "dram_bytes",
        "shared_cycles",
        "issue_cycles",
        "drain_cycles",
        "near_cycles",
        "line_waits",
        "gap_cycles",
    ),
)
_ASKED = (0, 1, 2, 3, 4, 5, 6, 7, 12)
"""The demand that each rate prices, by its place in ``_DEMANDS``."""
_PULL = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.2, 0.1])
"""How strongly the device file holds each rate, in logarithms; a kernel with many blocks has 1.

Weakly, since a few kernels must move what they measure: one stream program settles the share of the bandwidth.
"""
_LEAST = np.log(np.array([0.01, 0.01, 0.01, 0.001, 0.001, 0.001, 50.0, 0.2, 0.1]))
_MOST = np.log(np.array([30.0, 10.0, 30.0, 3.0, 5.0, 5.0, 2000.0, 1.0, 60.0]))
_FREE = 1.0
"""What a rate of 0 counts as where a time asks for it: a cycle. A rule without a price says not how little it costs."""
_FEW = 20
"""Blocks of a kernel below which it counts clearly less: few shapes say little of a rate."""
_OUTLIER = 0.25
"""Ratios beyond this, as logarithms, count linearly."""
_SHORT_S, _SHORT_WEIGHT = 20e-6, 0.2
"""Launches below this are mostly noise."""
_ROUNDS, _STEP = 60, 1e-4
_NORMAL = 1.96
_USUAL_ERROR = 0.2
"""Of the time of a kernel, in logarithms: with it a pull is a standard error of the device file, 2 for 0.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A measured time: what a launch asks for, how many launches it is the time of, and what one takes to start.

    ``family`` names the program, ``kernel`` the kernel of it.
    """

    demand: Demand
    measured_s: float
    launches: int
    start_s: float
    family: str
    kernel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRate:
    """A rate, its 95 % interval, and whether it lies at a bound of the fit, where the interval says nothing."""

    name: str
    value: float
    least: float
    most: float
    at_bound: bool
    before: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Fitted rates in the order of ``FITTED``. ``error``: median of the relative errors on what was fitted."""

    rates: Rates
    fitted: tuple[FittedRate, ...]
    error: float
    samples: int
    kernels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFamily:
    """A program, priced by the device file and by a fit to all other programs: medians of relative errors."""

    family: str
    rows: int
    error_before: float
    error_after: float
    correlation: float
    """Spearman's, of the second with the measured times, the median over kernels and sizes."""


class _Fit:
    """The arrays of some samples."""

    def __init__(self, samples: Sequence[Sample], rates: Rates, clock_hz: float) -> None:
        self.demands = np.array([[getattr(s.demand, name) for name in _DEMANDS] for s in samples])
        self.measured = np.array([s.measured_s for s in samples])
        self.launches = np.array([s.launches for s in samples])
        self.start = np.array([s.start_s for s in samples])
        self.hz, self.bytes = clock_hz, rates.bytes_per_cycle
        self.weights = _weights(samples)
        before = np.array([getattr(rates, name) for name in FITTED])
        self.before = np.log(np.where(before > 0, before, _FREE))
        self.unpriced = (before == 0) & (self.demands[:, _ASKED] == 0).all(axis=0)
        """Rates of 0 that no sample asks for: nothing says that they are more."""

    def seconds(self, logarithms: np.ndarray) -> np.ndarray:
        """Return predicted times, shape (samples,)."""
        rates, asked = np.exp(logarithms), self.demands.T
        parts = np.stack(
            [
                rates[0] * asked[0] + rates[1] * asked[1] + rates[2] * asked[2] + asked[8] + asked[13],
                rates[3] * asked[3] + rates[4] * asked[4] + rates[5] * asked[5],
                asked[7] / (self.bytes * rates[7]),
                rates[6] * asked[6] + asked[11] + rates[8] * asked[12],
                asked[9],
            ]
        )
        cycles = (parts**P).sum(axis=0) ** (1 / P) + asked[10]
        return np.asarray(self.launches * (cycles / self.hz + self.start))

    def residuals(self, logarithms: np.ndarray) -> np.ndarray:
        """Return weighted logarithms of ratios, then the pull of the device file."""
        ratio = np.log(self.seconds(logarithms) / self.measured)
        tamed = np.sqrt(np.minimum(1.0, _OUTLIER / np.maximum(np.abs(ratio), 1e-12)))
        return np.concatenate([ratio * tamed * np.sqrt(self.weights), _PULL * (logarithms - self.before)])

    def slopes(self, logarithms: np.ndarray) -> np.ndarray:
        """Return the derivatives of the residuals, shape (residuals, rates)."""
        here = self.residuals(logarithms)
        moved = [self.residuals(logarithms + _STEP * row) for row in np.eye(len(FITTED))]
        return np.stack([(there - here) / _STEP for there in moved], axis=1)


def _weights(samples: Sequence[Sample]) -> np.ndarray:
    """Return the weights: n blocks of a kernel n / (n + 20) in all, short launches a fifth."""
    names, which, counts = np.unique([s.kernel for s in samples], return_inverse=True, return_counts=True)
    assert len(names), "there are samples"
    short = np.array([s.measured_s / s.launches < _SHORT_S for s in samples])
    return np.asarray(1 / (counts[which] + _FEW) * np.where(short, _SHORT_WEIGHT, 1.0))


def calibrate(samples: Sequence[Sample], rates: Rates, clock_hz: float) -> Calibration:
    """Return the rates that fit samples best. ``rates``: those of the device file.

    Raises OptionError without samples.
    """
    if not samples:
        raise OptionError("there is no measured time to calibrate with", expected="rows of the device in the CSV file")
    fit = _Fit(samples, rates, clock_hz)
    found = _solved(fit)
    values = np.where(fit.unpriced, 0.0, np.exp(found))
    spread = _spread(fit, found)
    fitted = tuple(
        FittedRate(
            name=name,
            value=float(values[k]),
            least=0.0 if fit.unpriced[k] else float(np.exp(max(_LEAST[k], found[k] - _NORMAL * spread[k]))),
            most=float(np.exp(min(_MOST[k], found[k] + _NORMAL * spread[k]))),
            at_bound=bool(found[k] <= _LEAST[k] + 1e-9 or found[k] >= _MOST[k] - 1e-9),
            before=float(getattr(rates, name)),
        )
        for k, name in enumerate(FITTED)
    )
    return Calibration(
        rates=replace(rates, **dict(zip(FITTED, values.tolist(), strict=True))),
        fitted=fitted,
        error=float(np.median(np.abs(fit.seconds(found) / fit.measured - 1))),
        samples=len(samples),
        kernels=len({s.kernel for s in samples}),
    )


def _solved(fit: _Fit) -> np.ndarray:
    """Return the logarithms of the rates that make the residuals least."""
    at = np.clip(fit.before, _LEAST, _MOST)
    damping, error = 1e-2, float((fit.residuals(at) ** 2).sum())
    for _ in range(_ROUNDS):
        slopes, residuals = fit.slopes(at), fit.residuals(at)
        square = slopes.T @ slopes
        step = np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-9), -slopes.T @ residuals)
        there = np.clip(at + np.clip(step, -1, 1), _LEAST, _MOST)
        lower = float((fit.residuals(there) ** 2).sum())
        if lower >= error:
            damping *= 4
            continue
        done = error - lower < 1e-8 * error
        at, error, damping = there, lower, max(damping / 3, 1e-9)
        if done:
            break
    return at


def _spread(fit: _Fit, at: np.ndarray) -> np.ndarray:
    """Return the standard errors of the logarithms, from the times and from what the device file knows of each rate."""
    n = len(fit.measured)
    slopes, residuals = fit.slopes(at)[:n], fit.residuals(at)[:n]
    observed = max(1.0, float(fit.weights.sum()) - 1.0)
    variance = max(float((residuals**2).sum()) / observed, 1e-6)
    known = np.diag((_PULL / _USUAL_ERROR) ** 2)
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes / variance + known))))


def predicted_s(samples: Sequence[Sample], rates: Rates, clock_hz: float) -> np.ndarray:
    """Return the times that rates give for samples, shape (samples,), float64, seconds."""
    fit = _Fit(samples, rates, clock_hz)
    with np.errstate(divide="ignore"):
        return fit.seconds(np.log(np.array([getattr(rates, name) for name in FITTED])))


def left_out(samples: Sequence[Sample], rates: Rates, clock_hz: float) -> np.ndarray:
    """Return the time of each sample from a fit to the other families, shape (samples,), float64, seconds.

    A family is never judged by a fit that has seen it. Raises OptionError with fewer than two families.
    """
    families = list(dict.fromkeys(s.family for s in samples))
    if len(families) < 2:
        raise OptionError(
            "a calibration cannot be judged with one family of kernels", expected="measured times of two programs"
        )
    found = np.zeros(len(samples))
    for family in families:
        others = [s for s in samples if s.family != family]
        own = [k for k, s in enumerate(samples) if s.family == family]
        fitted = calibrate(others, rates, clock_hz).rates
        found[own] = predicted_s([samples[k] for k in own], fitted, clock_hz)
    return found
