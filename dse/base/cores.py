"""The cores of this machine."""

import os


def usable_cores() -> tuple[int, ...]:
    """Return the numbers of the cores that this process may use, sorted."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))
