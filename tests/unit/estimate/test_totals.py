"""Costs whose sum would not fit 64 bits are refused before anything is simulated; below that nothing is."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import DseError, FormatError
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.ticks import MOST_TICKS
from dse.estimate.problem.totals import most_ticks_of_actions
from dse.model.trace import Trace
from dse.model.weights import WeightTable
from tests.property.estimation_cases import random_case
from tests.unit.estimate.networks import alone, heterogeneous, network, point, problem, weights

MANY = 5000


def chain(n: int) -> Trace:
    return network([("s.o", "t")], {"s": "x" * n, "t": "x" * n})


def estimate(engine: str, trace: Trace, table: WeightTable) -> int:
    return make_engine(engine, problem(trace, table)).estimate(point(trace, *alone(trace))).makespan


@pytest.mark.parametrize("engine", ENGINES.names())
def test_sums_of_allowed_costs_are_refused_before_they_wrap(engine: str) -> None:
    trace = chain(MANY)
    with pytest.raises(FormatError, match=r"add up to 1e\+19 ticks") as refused:
        estimate(engine, trace, weights(trace, {"s": MOST_TICKS, "t": MOST_TICKS}))
    assert f"{MANY:,} firings of s.x" in refused.value.diagnostics[0].expected


@pytest.mark.parametrize("engine", ENGINES.names())
def test_sums_just_below_are_estimated(engine: str) -> None:
    trace = chain(100)
    assert estimate(engine, trace, weights(trace, {"s": MOST_TICKS, "t": MOST_TICKS})) == 101 * MOST_TICKS


@pytest.mark.parametrize("part", ["read", "write", "scheduling", "simd"])
def test_every_kind_of_cost_counts(part: str) -> None:
    trace = chain(MANY)
    table = weights(
        trace,
        {"s": 1, "t": 1},
        read=MOST_TICKS if part == "read" else 0,
        write=MOST_TICKS if part == "write" else 0,
        scheduling={("s", "", "x"): 1, ("s", "x", "x"): MOST_TICKS, ("t", "", "x"): 1}
        if part == "scheduling"
        else None,
        simd={("s", "x"): [MOST_TICKS, MOST_TICKS]} if part == "simd" else None,
    )
    with pytest.raises(FormatError, match="ticks, more than"):
        estimate("compiled", trace, table)


def test_a_transfer_of_many_tokens_is_refused() -> None:
    trace = network([("s.o", "t")], {"s": "x", "t": "x"}, rates={("s.x", "out"): 100_000, ("t.x", "in"): 100_000})
    table = weights(trace, {"s": 1, "t": 1})
    dear = {key: replace(price, per_token_cycles=Fraction(MOST_TICKS)) for key, price in table.transfers.items()}
    wrong = WeightTable(name="wrong", compute=table.compute, transfers=dear, scheduling={}, simd={})
    with pytest.raises(FormatError, match="of 100000 tokens of buffer"):
        make_engine("compiled", problem(trace, wrong, heterogeneous()))


def test_no_run_takes_longer_than_all_costs_one_after_the_other() -> None:
    compared = 0
    for seed in range(60):
        case = random_case(random.Random(seed))
        try:
            makespan = make_engine("compiled", case.problem).estimate(case.point).makespan
        except DseError:
            continue
        compared += 1
        assert makespan <= most_ticks_of_actions(build_tables(case.problem)).sum(), f"seed {seed}"
    assert compared > 20
