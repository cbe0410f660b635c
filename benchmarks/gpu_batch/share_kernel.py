"""What one thread of a card does of a batch of points: the burst kernels, for every so many-th point.

The *task* is an array of words, addresses of arrays among them (the words are below). Nothing else tells a thread what
to do, so a test hands the same task to a processor.
"""

from collections.abc import Callable
from typing import Final

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled.burst import BurstKind
from dse.estimate.compiled.burst_kernel import run_point
from dse.estimate.compiled.inner import inner
from dse.estimate.compiled.pointers import int64_pointer, linked_pointer, travelling_pointer, uint16_pointer

N_POINTS: Final = 0
BENCHES: Final = 1
"""Room for the run of each thread at work, ``BENCH_WORDS`` words each."""
BENCH_WORDS: Final = 2
BOARD: Final = 3
"""As ``burst_layout`` says; FIRINGS: the action ids of all firings, 2 bytes each."""
FIRINGS: Final = 4
HEAD: Final = 5
"""What ``follow_points`` calls points; the next four likewise."""
PARTS: Final = 6
MEMBERS: Final = 7
ORDERS: Final = 8
CHOICES: Final = 9
STOP: Final = 10
"""A zero."""
LIMIT: Final = 11
"""The limit itself."""
ENDED: Final = 12
"""Results, as those of ``follow_points``; so are the next three."""
LATEST: Final = 13
SPENT: Final = 14
IDLE: Final = 15
SPREAD: Final = 16
"""Of so many threads that follow each other one is at work: those of a warp would wait for each other."""
TASK_WORDS: Final = 17


@inner
def bench_of(k, thread):
    """Return the address of the bench of a thread."""
    return k[BENCHES] + 8 * (thread // k[SPREAD]) * k[BENCH_WORDS]


@inner
def share(m, k, thread, n_threads):
    """Make the points of a thread, one after the other; none where it is not one of those at work."""
    i, step = thread // k[SPREAD], n_threads // k[SPREAD]
    if i * k[SPREAD] != thread:
        return
    t, f = int64_pointer(k[BOARD]), uint16_pointer(k[FIRINGS])
    ended, latest = int64_pointer(k[ENDED]), int64_pointer(k[LATEST])
    while i < k[N_POINTS]:
        run_point(
            m, t, f, int64_pointer(k[HEAD]), int64_pointer(k[PARTS]), int64_pointer(k[MEMBERS]),
            int64_pointer(k[ORDERS]), int64_pointer(k[CHOICES]), int64_pointer(k[STOP]), k[LIMIT],
            int64_pointer(k[SPENT]), int64_pointer(k[IDLE]), i,
        )  # fmt: skip
        ended[i] = m[at.ENDED]
        latest[i] = m[at.LATEST] >> t[at.SHIFT]
        i += step


@inner
def share_still(task, thread, n_threads):
    """Make the points of a thread in which nothing travels; ``task``: the address of the task."""
    k = int64_pointer(task)
    share(int64_pointer(bench_of(k, thread)), k, thread, n_threads)


@inner
def share_travelling(task, thread, n_threads):
    """As ``share_still``, of points in which tokens travel."""
    k = int64_pointer(task)
    share(travelling_pointer(bench_of(k, thread)), k, thread, n_threads)


@inner
def share_linked(task, thread, n_threads):
    """As ``share_still``, of points in which transfers ask shared links."""
    k = int64_pointer(task)
    share(linked_pointer(bench_of(k, thread)), k, thread, n_threads)


SHARES: Final[dict[BurstKind, Callable[..., None]]] = {
    "still": share_still,
    "travelling": share_travelling,
    "linked": share_linked,
}
