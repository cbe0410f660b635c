"""Random networks with planted copies of actors and of groups of actors, true ones and near misses.

A random template is drawn; some of its actors are copied with all their buffers, once or twice, at times again; then
the declared orders are shuffled or not, and now and then one copy is spoiled. Nothing says which copies can be
exchanged: that is for the search of symmetries to find, and for the engines to confirm.
"""

import random
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.explore.space.build import build_space
from dse.explore.space.space import Space, SpaceOptions
from dse.model.design_point import Policy
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, FifoKind, SimdCost, TransferKey, UnitKind, WeightTable

PRICES: tuple[tuple[FifoKind, UnitKind], ...] = (
    ("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu"),
)  # fmt: skip
POLICIES: tuple[tuple[Policy, ...], ...] = (
    ("NON_PREEMPTIVE",), ("ROUND_ROBIN",), ("DATA_DEMAND_DRIVEN",), ("FULL_PARALLEL",),
    ("NON_PREEMPTIVE", "DATA_DEMAND_DRIVEN"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A buffer to be. ``kind``: the edge of the template it copies; ``shared``: it may use a port of its siblings."""

    source: int
    target: int
    kind: int
    shared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinCase:
    """A problem with its space of mappings, identical actors told apart."""

    problem: Problem
    space: Space


def twin_case(seed: int) -> TwinCase:
    """Return the case of a seed."""
    rng = random.Random(seed)
    kinds, edges = _template(rng)
    for _ in range(rng.choice((1, 1, 2))):
        kinds, edges = _copied(rng, kinds, edges)
    kinds, edges = _shuffled(rng, kinds, edges)
    topology = _topology(rng, kinds, edges)
    platform = _platform(rng, topology)
    weights = _weights(rng, topology, kinds, edges)
    length = rng.randint(3, 9)
    sequences = [[rng.randint(0, 1) for _ in range(length)] for _ in range(max(kinds) + 1)]
    firings = [list(sequences[kind]) for kind in kinds]
    of_kind = [rng.randint(2, 6) for _ in range(max(e.kind for e in edges) + 1)]
    capacities = [of_kind[e.kind] for e in edges]
    _spoil(rng, topology, weights, firings, capacities)
    problem = Problem(trace=make_trace(topology, firings), weights=weights, platform=platform)
    options = SpaceOptions(
        policies=rng.choice(POLICIES), capacities=(tuple(capacities),), release=rng.choice(("reading", "processing")),
        transfers=rng.choice(("sequential", "parallel")),
        pins=((topology.actors[0].name, "c"),) if rng.random() < 0.3 else (),
    )  # fmt: skip
    return TwinCase(problem=problem, space=build_space(topology, platform, options))


def _template(rng: random.Random) -> tuple[list[int], list[Edge]]:
    n = rng.randint(2, 4)
    edges = []
    for target in range(1, n):
        edges += [Edge(source=rng.randrange(target), target=target, kind=len(edges), shared=rng.random() < 0.4)]
    if rng.random() < 0.4:
        ends = sorted(rng.sample(range(n), 2))
        edges.append(Edge(source=ends[0], target=ends[1], kind=len(edges), shared=False))
    return list(range(n)), edges


def _copied(rng: random.Random, kinds: list[int], edges: list[Edge]) -> tuple[list[int], list[Edge]]:
    """Copy a few actors with all their buffers; at most seven actors in all."""
    group = rng.sample(range(len(kinds)), rng.choice((1, 1, 2, min(3, len(kinds)))))
    kinds, edges, original = list(kinds), list(edges), list(edges)
    for _ in range(rng.choice((1, 1, 2))):
        if len(kinds) + len(group) > 6:
            break
        copy = {actor: len(kinds) + i for i, actor in enumerate(sorted(group))}
        kinds += [kinds[actor] for actor in sorted(group)]
        for e in original:
            if e.source in copy or e.target in copy:
                edges.append(replace(e, source=copy.get(e.source, e.source), target=copy.get(e.target, e.target)))
    return kinds, edges


def _shuffled(rng: random.Random, kinds: list[int], edges: list[Edge]) -> tuple[list[int], list[Edge]]:
    place = list(range(len(kinds)))
    how = rng.random()
    if how < 0.3:
        rng.shuffle(place)
    elif how < 0.6:  # copies next to each other
        by_kind = sorted(place, key=lambda a: (kinds[a], a))
        place = [by_kind.index(a) for a in place]
    edges = [replace(e, source=place[e.source], target=place[e.target]) for e in edges]
    if rng.random() < 0.4:
        rng.shuffle(edges)
    return [kinds[place.index(i)] for i in range(len(kinds))], edges


def _topology(rng: random.Random, kinds: list[int], edges: list[Edge]) -> Topology:
    ports: list[dict[object, int]] = [{} for _ in kinds]
    inputs = [0] * len(kinds)
    rate = {e.kind: (rng.choice((1, 1, 1, 2)), rng.random() < 0.1) for e in edges}
    reads: list[list[tuple[int, int]]] = [[] for _ in kinds]
    writes: list[list[tuple[int, int]]] = [[] for _ in kinds]
    buffers = []
    tokens = {e.kind: rng.choice((0, 0, 0, 1)) for e in edges}
    for number, e in enumerate(edges):
        key: object = ("port", e.kind) if e.shared else number
        n, skipped = rate[e.kind]
        if key not in ports[e.source]:
            ports[e.source][key] = len(ports[e.source])
            writes[e.source].append((n, 0 if skipped else n))
        reads[e.target].append((n, 0 if skipped else n))
        buffers.append(
            TraceBuffer(
                source=e.source, source_port=ports[e.source][key], target=e.target, target_port=inputs[e.target],
                token_bytes=4, token_bits=32, initial_tokens=tokens[e.kind],
            )
        )  # fmt: skip
        inputs[e.target] += 1
    actors = tuple(
        TraceActor(
            name=f"a{a}", class_name=f"K{kind}", inputs=tuple(f"i{i}" for i in range(inputs[a])),
            outputs=tuple(f"o{i}" for i in range(len(ports[a]))),
            actions=tuple(
                TraceAction(name=name, reads=tuple(r[x] for r in reads[a]), writes=tuple(w[x] for w in writes[a]))
                for x, name in enumerate("xy")
            ),
        )
        for a, kind in enumerate(kinds)
    )  # fmt: skip
    return Topology(name="twins", actors=actors, buffers=tuple(buffers))


def _platform(rng: random.Random, topology: Topology) -> Platform:
    cpu = Unit(name="c", kind="cpu", cores=rng.choice((2, 3)))
    twin = Unit(name="d", kind="cpu", cores=1)
    gpu = Unit(name="g", kind="gpu", partition="PG")
    other = Unit(name="h", kind="gpu", partition="PH")
    units = rng.choice(
        ((cpu,), (cpu,), (cpu, twin), (replace(cpu, cores=1), twin), (cpu, gpu), (gpu, replace(cpu, cores=2)),
         (replace(cpu, cores=1), twin, gpu), (replace(cpu, cores=1), gpu, other))
    )  # fmt: skip
    links = tuple(
        Link(
            name=f"{a.name}{b.name}", between=(a.name, b.name), shared=rng.random() < 0.15,
            directions=rng.choice((1, 2)),
        )
        for i, a in enumerate(units)
        for b in units[i + 1 :]
        if "gpu" in (a.kind, b.kind)
    )  # fmt: skip
    capable = None if rng.random() < 0.7 else tuple(a.name for a in topology.actors if a.class_name != "K1")
    return Platform(
        name="p", units=units, links=links, dynamic_network=rng.random() < 0.1, gpu_capable=capable
    )  # fmt: skip


def _weights(rng: random.Random, topology: Topology, kinds: list[int], edges: list[Edge]) -> WeightTable:
    table = WeightTable(name="w", has_scheduling=rng.random() < 0.6)
    free_writes = rng.random() < 0.5
    costs: dict[object, Cost] = {}

    def cost(key: object, free: float, top: int) -> Cost:
        fresh = Cost(mean_cycles=Fraction(0 if rng.random() < free else rng.randint(1, top)))
        return costs.setdefault(key, fresh)

    for a, actor in enumerate(topology.actors):
        for unit in ("cpu", "gpu"):
            for x in "xy":
                table.compute[actor.name, x, unit] = cost((kinds[a], x, unit), 0.1, 30)
                for q in ("", "x", "y"):
                    table.scheduling[actor.name, q, x, unit] = cost((kinds[a], q, x, unit), 0.3, 9)
    for b, e in zip(topology.buffers, edges, strict=True):
        s, t = topology.actors[b.source], topology.actors[b.target]
        for fifo, unit in PRICES:
            ends: tuple[str, str, str, str, FifoKind, UnitKind]
            ends = (s.name, s.outputs[b.source_port], t.name, t.inputs[b.target_port], fifo, unit)
            read: TransferKey = (*ends, "read")
            write: TransferKey = (*ends, "write")
            table.transfers[read] = cost((e.kind, fifo, unit, "read"), 0.4, 9)
            table.transfers[write] = cost((e.kind, fifo, unit, "write"), 1 if free_writes else 0.4, 9)
    if rng.random() < 0.3:
        marked = rng.choice(kinds)
        for a, actor in enumerate(topology.actors):
            if kinds[a] == marked:
                table.simd[actor.name, "x", "gpu"] = SimdCost(block_cycles=(Fraction(9), Fraction(11), Fraction(12)))
    return table if table.has_scheduling else replace(table, scheduling={})


def _spoil(
    rng: random.Random, topology: Topology, weights: WeightTable, firings: list[list[int]], capacities: list[int]
) -> None:
    """Make one actor or buffer differ from its copies, in one case of two."""
    how = rng.randrange(10)
    a = rng.randrange(len(firings))
    if how == 0:
        weights.compute[topology.actors[a].name, "x", "cpu"] = Cost(mean_cycles=Fraction(31))
    elif how == 1:
        firings[a].append(0)
    elif how == 2:
        firings[a].reverse()
    elif how == 3:
        capacities[rng.randrange(len(capacities))] += 1
    elif how == 4:
        key = rng.choice(sorted(weights.transfers))
        weights.transfers[key] = Cost(mean_cycles=Fraction(10))
