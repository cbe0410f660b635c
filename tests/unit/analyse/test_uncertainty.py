"""Rankings under drawn weights, where probabilities are known."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.analyse.uncertainty import (
    ActionErrors,
    DrawOptions,
    Draws,
    action_errors,
    drawn_makespans,
    ranked_rows,
    robust_ranking,
    without_own_costs,
)
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from dse.model.uncertainty import StatedError
from dse.model.weights import Cost
from tests.unit.estimate.networks import network, partition, point, problem, weights

APART = network([], {"a": "xxxx", "b": "yyyy", "c": "zzzz"})
"""Three actors that have nothing to do with each other."""
PREDICTED = StatedError(origin="measured", own=0.1)


def three(a: int, b: int, c: int) -> Problem:
    """Actors whose four firings take so many microseconds each."""
    table = weights(APART, {"a": a, "b": b, "c": c})
    clocked = {key: replace(cost, frequency_mhz=Fraction(1)) for key, cost in table.compute.items()}
    return problem(APART, replace(table, compute=clocked))


def beside(first: str, second: str) -> DesignPoint:
    return point(APART, partition(APART, first), partition(APART, second))


def makespans(of: Problem, points: list[DesignPoint], errors: ActionErrors, options: DrawOptions) -> np.ndarray:  # type: ignore[type-arg]
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
    found = action_errors(tables, [])
    assert found.own[0].tolist() == [0.05, 0.2, 0.0]  # of a mean of 16 samples; of a prediction; of what nobody knows
    assert found.own[1].tolist() == [0.0, 0.0, 0.0]  # nothing is known on a GPU that is not there
    assert "1 nominal costs on the cpu: no error is known, they are not drawn" in found.sources
    stated = action_errors(tables, [StatedError(origin="predicted", own=0.3, common=0.4)])
    assert stated.own[0].tolist() == [0.05, 0.3, 0.0]
    assert stated.group[0].tolist() == [-1, 0, -1]
    assert stated.common.tolist() == [0.4]


def test_means_and_spreads_are_those_asked_for() -> None:
    of = three(100, 1, 1)
    errors = action_errors(build_tables(of), [PREDICTED])
    found = makespans(of, [beside("a", "b c")], errors, DrawOptions(draws=4000))[:, 0] / 400e6
    assert found.mean() == pytest.approx(1, abs=0.005)  # one action is drawn once a run: it does not average out
    assert found.std() == pytest.approx(0.1, rel=0.05)
    assert found.min() > 0


def test_equal_mappings_are_ties_and_unequal_ones_are_told_apart() -> None:
    of = three(100, 100, 50)
    engine, tables = make_engine("compiled", of), build_tables(of)
    errors = action_errors(tables, [PREDICTED])
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
    errors = action_errors(tables, [StatedError(origin="measured", own=0, common=0.5)])
    robust = robust_ranking(
        engine, tables, [beside("a c", "b"), beside("a", "b c")], [600, 560], errors, DrawOptions(draws=300)
    )
    assert [row.first for row in robust.rows] == [1, 0]
    assert robust.rows[0].index == 1
    assert robust.rows[1].tied is None
    assert robust.rows[0].high > 1.5 * robust.rows[0].low


def test_draws_depend_on_the_seed_alone() -> None:
    of = three(100, 90, 50)
    errors = action_errors(build_tables(of), [PREDICTED])
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
    errors = without_own_costs(action_errors(tables, [PREDICTED]))
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
    assert (
        len(
            set(
                makespans(
                    pair, [waiting], without_own_costs(action_errors(build_tables(pair), [])), DrawOptions(draws=20)
                )[:, 0].tolist()
            )
        )
        > 3
    )
    kept = DrawOptions(draws=20, shuffled=False)
    assert (
        len(
            set(
                makespans(pair, [waiting], without_own_costs(action_errors(build_tables(pair), [])), kept)[
                    :, 0
                ].tolist()
            )
        )
        == 1
    )


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
