"""Rankings under drawn weights, where probabilities are known."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.analyse.cost_errors import CostErrors, cost_errors
from dse.analyse.uncertainty import (
    DrawOptions,
    Draws,
    drawn_makespans,
    ranked_rows,
    robust_ranking,
)
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from dse.model.uncertainty import StatedError
from dse.model.weights import Arrival, Cost, Visits
from tests.unit.estimate.networks import network, partition, point, problem, weights

APART = network([], {"a": "xxxx", "b": "yyyy", "c": "zzzz"})
"""Three actors that have nothing to do with each other."""
PREDICTED = StatedError(origin="measured", own=0.1)


def three(a: int, b: int, c: int) -> Problem:
    """Actors whose four firings take so many microseconds each."""
    table = weights(APART, {"a": a, "b": b, "c": c})
    clocked = {key: replace(cost, frequency_mhz=Fraction(1)) for key, cost in table.compute.items()}
    return problem(APART, replace(table, compute=clocked))


def without_means(of: Problem) -> CostErrors:
    """Return errors of no weight: only the firings' own costs are drawn."""
    return cost_errors(build_tables(of), [StatedError(origin="measured", own=0)])


def beside(first: str, second: str) -> DesignPoint:
    return point(APART, partition(APART, first), partition(APART, second))


def makespans(of: Problem, points: list[DesignPoint], errors: CostErrors, options: DrawOptions) -> np.ndarray:  # type: ignore[type-arg]
    return drawn_makespans(make_engine("compiled", of), build_tables(of), points, errors, options)


def test_errors_come_from_samples_or_are_stated() -> None:
    of = three(100, 100, 100)
    costs: dict[str, Cost] = {
        "a": Cost(mean_cycles=Fraction(100), variance_cycles2=Fraction(400), count=16),
        "b": Cost(mean_cycles=Fraction(100), variance_cycles2=Fraction(400), count=16, origin="predicted"),
        "c": Cost(mean_cycles=Fraction(100), origin="nominal"),
    }
    given = {key: replace(costs[key[0]], frequency_mhz=Fraction(1)) for key in of.weights.compute}
    tables = build_tables(replace(of, weights=replace(of.weights, compute=given)))
    found = cost_errors(tables, [])
    assert found.own.tolist() == [0.05, 0.2, 0.0]  # of a mean of 16 samples; of a prediction; of what nobody knows
    assert found.places.compute.tolist() == [[0, 1, 2], [-1, -1, -1]]  # no weights for a GPU that is not there
    assert "1 nominal costs of computing on the cpu: no error is known, they are not drawn" in found.sources
    stated = cost_errors(tables, [StatedError(origin="predicted", own=0.3, common=0.4)])
    assert stated.own.tolist() == [0.05, 0.3, 0.0]
    assert stated.group.tolist() == [-1, 0, -1]
    assert stated.common.tolist() == [0.4]


def test_what_is_not_drawn_is_said() -> None:
    of = three(100, 100, 100)
    alone = Arrival(cycles=Fraction(9), frequency_mhz=Fraction(1))
    found = []
    for arrival in (None, alone, replace(alone, visits=Visits())):
        tables = build_tables(replace(of, weights=replace(of.weights, arrival=arrival)))
        found.append([source for source in cost_errors(tables, []).sources if source.endswith("is not drawn")])
    travel = "the time that tokens take to another core is not drawn"
    assert found == [[], [travel], [travel, "what visits of a scheduler cost where tokens arrive is not drawn"]]


def test_means_and_spreads_are_those_asked_for() -> None:
    of = three(100, 1, 1)
    errors = cost_errors(build_tables(of), [PREDICTED])
    found = makespans(of, [beside("a", "b c")], errors, DrawOptions(draws=4000))[:, 0] / 400e6
    assert found.mean() == pytest.approx(1, abs=0.005)  # one action is drawn once a run: it does not average out
    assert found.std() == pytest.approx(0.1, rel=0.05)
    assert found.min() > 0


def test_scheduling_and_transfers_are_drawn_each_weight_once_a_run() -> None:
    chain = network([("a.o", "b")], {"a": "xyxy", "b": "zzzz"})
    given = {("a", "", "x"): 1000, ("a", "", "y"): 100, ("a", "x", "y"): 500, ("b", "", "z"): 10}
    table = weights(chain, {"a": 1, "b": 1}, read=300, write=20, scheduling=given)
    known = {  # one pair, and the writes
        key: replace(cost, origin="predicted", variance_cycles2=Fraction(2500)) if key[1] == "x" else cost
        for key, cost in table.scheduling.items()
    }
    writes = {k: replace(c, origin="nominal") if k[-1] == "write" else c for k, c in table.transfers.items()}
    of = problem(chain, replace(table, scheduling=known, transfers=writes))
    tables = build_tables(of)
    errors = cost_errors(tables, [StatedError(origin="nominal", own=0.2)])
    after = errors.places.pair_scheduling[0].reshape(-1)[:4]  # xx, xy, yx, yy
    first = errors.places.first_scheduling[0]
    assert after[2] == first[0] != after[1]  # x after y is not given: it is drawn as x after none
    assert (after[0], after[3]) == (-1, -1)  # never happen
    assert errors.own[after[1]] == 0.1
    assert errors.own[first].tolist() == [0, 0, 0]
    assert set(errors.own[errors.places.writes[errors.places.writes >= 0]]) == {0.2}
    assert not errors.drawn_at(errors.places.reads)
    assert any(
        text.startswith("1 predicted costs of scheduling on the cpu: errors of their") for text in errors.sources
    )
    found = makespans(of, [point(chain, partition(chain, "a"), partition(chain, "b"))], errors, DrawOptions(draws=4000))
    assert found[:, 0].var() == pytest.approx((2 * 50) ** 2 + (4 * 4) ** 2, rel=0.1)  # two firings of y, four writes


