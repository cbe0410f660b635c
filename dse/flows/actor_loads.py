"""The work of each actor by its weights alone: what a mapping is ranked by without any simulation."""

from collections.abc import Sequence

import numpy as np

from dse.base.errors import OptionError
from dse.estimate.problem.prices import UNIT_KINDS
from dse.flows.static_mapping import GPU
from dse.model.design_point import DesignPoint
from dse.model.trace import Trace
from dse.model.weights import UnitKind, WeightTable


def heaviest_load(point: DesignPoint, loads: Sequence[float], on_gpu: Sequence[float] = ()) -> float:
    """Return the work of the core with the most, if cores share well; ``loads``: of each actor, ``on_gpu``: there.

    An actor is on one core at a time; under FULL_PARALLEL each has one of its own.
    """
    found = []
    for partition in point.partitions:
        own = [(on_gpu if partition.unit == GPU.name and on_gpu else loads)[a] for a in partition.actors]
        cores = len(own) if partition.policy == "FULL_PARALLEL" else partition.cores
        found.append(max(sum(own) / cores, max(own)))
    return max(found)


def actor_loads_ns(table: WeightTable, trace: Trace, kind: UnitKind = "cpu") -> list[float]:
    """Return what the firings of each actor compute on a unit by some weights, in ns; what is not known counts as 0."""
    loads = []
    for actor, ids in zip(trace.topology.actors, trace.firings, strict=True):
        counts = np.bincount(ids, minlength=len(actor.actions)).tolist()
        total = 0.0
        for action, firings in zip(actor.actions, counts, strict=True):
            cost = table.compute.get((actor.name, action.name, kind))
            if cost is not None and cost.frequency_mhz:
                total += firings * float(cost.mean_cycles) * 1000 / float(cost.frequency_mhz)
        loads.append(total)
    return loads


def loads_by_kind(table: WeightTable, trace: Trace) -> tuple[list[float], list[float]]:
    """Return what actors compute on a CPU and on a GPU. Raises ``OptionError`` where nothing takes time."""
    loads, on_gpu = (actor_loads_ns(table, trace, kind) for kind in UNIT_KINDS)
    if not any(loads):
        raise OptionError("by the weights no action takes time to compute", expected="measure them")
    return loads, on_gpu
