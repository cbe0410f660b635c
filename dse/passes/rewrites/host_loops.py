"""Loops that the host runs around its kernels: time steps, and all outer loops whose rounds need each other.

``for (t ...) { for (i ...) A; for (j ...) B; }`` becomes a kernel of A and a kernel of B, each launched in every round
of t. One ends before the next begins, so the order of the program stays. In a kernel the loop's variable is the middle
of its range: a launch stands for the mean of all. A loop whose statements have nothing to do with each other becomes a
loop for each of them; where ``dse.passes.rewrites.loop_order`` can cut a loop, or bring one outside that can be
threads, it does. A loop that only sums up, or finds the greatest or least, becomes a kernel that does so as GPUs do: a
tree in each warp (shuffles), and an atomic operation for what a warp has found.

What a piece cannot have, threads that race, a function tells (``meets``): it executes the piece at a small size.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable, OptionError
from dse.base.source import Span
from dse.model.kernel import ArrayInfo, Kernel, ScalarValue
from dse.passes.analyses.expression_ranges import rounds_of, value_of
from dse.passes.analyses.parallel_loops import parallelise
from dse.passes.rewrites.loop_order import distributed, with_parallel_loop_outside
from dse.program.ir import (
    Assign,
    Binary,
    Call,
    Conditional,
    Const,
    Declare,
    Expr,
    ForEach,
    If,
    Index,
    Load,
    Stmt,
    Variable,
    While,
)
from dse.program.types import FLOAT32, INT32, FloatType, ListType
from dse.program.walk import (
    expressions_of,
    operands_of,
    reads_any,
    sub_expressions,
    sub_statements,
    with_operands,
    with_parts,
)

Meets: TypeAlias = Callable[[Kernel], str]
"""Returns where threads of a kernel race, in words, empty if they do not."""
PARTIAL = "partial~"
WARP = 32
_SUMS = ("+", "-", "*")
_EXTREMES = ("fmax", "fmaxf", "fmin", "fminf", "max", "min")
_ORDERS = ("<", "<=", ">", ">=")


def launched(kernel: Kernel, names: Sequence[str], meets: Meets) -> tuple[Kernel, ...]:
    """Return what the host launches for a kernel's loop nest, each with how often (``Kernel.launches``).

    ``names``: the loops that become threads, wherever they stand; none: as a pragma says, else found. A nest without
    a parallel loop at any depth comes back as one thread, with the reason. Raises OptionError where no loop has these
    names.
    """
    if kernel.marked and not names:  # a pragma knows better: it may mean threads that do the same work
        return (parallelise(kernel),)
    found = tuple(_launched(kernel, tuple(names), meets, ""))
    if names and not any(p.parallel and _named(p, names) for p in found):
        parallelise(kernel, names)  # says which loops there are
    return found


def _named(kernel: Kernel, names: Sequence[str]) -> bool:
    return {p.variable.source_name for p in kernel.parallel} <= set(names)


def _launched(kernel: Kernel, names: tuple[str, ...], meets: Meets, host: str) -> Iterator[Kernel]:
    """Yield the launches of a nest; ``host``: in words, which loops launch it."""
    found, why = _threads(kernel, names, meets)
    found = found or _reduction(kernel)
    loop = _outermost(kernel.body)
    if found is not None:
        yield replace(found, how_parallel=f"{found.how_parallel}{host}")
    elif loop is None:
        yield replace(kernel, how_parallel=why)
    elif len(parts := _unrelated(loop.body)) > 1:
        for part in parts:
            yield from _launched(replace(kernel, body=(replace(loop, body=part),)), names, meets, host)
    else:
        ordered = _in_other_order(kernel, loop, names, meets, host)
        yield from ordered or _rounds_or_one_thread(kernel, loop, names, meets, host, why)


def _rounds_or_one_thread(
    kernel: Kernel, loop: ForEach, names: tuple[str, ...], meets: Meets, host: str, why: str
) -> list[Kernel]:
    """Return the launches of a nest in rounds of its outermost loop, or the nest as one thread and why."""
    inner = list(_in_rounds(kernel, loop, names, meets, host))
    serial = next((one for one in inner if _is_serial(one)), None)
    return inner if inner and serial is None else [_one_thread(kernel, serial, why)]


def _in_other_order(kernel: Kernel, loop: ForEach, names: tuple[str, ...], meets: Meets, host: str) -> list[Kernel]:
    """Return the launches of a nest that is cut, or whose loops change places; none where that gives no threads."""
    parts = distributed(loop)
    if len(parts) > 1:
        found = [one for part in parts for one in _launched(replace(kernel, body=(part,)), names, meets, host)]
        return [] if any(map(_is_serial, found)) else found
    turned = with_parallel_loop_outside(loop)
    if turned is None:
        return []
    threads, _ = _threads(replace(kernel, body=(turned,)), names, meets)
    if threads is None:
        return []
    how = f"; the loop over {turned.variable.source_name} is brought outside, which changes no value{host}"
    return [replace(threads, how_parallel=f"{threads.how_parallel}{how}")]


def _one_thread(kernel: Kernel, serial: Kernel | None, why: str) -> Kernel:
    """Return a nest as one thread: because of a part of it that is serial, or else of itself."""
    if serial is None:
        return replace(kernel, how_parallel=why)
    inside, outside = serial.how_parallel, why
    told = f"{outside}; and with a launch for each of its rounds, {inside}" if inside and outside else inside or outside
    return replace(kernel, how_parallel=told, span=serial.span)


def _is_serial(kernel: Kernel) -> bool:
    return not kernel.parallel and not kernel.one_thread


def _in_rounds(kernel: Kernel, loop: ForEach, names: tuple[str, ...], meets: Meets, host: str) -> Iterator[Kernel]:
    """Yield the launches of a nest whose outermost loop is the host's; none if that cannot be."""
    rounds = rounds_of(loop)
    if rounds and any(_has_loop(s) for s in loop.body):
        text = f"in each of {rounds} rounds of {loop.variable.source_name}"
        text = f"{host} and {text}" if host else f"; launched anew {text}"
        for piece in _pieces(kernel, loop, rounds):
            yield from _inner(piece, names, meets, text)


