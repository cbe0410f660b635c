"""Exact decimals, both ways."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.numbers import parse_decimal, parse_integer
from dse.formats.decimals import format_decimal


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
def test_rounding_keeps_the_order(a: Fraction, b: Fraction) -> None:
    low, high = sorted((a, b))
    assert (parse_decimal(format_decimal(low)) or 0) <= (parse_decimal(format_decimal(high)) or 0)
