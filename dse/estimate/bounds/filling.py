"""What filling and draining a network costs: cores that have too little to do at the beginning and at the end.

A firing takes part in [0, s) with no more than what is left of it when it begins as early as it can, and in the last
t ticks of a run with no more than what it could still do if it had to leave time for all that follows it. The other
work is done in the time between, by all cores: (run - s - t) * cores >= work - done in [0, s) - done in the last t,
for any s and t that together are not longer than the run.
"""

import numpy as np

from dse.estimate.bounds.token_paths import Windows
from dse.estimate.problem.tables import IntArray

PLACES = 512
"""So many times s, and as many t, are looked at: quantiles of where firings may begin, or have to have ended."""


def filling(windows: Windows, *, cores: int, at_least: int) -> int:
    """Return a makespan, in ticks, that no run on so many cores can beat; ``at_least``: one that is known already."""
    made = windows.made
    if not made.any():
        return at_least
    ticks = windows.ticks[made]
    before, filled = _idle(windows.start[made], ticks, cores)
    after, drained = _idle(windows.after[made], ticks, cores)
    most = np.maximum.accumulate(drained)
    room = np.searchsorted(after, at_least - before, side="right") - 1
    fits = room >= 0
    found = int((filled[fits] + most[room[fits]]).max(initial=0))
    return max(at_least, -(-(int(ticks.sum()) + found) // cores))


def _idle(begin: IntArray, ticks: IntArray, cores: int) -> tuple[IntArray, IntArray]:
    """Return ascending times, and the core time up to each that is idle at least, if firings begin no sooner."""
    begins, ends = np.sort(begin, kind="stable"), np.sort(begin + ticks, kind="stable")
    times = np.unique(begins[np.linspace(0, len(begins) - 1, min(PLACES, len(begins))).astype(np.int64)])
    times = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), times]))
    return times, cores * times - (_passed(begins, times) - _passed(ends, times))


def _passed(since: IntArray, times: IntArray) -> IntArray:
    """Return for each time the sum of what has passed since earlier ones; ``since``: ascending."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(since)])
    n = np.searchsorted(since, times, side="left")
    return np.asarray(n * times - sums[n])
