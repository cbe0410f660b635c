"""Integer expressions of C, from a tree of pycparser, where the values of names are known."""

from collections.abc import Callable, Mapping

from pycparser import c_ast

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: _quotient(a, b),
    "%": lambda a, b: a - b * _quotient(a, b),
    "<<": lambda a, b: a << _places(b),
    ">>": lambda a, b: a >> _places(b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
}
_MOST_BITS = 128
_MOST_PLACES = 63
"""C says nothing of a shift by the width of the type, or more; nor of one by less than 0."""


class UnknownValue(Exception):
    """Says that a value is not known before the program runs; never leaves the front-end."""


def _quotient(a: int, b: int) -> int:
    if not b:
        raise UnknownValue
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _places(b: int) -> int:
    if not 0 <= b <= _MOST_PLACES:
        raise UnknownValue
    return b


def integer_of(node: c_ast.Node | None, values: Mapping[str, int]) -> int:
    """Return the value of an integer expression. Raises ``UnknownValue``."""
    match node:
        case c_ast.Constant() if node.type not in ("float", "double", "string", "char"):
            return _literal(node.value)
        case c_ast.ID() if node.name in values:
            return values[node.name]
        case c_ast.BinaryOp() if node.op in OPERATORS:
            return _bounded(OPERATORS[node.op](integer_of(node.left, values), integer_of(node.right, values)))
        case c_ast.UnaryOp(op="-"):
            return -integer_of(node.expr, values)
        case c_ast.Cast():
            return integer_of(node.expr, values)
    raise UnknownValue


def _literal(text: str) -> int:
    digits = text.rstrip("uUlL")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    try:
        return int(digits, 8 if octal else 0)
    except ValueError:
        raise UnknownValue from None


def _bounded(value: int) -> int:
    if value.bit_length() > _MOST_BITS:
        raise UnknownValue
    return value
