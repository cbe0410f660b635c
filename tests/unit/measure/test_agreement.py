"""Figures of agreement, on small cases that can be worked out by hand."""

import itertools
import math

import numpy as np
import pytest

from dse.measure.agreement import (
    agreement,
    divergence_by_first,
    kendall,
    noise_floor,
    random_regret,
    ranks,
    regret,
    spearman,
    spread_of,
)


def test_ranks_share_the_mean_of_ties() -> None:
    assert ranks([10.0, 20.0, 20.0, 5.0]).tolist() == [2.0, 3.5, 3.5, 1.0]


def test_spearman_and_kendall_of_orders() -> None:
    up = [1.0, 2.0, 3.0, 4.0]
    assert spearman(up, [2.0, 4.0, 8.0, 16.0]) == pytest.approx(1.0)
    assert kendall(up, [9.0, 7.0, 2.0, 1.0]) == pytest.approx(-1.0)
    # one neighbouring pair of six exchanged
    assert kendall(up, [1.0, 3.0, 2.0, 4.0]) == pytest.approx(4 / 6)
    assert spearman(up, [1.0, 3.0, 2.0, 4.0]) == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_kendall_corrects_for_ties() -> None:
    # pairs: (0,1) tied in a; (0,2) and (1,2) agree: 2 / sqrt(2 * 3)
    assert kendall([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]) == pytest.approx(2 / math.sqrt(6))


def test_correlations_of_constants_are_no_numbers() -> None:
    assert math.isnan(spearman([1.0, 1.0], [1.0, 2.0]))
    assert math.isnan(kendall([1.0, 2.0], [3.0, 3.0]))


def test_kendall_equals_counting_pairs() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 6, 40).astype(float), rng.integers(0, 6, 40).astype(float)
    pairs = list(itertools.combinations(range(40), 2))
    score = sum(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs)
    untied = [sum(v[i] != v[j] for i, j in pairs) for v in (a, b)]
    assert kendall(a, b) == pytest.approx(score / math.sqrt(untied[0] * untied[1]))


def test_regret_of_the_first_and_of_several() -> None:
    estimated, measured = [1.0, 2.0, 3.0, 4.0], [12.0, 11.0, 10.0, 30.0]
    assert regret(estimated, measured, 1) == pytest.approx(0.2)
    assert regret(estimated, measured, 2) == pytest.approx(0.1)
    assert regret(estimated, measured, 10) == 0.0


def test_a_prediction_that_does_not_decide_earns_nothing() -> None:
    assert regret([1.0, 1.0, 2.0], [10.0, 15.0, 20.0], 1) == pytest.approx(0.5)


def test_random_regret_is_the_mean_over_all_picks() -> None:
    measured = [10.0, 11.0, 14.0, 20.0, 30.0]
    for tried in (1, 2, 3, 5, 9):
        picks = list(itertools.combinations(measured, min(tried, 5)))
        expected = sum(min(pick) for pick in picks) / len(picks) / 10.0 - 1
        assert random_regret(measured, tried) == pytest.approx(expected)


def test_divergences() -> None:
    found = agreement([2.0, 4.0], [3.0, 12.0])
    assert found.normalised.maximum == pytest.approx(0.25)  # 0.5 against 0.25; 1 against 1
    assert found.normalised.mean == pytest.approx(0.125)
    assert found.common.maximum == pytest.approx(8 / 12)
    assert found.relative.mean == pytest.approx((1 / 3 + 2 / 3) / 2)
    by_first = divergence_by_first([2.0, 4.0], [3.0, 12.0])
    assert (by_first.mean, by_first.maximum) == (pytest.approx(1.0), pytest.approx(2.0))


def test_spread() -> None:
    spread = spread_of([4.0, 1.0, 2.0, 3.0, 5.0])
    assert (spread.median, spread.lower, spread.upper, spread.count) == (3.0, 2.0, 4.0, 5)
    assert spread.relative == pytest.approx(2 / 3)


def test_noise_floor_compares_alternating_runs() -> None:
    floor = noise_floor([[10.0, 11.0, 10.0, 11.0], [20.0, 22.0], [5.0]])
    assert floor is not None
    assert floor.candidates == 2
    assert floor.relative.mean == pytest.approx(1 - 10 / 11)
    assert noise_floor([[1.0], [2.0]]) is None
