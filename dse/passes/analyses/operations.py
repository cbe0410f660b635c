"""How many operations an action does, counted in the IR: the basis of nominal weights.

A count is an expectation where the program does not say: both branches of an ``if`` are taken half the time, a loop
whose bounds are no constants runs ``ASSUMED_TRIPS`` times (so does every ``while``), or both as often as in a run where
that is known (``Rounds``); the right side of ``and`` and ``or`` is reached half the time. Bounds that follow an outer
loop are taken at the middle of that loop.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never

from dse.model.rounds import Rounds, loop_key, share_taken
from dse.passes import arithmetic
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
    While,
    not_of_source,
)
from dse.program.types import FloatType, IntType, ListType, Type, dimensions_of, scalar_of

Operation: TypeAlias = Literal[
    "integer", "multiply", "divide", "float", "float_divide", "load", "store", "branch", "call", "native", "print"
]
"""``integer``: additions, logic, shifts, comparisons; ``load`` and ``store``: of memory, not of locals in registers."""
ASSUMED_TRIPS = 8
"""Iterations of a loop whose number the program does not tell. An assumption."""
_HALF = Fraction(1, 2)
_MOST_SHIFTED = 64
"""Constants are not followed through shifts by as many bits or more."""


@dataclass(slots=True)
class OperationCounts:
    """Expected number of operations of each kind, and how many loops had to be assumed."""

    counts: dict[Operation, Fraction] = field(default_factory=dict)
    assumed_loops: int = 0

    def add(self, operation: Operation, times: Fraction = Fraction(1)) -> None:
        """Count one operation."""
        self.counts[operation] = self.counts.get(operation, Fraction(0)) + times

    def add_all(self, other: "OperationCounts", times: Fraction = Fraction(1)) -> None:
        """Count everything in ``other``, ``times`` over."""
        for operation, count in other.counts.items():
            self.add(operation, count * times)
        self.assumed_loops += other.assumed_loops


class OperationCounter:
    """Counts the operations of one actor's actions and guards."""

    def __init__(self, actor: Actor, rounds: Rounds | None = None) -> None:
        self._actor = actor
        self._rounds: Rounds = rounds or {}
        self._routines = {routine.name: routine for routine in actor.routines}
        self._in_memory = {v.name for v in actor.variables if v.kind != "constant" or isinstance(v.type, ListType)}
        self._of_routine: dict[str, OperationCounts] = {}
        self._open: set[str] = set()
        self._middle: dict[str, int] = {}
        for variable in actor.variables:
            value = self._constant(variable.initial) if variable.kind == "constant" and variable.initial else None
            if value is not None:
                self._middle[variable.name] = value

    def body(self, action: Action) -> OperationCounts:
        """Return the operations of an action's declarations, body and output expressions; token transfers left out."""
        total = OperationCounts()
        self._statements(action.declarations, total)
        self._statements(action.body, total)
        for pattern in action.outputs:
            self._expressions(pattern.values, total)
        return total

    def statements(self, statements: Iterable[Stmt]) -> OperationCounts:
        """Return the operations of some statements of an action of the actor."""
        total = OperationCounts()
        self._statements(statements, total)
        return total

    def guards(self, action: Action) -> OperationCounts:
        """Return the operations of an action's guards, each followed by a branch."""
        total = OperationCounts()
        for guard in action.guards:
            self._expression(guard, total)
            total.add("branch")
        return total

    # Statements

    def _statements(self, statements: Iterable[Stmt], total: OperationCounts) -> None:
        for statement in statements:
            self._statement(statement, total)

    def _statement(self, statement: Stmt, total: OperationCounts) -> None:
        match statement:
            case Declare():
                if statement.value is not None:
                    self._expression(statement.value, total)
                    self._store(statement.variable.type, total, in_memory=False)
            case Assign():
                self._assign(statement, total)
            case CallStmt():
                self._call(statement.routine, statement.arguments, total)
            case Print():
                total.add("print")
            case If():
                self._expression(statement.condition, total)
                total.add("branch")
                share = share_taken(statement, self._rounds)
                self._weighted(statement.then, total, share)
                self._weighted(statement.otherwise, total, 1 - share)
            case While():
                self._while(statement, total)
            case ForEach():
                self._expressions((statement.low, statement.high), total)
                self._loop(statement, total)
            case _:
                raise not_of_source(statement)

    def _weighted(self, statements: tuple[Stmt, ...], total: OperationCounts, times: Fraction) -> None:
        counts = OperationCounts()
        self._statements(statements, counts)
        total.add_all(counts, times)

    def _assign(self, statement: Assign, total: OperationCounts) -> None:
        self._expressions((*statement.indices, statement.value), total)
        self._addressing(len(statement.indices), total)
        in_memory = bool(statement.indices) or statement.name in self._in_memory
        self._store(statement.value.type, total, in_memory=in_memory)

    def _store(self, of: Type, total: OperationCounts, *, in_memory: bool) -> None:
        """Count the stores of a value: every element of a list, a scalar only if it lives in memory."""
        elements = _elements(of)
        if isinstance(of, ListType):
            total.add("load", elements)
        if in_memory or isinstance(of, ListType):
            total.add("store", elements)

    def _while(self, loop: While, total: OperationCounts) -> None:
        times = self._rounds_of(loop, total)
        test, body = OperationCounts(), OperationCounts()
        self._expression(loop.condition, test)
        test.add("branch")
        self._statements(loop.body, body)
        last = 1 if loop_key(loop) in self._rounds else 0  # the test that ends it; what is assumed is no more exact
        total.add_all(test, times + last)
        total.add_all(body, times)

    def _rounds_of(self, loop: ForEach | While, total: OperationCounts) -> Fraction:
        """Return how often a loop runs whose end depends on data: as in the run, else assumed, which is counted."""
        known = self._rounds.get(loop_key(loop))
        if known is None:
            total.assumed_loops += 1
            return Fraction(ASSUMED_TRIPS)
        return known

    def _loop(self, loop: ForEach, total: OperationCounts) -> None:
        first, last, step = self._constant(loop.low), self._constant(loop.high), loop.step
        trip = OperationCounts()
        trip.add("integer", Fraction(2))  # increment and comparison
        trip.add("branch")
        if first is not None and last is not None:
            trips = Fraction(max(0, (last - first) // step + 1) if step > 0 else max(0, (first - last) // -step + 1))
            self._middle[loop.variable.name] = (first + last) // 2
        else:
            trips = self._rounds_of(loop, total)
        self._statements(loop.body, trip)
        self._middle.pop(loop.variable.name, None)
        if trips:
            total.add_all(trip, trips)

    # Expressions

    def _expressions(self, expressions: Iterable[Expr], total: OperationCounts) -> None:
        for expression in expressions:
            self._expression(expression, total)

    def _expression(self, expression: Expr, total: OperationCounts) -> None:  # ways: one case for each node of the IR
        match expression:
            case Const() | ConstList():
                pass
            case Load():
                if expression.name in self._in_memory and not isinstance(expression.type, ListType):
                    total.add("load")
            case Index():
                self._expressions(expression.indices, total)
                self._addressing(len(expression.indices), total)
                if not isinstance(expression.type, ListType):
                    total.add("load")
            case Call():
                self._call(expression.routine, expression.arguments, total)
            case ListExpr():
                self._expressions(expression.elements, total)
                total.add("store", Fraction(len(expression.elements)))
            case Generator():
                self._generator(expression, total)
            case Unary() | Binary() | Conditional() | Cast():
                self._operator(expression, total)
            case _:
                raise not_of_source(expression)

    def _operator(self, expression: Unary | Binary | Conditional | Cast, total: OperationCounts) -> None:
        match expression:
            case Unary(op="#"):
                pass  # the length of a list is known when the program is compiled
            case Unary() | Cast():
                self._expression(expression.operand, total)
                total.add(_kind(expression.type, "integer"))
            case Binary():
                self._binary(expression, total)
            case Conditional():
                self._expression(expression.condition, total)
                total.add("branch")
                for branch in (expression.then, expression.otherwise):
                    counts = OperationCounts()
                    self._expression(branch, counts)
                    total.add_all(counts, _HALF)
            case _:
                assert_never(expression)

    def _binary(self, expression: Binary, total: OperationCounts) -> None:
        self._expression(expression.left, total)
        right = OperationCounts()
        self._expression(expression.right, right)
        match expression.op:
            case "and" | "or":
                total.add("branch")
                total.add_all(right, _HALF)
                return
            case "*" | "**":
                operation = _kind(expression.left.type, "multiply")
            case "/" | "mod":
                operation = _kind(expression.left.type, "divide")
            case _:
                operation = _kind(expression.left.type, "integer")
        total.add_all(right)
        total.add(operation)

    def _generator(self, expression: Generator, total: OperationCounts) -> None:
        counts, trips = OperationCounts(), 1
        for loop in expression.loops:
            first, last = self._constant(loop.low), self._constant(loop.high)
            if first is None or last is None:
                trips *= ASSUMED_TRIPS
                total.assumed_loops += 1
            else:
                trips *= max(0, last - first + 1)
                self._middle[loop.variable.name] = (first + last) // 2
        self._expressions(expression.elements, counts)
        for loop in expression.loops:
            self._middle.pop(loop.variable.name, None)
        counts.add("store", Fraction(len(expression.elements)))
        counts.add("integer", Fraction(2))
        counts.add("branch")
        if trips:
            total.add_all(counts, Fraction(trips))

    def _addressing(self, indices: int, total: OperationCounts) -> None:
        """Count the address of an element: one index is part of the instruction, each further one a multiply-add."""
        if indices > 1:
            total.add("multiply", Fraction(indices - 1))
            total.add("integer", Fraction(indices - 1))

    def _call(self, name: str, arguments: tuple[Expr, ...], total: OperationCounts) -> None:
        self._expressions(arguments, total)
        routine = self._routines.get(name)
        if routine is None:
            total.add("native")
            return
        total.add("call")
        if name not in self._open:  # a recursive call is counted as a call only
            total.add_all(self._counts_of(routine))

    def _counts_of(self, routine: Routine) -> OperationCounts:
        """Return the operations of a routine, counted once."""
        if routine.name not in self._of_routine:
            self._open.add(routine.name)
            counts = OperationCounts()
            self._statements(routine.declarations, counts)
            self._statements(routine.body, counts)
            if routine.result is not None:
                self._expression(routine.result, counts)
            self._open.discard(routine.name)
            self._of_routine[routine.name] = counts
        return self._of_routine[routine.name]

    # Constants

    def _constant(self, expression: Expr) -> int | None:
        """Return the value of an integer expression of constants (and of the middle of outer loops), or None."""
        match expression:
            case Const(value=bool()):
                return None
            case Const(value=int(value)):
                return value
            case Load():
                return self._middle.get(expression.name)
            case Unary(op="-"):
                negated = self._constant(expression.operand)
                return None if negated is None else -negated
            case Binary():
                return self._constant_binary(expression)
            case _:
                return None

    def _constant_binary(self, expression: Binary) -> int | None:
        left, right = self._constant(expression.left), self._constant(expression.right)
        if left is None or right is None:
            return None
        of = expression.left.type
        match expression.op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/" if right:
                return arithmetic.quotient(left, right)
            case "<<" | ">>" as op if right < _MOST_SHIFTED:
                shift = arithmetic.shift_left if op == "<<" else arithmetic.shift_right
                return shift(left, right, of.size if isinstance(of, IntType) else 0)
            case _:
                return None


def _kind(of: Type, integer: Operation) -> Operation:
    """Return the operation for a type: the integer one, or what it is on floats."""
    if not isinstance(scalar_of(of), FloatType):
        return integer
    return "float_divide" if integer == "divide" else "float"


def _elements(of: Type) -> Fraction:
    """Return the number of scalars in a value."""
    count = 1
    for size in dimensions_of(of):
        count *= size
    return Fraction(count)
