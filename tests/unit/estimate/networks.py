"""Small networks written down in a line, for hand-checked estimates."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer
from dse.model.weights import Cost, FifoKind, SimdCost, UnitKind, WeightTable

CPU = Platform(name="cpu-only", units=(Unit(name="cpu", kind="cpu", cores=8),))
FIFO_PRICES: tuple[tuple[FifoKind, UnitKind], ...] = (
    ("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu"),
)  # fmt: skip


def heterogeneous(*, shared: bool = True, directions: int = 1, latency_ns: int = 0, dynamic: bool = False) -> Platform:
    link = Link(
        name="pcie", between=("cpu", "gpu"), shared=shared, directions=directions, latency_ns=Fraction(latency_ns)
    )
    return Platform(
        name="cpu-gpu",
        units=(Unit(name="cpu", kind="cpu", cores=8), Unit(name="gpu", kind="gpu")),
        links=(link,),
        dynamic_network=dynamic,
    )


def network(
    edges: Sequence[tuple[str, str]],
    firings: Mapping[str, str],
    *,
    initial: Mapping[tuple[str, str], int] | None = None,
    rates: Mapping[tuple[str, str], int] | None = None,
) -> Trace:
    """A trace: one buffer an edge (``"a.o", "b"``: edges with the same ``a.o`` share a port), actions are letters.

    All rates are 1 unless ``rates[actor + "." + action, "in" | "out"]`` says otherwise.
    """
    names = list(firings)
    outputs = {n: list(dict.fromkeys(s for s, _ in edges if s.split(".")[0] == n)) for n in names}
    inputs = {n: [i for i, (_, t) in enumerate(edges) if t == n] for n in names}
    actions = {n: sorted(set(firings[n])) for n in names}
    given = rates or {}
    actors = tuple(
        TraceActor(
            name=n,
            class_name=n,
            inputs=tuple(f"i{k}" for k in range(len(inputs[n]))),
            outputs=tuple(port.split(".")[1] for port in outputs[n]),
            actions=tuple(
                TraceAction(
                    name=x,
                    reads=(given.get((f"{n}.{x}", "in"), 1),) * len(inputs[n]),
                    writes=(given.get((f"{n}.{x}", "out"), 1),) * len(outputs[n]),
                )
                for x in actions[n]
            ),
        )
        for n in names
    )
    buffers = tuple(
        TraceBuffer(
            source=names.index(s.split(".")[0]),
            source_port=outputs[s.split(".")[0]].index(s),
            target=names.index(t),
            target_port=inputs[t].index(i),
            token_bytes=4,
            token_bits=32,
            initial_tokens=(initial or {}).get((s, t), 0),
        )
        for i, (s, t) in enumerate(edges)
    )
    return Trace(
        topology=Topology(name="hand", actors=actors, buffers=buffers),
        firings=tuple(np.array([actions[n].index(x) for x in firings[n]], dtype=np.uint8) for n in names),
        digest="hand",
    )


def cost(cycles: object, *, mhz: object = None, per_token: object = 0) -> Cost:
    return Cost(
        mean_cycles=Fraction(str(cycles)),
        frequency_mhz=None if mhz is None else Fraction(str(mhz)),
        per_token_cycles=Fraction(str(per_token)),
    )


def weights(
    trace: Trace,
    compute: Mapping[str, object],
    *,
    read: object = 0,
    write: object = 0,
    scheduling: Mapping[tuple[str, str, str], object] | None = None,
    simd: Mapping[tuple[str, str], Sequence[int]] | None = None,
) -> WeightTable:
    """Weights without clock: ``compute`` by actor or ``actor.action``, the same transfer costs for every buffer."""
    table, transfers = {}, {}
    for actor in trace.topology.actors:
        for action in actor.actions:
            cycles = compute.get(f"{actor.name}.{action.name}", compute.get(actor.name))
            for kind in ("cpu", "gpu"):
                if cycles is not None:
                    table[actor.name, action.name, kind] = cost(cycles)
    for b in trace.topology.buffers:
        source, target = trace.topology.actors[b.source], trace.topology.actors[b.target]
        ends = (source.name, source.outputs[b.source_port], target.name, target.inputs[b.target_port])
        for fifo, unit in FIFO_PRICES:
            transfers[*ends, fifo, unit, "read"] = cost(read)
            transfers[*ends, fifo, unit, "write"] = cost(write)
    return WeightTable(
        name="hand",
        compute=table,  # type: ignore[arg-type]
        transfers=transfers,  # type: ignore[arg-type]
        scheduling={(a, q, x, "cpu"): cost(c) for (a, q, x), c in (scheduling or {}).items()},
        simd={
            (a, x, kind): SimdCost(block_cycles=tuple(Fraction(c) for c in cycles))
            for (a, x), cycles in (simd or {}).items()
            for kind in ("cpu", "gpu")
        },  # type: ignore[arg-type]
        has_scheduling=scheduling is not None,
    )


def problem(trace: Trace, table: WeightTable, platform: Platform = CPU) -> Problem:
    return Problem(trace=trace, weights=table, platform=platform)


def point(trace: Trace, *partitions: Partition, capacity: int = 64, **modes: str) -> DesignPoint:
    return DesignPoint(
        partitions=partitions,
        capacities=(capacity,) * len(trace.topology.buffers),
        release=modes.get("release", "reading"),  # type: ignore[arg-type]
        transfers=modes.get("transfers", "sequential"),  # type: ignore[arg-type]
    )


def partition(
    trace: Trace,
    names: str,
    *,
    policy: str = "NON_PREEMPTIVE",
    unit: str = "cpu",
    cores: int = 1,
    order: str = "",
) -> Partition:
    """A partition of the actors whose names are the words of ``names``, in that order."""
    index = {actor.name: a for a, actor in enumerate(trace.topology.actors)}
    return Partition(
        name=f"{unit}:{names}",
        actors=tuple(index[name] for name in names.split()),
        unit=unit,
        policy=policy,  # type: ignore[arg-type]
        cores=cores,
        static_order=tuple(index[name] for name in order.split()),
    )


def alone(trace: Trace, **units: str) -> tuple[Partition, ...]:
    """One partition an actor, on the unit given by name or on the CPU."""
    return tuple(partition(trace, a.name, unit=units.get(a.name, "cpu")) for a in trace.topology.actors)
