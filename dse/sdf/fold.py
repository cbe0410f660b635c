"""A trace as a static graph: the firings of each actor are a sequence of actions that repeats; it becomes its phases.

Where the sequence of an actor does not repeat, all its firings are its phases, and the graph has one iteration. Exact
as long as the network does the same on other inputs, which a trace cannot tell. A state is a channel from the actor to
itself with one token: without it firings of one actor may overlap in a static graph.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime
from dse.model.trace import FiringIds, Topology, Trace, TraceAction
from dse.model.weights import Cost, UnitKind, WeightTable

MOST_PHASES = 20_000
"""Phases of an actor of a graph that is written, at most."""
_KINDS: tuple[UnitKind, ...] = ("cpu", "gpu")


def trace_graph(trace: Trace, weights: WeightTable | None, path: str) -> DataflowGraph:
    """Return the graph of a trace; ``path``: of the file that it is for, which errors name.

    Execution times are cycles where all weights have one clock or none, else nanoseconds.

    Raises:
        FormatError: the firings of an actor do not repeat, or the trace leaves tokens in a FIFO.
    """
    topology = trace.topology
    periods = [_period(ids) for ids in trace.firings]
    for actor, period in zip(topology.actors, periods, strict=True):
        if period > MOST_PHASES:
            raise FormatError(
                f"{MOST_PHASES:,} firings of actor '{actor.name}' and fewer do not repeat; there are {period:,}",
                span=file_span(path, 0),
                expected=f"at most {MOST_PHASES:,}: a static graph describes actors whose rates do not depend on data",
            )
    _require_even(trace, path)
    alive = [a for a, period in enumerate(periods) if period]
    ports = _ports(topology, alive)
    clocks = _clocks(trace, weights)
    actors = [_actor(trace, a, periods[a], ports[a], _Times(weights, clocks)) for a in alive]
    channels = (*_channels(topology, alive, ports), *_states(actors))
    return DataflowGraph(
        name=topology.name,
        path=path,
        tool="SDF3",
        actors=tuple(actors),
        channels=channels,
        unit_mhz=_unit(clocks),
        notes=tuple(
            f"'{actor.name}', which never fires" for actor, n in zip(topology.actors, periods, strict=True) if not n
        ),
    )


def _period(ids: FiringIds) -> int:
    """Return the least number of firings whose repetition is all of them; of more than ``MOST_PHASES``, all."""
    n = len(ids)
    lengths = (p for p in range(1, min(n, MOST_PHASES) + 1) if n % p == 0)
    return next((p for p in lengths if np.array_equal(ids[p:], ids[: n - p])), n)


def _require_even(trace: Trace, path: str) -> None:
    """Raise ``FormatError`` for a FIFO that is at the end not as it was at the beginning."""
    topology = trace.topology
    counts = [np.bincount(f, minlength=len(a.actions)) for f, a in zip(trace.firings, topology.actors, strict=True)]
    for index, buffer in enumerate(topology.buffers):
        writes = [action.writes[buffer.source_port] for action in topology.actors[buffer.source].actions]
        reads = [action.reads[buffer.target_port] for action in topology.actors[buffer.target].actions]
        written = sum(int(n) * rate for n, rate in zip(counts[buffer.source], writes, strict=True))
        read = sum(int(n) * rate for n, rate in zip(counts[buffer.target], reads, strict=True))
        if written != read:
            raise FormatError(
                f"no static graph does what the trace does: {topology.buffer_name(index)} gets {written:,} tokens and"
                f" gives {read:,}",
                span=file_span(path, 0),
                expected="a run at whose end all FIFOs hold what they held at its beginning",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ports:
    """The ports of an actor, one for each channel: (index of the buffer, port in the trace, name)."""

    inputs: tuple[tuple[int, int, str], ...]
    outputs: tuple[tuple[int, int, str], ...]
    state: tuple[str, str] | None
    """Input and output of the channel to itself that stands for its state; None where there is no state."""


def _ports(topology: Topology, alive: list[int]) -> dict[int, _Ports]:
    found: dict[int, _Ports] = {}
    for a in alive:
        actor, names = topology.actors[a], set[str]()
        inputs = tuple(
            (index, b.target_port, _unused(actor.inputs[b.target_port], names))
            for index, b in enumerate(topology.buffers)
            if b.target == a and b.source in alive
        )
        outputs = tuple(
            (index, b.source_port, _unused(actor.outputs[b.source_port], names))
            for index, b in enumerate(topology.buffers)
            if b.source == a and b.target in alive
        )
        state = None if actor.stateless else (_unused("state_in", names), _unused("state_out", names))
        found[a] = _Ports(inputs=inputs, outputs=outputs, state=state)
    return found


def _unused(name: str, names: set[str]) -> str:
    """Return a name that is not among ``names`` yet, and put it there."""
    found, number = name, 2
    while found in names:
        found, number = f"{name}_{number}", number + 1
    names.add(found)
    return found


def _channels(topology: Topology, alive: list[int], ports: dict[int, _Ports]) -> tuple[DataflowChannel, ...]:
    place = {a: number for number, a in enumerate(alive)}
    return tuple(
        DataflowChannel(
            name=f"ch{index}",
            source=place[b.source],
            source_port=[i for i, _, _ in ports[b.source].outputs].index(index),
            target=place[b.target],
            target_port=[i for i, _, _ in ports[b.target].inputs].index(index),
            initial_tokens=b.initial_tokens,
            token_bits=b.token_bits,
            capacity_tokens=b.capacity,
        )
        for index, b in enumerate(topology.buffers)
        if b.source in place and b.target in place
    )


def _states(actors: list[DataflowActor]) -> Iterator[DataflowChannel]:
    """Yield a channel with one token for each actor with state: its last input and output."""
    for number, actor in enumerate(actors):
        if not actor.stateless:
            last_input, last_output = len(actor.inputs) - 1, len(actor.outputs) - 1
            yield DataflowChannel(
                name=f"state{number}",
                source=number,
                source_port=last_output,
                target=number,
                target_port=last_input,
                initial_tokens=1,
            )


@dataclass(frozen=True, slots=True)
class _Times:
    """Where execution times come from. ``clocks``: of all weights of the trace."""

    weights: WeightTable | None
    clocks: frozenset[Fraction | None]

    def of(self, actor: str, action: str, kind: UnitKind) -> Fraction | None:
        """Return what an action takes, in cycles or nanoseconds; None where that is not known."""
        cost = None if self.weights is None else _cost(self.weights, actor, action, kind)
        if cost is None or (cost.frequency_mhz is None and len(self.clocks) > 1):
            return None
        return cost.mean_cycles if len(self.clocks) < 2 else cost.mean_cycles * 1000 / (cost.frequency_mhz or 1)


def _cost(weights: WeightTable, actor: str, action: str, kind: UnitKind) -> Cost | None:
    """Return the cost of one firing, alone."""
    return weights.compute.get((actor, action, kind))


def _clocks(trace: Trace, weights: WeightTable | None) -> frozenset[Fraction | None]:
    if weights is None:
        return frozenset()
    keys = ((actor.name, action.name) for actor in trace.topology.actors for action in actor.actions)
    costs = (_cost(weights, *key, kind) for key in keys for kind in _KINDS)
    return frozenset(cost.frequency_mhz for cost in costs if cost is not None)


def _unit(clocks: frozenset[Fraction | None]) -> Fraction | None:
    """Return the clock whose cycles the times are; nanoseconds are cycles of 1 GHz."""
    return next(iter(clocks), None) if len(clocks) < 2 else Fraction(1000)


def _actor(trace: Trace, a: int, period: int, ports: _Ports, times: _Times) -> DataflowActor:
    actor = trace.topology.actors[a]
    actions = [actor.actions[x] for x in trace.firings[a][:period].tolist()]
    ones, state = ((), ()) if ports.state is None else (((1,) * period,), ports.state)
    return DataflowActor(
        name=actor.name,
        class_name=actor.class_name,
        inputs=(*(name for _, _, name in ports.inputs), *state[:1]),
        outputs=(*(name for _, _, name in ports.outputs), *state[1:]),
        n_phases=period,
        reads=(*(tuple(action.reads[p] for action in actions) for _, p, _ in ports.inputs), *ones),
        writes=(*(tuple(action.writes[p] for action in actions) for _, p, _ in ports.outputs), *ones),
        times=_all_times(actor.name, actions, times),
        stateless=actor.stateless,
    )


def _all_times(actor: str, actions: list[TraceAction], times: _Times) -> tuple[ProcessorTime, ...]:
    """Return the times of an actor on each kind of unit on which all its actions have one."""
    found: list[ProcessorTime] = []
    for kind in _KINDS:
        known = [times.of(actor, action.name, kind) for action in actions]
        whole = tuple(time for time in known if time is not None)
        if len(whole) == len(known):
            found.append(ProcessorTime(processor=kind, times=whole, default=kind == "cpu"))
    return tuple(found)
