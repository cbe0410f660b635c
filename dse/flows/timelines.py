"""Timelines of estimated mappings: every firing on its core, the filling of the FIFOs, and the critical path."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from dse.analyse.critical_path import path_of_record
from dse.analyse.steps import steps_of_record
from dse.estimate.compiled.engine import CompiledEngine
from dse.model.critical_path import Cause, CriticalPath, SegmentKind
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import TickUnit
from dse.model.problem import Problem
from dse.model.steps import FiringSteps
from dse.model.trace import Topology, Trace
from dse.report.timeline.cores import cores_of_firings
from dse.report.timeline.timeline import ActorTimes, Segments, Timeline
from dse.report.timeline.windows import slice_names
from dse.report.timeline.write import write_timelines

CRITICAL_PATH = "critical path"
TICKS_PER_NS: dict[TickUnit, int] = {"ps": 1000, "cycles": 1}
_STEPS = {
    SegmentKind.SCHEDULING: "scheduling",
    SegmentKind.READING: "reading",
    SegmentKind.PROCESSING: "processing",
    SegmentKind.WRITING: "writing",
    SegmentKind.ARRIVAL: "tokens or room on the way",
}
_REASONS = {
    Cause.START: "the run began",
    Cause.STEP: "the step before was over",
    Cause.OWN: "the firing of the actor before was over",
    Cause.CORE: "the core became free",
    Cause.TOKENS: "tokens came through",
    Cause.ROOM: "room came in",
    Cause.LINK: "the link became free",
    Cause.PUBLISHED: "they were published",
    Cause.LOOK: "those before had arrived",
}


def write_estimated(path: str, problem: Problem, points: Iterable[tuple[str, DesignPoint]]) -> None:
    """Write the timelines of the estimates of some points, with their names, into one file.

    Raises:
        FormatError, InfeasibleDesign: as an engine that estimates the points.
        OptionError, ExecutionError: as ``write_timelines``.
    """
    write_timelines(path, (estimated_timeline(name, problem, point) for name, point in points))


def estimated_timeline(name: str, problem: Problem, point: DesignPoint) -> Timeline:
    """Return the timeline of the estimate of a point, up to its deadlock if it has one; ``name``: of the mapping.

    Raises:
        FormatError, InfeasibleDesign: as an engine that estimates the point.
    """
    estimate, record = CompiledEngine(problem).record(point)
    topology, steps = problem.trace.topology, steps_of_record(record)
    cores = core_counts(point)
    cycles = ", 1 ns stands for 1 cycle" if estimate.tick_unit == "cycles" else ""
    return Timeline(
        title=f"{topology.name}, estimated{cycles}: {name}",
        topology=topology,
        firings=problem.trace.firings,
        times=_times(steps, point, cores),
        cores=core_names(point, cores, topology),
        ticks_per_ns=TICKS_PER_NS[estimate.tick_unit],
        path=_segments(path_of_record(record), problem.trace),
    )


def core_counts(point: DesignPoint) -> list[int]:
    """Return how many cores each partition of a point takes."""
    return [len(p.actors) if p.policy == "FULL_PARALLEL" else p.cores for p in point.partitions]


def core_names(point: DesignPoint, cores: Sequence[int], topology: Topology) -> tuple[str, ...]:
    """Return what the cores of a point are called, those of its first partition first; ``cores``: of each partition."""
    pairs = zip(point.partitions, cores, strict=True)
    return tuple(chain.from_iterable(_names(partition, count, topology) for partition, count in pairs))


def _names(partition: Partition, cores: int, topology: Topology) -> list[str]:
    name = f"{partition.name} ({partition.unit})"
    if partition.policy == "FULL_PARALLEL":
        return [f"{name} {topology.actors[actor].name}" for actor in partition.actors]
    return [name] if cores == 1 else [f"{name} core {core}" for core in range(1, cores + 1)]


def _times(steps: Sequence[FiringSteps], point: DesignPoint, cores: Sequence[int]) -> tuple[ActorTimes, ...]:
    """Return the times of the firings that were made, of each actor, with their cores."""
    made = [int(np.count_nonzero(of_actor.start >= 0)) for of_actor in steps]
    found: dict[int, ActorTimes] = {}
    first_core = 0
    for partition, count in zip(point.partitions, cores, strict=True):
        pairs = [(steps[a].start[: made[a]], steps[a].end[: made[a]]) for a in partition.actors]
        if partition.policy == "FULL_PARALLEL":
            at = [np.broadcast_to(np.int32(place), made[a]) for place, a in enumerate(partition.actors)]
        else:
            at = cores_of_firings(pairs, count)
        for a, (start, end), core in zip(partition.actors, pairs, at, strict=True):
            taken, given = steps[a].read if point.release == "reading" else steps[a].computed, steps[a].computed
            found[a] = ActorTimes(
                start=start,
                end=end,
                taken=taken[: made[a]],
                given=given[: made[a]],
                core=core + np.int32(first_core),
                phases=(steps[a].scheduled[: made[a]], steps[a].read[: made[a]], steps[a].computed[: made[a]]),
            )
        first_core += count
    return tuple(found[a] for a in range(len(steps)))


def _segments(path: CriticalPath, trace: Trace) -> Segments:
    """Return the critical path as a track; what takes no time on it is left out."""
    of, topology = path.segments, trace.topology
    rows = np.flatnonzero(of.end > of.start)
    firing, actor = of.firing[rows], of.actor[rows]
    first_firing, first_name = (
        np.cumsum([0, *counts])[:-1]
        for counts in (map(len, trace.firings), (len(known.actions) for known in topology.actors))
    )
    action = first_name[actor] + np.concatenate(trace.firings)[first_firing[actor] + firing]
    slices, fifos = slice_names(topology), [topology.buffer_name(b) for b in range(len(topology.buffers))]
    steps, name = np.unique(of.kind[rows] * len(slices) + action, return_inverse=True)
    causes, because = np.unique(of.cause[rows] * (len(fifos) + 1) + of.cause_buffer[rows] + 1, return_inverse=True)
    return Segments(
        track=CRITICAL_PATH,
        start=of.start[rows],
        end=of.end[rows],
        name=name,
        firing=firing,
        because=because,
        names=tuple(f"{slices[k % len(slices)]} {_STEPS[SegmentKind(k // len(slices))]}" for k in steps.tolist()),
        reasons=tuple(
            f"{_REASONS[Cause(k // (len(fifos) + 1))]} {['', *fifos][k % (len(fifos) + 1)]}".rstrip()
            for k in causes.tolist()
        ),
    )
