"""Timelines of runs on this machine, in the form of estimated ones: same cores, same names."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import ExecutionError
from dse.flows.timelines import core_counts, core_names
from dse.measure.profiling import Profiler, TimedRun
from dse.measure.samples import UNKNOWN_STEPS, Samples
from dse.model.design_point import DesignPoint
from dse.model.trace import FiringIds, Topology
from dse.report.timeline.timeline import ActorTimes, Ticks, Timeline

_PS_PER_NS = 1000


def run_and_time_all(profiler: Profiler, topology: Topology, mapping: Path) -> TimedRun:
    """Make one run in which every firing of every action is timed. Raises ``ExecutionError`` where it fails.

    The counter is read four times in each firing, so that the run takes longer than others.
    """
    singly = tuple((a, k) for a, actor in enumerate(topology.actors) for k in range(len(actor.actions)))
    return profiler.timed_run(mapping, singly)


def measured_timeline(
    name: str, samples: Samples, topology: Topology, firings: Sequence[FiringIds], point: DesignPoint
) -> Timeline:
    """Return the timeline of a run of a point in which every firing was timed; ``name``: of the mapping.

    A thread of the program is a core. ``firings``: what the actors of that run fired.

    Raises:
        ExecutionError: the records are not those of all of these firings.
    """
    counts = core_counts(point)
    threads = _cores_of_threads([thread.partition for thread in samples.threads], counts)
    times = []
    for actor, ids in enumerate(firings):
        found = _times(samples, threads, actor)
        if len(found.start) != len(ids):
            raise ExecutionError(
                f"the records have {len(found.start)} firings of {topology.actors[actor].name}, the run had {len(ids)}",
                expected="measure again; if it stays, the program is of another version of dse: build it again",
            )
        times.append(found)
    return Timeline(
        title=f"{topology.name}, measured: {name}",
        topology=topology,
        firings=tuple(firings),
        times=tuple(times),
        cores=core_names(point, counts, topology),
        ticks_per_ns=_PS_PER_NS,
    )


def _cores_of_threads(partitions: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Return which core each thread stands for, from the partition of each; threads of one stand in their order."""
    first = np.cumsum([0, *counts]).tolist()
    return [first[p] + partitions[:k].count(p) for k, p in enumerate(partitions)]


def _times(samples: Samples, threads: Sequence[int], actor: int) -> ActorTimes:
    """Return the firings of an actor in their order, in ps since the start of the run."""
    rows = [np.flatnonzero(thread.singles.actor == actor) for thread in samples.threads]
    parts = list(zip(samples.threads, rows, strict=True))
    order = np.argsort(np.concatenate([thread.singles.firing[own] for thread, own in parts]), kind="stable")
    core = np.concatenate([np.full(len(own), core, dtype=np.int32) for core, own in zip(threads, rows, strict=True)])
    chosen = np.concatenate([thread.singles.chosen[own] for thread, own in parts])[order].astype(np.int64)
    choosing, reading, computing, writing = (
        np.concatenate([getattr(thread.singles, step)[own] for thread, own in parts])[order].astype(np.int64)
        for step in ("choosing", "reading", "computing", "writing")
    )
    start = chosen - np.where(choosing == UNKNOWN_STEPS, 0, choosing)
    marks = (start, chosen + reading, chosen + reading + computing, chosen + reading + computing + writing)
    # Counters of different cores may differ by some steps: an actor that changes cores does not go back in time.
    start, taken, given, end = (np.maximum.accumulate(_ps(mark, samples)) for mark in marks)
    return ActorTimes(start=start, end=end, taken=taken, given=given, core=core[order])


def _ps(readings: NDArray[np.int64], samples: Samples) -> Ticks:
    """Return readings of the counter as times since the start of the run, in ps."""
    steps = np.maximum(readings - samples.start, 0)
    return np.round(steps * (_PS_PER_NS / samples.steps_per_ns)).astype(np.int64)
