"""The arithmetic of the language (cal.md 2.0 and 2.1), written once, where Python's own is another.

Integers are unbounded; they wrap where they are stored (model R). Everything that computes with values of a program
calls these functions: evaluation and folding at compile time, C's preprocessor, generated Python code. The integer
functions are plain enough for numba, as long as operands and result fit its 64-bit words.
"""

import math
from array import array

LARGEST_SHIFT = 4096
"""Left shifts by more are shifts by this: no container keeps a bit of the result, and the memory does not fill."""
_SINGLE = array("f", [0.0])


def quotient(a: int, b: int) -> int:
    """Return ``a / b`` truncated toward zero. ``b`` is not 0."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def remainder(a: int, b: int) -> int:
    """Return C's ``a % b``, which has the sign of ``a``. ``b`` is not 0."""
    rest = abs(a) % abs(b)
    return rest if a >= 0 else -rest


def wrap(value: int, bits: int, signed: bool) -> int:
    """Return ``value`` modulo 2^bits, as the container of so many bits holds it in two's complement."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def shift_left(value: int, count: int, left_bits: int) -> int:
    """Return ``value << count``, unbounded; ``left_bits`` is the size of the left operand's static type.

    A count below 0 is masked as a compiled C program does it: to 5 bits, or 6 where the type has more than 32 bits.
    A count of the width or more is not masked.
    """
    if count < 0:
        count &= 63 if left_bits > 32 else 31
    return value << min(count, LARGEST_SHIFT)


def shift_right(value: int, count: int, left_bits: int) -> int:
    """Return ``value >> count``, arithmetic; a count below 0 is masked as by ``shift_left``."""
    if count < 0:
        count &= 63 if left_bits > 32 else 31
    return value >> count


def real(value: int | float) -> float:
    """Return a number as a 64-bit float; an integer beyond its range becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_quotient(a: float, b: float) -> float:
    """Return ``a / b`` of IEEE 754: infinite or not a number for a zero divisor."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def single(value: float) -> float:
    """Return ``value`` rounded to a 32-bit float (through a one-element array: three times quicker than ``struct``)."""
    _SINGLE[0] = value
    return _SINGLE[0]
