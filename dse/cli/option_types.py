"""Types of arguments that are numbers, for ``type=`` of argparse; which numbers make sense, their owners check."""

import argparse
import re

from dse.base.numbers import MOST_COUNTED, integer_from, shortened

_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?", re.ASCII)
_ENDLESS = ("nan", "inf", "-inf")
_MOST_CHARACTERS = 1000


def option_integer(text: str) -> int:
    """Return an integer for an option: the ``type`` of an argument. Its owner checks whether it is large enough."""
    value = integer_from(text, least=-MOST_COUNTED, most=MOST_COUNTED)
    if value is not None:
        return value
    if text.strip().lstrip("+-").isdecimal() and text.isascii():
        raise argparse.ArgumentTypeError(f"{shortened(text)} is beyond measure: expected at most {MOST_COUNTED}")
    raise argparse.ArgumentTypeError(f"invalid int value: '{shortened(text)}'")


def option_real(text: str) -> float:
    """Return a number for an option: the ``type`` of an argument. Its owner checks sign and size, and that it ends."""
    if len(text) > _MOST_CHARACTERS or not (_REAL.fullmatch(text.strip()) or text.strip().lower() in _ENDLESS):
        raise argparse.ArgumentTypeError(f"invalid float value: '{shortened(text)}'")
    return float(text)
