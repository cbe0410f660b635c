"""C's arithmetic for executed kernels: what Python and numba would do otherwise.

The functions are plain Python that compiled code may call. Operations on integers are those of ``passes.arithmetic``,
in 64 bits and with an answer for what has none in C, so that made-up data cannot stop an execution.
"""

import math

from dse.gpu.trace.cache import compilable
from dse.passes import arithmetic

_WORD_BITS = 64
_quotient = compilable(arithmetic.quotient)
_remainder = compilable(arithmetic.remainder)
_wrap = compilable(arithmetic.wrap)
_shift_left = compilable(arithmetic.shift_left)
_shift_right = compilable(arithmetic.shift_right)


@compilable
def divide(a, b):
    """Integer division truncating toward zero; 0 for a division by zero."""
    return _quotient(a, b) if b != 0 else 0


@compilable
def remainder(a, b):
    """The remainder of ``divide``."""
    return _remainder(a, b) if b != 0 else a


@compilable
def wrap(value, bits, signed):
    """Reduce an integer to its type."""
    return _wrap(value, bits, signed) if bits < _WORD_BITS else value


@compilable
def shift_left(value, count, left_bits):
    """A left shift; nothing is left in 64 bits of what is shifted by as many."""
    return _shift_left(value, count, left_bits) if count < _WORD_BITS else 0


@compilable
def shift_right(value, count, left_bits):
    """A right shift."""
    return _shift_right(value, min(count, _WORD_BITS - 1), left_bits)


@compilable
def divide_float(a, b):
    """Floating division; 0 for a division by zero, so that a made-up input cannot stop the execution."""
    return a / b if b != 0.0 else 0.0


def in_word(value: int) -> int:
    """Return an integer of the source as the 64 bits that stand for it, which numpy and compiled code count with."""
    return arithmetic.wrap(value, _WORD_BITS, True)


@compilable
def truncate(value):
    """A floating value as an integer, toward zero; 0 where there is none."""
    return int(value) if -9e18 < value < 9e18 else 0


@compilable
def element(data, at):
    """An element; 0 outside."""
    return data[at] if 0 <= at < data.size else data.dtype.type(0)


@compilable
def root(x):
    """Square root; 0 of a negative number."""
    return math.sqrt(x) if x > 0 else 0.0


@compilable
def logarithm(x):
    """Natural logarithm; 0 where there is none."""
    return math.log(x) if x > 0 else 0.0


@compilable
def power(x, y):
    """``x`` to the power ``y``; 0 where there is none."""
    return math.pow(x, y) if x > 0 else 0.0


@compilable
def exponential(x):
    """e to the power ``x``, bounded."""
    return math.exp(min(x, 700.0))
