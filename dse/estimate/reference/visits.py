"""The visits of one partition: which firing begins one, and what that takes (``semantics``, Visits)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Visitor(Protocol):
    """An actor as its scheduler sees it."""

    def covered(self) -> bool:
        """Return whether the visit that goes on knows of all that the next firing needs."""

    def begin_visit(self) -> None:
        """Look at all FIFOs once."""

    def entry(self) -> int:
        """Return the largest entry of the ends of FIFOs to other cores on which the next firing moves tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerCosts:
    """Ticks; ``polled``: by place, whether a FIFO to another core begins or ends there; ``calls``: a call in vain."""

    calls: tuple[int, ...]
    wake: int
    polled: tuple[bool, ...]


class Scheduler:
    """State: the visit that goes on, if several firings make one, and the largest entry that it has paid.

    ``longest``: firings of a visit at most; 0: each firing is a visit of its own.
    """

    __slots__ = ("_costs", "_longest", "_made", "_paid", "_visitors", "entered", "fresh")

    def __init__(self, *, costs: SchedulerCosts, longest: int, visitors: Sequence[Visitor]) -> None:
        self._costs = costs
        self._longest = longest
        self._visitors = visitors
        self._made = 0
        self._paid = 0
        self.fresh = False
        """Whether the firing that was started last began a visit of several."""
        self.entered = False
        """Whether it began a visit of an actor with a FIFO to another core."""

    def leaves(self, place: int) -> bool:
        """Return whether the visit of an actor that is ready and was at work until now ends since it knows of too
        little: others are looked at first."""
        return 0 < self._made < self._longest and not self._visitors[place].covered()

    def ended(self, firings: int) -> None:
        """Learn that a firing, or a block, has ended."""
        self._made += firings

    def start(self, place: int, last: int, waited: bool) -> int:
        """Return what the start of a firing takes more; ``last``: the place that was at work last, -1: none was.

        ``waited``: the core has done nothing since then.
        """
        stays = place == last and not waited and self._longest > 0
        left = stays and self.leaves(place)
        full = stays and not left
        if full and self._made < self._longest:
            self.fresh = self.entered = False
            return self._touched(place)
        self._begin(place)
        nearby = last < 0 or full
        return self._touched(place) + (0 if nearby else self._found(place, last, waited))

    def _touched(self, place: int) -> int:
        """Return by how much the next firing raises the largest entry of the visit."""
        more = max(self._visitors[place].entry() - self._paid, 0)
        self._paid += more
        return more

    def _begin(self, place: int) -> None:
        self.fresh = self._longest > 0
        self.entered = self._costs.polled[place]
        self._made = self._paid = 0
        if self.fresh:
            self._visitors[place].begin_visit()

    def _found(self, place: int, last: int, waited: bool) -> int:
        """Return what it takes to find a place behind the last one."""
        if waited:
            return self._costs.wake if self._costs.polled[place] else 0
        return self._passed(last, place)

    def _passed(self, last: int, place: int) -> int:
        """Return what it takes to call actors in vain on the way to a place."""
        n = len(self._visitors)
        between = (place - last - 1) % n
        return sum(self._costs.calls[(last + 1 + k) % n] for k in range(between))
