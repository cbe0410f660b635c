"""Sizes of arrays that C leaves open (``float *a``, ``float a[][N]``): the greatest subscript, by intervals."""

from collections.abc import Iterable, Mapping

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.model.kernel import ArrayInfo
from dse.passes.analyses.intervals import Interval, interval
from dse.program.ir import Assign, Declare, Expr, ForEach, If, Index, Stmt, While
from dse.program.walk import expressions_of, sub_expressions


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
