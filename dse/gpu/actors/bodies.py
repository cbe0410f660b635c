"""The body of an action cut into what a GPU runs: loop nests whose iterations are threads, and the rest, one thread.

Every outermost loop becomes a kernel (``dse.passes.analyses.parallel_loops`` finds its parallel loops); a loop that is
not parallel but holds parallel ones is repeated around their kernels. Arrays are tokens of a repeat, lists of the actor
and of the action; scalars that are set elsewhere have a stand-in value, which is an assumption where a loop's end
depends on it.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.base.errors import ModelNotApplicable
from dse.model.kernel import ArrayInfo, Kernel, ParallelLoop, ScalarValue
from dse.model.rounds import Rounds, loop_key, share_taken
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
from dse.program.types import INT32, FloatType, ListType, StringType, dimensions_of, scalar_of
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements, with_operands

FIRING = "firing~"
"""The variable of the threads of a SIMD block: the number of the firing in it."""


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

    ``rounds``: of the loops in a run. A ``foreach`` whose bounds depend on data runs that often, rounded, 1 at least;
    a branch around loops is taken as often as there.
    """
    try:
        flat = cost_view(actor, action)
    except ModelNotApplicable as error:
        return Body(actor=actor, action=action, pieces=(), flat=None, why_not=error.first_error.message)
    if rounds:
        flat = replace(flat, statements=tuple(_as_in_the_run(s, rounds, frozenset()) for s in flat.statements))
    flat = replace(flat, statements=tuple(_without_empty_loops(flat.statements)))
    cutter = _Cutter(actor, flat, rounds or {})
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
    """Return a statement in which loops have the bounds that a run gave them; ``loops``: variables of those around."""

    def inside(part: tuple[Stmt, ...], around: frozenset[str]) -> tuple[Stmt, ...]:
        return tuple(_as_in_the_run(s, rounds, around) for s in part)

    match statement:
        case If():
            return replace(statement, then=inside(statement.then, loops), otherwise=inside(statement.otherwise, loops))
        case While():
            return replace(statement, body=inside(statement.body, loops))
        case ForEach():
            found = replace(statement, body=inside(statement.body, loops | {statement.variable.name}))
            known = rounds.get(loop_key(statement))
            return found if known is None else _with_rounds(found, known, loops)
        case _:
            return statement


def _with_rounds(loop: ForEach, rounds: Fraction, loops: frozenset[str]) -> ForEach:
    """Return a loop that runs ``rounds`` times, if its bounds depend on data.

    Bounds that depend on a loop around (``loops``) stay: the mean of all its rounds would tear that apart.
    """
    read = {p.name for e in (loop.low, loop.high) for p in sub_expressions(e) if isinstance(p, Load)}
    if _trips(loop) is not None or loop.step != 1 or read & loops:
        return loop
    first = int(loop.low.value) if isinstance(loop.low, Const) else 0
    last = first + max(1, round(rounds)) - 1
    of = loop.variable.type
    return replace(loop, low=Const(first, of, loop.low.span), high=Const(last, of, loop.high.span))


