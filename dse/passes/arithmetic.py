"""The integer arithmetic of programs, each operation once: what folding, analyses, interpreters and generators mean.

Values are unbounded integers; they are wrapped where they are stored.
"""


def wrap(value: int, bits: int, signed: bool) -> int:
    """Return the integer of ``bits`` bits that has the low bits of ``value``."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def quotient(a: int, b: int) -> int:
    """Return ``a / b`` truncated toward zero."""
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


def remainder(a: int, b: int) -> int:
    """Return what ``quotient`` leaves: it has the sign of ``a``."""
    return a - quotient(a, b) * b


def shift_left(value: int, count: int, left_bits: int) -> int:
    """Return ``value`` shifted left. A count below 0 is masked as the processors do, by the width of the left type."""
    return value << (count if count >= 0 else count & (31 if left_bits <= 32 else 63))


def shift_right(value: int, count: int, left_bits: int) -> int:
    """Return ``value`` shifted right, its sign kept. A count below 0 is masked as in ``shift_left``."""
    return value >> (count if count >= 0 else count & (31 if left_bits <= 32 else 63))
