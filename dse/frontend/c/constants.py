"""Operations on constants of C: what the preprocessor and the lowering of expressions fold."""

import operator
from collections.abc import Callable, Mapping

from dse.passes import arithmetic

MOST_SHIFTED = 64
"""A shift by as many bits, or more, has no value in C."""
_WHOLE: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_DIVIDED: Mapping[str, Callable[[int, int], int]] = {"/": arithmetic.quotient, "%": arithmetic.remainder}
_SHIFTED: Mapping[str, Callable[[int, int, int], int]] = {"<<": arithmetic.shift_left, ">>": arithmetic.shift_right}
_REAL: Mapping[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def whole(op: str, a: int, b: int, left_bits: int) -> int | None:
    """Return an operation on two integers, None for one that has no value.

    ``left_bits``: the size of the left side's type, which masks the count of a shift below 0.
    """
    if op in _WHOLE:
        return _WHOLE[op](a, b)
    if op in _DIVIDED and b != 0:
        return _DIVIDED[op](a, b)
    if op in _SHIFTED and b < MOST_SHIFTED:
        return _SHIFTED[op](a, b, left_bits)
    return None


def real(op: str, a: float, b: float) -> float | None:
    """Return an operation on two numbers of which one is no integer, None for one that has no value."""
    if op in _REAL:
        return _REAL[op](a, b)
    return a / b if op == "/" and b != 0 else None
