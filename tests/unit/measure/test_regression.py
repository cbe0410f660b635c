"""Splitting of durations, on synthetic visits whose costs are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.measure.regression import non_negative, separable_columns, split_durations
from tests.examples import examples


def visits(rng: np.random.Generator, n: int, actions: int) -> np.ndarray:
    """Return one column of ones and random counts of each action."""
    return np.column_stack([np.ones(n), rng.integers(0, 60, (n, actions))]).astype(np.int64)


def test_costs_are_recovered() -> None:
    rng = np.random.default_rng(3)
    true = np.array([120.0, 9.0, 41.0, 400.0])
    counts = visits(rng, 20_000, 3)
    firings = counts[:, 1:].sum(axis=1)
    durations = counts @ true + rng.normal(0.0, 3.0, len(counts)) * np.sqrt(firings + 1)
    split = split_durations(durations, counts, optional=(0,))
    assert split.costs == pytest.approx(true, rel=0.02)
    assert split.shared == ()
    assert split.contained == ()


def test_interruptions_do_not_move_the_costs() -> None:
    rng = np.random.default_rng(4)
    true = np.array([80.0, 12.0, 30.0])
    counts = visits(rng, 5_000, 2)
    durations = counts @ true + rng.normal(0.0, 4.0, len(counts)) * np.sqrt(counts.sum(axis=1))
    durations[::500] += 1e6
    split = split_durations(durations, counts, optional=(0,))
    assert split.costs == pytest.approx(true, rel=0.05)
    assert not split.kept[::500].any()
    assert split.kept.sum() >= 4_980
    unfiltered = split_durations(durations, counts, optional=(0,), filtered=False)
    assert unfiltered.kept.all()
    assert unfiltered.predicted.sum() > 1.02 * split.predicted.sum()


def once(rows: int, interrupted: float) -> tuple[np.ndarray, np.ndarray]:
    """Return visits of which the first has the only firing of an action, and of which some were interrupted."""
    counts = np.column_stack([np.ones(rows), 20 + np.arange(rows) % 9, np.zeros(rows)])
    counts[0, 2] = 1
    durations = counts @ np.array([80.0, 12.0, 700.0])
    durations[5::17] += interrupted
    return durations, counts


@pytest.mark.parametrize("interrupted", [0.0, 4.0, 300.0, 1e6])
def test_an_action_that_fired_once_keeps_its_cost_whatever_is_left_out(interrupted: float) -> None:
    durations, counts = once(200, interrupted)
    split = split_durations(durations, counts, optional=(0,))
    assert split.kept[0]
    assert split.costs[2] == pytest.approx(700.0)
    assert not interrupted or split.kept.sum() < 200


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(40))
def test_every_column_that_occurs_has_a_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 60))
    rare = (rng.random((rows, 3)) < 1.5 / rows).astype(float)
    counts = np.column_stack([np.ones(rows), rng.integers(0, 9, rows), rare])
    durations = counts @ rng.uniform(0, 900, counts.shape[1]) + 1e4 * (rng.random(rows) < 0.2)
    split = split_durations(durations, counts, optional=(0,))
    assert (np.isnan(split.costs) == (counts == 0).all(axis=0)).all()


def test_actions_that_alternate_share_one_value_and_are_listed() -> None:
    rng = np.random.default_rng(5)
    pairs = rng.integers(1, 40, 3_000)
    other = rng.integers(0, 40, 3_000)
    counts = np.column_stack([np.ones(3_000), pairs, other, pairs])
    durations = counts @ np.array([50.0, 10.0, 7.0, 30.0]) + rng.normal(0.0, 5.0, 3_000)
    split = split_durations(durations, counts, optional=(0,))
    assert split.shared == ((1, 3),)
    assert split.costs == pytest.approx([50.0, 20.0, 7.0, 20.0], rel=0.05)


def test_a_constant_that_cannot_be_told_apart_is_contained() -> None:
    rng = np.random.default_rng(6)
    counts = np.column_stack([np.ones(500), np.full(500, 64.0)])
    split = split_durations(100.0 + 64 * 5.0 + rng.normal(0.0, 1.0, 500), counts, optional=(0,))
    assert split.contained == (0,)
    assert split.costs == pytest.approx([0.0, 420 / 64], rel=0.01)


def test_three_columns_of_which_two_make_the_third() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.integers(1, 50, (2, 400)).astype(float)
    counts = np.column_stack([a, b, a + b])
    split = split_durations(counts @ np.array([3.0, 5.0, 2.0]), counts)
    assert len(split.shared) == 1
    assert split.predicted == pytest.approx(counts @ np.array([3.0, 5.0, 2.0]), rel=0.1)


def test_a_column_that_is_the_sum_of_many_others_shares_a_value_with_one() -> None:
    counts = np.column_stack([np.ones(103), np.eye(103)])
    split = split_durations(np.full(103, 40.0), counts, filtered=False)
    assert counts @ split.costs == pytest.approx(np.full(103, 40.0))
    (group,) = split.shared
    assert 0 in group


@pytest.mark.parametrize("columns", [2, 13, 14, 24, 40])
def test_any_number_of_equal_columns_share_one_value(columns: int) -> None:
    counts = np.outer(np.arange(1, 7), np.ones(columns))
    split = split_durations(counts.sum(axis=1) * 3.0, counts)
    assert split.shared == (tuple(range(columns)),)
    assert split.costs == pytest.approx(np.full(columns, 3.0))


def test_a_column_that_never_occurs_has_no_cost() -> None:
    counts = np.column_stack([np.arange(1, 30), np.zeros(29)])
    split = split_durations(7.0 * np.arange(1, 30), counts)
    assert split.costs[0] == pytest.approx(7.0)
    assert np.isnan(split.costs[1])


def test_costs_are_not_negative() -> None:
    counts = np.column_stack([np.ones(50), np.arange(50)])
    split = split_durations(10.0 * np.arange(50) - 100.0 + 100.0 * (np.arange(50) == 0), counts)
    assert (split.costs >= 0).all()


def test_separable_columns_of_an_orthogonal_gram() -> None:
    assert separable_columns(np.diag([1.0, 4.0, 9.0])) == ([(0,), (1,), (2,)], ())


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_non_negative_is_a_minimum(columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(columns + 4, columns)), rng.normal(size=columns + 4)
    gram, moment = a.T @ a, a.T @ b
    x = non_negative(gram, moment)
    gradient = gram @ x - moment
    assert (x >= 0).all()
    assert (gradient >= -1e-6).all()  # no column that is out would help
    assert float(np.abs(gradient * x).max()) < 1e-6  # those that are in are at their least
