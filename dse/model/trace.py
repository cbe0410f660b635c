"""The execution trace graph, columnar: what ran, without the bodies. Also what TURNUS traces are imported to.

Token dependencies follow by counting (an action has fixed rates). Dependencies that counting cannot give are recorded
on demand as access signatures. Never one Python object a firing.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.escaping import shown
from dse.model.rounds import Rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAction:
    """An action as the trace sees it. ``reads[i]`` and ``writes[j]`` are tokens per firing on input i and output j."""

    name: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    initializer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceActor:
    """An actor as the trace sees it; ``fsm`` is whether it has one (then consecutive firings depend on each other)."""

    name: str
    class_name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    actions: tuple[TraceAction, ...]
    fsm: bool = False
    stateless: bool = False
    """No action writes state that a later firing could see and there is no FSM: firings may run as SIMD blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBuffer:
    """One FIFO, as ``Connection``: one for each reader of an output port, in the order of the flattened connections."""

    source: int
    source_port: int
    target: int
    target_port: int
    token_bytes: int
    token_bits: int
    capacity: int | None = None
    """The ``bufferSize`` of the network in tokens, or None."""
    initial_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Actors and FIFOs of a trace. Index order is the declared order, which breaks ties in the estimation."""

    name: str
    actors: tuple[TraceActor, ...]
    buffers: tuple[TraceBuffer, ...]

    def __repr__(self) -> str:
        return f"<Topology {shown(self.name)}: {len(self.actors)} actors, {len(self.buffers)} FIFOs>"

    def buffer_name(self, index: int) -> str:
        """Return ``source.port->target.port`` of a buffer."""
        source, source_port, target, target_port = self.ends(index)
        return f"{source}.{source_port}->{target}.{target_port}"

    def ends(self, index: int) -> tuple[str, str, str, str]:
        """Return source actor and port, target actor and port of a buffer."""
        b = self.buffers[index]
        s, t = self.actors[b.source], self.actors[b.target]
        return s.name, s.outputs[b.source_port], t.name, t.inputs[b.target_port]

    def memory_bytes(self, capacities: Sequence[int]) -> int:
        """Return the bytes of the tokens that the buffers may hold, with so many tokens each."""
        return sum(n * buffer.token_bytes for n, buffer in zip(capacities, self.buffers, strict=True))

    def largest_rate(self, index: int) -> int:
        """Return the most tokens that one firing writes to or reads from a buffer."""
        b = self.buffers[index]
        writes = (action.writes[b.source_port] for action in self.actors[b.source].actions)
        reads = (action.reads[b.target_port] for action in self.actors[b.target].actions)
        return max((*writes, *reads), default=0)

    def actor_index(self, name: str) -> int | None:
        """Return the index of the actor called ``name``, or None."""
        return next((i for i, a in enumerate(self.actors) if a.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTable:
    """Recorded accesses of one actor, dictionary-coded.

    ``signatures[k]`` = (variables read by guards evaluated (true or false) before the firing, variables read by the
    body, variables written); ``ids``: shape (n_firings of the actor,), the signature of each firing.
    """

    signatures: tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]
    ids: NDArray[np.uint16]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """The firings of each actor in order.

    ``firings[a]``: shape (n_firings of actor a,), uint8 or uint16, index into the actor's ``actions``; may be a
    read-only memory map. ``accesses`` is empty unless recorded, else one table an actor.
    """

    topology: Topology
    firings: tuple[NDArray[np.uint8] | NDArray[np.uint16], ...]
    digest: str
    """Digest (sha256 hex) of topology and firings: the identity of the trace."""
    accesses: tuple[AccessTable, ...] = ()
    made_by: tuple[tuple[str, str], ...] = field(default=())
    """Provenance as (key, value) pairs: tool version, network, inputs with their digests, options."""
    rounds: tuple[Rounds, ...] = field(default=(), compare=False)
    """Mean rounds of loops and shares of branches that data decide, by actor. Empty unless counted; not in files."""

    def __repr__(self) -> str:
        actors, digest = len(self.topology.actors), self.digest[:12]
        return f"<Trace of {shown(self.topology.name)}: {self.n_firings:,} firings of {actors} actors, digest {digest}>"

    @property
    def n_firings(self) -> int:
        """Number of firings of all actors."""
        return sum(len(f) for f in self.firings)


FiringIds: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]
"""Action ids of the firings of one actor."""


def firing_ids(actor: TraceActor, ids: Sequence[int] | NDArray[np.integer[Any]]) -> FiringIds:
    """Return action ids in the type that the digest asks for: uint8 up to 256 actions, else uint16."""
    return np.asarray(ids, dtype=np.uint8) if len(actor.actions) <= 256 else np.asarray(ids, dtype=np.uint16)


def trace_digest(topology: Topology, firings: Sequence[FiringIds]) -> str:
    """Return the identity of a trace (sha256 hex) from its topology and action ids, those as of ``firing_ids``.

    Where a trace was made and what accesses it recorded are no part of its identity.
    """
    digest = hashlib.sha256(json.dumps(asdict(topology), separators=(",", ":")).encode())
    for ids in firings:
        digest.update(len(ids).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(ids, dtype=ids.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def make_trace(
    topology: Topology,
    firings: Sequence[Sequence[int] | NDArray[np.integer[Any]]],
    *,
    accesses: tuple[AccessTable, ...] = (),
    made_by: tuple[tuple[str, str], ...] = (),
) -> Trace:
    """Return a trace with action ids of the smallest type and its digest; ``firings`` has one entry an actor."""
    ids = tuple(firing_ids(actor, of_actor) for actor, of_actor in zip(topology.actors, firings, strict=True))
    return Trace(topology=topology, firings=ids, digest=trace_digest(topology, ids), accesses=accesses, made_by=made_by)


def tokens_of_buffers(trace: Trace) -> tuple[int, ...]:
    """Return the tokens that each buffer carries in the whole trace."""
    counts = [
        np.bincount(firings, minlength=len(actor.actions)).tolist()
        for actor, firings in zip(trace.topology.actors, trace.firings, strict=True)
    ]
    return tuple(
        sum(
            times * action.writes[b.source_port]
            for times, action in zip(counts[b.source], trace.topology.actors[b.source].actions, strict=True)
        )
        for b in trace.topology.buffers
    )
