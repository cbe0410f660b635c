"""Values of XDF expressions: literals, network parameters and variables, unary and binary operators, lists.

Operators, precedence and meaning are those of CAL (cal.md 2.1): integers are unbounded, ``/`` truncates toward zero,
``+`` with a String concatenates, Boolean and integer do not mix.
"""

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never, cast

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal.consteval import Value
from dse.frontend.cal.names import number_text
from dse.model.xdf import XdfExpr, XdfListExpr, XdfLiteral, XdfSequence, XdfUnary, XdfVar
from dse.passes.arithmetic import quotient, real, remainder, shift_left, shift_right
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type

Lookup: TypeAlias = Callable[[str, Span], Value | None]
"""Gives the value of a name; reports an unknown one itself and returns None."""

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||", "or"),
    ("&&", "and"),
    ("|",),
    ("^",),
    ("&",),
    ("=", "==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "div", "mod", "%"),
    ("**",),
)
_PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_UNARY = ("-", "+", "not", "!", "~")
_MAX_BITS = 4096
"""Longest integer an expression may make: no network needs more, and ``1 << 10**9`` must not eat the memory."""

_LONGEST_TEXT = 1 << 20
_LONGEST_LIST = 1 << 17
"""Elements of a list, those of the lists in it counted: they double where a variable names another one twice."""


class _NoValue(Exception):
    """An expression has no value; the reason has been reported."""


def evaluate(expr: XdfExpr, lookup: Lookup, gather: Gatherer) -> Value | None:
    """Return the value of an expression, or None with the reason in ``gather``."""
    try:
        return _Evaluator(lookup, gather).value(expr)
    except _NoValue:
        return None


