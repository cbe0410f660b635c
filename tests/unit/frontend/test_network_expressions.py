"""XDF expressions: precedence and meaning of operators, errors with place, conversion to declared types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.consteval import Value
from dse.frontend.network.expressions import convert, evaluate, shown, zero_of
from dse.model.xdf import LiteralKind, XdfExpr, XdfListExpr, XdfLiteral, XdfSequence, XdfUnary, XdfVar
from dse.program.types import BOOL, FLOAT32, INT32, STRING, ListType, Type

KINDS: dict[type, LiteralKind] = {int: "Integer", float: "Real", bool: "Boolean", str: "String"}


def literal(value: int | float | bool | str) -> XdfLiteral:
    return XdfLiteral(kind=KINDS[type(value)], value=value, text=str(value))


def sequence(*parts: object) -> XdfSequence:
    operands = tuple(p if isinstance(p, XdfUnary | XdfVar) else literal(p) for p in parts[::2])  # type: ignore[arg-type]
    return XdfSequence(operands=operands, operators=tuple(str(p) for p in parts[1::2]))


def value_of(expr: XdfExpr) -> Value | None:
    gather = Gatherer()
    value = evaluate(expr, lambda name, _: {"N": 7, "S": "ab"}.get(name), gather)
    assert (value is None) == bool(gather.errors)
    return value


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((1, "+", 2, "*", 3), 7),
        ((2, "*", 3, "+", 1), 7),
        ((10, "-", 3, "-", 2), 5),
        ((1, "<<", 2, "+", 1), 8),
        ((7, "&", 3, "=", 3), None),
        ((1, "+", 1, "=", 2, "and", True), True),
        ((True, "or", False, "and", False), True),
        ((-7, "/", 2), -3),
        ((-7, "mod", 2), -1),
        ((7, "div", -2), -3),
        ((7, "/", 2.0), 3.5),
        ((7.5, ">", 7), True),
        (("a", "+", 1, "+", "b"), "a1b"),
        (("a", "=", "a"), True),
        ((6, "|", 1, "^", 3, "&", 2), 7),
        ((2, "**", 10), 1024),
        ((1, "/", 0), None),
        ((1, "<<", 1_000_000), None),
        ((1, "<<", 4096), 1 << 4096),
        ((1, "<<", 4097), None),
        ((1, ">>", 4097), None),
        ((1, "<<", 32), 1 << 32),
        ((1, "<<", -8), 1 << 24),
        ((1 << 32, "<<", -8), 1 << 32 + 56),
        (((1 << 32) - 1, ">>", -8), 255),
        ((-(1 << 40), ">>", -36), -(1 << 12)),
        ((2, "**", -1), None),
        ((1, "**", 4096), 1),
        ((1, "**", 4097), None),
        ((2, "**", 2048), 1 << 2048),
        ((2, "**", 2049), None),
        ((1 << 4096, "*", 1 << 4095), 1 << 8191),
        ((1 << 4096, "*", 1 << 4096), None),
        ((7, "%", -4), 3),
        ((7, "div", 0.0), None),
        ((7, "mod", 0), None),
        ((True, "=", 1), None),
        (("a", "+", True), "atrue"),
        ((2, "**", 100_000), None),
        ((1, "?", 2), None),
        ((True, "+", 1), None),
        ((1, "and", 1), None),
    ],
)
def test_operators(parts: tuple[object, ...], expected: Value | None) -> None:
    found = value_of(sequence(*parts))
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("op", "operand", "expected"),
    [
        ("-", 5, -5),
        ("-", 0.5, -0.5),
        ("not", True, False),
        ("~", 5, -6),
        ("not", 1, None),
        ("-", True, None),
        ("#", 1, None),
    ],
)
def test_unary_operators(op: str, operand: int | float | bool, expected: Value | None) -> None:
    assert value_of(XdfUnary(op=op, operand=literal(operand))) == expected


def test_names_and_lists() -> None:
    assert value_of(sequence(XdfVar(name="N"), "*", 2)) == 14
    assert value_of(XdfListExpr(elements=(literal(1), XdfListExpr(elements=(literal(2),))))) == (1, (2,))


def test_an_unknown_name_is_reported_by_the_lookup() -> None:
    asked: list[tuple[str, Span]] = []

    def lookup(name: str, span: Span) -> None:
        asked.append((name, span))

    assert evaluate(XdfVar(name="M", span=Span("f", 1, 2, 1, 3)), lookup, Gatherer()) is None
    assert asked == [("M", Span("f", 1, 2, 1, 3))]


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        (1, INT32, 1),
        (1, FLOAT32, 1.0),
        (10**400, FLOAT32, float("inf")),
        (1.5, INT32, None),
        (True, INT32, None),
        (1, BOOL, None),
        ("a", STRING, "a"),
        ((1, 2), ListType(INT32, 3), (1, 2)),
        ((1, 2), ListType(INT32, 2), (1, 2)),
        ((1, 2), ListType(INT32, 1), None),
        ((1, True), ListType(INT32, 2), None),
        (1, ListType(INT32, 1), None),
    ],
)
def test_conversion(value: Value, wanted: Type, expected: Value | None) -> None:
    found = convert(value, wanted)
    assert found == expected
    assert type(found) is type(expected)


def test_large_numbers_are_shown_by_their_size() -> None:
    assert shown((1 << 128) - 1) == str((1 << 128) - 1)
    assert shown(1 << 128) == "about 2^128"
    assert shown(-(1 << 4000)) == "about -2^4000"
    assert (shown(True), shown("a" * 40), shown("a" * 41)) == ("true", "a" * 40, "a long value")


def test_zero_has_its_type() -> None:
    for wanted in (INT32, FLOAT32, BOOL, STRING, ListType(INT32, 2)):
        assert convert(zero_of(wanted), wanted) == zero_of(wanted)


ARITHMETIC = st.lists(st.tuples(st.sampled_from(["+", "-", "*", "|", "&", "^"]), st.integers(-50, 50)), max_size=6)


@given(first=st.integers(-50, 50), rest=ARITHMETIC)
def test_precedence_is_that_of_python_for_the_operators_they_share(first: int, rest: list[tuple[str, int]]) -> None:
    parts: list[object] = [first]
    for op, operand in rest:
        parts += [op, operand]
    expected = eval(" ".join(f"({p})" if isinstance(p, int) else str(p) for p in parts))
    assert value_of(sequence(*parts)) == expected
