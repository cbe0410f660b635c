"""Random estimation problems with design points, for the properties of the estimation and the engine conformance.

``random_case(rng)`` makes one from any ``random.Random``: a seeded one for long runs and benchmarks, hypothesis's own
(``estimation_cases``) where a failure should shrink. Traces come from executing the random network, so that they are
consistent; a few are then made to want tokens that never come. Small times and zero costs are frequent, because ties
are where engines differ.
"""

import copy
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from hypothesis import strategies as st

from dse.estimate.problem.build import least_capacities
from dse.model.design_point import DesignPoint, Partition, Policy
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer
from dse.model.weights import Arrival, Cost, EntryKey, FifoKind, SimdCost, UnitKind, Visits, WeightTable

N_CASES = int(os.environ.get("DSE_CASES", "1000"))
"""Random cases for each comparison of engines; ``make test-full`` asks for more."""
MORE = max(1, N_CASES // 2000)
"""So many times more random cases than usual where bounds are compared with estimates."""

CPU_POLICIES: tuple[Policy, ...] = (
    "NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL", "STATIC_ORDER",
)  # fmt: skip
KINDS_OF_UNIT: dict[UnitKind, tuple[FifoKind, ...]] = {"cpu": ("local", "cpu_cpu", "host"), "gpu": ("cuda", "host")}


@dataclass(frozen=True)
class Case:
    problem: Problem
    point: DesignPoint

    @property
    def acyclic(self) -> bool:
        """No actor reaches itself through buffers."""
        n = len(self.problem.trace.topology.actors)
        edges = {(b.source, b.target) for b in self.problem.trace.topology.buffers}
        for middle in range(n):
            edges |= {(a, c) for a in range(n) for c in range(n) if (a, middle) in edges and (middle, c) in edges}
        return all((a, a) not in edges for a in range(n))


@dataclass(frozen=True)
class Shape:
    """Limits of the random networks."""

    max_actors: int = 6
    max_firings: int = 120
    max_rate: int = 3
    flowing: bool = False
    """Capacities and static orders come from an execution, often without a token to spare: few points deadlock."""
    mixed: bool = False
    """Scheduling, transfers, computations and blocks have a scale each, huge costs among them; some actors are free."""
    hosts: bool = False
    """Several GPUs, and a link between any two units, shared more often than not."""


def estimation_cases(shape: Shape = Shape()) -> st.SearchStrategy[Case]:
    return st.randoms(use_true_random=False).map(lambda rng: random_case(rng, shape))


def random_case(rng: random.Random, shape: Shape = Shape()) -> Case:
    """A problem and a design point that ``prepare`` accepts."""
    topology = random_topology(rng, shape)
    trace = Trace(topology=topology, firings=random_firings(rng, topology, shape), digest="random")
    platform = random_platform(rng, topology, shape)
    problem = Problem(
        trace=trace,
        weights=random_weights(rng, topology, platform, shape),
        platform=platform,
        missing_weights="zero" if rng.random() < 0.3 else "error",
    )
    if problem.missing_weights == "zero":
        problem = Problem(
            trace=trace, weights=_thinned(rng, problem.weights), platform=platform, missing_weights="zero"
        )
    return with_arrival(rng, Case(problem=problem, point=random_point(rng, problem, shape)))


def with_arrival(rng: random.Random, case: Case) -> Case:
    """In a third of the cases, the case with tokens that take time between CPU cores."""
    weights = case.problem.weights
    if rng.random() < 2 / 3:
        return case
    tables = (weights.compute, weights.scheduling, weights.transfers)
    clocks = [cost.frequency_mhz for table in tables for cost in table.values() if cost.frequency_mhz is not None]
    clocks += [cost.frequency_mhz for cost in weights.simd.values() if cost.frequency_mhz is not None]
    if not clocks and case.problem.platform.links:
        return case  # if nothing else costs anything, the links decide that time is in ps
    arrival = random_arrival(rng, clocks, case.problem.trace.topology)
    return replace(case, problem=replace(case.problem, weights=replace(weights, arrival=arrival)))


def random_arrival(rng: random.Random, clocks: Sequence[Fraction], topology: Topology) -> Arrival:
    """What arrivals take, at one of some clocks; in more than half of the cases with visits."""
    return Arrival(
        cycles=rng.choice((Fraction(1, 10), Fraction(rng.randint(1, 9)), Fraction(rng.randint(1, 300)))),
        frequency_mhz=rng.choice(clocks) if clocks else None,
        turn_firings=rng.choice((1, 2, 3, 8, 64)),
        turn_parts=rng.choice((0, 0, 1, 2, 4)),
        visits=random_visits(rng, topology) if rng.random() < 0.6 else None,
    )


def random_visits(rng: random.Random, topology: Topology) -> Visits:
    """What visits cost, some of it nothing; some ends of buffers are not named."""

    def some() -> Fraction:
        return Fraction(rng.choice((0, 0, 1, 7, rng.randint(1, 300))), rng.choice((1, 1, 2)))

    sides: tuple[Literal["read", "write"], ...] = ("read", "write")
    keys: list[EntryKey] = [(*topology.ends(b), side) for b in range(len(topology.buffers)) for side in sides]
    entries = {key: some() for key in keys if rng.random() < 0.8}
    glance = some() if rng.random() < 0.7 else None
    return Visits(look_cycles=some(), wake_cycles=some(), glance_cycles=glance, entries=entries)


def with_deviations(rng: random.Random, case: Case) -> Case:
    """The case with firings of most actors that compute longer or shorter than their actions say."""
    scale = rng.choice((3, 100, 20_000))
    arrays = tuple(
        np.array([rng.choice((0, 0, rng.randint(-scale, scale))) for _ in ids], dtype=np.int64)
        if rng.random() < 0.8
        else np.zeros(0, dtype=np.int64)
        for ids in case.problem.trace.firings
    )
    return replace(case, problem=replace(case.problem, deviations=arrays))


def with_clocks(rng: random.Random, case: Case) -> Case:
    """The case with clocks to choose from and a choice for some units; the case itself where weights have no clock."""
    weights = case.problem.weights
    if any(cost.frequency_mhz is None for cost in weights.compute.values()) or not weights.compute:
        return case
    offered = {
        unit.name: rng.sample((Fraction(900), Fraction(1530), Fraction("852.5"), Fraction(2900)), rng.randint(1, 3))
        for unit in case.problem.platform.units
        if rng.random() < 0.8
    }
    chosen = {unit: rng.choice([None, *clocks]) for unit, clocks in offered.items()}
    pairs = tuple((unit, clock) for unit, clocks in offered.items() for clock in clocks)
    partitions = tuple(replace(p, clock_mhz=chosen.get(p.unit)) for p in case.point.partitions)
    return Case(problem=replace(case.problem, clocks=pairs), point=replace(case.point, partitions=partitions))


def random_topology(rng: random.Random, shape: Shape) -> Topology:
    n = rng.randint(1, shape.max_actors)
    edges: list[tuple[int, int]] = []
    for target in range(1, n):
        edges += [(rng.randrange(target), target) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    if rng.random() < 0.3:
        edges += [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(1, 2))]
    rng.shuffle(edges)
    outputs = [0] * n
    inputs = [0] * n
    buffers: list[TraceBuffer] = []
    for source, target in edges:
        if outputs[source] and rng.random() < 0.4:
            port = rng.randrange(outputs[source])
        else:
            port = outputs[source]
            outputs[source] += 1
        size = rng.choice((1, 4, 8))
        buffers.append(
            TraceBuffer(
                source=source,
                source_port=port,
                target=target,
                target_port=inputs[target],
                token_bytes=size,
                token_bits=8 * size,
                initial_tokens=rng.randint(1, 6) if source >= target else rng.choice((0, 0, 0, 2)),
            )
        )
        inputs[target] += 1
    for a in range(n):
        outputs[a] += rng.random() < 0.2  # an output that nobody reads
    actors = tuple(_random_actor(rng, a, inputs[a], outputs[a], shape) for a in range(n))
    return Topology(name="random", actors=actors, buffers=tuple(buffers))


def _random_actor(rng: random.Random, index: int, n_inputs: int, n_outputs: int, shape: Shape) -> TraceActor:
    rates = (0, 1, 1, 1, 2, shape.max_rate)
    actions = [
        TraceAction(
            name=f"x{x}",
            reads=tuple(rng.choice(rates) for _ in range(n_inputs)),
            writes=tuple(rng.choice(rates) for _ in range(n_outputs)),
        )
        for x in range(rng.randint(1, 3))
    ]
    if rng.random() < 0.2:
        actions.append(
            TraceAction(
                name="initialize",
                reads=(0,) * n_inputs,
                initializer=True,
                writes=tuple(rng.choice((0, 1)) for _ in range(n_outputs)),
            )
        )
    return TraceActor(
        name=f"a{index}",
        class_name=f"A{index}",
        inputs=tuple(f"I{i}" for i in range(n_inputs)),
        outputs=tuple(f"O{i}" for i in range(n_outputs)),
        actions=tuple(actions),
    )


def random_firings(rng: random.Random, topology: Topology, shape: Shape) -> tuple[np.ndarray, ...]:
    """Traces of a random execution with unbounded buffers; runs of one action are frequent (SIMD blocks)."""
    tokens = [buffer.initial_tokens for buffer in topology.buffers]
    firings: list[list[int]] = [[] for _ in topology.actors]
    for a, actor in enumerate(topology.actors):
        if actor.actions[-1].initializer:
            _fire(topology, a, len(actor.actions) - 1, tokens, firings)
    for _ in range(rng.randint(0, shape.max_firings)):
        a = rng.randrange(len(topology.actors))
        repeat = firings[a][-1:] if rng.random() < 0.6 else []
        x = repeat[0] if repeat else rng.randrange(len(topology.actors[a].actions))
        if not topology.actors[a].actions[x].initializer:
            _fire(topology, a, x, tokens, firings)
    if rng.random() < 0.1 and not shape.flowing:
        firings[-1] += [0] * rng.randint(1, 3)
    dtype = rng.choice((np.uint8, np.uint16))
    return tuple(np.array(actions, dtype=dtype) for actions in firings)


def _fire(topology: Topology, actor: int, action: int, tokens: list[int], firings: list[list[int]]) -> None:
    """Make a firing if its tokens are there."""
    rates = topology.actors[actor].actions[action]
    reads = [(b, rates.reads[e.target_port]) for b, e in enumerate(topology.buffers) if e.target == actor]
    if any(tokens[b] < n for b, n in reads):
        return
    for b, n in reads:
        tokens[b] -= n
    for b, edge in enumerate(topology.buffers):
        if edge.source == actor:
            tokens[b] += rates.writes[edge.source_port]
    firings[actor].append(action)


def random_execution(rng: random.Random, topology: Topology, trace: Trace) -> tuple[list[int], list[int]]:
    """An order of the firings of a trace that runs, as actors, and the largest need of room in each buffer."""
    tokens = [buffer.initial_tokens for buffer in topology.buffers]
    needs = list(tokens)
    left = [list(reversed(actions.tolist())) for actions in trace.firings]
    order: list[int] = []
    while any(left):
        enabled = [a for a, actions in enumerate(left) if actions and _has_tokens(topology, a, actions[-1], tokens)]
        a = rng.choice(enabled)
        action = topology.actors[a].actions[left[a].pop()]
        for b, edge in enumerate(topology.buffers):
            if edge.source == a:
                needs[b] = max(needs[b], tokens[b] + action.writes[edge.source_port])
                tokens[b] += action.writes[edge.source_port]
            if edge.target == a:
                tokens[b] -= action.reads[edge.target_port]
        order.append(a)
    return order, needs


def _has_tokens(topology: Topology, actor: int, action: int, tokens: list[int]) -> bool:
    reads = topology.actors[actor].actions[action].reads
    return all(tokens[b] >= reads[e.target_port] for b, e in enumerate(topology.buffers) if e.target == actor)


def random_platform(rng: random.Random, topology: Topology, shape: Shape) -> Platform:
    units = [Unit(name="cpu", kind="cpu", cores=4)]
    if rng.random() < 0.2:
        units.append(Unit(name="cpu2", kind="cpu", cores=2))
    if shape.hosts:
        units += [Unit(name=f"gpu{i}", kind="gpu") for i in range(rng.randint(1, 3))]
    elif rng.random() < 0.6:
        units.append(Unit(name="gpu", kind="gpu"))
        if rng.random() < 0.2:
            units.append(Unit(name="gpu2", kind="gpu"))
    rng.shuffle(units)
    links: list[Link] = []
    for i, a in enumerate(units):
        for b in units[i + 1 :]:
            if "gpu" in (a.kind, b.kind) and (shape.hosts or rng.random() < 0.8):
                ends = (a.name, b.name) if rng.random() < 0.5 else (b.name, a.name)
                links.append(_random_link(rng, ends))
    names = tuple(actor.name for actor in topology.actors)
    capable = None if rng.random() < 0.6 else tuple(name for name in names if rng.random() < 0.6)
    return Platform(
        name="random",
        units=tuple(units),
        links=tuple(links),
        dynamic_network=rng.random() < 0.3,
        gpu_capable=capable,
    )


def _random_link(rng: random.Random, ends: tuple[str, str]) -> Link:
    return Link(
        name="-".join(ends),
        between=ends,
        latency_ns=Fraction(rng.choice((0, 0, 1, 5)), rng.choice((1, 1000))),
        bandwidth_gb_s=rng.choice((None, Fraction(1000), Fraction(12), Fraction(33, 7))),
        shared=rng.random() < 0.7,
        directions=rng.choice((1, 1, 2)),
    )


class _Costs:
    """Random costs of one scale, all with a clock or all without."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.scale: Literal["zero", "ties", "small", "decimal", "huge"] = rng.choice(
            ("zero", "ties", "small", "small", "decimal")
        )
        clocks: tuple[Fraction | None, ...] = (None,)
        self.clocks = rng.choice((clocks, (Fraction(2900), Fraction("852.5"), Fraction(1_000_000))))

    def rescaled(self) -> "_Costs":
        """Costs of another scale with the same clocks."""
        other = copy.copy(self)
        other.scale = self.rng.choice(("zero", "ties", "ties", "small", "decimal", "huge"))
        return other

    def cycles(self) -> Fraction:
        match self.scale:
            case "zero":
                return Fraction(self.rng.choice((0, 0, 0, 1)))
            case "ties":
                return Fraction(self.rng.choice((0, 1, 2)))
            case "small":
                return Fraction(self.rng.choice((0, 1, 2, 5, 10, 13)))
            case "decimal":
                return Fraction(self.rng.randint(0, 100_000), 100)
            case "huge":
                return Fraction(self.rng.randint(0, 10**10))

    def cost(self, *, per_token: bool = False) -> Cost:
        return Cost(
            mean_cycles=self.cycles(),
            frequency_mhz=self.rng.choice(self.clocks),
            per_token_cycles=self.cycles() if per_token and self.rng.random() < 0.5 else Fraction(0),
        )

    def block(self) -> SimdCost:
        one, more, total = self.cycles(), self.cycles(), Fraction(0)
        cycles = []
        for _ in range(self.rng.randint(1, 5)):
            total += more / 2
            cycles.append(one + total)
        return SimdCost(block_cycles=tuple(cycles), frequency_mhz=self.rng.choice(self.clocks))


def random_weights(rng: random.Random, topology: Topology, platform: Platform, shape: Shape) -> WeightTable:
    """Weights for all that can happen; host transfers may be left to the link where that can derive them."""
    costs = blocks = waits = moves = _Costs(rng)
    if shape.mixed:
        costs, blocks, waits, moves = (costs.rescaled() for _ in range(4))
    kinds: tuple[UnitKind, ...] = ("cpu", "gpu")
    compute, scheduling, simd, transfers = {}, {}, {}, {}
    has_simd = rng.random() < 0.3
    for actor in topology.actors:
        for kind in kinds:
            for action in actor.actions:
                compute[actor.name, action.name, kind] = costs.cost()
                if has_simd and rng.random() < 0.4:
                    simd[actor.name, action.name, kind] = blocks.block()
                scheduling[actor.name, "", action.name, kind] = waits.cost()
                for previous in actor.actions:
                    if rng.random() < 0.7:
                        scheduling[actor.name, previous.name, action.name, kind] = waits.cost()
    clocked = costs.clocks != (None,)
    everywhere = all(link.bandwidth_gb_s is not None for link in platform.links)
    joined = {frozenset(link.between) for link in platform.links}
    pairs = {frozenset((a.name, b.name)) for a in platform.units for b in platform.units if a is not b}
    derive = clocked and everywhere and joined == pairs and rng.random() < 0.5
    for edge in topology.buffers:
        source, target = topology.actors[edge.source], topology.actors[edge.target]
        ends = (source.name, source.outputs[edge.source_port], target.name, target.inputs[edge.target_port])
        for kind in kinds:
            for fifo in KINDS_OF_UNIT[kind]:
                for side in ("read", "write"):
                    if not (derive and fifo == "host" and rng.random() < 0.5):
                        transfers[*ends, fifo, kind, side] = moves.cost(per_token=True)
    has_scheduling, has_transfers = rng.random() < 0.7, rng.random() < 0.8
    has_transfers = has_transfers or platform.has_gpu  # what crosses to a GPU is never free
    weights = WeightTable(
        name="random",
        compute=compute,
        scheduling=scheduling if has_scheduling else {},
        transfers=transfers if has_transfers else {},
        simd=simd,
        has_scheduling=has_scheduling,
        has_transfers=has_transfers,
    )
    return (
        _with_free_actors(weights, {a.name for a in topology.actors if rng.random() < 0.3}) if shape.mixed else weights
    )


def _with_free_actors(weights: WeightTable, free: set[str]) -> WeightTable:
    """The same weights, but firings and transfers of some actors cost nothing."""

    def priced(cost: Cost, payer: str) -> Cost:
        return Cost(mean_cycles=Fraction(0)) if payer in free else cost

    return WeightTable(
        name=weights.name,
        compute={key: priced(cost, key[0]) for key, cost in weights.compute.items()},
        scheduling={key: priced(cost, key[0]) for key, cost in weights.scheduling.items()},
        transfers={key: priced(cost, key[2 if key[6] == "read" else 0]) for key, cost in weights.transfers.items()},
        simd={key: cost for key, cost in weights.simd.items() if key[0] not in free},
        has_scheduling=weights.has_scheduling,
        has_transfers=weights.has_transfers,
    )


def _thinned(rng: random.Random, weights: WeightTable) -> WeightTable:
    """The same weights with holes."""
    return WeightTable(
        name=weights.name,
        compute={key: cost for key, cost in weights.compute.items() if rng.random() < 0.8},
        scheduling={key: cost for key, cost in weights.scheduling.items() if rng.random() < 0.8},
        transfers={key: cost for key, cost in weights.transfers.items() if rng.random() < 0.8},
        simd=weights.simd,
        has_scheduling=weights.has_scheduling,
        has_transfers=weights.has_transfers,
    )


def random_point(rng: random.Random, problem: Problem, shape: Shape = Shape()) -> DesignPoint:
    topology, platform = problem.trace.topology, problem.platform
    capable = platform.gpu_capable
    members: dict[tuple[str, int], list[int]] = {}
    n_partitions = rng.randint(1, len(topology.actors))
    actors = list(range(len(topology.actors)))
    rng.shuffle(actors)
    execution, needs = random_execution(rng, topology, problem.trace) if shape.flowing else ([], [])
    for a in actors:
        units = [u for u in platform.units if u.kind == "cpu" or capable is None or topology.actors[a].name in capable]
        members.setdefault((rng.choice(units).name, rng.randrange(n_partitions)), []).append(a)
    partitions = []
    for (unit, number), here in members.items():
        policy = rng.choice(CPU_POLICIES)
        extra = [rng.choice(here) for _ in range(rng.choice((0, 0, 1, 3)))]
        order = [*here, *extra]
        rng.shuffle(order)
        if shape.flowing:
            order = [a for a in execution if a in here]
            order += [a for a in here if a not in order]
        partitions.append(
            Partition(
                name=f"{unit}{number}",
                actors=tuple(here),
                unit=unit,
                policy=policy,
                cores=1 if policy == "STATIC_ORDER" else rng.choice((1, 1, 2, 3)),
                static_order=tuple(order) if policy == "STATIC_ORDER" else (),
            )
        )
    least = least_capacities(topology, [set(firings.tolist()) for firings in problem.trace.firings])
    slack = rng.choice((0, 1, 3, 8, 1000, 1000))
    if shape.flowing:
        least, slack = tuple(max(n) for n in zip(least, needs, strict=True)), slack % 1000
    return DesignPoint(
        partitions=tuple(partitions),
        capacities=tuple(max(1, n) + rng.randint(0, slack) for n in least),
        release=rng.choice(("reading", "processing")),
        transfers=rng.choice(("sequential", "parallel")),
    )
