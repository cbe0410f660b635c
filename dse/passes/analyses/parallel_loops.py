"""Which loops of a nest become threads, and why.

Rule (gpu-models page, section cgpredict): the leading loops whose variable occurs in the subscripts of every written
array, at most two, the innermost of them x. A pragma or an option names other loops. Dependences through arrays are
found exactly while the trace is executed (``dse.gpu.trace.execute``); those through scalars are found here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from dse.base.errors import ModelNotApplicable, OptionError
from dse.model.kernel import Dependence, Kernel, ParallelLoop
from dse.passes.analyses.affine import Affine, affine
from dse.passes.analyses.expression_ranges import range_of
from dse.passes.analyses.ranges import Interval
from dse.program.ir import Assign, Binary, Const, Declare, Expr, ForEach, If, Load, Stmt, While
from dse.program.types import BOOL
from dse.program.walk import expressions_of, reads_any, sub_statements

MAX_PARALLEL = 2
"""Loops that are made threads without being asked to."""
MOST_IDLE = 32
"""A loop that starts below this keeps its variable as the number of the thread: the borders of stencils."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """A perfect nest from the outside in: loops, declarations met between them, and the body of the innermost."""

    loops: tuple[ForEach, ...]
    declarations: tuple[Declare, ...]
    body: tuple[Stmt, ...]


def parallelise(kernel: Kernel, names: Sequence[str] = ()) -> Kernel:
    """Return the kernel with threads: loops named by ``names``, else by a pragma, else found by the rule.

    A kernel without a loop that qualifies comes back as one thread (``parallel`` empty); ``how_parallel`` says why.
    Raises OptionError for a name that is no loop of the nest.
    """
    chain = _merge_strips(_chain(kernel.body))
    if names or kernel.marked:
        source = "the option" if names else "a pragma"
        chosen = _named(kernel, chain, list(names or kernel.marked))
        listed = ", ".join(_name(loop) for loop in chosen)
        text = f"{source} names {listed} as parallel; x is {_name(chosen[-1])}"
    else:
        chosen, text = _found(kernel, chain)
    return _with_threads(replace(kernel, how_parallel=text), chain, chosen)


def require_parallel(kernel: Kernel) -> None:
    """Raise ModelNotApplicable, with the reason, for a kernel of one thread."""
    if not kernel.parallel and not kernel.one_thread:
        raise ModelNotApplicable(
            f"{kernel.name} has no parallel loop: {kernel.how_parallel}",
            span=kernel.span,
            expected="write it so that rounds of a loop do not need each other (another order, such as by diagonals, "
            "or an array for each thread), and name such loops with #pragma dse parallel(i, j)",
        )


def _chain(body: tuple[Stmt, ...]) -> _Chain:
    loops: list[ForEach] = []
    declarations: list[Declare] = []
    while True:
        plain = [s for s in body if isinstance(s, Declare) and s.value is None]
        rest = [s for s in body if s not in plain]
        if len(rest) != 1 or not isinstance(rest[0], ForEach):
            return _Chain(tuple(loops), tuple(declarations), body)
        declarations += plain
        loops.append(rest[0])
        body = rest[0].body


def _merge_strips(chain: _Chain) -> _Chain:
    """Put blocked loops together: ``for (ii = 0; ii < N; ii += 32) ... for (i = ii; i < ii + 32; i++)`` is one over N.

    Threads are numbered over the whole range and blocks cut it again, so the blocking of the source says nothing.
    """
    loops = list(chain.loops)
    for outer in chain.loops:
        inner = _strip_of(outer, loops)
        if inner is not None and not _reads(outer, [one for one in loops if one not in (outer, inner)], chain.body):
            merged = _merged(outer, inner)
            loops = [merged if one is outer else one for one in loops if one is not inner]
    return replace(chain, loops=tuple(loops))


def _reads(outer: ForEach, others: list[ForEach], body: tuple[Stmt, ...]) -> bool:
    """Whether the bounds of other loops or a body read a loop's variable."""
    bounds = [e for one in others for e in (one.low, one.high)]
    return reads_any([*bounds, *(e for s in sub_statements(body) for e in expressions_of(s))], {outer.variable.name})


def _merged(outer: ForEach, inner: ForEach) -> ForEach:
    """Return the loop that runs over all values of ``inner`` in all rounds of ``outer``."""
    bounds = _bounds(outer, {})
    assert bounds is not None, "a strip's outer loop has constant bounds"
    last = bounds[0] + (bounds[1] - bounds[0]) // outer.step * outer.step
    high = Const(last + outer.step - 1, inner.variable.type, outer.span)
    return replace(inner, low=outer.low, high=high)


