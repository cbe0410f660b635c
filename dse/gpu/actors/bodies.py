"""The body of an action cut into what a GPU runs: loop nests whose iterations are threads, and the rest, one thread.

Every outermost loop becomes a kernel (``dse.passes.analyses.parallel_loops`` finds its parallel loops); a loop that is
not parallel but holds parallel ones is repeated around their kernels. Arrays are tokens of a repeat, lists of the actor
and of the action; scalars that are set elsewhere have a stand-in value, which is an assumption where a loop's end
depends on it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.errors import ModelNotApplicable
from dse.model.kernel import ArrayInfo, Kernel, ParallelLoop, ScalarValue
from dse.model.rounds import Rounds, loop_key
from dse.passes.analyses.operations import ASSUMED_TRIPS
from dse.passes.analyses.parallel_loops import parallelise
from dse.passes.rewrites.cost_view import CostView, cost_view, folded
from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Const,
    ConstList,
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
from dse.program.types import INT32, FloatType, ListType, StringType, Type, dimensions_of, scalar_of
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements, with_operands

FIRING = "firing~"
"""The variable of the threads of a SIMD block: the number of the firing in it."""
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Statements that are executed ``times`` (an expectation) in a firing.

    ``kernel``: the same as threads, None for what one thread executes. ``reason`` says why it is (or is not) parallel;
    ``assumed`` what was made up: values of scalars that end loops, contents of lists that steer.
    """

    statements: tuple[Stmt, ...]
    times: Fraction
    kernel: Kernel | None
    reason: str = ""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """An action's body as pieces in the order of the program. ``why_not``: why it could not be cut up, else empty."""

    actor: Actor
    action: Action
    pieces: tuple[Piece, ...]
    flat: CostView | None
    why_not: str = ""


def body_of(actor: Actor, action: Action, rounds: Rounds | None = None) -> Body:
    """Return the pieces of an action's body; one that kernels cannot represent has none and says why.

    ``rounds``: of the loops in a run. A ``foreach`` whose bounds depend on data runs that often, rounded, 1 at least.
    """
    try:
        flat = cost_view(actor, action)
    except ModelNotApplicable as error:
        return Body(actor=actor, action=action, pieces=(), flat=None, why_not=error.diagnostics[0].message)
    if rounds:
        flat = replace(flat, statements=tuple(_as_in_the_run(s, rounds, frozenset()) for s in flat.statements))
    flat = replace(flat, statements=tuple(_without_empty_loops(flat.statements)))
    cutter = _Cutter(actor, flat)
    pieces = tuple(cutter.pieces(flat.statements, Fraction(1)))
    return Body(actor=actor, action=action, pieces=pieces, flat=flat)


