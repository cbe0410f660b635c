"""Which core of a partition made which firing: an estimate knows how many are busy, not which.

A firing goes to the core that its actor was on last if that is free, else to the first one that is; one is always free.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.report.timeline.timeline import Ticks


def cores_of_firings(times: Sequence[tuple[Ticks, Ticks]], cores: int) -> list[NDArray[np.int32]]:
    """Return the core, 0 to ``cores - 1``, of each firing of some actors; ``times``: their starts and ends.

    At no time more of them may be under way than there are cores.
    """
    if cores == 1:
        return [np.broadcast_to(np.int32(0), len(start)) for start, _ in times]
    found = [np.zeros(len(start), dtype=np.int32) for start, _ in times]
    actor = np.repeat(np.arange(len(times)), [len(start) for start, _ in times])
    firing = np.concatenate([np.arange(len(start)) for start, _ in times])
    start, end = (np.concatenate(list(column)) for column in zip(*times, strict=True))
    order = np.lexsort((end, start))
    chooser = _Chooser(cores, len(times))
    rows = zip(actor[order].tolist(), firing[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True)
    for a, k, begin, finish in rows:
        found[a][k] = chooser.core_of(a, begin, finish)
    return found


class _Chooser:
    """Gives firings their cores, in the order of time."""

    def __init__(self, cores: int, actors: int) -> None:
        self._free = [-1] * cores
        self._last = [0] * actors
        self._block = (-1, -1, -1)

    def core_of(self, actor: int, start: int, end: int) -> int:
        """Return the core of the next firing; those of one SIMD block come one behind the other."""
        last = self._last[actor]
        if (actor, start, end) == self._block and start < end:
            return last
        if self._free[last] > start:
            last = self._last[actor] = next(core for core, free in enumerate(self._free) if free <= start)
        self._free[last], self._block = end, (actor, start, end)
        return last
