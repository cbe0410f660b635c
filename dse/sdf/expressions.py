"""Expressions of PREESM: decimal numbers, names, ``+ - * / % ^``, comparisons, ``if(c,a,b)`` and functions.

Arithmetic is exact but for roots, logarithms and powers that are no whole numbers. Names and numbers alone: nothing of
the expression is ever run.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

_TOKEN = re.compile(
    r"\s*(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2}(?![0-9]))?|[A-Za-z_]\w*|<=|>=|==|!=|&&|\|\||[-+*/%^(),<>])",
    re.ASCII,
)
_DEEPEST = 60
_LONGEST = 2000
_MOST = Fraction(10**15)
_FINEST = 10**12
"""Fractions that are finer are rounded."""
_COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class ExpressionError(ValueError):
    """An expression that means nothing; the text says why."""


def evaluate(text: str, values: Mapping[str, Fraction]) -> Fraction:
    """Return the value of an expression. Raises ``ExpressionError``."""
    if len(text) > _LONGEST:
        raise ExpressionError("it is too long")
    parser = _Parser(_tokens(text), values)
    value = parser.joined(0)
    if parser.rest:
        raise ExpressionError(f"'{parser.rest[0]}' is not expected there")
    return value


def whole(value: Fraction) -> int:
    """Return a value rounded to a whole number, halves up, as PREESM does."""
    return math.floor(value + Fraction(1, 2))


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    bare = text.strip()
    while at < len(bare):
        match = _TOKEN.match(bare, at)
        if match is None:
            raise ExpressionError(f"'{bare[at:][:20]}' is not understood")
        found.append(match[0].strip())
        at = match.end()
    if not found:
        raise ExpressionError("it is empty")
    return found


class _Parser:
    """Reads by precedence: or, and, comparisons, sums, products, signs, powers, then what stands alone."""

    def __init__(self, tokens: list[str], values: Mapping[str, Fraction]) -> None:
        self.rest = tokens
        self._values = values

    def _take(self, *wanted: str) -> str | None:
        return self.rest.pop(0) if self.rest and self.rest[0] in wanted else None

    def _need(self, wanted: str) -> None:
        if self._take(wanted) is None:
            raise ExpressionError(f"'{wanted}' is missing")

    def joined(self, depth: int) -> Fraction:
        """Read a whole expression, in parentheses that are ``depth`` deep."""
        if depth > _DEEPEST:
            raise ExpressionError("its parentheses are too deep")
        left = self._both(depth)
        while self._take("||"):
            right = self._both(depth)
            left = Fraction(bool(left or right))
        return left

    def _both(self, depth: int) -> Fraction:
        left = self._compared(depth)
        while self._take("&&"):
            right = self._compared(depth)
            left = Fraction(bool(left and right))
        return left

    def _compared(self, depth: int) -> Fraction:
        left = self._sum(depth)
        while (sign := self._take(*_COMPARED)) is not None:
            left = Fraction(_COMPARED[sign](left, self._sum(depth)))
        return left

    def _sum(self, depth: int) -> Fraction:
        left = self._product(depth)
        while (sign := self._take("+", "-")) is not None:
            right = self._product(depth)
            left = _bounded(left + right if sign == "+" else left - right)
        return left

    def _product(self, depth: int) -> Fraction:
        left = self._signed(depth)
        while (sign := self._take("*", "/", "%")) is not None:
            right = self._signed(depth)
            if sign != "*" and not right:
                raise ExpressionError("it divides by zero")
            left = _bounded(left * right if sign == "*" else left / right if sign == "/" else left % right)
        return left

    def _signed(self, depth: int) -> Fraction:
        if depth > _DEEPEST:
            raise ExpressionError("it has too many signs")
        sign = self._take("-", "+")
        if sign is not None:
            value = self._signed(depth + 1)
            return -value if sign == "-" else value
        base = self._alone(depth)
        return _power(base, self._signed(depth + 1)) if self._take("^") else base

    def _alone(self, depth: int) -> Fraction:
        if self._take("("):
            value = self.joined(depth + 1)
            self._need(")")
            return value
        if not self.rest:
            raise ExpressionError("it ends too early")
        word = self.rest.pop(0)
        if word[0].isdigit() or word[0] == ".":
            return _bounded(Fraction(word))
        if self._take("("):
            return self._call(word, depth)
        if word not in self._values:
            raise ExpressionError(f"there is no parameter '{word}'")
        return self._values[word]

    def _call(self, name: str, depth: int) -> Fraction:
        arguments = [self.joined(depth + 1)]
        while self._take(","):
            arguments.append(self.joined(depth + 1))
        self._need(")")
        if name not in _FUNCTIONS:
            raise ExpressionError(f"there is no function '{name}'")
        count, function = _FUNCTIONS[name]
        if len(arguments) != count:
            raise ExpressionError(f"'{name}' takes {count} values")
        try:
            return _bounded(function(*arguments))
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            raise ExpressionError(f"'{name}' has no value there") from error


def _bounded(value: Fraction) -> Fraction:
    if abs(value) > _MOST:
        raise ExpressionError("its value is beyond measure")
    return value if value.denominator <= _FINEST else value.limit_denominator(_FINEST)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator == 1 and 0 <= exponent <= 64:
        return _bounded(base ** int(exponent))
    try:
        return _bounded(Fraction(float(base) ** float(exponent)).limit_denominator(_FINEST))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError) as error:
        raise ExpressionError("a power has no value there") from error


def _real(function: Callable[[float], float]) -> Callable[[Fraction], Fraction]:
    return lambda x: Fraction(function(float(x))).limit_denominator(_FINEST)


def _largest_power(base: Fraction, number: Fraction) -> Fraction:
    """Return how often a number can be divided by a base without rest."""
    x, y, count = int(base), int(number), 0
    if x < 2 or y == 0:
        raise ValueError
    while y % x == 0:
        y, count = y // x, count + 1
    return Fraction(count)


def _geometric_sum(first: Fraction, ratio: Fraction, terms: Fraction) -> Fraction:
    if not 0 <= terms <= 64:
        raise ValueError
    return sum((first * ratio**k for k in range(int(terms))), Fraction(0))


_FUNCTIONS: dict[str, tuple[int, Callable[..., Fraction]]] = {
    "if": (3, lambda c, a, b: a if c else b),
    "min": (2, min),
    "max": (2, max),
    "ceil": (1, lambda x: Fraction(math.ceil(x))),
    "floor": (1, lambda x: Fraction(math.floor(x))),
    "round": (1, lambda x: Fraction(whole(x))),
    "abs": (1, abs),
    "sqrt": (1, _real(math.sqrt)),
    "ln": (1, _real(math.log)),
    "log": (1, _real(math.log10)),
    "mod": (2, lambda a, b: a % b),
    "geo_sum": (3, _geometric_sum),
    "pow_div_max": (2, _largest_power),
}
