"""Firings that compute longer or shorter than their actions say, with a pencil, for every engine."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.base.errors import FormatError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.model.estimate import Estimate
from dse.model.platform import Platform
from dse.model.problem import Problem
from tests.unit.estimate.networks import CPU, alone, heterogeneous, network, point, problem, weights

PAIR = network([("s.o", "k")], {"s": "xxx", "k": "xyx"})
NONE = np.zeros(0, dtype=np.int64)


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def deviating(*of_actors: list[int], platform: Platform = CPU, simd: int = 0) -> Problem:
    """Firings of ``s`` take 100 and of ``k`` 10 on a CPU, nothing else costs anything."""
    blocks = {("k", "x"): [10] * simd} if simd else None
    plain = problem(PAIR, weights(PAIR, {"s": 100, "k": 10}, simd=blocks), platform)
    return replace(plain, deviations=tuple(np.array(of_actor, dtype=np.int64) for of_actor in of_actors))


def estimated(engine: str, of: Problem, *, release: str = "reading") -> Estimate:
    chosen = replace(point(PAIR, *alone(PAIR)), release=release)
    return make_engine(engine, of).estimate(chosen, firing_times=True)


def spans(estimate: Estimate, actor: int) -> list[tuple[int, int]]:
    assert estimate.firing_times is not None
    times = estimate.firing_times[actor]
    return list(zip(times.start.tolist(), times.end.tolist(), strict=True))


@pytest.mark.parametrize("release", ["reading", "processing"])
def test_each_firing_takes_its_own_time(engine: str, release: str) -> None:
    found = estimated(engine, deviating([5, -40, 0], [0, 1, 190]), release=release)
    assert spans(found, 0) == [(0, 105), (105, 165), (165, 265)]
    assert spans(found, 1) == [(105, 115), (165, 176), (265, 465)]
    assert found.makespan == 465
    assert [account.processing for account in found.actors] == [265, 221]


def test_an_actor_without_its_own_costs_takes_those_of_its_actions(engine: str) -> None:
    found = estimated(engine, deviating([50, 50, 50], []))
    assert spans(found, 1) == [(150, 160), (300, 310), (450, 460)]


def test_no_computation_is_shorter_than_nothing(engine: str) -> None:
    assert spans(estimated(engine, deviating([-100, -101, -(10**12)], [])), 0) == [(0, 0)] * 3


def test_a_gpu_knows_nothing_of_them(engine: str) -> None:
    platform = heterogeneous()
    table = weights(PAIR, {"s": 100, "k": 10})
    of = replace(problem(PAIR, table, platform), deviations=(np.array([5, 5, 5]), np.array([7, 7, 7])))
    mapped = point(PAIR, *alone(PAIR, k="gpu"))
    found = make_engine(engine, of).estimate(mapped, firing_times=True)
    assert [account.processing for account in found.actors] == [315, 30]


def test_blocks_have_costs_of_their_own(engine: str) -> None:
    found = estimated(engine, deviating([], [100, 3, 100], simd=2))
    assert [account.processing for account in found.actors] == [300, 33]


@pytest.mark.parametrize("engine_name", ENGINES.names())
def test_what_does_not_fit_the_trace_is_refused(engine_name: str) -> None:
    with pytest.raises(FormatError, match="actor 'k' has costs of 2 single firings, but 3 firings"):
        make_engine(engine_name, deviating([], [1, 2]))
    with pytest.raises(FormatError, match="for 1 actors, but the trace has 2"):
        make_engine(engine_name, deviating([1, 2, 3]))
    plain = deviating([1, 2, 3], [])
    compute = {key: replace(cost, frequency_mhz=Fraction(1000)) for key, cost in plain.weights.compute.items()}
    clocked = replace(plain, weights=replace(plain.weights, compute=compute), clocks=(("cpu", Fraction(900)),))
    with pytest.raises(FormatError, match="clocks are chosen, but firings have costs of their own"):
        make_engine(engine_name, clocked)


def test_sums_that_no_engine_can_count_are_refused() -> None:
    n = 5_000
    trace = network([("s.o", "k")], {"s": "x" * n, "k": "x" * n})
    plain = problem(trace, weights(trace, {"s": 100, "k": 10}), CPU)
    with pytest.raises(FormatError, match=r"add up to 5e\+18"):
        build_tables(replace(plain, deviations=(np.full(n, 10**15), NONE)))


def test_bounds_refuse_what_they_do_not_know() -> None:
    with pytest.raises(FormatError, match="bounds only know those of actions"):
        Bounds(build_tables(deviating([1, 2, 3], [])))
