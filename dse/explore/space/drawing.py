"""Large random numbers, as ``numpy.random.Generator.bytes`` draws them, without what that takes for each."""

from collections.abc import Callable
from functools import partial

import numpy as np


def random_numbers(rng: np.random.Generator) -> Callable[[int], int]:
    """Return a function that draws a number of so many bytes: that of ``rng.bytes``, the lowest byte first.

    The generator is as it would be behind that call, which takes 10 us for nine bytes, most of it for the shape of an
    array, where this takes 2. A search that draws a mapping draws a number for each actor.
    """
    interface = rng.bit_generator.ctypes
    word: Callable[[], int] = partial(interface.next_uint32, interface.state)

    def number(n_bytes: int) -> int:
        found = 0
        for shift in range(0, 8 * n_bytes, 32):
            found |= word() << shift
        return found & ((1 << 8 * n_bytes) - 1)

    return number
