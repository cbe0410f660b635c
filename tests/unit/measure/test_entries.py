"""Entries of ends and prices of tokens, from visits whose prices are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.measure.entries import EndPrices, end_prices
from tests.examples import examples


def visits(rng: np.random.Generator, n: int, ends: int) -> np.ndarray:
    """Return the tokens of some visits; each moves some on each end in two of three cases."""
    return rng.integers(1, 60, (n, ends)) * (rng.random((n, ends)) < 2 / 3).astype(np.float64)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=examples(30), deadline=None)
def test_prices_are_found(seed: int, ends: int) -> None:
    rng = np.random.default_rng(seed)
    tokens = visits(rng, 4000, ends)
    true = EndPrices(entries=rng.integers(50, 900, ends).astype(np.float64), each=rng.integers(1, 20, ends) * 1.0)
    found = end_prices(true.paid(tokens) + rng.normal(size=4000) * 5, tokens)
    np.testing.assert_allclose(found.paid(tokens), true.paid(tokens), atol=20, rtol=0.1)
    np.testing.assert_allclose(found.entries, true.entries, atol=8)
    np.testing.assert_allclose(found.each, true.each, atol=0.5)


def test_a_visit_takes_the_largest_entry_and_all_tokens() -> None:
    prices = EndPrices(entries=np.array([100.0, 400.0]), each=np.array([1.0, 2.0]))
    tokens = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 3.0], [10.0, 3.0]])
    assert prices.paid(tokens).tolist() == [0.0, 110.0, 406.0, 416.0]


def test_an_end_that_never_leads_has_the_largest_entry_that_fits() -> None:
    rng = np.random.default_rng(1)
    tokens = np.column_stack([rng.integers(1, 50, 2000), rng.integers(1, 50, 2000)]).astype(np.float64)
    true = EndPrices(entries=np.array([500.0, 300.0]), each=np.array([3.0, 5.0]))
    found = end_prices(true.paid(tokens), tokens)
    assert found.entries == pytest.approx([500.0, 500.0], rel=0.01)
    assert found.each == pytest.approx([3.0, 5.0], rel=0.01)


def test_entries_and_tokens_halve_what_both_explain() -> None:
    found = end_prices(np.full(100, 80.0), np.full((100, 1), 4.0))
    assert (found.entries.tolist(), found.each.tolist()) == (pytest.approx([40.0]), pytest.approx([10.0]))


def test_what_makes_nothing_dearer_beside_another_end_has_a_price_alone() -> None:
    """Visits take 80 with the first end, and with both: the second is hidden by the first, and not free."""
    tokens = np.array([[8.0, 0.0]] * 50 + [[8.0, 8.0]] * 50)
    found = end_prices(np.full(100, 80.0), tokens)
    assert found.paid(tokens) == pytest.approx(80.0)
    assert found.paid(np.array([[0.0, 8.0]])) == pytest.approx(40.0)


def test_without_tokens_nothing_costs() -> None:
    found = end_prices(np.ones(3), np.zeros((3, 2)))
    assert (found.entries.tolist(), found.each.tolist()) == ([0.0, 0.0], [0.0, 0.0])


def test_nearly_as_many_sets_of_ends_as_visits() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(1, 9, (20_000, 16)) * (rng.random((20_000, 16)) < 0.5).astype(np.float64)
    true = EndPrices(entries=np.linspace(100, 900, 16), each=np.full(16, 5.0))
    found = end_prices(true.paid(tokens), tokens)
    # Who leads is found by turns, which end at an optimum, not always the best one.
    off = np.abs(found.paid(tokens) - true.paid(tokens)) / true.paid(tokens)
    assert off.mean() < 0.01
