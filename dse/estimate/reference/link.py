"""The atomic model of a link server: it serves host transfers, one at a time if the link is shared."""

import heapq
from typing import Protocol

from dse.estimate.reference.atomic import PASSIVE


class Client(Protocol):
    """What makes requests: an actor."""

    key: tuple[int, int]

    def served(self, transfer: int, waited: int, now: int) -> None:
        """Learn that transfer number ``transfer`` of the reads or writes under way has ended."""


class LinkModel:
    """State: the queue of requests, ordered by (request time, partition, actor, buffer), and the transfer served.

    Transfers over a link that is not shared take their time without asking; it only counts them.
    """

    __slots__ = ("_client", "_end", "_queue", "_transfer", "_waited", "busy", "key", "transfers", "waiting")

    def __init__(self, *, index: int) -> None:
        self.key = (index, 0)
        self._queue: list[tuple[int, tuple[int, int], int, int, int, Client]] = []
        self._client: Client | None = None
        self._transfer = self._waited = 0
        self._end = PASSIVE
        self.busy = self.waiting = self.transfers = 0

    @property
    def wants_grant(self) -> bool:
        """Whether the server is free and somebody waits."""
        return self._client is None and bool(self._queue)

    def carry(self, ticks: int) -> None:
        """Count a transfer that did not have to ask."""
        self.busy += ticks
        self.transfers += 1

    def request(self, client: Client, transfer: int, buffer: int, ticks: int, now: int) -> None:
        """A transfer asks for the link."""
        heapq.heappush(self._queue, (now, client.key, buffer, transfer, ticks, client))

    def grant(self, now: int) -> None:
        """Begin to serve the first of the queue; in the phase of grants."""
        requested, _, _, self._transfer, ticks, self._client = heapq.heappop(self._queue)
        self._waited = now - requested
        self._end = now + ticks
        self.busy += ticks
        self.waiting += self._waited
        self.transfers += 1

    def time_advance(self, now: int) -> int:
        """Return the time to the end of the transfer."""
        return PASSIVE if self._client is None else self._end - now

    def internal(self, now: int) -> None:
        """The transfer ends: tell its actor, and be free."""
        client = self._client
        assert client is not None, "a link ends a transfer that it never began"
        self._client = None
        client.served(self._transfer, self._waited, now)
