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
    start, end = (np.concatenate([of_actor[k] for of_actor in times]) for k in (0, 1))
    order = np.lexsort((end, start))
    free, last = [-1] * cores, [0] * len(times)
    rows = zip(actor[order].tolist(), firing[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True)
    block = (-1, -1, -1)  # firings of one SIMD block are one behind the other here
    for a, k, begin, finish in rows:
        if (a, begin, finish) != block or begin == finish:
            if free[last[a]] > begin:
                last[a] = next(core for core in range(cores) if free[core] <= begin)
            free[last[a]], block = finish, (a, begin, finish)
        found[a][k] = last[a]
    return found
