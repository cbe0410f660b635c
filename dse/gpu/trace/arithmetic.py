"""C's arithmetic for executed kernels, compiled: what Python and numba would do otherwise."""

import math

from dse.gpu.trace.cache import compiled

_WORD = (1 << 64) - 1


@compiled
def divide(a, b):
    """Integer division truncating toward zero; 0 for a division by zero."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@compiled
def remainder(a, b):
    """The remainder of ``divide``."""
    return a - divide(a, b) * b


@compiled
def divide_float(a, b):
    """Floating division; 0 for a division by zero, so that a made-up input cannot stop the execution."""
    return a / b if b != 0.0 else 0.0


@compiled
def wrap(value, bits, signed):
    """Reduce an integer to its type."""
    if bits >= 64:
        return value
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def in_word(value: int) -> int:
    """Return an integer of the source as the 64 bits that stand for it, which numpy and compiled code count with."""
    low = value & _WORD
    return low - _WORD - 1 if low >> 63 else low


@compiled
def truncate(value):
    """A floating value as an integer, toward zero; 0 where there is none."""
    return int(value) if -9e18 < value < 9e18 else 0


@compiled
def element(data, at):
    """An element; 0 outside."""
    return data[at] if 0 <= at < data.size else data.dtype.type(0)


@compiled
def root(x):
    """Square root; 0 of a negative number."""
    return math.sqrt(x) if x > 0 else 0.0


@compiled
def logarithm(x):
    """Natural logarithm; 0 where there is none."""
    return math.log(x) if x > 0 else 0.0


@compiled
def power(x, y):
    """``x`` to the power ``y``; 0 where there is none."""
    return math.pow(x, y) if x > 0 else 0.0


@compiled
def exponential(x):
    """e to the power ``x``, bounded."""
    return math.exp(min(x, 700.0))
