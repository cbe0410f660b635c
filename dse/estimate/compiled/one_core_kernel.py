"""Firings on one core that may be interrupted: the loop of ``dse.estimate.bounds.one_core``, compiled."""

import numpy as np

from dse.estimate.kept import kernel

_I = "int64[::1]"


@kernel([f"int64({_I}, {_I}, {_I})"], nogil=True, error_model="numpy")
def one_core(begin, ticks, left):  # ways: a compiled loop
    """Return the least of max(start + left) over all schedules of some firings on one core that may be interrupted.

    ``begin``: when each may start at the earliest; ``left``: from its start to the end of the run, if it is not
    interrupted. Of those that may run, the one with the largest ``left - ticks`` does.
    """
    n = len(begin)
    order, rest, tail = np.argsort(begin, kind="mergesort"), ticks.copy(), left - ticks
    heap, size = np.empty(n, dtype=np.int64), 0
    time, found, came, done = 0, 0, 0, 0
    while done < n:
        if size == 0:
            time = max(time, begin[order[came]])
        while came < n and begin[order[came]] <= time:
            f, i = order[came], size
            came, size = came + 1, size + 1
            while i > 0 and tail[heap[(i - 1) // 2]] < tail[f]:
                heap[i] = heap[(i - 1) // 2]
                i = (i - 1) // 2
            heap[i] = f
        f = heap[0]
        if came < n and time + rest[f] > begin[order[came]]:
            rest[f] -= begin[order[came]] - time
            time = begin[order[came]]
            continue
        time, done, size = time + rest[f], done + 1, size - 1
        found = max(found, time + tail[f])
        last, i = heap[size], 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and tail[heap[child + 1]] > tail[heap[child]]:
                child += 1
            if tail[heap[child]] <= tail[last]:
                break
            heap[i] = heap[child]
            i = child
        heap[i] = last
    return found