def test_equal_mappings_are_ties_and_unequal_ones_are_told_apart() -> None:
    of = three(100, 100, 50)
    engine, tables = make_engine("compiled", of), build_tables(of)
    errors = cost_errors(tables, [PREDICTED])
    points = [beside("a b", "c"), beside("a c", "b"), beside("a", "b c")]
    robust = robust_ranking(engine, tables, points, [800, 600, 600], errors, DrawOptions(draws=2000))
    assert {row.index for row in robust.rows[:2]} == {1, 2}
    assert [row.tied for row in robust.rows] == [None, 0, None]
    assert sum(row.first for row in robust.rows) == pytest.approx(1)
    assert robust.rows[0].first == pytest.approx(0.5, abs=0.05)
    assert robust.rows[2].first < 0.01
    assert robust.rows[0].low < 600e6 < robust.rows[0].high
    assert 0 < robust.rows[0].regret < robust.rows[2].regret
    assert robust.unit == "ps"
    assert robust.rows[2].nominal == 800


def test_what_all_costs_have_in_common_changes_no_order() -> None:
    of = three(100, 90, 50)
    engine, tables = make_engine("compiled", of), build_tables(of)
    errors = cost_errors(tables, [StatedError(origin="measured", own=0, common=0.5)])
    robust = robust_ranking(
        engine, tables, [beside("a c", "b"), beside("a", "b c")], [600, 560], errors, DrawOptions(draws=300)
    )
    assert [row.first for row in robust.rows] == [1, 0]
    assert robust.rows[0].index == 1
    assert robust.rows[1].tied is None
    assert robust.rows[0].high > 1.5 * robust.rows[0].low


def test_draws_depend_on_the_seed_alone() -> None:
    of = three(100, 90, 50)
    errors = cost_errors(build_tables(of), [PREDICTED])
    points = [beside("a c", "b"), beside("a", "b c")]
    first = makespans(of, points, errors, DrawOptions(draws=200, seed=7))
    assert (first == makespans(of, points, errors, DrawOptions(draws=200, seed=7, workers=3))).all()
    assert (first[:100] == makespans(of, points, errors, DrawOptions(draws=100, seed=7))).all()
    assert (first[:, :1] == makespans(of, points[:1], errors, DrawOptions(draws=200, seed=7))).all()
    assert (first != makespans(of, points, errors, DrawOptions(draws=200, seed=8))).any()


def test_costs_of_single_firings_are_shuffled_and_keep_their_sum() -> None:
    deviations = tuple(np.array([50, -50, 20, -20]) * 1_000_000 for _ in range(3))
    of = replace(three(100, 90, 50), deviations=deviations)
    tables = build_tables(of)
    errors = without_means(of)
    assert errors.none
    draws = Draws(tables, errors, 1).sets(0, 20)
    assert len({tuple(costs.deviations.tolist()) for costs in draws}) > 5
    for costs in draws:
        assert (np.sort(costs.deviations.reshape(3, 4)) == np.sort(deviations[0])).all()
    found = makespans(of, [beside("a b", "c")], errors, DrawOptions(draws=20))
    assert set(found[:, 0].tolist()) == {760_000_000}
    chain = network([("a.o", "b")], {"a": "xxxx", "b": "yyyy"})
    pair = replace(
        problem(chain, weights(chain, {"a": 100, "b": 100})), deviations=tuple(d // 1_000_000 for d in deviations[:2])
    )
    waiting = point(chain, partition(chain, "a"), partition(chain, "b"))
    assert len(set(makespans(pair, [waiting], without_means(pair), DrawOptions(draws=20))[:, 0].tolist())) > 3
    kept = DrawOptions(draws=20, shuffled=False)
    assert len(set(makespans(pair, [waiting], without_means(pair), kept)[:, 0].tolist())) == 1


def test_a_quantile_ranks_what_is_safe_before_what_is_better_on_average() -> None:
    risky = np.array([80.0, 80, 80, 200])
    safe = np.array([112.0, 112, 112, 112])
    drawn = np.stack([safe, risky], axis=1)
    assert [row.index for row in ranked_rows(drawn, [112, 80], "mean")] == [1, 0]
    rows = ranked_rows(drawn, [112, 80], 0.95)
    assert [row.index for row in rows] == [0, 1]
    assert rows[0].value == 112
    assert rows[0].first == 0.25
    assert rows[0].regret == 24
    assert rows[1].tied == 0
