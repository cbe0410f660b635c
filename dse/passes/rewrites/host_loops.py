"""Loops that the host runs around its kernels: time steps, and all outer loops whose rounds need each other.

``for (t ...) { for (i ...) A; for (j ...) B; }`` becomes a kernel of A and a kernel of B, each launched in every round
of t. One ends before the next begins, so the order of the program stays. In a kernel the loop's variable is the middle
of its range: a launch stands for the mean of all. A loop whose statements have nothing to do with each other becomes a
loop for each of them. One that only sums up becomes a kernel that sums as GPUs do: a tree in each warp (shuffles), and
an atomic operation for what a warp has found.

What a piece cannot have, threads that race, a function tells (``meets``): it executes the piece at a small size.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable, OptionError
from dse.base.source import Span
from dse.model.kernel import ArrayInfo, Kernel, ScalarValue
from dse.passes.analyses.expression_ranges import value_of
from dse.passes.analyses.parallel_loops import parallelise
from dse.program.ir import Assign, Binary, Const, Declare, Expr, ForEach, If, Index, Load, Stmt, Variable, While
from dse.program.types import FLOAT32, INT32, FloatType, ListType
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements, with_operands

Meets: TypeAlias = Callable[[Kernel], str]
"""Returns where threads of a kernel race, in words, empty if they do not."""
PARTIAL = "partial~"
_SUMS = ("+", "-", "*")


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
    found, why = _threads(kernel, names, meets)
    if found is not None:
        yield replace(found, how_parallel=f"{found.how_parallel}{host}")
        return
    total = _reduction(kernel)
    if total is not None:
        yield replace(total, how_parallel=f"{total.how_parallel}{host}")
        return
    loop = _outermost(kernel.body)
    parts = () if loop is None else _unrelated(loop.body)
    if loop is not None and len(parts) > 1:
        for part in parts:
            yield from _launched(replace(kernel, body=(replace(loop, body=part),)), names, meets, host)
        return
    rounds = None if loop is None else _rounds(loop)
    if loop is None or not rounds or not any(_has_loop(s) for s in loop.body):
        yield replace(kernel, how_parallel=why)
        return
    text = (
        f"{host or '; launched'}{' and' if host else ' anew'} in each of {rounds} rounds of {loop.variable.source_name}"
    )
    pieces = list(_pieces(kernel, loop, rounds))
    inner = [one for piece in pieces for one in _inner(piece, names, meets, text)]
    serial = next((one for one in inner if not one.parallel and _has_loop(one.body[-1])), None)
    if serial is not None:
        yield replace(kernel, how_parallel=serial.how_parallel or why, span=serial.span)
        return
    yield from inner


def _inner(piece: Kernel, names: tuple[str, ...], meets: Meets, text: str) -> Iterator[Kernel]:
    """Yield the launches of a piece of a loop's body; one thread does what has no loop, if it touches any array."""
    arrays = {array.name for array in piece.arrays}
    if _has_loop(piece.body[-1]):
        yield from _launched(piece, names, meets, text)
    elif any((_written(s) | _read(s)) & arrays for s in piece.body):
        yield replace(piece, how_parallel=f"one thread, as there is no loop{text}", one_thread=True)


def _threads(kernel: Kernel, names: tuple[str, ...], meets: Meets) -> tuple[Kernel | None, str]:
    """Return the kernel with threads, or None and why its loops cannot be threads."""
    nest = {s.variable.source_name for s in sub_statements(kernel.body) if isinstance(s, ForEach)}
    wanted = tuple(name for name in names if name in nest)
    try:
        found = parallelise(kernel, wanted)
    except OptionError:
        if not wanted:
            raise
        return None, "the loops that are named stand below"
    except ModelNotApplicable as error:
        return None, error.diagnostics[0].message
    if not found.parallel:
        return None, found.how_parallel
    why = found.dependences[0].text if found.dependences else meets(found)
    return (None, why) if why else (found, "")


def _outermost(body: tuple[Stmt, ...]) -> ForEach | None:
    rest = [s for s in body if not (isinstance(s, Declare) and s.value is None)]
    return rest[0] if len(rest) == 1 and isinstance(rest[0], ForEach) else None


