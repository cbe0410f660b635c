"""The static type rules of CAL (cal.md 2.1, after Orcc's ``TypeUtil``): bounds, results of operators, conversions.

Types here are only what a value *may need*; evaluation is unbounded and wraps where a value is stored. The one
difference from Orcc: an integer and a float have a common type (the float), so they may be compared and mixed.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from dse.program.types import BOOL, FLOAT32, STRING, BoolType, FloatType, IntType, ListType, StringType, Type, scalar_of

ARITHMETIC = ("+", "-", "*", "/")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
LOGICAL = ("and", "or")

LARGEST_SHIFT_BITS = 6
"""A shift count of more bits than this counts as one of this many (Orcc limits the result to 64 more bits)."""


@lru_cache(maxsize=4096)
def int_type(size: int, signed: bool) -> IntType:
    """Return the shared integer type of a size in bits."""
    return IntType(size, signed)


def literal_type(value: int) -> IntType:
    """Return the smallest type that holds an integer literal: ``uint`` unless it is negative."""
    return int_type(max(1, value.bit_length()), False) if value >= 0 else int_type(value.bit_length() + 1, True)


def least_upper_bound(left: Type, right: Type) -> Type | None:
    """Return the smallest type that holds the values of both, or None when there is none."""
    match left, right:
        case IntType(), IntType():
            return _int_upper_bound(left, right)
        case FloatType(), FloatType():
            return left if left.bits >= right.bits else right
        case (IntType(), FloatType()):
            return right
        case (FloatType(), IntType()):
            return left
        case ListType(), ListType():
            element = least_upper_bound(left.element, right.element)
            return None if element is None else ListType(element, max(left.size, right.size))
    return left if left == right else None


def _int_upper_bound(left: IntType, right: IntType) -> IntType:
    if left.signed == right.signed:
        return left if left.size >= right.size else right
    signed, unsigned = (left, right) if left.signed else (right, left)
    return signed if signed.size > unsigned.size else int_type(unsigned.size + 1, True)


def _int_lower_bound(left: IntType, right: IntType) -> IntType:
    if left.signed == right.signed:
        return left if left.size <= right.size else right
    signed, unsigned = (left, right) if left.signed else (right, left)
    return int_type(unsigned.size + 1, True) if signed.size > unsigned.size else signed


def binary_type(op: str, left: Type, right: Type) -> Type | None:
    """Return the type of ``left op right``, or None when the operator does not take these operands."""
    if op in LOGICAL:
        return BOOL if left == right == BOOL else None
    if op in COMPARISONS:
        return BOOL if _comparable(op, left, right) else None
    if isinstance(left, IntType) and isinstance(right, IntType):
        rule = _INT_TYPES.get(op)
        return None if rule is None else rule(left, right)
    return _mixed_type(op, left, right)


def _mixed_type(op: str, left: Type, right: Type) -> Type | None:
    """Return the result of an operator that computes, for operands that are not both integers."""
    match left, right:
        case (StringType(), _) | (_, StringType()):
            return STRING if op == "+" else None
        case ListType(), ListType():
            return _joined_type(left, right) if op == "+" else None
    return least_upper_bound(left, right) if op in ARITHMETIC and is_number(left) and is_number(right) else None


def _joined_type(left: ListType, right: ListType) -> ListType | None:
    """Return the type of the elements of both lists, one after the other."""
    element = least_upper_bound(left.element, right.element)
    return None if element is None else ListType(element, left.size + right.size)


def _comparable(op: str, left: Type, right: Type) -> bool:
    if is_number(left) and is_number(right):
        return True
    return op in ("=", "!=") and left == right and not isinstance(left, ListType)


def _sum_type(left: IntType, right: IntType) -> IntType:
    bound = _int_upper_bound(left, right)
    return int_type(bound.size + 1, bound.signed)


def _difference_type(left: IntType, right: IntType) -> IntType:
    bound = _int_upper_bound(left, right)
    return bound if bound.signed else int_type(bound.size + 1, True)


def _product_type(left: IntType, right: IntType) -> IntType:
    return int_type(left.size + right.size, left.signed or right.signed)


def _left_shift_type(left: IntType, right: IntType) -> IntType:
    grown = left.size + (1 << min(LARGEST_SHIFT_BITS, right.size)) - 1
    return int_type(grown, left.signed or right.signed)


_INT_TYPES: Mapping[str, Callable[[IntType, IntType], IntType]] = {
    "+": _sum_type,
    "-": _difference_type,
    "*": _product_type,
    "/": lambda left, _: left,
    "mod": lambda _, right: right,
    "<<": _left_shift_type,
    ">>": lambda left, _: left,
    "&": _int_lower_bound,
    "|": _int_upper_bound,
    "^": _int_upper_bound,
}
"""The type of an operator's result for two integers; comparisons and logic are none of these."""


def operand_rule(op: str) -> str:
    """Return the sentence that says what operands a binary operator takes."""
    if op in LOGICAL:
        return f"'{op}' takes two bools"
    if op in ("=", "!="):
        return f"'{op}' compares two numbers, two bools or two Strings"
    if op in COMPARISONS:
        return f"'{op}' compares two numbers"
    if op == "+":
        return "'+' takes two numbers, two lists of one kind, or a String and any value"
    return f"'{op}' takes two numbers" if op in ARITHMETIC else f"'{op}' takes two integers"


def unary_type(op: str, operand: Type) -> Type | None:
    """Return the type of ``op operand``, or None when the operator does not take this operand."""
    match op, operand:
        case "~", IntType():
            return operand
        case "not", BoolType():
            return operand
        case "-", IntType():
            return operand if operand.signed else int_type(operand.size + 1, True)
        case "-", FloatType():
            return operand
        case "#", ListType():
            return literal_type(operand.size)
    return None


UNARY_RULES = {
    "~": "'~' takes an integer",
    "not": "'not' takes a bool",
    "-": "'-' takes a number",
    "#": "'#' takes a list",
}


def is_number(of: Type) -> bool:
    """Return whether a type is an integer or a float."""
    return isinstance(of, IntType | FloatType)


def is_convertible(source: Type, target: Type) -> bool:
    """Return whether a value of ``source`` may be stored in ``target``.

    Integers of any sizes convert (they wrap), integers to floats, floats to wider ones (``half`` counts as
    ``float``), lists element by element when the target is at least as long. Nothing converts to or from ``bool``.
    """
    match source, target:
        case (IntType(), IntType()) | (IntType(), FloatType()):
            return True
        case FloatType(), FloatType():
            return target.bits >= source.bits or source.bits <= FLOAT32.bits
        case ListType(), ListType():
            return source.size <= target.size and is_convertible(source.element, target.element)
    return source == target


def is_bindable(argument: Type, parameter: Type) -> bool:
    """Return whether an argument fits a parameter: scalars convert; lists go by reference, whatever their sizes."""
    if isinstance(argument, ListType) and isinstance(parameter, ListType):
        return is_convertible(scalar_of(argument), scalar_of(parameter))
    return is_convertible(argument, parameter)
