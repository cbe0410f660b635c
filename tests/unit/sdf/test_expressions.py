"""Expressions of PREESM: values, and what is said of those that mean nothing."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.sdf.expressions import ExpressionError, evaluate, whole

VALUES = {"width": Fraction(1920), "n": Fraction(3)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3", 7),
        ("(1+2)*3", 9),
        ("width/4*n", 1440),
        ("-2^2", -4),
        ("1 || 0 && 0", 1),
        ("2^3^2", 512),
        ("10 % 4 - 1", 1),
        ("1/3*3", 1),
        ("if(n > 2, width, 1)", 1920),
        ("if(n == 2 || n != 3, 5, 6)", 6),
        ("max(1, floor(n/2)) + min(2, 1) + ceil(1/2)", 3),
        ("128e6", 128_000_000),
        (".5 + 1.", Fraction(3, 2)),
        ("sqrt(16) + ln(1) + abs(-2)", 6),
        ("pow_div_max(2, 72)", 3),
        ("geo_sum(8, 1/2, 3)", 14),
        ("2^(1/2) * 2^(1/2) > 1.99", 1),
    ],
)
def test_values(text: str, value: Fraction | int) -> None:
    assert evaluate(text, VALUES) == value


@pytest.mark.parametrize(("value", "rounded"), [("1/2", 1), ("-1/2", 0), ("5/3", 2), ("7", 7)])
def test_halves_are_rounded_up(value: str, rounded: int) -> None:
    assert whole(Fraction(value)) == rounded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("1 +", "it ends too early"),
        ("1 2", "'2' is not expected there"),
        ("height", "there is no parameter 'height'"),
        ("sin(1)", "there is no function 'sin'"),
        ("min(1)", "'min' takes 2 values"),
        ("1/0", "it divides by zero"),
        ("sqrt(-1)", "'sqrt' has no value there"),
        ("(1", "')' is missing"),
        ("a$", "is not understood"),
        ("9^60", "its value is beyond measure"),
        ("(" * 80 + "1" + ")" * 80, "its parentheses are too deep"),
        ("-" * 80 + "1", "it has too many signs"),
        ("1" * 3000, "it is too long"),
        ("1" * 400, "its value is beyond measure"),
        ("(0-2)^(1/2)", "a power has no value there"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message.replace("(", r"\(").replace(")", r"\)")):
        evaluate(text, VALUES)


@given(text=st.text(alphabet="0123456789.+-*/%^()<>=&|,abn eE_if", max_size=40))
def test_any_text_has_a_value_or_an_error(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert isinstance(evaluate(text, VALUES), Fraction | int)
