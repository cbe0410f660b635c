"""Whether the rounds of a loop may be done in any order, and at once: what decides that threads of a block share it.

Candidates are those of the cost model (``parallel_loops``): the leading loops of a nest, at most two, and lists that
are written as an expression, whose elements are rounds. A program has to be right for all data, so that here a proof is
asked for where the cost model may execute one case. Rounds are done by several threads if

* every list that outlives a round and that a round writes is accessed, in all rounds, at places that one dimension
  keeps apart: its index is the same multiple of the loop's variable, plus what all rounds share, plus a rest that is
  smaller than a step of the variable makes (the strong test of single index variables: Goff, Kennedy and Tseng,
  "Practical Dependence Testing", 1991, section 4.2, with a rest for the loops inside). Sums may wrap at 32 bits and
  more, which keeps apart what spans less than that;
* every variable that a round sets is the round's own: set before it is read. What the last round leaves is kept;
* a round does nothing else: no state of the actor, no printing, no native.

Rounds may fail and stray: the first one that fails counts. Routines that a round calls are looked through, by what they
are called with; of a loop that stands in a routine itself, two lists that are parameters must not be one in any call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod

from dse.base.source import Span
from dse.passes.analyses.affine import Affine
from dse.passes.analyses.loop_sharing import Asked, Body, LoopSharing, source_name
from dse.passes.analyses.operations import ASSUMED_TRIPS
from dse.passes.analyses.parallel_loops import first_use
from dse.passes.analyses.uses import reached_by
from dse.program.ir import (
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Check,
    Const,
    ConsumeTokens,
    CopyInto,
    Count,
    Declare,
    Expr,
    ForEach,
    Generator,
    GeneratorLoop,
    If,
    Index,
    Load,
    Print,
    ReadTokens,
    Routine,
    Stmt,
    Unary,
    Variable,
    While,
    WriteTokens,
)
from dse.program.types import IntType, ListType
from dse.program.walk import expressions_of, operands_of, sub_expressions

LEAST_OPERATIONS = 64
"""Of a loop that is shared out: waking threads and waiting for them takes some hundred cycles."""
_MOST_BOUND = 1 << 60
_WRAP_BITS = 32
_WRAP = 1 << _WRAP_BITS
"""Sums that wrap do so at this, or at a multiple of it."""
_MOST_STATEMENTS = 20_000
"""And calls, that are looked through for one loop, those of a routine anew for each call."""


def of_loop(asked: Asked, body: Body, loop: ForEach) -> LoopSharing:
    """Return what is found of one loop, with the one directly inside it where both may be shared out."""
    nest = asked.nest(loop)
    refused: _Refused | None = None
    for loops in (nest[:n] for n in range(len(nest), 0, -1)):
        try:
            return _Sharing(asked, body, loops, loop.span).found()
        except _Refused as answer:
            refused = answer
    assert refused is not None, "a nest has a loop"
    return _not_shared(body, (loop,), loop.span, refused)


def of_list(asked: Asked, body: Body, generator: Generator) -> LoopSharing:
    """Return what is found of a list that is written as an expression."""
    try:
        return _Sharing(asked, body, generator.loops, generator.span, generator).found()
    except _Refused as answer:
        return replace(_not_shared(body, generator.loops, generator.span, answer), generator=generator)


def _not_shared(
    body: Body, loops: tuple[ForEach | GeneratorLoop, ...], place: Span, refused: "_Refused"
) -> LoopSharing:
    return LoopSharing(
        action=body.action, routine=body.routine, loops=loops, reason=refused.reason, span=refused.span, place=place
    )


@dataclass(frozen=True, slots=True)
class _Form:
    """An integer as an affine form. ``wraps``: some sum in it may have wrapped."""

    form: Affine
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class _Access:
    """An access to elements of a list: indices from the outermost on, None for what is no affine form."""

    indices: tuple[_Form | None, ...]
    writes: bool
    span: Span


@dataclass(slots=True)
class _Scope:
    """What names mean in a routine or in the loop: ``forms`` of integers, ``lists`` that parameters stand for."""

    forms: dict[str, _Form | None] = field(default_factory=dict)
    lists: dict[str, tuple[str, tuple[_Form | None, ...]] | None] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)


class _Refused(Exception):
    """A loop does what keeps it from being shared out: an answer, no error."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class _Sharing:
    """The question for one nest of loops: gathers what rounds access, and asks whether they may meet."""

    def __init__(
        self,
        asked: Asked,
        of: Body,
        loops: Sequence[ForEach | GeneratorLoop],
        place: Span,
        generator: Generator | None = None,
    ) -> None:
        self.asked = asked
        self.of = of
        self.values = asked.values
        self.loops = tuple(loops)
        self.place = place
        self.generator = generator
        self.elements = () if generator is None else generator.elements
        innermost = loops[-1]
        self.body = innermost.body if isinstance(innermost, ForEach) else ()
        self.accesses: dict[str, list[_Access]] = {}
        self.passed: set[str] = set()
        """Lists that rounds hand to routines, which may access nothing of them."""
        self.read: set[str] = set()
        self.set_names: dict[str, Span] = {}
        self.scope = _Scope()
        self.inner: set[str] = set()
        self.looked_through = 0

    def found(self) -> LoopSharing:
        """Return that the loops are shared out, with what that takes. Raises ``_Refused``."""
        self._bounds()
        self._statements(self.body, self.scope)
        self._values(self.elements, self.scope)
        inside = self.scope.own | {loop.variable.name for loop in self.loops}
        self._scalars(inside)
        self._lists()
        self._parameters()
        rounds, operations = self._work()
        lasting, parameters = self.asked.lasting, set().union(*self.of.roots)
        named = self.passed | set(self.accesses)
        return LoopSharing(
            action=self.of.action,
            routine=self.of.routine,
            loops=self.loops,
            reason="",
            span=self.place,
            place=self.place,
            generator=self.generator,
            lists=tuple(sorted(named - lasting)),
            views=tuple(sorted(named & parameters)),
            taken=tuple(sorted(n for n in self.read - inside - lasting if n not in self.set_names)),
            left=tuple(sorted(n for n in self.set_names if n not in inside)),
            rounds=rounds,
            operations=operations,
        )

    def _bounds(self) -> None:
        outer = self.loops[0]
        if self.generator is not None and any(self.asked.fixed(loop) is None for loop in self.loops):
            raise _Refused("its bounds are no numbers", self.place)
        for bound in (outer.low, outer.high):
            found = self.values.interval(bound)
            if found is None or not -_MOST_BOUND <= found[0] <= found[1] <= _MOST_BOUND:
                raise _Refused("its bounds may be of any size", self.place)

    def _work(self) -> tuple[int, int]:
        """Return the rounds, and about how many operations they are. Refuse a loop with too few."""
        rounds = prod(map(self.asked.trips, self.loops))
        operations = rounds * (self._operations(self.body) + sum(map(self._weight, self.elements)))
        if operations < LEAST_OPERATIONS:
            raise _Refused("it has too little to do for several threads", self.place)
        return rounds, operations

    def _operations(self, statements: Iterable[Stmt]) -> int:
        """Return about how many operations statements are: expressions, as often as loops with known ends go round."""
        total = 0
        for stmt in statements:
            total += sum(map(self._weight, expressions_of(stmt)))
            match stmt:
                case ForEach():
                    total += self.asked.trips(stmt) * self._operations(stmt.body)
                case If():
                    total += max(self._operations(stmt.then), self._operations(stmt.otherwise))
                case While():
                    total += ASSUMED_TRIPS * self._operations(stmt.body)
                case CallStmt():
                    total += self._size_of(stmt.routine)
                case _:
                    pass
        return total

    def _weight(self, expr: Expr) -> int:
        """Return about how many operations an expression is."""
        parts = sum(map(self._weight, operands_of(expr)))
        match expr:
            case Generator():
                return 1 + parts * prod(map(self.asked.trips, expr.loops))
            case Call():
                return 1 + parts + self._size_of(expr.routine)
            case _:
                return 1 + parts

    def _size_of(self, name: str) -> int:
        """Return about how many operations a call of a routine is."""
        sizes = self.asked.sizes
        if name not in sizes:
            routine = self.asked.routines[name]
            result = 0 if routine.result is None else self._weight(routine.result)
            sizes[name] = self._operations(routine.body) + result
        return sizes[name]

    # What rounds access -----------------------------------------------------------------------------------------------

    def _statements(self, statements: Iterable[Stmt], scope: _Scope) -> None:  # ways: one case for each statement
        for stmt in statements:
            self._count()
            match stmt:
                case Declare():
                    self._begin(stmt.variable, scope)
                    if stmt.value is not None:
                        self._expression(stmt.value, scope)
                        scope.forms[stmt.variable.name] = self._kept(stmt.variable, stmt.value, scope)
                case Assign():
                    self._store(stmt, scope)
                case CopyInto():
                    self._values((*stmt.indices, stmt.value), scope)
                    self._access(stmt.name, stmt.indices, scope, span=stmt.span, writes=True)
                case If():
                    self._expression(stmt.condition, scope)
                    self._statements((*stmt.then, *stmt.otherwise), scope)
                case While():
                    self._expression(stmt.condition, scope)
                    self._statements(stmt.body, scope)
                case ForEach():
                    self._begin(stmt.variable, scope)
                    self._values((stmt.low, stmt.high), scope)
                    self._statements(stmt.body, scope)
                case CallStmt():
                    self._call(stmt.routine, stmt.arguments, scope, stmt.span)
                case Count():
                    pass
                case Print():
                    raise _Refused("it prints", stmt.span)
                case ReadTokens() | ConsumeTokens() | WriteTokens():
                    raise _Refused("it moves tokens", stmt.span)
                case _:
                    self._values(expressions_of(stmt), scope)

    def _count(self) -> None:
        """Count a statement or a call; refuse what calls so often that looking would not end."""
        self.looked_through += 1
        if self.looked_through > _MOST_STATEMENTS:
            raise _Refused("it calls too much to be looked through", self.place)

    def _begin(self, variable: Variable, scope: _Scope) -> None:
        """Note a variable of the round itself."""
        scope.own.add(variable.name)
        self.inner.add(variable.name)

    def _kept(self, variable: Variable, value: Expr, scope: _Scope) -> _Form | None:
        """Return the form of a variable that keeps its first value."""
        changes = variable.name in self.asked.facts.mutated
        return None if changes or not isinstance(variable.type, IntType) else self._form(value, scope)

    def _store(self, stmt: Assign, scope: _Scope) -> None:
        self._values((*stmt.indices, stmt.value), scope)
        if stmt.indices:
            self._access(stmt.name, stmt.indices, scope, span=stmt.span, writes=True)
        elif stmt.name in self.asked.lasting:
            raise _Refused(f"it changes '{self._source_name(stmt.name)}'", stmt.span)
        elif stmt.name not in scope.own:
            self.set_names.setdefault(stmt.name, stmt.span)

    def _values(self, expressions: Iterable[Expr], scope: _Scope) -> None:
        for expr in expressions:
            self._expression(expr, scope)

    def _expression(self, expr: Expr, scope: _Scope) -> None:
        match expr:
            case Load() if isinstance(expr.type, ListType):
                self._access(expr.name, (), scope, span=expr.span, writes=False)
            case Load():
                if scope is self.scope:
                    self.read.add(expr.name)
            case Index():
                self._values(expr.indices, scope)
                self._access(expr.name, expr.indices, scope, span=expr.span, writes=False)
            case Call():
                self._call(expr.routine, expr.arguments, scope, expr.span)
            case _:
                for loop in expr.loops if isinstance(expr, Generator) else ():
                    self._begin(loop.variable, scope)
                self._values(operands_of(expr), scope)

    def _access(self, name: str, indices: Sequence[Expr], scope: _Scope, *, span: Span, writes: bool) -> None:
        found = tuple(self._form(index, scope) for index in indices)
        if name in scope.lists:
            meant = scope.lists[name]
            if meant is None:
                return  # a list that was made for the call
            name, found = meant[0], (*meant[1], *found)
        elif name in scope.own:
            return
        self.accesses.setdefault(name, []).append(_Access(found, writes, span))

    def _call(self, name: str, arguments: Sequence[Expr], scope: _Scope, span: Span) -> None:
        self._count()
        routine = self.asked.routines.get(name)
        if routine is None:
            raise _Refused("it calls a native", span)
        if name in reached_by(self.asked.facts.of_routines[name].calls, self.asked.facts.of_routines):
            raise _Refused(f"'{routine.source_name}' calls itself", span)
        self._routine(routine, self._inside(routine, arguments, scope))

    def _inside(self, routine: Routine, arguments: Sequence[Expr], scope: _Scope) -> _Scope:
        """Return what the parameters of a routine stand for in one call; the arguments are looked at."""
        inner = _Scope()
        for parameter, argument in zip(routine.parameters, arguments, strict=True):
            self._begin(parameter, inner)
            if isinstance(parameter.type, ListType) and isinstance(argument, Load | Index):
                indices = argument.indices if isinstance(argument, Index) else ()
                self._values(indices, scope)
                if scope is self.scope and argument.name not in scope.own:
                    self.passed.add(argument.name)
                inner.lists[parameter.name] = self._meant(argument.name, indices, scope)
                continue
            self._expression(argument, scope)
            if isinstance(parameter.type, ListType):
                inner.lists[parameter.name] = None
            else:
                inner.forms[parameter.name] = self._kept(parameter, argument, scope)
        return inner

    def _meant(self, name: str, indices: Sequence[Expr], scope: _Scope) -> tuple[str, tuple[_Form | None, ...]] | None:
        """Return the list outside of the loop that an argument is, or is a part of; None for one of the round."""
        forms = tuple(self._form(index, scope) for index in indices)
        if name in scope.lists:
            meant = scope.lists[name]
            return None if meant is None else (meant[0], (*meant[1], *forms))
        return None if name in scope.own else (name, forms)

    def _routine(self, routine: Routine, scope: _Scope) -> None:
        self._statements(routine.body, scope)
        if routine.result is not None:
            self._expression(routine.result, scope)

    # ways: one case for each kind of expression
    def _form(self, expr: Expr, scope: _Scope) -> _Form | None:
        """Return an integer as an affine form of variables outside of routines, None if it is not known to be one."""
        match expr:
            case Const(value=int(value)):
                return _Form(Affine(int(value), ()))
            case Load(name=name):
                if name in scope.forms:
                    return scope.forms[name]
                return _Form(Affine(0, ((name, 1),))) if isinstance(expr.type, IntType) else None
            case Check(operand=operand):
                return self._form(operand, scope)
            case Cast(operand=operand) if isinstance(expr.type, IntType) and expr.type.container_bits >= _WRAP_BITS:
                inner = self._form(operand, scope) if isinstance(operand.type, IntType) else None
                return None if inner is None else _Form(inner.form, wraps=True)
            case Unary(op="-", operand=operand):
                inner = self._form(operand, scope)
                return None if inner is None else _Form(inner.form.scaled(-1), inner.wraps)
            case Binary(op="+" | "-" | "*"):
                return self._combined(expr, scope)
            case _:
                return None

    def _combined(self, expr: Binary, scope: _Scope) -> _Form | None:
        left, right = self._form(expr.left, scope), self._form(expr.right, scope)
        if left is None or right is None:
            return None
        a, b, wraps = left.form, right.form, left.wraps or right.wraps
        match expr.op:
            case "+":
                return _Form(a.plus(b), wraps)
            case "-":
                return _Form(a.plus(b.scaled(-1)), wraps)
            case _ if not b.terms:
                return _Form(a.scaled(b.constant), wraps)
            case _ if not a.terms:
                return _Form(b.scaled(a.constant), wraps)
            case _:
                return None

    # Whether rounds may meet ------------------------------------------------------------------------------------------

    def _scalars(self, inside: set[str]) -> None:
        """Refuse scalars that a round may read before it sets them; or may not set, and something else reads."""
        for name, span in self.set_names.items():
            if name in inside:
                continue
            first = first_use(self.body, name, self._runs)
            if first == "read" or (not first and name in self._read_elsewhere()):
                raise _Refused(f"'{self._source_name(name)}' goes from one round to the next", span)

    def _runs(self, loop: ForEach) -> bool:
        fixed = self.asked.fixed(loop)
        return fixed is not None and fixed[0] <= fixed[1]

    def _read_elsewhere(self) -> set[str]:
        """Return the scalars that the firing reads in another place than the rounds."""
        results = (p.name for e in self.of.result for p in sub_expressions(e) if isinstance(p, Load))
        return {*_reads(self.of.statements, self.loops[-1]), *results}

    def _lists(self) -> None:
        """Refuse lists that rounds may meet in; the rounds of the inner loop are looked at for one of the outer."""
        written = self._written()
        if not written and self.generator is None:
            raise _Refused("it leaves nothing in a list", self.place)
        for name, accesses in written.items():
            for depth, loop in enumerate(self.loops):
                self._apart(name, accesses, loop, {one.variable.name for one in self.loops[:depth]})

    def _written(self) -> dict[str, list[_Access]]:
        """Return the accesses to each list that rounds write."""
        return {name: accesses for name, accesses in self.accesses.items() if any(one.writes for one in accesses)}

    def _parameters(self) -> None:
        """Refuse lists of which one is known under two names in some call, and those that are made for a call."""
        written = self._written().keys()
        for roots in self.of.roots:
            named: dict[str, str] = {}
            for name in sorted(self.accesses):
                root = roots.get(name, name)
                if root is None:
                    raise _Refused(f"'{self._source_name(name)}' may be a list that is made for a call", self.place)
                other = named.setdefault(root, name)
                if other != name and written & {other, name}:
                    both = f"'{self._source_name(other)}' and '{self._source_name(name)}'"
                    raise _Refused(f"{both} may be one list", self.place)

    def _apart(self, name: str, accesses: Sequence[_Access], loop: ForEach | GeneratorLoop, around: set[str]) -> None:
        """Refuse a list where no dimension keeps the rounds of a loop apart."""
        ranks = min(len(one.indices) for one in accesses)
        answers = [self._dimension(d, accesses, loop, around) for d in range(ranks)]
        if any(answer is None for answer in answers):
            return
        known = [answer for answer in answers if answer is not None]
        first = next(one for one in accesses if one.writes)
        why, span = known[0] if known else ("as a whole", first.span)
        raise _Refused(f"a round may access what another one writes: '{self._source_name(name)}' {why}", span)

    def _dimension(
        self, dimension: int, accesses: Sequence[_Access], loop: ForEach | GeneratorLoop, around: set[str]
    ) -> tuple[str, Span] | None:
        """Return None where the indices of a dimension are never the same in two rounds, else why they may be."""
        splits: list[_Split] = []
        for one in accesses:
            found = self._place(one, dimension, loop, around)
            if isinstance(found, str):
                return found, one.span
            splits.append(found)
        wraps = any(index.wraps for one in accesses if (index := one.indices[dimension]) is not None)
        alike = len({(s.factor, s.shared) for s in splits}) == 1
        if alike and (self._farther(splits, loop, wraps=wraps) or (not wraps and self._between(splits, loop))):
            return None
        return "at places that may be those of another round", accesses[-1].span

    def _place(self, one: _Access, dimension: int, loop: ForEach | GeneratorLoop, around: set[str]) -> "_Split | str":
        """Return where an access is in a dimension, or why rounds are not kept apart there."""
        index = one.indices[dimension]
        split = None if index is None else self._split(index.form, loop.variable.name, around)
        if split is None:
            return "at a place that is not known beforehand"
        return split if split.factor else f"at a place that '{source_name(loop)}' does not change"

    def _farther(self, splits: "Sequence[_Split]", loop: ForEach | GeneratorLoop, *, wraps: bool) -> bool:
        """Return whether a step of the loop leads beyond all places of a round: ``8 * i + j`` with j below 8."""
        rest = max(s.high for s in splits) - min(s.low for s in splits)
        step = abs(splits[0].factor)
        held = self.values.held[loop.variable.name].bounds
        within = held is not None and step * (held[1] - held[0]) + rest < _WRAP
        return rest < step and (within or not wraps)

    def _between(self, splits: "Sequence[_Split]", loop: ForEach | GeneratorLoop) -> bool:
        """Return whether all steps of the loop lead between the places of a round: ``i + 8 * j`` with i below 8."""
        held = self.values.held[loop.variable.name].bounds
        grid = gcd(*(s.grid for s in splits), *(s.constant - splits[0].constant for s in splits))
        return held is not None and abs(splits[0].factor) * (held[1] - held[0]) < grid

    def _split(self, form: Affine, variable: str, around: set[str]) -> "_Split | None":
        """Return an index cut into what a loop's variable adds, what all its rounds share, and the rest."""
        factor, grid, low, high = 0, 0, form.constant, form.constant
        shared: list[tuple[str, int]] = []
        for name, times in form.terms:
            if name == variable:
                factor = times
            elif name in around or self._is_fixed(name):
                shared.append((name, times))
            else:
                bounds = self.values.held[name].bounds  # of a loop inside, or of what a round sets itself
                if bounds is None:
                    return None
                grid = gcd(grid, times)
                ends = (times * bounds[0], times * bounds[1])
                low, high = low + min(ends), high + max(ends)
        return _Split(factor, tuple(sorted(shared)), form.constant, grid, low, high)

    def _is_fixed(self, name: str) -> bool:
        """Return whether a variable is the same in all rounds."""
        loops = {loop.variable.name for loop in self.loops}
        return name not in self.inner | loops | set(self.set_names)  # or it is a variable of the actor: none is set

    def _source_name(self, name: str) -> str:
        return self.values.held[name].variable.source_name


def _reads(statements: Iterable[Stmt], but: ForEach | GeneratorLoop) -> Iterator[str]:
    """Yield the scalars that statements read, the body of one loop apart."""
    for stmt in statements:
        yield from (p.name for e in expressions_of(stmt) for p in sub_expressions(e) if isinstance(p, Load))
        match stmt:
            case If():
                yield from _reads((*stmt.then, *stmt.otherwise), but)
            case ForEach() | While() if stmt is not but:
                yield from _reads(stmt.body, but)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Split:
    """``factor`` times the variable of a loop, ``shared`` by its rounds, and a rest from ``low`` to ``high``: a
    ``constant`` and multiples of ``grid``.
    """

    factor: int
    shared: tuple[tuple[str, int], ...]
    constant: int
    grid: int
    low: int
    high: int
