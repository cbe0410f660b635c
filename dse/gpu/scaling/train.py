"""Training: clusters of scaling surfaces and a classifier for each set of clusters (Wu et al. 2015, section III).

K-means of scaling values, with k-means++ and ``RESTARTS`` starts; counters as logarithms, shifted and scaled to mean 0
and deviation 1; a hidden layer of ``HIDDEN``. The penalty of the classifiers, with a few clusters, and then how many
clusters there are, are chosen by cross-validation inside the training set, by the error of the surfaces. The
public part of the paper tells none of these numbers.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.base.extras import import_extra
from dse.gpu.scaling.classify import predicted_surface
from dse.gpu.scaling.surfaces import clock_values, unit_values
from dse.model.scaling import Classifier, ClusterSet, Reals, ScalingModel, ScalingSet, SurfaceModel

RESTARTS = 20
HIDDEN = 16
PENALTIES = (0.1, 1.0, 10.0)
"""Of the squares of the weights of a classifier: large ones where there are more counters than kernels."""
ITERATIONS = 1000
FOLDS = 3
ALIKE_DECIMALS = 9
"""Kernels whose scaling values differ by less scale alike: they are not split into clusters."""
FEW = 4
"""Clusters with which the penalty is chosen."""
CHOICES = (1, 2, 3, 4, 6, 8, 12)
"""Numbers of clusters that cross-validation chooses from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """``clusters``, ``penalty`` (of classifiers) None: chosen by cross-validation."""

    clusters: int | None = None
    penalty: float | None = None
    seed: int = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Let scikit-learn compute in one thread, so that sums have one order on every machine."""
    for package in ("sklearn.cluster", "sklearn.neural_network"):  # only what is loaded is held to one thread
        import_extra(package, "dse gpu scaling train", extra="gpu")
    limits = import_extra("threadpoolctl", "dse gpu scaling train", extra="gpu").threadpool_limits
    with limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few kernels in a cluster, and of searches that end at ITERATIONS
        yield


def train(given: ScalingSet, options: TrainOptions, card: str, source: str) -> ScalingModel:
    """Return a model of a training set, time and, where there is any, power. Raises ``OptionError`` as ``fit``."""
    with one_thread():
        power = None if given.power_watt is None else fit(given.power_watt, given, options)
        return ScalingModel(
            card=card,
            source=source,
            seed=options.seed,
            grid=given.grid,
            base=given.base,
            counter_names=given.counter_names,
            time=fit(given.time_ms, given, options),
            power=power,
        )


def fit(values: Reals, given: ScalingSet, options: TrainOptions) -> SurfaceModel:
    """Return the model of a quantity of a training set, shape (n_kernels, *grid.shape).

    Raises ``OptionError`` where scikit-learn is missing.
    """
    return fit_as(values, given, chosen_fit(values, given, options), options.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a model is fitted: at most so many clusters in each set, the penalty of classifiers."""

    clusters: int
    penalty: float


def fit_as(values: Reals, given: ScalingSet, how: Fit, seed: int) -> SurfaceModel:
    """Return the model that is fitted in one way."""
    _, core, memory = given.base_index
    sets = [_cluster_set(clock_values(values[:, u]), given, how, seed) for u in range(values.shape[1])]
    by_units = None
    if values.shape[1] > 1:
        by_units = _cluster_set(unit_values(values[:, :, core, memory]), given, how, seed)
    return SurfaceModel(by_clocks=tuple(sets), by_units=by_units)


def _cluster_set(rows: Reals, given: ScalingSet, how: Fit, seed: int) -> ClusterSet:
    """Return clusters of rows of scaling values, one a kernel, and the classifier to them where there are counters."""
    clusters = min(how.clusters, len(np.unique(rows.round(ALIKE_DECIMALS), axis=0)))
    labels, centroids = k_means(rows, clusters, seed)
    classifier = None
    if given.counters is not None and clusters > 1:
        classifier = _classifier(given.counters, labels, how.penalty, seed)
    members = tuple(
        tuple(name for name, label in zip(given.kernels, labels, strict=True) if label == cluster)
        for cluster in range(clusters)
    )
    return ClusterSet(centroids=centroids, members=members, classifier=classifier)


def k_means(rows: Reals, clusters: int, seed: int) -> tuple[NDArray[np.int64], Reals]:
    """Return the cluster of each row and the centroids; clusters in the order of their first rows."""
    found = import_extra("sklearn.cluster", "dse gpu scaling train", extra="gpu").KMeans(
        clusters, init="k-means++", n_init=RESTARTS, random_state=seed
    )
    labels = np.asarray(found.fit(rows).labels_, dtype=np.int64)
    order = list(dict.fromkeys(labels.tolist()))
    renamed = np.array([order.index(label) for label in labels.tolist()], dtype=np.int64)
    centroids = np.stack([rows[renamed == cluster].mean(axis=0) for cluster in range(len(order))])
    return renamed, centroids


