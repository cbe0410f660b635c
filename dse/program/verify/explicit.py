"""Rules of explicit actors: nothing is stored that may not fit, every access is in bounds, rates are the patterns'."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from dse.base.source import Span
from dse.program.explicit import ExplicitActor, Peek
from dse.program.ir import (
    Action,
    Assign,
    Binary,
    Call,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    ConsumeTokens,
    Copy,
    CopyInto,
    Count,
    Evaluate,
    Expr,
    Generator,
    Index,
    ListExpr,
    Load,
    ReadTokens,
    Routine,
    Stmt,
    Variable,
    WriteTokens,
)
from dse.program.text.tokens import type_text
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type, dimensions_of, scalar_of
from dse.program.verify.actors import Reachable, check_routine, check_variables, verify
from dse.program.verify.bodies import BodyVerifier, Scope
from dse.program.verify.choices import ChoiceVerifier, last_token
from dse.program.verify.findings import Finding, Findings
from dse.program.walk import nodes_of, sub_statements


class RangesOf(Protocol):
    """What is known of values at run time; an analysis of ranges gives it."""

    def interval(self, expression: Expr) -> tuple[int, int] | None:
        """Return the least and greatest value of an integer expression where it stands; None if it has no bounds.

        For a list they are those of its integers.
        """

    def length(self, variable: Variable, dimension: int) -> int | None:
        """Return how long the lists of a dimension of a variable are at least; None if that is not known."""


@dataclass(frozen=True, slots=True)
class DeclaredRanges:
    """The least that is known: values are within their containers, lists have their size if they are no parameters.

    An expression has an interval if it is stored, or a conversion; an operation may give any integer.
    """

    def interval(self, expression: Expr) -> tuple[int, int] | None:
        """Return the range of what an expression is stored in."""
        match expression:
            case Load() | Index() | Call() | Cast() if isinstance(expression.type, IntType):
                return expression.type.limits
            case Check():
                return self.interval(expression.operand)
            case Const(value=int(value)):
                return int(value), int(value)
            case _:
                return None

    def length(self, variable: Variable, dimension: int) -> int | None:
        """Return the declared size."""
        return None if variable.kind == "parameter" else dimensions_of(variable.type)[dimension]


def verify_explicit(explicit: ExplicitActor, ranges: RangesOf) -> tuple[Finding, ...]:
    """Return the rules that an explicit actor breaks, with those that the actor it was made from breaks.

    What has neither a conversion nor a check must be known to need none: ``ranges`` is what is known.
    """
    findings = Findings(list(verify(explicit.actor)))
    _ExplicitVerifier(explicit, ranges, findings).check()
    return tuple(findings.found)


def converts_nothing(source: Type, target: Type) -> bool:
    """Return whether any value that is stored as ``source`` is one of ``target`` as it is."""
    match source, target:
        case IntType(), IntType():
            (low, high), (least, most) = source.limits, target.limits
            return least <= low and high <= most
        case FloatType(), FloatType():
            return max(source.bits, 32) <= max(target.bits, 32)  # half is computed as 32 bits
        case ListType(), ListType():
            return converts_nothing(source.element, target.element)
        case (BoolType(), BoolType()) | (StringType(), StringType()):
            return True
        case _:
            return False


class ExplicitBodies(BodyVerifier):
    """Checks expressions and statements with nothing left implied."""

    exact_tables = True

    def __init__(self, findings: Findings, explicit: ExplicitActor, ranges: RangesOf) -> None:
        super().__init__(findings, (*explicit.routines, *explicit.actor.natives))
        self._explicit = explicit
        self._ranges = ranges

    # What is stored ---------------------------------------------------------------------------------------------------

    def stored(self, value: Expr, target: Type, what: str, span: Span) -> None:
        """Check that a value fits as it is: a scalar is in range, a list is a new one of exactly the type."""
        if isinstance(target, ListType):
            self.require(_is_new(value), f"{what} is neither a copy nor a new list", span)
            same = isinstance(value.type, ListType) and dimensions_of(value.type) == dimensions_of(target)
            text = f"{what}: {type_text(value.type)} is not {type_text(target)}"
            self.require(same and self._elements_fit(value, target), text, span)
        elif isinstance(target, IntType) and isinstance(value.type, IntType):
            self._fits(value, target, what, span)
        else:
            text = f"{what}: {type_text(value.type)} is not {type_text(target)} without a conversion"
            self.require(converts_nothing(value.type, target), text, span)

    def element(self, value: Expr, target: Type) -> None:
        """Check an element of a list that is made here: integers are converted where the list is stored."""
        if not (isinstance(target, IntType) and isinstance(value.type, IntType)):
            self.stored(value, target, "an element", value.span)

    def _elements_fit(self, value: Expr, target: Type) -> bool:
        """Return whether the scalars of a list go to one of type ``target`` as they are: by type, or by range."""
        interval, want = self._ranges.interval(value), scalar_of(target)
        if isinstance(want, IntType) and isinstance(scalar_of(value.type), IntType) and interval is not None:
            return want.limits[0] <= interval[0] and interval[1] <= want.limits[1]
        return converts_nothing(scalar_of(value.type), want)

    def _fits(self, value: Expr, target: IntType, what: str, span: Span) -> None:
        interval, (least, most) = self._ranges.interval(value), target.limits
        if interval is None and isinstance(value, Conditional):
            self.stored(value.then, target, what, span)
            self.stored(value.otherwise, target, what, span)
            return
        if interval is None:
            self.findings.add(f"{what} may have any size, and goes to {type_text(target)} without a conversion", span)
            return
        low, high = interval
        text = f"{what} is within {low} .. {high}, and goes to {type_text(target)} without a conversion"
        self.require(least <= low and high <= most, text, span)

    def accessed(self, variable: Variable, indices: tuple[Expr, ...], span: Span) -> None:
        """Check that each index is tested, or known to be in bounds."""
        for dimension, index in enumerate(indices):
            low, high = self._bounds(index)
            text = f"index {dimension + 1} of '{variable.name}'"
            self.require(low is not None and low >= 0, f"{text} may be negative, and is not checked", span)
            length = self._ranges.length(variable, dimension)
            if isinstance(index, Check) and index.high:
                right = index.size is None or (length is not None and index.size <= length)
                self.require(right, f"{text} is checked against a size that the list may not have", span)
            else:
                right = high is not None and length is not None and high < length
                self.require(right, f"{text} may be beyond the end, and is not checked", span)

    def _bounds(self, index: Expr) -> tuple[int | None, int | None]:
        """Return the least and the greatest value that an index has behind its checks."""
        low, high = self._ranges.interval(index) or (None, None)
        if isinstance(index, Check) and index.low:
            low = 0 if low is None else max(low, 0)
        return low, high

    # Nodes of the explicit IR -----------------------------------------------------------------------------------------

    def index(self, index: Expr, scope: Scope) -> None:
        """Check an index, with its test if it has one."""
        operand = index.operand if isinstance(index, Check) else index
        self.integer(operand, scope, "an index")
        self.require(index.type == operand.type, "a check has another type than its index", index.span)

    def _copy(self, copy: Copy, scope: Scope) -> None:
        if isinstance(copy.operand, ConstList):
            self.table(copy.operand, exact=False)  # the copy fills it up
        else:
            self.expression(copy.operand, scope)
        self._copied(copy.operand, copy.type, copy.convert, copy.span)

    def _copied(self, value: Expr, target: Type, convert: bool, span: Span) -> None:
        """Check that the scalars of a list are converted where they may not fit."""
        lists = isinstance(value.type, ListType) and isinstance(target, ListType)
        if self.require(lists, "what is copied, or what it is copied to, is no list", span):
            text = f"{type_text(value.type)} is copied to {type_text(target)} without a conversion"
            self.require(convert or self._elements_fit(value, target), text, span)

    def _assign_scalar(self, statement: Assign, scope: Scope) -> None:
        self.expression(statement.value, scope)
        of = self.target(statement.name, statement.indices, scope, statement.span)
        if self.require(not isinstance(of, ListType), "a list is assigned, and not copied", statement.span):
            what = f"what is assigned to '{statement.name}'"
            self.stored(statement.value, statement.value.type if of is None else of, what, statement.span)

    def _copy_into(self, statement: CopyInto, scope: Scope) -> None:
        self.expression(statement.value, scope)
        of = self.target(statement.name, statement.indices, scope, statement.span)
        if of is not None:
            self._copied(statement.value, of, statement.convert, statement.span)

    def _read(self, statement: ReadTokens, scope: Scope) -> None:
        self.read(statement)
        scope.variables[statement.variable.name] = statement.variable

    def read(self, read: ReadTokens) -> None:
        """Check that what reads tokens has a connected input and a variable of their type."""
        self.variable(read.variable, "token")
        right = read.offset >= 0 and read.stride >= 1 and read.count >= 0
        self.require(right, "it reads tokens at no place", read.span)
        if not self.connected(read.port, read.span):
            return
        arriving, of = self._explicit.wiring.inputs[read.port], read.variable.type
        assert arriving is not None
        whole = ListType(arriving, read.count) if read.count else arriving
        shape = dimensions_of(of) == dimensions_of(whole)
        self.require(shape, f"{type_text(whole)} is read as {type_text(of)}", read.span)
        text = f"{type_text(arriving)} is read as {type_text(of)} without a conversion"
        self.require(read.convert or converts_nothing(scalar_of(arriving), scalar_of(of)), text, read.span)

    def connected(self, port: int, span: Span) -> bool:
        """Check that an input is there and connected, and return whether it is."""
        inputs = self._explicit.wiring.inputs
        there = self.require(0 <= port < len(inputs), f"there is no input {port}", span)
        return there and self.require(inputs[port] is not None, f"input {port} is not connected", span)

    def _consume(self, statement: ConsumeTokens, _scope: Scope) -> None:
        self.connected(statement.port, statement.span)

    def _write(self, statement: WriteTokens, scope: Scope) -> None:
        self.expressions(statement.values, scope)
        outputs = self._explicit.actor.outputs
        if not self.require(0 <= statement.port < len(outputs), f"there is no output {statement.port}", statement.span):
            return
        port = outputs[statement.port]
        for value in statement.values:
            if statement.repeat == 0:
                self.stored(value, port.type, f"a token for '{port.name}'", value.span)
                continue
            tokens = ListType(port.type, statement.repeat)
            right = isinstance(value.type, ListType) and value.type.size == statement.repeat
            right = right and self._elements_fit(value, tokens)
            text = f"{type_text(value.type)} is written to '{port.name}' as {type_text(tokens)}"
            self.require(right, text, value.span)

    def _count(self, statement: Count, _scope: Scope) -> None:
        counters = 2 * len(self._explicit.loops)
        self.require(self._explicit.wiring.rounds, "rounds are counted that nobody asks for", statement.span)
        self.require(0 <= statement.counter < counters, f"there is no counter {statement.counter}", statement.span)

    def _evaluate(self, statement: Evaluate, scope: Scope) -> None:
        self.expression(statement.value, scope)

    expression_rules: ClassVar[dict[type, "Callable[..., None]"]] = {**BodyVerifier.expression_rules, Copy: _copy}
    statement_rules: ClassVar[dict[type, "Callable[..., None]"]] = {
        **BodyVerifier.statement_rules,
        Assign: _assign_scalar,
        CopyInto: _copy_into,
        ReadTokens: _read,
        ConsumeTokens: _consume,
        WriteTokens: _write,
        Count: _count,
        Evaluate: _evaluate,
    }


def _is_new(value: Expr) -> bool:
    """Return whether an expression makes a list that nothing else names."""
    if isinstance(value, Conditional):
        return _is_new(value.then) and _is_new(value.otherwise)
    return isinstance(value, Binary | Copy | ListExpr | ConstList | Generator | Call)  # ``+`` joins lists


class _ExplicitVerifier:
    """Checks one explicit actor."""

    def __init__(self, explicit: ExplicitActor, ranges: RangesOf, findings: Findings) -> None:
        self._explicit = explicit
        self._actor = explicit.actor
        self._findings = findings
        self._bodies = ExplicitBodies(findings, explicit, ranges)

    def check(self) -> None:
        """Gather what is wrong."""
        explicit, findings = self._explicit, self._findings
        findings.where = "explicit actor"
        if not self._fits_its_actor():
            return
        scope = check_variables(self._bodies, explicit.variables, Reachable(explicit.routines), findings)
        for routine in explicit.routines:
            check_routine(self._bodies, routine, scope, findings)
        peeked = _peeked(explicit)
        for action in range(len(explicit.firings)):
            self._check_firing(action, scope, peeked)
        ChoiceVerifier(explicit, self._bodies, self._bodies, scope, findings).check()

    def _fits_its_actor(self) -> bool:
        """Check that the explicit parts are those of the actor, and return whether what follows can be checked."""
        explicit, actor, require = self._explicit, self._actor, self._findings.require
        inputs, outputs = len(explicit.wiring.inputs), len(explicit.wiring.fan_outs)
        right = require(inputs == len(actor.inputs), f"the wiring has {inputs} inputs, not {len(actor.inputs)}")
        right &= require(outputs == len(actor.outputs), f"the wiring has {outputs} outputs, not {len(actor.outputs)}")
        firings = len(explicit.firings)
        right &= require(firings == len(actor.actions), f"there are {firings} firings of {len(actor.actions)} actions")
        for into, out in explicit.wiring.loops:
            require(0 <= into < inputs and 0 <= out < outputs, f"there is no loop from output {out} to input {into}")
        names = {v.name for v in explicit.variables}
        kept = _declared(v for v in actor.variables if v.name in names or not _is_literal(v))
        require(_declared(explicit.variables) == kept, "the variables are not those of the actor")
        same = [_signature(r) for r in explicit.routines] == [_signature(r) for r in actor.routines]
        require(same, "the routines are not those of the actor")
        return right

    # Firings ----------------------------------------------------------------------------------------------------------

    def _check_firing(self, number: int, scope: Scope, peeked: frozenset[str]) -> None:
        action, firing = self._actor.actions[number], self._explicit.firings[number]
        self._findings.where = f"the firing of {action.name}"
        inputs = self._explicit.wiring.inputs
        possible = all(inputs[pattern.port] is not None for pattern in action.inputs)
        self._findings.require(possible or firing is None, "it fires, but needs an input that is not connected")
        self._findings.require(not possible or firing is not None, "it never fires, but all its inputs are connected")
        if firing is None:
            return
        variables = [v for pattern in action.inputs for v in pattern.variables]
        self._bodies.block(firing, scope.with_variables(v for v in variables if v.name in peeked))
        self._check_rates(action, firing)

    def _check_rates(self, action: Action, firing: tuple[Stmt, ...]) -> None:
        """Check that a firing reads, consumes and writes what the patterns of its action say, once and always."""
        tokens = ReadTokens | ConsumeTokens | WriteTokens
        outer = sum(isinstance(statement, tokens) for statement in firing)
        every = sum(isinstance(statement, tokens) for statement in sub_statements(firing))
        self._findings.require(outer == every, "tokens are read, consumed or written inside a block")
        consumed = self._consumed(action, firing)
        self._same_rates(consumed, Counter({p.port: p.tokens for p in action.inputs}), "consumed from input")
        written: Counter[int] = Counter()
        for statement in firing:
            if isinstance(statement, WriteTokens):
                written[statement.port] += len(statement.values) * max(1, statement.repeat)
        fan_outs = self._explicit.wiring.fan_outs
        said = {p.port: p.tokens for p in action.outputs if fan_outs[p.port] or p.port in written}
        self._same_rates(written, Counter(said), "written to output")

    def _consumed(self, action: Action, firing: tuple[Stmt, ...]) -> "Counter[int]":
        """Check what is read, which must happen before it is consumed, and return what is consumed of each input."""
        consumed: Counter[int] = Counter()
        for statement in firing:
            match statement:
                case ReadTokens():
                    self._check_read(action, statement, consumed)
                case ConsumeTokens():
                    consumed[statement.port] += statement.tokens
                case _:
                    pass
        return consumed

    def _same_rates(self, found: "Counter[int]", said: "Counter[int]", text: str) -> None:
        for port in sorted(found.keys() | said.keys()):
            right = found[port] == said[port]
            self._findings.require(right, f"{found[port]} tokens are {text} {port}, not {said[port]}")

    def _check_read(self, action: Action, read: ReadTokens, consumed: "Counter[int]") -> None:
        require = self._findings.require
        own = {v.name: p for p in action.inputs for v in p.variables}
        pattern = own.get(read.variable.name)
        if pattern is None or pattern.port != read.port:
            self._findings.add(f"'{read.variable.name}' is read, but no pattern of input {read.port} has it", read.span)
            return
        last = last_token(read)
        require(last < pattern.tokens, f"token {last} of the {pattern.tokens} of a firing is read", read.span)
        require(not consumed[read.port], f"'{read.variable.name}' is read when its tokens are gone", read.span)


def _peeked(explicit: ExplicitActor) -> frozenset[str]:
    """Return the token variables that the choice reads before an action fires."""
    peeks = (node for node in nodes_of((explicit.start, explicit.choice)) if isinstance(node, Peek))
    return frozenset(read.variable.name for peek in peeks for read in peek.reads)


def _is_literal(variable: Variable) -> bool:
    """Return whether a variable may be left out: a scalar that starts as a literal, which reads have become."""
    return isinstance(variable.initial, Const) and not isinstance(variable.type, ListType)


def _declared(variables: Iterable[Variable]) -> list[tuple[str, Type, str]]:
    return [(v.name, v.type, v.kind) for v in variables]


def _signature(routine: Routine) -> tuple[str, list[tuple[str, Type, str]], Type | None]:
    return routine.name, _declared(routine.parameters), routine.result_type