def _strip_of(outer: ForEach, loops: list[ForEach]) -> ForEach | None:
    return next((one for one in loops if one is not outer and _is_strip(outer, one)), None)


def _is_strip(outer: ForEach, inner: ForEach) -> bool:
    """Whether ``inner`` runs over the ``outer.step`` values that follow each value of ``outer``."""
    name = outer.variable.name
    return (
        _bounds(outer, {}) is not None
        and outer.step > 1
        and inner.step == 1
        and affine(inner.low) == Affine(0, ((name, 1),))
        and affine(inner.high) == Affine(outer.step - 1, ((name, 1),))
    )


def _name(loop: ForEach) -> str:
    return loop.variable.source_name


def _named(kernel: Kernel, chain: _Chain, names: list[str]) -> list[ForEach]:
    """Return the loops of the nest with these names, outermost first."""
    known = {_name(loop): loop for loop in chain.loops}
    for name in names:
        if name not in known:
            nest = ", ".join(known) or "none"
            raise OptionError(
                f"{name} is no loop of the nest of {kernel.name} that can be parallel",
                span=kernel.span,
                expected=f"loops that stand directly inside each other: {nest}",
            )
    if len(names) > 3:
        raise OptionError(f"{len(names)} parallel loops: a grid has three dimensions at most", span=kernel.span)
    return [loop for loop in chain.loops if _name(loop) in names]


def _found(kernel: Kernel, chain: _Chain) -> tuple[list[ForEach], str]:
    """Return the parallel loops by the rule, outermost first, and the explanation."""
    writes = _writes(kernel)
    if not writes:
        return [], "no array is written, so no loop has results of its own"
    loops = chain.loops[:MAX_PARALLEL]
    refused = [_why_not(kernel, loop, writes) for loop in loops]
    n_chosen = next((k for k, why in enumerate(refused) if why), len(loops))
    chosen, why_not = list(loops[:n_chosen]), "".join(refused[n_chosen : n_chosen + 1])
    if not chosen:
        return [], why_not or "the outermost statement is no counting loop"
    return chosen, f"{_reason(kernel, chosen, writes)}; {why_not}".removesuffix("; ")


def _writes(kernel: Kernel) -> list[Assign]:
    """Return the assignments of elements of arrays that all threads see."""
    shared = {a.name for a in kernel.arrays if a.storage == "global"}
    return [s for s in sub_statements(kernel.body) if isinstance(s, Assign) and s.name in shared]


def _reason(kernel: Kernel, chosen: list[ForEach], writes: list[Assign]) -> str:
    """Return why loops are parallel, in words."""
    each = " and ".join(_name(loop) for loop in chosen)
    verb = "occur" if len(chosen) > 1 else "occurs"
    written = ", ".join(dict.fromkeys(kernel.array(w.name).source_name for w in writes))
    return f"{each} {verb} in the subscripts of every written array ({written}); x is {_name(chosen[-1])}"


def _why_not(kernel: Kernel, loop: ForEach, writes: list[Assign]) -> str:
    """Return why the iterations of a loop are no threads by the rule, empty if they are."""
    carried = _derived(kernel.body, loop.variable.name)
    missing = next((w for w in writes if not reads_any(w.indices, carried)), None)
    if missing is not None:
        where = f"line {missing.span.line} writes {kernel.array(missing.name).source_name} without it"
        return f"{_name(loop)} is not: {where}"
    if _bounds(loop, {}) is None:
        return f"{_name(loop)} is not: its bounds depend on another loop or on data"
    return ""


def _derived(body: tuple[Stmt, ...], name: str) -> set[str]:
    """Return the scalars whose value is computed from the variable ``name``, itself included."""
    derived = {name}
    before = 0
    while before != len(derived):
        before = len(derived)
        for statement in sub_statements(body):
            match statement:
                case Assign(indices=()) if reads_any((statement.value,), derived):
                    derived.add(statement.name)
                case Declare(value=value) if value is not None and reads_any((value,), derived):
                    derived.add(statement.variable.name)
                case _:
                    pass
    return derived


def _bounds(loop: ForEach, known: dict[str, Interval]) -> tuple[int, int] | None:
    """Return the first and last value that a loop's bounds allow, None when they are not known."""
    low, high = range_of(loop.low, known), range_of(loop.high, known)
    if low is None or high is None:
        return None
    if not known and (low[0] != low[1] or high[0] != high[1]):
        return None
    return (low[0], high[1]) if loop.step > 0 else (low[1], high[0])


