"""What a timeline shows: one run of a network, estimated or measured, with the times of every firing.

Everything is in ticks of whole picoseconds, nanoseconds or cycles; files count nanoseconds (``Timeline.ticks_per_ns``).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.trace import FiringIds, Topology

Ticks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActorTimes:
    """The firings of one actor in their order: int64, ticks, shape (n_made,), none of them falls.

    ``taken``: when the tokens of its inputs have left the FIFOs; ``given``: when those of its outputs take their room.
    ``core``: int32, shape (n_made,), an index into the cores of the timeline. Firings of a SIMD block have equal times.
    ``phases``: when scheduling, reading and processing were over, three arrays; what is left is writing. None: unknown.
    """

    start: Ticks
    end: Ticks
    taken: Ticks
    given: Ticks
    core: NDArray[np.int32]
    phases: tuple[Ticks, Ticks, Ticks] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segments:
    """Stretches of time that a track of its own shows, as the critical path: ticks, shape (n,), in order of time.

    ``name`` and ``because``, shape (n,): indices into ``names`` and ``reasons``; ``firing``: as in ``ActorTimes``.
    """

    track: str
    start: Ticks
    end: Ticks
    name: NDArray[np.int64]
    firing: NDArray[np.int64]
    because: NDArray[np.int64]
    names: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """One run. ``title``: what was run and how, by which it is told from others in one file.

    ``firings``: the actions of the firings of each actor, as in a trace; those behind the ones that ``times`` has were
    never made. ``cores``: names of tracks. ``ticks_per_ns``: 1000 for picoseconds, 1 for nanoseconds, and 1 for cycles,
    of which one is shown as a nanosecond: the ``title`` says so.
    """

    title: str
    topology: Topology
    firings: tuple[FiringIds, ...]
    times: tuple[ActorTimes, ...]
    cores: tuple[str, ...]
    ticks_per_ns: int
    path: Segments | None = None

    @property
    def has_phases(self) -> bool:
        """Whether it is known of all firings what their time went into."""
        return all(times.phases is not None for times in self.times)