def _without_empty_loops(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    """Yield statements without the loops whose constant bounds let them never run: parameters make such."""
    for statement in statements:
        match statement:
            case ForEach() if _trips(statement) == 0:
                continue
            case ForEach() | While():
                yield replace(statement, body=tuple(_without_empty_loops(statement.body)))
            case If():
                then = tuple(_without_empty_loops(statement.then))
                yield replace(statement, then=then, otherwise=tuple(_without_empty_loops(statement.otherwise)))
            case _:
                yield statement


def _as_in_the_run(statement: Stmt, rounds: Rounds, loops: frozenset[str]) -> Stmt:
    """Return a statement in which loops have the bounds that a run gave them; ``loops``: variables of those around.

    Bounds that depend on a loop around stay: the mean of all its rounds would tear that apart.
    """
    match statement:
        case If():
            then = tuple(_as_in_the_run(s, rounds, loops) for s in statement.then)
            otherwise = tuple(_as_in_the_run(s, rounds, loops) for s in statement.otherwise)
            return replace(statement, then=then, otherwise=otherwise)
        case While():
            return replace(statement, body=tuple(_as_in_the_run(s, rounds, loops) for s in statement.body))
        case ForEach():
            inside = loops | {statement.variable.name}
            found = replace(statement, body=tuple(_as_in_the_run(s, rounds, inside) for s in statement.body))
            known = rounds.get(loop_key(statement))
            read = {p.name for e in (found.low, found.high) for p in sub_expressions(e) if isinstance(p, Load)}
            if known is None or _trips(found) is not None or found.step != 1 or read & loops:
                return found
            first = int(found.low.value) if isinstance(found.low, Const) else 0
            last = first + max(1, round(known)) - 1
            of = found.variable.type
            return replace(found, low=Const(first, of, found.low.span), high=Const(last, of, found.high.span))
        case _:
            return statement


@dataclass(slots=True)
class _Cutter:
    actor: Actor
    flat: CostView
    number: int = 0

    def pieces(self, statements: Iterable[Stmt], times: Fraction, around: tuple[ForEach, ...] = ()) -> Iterator[Piece]:
        """Yield the pieces of statements that are executed ``times`` in a firing.

        ``around``: the loops that they stand in, outermost first. What one thread executes keeps them, so that its
        operations are counted as those of the whole.
        """
        alone: list[Stmt] = []
        for statement in statements:
            if not _has_loop(statement):
                alone.append(statement)
                continue
            if alone:
                yield _alone(alone, times, around)
                alone = []
            yield from self._compound(statement, times, around)
        if alone:
            yield _alone(alone, times, around)

    def _compound(self, statement: Stmt, times: Fraction, around: tuple[ForEach, ...]) -> Iterator[Piece]:
        """Yield the pieces of a statement with a loop in it."""
        match statement:
            case If():
                yield _alone([replace(statement, then=(), otherwise=())], times, around)
                yield from self.pieces(statement.then, times * _HALF, around)
                yield from self.pieces(statement.otherwise, times * _HALF, around)
            case ForEach():
                yield from self._loop(statement, times, around)
            case _:
                why = f"the while in line {statement.span.line} decides anew each time whether it goes on"
                yield _alone([statement], times, around, why)

    def _loop(self, loop: ForEach, times: Fraction, around: tuple[ForEach, ...]) -> Iterator[Piece]:
        kernel, assumed = self._kernel(loop)
        try:
            parallel = parallelise(kernel)
        except ModelNotApplicable as error:  # with the stand-in of what ends it, it never runs
            yield _alone([loop], times, around, error.diagnostics[0].message)
            return
        if parallel.parallel and not parallel.dependences:
            rounds = times
            for outer in around:
                rounds *= _trips(outer) or 0
            yield Piece(
                statements=(loop,), times=rounds, kernel=parallel, reason=parallel.how_parallel, assumed=assumed
            )
            return
        why = parallel.dependences[0].text if parallel.dependences else parallel.how_parallel
        why = f"line {loop.span.line}: {why}"
        if _trips(loop) is None or not any(_has_loop(s) for s in loop.body):
            yield _alone([loop], times, around, why)
            return
        self.flat.locals[loop.variable.name] = loop.variable
        inner = tuple(self.pieces(loop.body, times, (*around, loop)))
        if any(piece.kernel is not None for piece in inner):
            yield from inner
        else:
            yield _alone([loop], times, around, why)

    def _kernel(self, loop: ForEach) -> tuple[Kernel, tuple[str, ...]]:
        """Return the kernel of a loop nest, and what was made up for it."""
        self.number += 1
        name = f"{self.flat.action.name} loop {self.number} (line {loop.span.line})"
        return kernel_of(self.actor, self.flat, (loop,), name)


def _alone(statements: list[Stmt], times: Fraction, around: tuple[ForEach, ...], reason: str = "") -> Piece:
    """Return the piece of statements that one thread executes, with the loops around them."""
    whole = tuple(statements)
    for loop in reversed(around):
        whole = (replace(loop, body=whole),)
    return Piece(statements=whole, times=times, kernel=None, reason=reason)


def _trips(loop: ForEach) -> int | None:
    """Return how often a loop with constant bounds runs, None for one whose bounds depend on something."""
    low, high = folded(loop.low), folded(loop.high)
    return None if low is None or high is None else max(0, (high - low) // loop.step + 1)


def kernel_of(actor: Actor, flat: CostView, statements: tuple[Stmt, ...], name: str) -> tuple[Kernel, tuple[str, ...]]:
    """Return statements of an action as a kernel of one thread, and what was made up for it."""
    variables = visible(actor, flat)
    inside = {s.variable.name for s in sub_statements(statements) if isinstance(s, Declare | ForEach)}
    used = tuple(dict.fromkeys(_names_in(statements)))
    arrays = [array_of(variables[n], private=n in inside) for n in used if _is_list(variables.get(n))]
    scalars, assumed = [], []
    ends = _ends(statements)
    for n in used:
        variable = variables.get(n)
        if variable is None or n in inside or isinstance(variable.type, ListType | StringType):
            continue
        if n in ends:
            assumed.append(f"{variable.source_name} = {ASSUMED_TRIPS}")
        scalars.append(ScalarValue(variable=variable, value=_stand_in(variable, n in ends), assumed=True))
    steering = _steering(statements)
    unknown = [a for a in arrays if a.contents is None and a.storage == "global" and a.name in steering]
    made_up = [a.source_name for a in unknown]
    assumed += [f"contents of {n}" for n in dict.fromkeys(made_up)]
    kernel = Kernel(
        name=name, function=flat.action.name, path=actor.path, arrays=tuple(arrays), scalars=tuple(scalars),
        parallel=(), how_parallel="", body=statements, span=statements[0].span if statements else flat.action.span,
    )  # fmt: skip
    return kernel, tuple(assumed)


def visible(actor: Actor, flat: CostView) -> dict[str, Variable]:
    """Return what the statements of an action may name: variables of the actor, tokens, its own."""
    found = {v.name: v for v in actor.variables}
    for pattern in flat.action.inputs:
        for variable in pattern.variables:
            found[variable.name] = variable
    found |= flat.locals
    for statement in sub_statements(flat.statements):
        if isinstance(statement, Declare | ForEach):
            found[statement.variable.name] = statement.variable
    return found


def array_of(variable: Variable, *, private: bool) -> ArrayInfo:
    """Return a list variable as an array; ``private``: each thread has its own, in registers."""
    contents = None
    if variable.kind == "constant" and isinstance(variable.initial, ConstList):
        contents = _flattened(variable.initial.values)
    return ArrayInfo(
        name=variable.name, source_name=variable.source_name, element=scalar_of(variable.type),
        dims=dimensions_of(variable.type), storage="local" if private else "global", span=variable.span,
        contents=contents,
    )  # fmt: skip


def simd_kernel(body: Body, firings: int) -> tuple[Kernel, tuple[str, ...]]:
    """Return the kernel in which each thread executes one firing of an action, and what was made up for it.

    Tokens of the block lie behind each other in the FIFO, one firing's after the other's; lists of a firing lie as
    CUDA lays local memory out, the elements of neighbouring threads beside each other.
    Raises ModelNotApplicable for a body that kernels cannot represent.
    """
    flat = body.flat
    if flat is None:
        raise ModelNotApplicable(body.why_not, span=body.action.span)
    variables = visible(body.actor, flat)
    tokens = {v.name for pattern in body.action.inputs for v in pattern.variables}
    own = {s.variable.name for s in sub_statements(flat.statements) if isinstance(s, Declare)}
    spread = {n for n in own if isinstance(variables[n].type, ListType)}
    statements = tuple(_spread(s, tokens, spread) for s in flat.statements)
    statements = tuple(s for s in statements if not (isinstance(s, Declare) and s.variable.name in spread))
    kernel, assumed = kernel_of(body.actor, flat, statements, f"{flat.action.name} in SIMD")
    arrays = tuple(_of_block(a, firings, tokens, spread) for a in kernel.arrays if a.name not in tokens)
    inputs = tuple(
        _of_block(array_of(variables[n], private=False), firings, tokens, spread) for n in sorted(tokens)
    )  # fmt: skip
    firing = Variable(FIRING, "firing", INT32, "loop", None, body.action.span)
    return replace(
        kernel,
        arrays=inputs + arrays,
        scalars=tuple(s for s in kernel.scalars if s.variable.name not in tokens),
        parallel=(ParallelLoop(variable=firing, low=0, step=1, extent=firings, span=body.action.span),),
        how_parallel="no action of the actor writes state: each thread executes a firing",
    ), assumed


def _of_block(array: ArrayInfo, firings: int, tokens: set[str], spread: set[str]) -> ArrayInfo:
    if array.name in tokens:
        return replace(array, dims=(firings, *array.dims))
    return replace(array, dims=(*array.dims, firings), storage="global") if array.name in spread else array


def _spread(statement: Stmt, tokens: set[str], spread: set[str]) -> Stmt:
    """Return a statement whose tokens and lists are those of its firing."""

    def inside(part: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(
            _spread(s, tokens, spread) for s in part if not (isinstance(s, Declare) and s.variable.name in spread)
        )

    def value(expression: Expr) -> Expr:
        return _spread_value(expression, tokens, spread)

    match statement:
        case Declare() if statement.value is not None:
            return replace(statement, value=value(statement.value))
        case Assign():
            indices = _spread_indices(statement.name, tuple(map(value, statement.indices)), tokens, spread)
            return replace(statement, indices=indices, value=value(statement.value))
        case If():
            return replace(
                statement, condition=value(statement.condition), then=inside(statement.then),
                otherwise=inside(statement.otherwise),
            )  # fmt: skip
        case While():
            return replace(statement, condition=value(statement.condition), body=inside(statement.body))
        case ForEach():
            return replace(statement, low=value(statement.low), high=value(statement.high), body=inside(statement.body))
        case _:
            return statement


def _spread_indices(name: str, indices: tuple[Expr, ...], tokens: set[str], spread: set[str]) -> tuple[Expr, ...]:
    firing = Load(FIRING, INT32)
    if name in tokens:
        return (firing, *indices)
    return (*indices, firing) if name in spread else indices


def _spread_value(expression: Expr, tokens: set[str], spread: set[str]) -> Expr:
    match expression:
        case Load() if expression.name in tokens:
            return Index(expression.name, (Load(FIRING, INT32),), expression.type, expression.span)
        case Index():
            indices = tuple(_spread_value(i, tokens, spread) for i in expression.indices)
            return replace(expression, indices=_spread_indices(expression.name, indices, tokens, spread))
        case _ if operands_of(expression):
            return with_operands(expression, tuple(_spread_value(o, tokens, spread) for o in operands_of(expression)))
        case _:
            return expression


def _names_in(statements: Iterable[Stmt]) -> Iterator[str]:
    """Yield the names that statements read or write, in source order."""
    for statement in sub_statements(statements):
        if isinstance(statement, Assign):
            yield statement.name
        for expression in expressions_of(statement):
            yield from (p.name for p in sub_expressions(expression) if isinstance(p, Load | Index))


def _ends(statements: Iterable[Stmt]) -> set[str]:
    """Return the scalars that bounds of loops read, or that what they read is computed from."""
    found = {
        p.name
        for s in sub_statements(statements)
        if isinstance(s, ForEach)
        for e in (s.low, s.high)
        for p in sub_expressions(e)
        if isinstance(p, Load)
    }
    return _sources(statements, found)


def _steering(statements: Iterable[Stmt]) -> set[str]:
    """Return the names whose values decide what is executed and which elements are touched."""
    found: set[str] = set()
    for s in sub_statements(statements):
        decides: tuple[Expr, ...] = ()
        match s:
            case If() | While():
                decides = (s.condition,)
            case ForEach():
                decides = (s.low, s.high)
            case Assign():
                decides = s.indices
            case _:
                pass
        parts = [p for e in decides for p in sub_expressions(e)]
        parts += [q for e in expressions_of(s) for p in sub_expressions(e) if isinstance(p, Index) for q in p.indices]
        found |= {q.name for p in parts for q in sub_expressions(p) if isinstance(q, Load | Index)}
    return _sources(statements, found)


def _sources(statements: Iterable[Stmt], names: set[str]) -> set[str]:
    """Return names and those that their values are computed from."""
    assigned = [s for s in sub_statements(statements) if isinstance(s, Assign)]
    before = -1
    while before != len(names):
        before = len(names)
        for s in assigned:
            if s.name in names:
                names |= {
                    p.name for e in (s.value, *s.indices) for p in sub_expressions(e) if isinstance(p, Load | Index)
                }
    return names


def _stand_in(variable: Variable, ends_loop: bool) -> int | float:
    of: Type = variable.type
    if isinstance(of, FloatType):
        return 0.0
    return ASSUMED_TRIPS if ends_loop else 0


def _has_loop(statement: Stmt) -> bool:
    return any(isinstance(s, ForEach | While) for s in sub_statements((statement,)))


def _is_list(variable: Variable | None) -> bool:
    return variable is not None and isinstance(variable.type, ListType)


def _flattened(values: tuple[object, ...]) -> tuple[int | float, ...] | None:
    """Return the numbers of a nested tuple in row-major order, None if something else is in it."""
    found: list[int | float] = []
    for value in values:
        if isinstance(value, tuple):
            inner = _flattened(value)
            if inner is None:
                return None
            found += inner
        elif isinstance(value, int | float):
            found.append(value)
        else:
            return None
    return tuple(found)