@dataclass(slots=True)
class _Cutter:
    actor: Actor
    flat: CostView
    rounds: Rounds
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
                share = share_taken(statement, self.rounds)
                yield _alone([replace(statement, then=(), otherwise=())], times, around)
                yield from self.pieces(statement.then, times * share, around)
                yield from self.pieces(statement.otherwise, times * (1 - share), around)
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
            yield _alone([loop], times, around, error.first_error.message)
            return
        if parallel.parallel and not parallel.dependences:
            rounds = times * math.prod(_trips(outer) or 0 for outer in around)
            reason = parallel.how_parallel
            yield Piece(statements=(loop,), times=rounds, kernel=parallel, reason=reason, assumed=assumed)
            return
        why = parallel.dependences[0].text if parallel.dependences else parallel.how_parallel
        alone = _alone([loop], times, around, f"line {loop.span.line}: {why}")
        yield from self._repeated(loop, times, around) or (alone,)

    def _repeated(self, loop: ForEach, times: Fraction, around: tuple[ForEach, ...]) -> tuple[Piece, ...]:
        """Return the pieces of a loop's body, repeated, if it has a constant end and one of them is a kernel."""
        if _trips(loop) is None or not any(_has_loop(s) for s in loop.body):
            return ()
        self.flat.locals[loop.variable.name] = loop.variable
        inner = tuple(self.pieces(loop.body, times, (*around, loop)))
        return inner if any(piece.kernel is not None for piece in inner) else ()

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
    used = [variables[n] for n in _names_in(statements) if n in variables]
    inside = _declared_in(statements)
    outer = [v for v in used if v.name not in inside and not isinstance(v.type, ListType | StringType)]
    ends = _ends(statements)
    kernel = Kernel(
        name=name,
        function=flat.action.name,
        path=actor.path,
        arrays=_arrays_of(used, inside),
        scalars=tuple(_stand_in(v, v.name in ends) for v in outer),
        parallel=(),
        how_parallel="",
        body=statements,
        span=statements[0].span if statements else flat.action.span,
    )
    return kernel, (*(_assumption(v) for v in outer if v.name in ends), *_made_up_contents(kernel))


def _declared_in(statements: Iterable[Stmt]) -> set[str]:
    return {s.variable.name for s in sub_statements(statements) if isinstance(s, Declare | ForEach)}


def _assumption(variable: Variable) -> str:
    return f"{variable.source_name} = {ASSUMED_TRIPS}"


def _arrays_of(variables: Iterable[Variable], private: set[str]) -> tuple[ArrayInfo, ...]:
    """Return the lists among variables as arrays."""
    return tuple(array_of(v, private=v.name in private) for v in variables if isinstance(v.type, ListType))


def _made_up_contents(kernel: Kernel) -> tuple[str, ...]:
    """Return the arrays that steer a kernel and have no contents, in words."""
    steering = _steering(kernel.body)
    arrays = (a for a in kernel.arrays if a.contents is None and a.storage == "global" and a.name in steering)
    return tuple(dict.fromkeys(f"contents of {a.source_name}" for a in arrays))


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
        name=variable.name,
        source_name=variable.source_name,
        element=scalar_of(variable.type),
        dims=dimensions_of(variable.type),
        storage="local" if private else "global",
        span=variable.span,
        contents=contents,
    )


def simd_kernel(body: Body, firings: int) -> tuple[Kernel, tuple[str, ...]]:
    """Return the kernel in which each thread executes one firing of an action, and what was made up for it.

    The transfer has brought the tokens of the block to their threads, and its weight is another one: tokens that are
    scalars are in registers. Lists, those of tokens too, lie as CUDA lays local memory out: elements of neighbouring
    threads are neighbours.
    Raises ModelNotApplicable for a body that kernels cannot represent.
    """
    flat = body.flat
    if flat is None:
        raise ModelNotApplicable(body.why_not, span=body.action.span)
    block = _Block.of(flat, firings)
    statements = tuple(block.statement(s) for s in flat.statements if not block.is_spread(s))
    kernel, assumed = kernel_of(body.actor, flat, statements, f"{flat.action.name} in SIMD")
    variables = visible(body.actor, flat)
    inputs = (array_of(variables[n], private=False) for n in sorted(block.tokens))
    others = (a for a in kernel.arrays if a.name not in block.tokens)
    firing = Variable(FIRING, "firing", INT32, "loop", None, body.action.span)
    return replace(
        kernel,
        arrays=tuple(block.array(a) for a in (*inputs, *others)),
        scalars=tuple(s for s in kernel.scalars if s.variable.name not in block.tokens),
        parallel=(ParallelLoop(variable=firing, low=0, step=1, extent=firings, span=body.action.span),),
        how_parallel="no action of the actor writes state: each thread executes a firing",
    ), assumed


