"""Transposing an array of a kernel so that neighbouring threads meet neighbouring elements (CGPredict, section 4.4.1).

An access is transposed when the variable of the fastest parallel loop (x) stands in a subscript before the last one and
not in the last: neighbouring threads are then a row apart. Its subscript is swapped with the last one. An array that is
read in other ways too gets a transposed copy, ``A_t``; making the copy is not part of the changed kernel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from dse.model.kernel import ArrayInfo, Kernel
from dse.program.ir import (
    Assign,
    Expr,
    ForEach,
    Index,
    Load,
    Stmt,
    While,
)
from dse.program.walk import (
    expressions_of,
    operands_of,
    reads_any,
    sub_expressions,
    sub_statements,
    with_operands,
    with_parts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transposition:
    """Swap subscript ``dimension`` of ``array`` with its last; ``copied``: other accesses keep the array as it is."""

    array: str
    dimension: int
    copied: bool


@dataclass(frozen=True, slots=True)
class _Access:
    array: str
    indices: tuple[Expr, ...]
    is_store: bool


def transpositions(kernel: Kernel) -> tuple[Transposition, ...]:
    """Return the transpositions that would help, in the order of the arrays."""
    if not kernel.parallel:
        return ()
    x = kernel.parallel[0].variable.name
    accesses = list(_accesses(kernel.body))
    candidates = [a for a in kernel.arrays if a.storage == "global" and len(a.dims) > 1]
    found = (_transposition(array, [a for a in accesses if a.array == array.name], x) for array in candidates)
    return tuple(change for change in found if change is not None)


def _transposition(array: ArrayInfo, accesses: list[_Access], x: str) -> Transposition | None:
    """Return the transposition that would help an array, of which these are all accesses."""
    dimensions = [_row_apart(a.indices, x) for a in accesses]
    far = [d for d in dimensions if d is not None]
    if not far or any(len(a.indices) != len(array.dims) for a in accesses):
        return None
    dimension, copied = far[0], dimensions.count(far[0]) < len(dimensions)
    if copied and any(a.is_store for a in accesses):
        return None  # a copy would not see what is written
    return Transposition(array=array.name, dimension=dimension, copied=copied)


def touched_once(kernel: Kernel, change: Transposition) -> bool:
    """Return whether each thread of a plane touches one element of the array: no loop of the thread moves it.

    Then a block can turn its own square of the array around in shared memory.
    """
    loops = [s for s in sub_statements(kernel.body) if isinstance(s, ForEach | While)]
    moved = (
        isinstance(loop, While) or any(reads_any((index,), {loop.variable.name}) for index in access.indices)
        for loop in loops
        for access in _accesses(kernel.body)
        if access.array == change.array
    )
    return len(kernel.parallel) == 2 and not any(moved)


def transposed(kernel: Kernel, change: Transposition) -> Kernel:
    """Return the kernel with the accesses of ``change`` transposed."""
    x = kernel.parallel[0].variable.name
    target = f"{change.array}_t" if change.copied else change.array

    def swap(name: str, indices: tuple[Expr, ...]) -> tuple[str, tuple[Expr, ...]]:
        if name != change.array or _row_apart(indices, x) != change.dimension:
            return name, indices
        return target, _swapped(indices, change.dimension)

    arrays: list[ArrayInfo] = []
    for array in kernel.arrays:
        if array.name != change.array:
            arrays.append(array)
            continue
        turned = replace(
            array, name=target, source_name=f"{array.source_name}_t", dims=_swapped(array.dims, change.dimension)
        )
        arrays += [array, turned] if change.copied else [turned]
    return replace(kernel, arrays=tuple(arrays), body=_statements(kernel.body, swap))


_Item = TypeVar("_Item")
_Swap = Callable[[str, tuple[Expr, ...]], tuple[str, tuple[Expr, ...]]]


def _swapped(items: tuple[_Item, ...], dimension: int) -> tuple[_Item, ...]:
    turned = list(items)
    turned[dimension], turned[-1] = turned[-1], turned[dimension]
    return tuple(turned)


def _row_apart(indices: tuple[Expr, ...], x: str) -> int | None:
    """Return the subscript that holds ``x`` when the last one does not, else None."""
    holding = [k for k, index in enumerate(indices) if reads_any((index,), {x})]
    return holding[-1] if holding and holding[-1] < len(indices) - 1 else None


def index_expressions(body: tuple[Stmt, ...]) -> Iterator[Index]:
    """Yield the element reads of a body, in order."""
    for statement in sub_statements(body):
        for expression in expressions_of(statement):
            yield from (e for e in sub_expressions(expression) if isinstance(e, Index))


def _accesses(body: tuple[Stmt, ...]) -> Iterator[_Access]:
    """Yield every access to a list of a body; a whole list (passed to a routine) has no indices."""
    for statement in sub_statements(body):
        for expression in expressions_of(statement):
            for e in sub_expressions(expression):
                if isinstance(e, Index):
                    yield _Access(e.name, e.indices, False)
                elif isinstance(e, Load):
                    yield _Access(e.name, (), False)
        if isinstance(statement, Assign) and statement.indices:
            yield _Access(statement.name, statement.indices, True)


def _statements(body: tuple[Stmt, ...], swap: _Swap) -> tuple[Stmt, ...]:
    return tuple(_statement(statement, swap) for statement in body)


def _statement(statement: Stmt, swap: _Swap) -> Stmt:
    found = with_parts(statement, lambda e: _expression(e, swap), lambda part: _statements(part, swap))
    if not isinstance(found, Assign):
        return found
    name, indices = swap(found.name, found.indices)
    return replace(found, name=name, indices=indices)


def _expression(expression: Expr, swap: _Swap) -> Expr:
    operands = tuple(_expression(e, swap) for e in operands_of(expression))
    found = with_operands(expression, operands) if operands else expression
    if not isinstance(found, Index):
        return found
    name, indices = swap(found.name, found.indices)
    return replace(found, name=name, indices=indices)
