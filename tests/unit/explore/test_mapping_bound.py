"""The bound of a mapping never exceeds what the reference engine estimates, and is met where load alone counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.estimate.engine import make_engine
from dse.estimate.tables import build_tables
from dse.explore.mapping_bound import MappingBound
from dse.explore.space import Candidate, SpaceOptions, build_space
from dse.model.design_point import POLICIES
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, SimdCost, WeightTable

BOX = Platform(
    name="box",
    units=(Unit(name="cpu", kind="cpu", cores=3), Unit(name="gpu", kind="gpu", partition="PG")),
    links=(Link(name="bus", between=("cpu", "gpu"), latency_ns=Fraction(3), bandwidth_gb_s=Fraction(1), shared=True),),
)


def problem_of(seed: int, *, clock: int | None, given_host: bool) -> Problem:
    """A chain with a broadcast, random rates that balance, and random weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    firings = int(rng.integers(1, 12))
    actors, buffers = [], []
    for a in range(n):
        inputs = () if a == 0 else ("i",)
        outputs = () if a == n - 1 else ("o",)
        actions = tuple(TraceAction(name=f"x{k}", reads=(1,) * len(inputs), writes=(1,) * len(outputs)) for k in (0, 1))
        actors.append(TraceActor(name=f"a{a}", class_name="A", inputs=inputs, outputs=outputs, actions=actions))
    for a in range(1, n):
        source = int(rng.integers(0, a))
        ends = {"source": source, "source_port": 0, "target": a, "target_port": 0}
        buffers.append(TraceBuffer(**ends, token_bytes=4, token_bits=32))
    topology = Topology(name="tree", actors=tuple(actors), buffers=tuple(buffers))
    trace = make_trace(topology, [rng.integers(0, 2, firings) for _ in actors])
    frequency = None if clock is None else Fraction(clock)

    def cost(per_token: int = 0) -> Cost:
        cycles, token = Fraction(int(rng.integers(0, 90))), Fraction(int(rng.integers(0, 1 + per_token)))
        return Cost(mean_cycles=cycles, per_token_cycles=token, frequency_mhz=frequency)

    table = WeightTable(name="w")
    for actor in actors:
        for kind in ("cpu", "gpu"):
            for x in ("x0", "x1"):
                table.compute[actor.name, x, kind] = cost()
                for q in ("", "x0", "x1"):
                    table.scheduling[actor.name, q, x, kind] = cost()
    for b in buffers:
        ends = (actors[b.source].name, "o", actors[b.target].name, "i")
        for fifo, kind in (("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu")):
            for side in ("read", "write"):
                if fifo != "host" or given_host or clock is None:
                    table.transfers[*ends, fifo, kind, side] = cost(3)
    if rng.integers(0, 2):
        blocks = tuple(Fraction(30 + 7 * k) for k in range(4))
        table.simd["a1", "x0", "gpu"] = SimdCost(block_cycles=blocks, frequency_mhz=frequency)
    return Problem(trace=trace, weights=table, platform=BOX)


@given(
    seed=st.integers(0, 10_000), clock=st.sampled_from([None, 500]), given_host=st.booleans(),
    policy=st.sampled_from(POLICIES[:4]), transfers=st.sampled_from(["sequential", "parallel"]),
    release=st.sampled_from(["reading", "processing"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_no_mapping_beats_its_bound(seed, clock, given_host, policy, transfers, release) -> None:  # type: ignore[no-untyped-def]
    problem = problem_of(seed, clock=clock, given_host=given_host)
    topology = problem.trace.topology
    options = SpaceOptions(
        policies=(policy,), capacities=((20,) * len(topology.buffers),), transfers=transfers, release=release
    )
    space = build_space(topology, BOX, options)
    bound = MappingBound(build_tables(problem))
    engine = make_engine("reference", problem)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        point = space.to_point(Candidate(assignment=space.random_assignment(rng)))
        estimate = engine.estimate(point)
        assert estimate.deadlock is None
        assert bound.of(point) <= estimate.makespan


def test_one_partition_without_scheduling_choices_meets_its_bound() -> None:
    problem = problem_of(3, clock=None, given_host=True)
    for key in problem.weights.scheduling:
        problem.weights.scheduling[key] = Cost(mean_cycles=Fraction(5))
    topology = problem.trace.topology
    space = build_space(topology, BOX, SpaceOptions(capacities=((20,) * len(topology.buffers),)))
    point = space.one_core()
    assert point is not None
    makespan = make_engine("reference", problem).estimate(point).makespan
    assert MappingBound(build_tables(problem)).of(point) == makespan > 0


@pytest.mark.parametrize("seed", range(3))
def test_crossing_the_link_is_in_the_bound(seed: int) -> None:
    problem = problem_of(seed, clock=500, given_host=False)
    topology = problem.trace.topology
    space = build_space(topology, BOX, SpaceOptions(capacities=((20,) * len(topology.buffers),)))
    last = len(topology.actors) - 1
    bound = MappingBound(build_tables(problem))
    on_gpu = space.to_point(Candidate(assignment=(*(0,) * last, 3)))
    loads = bound.actor_loads[1][last]
    assert bound.of(on_gpu) >= loads + len(problem.trace.firings[last]) * 3_000  # at least the latency, in ps
