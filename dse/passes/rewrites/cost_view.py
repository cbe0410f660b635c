"""An action as one sequence of statements over scalars and elements, so that its costs can be told: a view, no program.

Kernel analysis knows neither routines nor values that are lists. Calls of the actor's routines are replaced by their
bodies with fresh names (lists go by reference); an assignment of a list becomes the loop that copies it; constants
become literals. What cannot be said that way raises ``ModelNotApplicable`` with the reason.

The view is not to be executed for its results, which may differ in these ways:

* A list of literals is stored as zeros.
* A list that a condition chooses becomes an ``if`` with a loop in each branch, at the place of the expression.
* An argument that stands for a scalar parameter, and the result of a function, are not wrapped to their types; a
  variable that stands for a parameter shows what routines called further inside make of it.
* A function called in one branch of a conditional expression, or on the right of ``and`` and ``or``, is always
  computed, before the statement: it has no effect, but it may reach outside a list or divide by zero where the
  program does not.
* A list is stored element by element, so ``l := [l[1], l[0]]`` reads what it has just written.
* Outputs that only pass on a variable, an element or a literal are left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable
from dse.base.source import Span
from dse.passes.analyses.expression_ranges import range_of, value_of
from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Conditional,
    Const,
    ConstList,
    Declare,
    Expr,
    ForEach,
    Generator,
    If,
    Index,
    ListExpr,
    Load,
    Print,
    Routine,
    Stmt,
    Unary,
    Variable,
    While,
)
from dse.program.types import INT32, IntType, ListType, Type, dimensions_of
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements, with_operands

_COUNTED = ("<<", "&", "|", "^")
MOST_STATEMENTS = 20_000
"""Statements that the replacement of calls may make of an action; beyond it is taken as recursive."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a name stands for: a list, or the part of it that the first ``indices`` choose; or a scalar's value."""

    name: str
    indices: tuple[Expr, ...] = ()
    value: Expr | None = None