@dataclass(frozen=True, slots=True)
class _Block:
    """A SIMD block of firings. The scalars in ``tokens`` and the lists in ``spread`` are there once for each firing."""

    firings: int
    tokens: frozenset[str]
    spread: frozenset[str]

    @classmethod
    def of(cls, flat: CostView, firings: int) -> "_Block":
        """Return the block of an action."""
        tokens = [v for pattern in flat.action.inputs for v in pattern.variables]
        own = [*tokens, *(s.variable for s in sub_statements(flat.statements) if isinstance(s, Declare))]
        scalars = frozenset(v.name for v in tokens if not isinstance(v.type, ListType))
        return cls(firings, scalars, frozenset(v.name for v in own if isinstance(v.type, ListType)))

    def array(self, array: ArrayInfo) -> ArrayInfo:
        """Return an array as all firings have it."""
        if array.name in self.tokens:
            return replace(array, dims=(self.firings,), private=True)
        if array.name in self.spread:
            return replace(array, dims=(*array.dims, self.firings), storage="global", private=True)
        return array

    def is_spread(self, statement: Stmt) -> bool:
        """Whether a statement declares a list of the firing, which is an array of the block."""
        return isinstance(statement, Declare) and statement.variable.name in self.spread

    def statement(self, statement: Stmt) -> Stmt:
        """Return a statement whose tokens and lists are those of its firing."""

        def inside(part: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return tuple(self.statement(s) for s in part if not self.is_spread(s))

        match statement:
            case Declare(value=value) if value is not None:
                return replace(statement, value=self.value(value))
            case Assign():
                indices = self.indices(statement.name, statement.indices)
                return replace(statement, indices=indices, value=self.value(statement.value))
            case If():
                then, otherwise = inside(statement.then), inside(statement.otherwise)
                return replace(statement, condition=self.value(statement.condition), then=then, otherwise=otherwise)
            case While():
                return replace(statement, condition=self.value(statement.condition), body=inside(statement.body))
            case ForEach():
                low, high = self.value(statement.low), self.value(statement.high)
                return replace(statement, low=low, high=high, body=inside(statement.body))
            case _:
                return statement

    def indices(self, name: str, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the indices of an element of the firing."""
        found, firing = tuple(map(self.value, indices)), Load(FIRING, INT32)
        if name in self.tokens:
            return (firing, *found)
        return (*found, firing) if name in self.spread else found

    def value(self, expression: Expr) -> Expr:
        """Return an expression whose tokens and lists are those of its firing."""
        match expression:
            case Load() if expression.name in self.tokens:
                return Index(expression.name, (Load(FIRING, INT32),), expression.type, expression.span)
            case Index():
                return replace(expression, indices=self.indices(expression.name, expression.indices))
            case _ if operands_of(expression):
                return with_operands(expression, tuple(map(self.value, operands_of(expression))))
            case _:
                return expression


def _names_in(statements: Iterable[Stmt]) -> Iterable[str]:
    """Return the names that statements read or write, in source order."""
    found: dict[str, None] = {}
    for statement in sub_statements(statements):
        if isinstance(statement, Assign):
            found[statement.name] = None
        for expression in expressions_of(statement):
            found |= {p.name: None for p in sub_expressions(expression) if isinstance(p, Load | Index)}
    return found


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
    for statement in sub_statements(statements):
        parts = [p for e in expressions_of(statement) for p in sub_expressions(e) if isinstance(p, Index)]
        decides = [*_deciding(statement), *(index for p in parts for index in p.indices)]
        found |= {p.name for e in decides for p in sub_expressions(e) if isinstance(p, Load | Index)}
    return _sources(statements, found)


def _deciding(statement: Stmt) -> tuple[Expr, ...]:
    """Return the expressions of a statement itself that decide what is executed and which element is written."""
    match statement:
        case If() | While():
            return (statement.condition,)
        case ForEach():
            return (statement.low, statement.high)
        case Assign():
            return statement.indices
        case _:
            return ()


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


def _stand_in(variable: Variable, ends_loop: bool) -> ScalarValue:
    """Return a made-up value of a scalar that is set elsewhere."""
    value = 0.0 if isinstance(variable.type, FloatType) else ASSUMED_TRIPS if ends_loop else 0
    return ScalarValue(variable=variable, value=value, assumed=True)


def _has_loop(statement: Stmt) -> bool:
    return any(isinstance(s, ForEach | While) for s in sub_statements((statement,)))


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
