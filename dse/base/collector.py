"""What Python's cycle collector need not look at."""

import contextlib
import gc
import multiprocessing
from collections.abc import Iterator


def set_apart() -> None:
    """Have the collector leave out from now on what there is, in a process that is somebody's worker.

    To scan all that a worker of a cluster holds takes tens of ms, 5 % of its time with short traces. What of it has no
    use any more, and a cycle, is kept from then on; in the process of a user nothing changes, therefore.
    """
    if multiprocessing.parent_process() is not None:
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
