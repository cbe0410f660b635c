"""Units of the project and the one conversion from cycles to time (``estimation.md``, section Time)."""

from fractions import Fraction

PS_PER_S = 10**12


def half_up(numerator: int, denominator: int) -> int:
    """Return the integer nearest to a quotient, halves up; the denominator is above 0."""
    return (2 * numerator + denominator) // (2 * denominator)


def round_half_up(value: Fraction) -> int:
    """Return the integer nearest to ``value``, halves up."""
    return half_up(value.numerator, value.denominator)


def clock_hz(clock_mhz: Fraction) -> int:
    """Return a clock in hertz, rounded half up to an integer."""
    return half_up(clock_mhz.numerator * 10**6, clock_mhz.denominator)
