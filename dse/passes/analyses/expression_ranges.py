"""The range of an expression of the IR, from the ranges of the variables in it.

The domain is that of ``ranges``; here is only the walk over an expression of the IR as front ends make it, with the
ranges that variables have at one place (``values`` knows the explicit IR, and a variable as a whole). As everywhere in
the IR, values are unbounded until a ``Cast``, or the one who stores them, wraps them.
"""

from collections.abc import Mapping

from dse.passes.analyses.ranges import Interval, binary, complemented, container, counts, fits, hull, negated
from dse.program.ir import Binary, Cast, Conditional, Const, Expr, ForEach, Index, Load, Unary
from dse.program.types import IntType, Type


def range_of(expression: Expr | None, known: Mapping[str, Interval]) -> Interval:
    """Return the range of an integer expression, None where nothing is known of it.

    ``known``: the ranges of variables, and of the elements of lists, by name; of others nothing is known.
    """
    match expression:
        case Const(value=int(value)):
            return int(value), int(value)
        case Load(name=name) | Index(name=name):
            return known.get(name)
        case Cast(operand=operand, type=of):
            return stored(range_of(operand, known), of)
        case Unary(op="-", operand=operand):
            return negated(range_of(operand, known))
        case Unary(op="~", operand=operand):
            return complemented(range_of(operand, known))
        case Binary():
            return _binary(expression, known)
        case Conditional(then=then, otherwise=otherwise):
            return hull(range_of(then, known), range_of(otherwise, known))
        case _:
            return None


def stored(value: Interval, of: Type) -> Interval:
    """Return the range of a value after it was wrapped to a type; None for a type that is no integer."""
    if not isinstance(of, IntType):
        return None
    return value if fits(value, container(of)) else container(of)


def value_of(expression: Expr) -> int | None:
    """Return the value of an integer expression of constants, None for any other."""
    found = range_of(expression, {})
    return found[0] if found is not None and found[0] == found[1] else None


def _binary(expression: Binary, known: Mapping[str, Interval]) -> Interval:
    left, right = range_of(expression.left, known), range_of(expression.right, known)
    if expression.op == "mod" and left is None:
        left = hull(right, negated(right))  # a remainder is nearer to 0 than what was divided by, whatever was divided
    if expression.op in ("<<", ">>"):
        right = counts(right, expression.left.type)
    return binary(expression.op, left, right)


def rounds_of(loop: ForEach) -> int | None:
    """Return how often a loop runs, None where its bounds are not known."""
    low, high = value_of(loop.low), value_of(loop.high)
    return None if low is None or high is None else max(0, (high - low) // loop.step + 1)
