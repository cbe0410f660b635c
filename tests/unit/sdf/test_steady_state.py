"""The steady state of a simulated run: the least period, where each actor has a core of its own."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings

from dse.estimate.engine import make_engine
from dse.estimate.steady import Steady, steady_state
from dse.formats.platform_yaml import load_platform
from dse.model.dataflow_graph import ProcessorTime
from dse.model.design_point import DesignPoint, Partition
from dse.model.problem import Problem
from dse.model.weights import ComputeKey, Cost, WeightTable
from dse.sdf.balance import repetition_vector
from dse.sdf.throughput.periodic import least_period
from dse.sdf.throughput.timed_graph import timed_graph
from dse.sdf.unfold import graph_trace, is_state, phases_of
from tests.examples import examples
from tests.unit.sdf.graphs import Sized, sized_graphs

_ITERATIONS = 60
_MANY = 2000
"""Tokens that lie in a FIFO at the start can hide for long that who reads them is the faster one."""


def problem_of(made: Sized, firings: tuple[int, ...], iterations: int = _ITERATIONS) -> Problem:
    """Return the problem of some iterations of a graph; times are in halves of a cycle, so that they are whole."""
    timed = [
        replace(actor, times=(ProcessorTime(processor="p", times=times, default=True),))
        for actor, times in zip(made.graph.actors, made.times, strict=True)
    ]
    graph = replace(made.graph, actors=tuple(timed))
    compute: dict[ComputeKey, Cost] = {}
    for actor, times in zip(graph.actors, made.times, strict=True):
        phases = phases_of(actor)
        for name, k in zip(phases.names, phases.first, strict=True):
            compute[actor.name, name, "cpu"] = Cost(mean_cycles=2 * times[k], frequency_mhz=None, origin="unknown")
    weights = WeightTable(name="g", compute=compute, has_scheduling=False, has_transfers=False)
    trace = graph_trace(graph, firings, iterations)
    return Problem(trace=trace, weights=weights, platform=load_platform("default"))


def steady_of(problem: Problem, point: DesignPoint, firings: tuple[int, ...]) -> Steady | None:
    """Return the steady state that is seen in an estimate."""
    times_of = make_engine("compiled", problem).estimate(point, firing_times=True).firing_times
    assert times_of is not None
    return steady_state([times.start for times in times_of], firings)


@given(made=sized_graphs())
@settings(max_examples=examples(60), deadline=None)
def test_a_core_for_each_actor_reaches_the_least_period(made: Sized) -> None:
    firings = repetition_vector(made.graph)
    flow = timed_graph(made.graph, firings, made.times, capacities=made.sizes, release=made.release)
    least = least_period(flow)
    assume(least.ticks)
    assert least.ticks is not None
    point = DesignPoint(
        partitions=tuple(Partition(name=f"P{a}", actors=(a,), unit="cpu") for a in range(len(firings))),
        capacities=tuple(
            size or 1
            for size, channel in zip(made.sizes, made.graph.channels, strict=True)
            if not is_state(made.graph, channel)
        ),
        release=made.release,
    )
    found = steady_of(problem_of(made, firings), point, firings)
    found = found or steady_of(problem_of(made, firings, _MANY), point, firings)
    assert found is not None
    assert found.period == 2 * least.ticks / flow.ticks_per_unit


def test_what_repeats_is_the_least_number_of_iterations() -> None:
    """Starts 0, 1, 10, 11, 20, ...: every second iteration begins 10 ticks later."""
    starts = np.array([10 * (i // 2) + i % 2 for i in range(40)], dtype=np.int64)
    assert steady_state([starts], (1,)) == Steady(ticks=10, iterations=2)
    assert Steady(ticks=10, iterations=2).period == Fraction(5)


def test_a_run_that_is_too_short_or_slows_down_has_no_steady_state() -> None:
    assert steady_state([np.arange(2, dtype=np.int64)], (1,)) is None
    assert steady_state([np.arange(30, dtype=np.int64) ** 2], (1,)) is None


def test_what_happens_when_an_actor_is_done_does_not_count() -> None:
    """The second actor falls behind: 30 firings 2 apart beside 10 apart; it repeats nothing while the first lives."""
    quick, slow = 2 * np.arange(30, dtype=np.int64), 10 * np.arange(30, dtype=np.int64)
    assert steady_state([quick, slow], (1, 1)) is None
