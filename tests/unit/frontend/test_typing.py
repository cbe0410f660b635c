"""The static type rules of cal.md 2.1, one row a rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.program.types import BOOL, FLOAT32, FLOAT64, INT32, STRING, FloatType, IntType, ListType, Type
from dse.program.typing import (
    binary_type,
    is_bindable,
    is_convertible,
    least_upper_bound,
    literal_type,
    operand_rule,
    unary_type,
)


def i(size: int) -> IntType:
    return IntType(size, True)


def u(size: int) -> IntType:
    return IntType(size, False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, u(1)), (1, u(1)), (2, u(2)), (255, u(8)), (256, u(9)), (-1, i(2)), (-128, i(9)), (-129, i(9)), (2**63, u(64))],
)
def test_literals_take_their_bit_length(value: int, expected: Type) -> None:
    assert literal_type(value) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (i(8), i(16), i(16)),
        (u(8), u(16), u(16)),
        (i(9), u(8), i(9)),
        (i(8), u(8), i(9)),
        (u(16), i(4), i(17)),
        (BOOL, BOOL, BOOL),
        (BOOL, u(1), None),
        (STRING, STRING, STRING),
        (STRING, i(8), None),
        (FLOAT32, FLOAT64, FLOAT64),
        (i(8), FLOAT32, FLOAT32),
        (ListType(u(4), 3), ListType(i(4), 5), ListType(i(5), 5)),
        (ListType(u(4), 3), u(4), None),
        (ListType(BOOL, 3), ListType(u(4), 3), None),
    ],
)
def test_least_upper_bound(left: Type, right: Type, expected: Type | None) -> None:
    assert least_upper_bound(left, right) == expected
    assert least_upper_bound(right, left) == expected


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        ("+", u(8), u(8), u(9)),
        ("+", i(8), u(8), i(10)),
        ("-", u(8), u(8), i(9)),
        ("-", i(8), u(3), i(8)),
        ("*", u(8), i(3), i(11)),
        ("*", u(8), u(3), u(11)),
        ("/", u(8), i(3), u(8)),
        (">>", i(20), u(3), i(20)),
        ("mod", i(20), u(3), u(3)),
        ("<<", u(8), u(3), u(15)),
        ("<<", u(8), u(32), u(71)),
        ("&", u(8), u(3), u(3)),
        ("&", i(20), u(3), i(4)),
        ("&", i(3), u(20), i(3)),
        ("&", i(8), u(8), i(8)),
        ("&", u(8), i(8), i(8)),
        ("&", i(9), u(8), i(9)),
        ("|", i(8), u(8), i(9)),
        ("^", u(8), u(3), u(8)),
        ("=", u(8), i(3), BOOL),
        ("=", BOOL, BOOL, BOOL),
        ("!=", STRING, STRING, BOOL),
        ("<", i(8), FLOAT32, BOOL),
        ("and", BOOL, BOOL, BOOL),
        ("+", STRING, i(8), STRING),
        ("+", BOOL, STRING, STRING),
        ("+", ListType(u(1), 2), STRING, STRING),
        ("+", STRING, ListType(ListType(BOOL, 2), 3), STRING),
        ("+", ListType(u(4), 2), ListType(i(4), 3), ListType(i(5), 5)),
        ("+", ListType(ListType(u(4), 2), 1), ListType(ListType(u(4), 3), 1), ListType(ListType(u(4), 3), 2)),
        ("+", ListType(BOOL, 2), ListType(BOOL, 1), ListType(BOOL, 3)),
        ("+", i(8), FLOAT32, FLOAT32),
        ("/", FLOAT32, FLOAT64, FLOAT64),
        ("*", FLOAT64, u(3), FLOAT64),
    ],
)
def test_results_of_binary_operators(op: str, left: Type, right: Type, expected: Type) -> None:
    assert binary_type(op, left, right) == expected


@pytest.mark.parametrize(
    ("op", "left", "right"),
    [
        ("+", BOOL, u(1)),
        ("and", u(1), BOOL),
        ("=", BOOL, u(1)),
        ("<", BOOL, BOOL),
        ("<", STRING, STRING),
        ("&", u(1), BOOL),
        ("&", FLOAT32, u(3)),
        (">>", FLOAT32, u(3)),
        ("mod", FLOAT32, u(3)),
        ("=", ListType(u(1), 2), ListType(u(1), 2)),
        ("-", ListType(u(1), 2), ListType(u(1), 2)),
        ("+", ListType(u(1), 2), ListType(BOOL, 2)),
        ("+", ListType(u(1), 2), u(1)),
        ("-", STRING, STRING),
        ("=", STRING, ListType(STRING, 2)),
        ("and", BOOL, ListType(BOOL, 2)),
        ("**", u(3), u(3)),
    ],
)
def test_wrong_operands(op: str, left: Type, right: Type) -> None:
    assert binary_type(op, left, right) is None
    assert op in operand_rule(op)


@pytest.mark.parametrize(
    ("op", "operand", "expected"),
    [
        ("-", u(8), i(9)),
        ("-", i(8), i(8)),
        ("-", FLOAT32, FLOAT32),
        ("~", u(8), u(8)),
        ("not", BOOL, BOOL),
        ("#", ListType(BOOL, 5), u(3)),
        ("not", u(1), None),
        ("~", BOOL, None),
        ("-", STRING, None),
        ("#", u(8), None),
    ],
)
def test_results_of_unary_operators(op: str, operand: Type, expected: Type | None) -> None:
    assert unary_type(op, operand) == expected


@pytest.mark.parametrize(
    ("source", "target", "fits"),
    [
        (i(64), u(3), True),
        (u(8), FLOAT32, True),
        (FLOAT32, INT32, False),
        (FLOAT32, FLOAT64, True),
        (FLOAT64, FLOAT32, False),
        (FLOAT32, FloatType(16), True),
        (BOOL, u(1), False),
        (u(1), BOOL, False),
        (STRING, STRING, True),
        (u(8), STRING, False),
        (ListType(u(8), 3), ListType(i(4), 5), True),
        (ListType(u(8), 6), ListType(i(4), 5), False),
        (ListType(u(8), 5), ListType(i(4), 5), True),
        (ListType(FLOAT32, 3), ListType(i(4), 5), False),
        (ListType(u(8), 3), u(8), False),
    ],
)
def test_conversions(source: Type, target: Type, fits: bool) -> None:
    assert is_convertible(source, target) is fits


def test_list_arguments_may_have_other_sizes() -> None:
    assert is_bindable(ListType(u(8), 600), ListType(u(8), 64))
    assert is_bindable(ListType(ListType(u(8), 4), 4), ListType(u(8), 16))
    assert not is_bindable(ListType(BOOL, 4), ListType(u(8), 4))
    assert not is_bindable(u(8), ListType(u(8), 4))


INTS = st.builds(IntType, st.integers(1, 64), st.booleans())


def extremes(of: IntType) -> tuple[int, int]:
    return (-(1 << (of.size - 1)), (1 << (of.size - 1)) - 1) if of.signed else (0, (1 << of.size) - 1)


@given(INTS, INTS)
def test_the_upper_bound_holds_all_values_of_both(left: IntType, right: IntType) -> None:
    bound = least_upper_bound(left, right)
    assert isinstance(bound, IntType)
    low, high = extremes(bound)
    assert all(low <= v <= high for v in extremes(left) + extremes(right))


@given(INTS, INTS)
def test_sums_and_products_hold_all_results(left: IntType, right: IntType) -> None:
    for op, apply in (("+", int.__add__), ("*", int.__mul__)):
        of = binary_type(op, left, right)
        assert isinstance(of, IntType)
        low, high = extremes(of)
        results = [apply(a, b) for a in extremes(left) for b in extremes(right)]
        if op == "*" and left.signed != right.signed:
            continue  # one bit short for the most negative value, as in Orcc; evaluation is unbounded anyway
        assert all(low <= r <= high for r in results)
