"""Ranges of expressions hold every value that the expression can have, and are as narrow as the rules promise."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dse.passes import arithmetic
from dse.passes.analyses.affine import Affine, affine
from dse.passes.analyses.expression_ranges import range_of, stored, value_of
from dse.passes.analyses.ranges import container
from dse.program.ir import Binary, BinaryOp, Cast, Conditional, Const, Expr, Index, Load, Unary
from dse.program.types import BOOL, FLOAT32, INT32, IntType
from tests.examples import examples

NAMES = ("x", "y", "z")
TYPES = [IntType(bits, signed) for bits in (3, 8, 16, 24, 32, 48, 64) for signed in (False, True)]
EDGES = [
    0,
    1,
    -1,
    2,
    7,
    31,
    32,
    63,
    64,
    127,
    128,
    255,
    256,
    -128,
    -129,
    2**31 - 1,
    -(2**31),
    2**32,
    2**63 - 1,
    -(2**63),
]
NUMBERS = st.one_of(st.sampled_from(EDGES), st.integers(-300, 300), st.integers(-(2**40), 2**40))
ARITHMETIC: tuple[BinaryOp, ...] = ("+", "-", "*", "/", "mod", "<<", ">>", "&", "|", "^")
X, Y = Load("x", INT32), Load("y", INT32)


def expressions(depth: int) -> st.SearchStrategy[Expr]:
    """Random expressions over three variables and an array."""
    types = st.sampled_from(TYPES)
    leaf: st.SearchStrategy[Expr] = st.one_of(
        st.builds(Const, NUMBERS, types),
        st.builds(Load, st.sampled_from(NAMES), types),
        st.builds(lambda of: Index("list", (X,), of), types),
    )
    if depth == 0:
        return leaf
    inner = expressions(depth - 1)
    small = st.builds(Const, st.integers(-40, 70), types)
    return st.one_of(
        leaf,
        st.builds(Unary, st.sampled_from(("-", "~")), inner, types),
        st.builds(Binary, st.sampled_from(ARITHMETIC), inner, inner, types),
        st.builds(Binary, st.sampled_from(("<<", ">>")), inner, small, types),
        st.builds(lambda a, b, c: Conditional(Binary("<", a, b, BOOL), b, c, INT32), inner, inner, inner),
        st.builds(Cast, inner, types),
    )


def computed(expression: Expr, values: dict[str, int]) -> int:
    """The value of an expression by the rules of the language; ZeroDivisionError, OverflowError where there is none."""
    match expression:
        case Const(value=int(value)):
            return int(value)
        case Load(name=name) | Index(name=name):
            return values[name]
        case Unary(op="-"):
            return -computed(expression.operand, values)
        case Unary():
            return ~computed(expression.operand, values)
        case Cast(type=IntType() as of):
            return arithmetic.wrap(computed(expression.operand, values), of.container_bits, of.signed)
        case Conditional(condition=Binary(left=left, right=right)):
            holds = computed(left, values) < computed(right, values)
            return computed(expression.then if holds else expression.otherwise, values)
        case Binary(op=op, left=left, right=right):
            a, b, of = computed(left, values), computed(right, values), left.type
            assert isinstance(of, IntType)
            return operation(op, a, b, of.size)
    raise AssertionError(expression)


def operation(op: BinaryOp, a: int, b: int, left_bits: int) -> int:
    match op:
        case "/":
            return arithmetic.quotient(a, b)
        case "mod":
            return arithmetic.remainder(a, b)
        case "<<":
            if b > 200 or abs(a) > 1 << 200:
                raise OverflowError
            return arithmetic.shift_left(a, b, left_bits)
        case ">>":
            return arithmetic.shift_right(a, b, left_bits)
        case _:
            plain = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
            return plain[op]


@settings(deadline=None, max_examples=examples(400))
@given(expressions(3), st.data())
def test_no_value_is_outside(expression: Expr, data: st.DataObject) -> None:
    known, values = {}, {}
    for name in (*NAMES, "list"):
        low, high = sorted((data.draw(NUMBERS), data.draw(NUMBERS)))
        values[name] = data.draw(st.sampled_from([low, high]) | st.integers(low, high))
        if data.draw(st.integers(0, 4)):
            known[name] = (low, high)
    found = range_of(expression, known)
    try:
        value = computed(expression, values)
    except (ZeroDivisionError, OverflowError):
        assume(False)
    assume(abs(value) < 1 << 128)
    assert found is None or found[0] <= value <= found[1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Binary("+", X, Y, INT32), (-3, 19)),
        (Binary("-", X, Y, INT32), (-9, 13)),
        (Binary("*", X, Y, INT32), (-30, 90)),
        (Binary("/", X, Const(3, INT32), INT32), (0, 3)),
        (Binary("mod", X, Const(8, INT32), INT32), (0, 7)),
        (Binary("mod", Y, Const(8, INT32), INT32), (-3, 7)),
        (Binary("mod", Load("unknown", INT32), Const(8, INT32), INT32), (-7, 7)),
        (Binary("&", Load("unknown", INT32), Const(8, INT32), INT32), (0, 8)),
        (Binary(">>", X, Const(1, INT32), INT32), (0, 5)),
        (Binary("<<", Const(1, INT32), X, INT32), (1, 1024)),
        (Binary("<<", Const(1, INT32), Const(-31, INT32), INT32), (1, 1 << 31)),
        (Unary("-", Y, INT32), (-9, 3)),
        (Unary("~", Y, INT32), (-10, 2)),
        (Conditional(Binary("<", X, Y, BOOL), X, Y, INT32), (-3, 10)),
        (Cast(Y, IntType(8, True)), (-3, 9)),
        (Cast(Y, IntType(8, False)), (0, 255)),
        (Cast(Binary("+", X, Const(245, INT32), INT32), IntType(8, False)), (245, 255)),
        (Cast(Binary("+", X, Const(246, INT32), INT32), IntType(8, False)), (0, 255)),
        (Cast(Load("unknown", INT32), IntType(16, True)), (-(1 << 15), (1 << 15) - 1)),
        (Cast(X, FLOAT32), None),
        (Index("x", (Y,), INT32), (0, 10)),
        (Load("unknown", INT32), None),
        (Binary("+", X, Load("unknown", INT32), INT32), None),
        (Const(1.5, FLOAT32), None),
    ],
)
def test_ranges_by_hand(expression: Expr, expected: tuple[int, int] | None) -> None:
    """x is 0 to 10, y is -3 to 9."""
    assert range_of(expression, {"x": (0, 10), "y": (-3, 9)}) == expected


def test_what_is_stored_has_the_range_of_its_type() -> None:
    byte = IntType(8, False)
    assert stored((0, 255), byte) == (0, 255)
    assert stored((0, 256), byte) == stored((-1, 0), byte) == stored(None, byte) == container(byte)
    assert stored((3, 4), FLOAT32) is None


def test_values_of_constants() -> None:
    assert value_of(Binary("*", Const(6, INT32), Const(7, INT32), INT32)) == 42
    assert value_of(Binary("*", Const(6, INT32), X, INT32)) is None


@settings(deadline=None)
@given(expressions(3), st.dictionaries(st.sampled_from((*NAMES, "list")), st.integers(-100, 100)))
def test_an_affine_form_is_its_expression(expression: Expr, given_values: dict[str, int]) -> None:
    form, values = affine(expression), dict.fromkeys((*NAMES, "list"), 3) | given_values
    assume(form is not None)
    assert form is not None
    assert computed(expression, values) == form.constant + sum(c * values[n] for n, c in form.terms)
    assert all(c for _, c in form.terms)


def test_affine_forms_by_hand() -> None:
    two = Const(2, INT32)
    twice = Binary("*", two, Binary("-", X, Const(3, INT32), INT32), INT32)
    assert affine(Binary("+", twice, Y, INT32)) == Affine(-6, (("x", 2), ("y", 1)))
    assert affine(Binary("-", twice, Binary("*", X, two, INT32), INT32)) == Affine(-6, ())
    assert affine(Binary("*", X, Const(0, INT32), INT32)) == Affine(0, ())
    assert affine(Unary("-", X, INT32)) == Affine(0, (("x", -1),))
    for other in (Binary("*", X, Y, INT32), Binary("/", X, two, INT32), Cast(X, INT32), Index("a", (X,), INT32)):
        assert affine(other) is None
