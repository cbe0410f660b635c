"""Numbers as text: what is one, and that nothing is computed from one that is beyond measure."""

import argparse
from fractions import Fraction

import pytest

from dse.base.errors import OptionError
from dse.base.limits import Limits, limit_names, limits, parse_limits, raised_limits
from dse.base.numbers import (
    CLOCK_MHZ,
    MOST_COUNTED,
    about_count,
    integer_from,
    json_count,
    parse_decimal,
    parse_integer,
    short_count,
)
from dse.cli.option_types import option_integer, option_real

NO_NUMBERS = (
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1_0",
    "٣",
    "１２",
    "²",
    "0x10",
    "1/3",
    "--1",
    "1e",
    ".",
    "1 2",
    "9" * 5000,
)


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1e999999999", "1e-999999999", "1e400"])
def test_no_decimal(text: str) -> None:
    assert parse_decimal(text) is None
    assert parse_integer(text) is None


def test_decimals_are_exact() -> None:
    assert parse_decimal("0." + "0" * 400 + "1") == Fraction(1, 10**401)
    assert parse_decimal(" -1.5e2 ") == -150
    assert parse_integer("512.0") == 512


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1.0", "1e3", "11", "-1"])
def test_no_integer_of_a_range(text: str) -> None:
    assert integer_from(text, least=0, most=10) is None


def test_integers_at_the_bounds() -> None:
    assert [integer_from(t, least=0, most=10) for t in ("0", "10", "+7", "-0", " 3 ")] == [0, 10, 7, 0, 3]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_no_option(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        option_integer(text)


def test_options() -> None:
    assert option_integer(str(MOST_COUNTED)) == MOST_COUNTED
    with pytest.raises(argparse.ArgumentTypeError, match="beyond measure"):
        option_integer(str(MOST_COUNTED + 1))
    assert option_real("2.5e3") == 2500
    for text in ("1_0", "٣", "x", "9" * 5000):
        with pytest.raises(argparse.ArgumentTypeError, match="invalid float value"):
            option_real(text)


def test_bounds_hold_zero_and_what_is_between() -> None:
    assert CLOCK_MHZ.holds(Fraction(0))
    assert CLOCK_MHZ.holds(Fraction(1, 10**6))
    assert not CLOCK_MHZ.holds(Fraction(1, 10**7))
    assert CLOCK_MHZ.holds(Fraction(100_000))
    assert not CLOCK_MHZ.holds(Fraction(100_001))
    assert str(CLOCK_MHZ).endswith("MHz")


def test_limits_are_raised_for_a_while() -> None:
    usual = limits()
    with raised_limits(parse_limits(["actors=7", "c-tokens=9"])):
        assert limits() == Limits(actors=7, c_tokens=9)
    assert limits() == usual == Limits()


@pytest.mark.parametrize(
    "text", ["actors", "actors=", "actors=0", "actors=-1", "actors=1e3", "actors=" + "9" * 5000, "x=1", "="]
)
def test_limits_that_mean_nothing(text: str) -> None:
    with pytest.raises(OptionError):
        parse_limits([text])


def test_the_help_names_every_limit() -> None:
    from dse.cli.main import build_parser

    shown = " ".join(build_parser("check")._subparsers._group_actions[0].choices["check"].format_help().split())  # type: ignore[union-attr, index]
    assert all(name in shown for name in limit_names())


@pytest.mark.parametrize("power", [9, 10, 300, 4300, 9030])
def test_counts_are_told_by_their_power_of_ten_however_long_they_are(power: int) -> None:
    assert short_count(10**power) == f"10^{power}"
    assert about_count(10**power - 1) == (f"about 10^{power - 1}" if power > 9 else "999,999,999")
    assert json_count(10**power) == (10**power if power < 4000 else f"about 10^{power}")
