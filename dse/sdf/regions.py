"""Static regions of a program, found by the rates of its firings: parts that are SDF or CSDF graphs.

An actor is static where all its firings move the same tokens (one phase), or where its firings repeat a sequence of
actions for as long as the trace goes (a phase for each). Static actors that FIFOs connect are a region. That the
program does the same on other input, a trace cannot tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dse.base.errors import FormatError
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime
from dse.model.trace import FiringIds, Trace, TraceAction
from dse.sdf.balance import repetition_vector
from dse.sdf.fold import MOST_PHASES

_KIND = "cpu"
_LOOKED_AT = 64
"""Firings by which a period is refuted quickly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A static part of a program. ``actors``: their numbers in the trace; ``buffers``: of its channels, in order.

    ``firings``: of each actor in an iteration. ``iterations``: how often the trace goes through the region at least.
    ``averaged``: names of actors whose firings take several times; the mean of them stands for each.
    """

    graph: DataflowGraph
    actors: tuple[int, ...]
    buffers: tuple[int, ...]
    firings: tuple[int, ...]
    iterations: int
    averaged: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions:
    """The static regions of a trace, the one with the most actors first, and the actors that are in none."""

    regions: tuple[Region, ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Phases:
    """The phases of a static actor as actions, and what each takes; ``averaged``: means of several times."""

    actions: tuple[TraceAction, ...]
    times: tuple[Fraction, ...]
    averaged: bool


def static_regions(trace: Trace, times: Sequence[Sequence[Fraction]], *, timed: bool = False) -> Regions:
    """Return the static regions of a trace; ``times[a][x]``: what action x of actor a takes.

    ``timed``: firings that move the same tokens and take several times are phases too, where they repeat; the mean
    stands for those that do not. An iteration may then be of more firings.
    """
    phases = [_phases(trace, a, of_actor, timed=timed) for a, of_actor in enumerate(times)]
    groups = _connected(trace, [found is not None for found in phases])
    regions, others = list[Region](), [a for a, found in enumerate(phases) if found is None]
    for group in groups:
        try:
            regions.append(_region(trace, group, {a: found for a in group if (found := phases[a]) is not None}))
        except FormatError:  # its rates do not balance: tokens pile up, or the trace ends before they balance
            others += group
    regions.sort(key=lambda region: (-len(region.actors), region.actors))
    return Regions(regions=tuple(regions), others=tuple(sorted(others)))


def _phases(trace: Trace, a: int, times: Sequence[Fraction], *, timed: bool) -> _Phases | None:
    """Return the phases of an actor; None where it is not static, or never fires."""
    ids, actions = trace.firings[a], trace.topology.actors[a].actions
    if not len(ids):
        return None
    used = np.unique(ids).tolist()
    alike = len({(actions[x].reads, actions[x].writes) for x in used}) == 1
    differ = not alike or (timed and len({times[x] for x in used}) > 1)
    period = _period(ids) if differ else None
    if period is not None:
        return _repeated(ids[:period].tolist(), actions, times)
    counts = np.bincount(ids, minlength=len(actions)).tolist()
    return _one_phase(actions[used[0]], [(counts[x], times[x]) for x in used]) if alike else None


def _repeated(order: list[int], actions: Sequence[TraceAction], times: Sequence[Fraction]) -> _Phases:
    """Return the phases of an actor whose actions repeat in this order."""
    return _Phases(tuple(actions[x] for x in order), tuple(times[x] for x in order), averaged=False)


def _one_phase(action: TraceAction, times: list[tuple[int, Fraction]]) -> _Phases:
    """Return the phase of an actor whose firings are alike; ``times``: how many take how long."""
    firings = sum(count for count, _ in times)
    total = sum((count * time for count, time in times), Fraction(0))
    return _Phases((action,), (total / firings,), averaged=len({time for _, time in times}) > 1)


def _period(ids: FiringIds) -> int | None:
    """Return the least number of firings whose repetition, twice at least, begins as all of them do; or None."""
    beginning = ids[:_LOOKED_AT]
    for period in range(1, min(len(ids) // 2, MOST_PHASES) + 1):
        shifted = ids[period : period + _LOOKED_AT]
        if np.array_equal(shifted, beginning[: len(shifted)]) and np.array_equal(ids[period:], ids[:-period]):
            return period
    return None


def _connected(trace: Trace, static: list[bool]) -> list[list[int]]:
    """Return the static actors that hang together, each group in order."""
    group_of = {a: [a] for a, is_static in enumerate(static) if is_static}
    for buffer in trace.topology.buffers:
        one, other = group_of.get(buffer.source), group_of.get(buffer.target)
        if one is not None and other is not None and one is not other:
            one += other
            for a in other:
                group_of[a] = one
    distinct = {id(group): sorted(group) for group in group_of.values()}
    return list(distinct.values())


def _region(trace: Trace, group: list[int], phases: dict[int, _Phases]) -> Region:
    """Return a group as a graph. Raises ``FormatError`` where its rates do not balance."""
    topology = trace.topology
    inside = [n for n, b in enumerate(topology.buffers) if b.source in phases and b.target in phases]
    graph = DataflowGraph(
        name=topology.name,
        path=topology.name,
        tool="a trace",
        actors=tuple(_actor(trace, a, phases[a], inside) for a in group),
        channels=tuple(_channel(trace, n, inside, group) for n in inside),
    )
    firings = repetition_vector(graph)
    return Region(
        graph=graph,
        actors=tuple(group),
        buffers=tuple(inside),
        firings=firings,
        iterations=min(len(trace.firings[a]) // n for a, n in zip(group, firings, strict=True)),
        averaged=tuple(topology.actors[a].name for a in group if phases[a].averaged),
    )


def _outputs(trace: Trace, a: int, inside: list[int]) -> list[int]:
    """Return the buffers of a region that an actor writes to, each a port of its own."""
    return [n for n in inside if trace.topology.buffers[n].source == a]


def _inputs(trace: Trace, a: int, inside: list[int]) -> list[int]:
    """Return the buffers of a region that an actor reads from, each a port of its own."""
    return [n for n in inside if trace.topology.buffers[n].target == a]


def _channel(trace: Trace, n: int, inside: list[int], group: list[int]) -> DataflowChannel:
    buffer = trace.topology.buffers[n]
    return DataflowChannel(
        name=trace.topology.buffer_name(n),
        source=group.index(buffer.source),
        source_port=_outputs(trace, buffer.source, inside).index(n),
        target=group.index(buffer.target),
        target_port=_inputs(trace, buffer.target, inside).index(n),
        initial_tokens=buffer.initial_tokens,
        token_bits=buffer.token_bits,
        capacity_tokens=buffer.capacity,
    )


def _actor(trace: Trace, a: int, phases: _Phases, inside: list[int]) -> DataflowActor:
    """Return an actor with a port for each channel of the region at it."""
    actor, buffers = trace.topology.actors[a], trace.topology.buffers
    inputs = [buffers[n].target_port for n in _inputs(trace, a, inside)]
    outputs = [buffers[n].source_port for n in _outputs(trace, a, inside)]
    return DataflowActor(
        name=actor.name,
        class_name=actor.class_name,
        inputs=tuple(actor.inputs[p] for p in inputs),
        outputs=tuple(actor.outputs[p] for p in outputs),
        n_phases=len(phases.actions),
        reads=_rates([action.reads for action in phases.actions], inputs),
        writes=_rates([action.writes for action in phases.actions], outputs),
        times=(ProcessorTime(processor=_KIND, times=phases.times, default=True),),
        stateless=actor.stateless,
    )


def _rates(of_phases: list[tuple[int, ...]], ports: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return the rates of each of these ports by phase; ``of_phases[k]``: of all ports in phase k."""
    return tuple(tuple(rates[p] for rates in of_phases) for p in ports)
