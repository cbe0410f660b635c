"""What is known of values holds for every value: random expressions with extreme operands, evaluated and bounded.

The evaluator and the generator of programs are those of the expression tests, with shift counts of any sign added.
"""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from dse.passes.analyses import ranges
from dse.passes.analyses.values import Values, bounds_of_table
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from dse.program.ir import Action, Actor, Assign, Binary, Const, Declare, Expr, Load, Stmt, Transition, Variable
from dse.program.types import IntType, ListType
from tests.examples import examples
from tests.property.test_interp_expressions import ANY, DivisionByZero, Writer, evaluate, touching

ALONE = Wiring(inputs=(), loops=(), fan_outs=())


def explicit_values(variables: list[Variable], exprs: list[Expr]) -> tuple[list[Expr], Values]:
    """The expressions made explicit, as the values of locals wide enough for anything, and what is known of them."""
    wide = IntType(512, True)
    body: list[Stmt] = [Declare(Variable(f"x{k}", f"x{k}", wide, "local"), e) for k, e in enumerate(exprs)]
    spoilt = [Assign(f"x{k}", (), Const(0, ANY)) for k in range(len(exprs))]
    action = Action("a", True, (), (), (), (), (*body, *spoilt, *touching(variables)))
    actor = Actor("A", "", (), (), tuple(variables), (), (), (action,), (), ("",), 0, ((Transition(0, 0),),))
    explicit, values = make_explicit(actor, ALONE)
    found = [s.value for s in (explicit.firings[0] or ()) if isinstance(s, Declare)]
    return [e for e in found if e is not None], values


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 1 << 32))
def test_no_value_leaves_its_bounds(seed: int) -> None:
    writer = Writer(seed, any_counts=True)
    variables, env = writer.variables()
    exprs = [writer.expression(writer.random.randint(1, 4)) for _ in range(12)]
    explicit, values = explicit_values(variables, exprs)
    for _ in range(8):
        for expr, known in zip(exprs, explicit, strict=True):
            try:
                value = evaluate(expr, env)
            except DivisionByZero:
                continue
            bounds = values.interval(known)
            if bounds is not None:
                assert bounds[0] <= value <= bounds[1], (expr, env)
        env = {name: _another(writer, variables, name) for name in env}


def _another(writer: Writer, variables: list[Variable], name: str) -> object:
    """Another value, or other elements, of a variable."""
    of = next(v.type for v in variables if v.name == name)
    if isinstance(of, ListType):
        assert isinstance(of.element, IntType)
        return [writer.value(of.element) for _ in range(of.size)]
    assert isinstance(of, IntType)
    return writer.value(of)


OPERATORS = ("+", "-", "*", "/", "mod", "&", "|", "^", "<<", ">>")


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 1 << 32))
def test_the_range_of_an_operator_holds_all_results_and_reaches_both_ends(seed: int) -> None:
    """All pairs of small ranges by brute force; ends are reached for the operators whose ranges are exact."""
    rng = random.Random(seed)
    left, right = (tuple(sorted((rng.randint(-9, 9), rng.randint(-9, 9)))) for _ in range(2))
    a, b = (left[0], left[1]), (right[0], right[1])
    for op in OPERATORS:
        counts = ranges.counts(b, ANY) if op in ("<<", ">>") else b
        found = ranges.binary(op, a, counts)
        results = []
        for x in range(a[0], a[1] + 1):
            for y in range(b[0], b[1] + 1):
                if op not in ("/", "mod") or y:
                    names = {"x": x, "y": y}
                    results.append(evaluate(_operation(op), names))
        if found is None or not results:
            continue
        assert found[0] <= min(results), op
        assert max(results) <= found[1], op
        exact = op in ("+", "-", "*") or (op in ("<<", ">>") and b[0] >= 0)
        if exact:
            assert found == (min(results), max(results)), op


def _operation(op: str) -> Expr:
    return Binary(op, Load("x", ANY), Load("y", ANY), ANY)  # type: ignore[arg-type]


def test_tables_are_bounded_whatever_their_shape() -> None:
    assert bounds_of_table((3, -4, 9)) == (-4, 9)
    assert bounds_of_table(((3,), (), (7, -1))) == (-1, 7)
    assert bounds_of_table((((5,),), ((6, 2),))) == (2, 6)
    assert bounds_of_table(()) is None
    assert bounds_of_table((True, False)) is None
    assert bounds_of_table((0.5,)) is None
