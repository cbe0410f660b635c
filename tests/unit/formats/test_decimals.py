"""Exact decimals, both ways."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dse.base.numbers import parse_decimal, parse_integer
from dse.formats.decimals import PLACES, format_decimal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2900", Fraction(2900)),
        (" 12.5 ", Fraction(25, 2)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-0.1", Fraction(-1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", None),
        ("nan", None),
        ("inf", None),
        ("1,5", None),
        ("1_000", None),
        ("", None),
        ("1e999", None),
        ("٣", None),
    ],
)
def test_parse(text: str, value: Fraction | None) -> None:
    assert parse_decimal(text) == value


def test_integers() -> None:
    assert parse_integer("512.0") == 512
    assert parse_integer("1.5") is None


def test_a_third_is_rounded_half_up() -> None:
    assert format_decimal(Fraction(2, 3)) == "0.666666666667"
    assert format_decimal(Fraction(-1, 3)) == "-0.333333333333"
    assert format_decimal(Fraction(5)) == "5"
    assert format_decimal(Fraction(1, 8)) == "0.125"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9))
def test_what_ends_is_exact(value: object) -> None:
    exact = Fraction(str(value))
    assert parse_decimal(format_decimal(exact)) == exact


@given(st.fractions(), st.fractions())
@example(Fraction(-6027, 13251999999959041), Fraction(-1, 2199023255552))
def test_rounding_moves_a_number_by_half_a_place_at_most_and_keeps_the_order(a: Fraction, b: Fraction) -> None:
    """One that ends is exact, so one that does not may be rounded past it: their order is kept within each kind."""
    low, high = (_read(number) for number in sorted((a, b)))
    for number in (a, b):
        assert abs(_read(number) - number) <= Fraction(1, 2 * 10**PLACES)
    if (_read(a) == a) == (_read(b) == b):
        assert low <= high


def _read(number: Fraction) -> Fraction:
    """Return what is read of a number as it is written."""
    read = parse_decimal(format_decimal(number))
    assert read is not None
    return read
