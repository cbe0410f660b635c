"""Units of the project and the one conversion from cycles to time (``estimation.md``, section Time)."""

from fractions import Fraction

PS_PER_S = 10**12


def round_half_up(value: Fraction) -> int:
    """Return the integer nearest to ``value``, halves up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def clock_hz(clock_mhz: Fraction) -> int:
    """Return a clock in hertz, rounded half up to an integer."""
    return round_half_up(clock_mhz * 10**6)
