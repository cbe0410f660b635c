"""What the explicit rewrite leaves out and what it keeps, exactly at the boundary, against brute force.

Small index and value expressions over one 8-bit variable are evaluated for all 256 values. A check or a wrap is needed
if one of these values needs it. What is needed must be there; and since the ranges of these expressions are exact,
what is not needed must not be there.
"""

from collections.abc import Callable, Iterator

import pytest

from dse.passes.analyses.values import Values
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import ExplicitActor, Wiring
from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Binary,
    BinaryOp,
    Call,
    CallStmt,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    Copy,
    Declare,
    Expr,
    ForEach,
    Index,
    Load,
    Native,
    Routine,
    Stmt,
    Transition,
    Unary,
    Variable,
)
from dse.program.types import BOOL, INT32, IntType, ListType

U8, I8 = IntType(8, False), IntType(8, True)
ALONE = Wiring(inputs=(), loops=(), fan_outs=())
SIZES = (1, 2, 3, 5, 7, 8, 9, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257)


def explicit(variables: tuple[Variable, ...], body: tuple[Stmt, ...]) -> ExplicitActor:
    """An actor with one action of this body; nothing about its state is constant."""
    touched = tuple(Assign(v.name, (), Const(0, INT32)) for v in variables if not isinstance(v.type, ListType))
    cells = tuple(
        Assign(v.name, (Const(0, INT32),), Const(0, INT32)) for v in variables if isinstance(v.type, ListType)
    )
    action = Action("a", True, (), (), (), (), (*body, *touched, *cells))
    actor = Actor("A", "", (), (), variables, (), (), (action,), (), ("",), 0, ((Transition(0, 0),),))
    return make_explicit(actor, ALONE)[0]


def number(value: int) -> Const:
    return Const(value, INT32)


def binary(op: BinaryOp, left: Expr, right: int) -> Binary:
    return Binary(op, left, number(right), INT32)


def families(near: int) -> Iterator[tuple[Expr, Callable[[int], int], IntType]]:
    """Expressions of ``i`` whose values end near ``near``, what they give, and the type of ``i``."""
    for of in (U8, I8):
        i = Load("i", of)
        for d in (-2, -1, 0, 1):
            m = near + d
            yield binary("+", i, m), lambda v, m=m: v + m, of
            yield binary("-", i, m), lambda v, m=m: v - m, of
            if 0 <= m <= 255:
                yield binary("&", i, m), lambda v, m=m: v & m, of
            if m > 0 and of is U8 and m <= 256:
                yield binary("mod", i, m), lambda v, m=m: v % m, of
            yield Unary("-", binary("-", i, m), INT32), lambda v, m=m: m - v, of
        yield binary("*", i, 2), lambda v: 2 * v, of
        for s in (0, 1, 4, 7, 8):
            yield binary(">>", i, s), lambda v, s=s: v >> s, of
        yield Unary("~", i, INT32), lambda v: ~v, of
    chosen = Conditional(Binary("<", Load("i", U8), number(9), BOOL), number(near - 1), number(0), INT32)
    yield chosen, lambda v, near=near: near - 1 if v < 9 else 0, U8


def values_of(of: IntType) -> range:
    return range(-128, 128) if of.signed else range(256)


@pytest.mark.parametrize("size", SIZES)
def test_an_index_is_checked_exactly_where_it_may_be_out_of_bounds(size: int) -> None:
    for expr, value, of in families(size):
        values = [value(v) for v in values_of(of)]
        low, high = min(values) < 0, max(values) >= size
        cells = Variable("x", "x", ListType(U8, size), "state")
        actor = explicit((Variable("i", "i", of, "state"), cells), (Assign("x", (expr,), number(1)),))
        assert actor.firings[0] is not None
        store = actor.firings[0][0]
        assert isinstance(store, Assign)
        match store.indices[0]:
            case Check(size=bound, low=below, high=above):
                assert (bound, below, above) == (size, low, high), expr
            case _:
                assert not low, expr
                assert not high, expr


