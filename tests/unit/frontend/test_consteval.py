"""Evaluation at compile time: model R (cal.md 2.0), C's integers as the oracle, endless evaluations."""

import ctypes
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.source import Span
from dse.frontend.cal.consteval import (
    DEPTH_LIMIT,
    LONGEST_LIST,
    LONGEST_NUMBER,
    LONGEST_TEXT,
    ConstantEvaluator,
    NotConstantError,
    Value,
    store,
    zero_of,
)
from dse.program import ir
from dse.program.types import BOOL, FLOAT32, FLOAT64, INT32, STRING, IntType, ListType, Type

C_TYPES = {
    (8, True): ctypes.c_int8,
    (16, True): ctypes.c_int16,
    (32, True): ctypes.c_int32,
    (64, True): ctypes.c_int64,
    (8, False): ctypes.c_uint8,
    (16, False): ctypes.c_uint16,
    (32, False): ctypes.c_uint32,
    (64, False): ctypes.c_uint64,
}


PAIRS = ListType(ListType(INT32, 2), 2)
BOOLS = ListType(BOOL, 2)
TEXTS = ListType(STRING, 2)
REALS = ListType(FLOAT32, 1)
ROW = ir.ConstList((1, -2), ListType(INT32, 2))


def number(value: int) -> ir.Const:
    return ir.Const(value, IntType(max(1, value.bit_length() + 1), True))


def load(name: str, of: Type = INT32) -> ir.Load:
    return ir.Load(name, of)


def binary(op: ir.BinaryOp, left: ir.Expr, right: ir.Expr, of: Type = INT32) -> ir.Binary:
    return ir.Binary(op, left, right, of)


def variable(name: str, of: Type = INT32, kind: ir.VariableKind = "parameter") -> ir.Variable:
    return ir.Variable(name, name, of, kind)


def function(name: str, parameters: tuple[ir.Variable, ...], result: ir.Expr, of: Type = INT32) -> ir.Routine:
    return ir.Routine(name, name, parameters, (), (), result, of)


def evaluator(*routines: ir.Routine, step_limit: int = 10_000) -> ConstantEvaluator:
    known = {r.name: r for r in routines}

    def unknown(name: str, span: Span) -> Value:
        raise NotConstantError(f"no value for {name}", span)

    return ConstantEvaluator(unknown, lambda name, _span: known[name], step_limit=step_limit)


# Storage --------------------------------------------------------------------------------------------------------------


@given(st.integers(-(2**200), 2**200), st.sampled_from(sorted(C_TYPES)))
def test_a_store_wraps_as_c_does(value: int, container: tuple[int, bool]) -> None:
    bits, signed = container
    assert store(value, IntType(bits, signed)) == C_TYPES[container](value).value


@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 64), st.booleans())
def test_every_declared_size_stores_in_the_next_container(value: int, size: int, signed: bool) -> None:
    container = next(b for b in (8, 16, 32, 64) if size <= b)
    expected = np.int64(value).astype(f"{'i' if signed else 'u'}{container // 8}")
    assert store(value, IntType(size, signed)) == int(expected)


@pytest.mark.parametrize(
    ("value", "of", "expected"),
    [
        (200, IntType(8, True), -56),
        (9, IntType(3, False), 9),
        (23, IntType(4, False), 23),
        (-1, IntType(16, False), 65535),
        (2**64 + 5, IntType(65, False), 2**64 + 5),
        (3, FLOAT32, 3.0),
        (0.1, FLOAT32, 0.10000000149011612),
        (0.1, FLOAT64, 0.1),
        (-(10**400), FLOAT32, float("-inf")),
        (2**511, IntType(512, True), -(2**511)),
        (True, BOOL, True),
        ((1, 300), ListType(IntType(8, False), 4), (1, 44, 0, 0)),
        ((1, 2, 3), ListType(INT32, 2), (1, 2)),
        (((1,),), ListType(ListType(INT32, 2), 2), ((1, 0), (0, 0))),
    ],
)
def test_storage_cases_of_model_r(value: Value, of: Type, expected: Value) -> None:
    stored = store(value, of)
    assert stored == expected
    assert type(stored) is type(expected)


def test_uninitialised_values_are_zero() -> None:
    assert zero_of(ListType(ListType(BOOL, 2), 1)) == ((False, False),)
    assert zero_of(STRING) == ""


# Operators ------------------------------------------------------------------------------------------------------------


