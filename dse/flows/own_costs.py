"""Each firing's own cost, where a profile kept it: how far it is from the mean of its action, in ticks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import OptionError
from dse.base.units import PS_PER_S, clock_hz
from dse.flows.options import NOMINAL
from dse.formats.samples_file import SAMPLES, read_samples
from dse.model.trace import FiringIds, Trace, TraceActor
from dse.model.weights import WeightTable

_NONE = np.zeros(0, dtype=np.int64)


def deviations(paths: Sequence[str], trace: Trace, weights: WeightTable) -> tuple[NDArray[np.int64], ...]:
    """Return ``Problem.deviations`` from the samples in the folders of weights; later folders win.

    A firing that took twice as long as the mean of its action computes twice as long as its weight says; so what all
    firings of an action compute together stays what it was. Reading, choosing and writing cost what their weights say.

    Raises:
        OptionError: none of the weights has samples. FormatError: samples are damaged or of another trace.
    """
    files = [Path(path) / SAMPLES for path in paths if path != NOMINAL]
    found = [file for file in files if file.is_file()]
    if not found:
        where = f"no '{SAMPLES}' in {' or '.join(paths)}" if files else "no measured weights"
        raise OptionError(
            f"there are no costs of single firings: {where}",
            expected="measure them with: dse profile NETWORK.xdf --samples -o FOLDER, and give --weights FOLDER",
        )
    counts: dict[str, NDArray[np.float32]] = {}
    for file in found:
        counts |= read_samples(str(file), trace)
    return tuple(
        _of_actor(actor, ids, counts[actor.name], weights) if actor.name in counts else _NONE
        for actor, ids in zip(trace.topology.actors, trace.firings, strict=True)
    )


def _of_actor(
    actor: TraceActor, ids: FiringIds, counts: NDArray[np.float32], weights: WeightTable
) -> NDArray[np.int64]:
    """Return the deviations of the firings of one actor, shape (n_firings,)."""
    n = len(actor.actions)
    made = np.bincount(ids, minlength=n)
    means = np.bincount(ids, weights=counts, minlength=n) / np.maximum(made, 1)
    ticks = np.array([_compute_ticks(weights, actor.name, action.name) for action in actor.actions])
    share = np.divide(counts, means[ids], out=np.ones(len(ids)), where=means[ids] > 0)
    found: NDArray[np.int64] = np.rint((share - 1.0) * ticks[ids]).astype(np.int64)
    return found


def _compute_ticks(weights: WeightTable, actor: str, action: str) -> float:
    """Return what an action computes on a CPU: in ps, or cycles where the weight has no clock; 0 without a weight."""
    cost = weights.compute.get((actor, action, "cpu"))
    if cost is None:
        return 0.0
    cycles = float(cost.mean_cycles)
    return cycles if cost.frequency_mhz is None else cycles * PS_PER_S / clock_hz(cost.frequency_mhz)