@pytest.mark.parametrize("bits", [1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33])
@pytest.mark.parametrize("signed", [False, True])
def test_a_store_wraps_exactly_where_the_value_may_not_fit(bits: int, signed: bool) -> None:
    target = IntType(bits, signed)
    container = next(b for b in (8, 16, 32, 64) if bits <= b)
    lowest, highest = (-(2 ** (container - 1)), 2 ** (container - 1) - 1) if signed else (0, 2**container - 1)
    for near in (0, lowest, lowest + 1, lowest + 128, highest - 255, highest - 127, highest, highest + 1):
        for expr, value, of in families(near):
            values = [value(v) for v in values_of(of)]
            needed = min(values) < lowest or max(values) > highest
            variables = (Variable("i", "i", of, "state"), Variable("y", "y", target, "state"))
            actor = explicit(variables, (Assign("y", (), expr),))
            assert actor.firings[0] is not None
            store = actor.firings[0][0]
            assert isinstance(store, Assign)
            assert isinstance(store.value, Cast) == needed, (expr, near)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_a_loop_variable_knows_its_range(size: int, extra: int) -> None:
    variable = Variable("k", "k", IntType(32, True), "loop")
    cells = Variable("x", "x", ListType(U8, size), "state")
    store = Assign("x", (Load("k", variable.type),), number(1))
    last = size - 1 + extra
    actor = explicit((cells,), (ForEach(variable, number(0), number(last), (store,)),))
    assert actor.firings[0] is not None
    loop = actor.firings[0][0]
    assert isinstance(loop, ForEach)
    (inner,) = loop.body
    assert isinstance(inner, Assign)
    assert isinstance(inner.indices[0], Check) == (extra > 0)


def test_a_loop_variable_that_may_leave_its_container_wraps_in_each_round() -> None:
    variable = Variable("k", "k", U8, "loop")
    state = Variable("n", "n", IntType(16, True), "state")
    (loop, *_) = explicit((state,), (ForEach(variable, number(0), Load("n", state.type), ()),)).firings[0] or ()
    assert isinstance(loop, ForEach)
    assert loop.variable.type == IntType(64, True)
    (first,) = loop.body
    assert isinstance(first, Declare)
    assert isinstance(first.value, Cast)
    assert first.value.type == U8


def test_a_local_that_nothing_else_writes_keeps_the_range_of_its_value() -> None:
    local = Variable("j", "j", IntType(32, True), "local")
    cells = Variable("x", "x", ListType(U8, 10), "state")
    body = (
        Declare(local, binary("mod", Load("i", U8), 10)),
        Assign("x", (Load("j", local.type),), number(1)),
    )
    actor = explicit((Variable("i", "i", U8, "state"), cells), body)
    store = (actor.firings[0] or ())[1]
    assert isinstance(store, Assign)
    assert not isinstance(store.indices[0], Check)
    again = (*body, Assign("j", (), number(99)))
    store = (explicit((Variable("i", "i", U8, "state"), cells), again).firings[0] or ())[1]
    assert isinstance(store, Assign)
    assert isinstance(store.indices[0], Check)


@pytest.mark.parametrize("local", [False, True])
def test_reading_an_element_that_was_checked_may_give_zero(local: bool) -> None:
    """A table of 5 to 9 read at a checked index gives 0 too, whatever its elements are."""
    of = ListType(U8, 3)
    table = ConstList((5, 6, 9), of)
    cells, i = Variable("x", "x", ListType(U8, 10), "state"), Variable("i", "i", U8, "state")
    read = Index("t", (Load("i", U8),), U8)
    store = Assign("x", (Binary("-", read, number(5), INT32),), number(1))
    spoilt = (Assign("i", (), number(0)), Assign("x", (number(0),), number(0)))
    declared = (Declare(Variable("t", "t", of, "local"), table),) if local else ()
    constants = () if local else (Variable("t", "t", of, "constant", table),)
    action = Action("a", True, (), (), (), declared, (store, *spoilt))
    actor = Actor("A", "", (), (), (*constants, i, cells), (), (), (action,), (), ("",), 0, ((Transition(0, 0),),))
    found = (make_explicit(actor, ALONE)[0].firings[0] or ())[len(declared)]
    assert isinstance(found, Assign)
    check = found.indices[0]
    assert isinstance(check, Check)
    assert (check.low, check.high) == (True, False)


