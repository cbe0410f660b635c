"""What an estimate holds. All times are ticks: ps under clocks, else cycles. Source: ``estimation.md``.

An estimate has hundreds of accounts, of which a search reads one number each. They are therefore named tuples, and an
engine may hand over those of actors and buffers as ``Accounts``, which makes them when they are looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

TickUnit: TypeAlias = Literal["ps", "cycles"]


class ActorAccount(NamedTuple):
    """Where one actor's time went; the nine categories add up to the makespan exactly."""

    scheduling: int
    reading: int
    processing: int
    writing: int
    link_waiting: int
    blocked_reading: int
    blocked_writing: int
    idle: int
    finished: int
    firings: int

    @property
    def total(self) -> int:
        """Sum of the nine categories: the makespan."""
        return (
            self.scheduling
            + self.reading
            + self.processing
            + self.writing
            + self.link_waiting
            + self.blocked_reading
            + self.blocked_writing
            + self.idle
            + self.finished
        )


class PartitionAccount(NamedTuple):
    """Core time of one partition; the six categories add up to ``cores * makespan`` exactly."""

    scheduling: int
    reading: int
    processing: int
    writing: int
    link_waiting: int
    unoccupied: int
    cores: int

    @property
    def busy(self) -> int:
        """Core time that is not unoccupied."""
        return self.scheduling + self.reading + self.processing + self.writing + self.link_waiting


class BufferAccount(NamedTuple):
    """One buffer: largest occupancy (visible and in flight) in tokens, how often and how long it blocked an actor."""

    max_tokens: int
    read_blockings: int
    read_blocked: int
    write_blockings: int
    write_blocked: int


_Account = TypeVar("_Account", bound=tuple[int, ...])


class Accounts(Sequence[_Account], Generic[_Account]):
    """Accounts of one kind, from the rows of an int64 array, shape (n, n_fields). Equal to a tuple of the same ones."""

    __slots__ = ("_kind", "_rows")

    def __init__(self, kind: type[_Account], rows: NDArray[np.int64]) -> None:
        self._kind = kind
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[_Account]:
        return map(tuple.__new__, repeat(self._kind), self._rows.tolist())  # no call of Python for each

    @overload
    def __getitem__(self, index: int) -> _Account: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Account]: ...
    def __getitem__(self, index: int | slice) -> _Account | Sequence[_Account]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, Accounts)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAccount:
    """One link server: ticks it transferred, ticks requests waited, number of transfers."""

    name: str
    busy: int
    waiting: int
    transfers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockRow:
    """One unfinished actor and one buffer that lacks tokens (``kind`` tokens) or space (``kind`` space)."""

    actor: int
    action: int
    buffer: int
    kind: Literal["tokens", "space"]
    have: int
    need: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlock:
    """Why nothing moves, and capacities that would do; ``remedy`` is None when none does, or none was ``sought``."""

    rows: tuple[DeadlockRow, ...]
    remedy: tuple[int, ...] | None
    """One capacity for each buffer, with which the run completes."""
    sought: bool = True
    """Whether a remedy was looked for. Estimates made by the thousand leave that out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiringTimes:
    """Start (enabled) and end of every firing of one actor: shape (n_firings,), int64, ticks."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a search looks at of an estimate: the same integers."""

    makespan: int
    tick_unit: TickUnit
    partitions: tuple[PartitionAccount, ...]
    waiting: tuple[int, ...]
    """For each actor the ticks that it was ready while no core of its partition was free (``ActorAccount.idle``)."""
    deadlock: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate of one design point."""

    makespan: int
    tick_unit: TickUnit
    actors: Sequence[ActorAccount]
    partitions: tuple[PartitionAccount, ...]
    buffers: Sequence[BufferAccount]
    links: tuple[LinkAccount, ...]
    deadlock: Deadlock | None
    firing_times: tuple[FiringTimes, ...] | None = None

    def __repr__(self) -> str:
        ended = "deadlock after" if self.deadlock is not None else "makespan"
        return f"<Estimate: {ended} {self.makespan:,} {self.tick_unit}, {len(self.partitions)} partitions>"

    @property
    def outcome(self) -> Outcome:
        """The part that a search looks at."""
        return Outcome(
            makespan=self.makespan,
            tick_unit=self.tick_unit,
            partitions=self.partitions,
            waiting=tuple(account.idle for account in self.actors),
            deadlock=self.deadlock is not None,
        )
