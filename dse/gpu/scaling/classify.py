"""From the counters of a kernel to its clusters and its surface: what a trained model answers, by matrices alone."""

import numpy as np

from dse.gpu.scaling.surfaces import whole_surface
from dse.model.scaling import Classifier, ClusterSet, Reals, ScalingModel, SurfaceModel


def cluster_of(found: ClusterSet, counters: Reals | None) -> int:
    """Return the cluster of a kernel with these counters, shape (n_counters,): the likeliest; of equals the first."""
    if found.classifier is None or counters is None:
        assert len(found.centroids) == 1, "several clusters need a classifier and counters"
        return 0
    return int(np.argmax(scores(found.classifier, counters)))


def scores(classifier: Classifier, counters: Reals) -> Reals:
    """Return what goes into the softmax, whose order is that of the probabilities."""
    seen = (np.log1p(counters) - classifier.mean) / classifier.deviation
    hidden = np.maximum(seen @ classifier.hidden + classifier.hidden_bias, 0)
    result: Reals = hidden @ classifier.head + classifier.head_bias
    return result


def predicted_surface(
    model: SurfaceModel, counters: Reals | None, shape: tuple[int, int, int], base: tuple[int, int, int]
) -> Reals:
    """Return a quantity over that at the base, shape ``shape``, for a kernel with these counters."""
    rows = [found.centroids[cluster_of(found, counters)] for found in model.by_clocks]
    return whole_surface(_unit_row(model, counters), rows, shape, base)


def _unit_row(model: SurfaceModel, counters: Reals | None) -> Reals:
    found = model.by_units
    return np.ones(0) if found is None else found.centroids[cluster_of(found, counters)]


def time_surface(model: ScalingModel, counters: Reals) -> Reals:
    """Return the time over that at the base configuration, at each one of the grid."""
    return predicted_surface(model.time, counters, model.grid.shape, model.base_index)


def power_surface(model: ScalingModel, counters: Reals) -> Reals | None:
    """Return the power over that at the base configuration; None where the model knows none."""
    return None if model.power is None else predicted_surface(model.power, counters, model.grid.shape, model.base_index)