def reading(table: Variable, declared: tuple[Declare, ...] = ()) -> Expr | None:
    """The value that ``y`` of 5 values, zero among them, gets when it is element ``i`` of a table, less 5."""
    i, y = Variable("i", "i", U8, "state"), Variable("y", "y", IntType(8, False), "state")
    read = Binary("-", Index(table.name, (binary("mod", Load("i", U8), 3),), U8), number(5), INT32)
    constants = (table,) if table.kind == "constant" else ()
    spoilt = tuple(Assign(name, (), number(0)) for name in "iy")
    action = Action("a", True, (), (), (), declared, (Assign("y", (), read), *spoilt))
    actor = Actor("A", "", (), (), (*constants, i, y), (), (), (action,), (), ("",), 0, ((Transition(0, 0),),))
    found = (make_explicit(actor, ALONE)[0].firings[0] or ())[len(declared)]
    assert isinstance(found, Assign)
    return found.value


def test_a_table_that_is_filled_up_with_zeros_holds_zero_too() -> None:
    """All elements are at least 5: then 5 may be taken away without a wrap, unless zeros fill the table up."""
    full, short = ListType(U8, 3), ListType(U8, 2)
    whole = Variable("t", "t", full, "constant", ConstList((5, 6, 9), full))
    padded = Variable("t", "t", full, "constant", ConstList((5, 6), short))
    assert isinstance(reading(whole), Cast)  # a constant table counts as one that may be padded
    assert isinstance(reading(padded), Cast)
    local = Variable("t", "t", full, "local")
    assert not isinstance(reading(local, (Declare(local, ConstList((5, 6, 9), full)),)), Cast)
    assert isinstance(reading(local, (Declare(local, ConstList((5, 6), short)),)), Cast)


@pytest.mark.parametrize(("last", "wraps"), [(254, False), (255, False), (256, True)])
def test_a_loop_variable_wraps_from_the_first_value_beyond_its_container(last: int, wraps: bool) -> None:
    variable = Variable("k", "k", U8, "loop")
    (loop, *_) = explicit((), (ForEach(variable, number(0), number(last), ()),)).firings[0] or ()
    assert isinstance(loop, ForEach)
    assert (loop.variable != variable) == wraps


@pytest.mark.parametrize(("index", "first"), [(2, Assign), (3, Declare)])
def test_a_call_in_a_store_that_may_be_dropped_comes_before_it(index: int, first: type[Stmt]) -> None:
    """What the call does must happen even when the element does not exist."""
    routine = Routine("f", "f", (), (), (), number(7), U8)
    cells = Variable("x", "x", ListType(U8, 3), "state")
    store = Assign("x", (number(index),), Call("f", (), U8))
    action = Action("a", True, (), (), (), (), (store,))
    actor = Actor("A", "", (), (), (cells,), (routine,), (), (action,), (), ("",), 0, ((Transition(0, 0),),))
    found = make_explicit(actor, ALONE)[0].firings[0] or ()
    assert isinstance(found[0], first)
    assert isinstance(found[-1], Assign)


def test_a_copy_that_is_filled_up_with_zeros_holds_zero_too() -> None:
    """Elements of 5 to 9 in a longer list: a store of them less 5 has to wrap."""
    long, short = ListType(U8, 4), ListType(U8, 3)
    values = Values({}, {})
    table = ConstList((5, 6, 9), short)
    assert values.of(Copy(table, long, convert=False)).bounds == (0, 9)
    assert values.of(Copy(table, short, convert=False)).bounds == (5, 9)
    assert values.of(Copy(table, ListType(U8, 2), convert=False)).bounds == (5, 9)
    assert values.of(Copy(table, long, convert=False)).length == 4


@pytest.mark.parametrize("passed", [False, True])
def test_a_table_that_a_native_may_write_is_known_no_more(passed: bool) -> None:
    """Its elements are 1 to 3; what a native leaves in it may be anything that its type holds."""
    of = ListType(U8, 3)
    table, y = Variable("t", "t", of, "state", ConstList((1, 2, 3), of)), Variable("y", "y", U8, "state")
    native = Native("n", "n", "A", (Variable("p", "p", of, "parameter"),), None)
    call = (CallStmt("n", (Load("t", of),)),) if passed else ()
    store = Assign("y", (), Binary("+", Index("t", (number(0),), U8), number(252), INT32))
    action = Action("a", True, (), (), (), (), (store, *call, Assign("y", (), number(0))))
    actor = Actor("A", "", (), (), (table, y), (), (native,), (action,), (), ("",), 0, ((Transition(0, 0),),))
    found = (make_explicit(actor, ALONE)[0].firings[0] or ())[0]
    assert isinstance(found, Assign)
    assert isinstance(found.value, Cast) == passed
