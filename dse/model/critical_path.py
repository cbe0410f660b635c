"""The critical path of a run: the chain of steps, without a gap, that made it take as long as it did."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dse.model.estimate import TickUnit


class SegmentKind(IntEnum):
    """What happens in a segment; the steps of a firing, and tokens, or room, on their way to another core."""

    SCHEDULING = 0
    READING = 1
    PROCESSING = 2
    WRITING = 3
    ARRIVAL = 4


class Cause(IntEnum):
    """Why a segment began when it did, and not earlier: whence the path comes into it.

    Nothing waits on the path itself: where a transfer waited for its link, the path leads to the transfer before.
    """

    START = 0
    """The run begins."""
    STEP = 1
    """The step before of the same firing was over."""
    OWN = 2
    """The firing of the actor before ended."""
    CORE = 3
    """The actor was ready, and a firing of another actor left the core."""
    TOKENS = 4
    """The last tokens of an input came: the FIFO had been empty."""
    ROOM = 5
    """The reader of an output made room: the FIFO had been full."""
    LINK = 6
    """The transfer before on a shared link ended."""
    PUBLISHED = 7
    """The actor published tokens, or room, behind a firing; only of arrivals."""
    LOOK = 8
    """What was published before arrived; only of arrivals."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segments:
    """Segments of a path in the order of time, each from where the one before ends. Arrays of shape (n,), int64.

    A firing that takes no time has one segment of length 0, so that the path can be followed.
    """

    kind: NDArray[np.int64]
    """A ``SegmentKind``."""
    actor: NDArray[np.int64]
    """Of an arrival: who wrote the tokens."""
    firing: NDArray[np.int64]
    """Number among those of its actor; of a SIMD block the first. Of an arrival: behind which they were published."""
    buffer: NDArray[np.int64]
    """What is read, written or on its way; -1 elsewhere."""
    link: NDArray[np.int64]
    """The link server over which it goes (``LinkAccount`` in the order of the estimate); -1 elsewhere."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cause: NDArray[np.int64]
    """A ``Cause``."""
    cause_buffer: NDArray[np.int64]
    """The FIFO of TOKENS and ROOM; -1 elsewhere."""
    waited: NDArray[np.int64]
    """Ticks for which this cause alone kept it from beginning: all else that it needed was there. 0 within a firing."""

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def ticks(self) -> NDArray[np.int64]:
        """Length of each segment."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CriticalPath:
    """The critical path of a run; the lengths of its segments add up to the makespan exactly."""

    makespan: int
    """In ticks; in a deadlock the time of the last event, to which the path leads then."""
    tick_unit: TickUnit
    deadlock: bool
    segments: Segments
