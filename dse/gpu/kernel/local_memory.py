"""Arrays of a thread: which stay in its registers, and the others as what they are, memory of the device.

A compiler keeps an array in registers if it knows all subscripts once it has unrolled the loops around them, and if
there is room (CUDA C Programming Guide, section Local Memory). Any other array of a thread lies in local memory: in the
device's memory, laid out so that threads which stand beside each other find the same element beside each other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dse.gpu.kernel.transpose import index_expressions
from dse.model.kernel import ArrayInfo, Kernel
from dse.passes.analyses.affine import affine
from dse.passes.analyses.expression_ranges import rounds_of
from dse.program.ir import Assign, Binary, Const, Declare, Expr, ForEach, Index, Load, Stmt
from dse.program.types import IntType
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements, with_operands, with_parts

MOST_WORDS = 64
"""Words of 4 bytes of all arrays of a thread that registers hold, which have 255 at most. An assumption."""
MOST_UNROLLED = 32
"""Rounds of a loop that compilers unroll entirely. An assumption."""
_WORD_BYTES = 4
_WIDE = IntType(64, True)


def spilled_arrays(kernel: Kernel) -> frozenset[str]:
    """Return the names of the arrays of a thread that lie in local memory.

    A declaration with a value keeps an array where it is, since only single elements can be moved.
    """
    whole = set(_whole_uses(kernel.body))
    own = [a for a in kernel.arrays if a.storage == "local" and a.name not in whole]
    unrolled = _unrolled(kernel)
    left, found = MOST_WORDS, []
    for array in sorted(own, key=lambda a: a.elements):
        words = array.elements * -(-array.element_bytes // _WORD_BYTES)
        if words <= left and all(_known(i, unrolled) for i in _subscripts(kernel.body, array.name)):
            left -= words
        else:
            found.append(array.name)
    return frozenset(found)


def _unrolled(kernel: Kernel) -> set[str]:
    """Return the variables of the loops that compilers unroll."""
    loops = (s for s in sub_statements(kernel.body) if isinstance(s, ForEach))
    rounds = ((loop.variable.name, rounds_of(loop)) for loop in loops)
    return {name for name, count in rounds if count is not None and count <= MOST_UNROLLED}


def with_local_memory(kernel: Kernel, spilled: frozenset[str]) -> Kernel:
    """Return a kernel in which some arrays of a thread are arrays of the device, the thread their last subscript."""
    if not spilled:
        return kernel
    thread, threads = _thread_number(kernel)
    return replace(
        kernel,
        arrays=tuple(_moved(a, threads) if a.name in spilled else a for a in kernel.arrays),
        body=tuple(_statements(kernel.body, spilled, thread)),
    )


def _moved(array: ArrayInfo, threads: int) -> ArrayInfo:
    return replace(array, dims=(*array.dims, threads), storage="global", private=True)


def _known(index: Expr, unrolled: set[str]) -> bool:
    form = affine(index)
    return form is not None and {name for name, _ in form.terms} <= unrolled


def _subscripts(body: tuple[Stmt, ...], name: str) -> Iterator[Expr]:
    """Yield the subscripts of all accesses of an array."""
    for statement in sub_statements(body):
        if isinstance(statement, Assign) and statement.name == name:
            yield from statement.indices
    for part in index_expressions(body):
        if part.name == name:
            yield from part.indices


def _whole_uses(body: tuple[Stmt, ...]) -> Iterator[str]:
    """Yield the names that are used as a whole, or declared with a value."""
    for statement in sub_statements(body):
        if isinstance(statement, Declare) and statement.value is not None:
            yield statement.variable.name
        for expression in expressions_of(statement):
            yield from (p.name for p in sub_expressions(expression) if isinstance(p, Load))


def _thread_number(kernel: Kernel) -> tuple[Expr, int]:
    """Return the number of a thread in the grid, x first, and how many numbers there are."""
    number: Expr = Const(0, _WIDE)
    count = 1
    for loop in kernel.parallel:
        at: Expr = Binary("-", Load(loop.variable.name, loop.variable.type), Const(loop.low, _WIDE), _WIDE)
        if count > 1:
            at = Binary("*", at, Const(count, _WIDE), _WIDE)
        number = Binary("+", number, at, _WIDE)
        count *= loop.extent * abs(loop.step)
    return number, count


def _statements(body: Iterable[Stmt], spilled: frozenset[str], thread: Expr) -> Iterator[Stmt]:
    """Yield statements whose accesses of spilled arrays have the thread's number; these need no declaration."""

    def inside(part: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(_statements(part, spilled, thread))

    def value(expression: Expr) -> Expr:
        operands = tuple(map(value, operands_of(expression)))
        found = with_operands(expression, operands) if operands else expression
        if isinstance(found, Index) and found.name in spilled:
            return replace(found, indices=(*found.indices, thread))
        return found

    for statement in body:
        if isinstance(statement, Declare) and statement.variable.name in spilled:
            continue
        changed = with_parts(statement, value, inside)
        if isinstance(changed, Assign) and changed.name in spilled:
            changed = replace(changed, indices=(*changed.indices, thread))
        yield changed
