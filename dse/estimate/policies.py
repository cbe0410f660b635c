"""Scheduling policies: which of the ready actors of a partition fires next (``semantics``, section Policies).

Actors are named by their place in the partition order. A policy sees which places are ready and keeps its own memory;
it never sees time, so that a choice cannot depend on anything that the semantics leave out.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from dse.base.registry import Registry
from dse.model.design_point import Partition, Policy

NONE_READY = -1


class PolicyState(Protocol):
    """The memory of one partition's policy during one estimate."""

    hears_ends: ClassVar[bool]
    """Whether ``ended`` has to be called."""

    def choose(self, ready: Sequence[bool]) -> int:
        """Return the place to fire next and remember it, or ``NONE_READY``."""

    def leave(self, place: int) -> None:
        """Learn that the visit of a place is over, although it is ready."""

    def ended(self, successors: Sequence[int], predecessors: Sequence[int]) -> None:
        """Learn that a firing ended; both lists hold places that are ready now, in buffer order."""


def search_cyclically(ready: Sequence[bool], start: int) -> int:
    """Return the first ready place at or behind ``start``, cyclically, or ``NONE_READY``."""
    for place in range(start, len(ready)):
        if ready[place]:
            return place
    for place in range(start):
        if ready[place]:
            return place
    return NONE_READY


class _Deaf:
    """Part of the policies that do not follow the ends of firings."""

    hears_ends: ClassVar[bool] = False

    def ended(self, successors: Sequence[int], predecessors: Sequence[int]) -> None:
        """Ignore the end of a firing."""

    def leave(self, place: int) -> None:
        """Ignore it: another policy than NON_PREEMPTIVE does not stay."""


class NonPreemptive(_Deaf):
    """The current actor as long as it is ready, then the next ready one behind it."""

    def __init__(self, partition: Partition, finished: Callable[[int], bool]) -> None:  # noqa: ARG002  (one signature)
        self._current = 0
        self._size = len(partition.actors)

    def leave(self, place: int) -> None:
        """Search from behind it."""
        self._current = (place + 1) % self._size

    def choose(self, ready: Sequence[bool]) -> int:
        """Search from the current place."""
        place = search_cyclically(ready, self._current)
        if place != NONE_READY:
            self._current = place
        return place


class RoundRobin(_Deaf):
    """The next ready actor behind the one chosen last. Also FULL_PARALLEL, where every ready actor is chosen."""

    def __init__(self, partition: Partition, finished: Callable[[int], bool]) -> None:  # noqa: ARG002  (one signature)
        self._next = 0
        self._size = len(partition.actors)

    def choose(self, ready: Sequence[bool]) -> int:
        """Search from behind the last choice."""
        place = search_cyclically(ready, self._next)
        if place != NONE_READY:
            self._next = (place + 1) % self._size
        return place


class DataDemandDriven(RoundRobin):
    """A queue of actors that recent firings fed or starved; round robin where it is empty."""

    hears_ends: ClassVar[bool] = True

    def __init__(self, partition: Partition, finished: Callable[[int], bool]) -> None:
        super().__init__(partition, finished)
        self._queue: deque[int] = deque()

    def ended(self, successors: Sequence[int], predecessors: Sequence[int]) -> None:
        """Append the ready successors, then the ready predecessors, without duplicates."""
        for place in (*successors, *predecessors):
            if place not in self._queue:
                self._queue.append(place)

    def choose(self, ready: Sequence[bool]) -> int:
        """Take the first entry that is still ready and drop those before it."""
        while self._queue:
            place = self._queue.popleft()
            if ready[place]:
                self._next = (place + 1) % self._size
                return place
        return super().choose(ready)


class StaticOrder(_Deaf):
    """A cyclic list of actors; waits for the next unfinished one even when others are ready."""

    def __init__(self, partition: Partition, finished: Callable[[int], bool]) -> None:
        self._order = [partition.actors.index(actor) for actor in partition.static_order]
        self._finished = finished
        self._next = 0

    def choose(self, ready: Sequence[bool]) -> int:
        """Return the next unfinished place of the list if it is ready."""
        for _ in self._order:
            place = self._order[self._next]
            if ready[place]:
                self._next = (self._next + 1) % len(self._order)
                return place
            if not self._finished(place):
                return NONE_READY
            self._next = (self._next + 1) % len(self._order)
        return NONE_READY


_POLICIES = Registry(
    "policy",
    {
        "NON_PREEMPTIVE": "dse.estimate.policies:NonPreemptive",
        "ROUND_ROBIN": "dse.estimate.policies:RoundRobin",
        "DATA_DEMAND_DRIVEN": "dse.estimate.policies:DataDemandDriven",
        "FULL_PARALLEL": "dse.estimate.policies:RoundRobin",
        "STATIC_ORDER": "dse.estimate.policies:StaticOrder",
    },
)


def policy_state(policy: Policy, partition: Partition, finished: Callable[[int], bool]) -> PolicyState:
    """Return the fresh memory of a partition's policy; ``finished`` tells whether a place has no firings left."""
    state: PolicyState = _POLICIES.load(policy)(partition, finished)
    return state
