"""How good scaling models are: each kernel by a model of all others, beside answers that need no model."""

from dataclasses import dataclass

import numpy as np

from dse.gpu.scaling.classify import predicted_surface
from dse.gpu.scaling.surfaces import clock_values, unit_values, whole_surface
from dse.gpu.scaling.train import (
    TrainOptions,
    chosen_fit,
    fit_as,
    k_means,
    one_thread,
    surface_error,
    without,
)
from dse.model.scaling import Reals, ScalingSet

BEST_OF = 12
"""Clusters from which the best one is taken where nothing chooses."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedKernel:
    """A kernel, predicted without it. Errors are means of |predicted / measured - 1| over all but the base.

    ``surface``: predicted over the base, by the classifier, or, without counters, the best cluster, which knows the
    answer. ``copied``: the base value everywhere; ``mean``: the mean of the scaling values of all others.
    """

    name: str
    surface: Reals
    measured: Reals
    clusters: int
    error: float
    best: float
    mean: float
    copied: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """All kernels of a set for one quantity; ``classified``: whether counters chose the clusters."""

    quantity: str
    unit: str
    classified: bool
    kernels: tuple[JudgedKernel, ...]

    def mean(self, what: str) -> float:
        """Return the mean of ``error``, ``best``, ``mean`` or ``copied`` over the kernels."""
        return float(np.mean([getattr(kernel, what) for kernel in self.kernels]))


def judge(given: ScalingSet, options: TrainOptions) -> tuple[Judged, ...]:
    """Return time and, where it was measured, power of each kernel, judged by models of all others."""
    pairs = [("time", "ms", given.time_ms), ("power", "W", given.power_watt)]
    with one_thread():
        return tuple(_judged(name, unit, values, given, options) for name, unit, values in pairs if values is not None)


def _judged(quantity: str, unit: str, values: Reals, given: ScalingSet, options: TrainOptions) -> Judged:
    kernels = tuple(_kernel(values, given, k, options) for k in range(len(given.kernels)))
    return Judged(quantity=quantity, unit=unit, classified=given.counters is not None, kernels=kernels)


def _kernel(values: Reals, given: ScalingSet, k: int, options: TrainOptions) -> JudgedKernel:
    out = np.arange(len(given.kernels)) == k
    others, rest = values[~out], without(given, out)
    best, best_error = _best_cluster(others, values[k], rest, options)
    surface, clusters = best, min(options.clusters or BEST_OF, len(others))
    if given.counters is not None:
        how = chosen_fit(others, rest, options)
        clusters, model = how.clusters, fit_as(others, rest, how, options.seed)
        surface = predicted_surface(model, given.counters[k], given.grid.shape, given.base_index)
    return JudgedKernel(
        name=given.kernels[k],
        surface=surface,
        measured=values[k],
        clusters=clusters,
        error=surface_error(surface, values[k], given),
        best=best_error,
        mean=surface_error(mean_surface(others, rest), values[k], given),
        copied=surface_error(np.ones(given.grid.shape), values[k], given),
    )


def mean_surface(values: Reals, given: ScalingSet) -> Reals:
    """Return the surface of the means of all scaling values."""
    _, core, memory = given.base_index
    rows = [clock_values(values[:, u]).mean(axis=0) for u in range(values.shape[1])]
    return whole_surface(unit_values(values[:, :, core, memory]).mean(axis=0), rows, given.grid.shape, given.base_index)


def _best_cluster(others: Reals, own: Reals, given: ScalingSet, options: TrainOptions) -> tuple[Reals, float]:
    """Return the surface of the clusters of each set that fit the kernel best, and its error.

    Sets are chosen one by one: the clusters over compute units at the base clocks, those over clocks at each number.
    """
    shape, base = given.grid.shape, given.base_index
    clusters, seed = min(options.clusters or BEST_OF, len(others)), options.seed
    rows = []
    for u in range(shape[0]):
        _, centroids = k_means(clock_values(others[:, u]), clusters, seed)
        alone = [whole_surface(np.ones(0), [c], (1, *shape[1:]), (0, *base[1:]))[0] for c in centroids]
        scaled = own[u] / own[u][base[1:]]
        rows.append(centroids[int(np.argmin([np.abs(a / scaled - 1).mean() for a in alone]))])
    of_units = np.ones(0)
    if shape[0] > 1:
        _, centroids = k_means(unit_values(others[:, :, base[1], base[2]]), clusters, seed)
        column = own[:, base[1], base[2]]
        away = [np.abs(_unit_surface(c, base[0]) * column[base[0]] / column - 1).mean() for c in centroids]
        of_units = centroids[int(np.argmin(away))]
    surface = whole_surface(of_units, rows, shape, base)
    return surface, surface_error(surface, own, given)


def _unit_surface(values: Reals, base: int) -> Reals:
    """Return a quantity over that at the base number of compute units."""
    none = np.ones(0)
    return whole_surface(values, [none] * (len(values) + 1), (len(values) + 1, 1, 1), (base, 0, 0))[:, 0, 0]
