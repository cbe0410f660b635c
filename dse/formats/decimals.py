"""Exact numbers as decimal text; ``dse.base.numbers`` reads them. Weights are rationals: no float in between."""

from fractions import Fraction

PLACES = 12
"""Decimal places of numbers that do not end, such as a third; all others are written exactly."""


def format_decimal(value: Fraction) -> str:
    """Return a number as a plain decimal: exact where it ends, else rounded half up to ``PLACES`` places."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives) if rest == 1 else PLACES
    scaled = (2 * value.numerator * 10**places + value.denominator) // (2 * value.denominator)
    sign, digits = ("-" if scaled < 0 else ""), str(abs(scaled)).rjust(places + 1, "0")
    whole, fraction = (digits[:-places], digits[-places:].rstrip("0")) if places else (digits, "")
    return sign + whole + ("." + fraction if fraction else "")