def _classifier(counters: Reals, labels: NDArray[np.int64], penalty: float, seed: int) -> Classifier:
    """Return a classifier from counters, shape (n_kernels, n_counters), to the clusters of ``labels``."""
    seen = np.log1p(counters)
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    network: Any = import_extra("sklearn.neural_network", "dse gpu scaling train", extra="gpu").MLPClassifier(
        (HIDDEN,), solver="lbfgs", alpha=penalty, max_iter=ITERATIONS, random_state=seed
    )
    network.fit((seen - mean) / deviation, labels)
    head, bias = network.coefs_[1], network.intercepts_[1]
    if head.shape[1] == 1:  # of two classes there is one output, z: the softmax of (0, z)
        head, bias = np.hstack([np.zeros_like(head), head]), np.concatenate([[0.0], bias])
    return Classifier(
        mean=mean,
        deviation=deviation,
        hidden=network.coefs_[0],
        hidden_bias=network.intercepts_[0],
        head=head,
        head_bias=bias,
    )


def chosen_fit(values: Reals, given: ScalingSet, options: TrainOptions) -> Fit:
    """Return the way with the least error on kernels left out of the training; of equals the first.

    First the penalty is chosen, then the number of clusters, unless ``options`` say it: 1 where there are no counters,
    as nothing could choose among several, or too few kernels to leave some out.
    """
    kernels = len(given.kernels)
    if given.counters is None or kernels < 2 * FOLDS:
        return Fit(clusters=min(options.clusters or 1, kernels), penalty=options.penalty or PENALTIES[0])
    best = _chosen_penalty(values, given, options)
    if options.clusters is not None:
        return best
    counts = [c for c in CHOICES if c <= kernels - -(-kernels // FOLDS)]
    return _least_error(values, given, [Fit(clusters=c, penalty=best.penalty) for c in counts], options.seed)


def _chosen_penalty(values: Reals, given: ScalingSet, options: TrainOptions) -> Fit:
    """Return the best way with the clusters of the options, else a few."""
    few = min(options.clusters or FEW, len(given.kernels))
    penalties = PENALTIES if options.penalty is None else (options.penalty,)
    return _least_error(values, given, [Fit(clusters=few, penalty=penalty) for penalty in penalties], options.seed)


def _least_error(values: Reals, given: ScalingSet, ways: Sequence[Fit], seed: int) -> Fit:
    if len(ways) == 1:
        return ways[0]
    return ways[int(np.argmin([_left_out_error(values, given, how, seed) for how in ways]))]


def _left_out_error(values: Reals, given: ScalingSet, how: Fit, seed: int) -> float:
    """Return the sum of the errors of all kernels, each with a model of the folds without it."""
    folds = [np.arange(len(given.kernels)) % FOLDS == fold for fold in range(FOLDS)]
    return sum(_fold_error(values, given, out, how, seed) for out in folds)


def _fold_error(values: Reals, given: ScalingSet, out: NDArray[np.bool_], how: Fit, seed: int) -> float:
    """Return the sum of the errors of the kernels ``out``, with a model of the others."""
    model = fit_as(values[~out], without(given, out), how, seed)
    assert given.counters is not None, "only a set with counters is folded"
    return sum(
        surface_error(predicted_surface(model, given.counters[k], given.grid.shape, given.base_index), values[k], given)
        for k in np.flatnonzero(out).tolist()
    )


def without(given: ScalingSet, out: NDArray[np.bool_]) -> ScalingSet:
    """Return a set without some of its kernels, and without its arrays of times and powers, which fits are given."""
    kept: Sequence[int] = np.flatnonzero(~out).tolist()
    return ScalingSet(
        grid=given.grid,
        base=given.base,
        kernels=tuple(given.kernels[k] for k in kept),
        time_ms=given.time_ms[kept],
        power_watt=None if given.power_watt is None else given.power_watt[kept],
        counter_names=given.counter_names,
        counters=None if given.counters is None else given.counters[kept],
    )


def surface_error(surface: Reals, measured: Reals, given: ScalingSet) -> float:
    """Return the mean of |predicted / measured - 1| at all configurations but the base, where nothing is predicted."""
    off = np.abs(surface * measured[given.base_index] / measured - 1)
    return float(off.sum() / max(1, off.size - 1))
