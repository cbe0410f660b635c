"""Loops in another order leave every element as it was: random nests, executed before and after."""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.frontend.c.lower import kernels_of
from dse.passes.rewrites.loop_order import distributed, with_parallel_loop_outside
from dse.program.ir import Assign, Binary, Const, Expr, ForEach, Index, Load, Stmt

N = 5
Memory = dict[tuple[str, tuple[int, ...]], int]


def loop_of(body: str) -> ForEach:
    arrays = "int a[9][9], int b[9][9], int c[9], int d[9]"
    (kernel,) = kernels_of("k.c", f"void f({arrays}) {{ for (int i = 1; i < {N}; i++) {{ {body} }} }}", {})
    (loop,) = kernel.body
    assert isinstance(loop, ForEach)
    return loop


def executed(loops: Iterable[ForEach]) -> Memory:
    """Execute loops; elements that nothing wrote are numbers of their own."""
    memory: Memory = {}
    for loop in loops:
        run((loop,), {}, memory)
    return memory


def run(body: tuple[Stmt, ...], known: dict[str, int], memory: Memory) -> None:
    for statement in body:
        match statement:
            case ForEach():
                low, high = value(statement.low, known, memory), value(statement.high, known, memory)
                for at in range(low, high + 1, statement.step):
                    run(statement.body, known | {statement.variable.name: at}, memory)
            case Assign():
                place = statement.name, tuple(value(i, known, memory) for i in statement.indices)
                memory[place] = value(statement.value, known, memory)
            case _:
                raise AssertionError(statement)


def value(expression: Expr, known: dict[str, int], memory: Memory) -> int:
    match expression:
        case Const(value=int(number)):
            return number
        case Load(name=name):
            return known[name]
        case Index(name=name, indices=indices):
            at = tuple(value(i, known, memory) for i in indices)
            return memory.get((name, at), hash((name, at)) % 1000)
        case Binary(op=op, left=left, right=right):
            a, b = value(left, known, memory), value(right, known, memory)
            return {"+": a + b, "-": a - b, "*": a * b}[op] % 1_000_003
        case _:
            return value(expression.operand, known, memory)  # type: ignore[union-attr]  # a conversion


SUBSCRIPT = st.sampled_from(["i", "j", "i + 1", "i - 1", "j - 1", "8 - j", "3"])
PLACE = st.one_of(
    st.tuples(st.sampled_from("ab"), SUBSCRIPT, SUBSCRIPT).map(lambda p: f"{p[0]}[{p[1]}][{p[2]}]"),
    st.tuples(st.sampled_from("cd"), SUBSCRIPT).map(lambda p: f"{p[0]}[{p[1]}]"),
)
STATEMENT = st.tuples(PLACE, PLACE, PLACE, st.sampled_from("+-*")).map(lambda p: f"{p[0]} = {p[1]} {p[3]} {p[2]};")
INNER = st.lists(STATEMENT, min_size=1, max_size=3).map(lambda s: f"for (int j = 1; j < {N}; j++) {{ {' '.join(s)} }}")


@given(st.lists(INNER, min_size=1, max_size=2))
def test_no_element_changes(parts: list[str]) -> None:
    loop = loop_of(" ".join(parts))
    before = executed([loop])
    cut = distributed(loop)
    assert executed(cut) == before
    for part in (loop, *cut):
        turned = with_parallel_loop_outside(part)
        if turned is not None:
            assert executed([turned]) == executed([part])
            assert turned.variable != part.variable


@pytest.mark.parametrize(
    ("body", "parts", "turned"),
    [
        ("c[i] = 0; for (int j = 1; j < 5; j++) c[i] = c[i] + a[i][j];", 2, False),
        ("c[i] = d[i]; d[i] = c[i + 1];", 1, False),  # the second one reads what a later round writes
        ("c[i + 1] = d[i]; d[i] = c[i];", 1, False),
        ("for (int j = 1; j < 5; j++) d[j] = d[j] + a[i][j];", 1, True),
        ("for (int j = 1; j < i; j++) d[j] = d[j] + a[i][j];", 1, False),  # a triangle stays
        ("for (int j = 1; j < 5; j++) d[j] = d[j - 1] + a[i][j];", 1, False),
        ("for (int j = 1; j < 5; j++) { d[j] = d[j] + a[i][j]; c[i] = c[i] + a[i][j]; }", 2, False),
    ],
)
def test_what_is_cut_and_turned(body: str, parts: int, turned: bool) -> None:
    loop = loop_of(body)
    assert len(distributed(loop)) == parts
    assert (with_parallel_loop_outside(loop) is not None) is turned


def test_the_random_nests_are_often_cut_and_turned() -> None:
    """Else the property above would say nothing."""
    places = ["a[i][j]", "a[j][i]", "b[i][j]", "c[j]", "d[i]"]
    loops = [
        loop_of(f"for (int j = 1; j < 5; j++) {{ {x} = {x} + b[j][3]; {y} = {y} + {x}; }}")
        for x, y in itertools.product(places, places)
    ]
    assert sum(len(distributed(loop)) > 1 for loop in loops) > 5
    assert sum(with_parallel_loop_outside(loop) is not None for loop in loops) > 3
