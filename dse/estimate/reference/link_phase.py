"""The reads or the writes of one firing where some of them have to ask a shared link; part of the actor's state."""

from bisect import insort
from collections.abc import Callable

from dse.estimate.reference.atomic import PASSIVE
from dse.estimate.reference.firing import Transfer, TransferPlan
from dse.estimate.reference.link import Client


class LinkPhase:
    """State: the ends that are known, the requests that are unanswered, and in sequential mode the next request.

    ``link_waiting`` and ``moving`` split the length of the phase when it is over. In parallel mode the phase is
    charged as the transfer that ended last was, the first in buffer order where several did.
    """

    __slots__ = (
        "_client",
        "_critical",
        "_known",
        "_next",
        "_next_time",
        "_on_end",
        "_parallel",
        "_transfers",
        "_unanswered",
        "link_waiting",
        "moving",
    )

    def __init__(
        self, plan: TransferPlan, client: Client, on_end: Callable[[Transfer, int], None], *, parallel: bool
    ) -> None:
        self._transfers = plan.transfers
        self._client = client
        self._on_end = on_end
        self._parallel = parallel
        self._known: list[tuple[int, int]] = []
        self._unanswered = 0
        self._next = len(plan.transfers)
        self._next_time = PASSIVE
        self._critical = (PASSIVE, 0)
        self.link_waiting = self.moving = 0

    def begin(self, now: int) -> None:
        """Begin the phase: all transfers together, or the first up to one that asks the link."""
        if not self._parallel:
            self._go_on(0, now)
            return
        for index, transfer in enumerate(self._transfers):
            if transfer.server is None:
                insort(self._known, (now + transfer.ticks, index))
            else:
                self._ask(index, now)

    def step(self, now: int) -> None:
        """Make everything that is due."""
        while self._known and self._known[0][0] == now:
            self._end(self._known.pop(0)[1], 0, now)
        if self._next_time == now:
            self._next_time = PASSIVE
            self._ask(self._next, now)

    def served(self, index: int, waited: int, now: int) -> None:
        """A transfer over the link has ended."""
        self._unanswered -= 1
        self._end(index, waited, now)
        if not self._parallel:
            self._go_on(index + 1, now)

    @property
    def due(self) -> int:
        """Time of the next step, or ``PASSIVE`` while all depends on the link."""
        return self._known[0][0] if self._known else self._next_time

    @property
    def finished(self) -> bool:
        """Whether all transfers have ended."""
        return not self._known and not self._unanswered and self._next_time == PASSIVE

    def _go_on(self, index: int, time: int) -> None:
        """Sequential mode: compute the ends from transfer ``index`` on up to the next that asks a link."""
        while index < len(self._transfers):
            transfer = self._transfers[index]
            if transfer.server is not None:
                self._next, self._next_time = index, time
                return
            time += transfer.ticks
            self._known.append((time, index))
            index += 1

    def _ask(self, index: int, now: int) -> None:
        transfer = self._transfers[index]
        assert transfer.server is not None, "only transfers with a server ask"
        self._unanswered += 1
        transfer.server.request(self._client, index, transfer.fifo.index, transfer.ticks, now)

    def _end(self, index: int, waited: int, now: int) -> None:
        transfer = self._transfers[index]
        if not self._parallel:
            self.link_waiting += waited
            self.moving += transfer.ticks
        elif (now, -index) > self._critical:
            self._critical = (now, -index)
            self.link_waiting, self.moving = waited, transfer.ticks
        self._on_end(transfer, now)
