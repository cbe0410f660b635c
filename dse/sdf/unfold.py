"""The trace of some iterations of a static graph. Phases become actions in order; phases alike are one action."""

from bisect import insort
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError, OptionError
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.sdf.balance import MOST_FIRINGS

SINGLE = "fire"
"""The action of an actor that does the same in all its phases."""
MOST_ACTIONS = 2_000
"""Phases of one actor that differ, at most: each pair of actions has a cost in an estimation."""
USUAL_FIRINGS = 10_000
"""So many firings are unfolded, about, where nobody says how many iterations there are."""
USUAL_ITERATIONS = 100
"""And at most so many iterations."""

_Phase: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[Fraction, ...]]
"""What a phase reads, writes and takes on each type of processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The actions of an actor. ``order[k]``: the action of phase k; ``first[x]``: the first phase that is action x."""

    names: tuple[str, ...]
    order: tuple[int, ...]
    first: tuple[int, ...]


def phases_of(actor: DataflowActor) -> Phases:
    """Return the actions of an actor, in the order in which they first fire.

    Raises:
        FormatError: more than ``MOST_ACTIONS`` phases differ.
    """
    numbers: dict[_Phase, int] = {}
    first: list[int] = []
    order: list[int] = []
    for k in range(actor.n_phases):
        reads, writes = tuple(port[k] for port in actor.reads), tuple(port[k] for port in actor.writes)
        phase = (reads, writes, tuple(time.times[k] for time in actor.times))
        if phase not in numbers:
            numbers[phase] = len(numbers)
            first.append(k)
        order.append(numbers[phase])
    if len(first) > MOST_ACTIONS:
        raise FormatError(
            f"actor '{actor.name}' has {len(first):,} phases that differ",
            span=actor.span,
            expected=f"at most {MOST_ACTIONS:,}: split the actor",
        )
    names = (SINGLE,) if len(first) == 1 else tuple(f"phase{k + 1}" for k in first)
    return Phases(names=names, order=tuple(order), first=tuple(first))


def usual_iterations(firings: tuple[int, ...]) -> int:
    """Return how many iterations are unfolded where nobody says it; ``firings``: of each actor in one iteration."""
    return min(USUAL_ITERATIONS, max(1, USUAL_FIRINGS // max(1, sum(firings))))


def graph_trace(
    graph: DataflowGraph, firings: tuple[int, ...], iterations: int, made_by: tuple[tuple[str, str], ...] = ()
) -> Trace:
    """Return the trace of so many iterations; ``firings``: of each actor in one, as ``repetition_vector`` gives them.

    Raises:
        OptionError: the trace would have more than ``MOST_FIRINGS`` firings.
        FormatError: as ``phases_of``.
    """
    if sum(firings) * iterations > MOST_FIRINGS:
        raise OptionError(
            f"{iterations:,} iterations of {sum(firings):,} firings are too many for one trace",
            expected=f"--iterations of at most {MOST_FIRINGS // max(1, sum(firings)):,} here",
        )
    phases = [phases_of(actor) for actor in graph.actors]
    ids = [
        _repeated(found.order, n * iterations // actor.n_phases)
        for found, n, actor in zip(phases, firings, graph.actors, strict=True)
    ]
    return make_trace(_topology(graph, phases), ids, made_by=made_by)


def graph_topology(graph: DataflowGraph) -> Topology:
    """Return the actors and FIFOs of traces of a graph; these are its channels but for ``is_state``, in their order.

    Raises:
        FormatError: as ``phases_of``.
    """
    return _topology(graph, [phases_of(actor) for actor in graph.actors])


def _repeated(order: tuple[int, ...], rounds: int) -> NDArray[np.uint16]:
    return np.tile(np.array(order, dtype=np.uint16), rounds)


def is_state(graph: DataflowGraph, channel: DataflowChannel) -> bool:
    """Return whether a channel only says that firings of an actor do not overlap: one token a phase, to itself.

    The actors of a trace never overlap with themselves, so such channels are no FIFOs of it.
    """
    ones = set(graph.written(channel)) == set(graph.read(channel)) == {1}
    return channel.source == channel.target and ones and channel.initial_tokens > 0


def _topology(graph: DataflowGraph, phases: list[Phases]) -> Topology:
    channels = [channel for channel in graph.channels if not is_state(graph, channel)]
    ports = _used_ports(len(graph.actors), channels)
    return Topology(
        name=graph.name,
        actors=tuple(
            _actor(actor, found, used) for actor, found, used in zip(graph.actors, phases, ports, strict=True)
        ),
        buffers=tuple(
            TraceBuffer(
                source=channel.source,
                source_port=ports[channel.source].outputs.index(channel.source_port),
                target=channel.target,
                target_port=ports[channel.target].inputs.index(channel.target_port),
                token_bits=channel.token_bits,
                token_bytes=-(-channel.token_bits // 8),
                capacity=channel.capacity_tokens,
                initial_tokens=channel.initial_tokens,
            )
            for channel in channels
        ),
    )


@dataclass(frozen=True, slots=True)
class _Used:
    """The ports of an actor that have a channel, by their index."""

    inputs: list[int]
    outputs: list[int]


def _used_ports(n_actors: int, channels: list[DataflowChannel]) -> list[_Used]:
    found = [_Used([], []) for _ in range(n_actors)]
    for channel in channels:
        insort(found[channel.source].outputs, channel.source_port)
        insort(found[channel.target].inputs, channel.target_port)
    return found


def _actor(actor: DataflowActor, phases: Phases, used: _Used) -> TraceActor:
    actions = tuple(
        TraceAction(
            name=name,
            reads=tuple(actor.reads[p][k] for p in used.inputs),
            writes=tuple(actor.writes[p][k] for p in used.outputs),
        )
        for name, k in zip(phases.names, phases.first, strict=True)
    )
    return TraceActor(
        name=actor.name,
        class_name=actor.class_name or actor.name,
        inputs=tuple(actor.inputs[p] for p in used.inputs),
        outputs=tuple(actor.outputs[p] for p in used.outputs),
        actions=actions,
        fsm=len(actions) > 1,
        stateless=actor.stateless and len(actions) == 1,
    )