@given(st.integers(-1000, 1000), st.integers(-1000, 1000).filter(bool))
def test_division_truncates_as_c_does(left: int, right: int) -> None:
    quotient = evaluator().evaluate(binary("/", number(left), number(right)))
    remainder = evaluator().evaluate(binary("mod", number(left), number(right)))
    assert quotient == int(left / right)
    assert remainder == left - right * int(left / right)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (binary("<<", number(1), number(70)), 1 << 70),
        (binary(">>", number(-5), number(1)), -3),
        (binary("/", ir.Const(1.0, FLOAT32), number(4)), 0.25),
        (ir.Unary("~", number(5), INT32), -6),
        (ir.Unary("#", ir.ConstList((1, 2, 3), ListType(INT32, 3)), INT32), 3),
        (binary("+", ir.Const("n = ", STRING), number(-4), STRING), "n = -4"),
        (binary("+", ir.Const(True, BOOL), ir.Const("!", STRING), STRING), "1!"),
        (binary("+", ir.Const("", STRING), ir.ConstList(((1, -2), (3, 4)), PAIRS), STRING), "[[1, -2], [3, 4]]"),
        (binary("+", ir.ConstList((True, False), BOOLS), ir.Const("", STRING), STRING), "[1, 0]"),
        (binary("+", ir.ConstList(("a", ""), TEXTS), ir.Const("", STRING), STRING), "[a, ]"),
        (binary("+", ir.Const(1, INT32), ir.Const(0.5, FLOAT32), FLOAT32), 1.5),
        (binary("*", ir.Const(10**400, INT32), ir.Const(0.5, FLOAT32), FLOAT32), float("inf")),
        (binary("+", ROW, ir.ConstList((3,), ListType(INT32, 1)), ListType(INT32, 3)), (1, -2, 3)),
        (binary("+", ROW, ir.ConstList((0.5,), REALS), ListType(FLOAT32, 3)), (1.0, -2.0, 0.5)),
        (binary("=", ir.Const("a", STRING), ir.Const("a", STRING), BOOL), True),
    ],
)
def test_operators(expr: ir.Expr, expected: Value) -> None:
    assert evaluator().evaluate(expr) == expected


@pytest.mark.parametrize(("op", "left"), [("and", False), ("or", True)])
def test_boolean_operators_short_circuit(op: ir.BinaryOp, left: bool) -> None:
    impossible = binary("=", binary("/", number(1), number(0)), number(1), BOOL)
    assert evaluator().evaluate(binary(op, ir.Const(left, BOOL), impossible, BOOL)) is left


@pytest.mark.parametrize("op", ["/", "mod"])
def test_division_by_zero_is_no_constant(op: ir.BinaryOp) -> None:
    with pytest.raises(NotConstantError, match="divides by zero"):
        evaluator().evaluate(binary(op, number(1), number(0)))


@pytest.mark.parametrize(
    ("op", "left", "count", "left_size", "expected"),
    [
        ("<<", 1, 32, 32, 1 << 32),
        ("<<", 1, -8, 32, 1 << 24),
        ("<<", 1, -8, 33, 1 << 56),
        (">>", 1 << 30, -8, 32, 1 << 6),
        (">>", -1 << 60, -8, 64, -1 << 4),
        (">>", -5, 200, 8, -1),
        ("<<", 1, 4096, 1, 1 << 4096),
        ("<<", 1, 10**30, 1, 1 << 4096),
    ],
)
def test_shift_counts_below_zero_are_masked_and_large_ones_limited(
    op: ir.BinaryOp, left: int, count: int, left_size: int, expected: int
) -> None:
    shifted = ir.Const(left, IntType(left_size, True))
    assert evaluator().evaluate(binary(op, shifted, number(count))) == expected


def test_reads_out_of_bounds_give_zero() -> None:
    frame: dict[str, Value] = {"t": ((1, 2), (3, 4))}
    row = ListType(INT32, 2)
    assert evaluator().evaluate(ir.Index("t", (number(1), number(0)), INT32), frame) == 3
    assert evaluator().evaluate(ir.Index("t", (number(1), number(2)), INT32), frame) == 0
    assert evaluator().evaluate(ir.Index("t", (number(-1),), row), frame) == (0, 0)


# Calls and generators -------------------------------------------------------------------------------------------------


def test_parameters_and_results_wrap() -> None:
    narrow = IntType(8, False)
    f = function("f", (variable("a", narrow),), binary("*", load("a"), number(2)), IntType(8, True))
    assert evaluator(f).evaluate(ir.Call("f", (number(300),), IntType(8, True))) == 88
    assert evaluator(f).evaluate(ir.Call("f", (number(100),), IntType(8, True))) == -56


