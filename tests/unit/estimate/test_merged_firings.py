"""What one core fires in a row as one firing: a trace that every mapping completes, with the costs of the whole one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.merged_firings import can_merge, merged_firings
from dse.estimate.reference.engine import ReferenceEngine
from dse.model.design_point import DesignPoint, Partition
from dse.model.problem import Problem
from dse.model.trace import tokens_of_buffers
from tests.examples import examples
from tests.unit.estimate.networks import CPU, network
from tests.unit.explore.random_problems import problem_of

CAPACITY = 6


def plain(seed: int, firings: int) -> Problem:
    """A random tree on CPUs, without blocks."""
    problem = problem_of(seed, clock=None, given_host=True, n_actors=5, n_firings=firings)
    return replace(problem, platform=CPU, weights=replace(problem.weights, simd={}))


def one_core(problem: Problem) -> DesignPoint:
    topology = problem.trace.topology
    everybody = Partition(name="p", actors=tuple(range(len(topology.actors))), unit="cpu")
    return DesignPoint(partitions=(everybody,), capacities=(CAPACITY,) * len(topology.buffers))


def merged(problem: Problem, *, longest: int = 10**9, most: int = 10**9) -> Problem | None:
    times = ReferenceEngine(problem).estimate(one_core(problem), firing_times=True).firing_times
    assert times is not None
    return merged_firings(build_tables(problem), times, longest=longest, most=most)


def spread(problem: Problem, owners: list[int]) -> DesignPoint:
    parts = [tuple(a for a, owner in enumerate(owners) if owner == p) for p in sorted(set(owners))]
    partitions = tuple(Partition(name=f"p{i}", actors=actors, unit="cpu") for i, actors in enumerate(parts))
    return replace(one_core(problem), partitions=partitions)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_every_mapping_completes_with_as_many_tokens(seed: int, firings: int, owners: list[int]) -> None:
    problem = plain(seed, firings)
    short = merged(problem)
    assert short is not None
    assert short.trace.n_firings <= problem.trace.n_firings
    assert tokens_of_buffers(short.trace) == tokens_of_buffers(problem.trace)
    for point in (one_core(problem), spread(problem, owners)):
        estimate = CompiledEngine(short).estimate(point)
        assert estimate.deadlock is None
        assert estimate.makespan == ReferenceEngine(short).estimate(point).makespan


def test_work_on_one_core_is_that_of_the_whole_trace() -> None:
    problem = plain(3, 60)
    problem = replace(problem, weights=replace(problem.weights, has_scheduling=False, scheduling={}))
    short = merged(problem)
    assert short is not None
    whole, point = CompiledEngine(problem).estimate(one_core(problem)), one_core(problem)
    assert short.trace.n_firings < problem.trace.n_firings / 3
    assert CompiledEngine(short).estimate(point).makespan == pytest.approx(whole.makespan, rel=1e-3)


def test_pieces_are_no_longer_than_asked_and_too_many_are_refused() -> None:
    problem = plain(3, 60)
    coarse, fine = merged(problem), merged(problem, longest=50)
    assert coarse is not None
    assert fine is not None
    assert coarse.trace.n_firings < fine.trace.n_firings <= problem.trace.n_firings
    assert merged(problem, most=coarse.trace.n_firings) is not None
    assert merged(problem, most=coarse.trace.n_firings - 1) is None


def test_an_actor_that_reads_what_it_wrote_fires_as_before() -> None:
    trace = network([("a.o", "a"), ("a.p", "b")], {"a": "xxxxxx", "b": "xxxxxx", "c": ""}, initial={("a.o", "a"): 1})
    problem = Problem(trace=trace, weights=plain(1, 1).weights, platform=CPU, missing_weights="zero")
    times = ReferenceEngine(problem).estimate(one_core(problem), firing_times=True).firing_times
    assert times is not None
    made = [replace(of, start=np.arange(len(of.start)), end=np.arange(len(of.start)) + 1) for of in times]
    short = merged_firings(build_tables(problem), made, longest=100, most=100)
    assert short is not None
    assert [len(firings) for firings in short.trace.firings] == [6, 1, 0]


def test_a_gpu_cannot_be_merged() -> None:
    assert not can_merge(problem_of(1, clock=None, given_host=True))
    assert can_merge(plain(1, 5))
