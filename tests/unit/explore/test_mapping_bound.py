"""The bound of a mapping never exceeds what the reference engine estimates, and is met where load alone counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.mapping_bound import MappingBound
from dse.explore.space.build import build_space
from dse.explore.space.space import Candidate, SpaceOptions
from dse.model.design_point import POLICIES
from dse.model.weights import Cost
from tests.examples import examples
from tests.unit.explore.random_problems import BOX, problem_of


@given(
    seed=st.integers(0, 10_000), clock=st.sampled_from([None, 500]), given_host=st.booleans(),
    policy=st.sampled_from(POLICIES[:4]), transfers=st.sampled_from(["sequential", "parallel"]),
    release=st.sampled_from(["reading", "processing"]),
)  # fmt: skip
@settings(max_examples=examples(60), deadline=None)
def test_no_mapping_beats_its_bound(seed, clock, given_host, policy, transfers, release) -> None:  # type: ignore[no-untyped-def]
    problem = problem_of(seed, clock=clock, given_host=given_host)
    topology = problem.trace.topology
    options = SpaceOptions(
        policies=(policy,), capacities=((20,) * len(topology.buffers),), transfers=transfers, release=release
    )
    space = build_space(topology, BOX, options)
    bound = MappingBound(build_tables(problem), space)
    engine = make_engine("reference", problem)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        candidate = Candidate(assignment=space.random_assignment(rng))
        estimate = engine.estimate(space.to_point(candidate))
        assert estimate.deadlock is None
        assert bound.of([candidate])[0] <= estimate.makespan


def test_one_partition_without_scheduling_choices_meets_its_bound() -> None:
    problem = problem_of(3, clock=None, given_host=True)
    for key in problem.weights.scheduling:
        problem.weights.scheduling[key] = Cost(mean_cycles=Fraction(5))
    topology = problem.trace.topology
    space = build_space(topology, BOX, SpaceOptions(capacities=((20,) * len(topology.buffers),)))
    point = space.one_core()
    assert point is not None
    makespan = make_engine("reference", problem).estimate(point).makespan
    candidate = Candidate(assignment=(0,) * len(topology.actors))
    assert MappingBound(build_tables(problem), space).of([candidate]) == [makespan]
    assert makespan > 0


@pytest.mark.parametrize("seed", range(3))
def test_crossing_the_link_is_in_the_bound(seed: int) -> None:
    problem = problem_of(seed, clock=500, given_host=False)
    topology = problem.trace.topology
    space = build_space(topology, BOX, SpaceOptions(capacities=((20,) * len(topology.buffers),)))
    last = len(topology.actors) - 1
    bound = MappingBound(build_tables(problem), space)
    on_gpu = Candidate(assignment=(*(0,) * last, 3))
    loads = bound.unit_loads[last][1]
    assert bound.of([on_gpu])[0] >= loads + len(problem.trace.firings[last]) * 3_000  # at least the latency, in ps


def test_bounds_of_many_are_those_of_one() -> None:
    problem = problem_of(4, clock=500, given_host=False)
    topology = problem.trace.topology
    policies = ("NON_PREEMPTIVE", "FULL_PARALLEL")
    space = build_space(topology, BOX, SpaceOptions(policies=policies, capacities=((20,) * len(topology.buffers),)))
    bound = MappingBound(build_tables(problem), space)
    candidates = list(space.candidates())
    assert bound.of(candidates) == [bound.of([c])[0] for c in candidates]
    assert bound.of([]) == []