@pytest.mark.parametrize("argument", ["literal", "variable"])
def test_a_list_parameter_is_read_through_its_own_type(argument: str) -> None:
    wide, narrow = ListType(INT32, 2), ListType(IntType(8, False), 2)
    values = (-1, 300)
    given: ir.Expr = ir.ConstList(values, wide) if argument == "literal" else ir.Load("v", wide)
    for place, expected in enumerate((255, 44)):
        element = function("f", (variable("a", narrow),), ir.Index("a", (number(place),), narrow.element))
        assert evaluator(element).evaluate(ir.Call("f", (given,), INT32), {"v": values}) == expected


def test_generators_run_the_first_variable_outermost_and_wrap_it() -> None:
    loops = tuple(
        ir.GeneratorLoop(variable(name, of, "loop"), number(low), number(high))
        for name, of, low, high in (("i", INT32, 0, 1), ("j", IntType(8, True), 127, 128))
    )
    pair = binary("+", binary("*", load("i"), number(1000)), load("j"))
    made = evaluator().evaluate(ir.Generator((pair, number(7)), loops, ListType(INT32, 8)))
    assert made == (127, 7, -128, 7, 1127, 7, 872, 7)


def test_endless_recursion_ends() -> None:
    f = function("f", (variable("n"),), ir.Call("f", (load("n"),), INT32))
    with pytest.raises(NotConstantError, match="nest more than"):
        evaluator(f).evaluate(ir.Call("f", (number(1),), INT32))


def test_long_evaluations_end() -> None:
    last = function("f0", (), number(1))
    doubling = [
        function(f"f{i}", (), binary("+", ir.Call(f"f{i - 1}", (), INT32), ir.Call(f"f{i - 1}", (), INT32)))
        for i in range(1, 60)
    ]
    with pytest.raises(NotConstantError, match="does not end within 10000 steps"):
        evaluator(last, *doubling).evaluate(ir.Call("f59", (), INT32))


def test_the_limits_of_an_evaluation_are_exact() -> None:
    three = binary("+", number(1), number(2))
    assert evaluator(step_limit=3).evaluate(three) == 3
    with pytest.raises(NotConstantError, match="within 2 steps"):
        evaluator(step_limit=2).evaluate(three)
    below = ir.Call("f", (binary("-", load("n"), number(1)),), INT32)
    f = function("f", (variable("n"),), ir.Conditional(load("n"), below, number(7), INT32))
    assert evaluator(f).evaluate(ir.Call("f", (number(DEPTH_LIMIT - 1),), INT32)) == 7
    with pytest.raises(NotConstantError, match="nest more than"):
        evaluator(f).evaluate(ir.Call("f", (number(DEPTH_LIMIT),), INT32))


def test_the_conversion_of_a_list_argument_counts_as_steps() -> None:
    f = function("f", (variable("a", ListType(INT32, 1)),), number(1))
    call = ir.Call("f", (ir.ConstList((0,) * 20, ListType(INT32, 20)),), INT32)
    assert evaluator(f, step_limit=23).evaluate(call) == 1
    with pytest.raises(NotConstantError, match="within 22 steps"):
        evaluator(f, step_limit=22).evaluate(call)


def test_what_is_too_large_has_no_value() -> None:
    assert len(cast("tuple[Value, ...]", zero_of(ListType(INT32, LONGEST_LIST)))) == LONGEST_LIST
    for operation in (zero_of, lambda of: store((1,), of)):
        with pytest.raises(NotConstantError, match="a list of 2097153 elements"):
            operation(ListType(INT32, LONGEST_LIST + 1))
    half = ir.Const("x" * (LONGEST_TEXT // 2), STRING)
    whole = binary("+", half, half, STRING)
    assert evaluator().evaluate(whole) == "x" * LONGEST_TEXT
    with pytest.raises(NotConstantError, match="a text of 1048577 characters"):
        evaluator().evaluate(binary("+", whole, ir.Const("x", STRING), STRING))
    largest = (1 << LONGEST_NUMBER) - 1
    empty = ir.Const("", STRING)
    assert evaluator().evaluate(binary("+", empty, number(largest), STRING)) == str(largest)
    with pytest.raises(NotConstantError, match="the text of a number of 8193 bits"):
        evaluator().evaluate(binary("+", empty, number(largest + 1), STRING))


def test_the_steps_count_anew_for_each_evaluation() -> None:
    table = ir.Generator(
        (number(0),), (ir.GeneratorLoop(variable("i", INT32, "loop"), number(1), number(40)),), ListType(INT32, 40)
    )
    limited = evaluator(step_limit=50)
    for _ in range(3):
        assert limited.evaluate(table) == (0,) * 40
