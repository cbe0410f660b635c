"""Loops cut in parts and put in another order, where no value can change: what a port to a GPU begins with.

*Distribution* (Kennedy and McKinley, 1990)::

    for (i) { A; B; }    becomes    for (i) A; for (i) B;

B of a round would then run after A of later rounds. That changes nothing if A and B touch no common data, or, of each
array that one of them writes, only the elements of their own round: all their accesses of it have one and the same
subscript in some dimension, a multiple of i and a constant. *Interchange* (Allen and Kennedy, 1984)::

    for (i) for (j) S    becomes    for (j) for (i) S

It changes nothing if rounds of different j never touch the same data: of each array that S writes all accesses have
one and the same subscript in some dimension, a multiple of j and a constant. Rounds of j keep the order that i gave
them, so that even sums of reals stay the same to the last bit.

Both conditions are sufficient, not necessary: what they do not see is left as it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dse.passes.analyses.affine import Affine, affine
from dse.program.ir import Assign, Declare, Expr, ForEach, If, Index, Load, Stmt
from dse.program.walk import expressions_of, sub_expressions, sub_statements

_Access = tuple[str, tuple[Expr, ...], bool]
"""Name, subscripts, and whether it is written; a scalar has no subscripts."""


def distributed(loop: ForEach) -> tuple[ForEach, ...]:
    """Return the loops that a loop can be cut into, from the inside out, in their order; itself if it cannot."""
    if not all(isinstance(s, Assign | Declare | ForEach | If) for s in sub_statements((loop,))):
        return (loop,)
    body: list[Stmt] = []
    for statement in loop.body:
        body += distributed(statement) if isinstance(statement, ForEach) else [statement]
    return tuple(replace(loop, body=part) for part in _parts(body, loop.variable.name))


def with_parallel_loop_outside(loop: ForEach) -> ForEach | None:
    """Return a nest with the first inner loop outermost whose rounds touch nothing in common, None without one."""
    nest = list(_nest(loop))
    body = nest[-1].body
    for depth in range(1, len(nest)):
        inner, outer = nest[depth], nest[:depth]
        if not _bounded_by(inner, outer) and _only_own_scalars(body) and _apart(body, inner.variable.name):
            return replace(inner, body=(_nested([*outer, *nest[depth + 1 :]], body),))
    return None


def _bounded_by(loop: ForEach, outer: Sequence[ForEach]) -> bool:
    """Return whether the bounds of a loop depend on loops around it."""
    read = {e.name for bound in (loop.low, loop.high) for e in sub_expressions(bound) if isinstance(e, Load)}
    return bool(read & {o.variable.name for o in outer})


def _nest(loop: ForEach) -> Iterator[ForEach]:
    """Yield the loops of a perfect nest, the outermost first."""
    yield loop
    if len(loop.body) == 1 and isinstance(loop.body[0], ForEach):
        yield from _nest(loop.body[0])


def _nested(loops: Sequence[ForEach], body: tuple[Stmt, ...]) -> ForEach:
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    found = body[0]
    assert isinstance(found, ForEach), "there is a loop"
    return found


def _only_own_scalars(body: tuple[Stmt, ...]) -> bool:
    own = {s.variable.name for s in sub_statements(body) if isinstance(s, Declare)}
    return {s.name for s in sub_statements(body) if isinstance(s, Assign) and not s.indices} <= own


def _apart(body: tuple[Stmt, ...], variable: str) -> bool:
    """Return whether rounds of different values of a variable never touch what one of them writes."""
    accesses = [a for s in body for a in _accesses(s) if a[1]]
    return all(_by_rounds(accesses, name, variable) for name in {name for name, _, written in accesses if written})


def _parts(body: Sequence[Stmt], variable: str) -> list[tuple[Stmt, ...]]:
    """Return runs of statements that must stay in one loop; statements between two of a run belong to it."""
    parts: list[tuple[Stmt, ...]] = []
    for statement in body:
        tied = [k for k, part in enumerate(parts) if any(_tied(one, statement, variable) for one in part)]
        first = tied[0] if tied else len(parts)
        parts[first:] = [(*(s for part in parts[first:] for s in part), statement)]
    return parts


def _tied(one: Stmt, other: Stmt, variable: str) -> bool:
    """Return whether a round of one statement may touch what another round of the other one writes, or inversely."""
    left, right = list(_accesses(one)), list(_accesses(other))
    names = {name for name, _, _ in left} & {name for name, _, _ in right}
    written = {name for name, _, stored in (*left, *right) if stored} & names
    return any(not _by_rounds([*left, *right], name, variable) for name in written)


def _by_rounds(accesses: Iterable[_Access], name: str, variable: str) -> bool:
    """Return whether all accesses of an array have one subscript in common that tells the round of a loop."""
    found = [indices for of, indices, _ in accesses if of == name]
    dimensions = min(map(len, found))
    return any(_tells(affine(found[0][d]), variable) and _same(found, d) for d in range(dimensions))


def _tells(form: Affine | None, variable: str) -> bool:
    return form is not None and [name for name, _ in form.terms] == [variable]


def _same(found: list[tuple[Expr, ...]], dimension: int) -> bool:
    return len({affine(indices[dimension]) for indices in found}) == 1


def _accesses(statement: Stmt) -> Iterator[_Access]:
    for part in sub_statements((statement,)):
        for expression in expressions_of(part):
            for e in sub_expressions(expression):
                if isinstance(e, Index):
                    yield e.name, e.indices, False
                elif isinstance(e, Load):
                    yield e.name, (), False
        if isinstance(part, Assign):
            yield part.name, part.indices, True
        elif isinstance(part, Declare):
            yield part.variable.name, (), True
