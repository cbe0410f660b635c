"""What Python's cycle collector need not look at."""

import contextlib
import gc
from collections.abc import Iterator


def set_apart() -> None:
    """Have the collector leave out from now on what there is: to scan all of a cluster's worker takes tens of ms."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


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