def _with_threads(kernel: Kernel, chain: _Chain, chosen: list[ForEach]) -> Kernel:
    """Take the chosen loops out of the nest; a bound that depends on an outer one becomes a condition of the thread."""
    if not chosen:
        return kernel
    known: dict[str, Interval] = {}
    parallel: list[ParallelLoop] = []
    guards: list[Expr] = []
    for loop in chosen:
        first, last = _first_and_last(loop, known)
        if _bounds(loop, {}) is None:
            guards += _guard(loop)
        known[loop.variable.name] = (min(first, last), max(first, last))
        parallel.insert(0, _parallel_loop(kernel, loop, first, last))
    body = chain.body
    for loop in reversed([one for one in chain.loops if one not in chosen]):
        body = (replace(loop, body=body),)
    for guard in reversed(guards):
        body = (If(guard, body, (), guard.span),)
    body = (*chain.declarations, *body)
    names = tuple(_carried_scalars(kernel, body))
    return replace(kernel, body=body, parallel=tuple(parallel), dependences=(*kernel.dependences, *names))


def _first_and_last(loop: ForEach, known: dict[str, Interval]) -> tuple[int, int]:
    """Return the range of a chosen loop. Raises OptionError for one that depends on data."""
    found = _bounds(loop, known)
    if found is None:
        raise OptionError(
            f"the bounds of {_name(loop)} depend on data, so it cannot be a dimension of the grid",
            span=loop.span,
            expected="mark other loops",
        )
    return found


def _parallel_loop(kernel: Kernel, loop: ForEach, first: int, last: int) -> ParallelLoop:
    """Return the threads of a loop. Raises ModelNotApplicable for one without iterations."""
    extent = max(0, (last - first) // loop.step + 1)
    if extent == 0:
        raise ModelNotApplicable(f"the loop {_name(loop)} of {kernel.name} runs no iteration", span=loop.span)
    idle = first if loop.step == 1 and 0 < first < MOST_IDLE else 0
    return ParallelLoop(variable=loop.variable, low=first, step=loop.step, extent=extent, idle=idle, span=loop.span)


def _guard(loop: ForEach) -> list[Expr]:
    at = Load(loop.variable.name, loop.variable.type, loop.span)
    low, high = (">=", "<=") if loop.step > 0 else ("<=", ">=")
    conditions: list[Expr] = []
    if not isinstance(loop.low, Const):
        conditions.append(Binary("<=" if low == "<=" else ">=", at, loop.low, BOOL, loop.span))
    if not isinstance(loop.high, Const):
        conditions.append(Binary(">=" if high == ">=" else "<=", at, loop.high, BOOL, loop.span))
    return conditions


def _carried_scalars(kernel: Kernel, body: tuple[Stmt, ...]) -> Iterable[Dependence]:
    """Yield the scalars declared outside the threads that a thread reads before it writes them, and writes."""
    assigned = {s.name: s.span for s in sub_statements(body) if isinstance(s, Assign) and not s.indices}
    for scalar in kernel.scalars:
        name = scalar.variable.name
        if name in assigned and first_use(body, name) == "read":
            source = scalar.variable.source_name
            text = f"{source} is carried from one iteration of the parallel loops to the next: threads would race on it"
            yield Dependence(array=source, kind="write-read", text=text, span=assigned[name])


def first_use(body: Iterable[Stmt], name: str, runs: Callable[[ForEach], bool] = lambda _loop: False) -> str:
    """Return what happens first to a scalar: ``read``, ``written`` (for sure), or "" where neither is known.

    ``runs``: whether a loop is known to go round at least once.
    """
    for statement in body:
        if any(reads_any((e,), {name}) for e in expressions_of(statement)):
            return "read"
        found = _use_inside(statement, name, runs)
        if found:
            return found
    return ""


def _use_inside(statement: Stmt, name: str, runs: Callable[[ForEach], bool]) -> str:
    """Return what a statement does first to a scalar, its own expressions apart."""
    match statement:
        case Assign(indices=()):
            return "written" if statement.name == name else ""
        case If():
            parts = {first_use(statement.then, name, runs), first_use(statement.otherwise, name, runs)}
            return "read" if "read" in parts else "written" if parts == {"written"} else ""
        case ForEach() | While():
            first = first_use(statement.body, name, runs)
            certain = isinstance(statement, ForEach) and runs(statement)
            return first if first == "read" or certain else ""
        case _:
            return ""
