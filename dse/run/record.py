"""From a network and what ran to a trace: topology, action ids, and the accesses where they were recorded."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dse.model.rounds import mean_rounds
from dse.model.trace import AccessTable, Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.program.ir import Action, Actor
from dse.program.network import Network
from dse.program.types import FloatType, IntType, Type, bytes_of, scalar_of
from dse.run.instance import RunningActor


def topology_of(network: Network) -> Topology:
    """Return actors and FIFOs of a network as its traces see them."""
    facts = {id(i.actor): i.actor for i in network.instances}
    gathered = {key: gather_facts(actor) for key, actor in facts.items()}
    return Topology(
        name=network.name,
        actors=tuple(_trace_actor(i.name, i.actor, gathered[id(i.actor)]) for i in network.instances),
        buffers=tuple(
            TraceBuffer(
                source=c.source,
                source_port=c.source_port,
                target=c.target,
                target_port=c.target_port,
                token_bytes=bytes_of(c.type),
                token_bits=token_bits(c.type),
                capacity=c.capacity,
            )
            for c in network.connections
        ),
    )


def token_bits(of: Type) -> int:
    """Return the declared bits of a token: the size of an integer or float, 1 for bool, 64 for a String reference."""
    scalar = scalar_of(of)
    match scalar:
        case IntType():
            return scalar.size
        case FloatType():
            return scalar.bits
        case _:
            return 1 if bytes_of(scalar) == 1 else 64


def _trace_actor(name: str, actor: Actor, facts: ActorFacts) -> TraceActor:
    return TraceActor(
        name=name,
        class_name=actor.name,
        inputs=tuple(p.name for p in actor.inputs),
        outputs=tuple(p.name for p in actor.outputs),
        actions=tuple(_trace_action(actor, k, a) for k, a in enumerate(actor.actions)),
        fsm=actor.has_fsm,
        stateless=facts.stateless and not actor.has_fsm and not actor.native,
    )


def _trace_action(actor: Actor, index: int, action: Action) -> TraceAction:
    reads, writes = [0] * len(actor.inputs), [0] * len(actor.outputs)
    for p in action.inputs:
        reads[p.port] += p.tokens
    for q in action.outputs:
        writes[q.port] += q.tokens
    return TraceAction(
        name=action.name, reads=tuple(reads), writes=tuple(writes), initializer=index in actor.initializers
    )


def record_trace(
    network: Network,
    actors: list[RunningActor],
    *,
    accesses: bool,
    rounds: bool = False,
    made_by: tuple[tuple[str, str], ...] = (),
) -> Trace:
    """Return the trace of a run; the actors are flushed."""
    trace = make_trace(
        topology_of(network),
        [np.frombuffer(a.archive, dtype=np.uint16) if a.archive else np.empty(0, np.uint16) for a in actors],
        accesses=tuple(_access_table(a) for a in actors) if accesses else (),
        made_by=made_by,
    )
    return (
        replace(trace, rounds=tuple(mean_rounds(a.compiled.loops, a.round_counts) for a in actors)) if rounds else trace
    )


def without_tail(trace: Trace, tail: Sequence[int]) -> Trace:
    """Return a trace without the last firings of each actor; ``tail[a]``: how many of actor a are left out."""
    if not any(tail):
        return trace
    kept = [ids[: len(ids) - n] for ids, n in zip(trace.firings, tail, strict=True)]
    accesses = tuple(
        replace(table, ids=table.ids[: len(ids)]) for table, ids in zip(trace.accesses, kept, strict=False)
    )
    shorter = make_trace(trace.topology, kept, accesses=accesses, made_by=trace.made_by)
    return replace(shorter, rounds=trace.rounds)


def _access_table(actor: RunningActor) -> AccessTable:
    """Return the accesses of one actor; those of a body are what its action may touch (routines included)."""
    facts = actor.compiled.facts
    signatures = []
    for guards, action in actor.signatures:
        evaluated = [k for k in range(len(facts.accesses)) if guards >> k & 1]
        read = frozenset(name for k in evaluated for name in facts.accesses[k].guard_reads)
        signatures.append((read, facts.accesses[action].body_reads, facts.accesses[action].writes))
    return AccessTable(signatures=tuple(signatures), ids=np.array(actor.signature_archive, dtype=np.uint16))
