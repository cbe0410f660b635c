"""Evaluation of IR expressions at compile time: sizes, repeats, generator bounds, initialisers.

Computes as the execution does (model R, cal.md 2.0): in unbounded integers, wrapped where a value is stored, bound or
returned. Endless evaluations end at a limit of steps. Owns no scopes: variables and functions come from two callables.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, assert_never, cast

from dse.base.source import NO_SPAN, Span
from dse.passes.arithmetic import LARGEST_SHIFT, quotient, real, remainder, shift_left, shift_right, single, wrap
from dse.program import ir
from dse.program.types import BoolType, FloatType, IntType, ListType, ScalarType, StringType, Type, scalar_of

Value: TypeAlias = int | float | bool | str | tuple["Value", ...]

STEP_LIMIT = 2_000_000
LONGEST_LIST = 1 << 21
"""Lists of more elements have no value at compile time: nothing but a size or a short table is asked for then."""
LONGEST_TEXT = 1 << 20
"""Longer texts have no value at compile time."""
LONGEST_NUMBER = 2 * LARGEST_SHIFT
"""Integers of more bits have no text at compile time."""
DEPTH_LIMIT = 200
"""Nested calls of functions; deeper ones count as endless."""


class NotConstantError(Exception):
    """An expression has no value at compile time; ``reason`` says why. Caught by lowering, never seen by a user.

    ``reported``: the reason is an error that the user has been told already.
    """

    def __init__(self, reason: str, span: Span = NO_SPAN, *, reported: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.reported = reported


def _check_length(of: ListType) -> None:
    if of.size > LONGEST_LIST:
        raise NotConstantError(f"a list of {of.size} elements is made at run time")


def zero_of(of: Type) -> Value:
    """Return the value of an uninitialised variable. Raises ``NotConstantError`` where it is a very long list."""
    match of:
        case IntType():
            return 0
        case FloatType():
            return 0.0
        case BoolType():
            return False
        case StringType():
            return ""
        case ListType():
            _check_length(of)
            return (zero_of(of.element),) * of.size


def store(value: Value, target: Type) -> Value:
    """Return what a variable of type ``target`` holds after ``value`` was assigned: wrapped, padded with zeros.

    Raises ``NotConstantError`` where it is a very long list.
    """
    match target:
        case IntType():
            return wrap(cast("int", value), target.container_bits, target.signed)
        case FloatType():
            exact = real(cast("float", value))
            return exact if target.bits == 64 else single(exact)
        case BoolType() | StringType():
            return value
        case ListType():
            assert isinstance(value, tuple)
            _check_length(target)
            stored = tuple(store(v, target.element) for v in value[: target.size])
            missing = target.size - len(stored)
            return stored + (zero_of(target.element),) * missing if missing else stored


def constant_of(value: Value, of: Type, span: Span) -> ir.Const | ir.ConstList:
    """Return the literal node of a value."""
    return ir.ConstList(value, of, span) if isinstance(value, tuple) else ir.Const(value, of, span)


class ConstantEvaluator:
    """Evaluates expressions whose variables ``variable`` knows (by unique name) and whose functions ``function`` does.

    Both raise ``NotConstantError`` for what has no value. The steps are counted over one outermost evaluation.
    """

    def __init__(
        self,
        variable: Callable[[str, Span], Value],
        function: Callable[[str, Span], ir.Routine],
        *,
        step_limit: int = STEP_LIMIT,
    ) -> None:
        self._variable = variable
        self._function = function
        self._step_limit = step_limit
        self._steps = 0
        self._depth = 0
        self._active = 0

    def evaluate(self, expr: ir.Expr, frame: Mapping[str, Value] | None = None) -> Value:
        """Return the value of ``expr``. Raises ``NotConstantError`` when it has none or does not end."""
        if self._active == 0:
            self._steps = self._depth = 0
        self._active += 1
        try:
            return self._value(expr, dict(frame or {}))
        finally:
            self._active -= 1

    def _value(self, expr: ir.Expr, frame: dict[str, Value]) -> Value:  # ways: one case for each node of the IR
        self._steps += 1
        if self._steps > self._step_limit:
            raise NotConstantError(f"its evaluation does not end within {self._step_limit} steps", expr.span)
        match expr:
            case ir.Const():
                return expr.value
            case ir.ConstList():
                return cast("tuple[Value, ...]", expr.values)
            case ir.Load():
                return frame[expr.name] if expr.name in frame else self._variable(expr.name, expr.span)
            case ir.Index():
                return self._index(expr, frame)
            case ir.Unary():
                return self._unary(expr, frame)
            case ir.Binary():
                return self._binary(expr, frame)
            case ir.Conditional():
                chosen = expr.then if self._value(expr.condition, frame) else expr.otherwise
                return self._value(chosen, frame)
            case ir.Call():
                return self._call(expr, frame)
            case ir.ListExpr():
                return tuple(self._value(e, frame) for e in expr.elements)
            case ir.Generator():
                return tuple(self._generate(expr, 0, frame))
            case ir.Cast():
                raise NotConstantError("an explicit conversion is not evaluated", expr.span)
            case _:
                raise ir.not_of_source(expr)

    def _index(self, expr: ir.Index, frame: dict[str, Value]) -> Value:
        value = frame[expr.name] if expr.name in frame else self._variable(expr.name, expr.span)
        for index in expr.indices:
            assert isinstance(value, tuple)
            place = cast("int", self._value(index, frame))
            if not 0 <= place < len(value):
                return zero_of(expr.type)
            value = value[place]
        return value

    def _unary(self, expr: ir.Unary, frame: dict[str, Value]) -> Value:
        value = self._value(expr.operand, frame)
        match expr.op:
            case "~":
                return ~cast("int", value)
            case "not":
                return not value
            case "-":
                return -cast("int", value)
            case "#":
                return len(cast("tuple[Value, ...]", value))
            case _:
                assert_never(expr.op)

    def _binary(self, expr: ir.Binary, frame: dict[str, Value]) -> Value:
        left = self._value(expr.left, frame)
        if expr.op == "and":
            return bool(left) and bool(self._value(expr.right, frame))
        if expr.op == "or":
            return bool(left) or bool(self._value(expr.right, frame))
        right = self._value(expr.right, frame)
        return _operated(expr, left, right)

    def _call(self, call: ir.Call, frame: dict[str, Value]) -> Value:
        routine = self._function(call.routine, call.span)
        if self._depth >= DEPTH_LIMIT:
            raise NotConstantError(f"calls of '{routine.source_name}' nest more than {DEPTH_LIMIT} deep", call.span)
        assert routine.result is not None
        assert routine.result_type is not None
        inner: dict[str, Value] = {}
        for parameter, argument in zip(routine.parameters, call.arguments, strict=True):
            inner[parameter.name] = self._bound(argument, parameter.type, frame)
        self._depth += 1
        try:
            for declare in routine.declarations:
                of = declare.variable.type
                initial = zero_of(of) if declare.value is None else store(self._value(declare.value, inner), of)
                inner[declare.variable.name] = initial
            return store(self._value(routine.result, inner), routine.result_type)
        finally:
            self._depth -= 1

    def _bound(self, argument: ir.Expr, parameter: Type, frame: dict[str, Value]) -> Value:
        """Return what a parameter holds: a scalar is stored; a list is the caller's, read through its own type."""
        value = self._value(argument, frame)
        if not isinstance(parameter, ListType):
            return store(value, parameter)
        element = scalar_of(parameter)
        if isinstance(argument, ir.Load | ir.Index) and scalar_of(argument.type) == element:
            return value
        return self._converted(value, element)

    def _converted(self, value: Value, element: ScalarType) -> Value:
        """Return a list of the same sizes whose scalars are stored in another type."""
        if not isinstance(value, tuple):
            return store(value, element)
        self._steps += len(value)
        return tuple(self._converted(v, element) for v in value)

    def _generate(self, generator: ir.Generator, level: int, frame: dict[str, Value]) -> Iterator[Value]:
        if level == len(generator.loops):
            for element in generator.elements:
                yield self._value(element, frame)
            return
        loop = generator.loops[level]
        low = cast("int", self._value(loop.low, frame))
        high = cast("int", self._value(loop.high, frame))
        for i in range(low, high + 1):
            frame[loop.variable.name] = store(i, loop.variable.type)
            yield from self._generate(generator, level + 1, frame)


