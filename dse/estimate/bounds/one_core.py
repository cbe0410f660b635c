"""What some firings take at least that one core makes, each between its own limits.

A core makes one firing at a time, none before it can begin, and the run goes on behind each for what is left of it. If
firings could be interrupted, to make that with the most left behind it first would be best (Jackson's preemptive
schedule; Carlier, *The one-machine sequencing problem*, 1982). Firings may take longer than ``ticks`` and than windows
know: what is left counts from the start of a firing, and the next one on the core is behind it by no less.
"""

from collections.abc import Sequence

import numpy as np

from dse.estimate.bounds.token_paths import Windows
from dse.estimate.problem.tables import IntArray


def on_one_core(windows: Windows, ticks: IntArray, actors: Sequence[int]) -> int:
    """Return the makespan, in ticks, that no run beats with all firings of these actors on one core.

    ``ticks``: of each firing there, numbered as in ``windows``.
    """
    from dse.estimate.compiled.one_core_kernel import one_core  # late: numba takes half a second

    parts = [slice(int(windows.base[a]), int(windows.base[a + 1])) for a in actors]
    columns = (windows.start, ticks, windows.left)
    return int(one_core(*(np.concatenate([column[part] for part in parts]) for column in columns)))
