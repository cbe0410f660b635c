"""Estimates that nobody waits for any more end soon, in both engines, and later ones are as ever."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from dse.base.time_limit import TimeLimit, TimeSpent
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.stopping import EstimateStopped
from dse.explore.distribution.workers import ThreadEstimator
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from tests.unit.estimate.networks import alone, network, point, problem, weights

FIRINGS = {"compiled": 15_000_000, "reference": 400_000}
"""Of each of two actors: many seconds of estimation, by far more than the tests wait for."""
PATIENCE = 60.0


def pair(firings: int, ticks: int = 3) -> tuple[Problem, DesignPoint]:
    """A writer and a reader that wait for each other."""
    short = network([("s.a", "k")], {"s": "x", "k": "x"})
    trace = replace(short, firings=(np.zeros(firings, dtype=np.uint16),) * 2)
    given = problem(trace, weights(short, {"s": ticks, "k": ticks}))
    return given, point(trace, *alone(trace), capacity=2)


@pytest.mark.parametrize("name", ENGINES.names())
@pytest.mark.parametrize("ticks", [3, 0])  # of no length: all of it is one instant
def test_an_estimate_in_another_thread_is_stopped(name: str, ticks: int) -> None:
    given, design = pair(FIRINGS[name], ticks)
    engine = make_engine(name, given)
    raised: list[EstimateStopped] = []

    def estimating() -> None:
        try:
            engine.estimates([design, design])
        except EstimateStopped as stopped:
            raised.append(stopped)

    thread = threading.Thread(target=estimating)
    thread.start()
    until = time.monotonic() + PATIENCE
    while thread.is_alive() and time.monotonic() < until:
        engine.stop()
        thread.join(0.05)
    assert not thread.is_alive()
    assert len(raised) == 1


@pytest.mark.parametrize("name", ENGINES.names())
def test_an_estimate_is_ended_by_a_limit_of_time_and_later_ones_are_as_ever(name: str) -> None:
    small, small_point = pair(50)
    expected = make_engine(name, small).estimate(small_point)
    engine = make_engine(name, pair(FIRINGS[name])[0])
    begin = time.perf_counter()
    with pytest.raises(TimeSpent), TimeLimit(0.1).enforced():
        engine.estimate(pair(FIRINGS[name])[1])
    assert time.perf_counter() - begin < PATIENCE
    fresh = make_engine(name, small)
    fresh.stop()  # nothing is under way
    assert fresh.estimate(small_point) == expected
    assert fresh.estimates([small_point]) == [expected]


@pytest.mark.parametrize("workers", [1, 2])
def test_threads_are_closed_while_they_estimate(workers: int) -> None:
    given, design = pair(FIRINGS["compiled"])
    estimator = ThreadEstimator(make_engine("compiled", given), workers, FIRINGS["compiled"])
    begin, threads = time.perf_counter(), threading.active_count()
    with pytest.raises(TimeSpent), TimeLimit(0.1).enforced():
        list(estimator([replace(design, capacities=(n,)) for n in (2, 3, 4)], None))
    estimator.close()
    assert time.perf_counter() - begin < PATIENCE
    assert threading.active_count() <= threads
