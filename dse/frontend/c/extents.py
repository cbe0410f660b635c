"""Sizes of arrays that C leaves open (``float *a``, ``float a[][N]``): the greatest subscript, by ranges.

A subscript of which nothing is known tells no size and is an error: arrays then need a declared one. A negative one is
not looked for here: the execution of the trace refuses it at its place.
"""

from collections.abc import Iterable, Mapping

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.c.variable_ranges import RangeWalk, State, kept
from dse.model.kernel import ArrayInfo, Kernel
from dse.passes.analyses.expression_ranges import range_of
from dse.passes.analyses.ranges import Interval
from dse.program.ir import Assign, Cast, Expr, Index, Stmt
from dse.program.walk import expressions_of, sub_expressions


def array_extents(
    arrays: Iterable[ArrayInfo], kernels: Iterable[Kernel], gatherer: Gatherer
) -> Mapping[str, tuple[int, ...]]:
    """Return the dimensions of the arrays whose first one is open (0), from all subscripts of all kernels."""
    open_arrays = {a.name: a for a in arrays if a.dims and a.dims[0] == 0}
    if not open_arrays:
        return {}
    subscripts = _Subscripts(open_arrays, gatherer)
    for kernel in kernels:
        subscripts.walk = RangeWalk(kernel)
        subscripts.walk.run(subscripts.look_at)
    return {name: (subscripts.highest[name] + 1, *a.dims[1:]) for name, a in open_arrays.items()}


class _Subscripts:
    """Gathers the greatest subscript of each open array."""

    walk: RangeWalk

    def __init__(self, arrays: Mapping[str, ArrayInfo], gatherer: Gatherer) -> None:
        self._arrays, self._gatherer = arrays, gatherer
        self.highest = dict.fromkeys(arrays, 0)
        self._untold: set[Span] = set()

    def look_at(self, statement: Stmt, state: State) -> None:
        """Note the subscripts of a statement."""
        for expression in expressions_of(statement):
            for part, known in self.walk.reads(expression, state):
                if isinstance(part, Index):
                    self._note(part.name, part.indices[0], part.span, known)
        if isinstance(statement, Assign) and statement.indices:
            self._note(statement.name, statement.indices[0], statement.span, state)

    def _note(self, name: str, index: Expr, span: Span, known: State) -> None:
        if name not in self._arrays:
            return
        found = _told(index, known)
        if found is not None:
            self.highest[name] = max(self.highest[name], found[1])
        elif span not in self._untold:
            self._untold.add(span)
            source = self._arrays[name].source_name
            self._gatherer.error(
                f"the size of {source} is not given and this subscript does not tell it",
                span,
                f"declare the array with its size, {source}[N] instead of *{source}",
            )


def _told(index: Expr, known: State) -> Interval:
    """Return the range of a subscript; None where a conversion in it may give any number of its type."""
    for part in sub_expressions(index):
        if isinstance(part, Cast) and kept(range_of(part.operand, known), part.type) is None:
            return None
    return range_of(index, known)
