"""What an estimate holds. All times are ticks: ps under clocks, else cycles. Source: ``estimation.md``.

The accounts of actors and buffers are named tuples: an estimate has hundreds of them, and frozen dataclasses would take
ten times as long to make.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

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
            self.scheduling + self.reading + self.processing + self.writing + self.link_waiting
            + self.blocked_reading + self.blocked_writing + self.idle + self.finished
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAccount:
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
    """Why nothing moves, and capacities that would do; ``remedy`` is None when no capacity helps."""

    rows: tuple[DeadlockRow, ...]
    remedy: tuple[int, ...] | None
    """One capacity for each buffer, with which the run completes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiringTimes:
    """Start (enabled) and end of every firing of one actor: shape (n_firings,), int64, ticks."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate of one design point."""

    makespan: int
    tick_unit: TickUnit
    actors: tuple[ActorAccount, ...]
    partitions: tuple[PartitionAccount, ...]
    buffers: tuple[BufferAccount, ...]
    links: tuple[LinkAccount, ...]
    deadlock: Deadlock | None
    firing_times: tuple[FiringTimes, ...] | None = None