def kind_of(value: Value) -> str:
    """Return the name of a value's type as a user knows it."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "String"
        case tuple():
            return "List"
        case _:
            assert_never(value)


def convert(value: Value, wanted: Type) -> Value | None:
    """Return ``value`` as a value of a type (an integer may become a float), or None when it is none.

    Integers keep their value here; they are wrapped where they are stored.
    """
    match value, wanted:
        case (bool(), BoolType()) | (str(), StringType()):
            return value
        case (bool(), _):
            return None
        case int(), IntType():
            return value
        case int() | float(), FloatType():
            return real(value)
        case tuple(), ListType():
            return _converted_list(value, wanted)
        case _:
            return None


def _converted_list(values: tuple[Value, ...], wanted: ListType) -> Value | None:
    """Return a list with its elements converted, or None when it is too long or one of them does not convert."""
    elements = tuple(convert(value, wanted.element) for value in values)
    if len(values) > wanted.size or None in elements:
        return None
    return cast("Value", elements)


def shown(value: object) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return number_text(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 40 else "a long value"


def _scalars(values: tuple[Value, ...]) -> Iterator[Value]:
    """Yield the scalars of a list and of the lists in it."""
    for value in values:
        if isinstance(value, tuple):
            yield from _scalars(value)
        else:
            yield value


def zero_of(wanted: Type) -> Value:
    """Return the value of a parameter that nothing gives: 0, false, 0.0 or "" (cal.md 2.4).

    An empty list stands for one of zeros: it gets its length where it is stored.
    """
    match wanted:
        case BoolType():
            return False
        case IntType():
            return 0
        case FloatType():
            return 0.0
        case StringType():
            return ""
        case ListType():
            return ()
        case _:
            assert_never(wanted)


class _Evaluator:
    """Evaluates one expression."""

    def __init__(self, lookup: Lookup, gather: Gatherer) -> None:
        self.lookup = lookup
        self.gather = gather

    def value(self, expr: XdfExpr) -> Value:
        match expr:
            case XdfLiteral():
                return expr.value
            case XdfVar():
                value = self.lookup(expr.name, expr.span)
                if value is None:
                    raise _NoValue
                return value
            case XdfListExpr():
                elements = tuple(self.value(element) for element in expr.elements)
                if sum(1 for _ in itertools.islice(_scalars(elements), _LONGEST_LIST + 1)) > _LONGEST_LIST:
                    expected = f"expected at most {_LONGEST_LIST}, those of the lists in it counted"
                    raise self._fail("the list is too long", expr.span, expected)
                return elements
            case XdfUnary():
                return self._unary(expr)
            case XdfSequence():
                return self._sequence(expr)
            case _:
                assert_never(expr)

    def _fail(self, message: str, span: Span, expected: str = "") -> _NoValue:
        self.gather.error(message, span, expected)
        return _NoValue()

    def _unary(self, expr: XdfUnary) -> Value:
        if expr.op not in _UNARY:
            raise self._fail(f"unknown unary operator '{expr.op}'", expr.span, "known: " + ", ".join(_UNARY))
        operand = self.value(expr.operand)
        match expr.op, operand:
            case (("not" | "!"), bool()):
                return not operand
            case (("-" | "+" | "~"), bool()):
                pass
            case "-", int() | float():
                return -operand
            case "+", int() | float():
                return operand
            case "~", int():
                return ~operand
        raise self._fail(f"operator '{expr.op}' does not apply to {kind_of(operand)}", expr.span)

    def _sequence(self, expr: XdfSequence) -> Value:
        """Evaluate operands and operators by precedence, all operators left-associative."""
        for op in expr.operators:
            if op not in _PRECEDENCE:
                raise self._fail(f"unknown operator '{op}'", expr.span, "known: " + ", ".join(_PRECEDENCE))
        values: list[Value] = []
        pending: list[str] = []
        for index, operand in enumerate(expr.operands):
            values.append(self.value(operand))
            following = expr.operators[index] if index < len(expr.operators) else None
            while pending and (following is None or _PRECEDENCE[pending[-1]] >= _PRECEDENCE[following]):
                right, left = values.pop(), values.pop()
                values.append(self._binary(pending.pop(), left, right, expr.span))
            if following is not None:
                pending.append(following)
        return values[0]

    def _binary(self, op: str, left: Value, right: Value, span: Span) -> Value:
        """Return one operation; kinds that the operator does not take, and zero divisors, are errors."""
        result: Value | None = None
        match left, right:
            case bool(), bool():
                result = _boolean(op, left, right)
            case (str(), _) | (_, str()):
                result = _text(op, left, right)
            case (bool(), _) | (_, bool()):
                pass
            case int() | float(), int() | float():
                result = self._number(op, left, right, span)
        if isinstance(result, str) and len(result) > _LONGEST_TEXT:
            expected = f"expected at most {_LONGEST_TEXT} characters"
            raise self._fail(f"a text of {len(result)} characters", span, expected)
        if result is None:
            raise self._fail(f"operator '{op}' does not apply to {kind_of(left)} and {kind_of(right)}", span)
        return result

    def _number(self, op: str, left: int | float, right: int | float, span: Span) -> Value | None:
        if right == 0 and op in _DIVISIONS:
            raise self._fail("division by zero", span)
        if isinstance(left, int) and isinstance(right, int):
            return self._integer(op, left, right, span)
        return _real(op, real(left), real(right))

    def _integer(self, op: str, left: int, right: int, span: Span) -> Value | None:
        if op in ("<<", ">>") and right > _MAX_BITS:
            raise self._fail(f"operator '{op}' by {shown(right)}", span, f"expected at most {_MAX_BITS}")
        if op == "**" and not 0 <= right <= _MAX_BITS:
            raise self._fail(f"operator '{op}' by {shown(right)}", span, f"expected 0 to {_MAX_BITS}")
        if op == "**" and left.bit_length() * right > _MAX_BITS:
            raise self._fail("the result is too large", span, f"integers may have {_MAX_BITS} bits")
        operation = _INTEGER.get(op)
        result = _common(op, left, right) if operation is None else operation(left, right)
        if isinstance(result, int) and result.bit_length() > 2 * _MAX_BITS:
            raise self._fail("the result is too large", span, f"integers may have {_MAX_BITS} bits")
        return result


def _boolean(op: str, left: bool, right: bool) -> bool | None:
    match op:
        case "||" | "or":
            return left or right
        case "&&" | "and":
            return left and right
        case "=" | "==":
            return left == right
        case "!=":
            return left != right
        case _:
            return None


def _text(op: str, left: Value, right: Value) -> Value | None:
    match op:
        case "+" if not isinstance(left, tuple) and not isinstance(right, tuple):
            return _text_of(left) + _text_of(right)
        case "=" | "==" if isinstance(left, str) and isinstance(right, str):
            return left == right
        case "!=" if isinstance(left, str) and isinstance(right, str):
            return left != right
        case _:
            return None


def _text_of(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type_bits(value: int) -> int:
    """Return the size that decides how a negative shift count of a value is masked: 32, or 64 if it needs more."""
    return 32 if value.bit_length() <= 32 else 64


_DIVISIONS = ("/", "div", "mod", "%")
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "<<": lambda a, b: shift_left(a, b, _type_bits(a)),
    ">>": lambda a, b: shift_right(a, b, _type_bits(a)),
    "/": quotient,
    "div": quotient,
    "mod": remainder,
    "%": remainder,
    "**": operator.pow,
}


def _real(op: str, left: float, right: float) -> Value | None:
    return left / right if op in ("/", "div") else _common(op, left, right)


_COMMON: dict[str, Callable[[float, float], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _common(op: str, left: float, right: float) -> Value | None:
    """Return arithmetic and comparison of two numbers of one kind, or None when the operator is none of these."""
    operation = _COMMON.get(op)
    return None if operation is None else operation(left, right)
