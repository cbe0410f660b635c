"""What the timed program recorded, as columns: visits, firings that were timed singly, visits in vain.

Steps are those of the counter that the program read (``dse.measure.counter`` knows its rate); moments are readings of
it, durations differences. Nothing here is corrected: what reading the counter costs is still inside.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dse.model.trace import FiringIds

_Number = TypeVar("_Number", bound=np.generic)


class CounterKind(IntEnum):
    """The counter that was read."""

    TSC = 1
    CNTVCT = 2
    NANOSECONDS = 3


UNKNOWN_STEPS = 0xFFFFFFFF
"""A duration that was not measured."""
SATURATED_STEPS = 0xFFFFFFFE
"""A duration of this length or more."""


MOST_VAIN = 0x7F
"""So many visits in vain, or more; in the records all bits of the number."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Visits:
    """Visits of a scheduler to actors in which something fired, in order of time; all arrays of shape (n_visits,).

    Where all are recorded, the firings of the visits of an actor, one after the other over all threads, are its trace.
    ``ending``: 0 the budget of firings was spent, 1 tokens were lacking, 2 room was, 3 anything else; ``before``: the
    same of the visit of that actor before, recorded or not. ``follows``: the visit before it on its thread is recorded.
    ``first``: the number of its first firing in the trace of the actor, where not all are recorded. ``vain``: visits of
    the same thread in which nothing fired since the one before, or since the thread began to wait; 127 where there were
    more. ``apart``: the thread waited since then, the visit before is not recorded, or the program made room for its
    records, so that the time between the two is not the scheduler's. ``vain_readings``: readings of the counter in each
    visit in vain, one where several threads ran or not all visits are recorded.
    """

    actor: NDArray[np.uint16]
    start: NDArray[np.uint64]
    end: NDArray[np.uint64]
    firings: NDArray[np.uint32]
    ending: NDArray[np.uint8]
    before: NDArray[np.uint8]
    follows: NDArray[np.bool_]
    first: NDArray[np.uint64]
    vain: NDArray[np.uint8]
    apart: NDArray[np.bool_]
    vain_readings: int

    @property
    def behind(self) -> NDArray[np.bool_]:
        """Whether each visit follows the one before it at once, shape (n_visits,)."""
        found = ~self.apart
        found[:1] = False
        return found

    @property
    def steps(self) -> NDArray[np.float64]:
        """How long each visit took, in counter steps, shape (n_visits,): from the end of the one before it.

        The time between two visits is that of the scheduler, which found its way to the second one; what visits in
        vain took is inside. Where the thread waited, a visit is from its own start.
        """
        since = np.where(self.behind, np.roll(self.end, 1), self.start)
        return (self.end - since).astype(np.float64)

    @property
    def readings(self) -> NDArray[np.int64]:
        """How many readings of the counter are inside ``steps``, shape (n_visits,)."""
        return np.where(self.behind, 2 + self.vain_readings * self.vain.astype(np.int64), 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Singles:
    """Firings that were timed one by one, in order of time; all arrays of shape (n_singles,), durations in steps.

    ``firing`` is the position in the actor's trace; ``choosing`` may be ``UNKNOWN_STEPS``.
    """

    actor: NDArray[np.uint16]
    action: NDArray[np.uint16]
    firing: NDArray[np.int64]
    chosen: NDArray[np.uint64]
    choosing: NDArray[np.uint32]
    reading: NDArray[np.uint32]
    computing: NDArray[np.uint32]
    writing: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fruitless:
    """Visits in which nothing fired, added up for each actor; all arrays of shape (n_rows,), durations in steps."""

    actor: NDArray[np.uint32]
    visits: NDArray[np.uint64]
    steps: NDArray[np.uint64]
    least: NDArray[np.uint64]
    most: NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThreadSamples:
    """What one thread recorded. ``core``: the one it was bound to, None where it was not."""

    partition: int
    core: int | None
    visits: Visits
    singles: Singles
    fruitless: Fruitless


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """What one run recorded: ``start`` and ``end`` are the counter at both ends of the run, ``run_ns`` its length.

    ``every``: of the visits of a thread one in so many is recorded, in the mean.
    """

    counter: CounterKind
    start: int
    end: int
    run_ns: int
    threads: tuple[ThreadSamples, ...]
    every: int = 1

    @property
    def steps_per_ns(self) -> float:
        """The rate of the counter during the run, from the same two moments on both clocks."""
        return (self.end - self.start) / self.run_ns if self.run_ns else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActorVisits:
    """The visits of one actor that are recorded, with what they fired, in the order of its trace; n visits, k actions.

    ``steps``, ``readings``, ``ending``, ``before``, ``thread``, ``start``, ``end``: shape (n,), as in ``Visits``,
    ``start`` is when the actor was called; ``row``: shape (n,), the place among the visits of the thread; ``first``:
    shape (n,), the position in the trace of the first firing; ``counts``: shape (n, k), int32, how often each action
    fired.
    """

    actor: int
    steps: NDArray[np.float64]
    readings: NDArray[np.int64]
    ending: NDArray[np.uint8]
    before: NDArray[np.uint8]
    thread: NDArray[np.int64]
    row: NDArray[np.int64]
    start: NDArray[np.uint64]
    end: NDArray[np.uint64]
    first: NDArray[np.int64]
    counts: NDArray[np.int32]

    def taken(self, reading: float) -> NDArray[np.float64]:
        """Return how long each visit took without the readings of the counter, shape (n,), in counter steps.

        ``reading``: what one takes.
        """
        return np.maximum(self.steps - reading * self.readings, 0.0)

    def inside(self, reading: float) -> NDArray[np.float64]:
        """Return how long each visit took from its own start to its own end, shape (n,), in counter steps.

        ``reading``: what the one reading of the counter takes that is inside.
        """
        return np.maximum((self.end - self.start).astype(np.float64) - reading, 0.0)

    @property
    def firings(self) -> NDArray[np.int64]:
        """The number of firings of each visit, shape (n,)."""
        total: NDArray[np.int64] = self.counts.sum(axis=1)
        return total


def visits_of_actor(samples: Samples, actor: int, ids: FiringIds, actions: int) -> ActorVisits:
    """Return the visits of one actor; ``ids``: its trace, of ``actions`` different ones.

    Raises ``ValueError`` where the visits do not have as many firings as the trace, or firings that it has not.
    """
    found = [
        (t, thread.visits, np.flatnonzero(thread.visits.actor == actor)) for t, thread in enumerate(samples.threads)
    ]
    start = np.concatenate([visits.start[rows] for _, visits, rows in found])
    order = np.argsort(start, kind="stable")  # an actor is at work on one thread at a time

    def column(of: Callable[[Visits], NDArray[_Number]]) -> NDArray[_Number]:
        return np.concatenate([of(visits)[rows] for _, visits, rows in found])[order]

    firings = column(lambda visits: visits.firings).astype(np.int64)
    if samples.every == 1:
        first, last = np.cumsum(firings) - firings, int(firings.sum())
    else:
        first = column(lambda visits: visits.first).astype(np.int64)
        last = max(int((first + firings).max(initial=0)), len(ids))
    if last != len(ids):
        raise ValueError(f"its visits have {last} firings, its trace has {len(ids)}")
    return ActorVisits(
        actor=actor,
        steps=column(lambda visits: visits.steps),
        readings=column(lambda visits: visits.readings),
        ending=column(lambda visits: visits.ending),
        before=column(lambda visits: visits.before),
        thread=np.concatenate([np.full(len(rows), t) for t, _, rows in found])[order],
        row=np.concatenate([rows for _, _, rows in found])[order],
        start=start[order],
        end=column(lambda visits: visits.end),
        first=first,
        counts=_counts(ids, first, firings, actions),
    )


def _counts(ids: FiringIds, first: NDArray[np.int64], firings: NDArray[np.int64], actions: int) -> NDArray[np.int32]:
    """Return how often each action fired in each visit, shape (n_visits, actions)."""
    visit = np.repeat(np.arange(len(first), dtype=np.int64), firings)
    firing = np.arange(len(visit)) + np.repeat(first - (np.cumsum(firings) - firings), firings)
    cells = np.bincount(visit * actions + ids[firing], minlength=len(first) * actions)
    return cells.astype(np.int32).reshape(len(first), actions)
