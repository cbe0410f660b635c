"""Loops over what firings wait for: the one of their actor before, and others, each from some ticks after its start.

``dse.estimate.bounds.token_paths`` says what is asked and makes the arrays. Firings are numbered through all actors.
Actor a has the waits ``first[a] .. first[a + 1]``. Wait c is for firings of actor ``other[c]``: the i-th firing of a
waits for its firing number ``whom[whom_at[c] + i]`` (-1: for none), until ``delay[delay_at[c] + p]`` ticks after that
has begun, p its ``pair``. The firing itself takes ``ticks[ticks_at[a] + pair]``.
"""

import numpy as np

from dse.estimate.kept import kernel

_I, _N = "int64[::1]", "int32[::1]"
_WAITS = f"Tuple(({_I}, {_I}, {_I}, {_N}))"
_TIMES = f"Tuple(({_I}, {_I}, {_I}, {_I}))"


@kernel([f"int64({_I}, {_N}, {_WAITS}, {_TIMES}, {_I}, {_N})"], nogil=True, error_model="numpy")
def earliest(base, pair, waits, times, start, order):  # ways: a compiled loop
    """Compute the earliest ``start`` of each firing; return how many can be made, ``order`` being their actors."""
    first, other, whom_at, whom = waits
    ticks_at, ticks, delay_at, delay = times
    n = len(base) - 1
    done, end = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    made, moved = 0, True
    while moved:
        moved = False
        for a in range(n):
            while base[a] + done[a] < base[a + 1]:
                time, known = end[a], True
                for c in range(first[a], first[a + 1]):
                    i, s = whom[whom_at[c] + done[a]], other[c]
                    if i >= done[s]:
                        known = False
                        break
                    if i >= 0:
                        f = base[s] + i
                        time = max(time, start[f] + delay[delay_at[c] + pair[f]])
                if not known:
                    break
                f = base[a] + done[a]
                start[f] = time
                end[a] = time + ticks[ticks_at[a] + pair[f]]
                order[made] = a
                done[a] += 1
                made += 1
                moved = True
    return made


@kernel([f"void({_I}, {_N}, {_WAITS}, {_TIMES}, {_N}, {_I})"], nogil=True, error_model="numpy")
def remaining(base, pair, waits, times, order, left):
    """Compute the ticks ``left`` from the start of each firing in ``order`` to the last end, all waits considered."""
    first, other, whom_at, whom = waits
    ticks_at, ticks, delay_at, delay = times
    done = np.zeros(len(base) - 1, dtype=np.int64)
    left[:] = 0
    for j in range(len(order)):
        done[order[j]] += 1
    for j in range(len(order) - 1, -1, -1):
        a = order[j]
        done[a] -= 1
        f = base[a] + done[a]
        left[f] = max(left[f], ticks[ticks_at[a] + pair[f]])
        if done[a] > 0:
            left[f - 1] = max(left[f - 1], ticks[ticks_at[a] + pair[f - 1]] + left[f])
        for c in range(first[a], first[a + 1]):
            i = whom[whom_at[c] + done[a]]
            if i >= 0:
                g = base[other[c]] + i
                left[g] = max(left[g], delay[delay_at[c] + pair[g]] + left[f])


@kernel([f"void({_I}, {_N}, {_WAITS}, {_TIMES}, {_I}, int64, int64, {_I}, {_I})"], error_model="numpy")
def count_back(base, pair, waits, times, start, a, f, whole, ways):  # ways: a compiled loop
    """Count what is on a longest path that ends with firing ``f`` of actor ``a``.

    ``whole``: like ``ticks``, how many firings the path goes through to their end; ``ways``: like ``delay``, how many
    it leaves by a wait.
    """
    first, other, whom_at, whom = waits
    ticks_at, ticks, delay_at, delay = times
    whole[ticks_at[a] + pair[f]] += 1
    while start[f] > 0:
        i, found = f - base[a], False
        if i > 0 and start[f - 1] + ticks[ticks_at[a] + pair[f - 1]] == start[f]:
            f, found = f - 1, True
            whole[ticks_at[a] + pair[f]] += 1
        for c in range(first[a], first[a + 1]):
            if not found and whom[whom_at[c] + i] >= 0:
                g = base[other[c]] + whom[whom_at[c] + i]
                if start[g] + delay[delay_at[c] + pair[g]] == start[f]:
                    ways[delay_at[c] + pair[g]] += 1
                    a, f, found = other[c], g, True
                    break
        if not found:
            return
