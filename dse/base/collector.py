"""Pausing of Python's cycle collector while large trees are built."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cycle collector off inside: syntax trees and IR have no cycles, and scanning them again and again
    doubles the time of a front-end run. Nests.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