def _operated(expr: ir.Binary, left: Value, right: Value) -> Value:
    """Return the value of an operator that takes both operands."""
    match expr.type:
        case StringType():
            text = _text(left, expr.span) + _text(right, expr.span)
            if len(text) > LONGEST_TEXT:
                raise NotConstantError(f"a text of {len(text)} characters is made at run time", expr.span)
            return text
        case ListType():
            return _joined(expr, left, right)
        case FloatType():
            left, right = real(cast("float", left)), real(cast("float", right))
    if expr.op in ("/", "mod"):
        return _division(expr.op, cast("int", left), cast("int", right), expr.span)
    if expr.op in _SHIFTS:
        assert isinstance(expr.left.type, IntType)
        return _SHIFTS[expr.op](cast("int", left), cast("int", right), expr.left.type.size)
    if expr.op in _OPERATIONS:
        return _OPERATIONS[expr.op](left, right)
    raise NotConstantError(f"the operator '{expr.op}' is not evaluated", expr.span)


_SHIFTS = {"<<": shift_left, ">>": shift_right}
_OPERATIONS: Mapping[str, Callable[[Any, Any], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What the operators are that neither choose nor depend on types, for all values that typing lets them have."""


def _text(value: Value, span: Span) -> str:
    """Return what ``print`` prints of a value: 1 or 0 of a bool, a list as CAL writes it."""
    match value:
        case bool():
            return "1" if value else "0"
        case str():
            return value
        case int():
            if value.bit_length() > LONGEST_NUMBER:
                raise NotConstantError(f"the text of a number of {value.bit_length()} bits is made at run time", span)
            return str(value)
        case tuple():
            return "[" + ", ".join(_text(v, span) for v in value) + "]"
        case float():
            raise NotConstantError("the text of a float is made at run time", span)


def _joined(expr: ir.Binary, left: Value, right: Value) -> Value:
    """Return two lists as one; each counts with the size of its static type, whatever it was bound to."""
    assert isinstance(expr.type, ListType)
    assert isinstance(expr.left.type, ListType)
    assert isinstance(expr.right.type, ListType)
    element = expr.type.element
    first = store(left, ListType(element, expr.left.type.size))
    second = store(right, ListType(element, expr.right.type.size))
    return cast("tuple[Value, ...]", first) + cast("tuple[Value, ...]", second)


def _division(op: str, left: int, right: int, span: Span) -> Value:
    if right == 0:
        raise NotConstantError("it divides by zero", span)
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return quotient(left, right) if op == "/" else remainder(left, right)
