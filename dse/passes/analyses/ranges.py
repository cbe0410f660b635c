"""The domain of integer ranges: what the operators of the language do to lowest and highest values.

An ``Interval`` is (low, high), both included; ``None`` is "any integer". Intervals follow the containers of the
variables, not their declared sizes: under model R a ``uint(size=3)`` holds 0 to 255 (cal.md 2.0).
"""

from collections.abc import Callable
from typing import TypeAlias

from dse.passes.arithmetic import shift_left
from dse.program.ir import BinaryOp
from dse.program.types import IntType, Type, scalar_of

Interval: TypeAlias = tuple[int, int] | None
_MAX_SHIFT = 128
"""Left shifts by more than this are not bounded: the numbers would not help and could be huge."""


def container(of: Type) -> Interval:
    """Return the interval of the container of an integer type (of the elements for a list); None for other types."""
    scalar = scalar_of(of)
    return scalar.limits if isinstance(scalar, IntType) else None


def fits(value: Interval, target: Interval) -> bool:
    """Return whether every integer of ``value`` lies in ``target``."""
    if value is None or target is None:
        return False
    return target[0] <= value[0] and value[1] <= target[1]


def hull(a: Interval, b: Interval) -> Interval:
    """Return the smallest interval that holds both."""
    if a is None or b is None:
        return None
    return min(a[0], b[0]), max(a[1], b[1])


def negated(a: Interval) -> Interval:
    """Return the interval of ``-a``."""
    return None if a is None else (-a[1], -a[0])


def complemented(a: Interval) -> Interval:
    """Return the interval of ``~a``."""
    return None if a is None else (-a[1] - 1, -a[0] - 1)


def binary(op: BinaryOp, a: Interval, b: Interval) -> Interval:
    """Return the interval of an integer operation; None where no bound is known."""
    if op == "&":
        return _conjunction(a, b)
    if a is None or b is None:
        return None
    rule = _RULES.get(op)
    return None if rule is None else rule(a, b)


def _sum(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    return a[0] - b[1], a[1] - b[0]


def _product(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    ends = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(ends), max(ends)


def counts(a: Interval, left: Type) -> Interval:
    """Return the interval of the counts by which a value of type ``left`` is shifted: those below 0 are masked."""
    if a is None or a[0] >= 0:
        return a
    bits = left.size if isinstance(left, IntType) else 0
    masked = shift_left(1, -1, bits).bit_length() - 1  # that of -1 is the largest
    return 0, max(masked, a[1])


def _quotient(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return a[0] // max(1, b[1]), a[1] // max(1, b[0])
    largest = max(abs(a[0]), abs(a[1]))
    return -largest, largest


def _remainder(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    bound = max(abs(b[0]), abs(b[1]), 1) - 1
    low = 0 if a[0] >= 0 else -min(bound, -a[0])
    high = 0 if a[1] <= 0 else min(bound, a[1])
    return low, high


def _shifted_right(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    few, many = (min(max(0, count), _MAX_SHIFT) for count in b)
    ends = (a[0] >> few, a[0] >> many, a[1] >> few, a[1] >> many)
    return min(ends), max(ends)


def _shifted_left(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    few, many = (max(0, count) for count in b)
    if many > _MAX_SHIFT:
        return None
    ends = (a[0] << few, a[0] << many, a[1] << few, a[1] << many)
    return min(ends), max(ends)


def _conjunction(a: Interval, b: Interval) -> Interval:
    bounds = [i[1] for i in (a, b) if i is not None and i[0] >= 0]
    if bounds:
        return 0, min(bounds)
    return None if a is None or b is None else _signed_bits(a, b)


def _disjunction(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
    return _signed_bits(a, b)


def _signed_bits(a: tuple[int, int], b: tuple[int, int]) -> Interval:
    """Return the two's complement range wide enough for both operands; bitwise results stay inside."""
    bits = max((v if v >= 0 else ~v).bit_length() for v in (*a, *b))
    return -(1 << bits), (1 << bits) - 1


_RULES: dict[BinaryOp, Callable[[tuple[int, int], tuple[int, int]], Interval]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _quotient,
    "mod": _remainder,
    "<<": _shifted_left,
    ">>": _shifted_right,
    "|": _disjunction,
    "^": _disjunction,
}
