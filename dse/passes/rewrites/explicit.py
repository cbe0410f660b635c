"""Everything implied becomes a node: conversions, bounds checks, copies, token accesses, counted loops.

The rewrite decides what is left out, by what ``Values`` knows: an index known to be in bounds gets no ``Check``, a
value known to fit no ``Cast``, a new list no ``Copy``. It changes nothing else. Before and after, for an
``int(size=8) x[4]``::

    x[i] := a + 1          x[check i < 4 and i >= 0] := cast<i8>(a + 1)
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dse.base.source import Span
from dse.model.rounds import LoopKey, loop_key
from dse.passes.analyses.aliases import loose_lists
from dse.passes.analyses.list_sizes import parameter_sizes
from dse.passes.analyses.ranges import container, fits
from dse.passes.analyses.uses import ActorFacts, gather_facts, uses_of
from dse.passes.analyses.values import Values, bounds_of_table, is_full
from dse.passes.arithmetic import wrap
from dse.passes.rewrites.selection import Trial, first_choice, next_choice
from dse.program.explicit import ExplicitActor, Wiring
from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    ConsumeTokens,
    Copy,
    CopyInto,
    Count,
    Declare,
    Evaluate,
    Expr,
    ForEach,
    Generator,
    GeneratorLoop,
    If,
    Index,
    InputPattern,
    ListExpr,
    Load,
    OutputPattern,
    Print,
    ReadTokens,
    Routine,
    Stmt,
    Unary,
    Variable,
    While,
    WriteTokens,
    not_of_source,
)
from dse.program.types import (
    BOOL,
    FLOAT64,
    INT32,
    STRING,
    FloatType,
    IntType,
    ListType,
    StringType,
    Type,
    dimensions_of,
    scalar_of,
)
from dse.program.walk import operands_of, sub_expressions, sub_statements, with_operands


def make_explicit(actor: Actor, wiring: Wiring, facts: ActorFacts | None = None) -> tuple[ExplicitActor, Values]:
    """Return an actor with nothing left implied, and what is known of the values in it."""
    rewriter = ExplicitRewriter(actor, wiring, facts or gather_facts(actor))
    return rewriter.actor_as_explicit(), rewriter.values


class ExplicitRewriter:
    """Rewrites the parts of one actor; declarations are met in the order in which names come into scope."""

    def __init__(self, actor: Actor, wiring: Wiring, facts: ActorFacts) -> None:
        self.actor = actor
        self.wiring = wiring
        self.facts = facts
        self.values = Values(
            {r.name: r.result_type for r in actor.routines},
            parameter_sizes(actor, facts),
            loose_lists(actor, facts),
        )
        self.loops: dict[LoopKey, int] = {}
        self._literals: dict[str, Const] = {}
        self._counters: dict[str, Variable] = {}
        """What counts in place of the variable of a generator that may have to wrap."""
        self._fresh = 0
        self._parameters = {r.name: r.parameters for r in actor.routines} | {
            n.name: n.parameters for n in actor.natives
        }

    # The actor --------------------------------------------------------------------------------------------------------

    def actor_as_explicit(self) -> ExplicitActor:
        """Return the actor with every part rewritten."""
        actor = self.actor
        self._declare_names()
        routines = tuple(self._routine(r) for r in actor.routines)
        variables = tuple(self._variable(v) for v in actor.variables if v.name not in self._literals)
        for action in actor.actions:
            self._declare_tokens(action)
        firings = tuple(self._firing(k) if self._possible(a) else None for k, a in enumerate(actor.actions))
        trials = {k: self._trial(k) for k, firing in enumerate(firings) if firing is not None}
        return ExplicitActor(
            actor=actor,
            wiring=self.wiring,
            variables=variables,
            routines=routines,
            firings=firings,
            start=first_choice(actor, self.wiring, trials),
            choice=next_choice(actor, self.wiring, trials),
            loops=tuple(self.loops),
        )

    def _declare_names(self) -> None:
        """Declare what is in scope everywhere: the variables of the actor, and the parameters of its routines."""
        for variable in self.actor.variables:
            self._declare_variable(variable)
        for routine in self.actor.routines:
            for parameter in routine.parameters:
                self.values.declare(parameter, by_reference=isinstance(parameter.type, ListType))

    def _possible(self, action: Action) -> bool:
        """Return whether every input that the action needs is connected."""
        return all(self.wiring.inputs[p.port] is not None for p in action.inputs)

    def _declare_variable(self, variable: Variable) -> None:
        """Declare an actor variable; one that nothing writes has the bounds of its table, or is its literal."""
        initial, bounds = variable.initial, container(variable.type)
        if variable.name not in self.facts.mutated:
            if isinstance(initial, ConstList) and bounds is not None:
                bounds = _padded(bounds_of_table(initial.values), bounds)
            elif isinstance(initial, Const) and not isinstance(variable.type, ListType):
                self._literals[variable.name] = initial
        self.values.declare(variable, bounds)

    def _variable(self, variable: Variable) -> Variable:
        if variable.initial is None:
            return variable
        return replace(variable, initial=self.stored(self.expression(variable.initial), variable.type))

    def _routine(self, routine: Routine) -> Routine:
        declarations = tuple(self._block(routine.declarations))
        body = tuple(self._block(routine.body))
        result = routine.result
        if result is not None and routine.result_type is not None:
            result = self.stored(self.expression(result), routine.result_type)
        return replace(routine, declarations=(), body=(*declarations, *body), result=result)

    # Firings ----------------------------------------------------------------------------------------------------------

    def _declare_tokens(self, action: Action) -> None:
        """Declare the token variables of an action, with the bounds of what may arrive."""
        for pattern in action.inputs:
            source = self.wiring.inputs[pattern.port]
            for variable in pattern.variables:
                narrow = None
                if source is not None and fits(container(source), container(variable.type)):
                    narrow = container(source)
                self.values.declare(variable, narrow if variable.name not in self.facts.mutated else None)

    def _firing(self, index: int) -> tuple[Stmt, ...]:
        """Return what a firing does; the tokens that guards look at are read already."""
        action, (guards, needed) = self.actor.actions[index], self.facts.of_actions[index]
        names = (needed.reads | needed.writes) - guards.reads
        found: list[Stmt] = []
        for pattern in action.inputs:
            found += self._reads(action, pattern, names)
            found.append(ConsumeTokens(pattern.port, pattern.tokens, action.span))
        found += self._block((*action.declarations, *action.body))
        for output in action.outputs:
            found += self._write(output)
        return tuple(found)

    def _trial(self, index: int) -> Trial:
        """Return the guards of an action and the reads of the token variables that they look at."""
        action, (guards, _) = self.actor.actions[index], self.facts.of_actions[index]
        names = guards.reads
        peeks = tuple(read for p in action.inputs for read in self._reads(action, p, names))
        return Trial(peeks=peeks, guards=tuple(self.expression(g) for g in action.guards))

    def _reads(self, action: Action, pattern: InputPattern, names: set[str]) -> Iterator[ReadTokens]:
        """Yield the reads of those variables of an input pattern that ``names`` holds."""
        source, width = self.wiring.inputs[pattern.port], len(pattern.variables)
        assert source is not None, "an action that reads an unconnected input is never written"
        for k, variable in enumerate(pattern.variables):
            if variable.name in names:
                convert = not _tokens_fit(source, variable.type)
                yield ReadTokens(variable, pattern.port, k, width, pattern.repeat, convert, action.span)

    def _write(self, pattern: OutputPattern) -> Iterator[Stmt]:
        port = self.actor.outputs[pattern.port]
        if not self.wiring.fan_outs[pattern.port]:
            for value in pattern.values:
                if any(isinstance(e, Call) for e in sub_expressions(value)):
                    yield Evaluate(self.expression(value), value.span)
            return
        if pattern.repeat:
            values = tuple(self._tokens(v, port.type, pattern.repeat) for v in pattern.values)
        else:
            values = tuple(self.stored(self.expression(v), port.type) for v in pattern.values)
        yield WriteTokens(pattern.port, values, pattern.repeat, pattern.values[0].span)

    def _tokens(self, value: Expr, of: Type, repeat: int) -> Expr:
        """Return a list of exactly ``repeat`` tokens; it may be the variable's own, since writing copies."""
        found, target = self.expression(value), ListType(of, repeat)
        fitting = self.values.elements_fit(found, of)
        if fitting and self.values.of(found).length == repeat:
            return found
        return Copy(found, target, not fitting, value.span)

    # Statements -------------------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[Stmt]) -> Iterator[Stmt]:
        for statement in statements:
            yield from self._statement(statement)

    def _statement(self, stmt: Stmt) -> Iterator[Stmt]:  # ways: one case for each statement of the IR
        match stmt:
            case Declare():
                yield from self._choice_counts(stmt.value)
                yield self._declare(stmt)
            case Assign():
                yield from self._choice_counts(stmt.value)
                yield from self._assign(stmt)
            case CallStmt():
                yield replace(stmt, arguments=self._arguments(stmt.routine, stmt.arguments))
            case Print():
                yield stmt if stmt.value is None else replace(stmt, value=self._text(stmt.value))
            case If():
                yield from self._branch(stmt)
            case While():
                yield from self._while(stmt)
            case ForEach():
                yield from self._foreach(stmt)
            case _:
                raise not_of_source(stmt)

    def _declare(self, stmt: Declare) -> Declare:
        """Rewrite a declaration. The value comes first: it cannot name the variable that it initialises."""
        variable, constant = stmt.variable, stmt.variable.name not in self.facts.mutated
        if stmt.value is None:
            self.values.declare(variable)
            return stmt
        value = self.expression(stmt.value)
        if isinstance(variable.type, ListType):
            return self._declare_list(stmt, value, variable.type, constant)
        bounds = self.values.interval(value)
        narrow = bounds if constant and fits(bounds, container(variable.type)) else None
        self.values.declare(variable, narrow)
        return replace(stmt, value=self.converted(value, variable.type))

    def _declare_list(self, stmt: Declare, value: Expr, of: ListType, constant: bool) -> Declare:
        """Rewrite the declaration of a list; what is never written may be a table itself."""
        known, fitting = self.values.of(value), self.values.elements_fit(value, of)
        dims = dimensions_of(of)
        table = isinstance(value, ConstList) and fitting and is_full(value.values, dims)
        whole = table or (fitting and known.length == of.size and len(dims) == 1)
        self.values.declare(stmt.variable, known.bounds if constant and whole else None)
        return stmt if constant and table else replace(stmt, value=self._copied(value, of))

    def _assign(self, stmt: Assign) -> Iterator[Stmt]:
        of = self.values.held[stmt.name].variable.type
        for _ in stmt.indices:
            assert isinstance(of, ListType), "an index needs a list"
            of = of.element
        indices, value = self._checked(stmt.name, stmt.indices), self.expression(stmt.value)
        if isinstance(of, ListType):
            convert = not self.values.elements_fit(value, of)
            yield CopyInto(stmt.name, indices, value, convert, stmt.span)
            return
        value = self.converted(value, of)
        if _is_checked(indices) and any(isinstance(e, Call) for e in sub_expressions(value)):
            # A call may have effects that must happen even when the store is dropped.
            held = self._temporary(of, stmt.span)
            yield Declare(held, value, stmt.span)
            value = Load(held.name, of, stmt.span)
        yield Assign(stmt.name, indices, value, stmt.span)

    def _temporary(self, of: Type, span: Span) -> Variable:
        self._fresh += 1
        variable = Variable(f"~{self._fresh}", "", of, "local", None, span)
        self.values.declare(variable)
        return variable

    def _branch(self, stmt: If) -> Iterator[Stmt]:
        condition, (entry, taken) = self.expression(stmt.condition), self._counts(stmt)
        yield from entry
        yield If(condition, (*taken, *self._block(stmt.then)), tuple(self._block(stmt.otherwise)), stmt.span)

    # Loops ------------------------------------------------------------------------------------------------------------

    def _while(self, stmt: While) -> Iterator[Stmt]:
        endless = isinstance(stmt.condition, Const) and stmt.condition.value is True
        if endless and not uses_of((), stmt.body).calls:
            yield replace(stmt, body=())  # how some programs stop when their input is wrong; nothing else can end it
            return
        condition, (entry, turn) = self.expression(stmt.condition), self._counts(stmt)
        yield from entry
        yield While(condition, (*turn, *self._block(stmt.body)), stmt.span)

    def _counts(self, loop: ForEach | While | If) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """Return what counts an entry and a round of a loop, or how often a branch is taken, where this is counted."""
        if not self.wiring.rounds:
            return (), ()
        number = self.loops.setdefault(loop_key(loop), len(self.loops))
        return (Count(2 * number, loop.span),), (Count(2 * number + 1, loop.span),)

    def _choice_counts(self, value: Expr | None) -> Iterator[Stmt]:
        if self.wiring.rounds and isinstance(value, Conditional) and isinstance(value.type, ListType):
            yield from self._branch(If(value.condition, (), (), value.span))

    def _is_certain(self, bound: Expr) -> bool:
        """Return whether the bound of a loop is made of constants only."""
        read = [part for part in sub_expressions(bound) if isinstance(part, Load | Index | Call)]
        return all(isinstance(p, Load) and self.values.held[p.name].variable.kind == "constant" for p in read)

    def _foreach(self, stmt: ForEach) -> Iterator[Stmt]:
        low, high, of = self.expression(stmt.low), self.expression(stmt.high), stmt.variable.type
        counted = not (self._is_certain(stmt.low) and self._is_certain(stmt.high))
        entry, turn = self._counts(stmt) if counted else ((), ())
        assigned = any(isinstance(s, Assign) and s.name == stmt.variable.name for s in sub_statements(stmt.body))
        yield from entry
        if assigned or stmt.step != 1:
            yield from self._stepped(stmt, low, high, turn)
            return
        low = self.converted(low, of)
        first, last, limit = self.values.interval(low), self.values.interval(high), container(of)
        if last is not None and limit is not None and last[1] <= limit[1]:
            self._declare_loop(stmt.variable, low, high)
            yield ForEach(stmt.variable, low, high, (*turn, *self._block(stmt.body)), stmt.span)
            return
        # The end may lie beyond the container: a wide counter runs, and the variable takes its wrapped value.
        counter = Variable(f"{stmt.variable.name}~", "", _wide(first, last), "loop", None, stmt.span)
        self.values.declare(counter)
        variable = replace(stmt.variable, kind="local")
        self.values.declare(variable)
        value = self.converted(Load(counter.name, counter.type, stmt.span), of)
        body = (*turn, Declare(variable, value, stmt.span), *self._block(stmt.body))
        yield ForEach(counter, low, high, body, stmt.span)

    def _declare_loop(self, variable: Variable, low: Expr, high: Expr) -> None:
        """Declare a loop variable with the bounds of its range where that fits its container, else the container's."""
        first, last, limit = self.values.interval(low), self.values.interval(high), container(variable.type)
        narrow = None
        if first is not None and last is not None:
            values = (first[0], max(first[0], last[1]))
            narrow = values if fits(values, limit) else None
        self.values.declare(variable, narrow)

    def _stepped(self, stmt: ForEach, low: Expr, high: Expr, turn: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """Yield a loop whose body may assign the variable, or whose step is not 1 (C kernels), as a ``while``."""
        variable, span = replace(stmt.variable, kind="local"), stmt.span
        limit = self._temporary(_wide(self.values.interval(high), None), span)
        yield Declare(limit, high, span)
        self.values.declare(variable)
        yield Declare(variable, self.converted(low, variable.type), span)
        here = Load(variable.name, variable.type, span)
        end = Load(limit.name, limit.type, span)
        step = Binary("+", here, Const(stmt.step, INT32, span), variable.type, span)
        further = Assign(variable.name, (), self.converted(step, variable.type), span)
        body = (*turn, *self._block(stmt.body), further)
        yield While(Binary("<=" if stmt.step > 0 else ">=", here, end, BOOL, span), body, span)

    # Values -----------------------------------------------------------------------------------------------------------

    def expression(self, expr: Expr) -> Expr:  # ways: one case for each node of the IR
        """Return an expression with its indices checked and its arguments stored; its own value is not converted."""
        match expr:
            case Const() | ConstList():
                return expr
            case Load() | Index():
                return self._read(self.reference(expr))
            case Unary(op="#"):
                operand = self.reference(expr.operand)
                length = self.values.of(operand).length
                return replace(expr, operand=operand) if length is None else Const(length, expr.type, expr.span)
            case Unary() | Binary():
                return self._operation(expr)
            case Conditional():
                return self._conditional(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return replace(expr, elements=self._members(expr))
            case Generator():
                return self._generator(expr)
            case Cast():
                return self.converted(self.expression(expr.operand), expr.type, expr.span)
            case _:
                raise not_of_source(expr)

    def reference(self, expr: Expr) -> Expr:
        """Return an expression as a list argument takes it: a variable, or a part of one, by reference."""
        match expr:
            case Load():
                return self._load(expr)
            case Index():
                return Index(expr.name, self._checked(expr.name, expr.indices), expr.type, expr.span)
            case _:
                return self.expression(expr)

    def _load(self, expr: Load) -> Expr:
        """Return the literal of a constant that has one, else the variable."""
        counter = self._counters.get(expr.name)
        if counter is not None:
            return Cast(Load(counter.name, counter.type, expr.span), expr.type, expr.span)
        literal = self._literals.get(expr.name)
        if literal is None:
            return expr
        of = self.values.held[expr.name].variable.type
        if isinstance(of, IntType) and isinstance(literal.value, int):
            return Const(wrap(literal.value, of.container_bits, of.signed), of, expr.span)
        return self.converted(replace(literal, span=expr.span), of)

    def _read(self, expr: Expr) -> Expr:
        """Return a variable or element as a value of its type: what another type wrote by reference is converted."""
        if not self.values.of(expr).loose:
            return expr
        if isinstance(expr.type, ListType):
            return Copy(expr, _list_type(self.values.shape(expr), expr.type), True, expr.span)
        return Cast(expr, expr.type, expr.span)

    def _checked(self, name: str, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the indices of a list, with a check around each that is not known to be in bounds."""
        held = self.values.held[name]
        found = []
        for depth, index in enumerate(indices):
            code = self.expression(index)
            size = held.sizes[depth] if held.certain else None
            bounds = self.values.interval(code)
            low = bounds is None or bounds[0] < 0
            high = bounds is None or size is None or bounds[1] >= size
            found.append(Check(code, size, low, high, code.type, code.span) if low or high else code)
        return tuple(found)

    def _operation(self, expr: Unary | Binary) -> Expr:
        if isinstance(expr, Binary) and isinstance(expr.type, StringType):
            return replace(expr, left=self._text(expr.left), right=self._text(expr.right))
        if isinstance(expr, Binary) and isinstance(expr.type, ListType):
            return replace(expr, left=self._joined(expr.left, expr.type), right=self._joined(expr.right, expr.type))
        return with_operands(expr, tuple(self.expression(o) for o in operands_of(expr)))

    def _joined(self, expr: Expr, of: ListType) -> Expr:
        """Return a part of a list that two lists are joined to: with elements of its type, nested ones copied."""
        value = self.expression(expr)
        assert isinstance(value.type, ListType)
        target, convert = ListType(of.element, value.type.size), _becomes_float(value.type, of)
        nested = isinstance(of.element, ListType) and not self.values.of(value).fresh
        if convert or nested or self.values.shape(value) != dimensions_of(target):
            return Copy(value, target, convert, value.span)
        return value

    def _text(self, expr: Expr) -> Expr:
        """Return the text of a value, as it is printed."""
        found = self.expression(expr)
        return found if isinstance(expr.type, StringType) else Cast(found, STRING, expr.span)

    def _conditional(self, expr: Conditional) -> Expr:
        condition, then, otherwise = (self.expression(o) for o in operands_of(expr))
        if isinstance(expr.type, FloatType):
            then, otherwise = (
                Cast(e, FLOAT64, e.span) if _becomes_float(e.type, expr.type) else e for e in (then, otherwise)
            )
        return replace(expr, condition=condition, then=then, otherwise=otherwise)

    def _call(self, expr: Call) -> Expr:
        """Return a call with its arguments stored; what a native returns is not trusted to fit its type."""
        found = replace(expr, arguments=self._arguments(expr.routine, expr.arguments))
        native = any(n.name == expr.routine for n in self.actor.natives)
        return self.converted(found, expr.type) if native and not isinstance(expr.type, ListType) else found

    def _arguments(self, routine: str, arguments: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return arguments as the parameters take them: scalars stored, lists by reference, tables copied."""
        found = []
        for parameter, argument in zip(self._parameters[routine], arguments, strict=True):
            if not isinstance(parameter.type, ListType):
                found.append(self.converted(self.expression(argument), parameter.type))
                continue
            value = self.reference(argument)
            found.append(value if isinstance(value, Load | Index) else self._passed(value, parameter.type))
        return tuple(found)

    def _passed(self, value: Expr, parameter: ListType) -> Expr:
        """Return a list argument that is no variable: a new list with elements of the parameter's type."""
        assert isinstance(value.type, ListType)
        target = _list_type(dimensions_of(value.type), parameter)
        convert = not self.values.elements_fit(value, target)
        if self.values.of(value).fresh and not convert:
            return value
        return Copy(value, target, convert, value.span)

    def _members(self, expr: ListExpr | Generator) -> tuple[Expr, ...]:
        """Return the elements of a new list: integers and short lists stay as they are until they are stored."""
        assert isinstance(expr.type, ListType)
        of = expr.type.element
        return tuple(self._member(self.expression(e), of) for e in expr.elements)

    def _member(self, value: Expr, of: Type) -> Expr:
        convert = _becomes_float(value.type, of)
        if not isinstance(of, ListType):
            return Cast(value, FLOAT64, value.span) if convert else value
        if self.values.of(value).fresh and not convert:
            return value
        return Copy(value, _list_type(dimensions_of(value.type), of), convert, value.span)

    def _generator(self, expr: Generator) -> Expr:
        loops = []
        for loop in expr.loops:
            low, high = self.expression(loop.low), self.expression(loop.high)
            loops.append(GeneratorLoop(self._generator_variable(loop.variable, low, high), low, high))
        return replace(expr, elements=self._members(expr), loops=tuple(loops))

    def _generator_variable(self, variable: Variable, low: Expr, high: Expr) -> Variable:
        """Declare the variable of a generator; where it would have to wrap, a wide one whose reads are converted."""
        first, last, limit = self.values.interval(low), self.values.interval(high), container(variable.type)
        if first is not None and last is not None and fits((first[0], max(first[0], last[1])), limit):
            self._declare_loop(variable, low, high)
            return variable
        counter = replace(variable, name=f"{variable.name}~", type=_wide(first, last))
        self.values.declare(counter)
        self._counters[variable.name] = counter
        return counter

    # Stores -----------------------------------------------------------------------------------------------------------

    def stored(self, value: Expr, target: Type) -> Expr:
        """Return a value as a variable of type ``target`` takes it: converted, or copied, where it has to be."""
        return self._copied(value, target) if isinstance(target, ListType) else self.converted(value, target)

    def converted(self, value: Expr, target: Type, span: Span | None = None) -> Expr:
        """Return a scalar with a ``Cast`` around it, unless it is known to fit."""
        from_float = isinstance(value.type, FloatType) and not isinstance(target, FloatType)
        to_bool = (value.type == BOOL) != (target == BOOL)
        if not from_float and not to_bool and self.values.fits(value, target):
            return value
        return Cast(value, target, span or value.span)

    def _copied(self, value: Expr, target: ListType) -> Expr:
        """Return a list of exactly the type ``target`` that nothing else refers to."""
        known, fitting = self.values.of(value), self.values.elements_fit(value, target)
        if fitting and known.fresh and self.values.shape(value) == dimensions_of(target):
            return value
        return Copy(value, target, not fitting, value.span)


def _tokens_fit(source: Type, target: Type) -> bool:
    """Return whether tokens of type ``source`` need no conversion to be held by a variable of type ``target``."""
    scalar = scalar_of(target)
    match scalar:
        case IntType():
            return fits(container(source), container(scalar))
        case FloatType():
            return isinstance(source, FloatType) and (scalar.bits == 64 or source.bits <= 32)
        case _:
            return True


def _becomes_float(source: Type, target: Type) -> bool:
    """Return whether scalars of type ``source`` are integers where ``target`` has floats."""
    return isinstance(scalar_of(target), FloatType) and isinstance(scalar_of(source), IntType)


def _padded(bounds: tuple[int, int] | None, limit: tuple[int, int]) -> tuple[int, int]:
    """Return the bounds of a table that zeros may fill up; ``limit`` where its values wrap or are not known."""
    if bounds is None or not fits(bounds, limit):
        return limit
    return min(bounds[0], 0), max(bounds[1], 0)


def _is_checked(indices: tuple[Expr, ...]) -> bool:
    return any(isinstance(index, Check) for index in indices)


def _list_type(sizes: tuple[int, ...] | None, of: ListType) -> ListType:
    """Return the list type with the sizes given (None: those of ``of``) and the scalars of ``of``."""
    made: Type = scalar_of(of)
    for size in reversed(dimensions_of(of) if sizes is None else sizes):
        made = ListType(made, size)
    assert isinstance(made, ListType)
    return made


def _wide(*bounds: tuple[int, int] | None) -> IntType:
    """Return a type whose container holds the integers of all bounds that are known, 64 bits at least."""
    known = [b for b in bounds if b is not None]
    needed = max((v if v >= 0 else ~v).bit_length() + 1 for b in known for v in b) if known else 64
    return IntType(max(64, needed), True)