def _inner(piece: Kernel, names: tuple[str, ...], meets: Meets, text: str) -> Iterator[Kernel]:
    """Yield the launches of a piece of a loop's body; one thread does what has no loop, if it touches any array."""
    arrays = {array.name for array in piece.arrays}
    if _has_loop(piece.body[-1]):
        yield from _launched(piece, names, meets, text)
    elif any((_written(s) | _read(s)) & arrays for s in piece.body):
        yield replace(piece, how_parallel=f"one thread, as there is no loop{text}", one_thread=True)


def _threads(kernel: Kernel, names: tuple[str, ...], meets: Meets) -> tuple[Kernel | None, str]:
    """Return the kernel with threads, or None and why its loops cannot be threads."""
    wanted = _in_nest(kernel, names)
    try:
        found = parallelise(kernel, wanted)
    except ModelNotApplicable as error:
        return None, error.first_error.message
    except OptionError as error:
        if wanted:
            return None, "the loops that are named stand below"
        raise error
    if not found.parallel:
        return None, found.how_parallel
    why = found.dependences[0].text if found.dependences else meets(found)
    return None if why else found, why


def _in_nest(kernel: Kernel, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some names that loops of a nest have."""
    nest = {s.variable.source_name for s in sub_statements(kernel.body) if isinstance(s, ForEach)}
    return tuple(name for name in names if name in nest)


def _outermost(body: tuple[Stmt, ...]) -> ForEach | None:
    rest = [s for s in body if not (isinstance(s, Declare) and s.value is None)]
    return rest[0] if len(rest) == 1 and isinstance(rest[0], ForEach) else None


def _unrelated(body: tuple[Stmt, ...]) -> list[tuple[Stmt, ...]]:
    """Return the statements of a body in groups, of which none touches what another one writes, in order."""
    groups: list[tuple[Stmt, ...]] = []
    for statement in body:
        related = [group for group in groups if _touches(group, statement)]
        groups = [group for group in groups if group not in related]
        groups.append((*itertools.chain.from_iterable(related), statement))
    return groups


def _touches(group: tuple[Stmt, ...], statement: Stmt) -> bool:
    return any(_touch(statement, other) for other in group)


def _touch(one: Stmt, other: Stmt) -> bool:
    """Whether one of two statements touches what the other one writes or declares."""
    written, touched = zip(*((_written(s), _written(s) | _read(s)) for s in (one, other)), strict=True)
    return bool(written[0] & touched[1] or written[1] & touched[0])


def _written(statement: Stmt) -> set[str]:
    inside = list(sub_statements((statement,)))
    names = {s.name for s in inside if isinstance(s, Assign)}
    return names | {s.variable.name for s in inside if isinstance(s, Declare)}


def _read(statement: Stmt) -> set[str]:
    parts = (p for s in sub_statements((statement,)) for e in expressions_of(s) for p in sub_expressions(e))
    return {p.name for p in parts if isinstance(p, Load | Index)}


def _has_loop(statement: Stmt) -> bool:
    return any(isinstance(s, ForEach | While) for s in sub_statements((statement,)))


def _pieces(kernel: Kernel, loop: ForEach, rounds: int) -> Iterator[Kernel]:
    """Yield the statements of a loop's body as kernels of their own, in order; those without loops together."""
    low = value_of(loop.low)
    assert low is not None, "the rounds of the loop are known"
    middle = Const(low + rounds // 2 * loop.step, loop.variable.type)
    alone: list[Stmt] = []
    for statement in _with_value(loop.body, loop.variable.name, middle):
        if isinstance(statement, Declare) and statement.value is None:
            continue
        if not _has_loop(statement):
            alone.append(statement)
            continue
        if alone:
            yield _piece(kernel, tuple(alone), rounds)
            alone = []
        yield _piece(kernel, (statement,), rounds)
    if alone:
        yield _piece(kernel, tuple(alone), rounds)


def _piece(kernel: Kernel, body: tuple[Stmt, ...], rounds: int) -> Kernel:
    """Return statements as a kernel; scalars that are set outside it are its parameters."""
    inside = {s.variable.name for s in sub_statements(body) if isinstance(s, Declare | ForEach)}
    declared = (s.variable for s in sub_statements(kernel.body) if isinstance(s, Declare))
    known = {v.name: _assumed(v) for v in declared if not isinstance(v.type, ListType)}
    known |= {s.variable.name: s for s in kernel.scalars}
    scalars = tuple(known[name] for name in dict.fromkeys(_names(body)) if name in known.keys() - inside)
    return replace(
        kernel, body=body, scalars=scalars, launches=kernel.launches * rounds, span=_place(body, kernel.span)
    )


def _assumed(variable: Variable) -> ScalarValue:
    return ScalarValue(variable=variable, value=1.0 if isinstance(variable.type, FloatType) else 1, assumed=True)


def _place(body: tuple[Stmt, ...], otherwise: Span) -> Span:
    return body[0].span if body[0].span.line else otherwise


def _names(body: Iterable[Stmt]) -> Iterator[str]:
    for statement in sub_statements(body):
        if isinstance(statement, Assign) and not statement.indices:
            yield statement.name
        for expression in expressions_of(statement):
            yield from (p.name for p in sub_expressions(expression) if isinstance(p, Load))


def _with_value(body: Iterable[Stmt], name: str, known: Const) -> tuple[Stmt, ...]:
    """Return statements with a variable replaced by a constant."""

    def value(expression: Expr) -> Expr:
        if isinstance(expression, Load) and expression.name == name:
            return replace(known, span=expression.span)
        operands = operands_of(expression)
        return with_operands(expression, tuple(map(value, operands))) if operands else expression

    return tuple(with_parts(s, value, lambda part: _with_value(part, name, known)) for s in body)


# Reductions -----------------------------------------------------------------------------------------------------------


def _reduction(kernel: Kernel) -> Kernel | None:
    """Return the kernel of a loop that only sums into one place, or keeps the greatest or least; None for others."""
    loop = _outermost(kernel.body)
    into = None if loop is None else _folding(loop.body)
    if loop is None or into is None:
        return None
    term, over = sum_term(into) or _extreme_term(into), loop.variable
    if term is None or not rounds_of(loop) or reads_any(into.indices, {over.name}) or _reads_place(term, into):
        return None
    found = parallelise(_with_partial_sums(kernel, loop, into, term))
    how = f"a reduction over {over.source_name}: a tree in each warp, and an atomic operation for what it found"
    return replace(found, how_parallel=how) if found.parallel else None


def _with_partial_sums(kernel: Kernel, loop: ForEach, into: Assign, term: Expr) -> Kernel:
    """Return the kernel in which the threads of a warp write what they add to one place: that of their warp."""
    most = max(rounds_of(loop) or 0, value_of(loop.high) or 0)
    of = into.value.type if isinstance(into.value.type, FloatType) else FLOAT32
    partial = ArrayInfo(name=PARTIAL, source_name="partial sums", element=of, dims=(most // WARP + 2,), span=into.span)
    at = Load(loop.variable.name, loop.variable.type)
    place = Binary("/", at, Const(WARP, INT32), loop.variable.type, into.span)
    body = (replace(loop, body=(Assign(PARTIAL, (place,), term, into.span),)),)
    return replace(kernel, body=body, arrays=(*kernel.arrays, partial), atomic=(*kernel.atomic, PARTIAL))


def sum_term(into: Assign) -> Expr | None:
    """Return what is added in ``x = x + term`` or the like, None for any other assignment."""
    value = into.value
    if not isinstance(value, Binary) or value.op not in _SUMS:
        return None
    return value.right if _is_place(value.left, into) else None


def _folding(body: tuple[Stmt, ...]) -> Assign | None:
    """Return the only assignment of a body, also that of ``if (term > x) x = term``, as one that always happens."""
    match body:
        case (Assign() as only,):
            return only
        case (If(condition=Binary() as condition, then=(Assign() as into,), otherwise=()),):
            place = (
                Index(into.name, into.indices, into.value.type) if into.indices else Load(into.name, into.value.type)
            )
            return replace(into, value=Conditional(condition, into.value, place, into.value.type))
        case _:
            return None


def _extreme_term(into: Assign) -> Expr | None:
    """Return the term of ``x = max(x, term)``, ``x = term > x ? term : x`` and the like, None for any other."""
    match into.value:
        case Call(routine=routine, arguments=(left, right)) if routine in _EXTREMES:
            pair = (left, right)
        case Conditional(condition=Binary(op=op, left=a, right=b), then=left, otherwise=right) if op in _ORDERS:
            if {_shape(a), _shape(b)} != {_shape(left), _shape(right)}:
                return None
            pair = (left, right)
        case _:
            return None
    terms = [e for e in pair if not _is_place(e, into)]
    return terms[0] if len(terms) == 1 else None


def _is_place(expression: Expr, into: Assign) -> bool:
    match expression:
        case Load():
            return not into.indices and expression.name == into.name
        case Index():
            return expression.name == into.name and _bare(expression.indices) == _bare(into.indices)
        case _:
            return False


def _bare(indices: tuple[Expr, ...]) -> tuple[object, ...]:
    return tuple(_shape(index) for index in indices)


def _shape(expression: Expr) -> object:
    """Return an expression without its places in the source."""
    name = getattr(expression, "name", getattr(expression, "value", None))
    return type(expression), name, getattr(expression, "op", None), tuple(map(_shape, operands_of(expression)))


def _reads_place(term: Expr, into: Assign) -> bool:
    """Whether a term may read what is summed up: a scalar itself, or an element of its array that is the same one."""
    if not into.indices:
        return reads_any((term,), {into.name})
    return any(
        isinstance(p, Index) and p.name == into.name and _bare(p.indices) == _bare(into.indices)
        for p in sub_expressions(term)
    )
