"""Numbers that people write, in files and on the command line: one function for each kind, each with its bounds.

Only ASCII digits are numbers, without underscores or blanks inside. Nothing is computed from a text that is too long,
so that ``1e999999999`` costs nothing; what has no end (``nan``, ``inf``) is no number. Decimal numbers stay exact.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

_INTEGER = re.compile(r"[+-]?[0-9]{1,100}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)
_ANY_NUMBER = re.compile(r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MAX_CHARACTERS = 1000
MOST_COUNTED = (1 << 63) - 1
"""The most that a count may be: it fits 64 bits with a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a number above 0 may be, in a unit. Sums, products and quotients of a few such numbers stay finite."""

    least: Fraction = Fraction(1, 10**30)
    most: Fraction = Fraction(10**30)
    unit: str = ""

    def holds(self, value: Fraction) -> bool:
        """Return whether a number is 0 or between the bounds."""
        return value == 0 or self.least <= abs(value) <= self.most

    def __str__(self) -> str:
        return f"{_plain(self.least)} to {_plain(self.most)}{self.unit and ' '}{self.unit}"


def _plain(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and value < 10**15 else f"{float(value):g}"


ANY_NUMBER = Bounds()
MOST_MHZ = 100_000
"""No clock is faster: above it the unit of the number is mistaken."""
CLOCK_MHZ = Bounds(least=Fraction(1, 10**6), most=Fraction(MOST_MHZ), unit="MHz")
POWER_WATT = Bounds(least=Fraction(1, 10**9), most=Fraction(10**9), unit="W")
LATENCY_NS = Bounds(least=Fraction(1, 10**9), most=Fraction(10**12), unit="ns")
BANDWIDTH_GB_S = Bounds(least=Fraction(1, 10**9), most=Fraction(10**9), unit="GB/s")
MEMORY_BYTES = Bounds(least=Fraction(1), most=Fraction(1 << 60), unit="bytes")
CORES = Bounds(least=Fraction(1), most=Fraction(1 << 16), unit="cores")
EXPONENT = Bounds(least=Fraction(1), most=Fraction(16))
DEVICE_CONSTANT = Bounds(least=Fraction(1, 10**15), most=Fraction(10**15))


def parse_decimal(text: str) -> Fraction | None:
    """Return the exact value of a decimal number such as ``2900``, ``12.5`` or ``1e-3``, or None if it is not one."""
    bare = text.strip()
    if len(bare) > _MAX_CHARACTERS or not _DECIMAL.fullmatch(bare):
        return None
    return Fraction(bare)


def is_out_of_range(text: str) -> bool:
    """Return whether a text is a number that ``parse_decimal`` refuses for its digits or its exponent."""
    return parse_decimal(text) is None and _ANY_NUMBER.fullmatch(text.strip()) is not None


def parse_integer(text: str) -> int | None:
    """Return the value of an integer; ``512.0`` is one too, since tools print counts as floats. None if it is not."""
    value = parse_decimal(text)
    return int(value) if value is not None and value.denominator == 1 else None


def integer_from(text: str, *, least: int, most: int) -> int | None:
    """Return the integer that a text of digits is, or None if it is none or not from ``least`` to ``most``."""
    bare = text.strip()
    value = int(bare) if _INTEGER.fullmatch(bare) else None
    return value if value is not None and least <= value <= most else None


def shortened(text: str) -> str:
    """Return a text cut to a length that fits a message."""
    return text if len(text) <= 40 else text[:37] + "..."


MOST_DIGITS = 4_000
"""Longer integers are not written in full: Python refuses to read or write more than 4,300 digits."""


def short_count(number: int) -> str:
    """Return a count in full, or by its power of ten where it is long."""
    return f"{number:,}" if number < 10**9 else f"10^{power_of_ten(number)}"


def about_count(number: int) -> str:
    """Return ``short_count``, and that a power of ten is not the whole number."""
    return short_count(number) if number < 10**9 else f"about {short_count(number)}"


def json_count(number: int) -> int | str:
    """Return a count as JSON has it: a number, or words where it has more than ``MOST_DIGITS`` digits.

    The mappings of five thousand actors on 64 cores are a number of nine thousand digits.
    """
    return number if number < 10**MOST_DIGITS else about_count(number)


def power_of_ten(number: int) -> int:
    """Return the largest k with 10**k <= ``number``, which is above 0, without writing the number down."""
    found = (number.bit_length() - 1) * 30_102 // 100_000
    while 10 ** (found + 1) <= number:
        found += 1
    return found
