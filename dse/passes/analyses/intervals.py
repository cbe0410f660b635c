"""Intervals of integer expressions of the IR."""

from collections.abc import Mapping
from typing import TypeAlias

from dse.program.ir import Binary, Cast, Conditional, Const, Expr, Load, Unary

Interval: TypeAlias = tuple[int, int] | None
"""Lowest and highest value; None: not known."""


def interval(expression: Expr | None, known: Mapping[str, Interval]) -> Interval:
    """Return the interval of an integer expression."""
    match expression:
        case Const(value=int(value)):
            return int(value), int(value)
        case Load(name=name):
            return known.get(name)
        case Cast(operand=operand):
            return interval(operand, known)
        case Unary(op="-", operand=operand):
            inner = interval(operand, known)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op=op, left=left, right=right):
            return _combined(op, interval(left, known), interval(right, known))
        case Conditional(then=then, otherwise=otherwise):
            a, b = interval(then, known), interval(otherwise, known)
            return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
        case _:
            return None


def _combined(op: str, a: Interval, b: Interval) -> Interval:
    if op == "mod" and b is not None and b[0] == b[1] and b[0] > 0:
        return (0 if a is not None and a[0] >= 0 else 1 - b[0], b[0] - 1)
    if a is None or b is None:
        return None
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "/" if b[0] == b[1] and b[0] > 0 and a[0] >= 0:
            return a[0] // b[0], a[1] // b[0]
        case ">>" if b[0] == b[1] and 0 <= b[0] < 64 and a[0] >= 0:
            return a[0] >> b[0], a[1] >> b[0]
        case _:
            return None
