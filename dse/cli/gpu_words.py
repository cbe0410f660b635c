"""Words of the command line that several verbs of ``dse gpu`` read."""

import re

from dse.base.errors import OptionError
from dse.flows.kernels import Block

GREATEST = 1e15
"""No time in milliseconds and no number of requests is above this, or below one over it."""
C_SUFFIXES = (".c", ".h", ".cu", ".cl")


def parse_block(text: str) -> Block:
    """Return the block of ``32x32``, ``256`` or ``8x8x4``. Raises ``OptionError``."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"[1-9][0-9]{0,5}", part) for part in parts):
        raise OptionError(f"block '{text}' is not understood", expected="threads in x, y and z: 256, 32x32, 8x8x4")
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def positive(value: float | None, option: str) -> float | None:
    """Return a value that is above 0 and no wild number. Raises ``OptionError``."""
    if value is not None and not 0 < value < float("inf"):
        raise OptionError(f"{option} is {value:g}", expected="a number above 0")
    if value is not None and not 1 / GREATEST <= value <= GREATEST:
        raise OptionError(f"{option} is {value:g}", expected=f"a number from {1 / GREATEST:g} to {GREATEST:g}")
    return value