Names: TypeAlias = Mapping[str, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostView:
    """An action without calls and whole lists. ``locals``: its variables, by name; ``results``: lists it puts out."""

    action: Action
    statements: tuple[Stmt, ...]
    locals: dict[str, Variable]
    results: tuple[str, ...]


def cost_view(actor: Actor, action: Action) -> CostView:
    """Return an action with declarations, body and outputs as one sequence of statements.

    Raises ModelNotApplicable, with the place, for what has no cost on a GPU (natives, printing) and for what this
    representation lacks: functions that give lists, calls in the condition of a ``while``, recursion, loops that assign
    their variable.
    """
    flattener = _Flattener(actor)
    statements = list(flattener.block((*action.declarations, *action.body), {}))
    results: list[str] = []
    for pattern in action.outputs:
        for place, value in enumerate(pattern.values):
            if isinstance(value, Load) or not _works(value):
                continue  # what is already there is copied by the transfer, which has a weight of its own
            port = actor.outputs[pattern.port]
            of = value.type if isinstance(value.type, ListType) else port.type
            result = Variable(f"{port.name}~{place}", f"{port.name} output", of, "local", None, port.span)
            statements += flattener.block((Declare(result, value, port.span),), {})
            results.append(result.name)
    return CostView(action=action, statements=tuple(statements), locals=flattener.locals, results=tuple(results))


def _works(value: Expr) -> bool:
    """Whether an output is more than a constant or an element."""
    return not isinstance(value, Const | ConstList | Index)


def _constants_of(actor: Actor) -> dict[str, Place]:
    """Return the scalar constants of an actor as literals."""
    values: dict[str, Const] = {}
    for variable in actor.variables:
        value = _literal(variable, values) if variable.kind == "constant" else None
        if value is not None:
            values[variable.name] = value
    return {name: Place(name, value=value) for name, value in values.items()}


def _literal(variable: Variable, before: Mapping[str, Const]) -> Const | None:
    """Return what a constant is, if it is a scalar that those before it tell."""
    if isinstance(variable.initial, Const):
        return variable.initial
    if not isinstance(variable.type, IntType) or variable.initial is None:
        return None
    known = {name: range_of(value, {}) for name, value in before.items()}
    found = range_of(variable.initial, known)
    if found is None or found[0] != found[1]:
        return None
    return Const(found[0], variable.type, variable.initial.span)


def folded(expression: Expr) -> int | None:
    """Return the value of an expression of constants, None for one that the view leaves as it stands.

    Left shifts and bits put together are instructions of the source that its costs count.
    """
    if any(isinstance(part, Binary) and part.op in _COUNTED for part in sub_expressions(expression)):
        return None
    return value_of(expression)


class _Names(dict[str, Place]):
    """What the names of a routine stand for in one call of it, which has a number of its own."""

    def __init__(self, call: int) -> None:
        super().__init__()
        self.call = call


@dataclass(slots=True)
class _Flattener:
    """Rewrites the statements of one action; ``before`` gathers what must happen before the current statement."""

    actor: Actor
    locals: dict[str, Variable] = field(default_factory=dict)
    before: list[Stmt] = field(default_factory=list)
    fresh: int = 0
    made: int = 0
    open: tuple[str, ...] = ()
    loops: set[str] = field(default_factory=set)
    """Names of loop variables, which nothing assigns."""
    constants: dict[str, Place] = field(init=False)
    routines: dict[str, Routine] = field(init=False)

    def __post_init__(self) -> None:
        self.constants = _constants_of(self.actor)
        self.routines = {routine.name: routine for routine in self.actor.routines}

    def block(self, statements: Iterable[Stmt], names: Names) -> tuple[Stmt, ...]:
        """Return statements rewritten; ``names`` are those that stand for something else."""
        kept, self.before = self.before, []
        found: list[Stmt] = []
        for statement in statements:
            own = tuple(self._statement(statement, names))
            found += [*self.before, *own]
            self.before.clear()
            self.made += len(own)
            if self.made > MOST_STATEMENTS:
                raise ModelNotApplicable(
                    f"the calls in it make more than {MOST_STATEMENTS} statements", span=statement.span
                )
        self.before = kept
        return tuple(found)

    def _statement(self, statement: Stmt, names: Names) -> Iterator[Stmt]:
        span = statement.span
        match statement:
            case Declare():
                yield from self._declared(statement, names)
            case Assign():
                place = self._place(statement.name, names)
                indices = (*place.indices, *(self.value(i, names) for i in statement.indices))
                yield from self._store(place.name, indices, statement.value.type, statement.value, names, span)
            case If():
                condition = self.value(statement.condition, names)
                then, otherwise = self.block(statement.then, names), self.block(statement.otherwise, names)
                yield If(condition, then, otherwise, span)
            case While():
                condition = self._without_calls(statement.condition, names)
                yield While(condition, self.block(statement.body, names), span)
            case ForEach():
                yield self._loop(statement, names)
            case CallStmt():
                routine = self.routines.get(statement.routine)
                if routine is None:
                    raise ModelNotApplicable(f"it calls the native {statement.routine}", span=span)
                yield from self._body(routine, statement.arguments, names, span)[0]
            case Print():
                raise ModelNotApplicable("it prints", span=span)

    def _declared(self, statement: Declare, names: Names) -> Iterator[Stmt]:
        variable, span = self._variable(statement.variable, names), statement.span
        self.locals[variable.name] = variable
        yield Declare(variable, None, span)
        if statement.value is not None:
            yield from self._store(variable.name, (), variable.type, statement.value, names, span)

    def _loop(self, loop: ForEach, names: Names) -> ForEach:
        if any(isinstance(s, Assign) and s.name == loop.variable.name for s in sub_statements(loop.body)):
            name = loop.variable.source_name
            raise ModelNotApplicable(f"the loop in line {loop.span.line} assigns its variable {name}", span=loop.span)
        variable = self._variable(loop.variable, names)
        low, high = self.value(loop.low, names), self.value(loop.high, names)
        self.loops.add(variable.name)
        return ForEach(variable, low, high, self.block(loop.body, names), loop.span, loop.step)

    # Calls

    def _body(
        self, routine: Routine, arguments: tuple[Expr, ...], names: Names, span: Span
    ) -> tuple[tuple[Stmt, ...], Names]:
        """Return the statements of a call, and what the routine's names stand for in it."""
        if routine.name in self.open:
            raise ModelNotApplicable(f"{routine.source_name} is recursive", span=span)
        self.fresh += 1
        inner = _Names(self.fresh)
        found: list[Stmt] = []
        changed = {s.name for s in sub_statements(routine.body) if isinstance(s, Assign)}
        for parameter, argument in zip(routine.parameters, arguments, strict=True):
            if isinstance(parameter.type, ListType):
                found += self._list_argument(parameter, argument, names, inner)
            else:
                value = self.value(argument, names)
                if parameter.name not in changed and self._stays(value, changed):
                    inner[parameter.name] = Place(parameter.name, value=value)
                else:
                    variable = self._renamed(parameter, inner)
                    found += [Declare(variable, None, span), Assign(variable.name, (), value, span)]
        for local in _variables_of(routine):
            self._renamed(local, inner)
        self.open = (*self.open, routine.name)
        before, self.before = self.before, []
        body = self.block((*routine.declarations, *routine.body), inner)
        self.before = before
        self.open = self.open[:-1]
        return (*found, *body), inner

    def _list_argument(self, parameter: Variable, argument: Expr, names: Names, inner: _Names) -> tuple[Stmt, ...]:
        """Let a parameter stand for a list; returns what makes the list where it is no variable."""
        if isinstance(argument, Load | Index):
            inner[parameter.name] = self._list_place(argument, names)
            return ()
        variable, span = self._renamed(parameter, inner), argument.span
        return (
            Declare(variable, None, span),
            *self._store(variable.name, (), variable.type, argument, names, span),
        )

    def _list_place(self, value: Load | Index, names: Names) -> Place:
        """Return the list, or part of one, that an expression chooses."""
        place = self._place(value.name, names)
        own = tuple(self.value(i, names) for i in value.indices) if isinstance(value, Index) else ()
        return Place(place.name, (*place.indices, *own))

    def _stays(self, value: Expr, changed: set[str]) -> bool:
        """Whether a parameter may be replaced by its value: a variable, or made of constants and loop variables."""
        if isinstance(value, Load):
            return value.name not in changed
        parts = [p for p in sub_expressions(value) if isinstance(p, Load | Index)]
        return all(isinstance(p, Load) and p.name in self.loops for p in parts)

    def _renamed(self, variable: Variable, names: _Names) -> Variable:
        """Give a variable of a routine the name that it has in a call."""
        renamed = replace(variable, name=f"{variable.name}~{names.call}", kind="local")
        names[variable.name] = Place(renamed.name)
        self.locals[renamed.name] = renamed
        return renamed

    def _variable(self, variable: Variable, names: Names) -> Variable:
        place = names.get(variable.name)
        return variable if place is None else replace(variable, name=place.name)

    def _place(self, name: str, names: Names) -> Place:
        return names.get(name) or Place(name)

    # Values

    def value(self, expression: Expr, names: Names) -> Expr:
        """Return a scalar expression without calls, names replaced, folded where it is constant."""
        rewritten = self._rewritten(expression, names)
        if isinstance(rewritten, Binary | Unary) and isinstance(rewritten.type, IntType):
            known = folded(rewritten)
            if known is not None:
                return Const(known, rewritten.type, rewritten.span)
        return rewritten

    def _rewritten(self, expression: Expr, names: Names) -> Expr:
        match expression:
            case Const():
                return expression
            case Load():
                return self._loaded(expression, names)
            case Index():
                place = self._list_place(expression, names)
                return replace(expression, name=place.name, indices=place.indices)
            case Unary(op="#"):
                return Const(dimensions_of(expression.operand.type)[0], INT32, expression.span)
            case Unary() | Cast() | Binary() | Conditional():
                return with_operands(expression, tuple(self.value(part, names) for part in operands_of(expression)))
            case Call():
                return self._called(expression, names)
            case _:
                raise ModelNotApplicable("it makes a list inside an expression", span=expression.span)

    def _loaded(self, load: Load, names: Names) -> Expr:
        place = names.get(load.name) or self.constants.get(load.name) or Place(load.name)
        if place.value is not None:
            return place.value
        if place.indices:
            return Index(place.name, place.indices, load.type, load.span)
        return replace(load, name=place.name)

    def _called(self, call: Call, names: Names) -> Expr:
        """Return the result of a function; what it does comes before the statement."""
        routine = self.routines.get(call.routine)
        if routine is None or routine.result is None:
            raise ModelNotApplicable(f"it calls the native {call.routine}", span=call.span)
        if isinstance(routine.result.type, ListType):
            raise ModelNotApplicable(f"{routine.source_name} makes a list inside an expression", span=call.span)
        statements, inner = self._body(routine, call.arguments, names, call.span)
        self.before += statements
        self.open = (*self.open, routine.name)
        result = self.value(routine.result, inner)
        self.open = self.open[:-1]
        return result

    def _without_calls(self, condition: Expr, names: Names) -> Expr:
        before, self.before = self.before, []
        value = self.value(condition, names)
        hoisted, self.before = self.before, before
        if any(not isinstance(s, Declare) for s in hoisted):
            raise ModelNotApplicable("the condition of a while calls a function", span=condition.span)
        return value

    # Lists

    def _store(
        self, name: str, indices: tuple[Expr, ...], of: Type, value: Expr, names: Names, span: Span
    ) -> Iterator[Stmt]:
        """Yield the statements that store a value, element by element if it is a list."""
        if not isinstance(of, ListType):
            stored = self.value(value, names)
            yield Assign(name, indices, stored, span)
            return
        match value:
            case Load() | Index():
                place = self._list_place(value, names)
                yield self._copy(name, indices, Index(place.name, place.indices, of, span), of, span)
            case ConstList():
                yield self._copy(name, indices, Const(0, of, span), of, span)
            case Generator():
                yield from self._generator(name, indices, value, names, span)
            case ListExpr():
                for at, element in enumerate(value.elements):
                    place_at = Const(at, INT32, span)
                    yield from self._store(name, (*indices, place_at), element.type, element, names, span)
            case Conditional():
                condition = self.value(value.condition, names)
                then, otherwise = (self._element(name, indices, a, names, span) for a in (value.then, value.otherwise))
                yield If(condition, then, otherwise, value.span)
            case _:
                raise ModelNotApplicable("it calls a function for a list", span=value.span)

    def _counter(self, span: Span) -> Variable:
        self.fresh += 1
        return Variable(f"at~{self.fresh}", "at", INT32, "loop", None, span)

    def _copy(self, name: str, indices: tuple[Expr, ...], value: Index | Const, of: ListType, span: Span) -> Stmt:
        """Return the loops that copy a list, or fill one with a constant."""
        variable = self._counter(span)
        at = Load(variable.name, INT32, span)
        element = replace(value, type=of.element)
        if isinstance(value, Index):
            element = Index(value.name, (*value.indices, at), of.element, span)
        inner: Stmt = Assign(name, (*indices, at), element, span)
        if isinstance(of.element, ListType):
            inner = self._copy(name, (*indices, at), element, of.element, span)
        return ForEach(variable, Const(0, INT32, span), Const(of.size - 1, INT32, span), (inner,), span)

    def _generator(
        self, name: str, indices: tuple[Expr, ...], generator: Generator, names: Names, span: Span
    ) -> Iterator[Stmt]:
        """Yield the loops of a generator, its elements stored one behind the other."""
        loops = [
            ForEach(
                self._variable(loop.variable, names),
                self.value(loop.low, names),
                self.value(loop.high, names),
                (),
                span,
            )
            for loop in generator.loops
        ]
        position = _position(loops, span)
        body: list[Stmt] = []
        for number, element in enumerate(generator.elements):
            each = Binary("*", position, Const(len(generator.elements), INT32, span), INT32, span)
            shifted = Binary("+", each, Const(number, INT32, span), INT32, span)
            where = position if len(generator.elements) == 1 else shifted
            body += self._element(name, (*indices, where), element, names, span)
        for loop in reversed(loops):
            body = [replace(loop, body=tuple(body))]
        yield from body

    def _element(
        self, name: str, indices: tuple[Expr, ...], element: Expr, names: Names, span: Span
    ) -> tuple[Stmt, ...]:
        """Return the statements that compute and store one element: what its calls do stays inside the loop."""
        kept, self.before = self.before, []
        found = tuple(self._store(name, indices, element.type, element, names, span))
        hoisted, self.before = tuple(self.before), kept
        return (*hoisted, *found)


def _position(loops: Iterable[ForEach], span: Span) -> Expr:
    """Return the number of a round of nested loops, the first of all being 0."""
    position: Expr = Const(0, INT32, span)
    for loop in loops:
        width = folded(Binary("-", loop.high, loop.low, INT32, span))
        if width is None:
            raise ModelNotApplicable("a list whose length depends on data", span=span)
        at: Expr = Load(loop.variable.name, INT32, span)
        if not (isinstance(loop.low, Const) and loop.low.value == 0):
            at = Binary("-", at, loop.low, INT32, span)
        scaled = Binary("*", position, Const(width + 1, INT32, span), INT32, span)
        position = at if isinstance(position, Const) else Binary("+", scaled, at, INT32, span)
    return position


def _variables_of(routine: Routine) -> Iterator[Variable]:
    """Yield the variables that a routine declares, those of its loops and generators included."""
    for statement in sub_statements((*routine.declarations, *routine.body)):
        if isinstance(statement, Declare | ForEach):
            yield statement.variable
        for expression in expressions_of(statement):
            yield from _generated(expression)
    if routine.result is not None:
        yield from _generated(routine.result)


def _generated(expression: Expr) -> Iterator[Variable]:
    for part in sub_expressions(expression):
        if isinstance(part, Generator):
            yield from (loop.variable for loop in part.loops)
