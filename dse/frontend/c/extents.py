"""Sizes of arrays that C leaves open (``float *a``, ``float a[][N]``): the greatest subscript, by intervals."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.model.ir import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Const,
    Declare,
    Expr,
    ForEach,
    If,
    Index,
    Load,
    Stmt,
    Unary,
    While,
)
from dse.model.kernel import ArrayInfo
from dse.passes.walk import expressions_of, sub_expressions

Interval: TypeAlias = tuple[int, int] | None
"""Lowest and highest value; None: not known."""


def array_extents(
    arrays: Iterable[ArrayInfo], bodies: Iterable[tuple[Stmt, ...]], gatherer: Gatherer
) -> Mapping[str, tuple[int, ...]]:
    """Return the dimensions of the arrays whose first one is open (0), from all subscripts of all bodies."""
    open_arrays = {a.name: a for a in arrays if a.dims and a.dims[0] == 0}
    if not open_arrays:
        return {}
    walk = _Walk(open_arrays, gatherer)
    for body in bodies:
        walk.statements(body, {})
    return {name: (walk.highest.get(name, 0) + 1, *a.dims[1:]) for name, a in open_arrays.items()}


class _Walk:
    """Follows the loops with an interval for each variable that counts."""

    def __init__(self, arrays: Mapping[str, ArrayInfo], gatherer: Gatherer) -> None:
        self.arrays, self.gatherer = arrays, gatherer
        self.highest: dict[str, int] = {}

    def statements(self, statements: tuple[Stmt, ...], known: dict[str, Interval]) -> None:
        """Note the subscripts of statements."""
        for statement in statements:
            for expression in expressions_of(statement):
                for part in sub_expressions(expression):
                    if isinstance(part, Index):
                        self._note(part.name, part.indices[0], part.span, known)
            match statement:
                case Assign():
                    if statement.indices:
                        self._note(statement.name, statement.indices[0], statement.span, known)
                    else:
                        known[statement.name] = None
                case Declare():
                    known[statement.variable.name] = interval(statement.value, known)
                case ForEach():
                    low, high = interval(statement.low, known), interval(statement.high, known)
                    ends = [e for i in (low, high) if i is not None for e in i]
                    known[statement.variable.name] = (min(ends), max(ends)) if len(ends) == 4 else None
                    self.statements(statement.body, known)
                case If():
                    self.statements(statement.then, known)
                    self.statements(statement.otherwise, known)
                case While():
                    self.statements(statement.body, known)
                case _:
                    pass

    def _note(self, name: str, index: Expr, span: Span, known: Mapping[str, Interval]) -> None:
        if name not in self.arrays:
            return
        found = interval(index, known)
        if found is None:
            source = self.arrays[name].source_name
            self.gatherer.error(
                f"the size of {source} is not given and this subscript does not tell it",
                span,
                f"declare the array with its size, {source}[N] instead of *{source}",
            )
            return
        self.highest[name] = max(self.highest.get(name, 0), found[1])


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
