"""Exact decimal numbers in text files, both ways. Weights are rationals (estimation.md, Time): no float in between."""

import re
from fractions import Fraction

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)
_MAX_CHARACTERS = 1000
PLACES = 12
"""Decimal places of numbers that do not end, such as a third; all others are written exactly."""


def parse_decimal(text: str) -> Fraction | None:
    """Return the exact value of a decimal number such as ``2900``, ``12.5`` or ``1e-3``, or None if it is not one."""
    bare = text.strip()
    if len(bare) > _MAX_CHARACTERS or not _DECIMAL.fullmatch(bare):
        return None
    return Fraction(bare)


def parse_integer(text: str) -> int | None:
    """Return the value of an integer; ``512.0`` is one too, since tools print counts as floats. None if it is not."""
    value = parse_decimal(text)
    return int(value) if value is not None and value.denominator == 1 else None


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
