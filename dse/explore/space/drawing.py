"""Large random numbers, as ``numpy.random.Generator.bytes`` draws them, without what that takes for each."""

from collections.abc import Callable
from functools import partial

import numpy as np

FEW_BYTES = 64
"""Longer numbers come sooner from numpy, in 7 to 10 us whatever their length; here each four bytes take 0.4 us."""


def random_numbers(rng: np.random.Generator) -> Callable[[int], int]:
    """Return a function that draws a number of so many bytes: that of ``rng.bytes``, the lowest byte first.

    The generator is as it would be behind that call, whose time goes to the shape of an array. A search that draws a
    mapping draws a number for each actor.
    """
    interface = rng.bit_generator.ctypes
    word: Callable[[], int] = partial(interface.next_uint32, interface.state)

    def number(n_bytes: int) -> int:
        if n_bytes > FEW_BYTES:
            return int.from_bytes(rng.bytes(n_bytes), "little")
        found = 0
        for shift in range(0, 8 * n_bytes, 32):
            found |= word() << shift
        return found & ((1 << 8 * n_bytes) - 1)

    return number
