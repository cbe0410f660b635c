"""Loops over the dependencies of a trace: when each firing could begin at the earliest, and by how much it may be late.

``dse.analyse.algorithmic_path`` says what is asked. Firings are numbered through all actors; the dependencies of firing
f stand at ``first[f] .. first[f + 1]``.
"""

import numpy as np

from dse.estimate.kept import kernel

NOTHING = -1
"""In ``through``: the firing waited for nothing. IN_ORDER: for the firing of its actor before."""
IN_ORDER = -2

_I = "int64[::1]"


@kernel([f"int64({_I}, {_I}, {_I}, {_I}, boolean, {_I}, {_I}, {_I})"], error_model="numpy")
def earliest(base, first, source, ticks, in_order, start, through, order):  # ways: a compiled loop
    """Compute when each firing begins if nothing but dependencies keeps it; return how many firings could be made.

    ``base``: shape (n_actors + 1,), the first firing of each actor. ``ticks``: of each firing. ``in_order``: a firing
    waits for that of its actor before, too. ``start``: -1 everywhere, receives ticks; ``through``: the number of the
    dependency that was there last, or a word above; ``order``: the firings, each behind all that it depends on.
    """
    done, n, moved = base[:-1].copy(), 0, True
    while moved:
        moved = False
        for a in range(len(done)):
            while done[a] < base[a + 1]:
                f, time, via, known = done[a], np.int64(0), np.int64(NOTHING), True
                for d in range(first[f], first[f + 1]):
                    s = source[d]
                    known &= start[s] >= 0
                    if known and (via == NOTHING or start[s] + ticks[s] > time):
                        time, via = start[s] + ticks[s], np.int64(d)
                if not known:
                    break
                if in_order and f > base[a] and (via == NOTHING or start[f - 1] + ticks[f - 1] > time):
                    time, via = start[f - 1] + ticks[f - 1], np.int64(IN_ORDER)
                start[f], through[f], order[n] = time, via, f
                done[a] += 1
                n += 1
                moved = True
    return n


@kernel([f"void({_I}, {_I}, {_I}, boolean, {_I}, {_I}, {_I}, int64, {_I})"], error_model="numpy")
def latest(first, source, ticks, in_order, has_before, start, order, length, slack):
    """Compute by how much each firing may begin later without a longer path; ``slack`` receives ticks.

    ``has_before``: 1 where a firing is not the first of its actor. ``length``: of the longest path.
    """
    for f in range(len(start)):
        slack[f] = length - start[f] - ticks[f]
    for i in range(len(order) - 1, -1, -1):
        f = order[i]
        until = start[f] + slack[f]
        for d in range(first[f], first[f + 1]):
            s = source[d]
            slack[s] = min(slack[s], until - start[s] - ticks[s])
        if in_order and has_before[f] == 1:
            slack[f - 1] = min(slack[f - 1], until - start[f - 1] - ticks[f - 1])