def _unrelated(body: tuple[Stmt, ...]) -> list[tuple[Stmt, ...]]:
    """Return the statements of a body in groups, of which none touches what another one writes, in order."""
    groups: list[list[Stmt]] = []
    for statement in body:
        related = [g for g in groups if any(_touch(statement, other) for other in g)]
        merged = [s for s in body if s is statement or any(s in g for g in related)]
        groups = [*(g for g in groups if g not in related), merged]
    return [tuple(g) for g in groups]


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


def _rounds(loop: ForEach) -> int | None:
    low, high = value_of(loop.low), value_of(loop.high)
    return None if low is None or high is None else max(0, (high - low) // loop.step + 1)


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
    known = {s.variable.name: s for s in kernel.scalars}
    declared = (s.variable for s in sub_statements(kernel.body) if isinstance(s, Declare))
    known |= {v.name: _assumed(v) for v in declared if v.name not in known and not isinstance(v.type, ListType)}
    used = [name for name in _names(body) if name in known and name not in inside]
    scalars = tuple(known[name] for name in dict.fromkeys(used))
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

    def one(statement: Stmt) -> Stmt:
        match statement:
            case Declare():
                return statement if statement.value is None else replace(statement, value=value(statement.value))
            case Assign():
                return replace(statement, indices=tuple(map(value, statement.indices)), value=value(statement.value))
            case If():
                then, otherwise = (
                    _with_value(statement.then, name, known),
                    _with_value(statement.otherwise, name, known),
                )
                return replace(statement, condition=value(statement.condition), then=then, otherwise=otherwise)
            case While():
                return replace(
                    statement, condition=value(statement.condition), body=_with_value(statement.body, name, known)
                )
            case ForEach():
                low, high = value(statement.low), value(statement.high)
                return replace(statement, low=low, high=high, body=_with_value(statement.body, name, known))
            case _:
                return statement

    return tuple(map(one, body))


# Reductions -----------------------------------------------------------------------------------------------------------


def _reduction(kernel: Kernel) -> Kernel | None:
    """Return the kernel of a loop that does nothing but sum into one place, None for any other loop."""
    loop = _outermost(kernel.body)
    if loop is None or len(loop.body) != 1 or not isinstance(loop.body[0], Assign):
        return None
    into = loop.body[0]
    term = _term(into)
    rounds = _rounds(loop)
    if term is None or not rounds or _reads(into.indices, loop.variable.name) or _reads_place(term, into):
        return None
    of = into.value.type
    partial = ArrayInfo(
        name=PARTIAL,
        source_name="partial sums",
        element=of if isinstance(of, FloatType) else FLOAT32,
        dims=(max(rounds, value_of(loop.high) or 0) // 32 + 2,),
        span=into.span,
    )
    lane = Binary("/", Load(loop.variable.name, loop.variable.type), Const(32, INT32), loop.variable.type, into.span)
    body = (replace(loop, body=(Assign(PARTIAL, (lane,), term, into.span),)),)
    found = parallelise(replace(kernel, body=body, arrays=(*kernel.arrays, partial)))
    how = f"a reduction over {loop.variable.source_name}: a tree in each warp, and an atomic operation for its sum"
    return replace(found, how_parallel=how, atomic=(*kernel.atomic, PARTIAL)) if found.parallel else None


def _term(into: Assign) -> Expr | None:
    """Return what is added in ``x = x + term`` or the like, None for any other assignment."""
    value = into.value
    if not isinstance(value, Binary) or value.op not in _SUMS:
        return None
    return value.right if _is_place(value.left, into) else None


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


def _reads(expressions: Iterable[Expr], name: str) -> bool:
    return any(isinstance(p, Load) and p.name == name for e in expressions for p in sub_expressions(e))


def _reads_place(term: Expr, into: Assign) -> bool:
    """Whether a term may read what is summed up: a scalar itself, or an element of its array that is the same one."""
    if not into.indices:
        return _reads((term,), into.name)
    return any(
        isinstance(p, Index) and p.name == into.name and _bare(p.indices) == _bare(into.indices)
        for p in sub_expressions(term)
    )
