"""The ranges of integer variables at every place of a kernel, found by executing its statements on ranges.

A variable has the range of what it was last given, wrapped to its type. Where two ways meet, it has the hull of both,
and a condition lets through what fulfils it. A loop is executed until nothing changes any more: a range that still
grows after some rounds is widened to all of its type, and then narrowed again by what the conditions let through.

Of a value that may be any number of 32 or more bits nothing is known: its type is no answer to how large an array is.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from dse.model.kernel import Kernel
from dse.passes.analyses.affine import affine
from dse.passes.analyses.expression_ranges import range_of, stored
from dse.passes.analyses.ranges import Interval, container, fits, hull
from dse.program.ir import (
    Assign,
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Declare,
    Expr,
    ForEach,
    If,
    Load,
    Stmt,
    Unary,
    While,
)
from dse.program.types import BoolType, IntType, Type
from dse.program.walk import operands_of, sub_statements

State: TypeAlias = dict[str, Interval]
"""What is known at a place, by name; of names that are not in it nothing is known."""
_Reached: TypeAlias = State | None
"""None: a place that no execution reaches."""
Visit: TypeAlias = Callable[[Stmt, State], None]

ROUNDS = 4
"""Rounds of a loop until ranges that still grow are widened."""
NARROWINGS = 2
"""Rounds after that, which take back what was widened too far."""
TELLING_BITS = 16
"""A type of so many bits says something about the values of a variable."""
_OPPOSITE: dict[BinaryOp, BinaryOp] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
_MIRRORED: dict[BinaryOp, BinaryOp] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def kept(value: Interval, of: Type) -> Interval:
    """Return what is known of a value after it was stored in a variable or element."""
    if isinstance(of, BoolType):
        return value if value is not None else (0, 1)
    narrow = isinstance(of, IntType) and of.container_bits <= TELLING_BITS
    return stored(value, of) if narrow or fits(value, container(of)) else None


class RangeWalk:
    """Executes a kernel on ranges."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._visit: Visit = _look_at_nothing
        self._quiet = 0
        """Loops that are being executed until nothing changes; what is visited meanwhile is not what holds."""
        self._types = {s.variable.name: s.variable.type for s in kernel.scalars}
        for statement in sub_statements(kernel.body):
            if isinstance(statement, Declare | ForEach):
                self._types[statement.variable.name] = statement.variable.type

    def run(self, visit: Visit) -> None:
        """Call ``visit`` with each statement that may be reached and what is known before it, once or several times."""
        self._visit = visit
        self._block(self._kernel.body, {a.name: kept(None, a.element) for a in self._kernel.arrays})

    # Statements

    def _block(self, statements: tuple[Stmt, ...], state: _Reached) -> _Reached:
        """Return what is known after statements."""
        for statement in statements:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: Stmt, state: State) -> _Reached:
        if not self._quiet:
            self._visit(statement, state)
        match statement:
            case Declare(variable=variable, value=value):
                return self._given(variable.name, range_of(value, state), state)
            case Assign(indices=()):
                return self._given(statement.name, range_of(statement.value, state), state)
            case If():
                then = self._block(statement.then, self._narrowed(statement.condition, True, state))
                otherwise = self._block(statement.otherwise, self._narrowed(statement.condition, False, state))
                return _joined(then, otherwise)
            case While():
                return self._while(statement, state)
            case ForEach():
                return self._for_each(statement, state)
            case _:
                return state

    def _given(self, name: str, value: Interval, state: State) -> State:
        of = self._types.get(name)
        return state | {name: None if of is None else kept(value, of)}

    def _while(self, loop: While, state: State) -> _Reached:
        """Return what is known after a loop; its first round goes by itself, which matters for ``do``."""

        def one_round(before: _Reached) -> _Reached:
            return self._block(loop.body, self._narrowed(loop.condition, True, before))

        first = one_round(state)
        again = self._settled(first, one_round)
        if again is not None:
            if not self._quiet:
                self._visit(loop, again)
            one_round(again)
        never, at_last = (self._narrowed(loop.condition, False, s) for s in (state, again))
        return _joined(never, at_last)

    def _for_each(self, loop: ForEach, state: State) -> _Reached:
        low, high = range_of(loop.low, state), range_of(loop.high, state)
        values: Interval = None
        if low is not None and high is not None:
            values = (low[0], high[1]) if loop.step > 0 else (high[0], low[1])
            if values[0] > values[1]:
                return state

        def one_round(before: _Reached) -> _Reached:
            return None if before is None else self._block(loop.body, self._given(loop.variable.name, values, before))

        again = self._settled(state, one_round)
        one_round(again)
        return again

    def _settled(self, start: _Reached, one_round: Callable[[_Reached], _Reached]) -> _Reached:
        """Return what is known before every round of a loop that starts as ``start``."""
        self._quiet += 1
        state, after, rounds = start, _joined(start, one_round(start)), 0
        while state is not None and after is not None and not _covers(state, after):
            rounds += 1
            state = after if rounds < ROUNDS else self._widened(state, after)
            after = _joined(start, one_round(state))
        for _ in range(NARROWINGS):
            state = _joined(start, one_round(state))
        self._quiet -= 1
        return state

    def _widened(self, before: State, after: State) -> State:
        """Return ranges that hold both, those that grew at an end widened to the end of their type."""
        found: State = {}
        for name, old in before.items():
            new, limits = after.get(name), container(self._types[name]) if name in self._types else None
            if fits(new, old):
                found[name] = old
            elif old is not None and new is not None and limits is not None:
                low = old[0] if new[0] >= old[0] else limits[0]
                found[name] = (low, old[1] if new[1] <= old[1] else limits[1])
        return found

    # Conditions

    def reads(self, expression: Expr, state: State) -> Iterator[tuple[Expr, State]]:
        """Yield the parts of an expression that may be evaluated, with what is known where they are."""
        yield expression, state
        match expression:
            case Conditional():
                ways = [(expression.then, True), (expression.otherwise, False)]
                yield from self.reads(expression.condition, state)
            case Binary(op="and" | "or" as op):
                ways = [(expression.right, op == "and")]
                yield from self.reads(expression.left, state)
            case _:
                ways = []
                for operand in operands_of(expression):
                    yield from self.reads(operand, state)
        for part, holds in ways:
            known = self._narrowed(operands_of(expression)[0], holds, state)
            if known is not None:
                yield from self.reads(part, known)

    def _narrowed(self, condition: Expr, holds: bool, state: _Reached) -> _Reached:
        """Return what is known where a condition holds (or does not)."""
        if state is None:
            return None
        match condition:
            case Const(value=value):
                return state if bool(value) == holds else None
            case Load(name=name, type=BoolType()):
                return self._limited(name, (int(holds), int(holds)), state)
            case Unary(op="not", operand=operand):
                return self._narrowed(operand, not holds, state)
            case Binary(op="and" | "or" as op, left=left, right=right):
                first = self._narrowed(left, holds, state)
                if (op == "and") == holds:
                    return self._narrowed(right, holds, first)
                return _joined(first, self._narrowed(right, holds, self._narrowed(left, not holds, state)))
            case Binary(op=op, left=left, right=right) if op in _OPPOSITE:
                op = op if holds else _OPPOSITE[op]
                return self._compared(right, _MIRRORED[op], left, self._compared(left, op, right, state))
            case _:
                return state

    def _compared(self, left: Expr, op: BinaryOp, right: Expr, state: _Reached) -> _Reached:
        """Return what is known where a comparison holds, of the variable on its left side."""
        if state is None:
            return None
        form, limit = affine(left), range_of(right, state)
        if form is None or limit is None or len(form.terms) != 1 or form.terms[0][1] != 1:
            return state
        name, low, high = form.terms[0][0], limit[0] - form.constant, limit[1] - form.constant
        if op == "!=":
            return self._without(name, low, state) if low == high else state
        bounds = container(self._types[name]) if name in self._types else None
        if bounds is None:
            return state
        least = {"<": bounds[0], "<=": bounds[0], ">": low + 1, ">=": low, "=": low}[op]
        most = {"<": high - 1, "<=": high, ">": bounds[1], ">=": bounds[1], "=": high}[op]
        return self._limited(name, (least, most), state)

    def _without(self, name: str, value: int, state: State) -> _Reached:
        """Return what is known where a variable is not ``value``."""
        known = state.get(name)
        if known is None:
            return state
        low, high = known[0] + (known[0] == value), known[1] - (known[1] == value)
        return state | {name: (low, high)} if low <= high else None

    def _limited(self, name: str, limits: tuple[int, int], state: State) -> _Reached:
        """Return what is known where a variable lies within limits."""
        known = state.get(name) or limits
        low, high = max(known[0], limits[0]), min(known[1], limits[1])
        return state | {name: (low, high)} if low <= high else None


def _look_at_nothing(statement: Stmt, state: State) -> None:
    """Visit nothing."""


def _joined(a: _Reached, b: _Reached) -> _Reached:
    """Return what is known where two ways meet."""
    if a is None or b is None:
        return b if a is None else a
    return {name: hull(a[name], b[name]) for name in a if name in b}


def _covers(state: State, other: State) -> bool:
    """Whether each range of ``state`` holds that of ``other``."""
    return all(known is None or fits(other.get(name), known) for name, known in state.items())
