"""What a program tells of the GPU that it used: which card, its clock during the run, and what actors took on it.

Sums of durations are cycles of the clock of a multiprocessor; each duration has one reading of that clock in it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.base.errors import ExecutionError
from dse.measure.action_costs import Spread

MOST_CLOCK_CHANGE = 0.01
"""A run in which the clock of the GPU moved by a larger share is repeated."""
_LEAST_PIECE_NS = 900_000
"""The timer of a card may go in steps of a microsecond: over so long a time that is a thousandth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSum:
    """Durations added up, in cycles; ``squares``: the sum of their squares."""

    count: int = 0
    total: float = 0.0
    least: float = math.inf
    most: float = 0.0
    squares: float = 0.0

    def __add__(self, other: "TimeSum") -> "TimeSum":
        return TimeSum(
            count=self.count + other.count,
            total=self.total + other.total,
            least=min(self.least, other.least),
            most=max(self.most, other.most),
            squares=self.squares + other.squares,
        )

    def without(self, reading: float) -> float:
        """Return the sum without the reading of the clock that is in each duration."""
        return max(self.total - self.count * reading, 0.0)

    def spread(self, reading: float) -> Spread:
        """Return mean, least, most and variance without a reading; of at least one duration."""
        mean = self.total / self.count
        return Spread(
            mean=max(mean - reading, 0.0),
            least=max(self.least - reading, 0.0),
            most=max(self.most - reading, 0.0),
            variance=max(self.squares / self.count - mean**2, 0.0),
            count=self.count,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTimes:
    """What an end of a FIFO took, once a visit: to look how far the other end is, to tell how far this one is."""

    refresh: TimeSum
    publish: TimeSum


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuActorTimes:
    """What an actor took. ``choosing``: by previous action + 1 (0: first of a visit), then action, flat.

    ``phases``: reading, computing and writing of each action, flat. ``leaving``: of visits that fired, from the last
    firing to the test that failed; ``vain``: visits in which nothing fired; ``starting``: initializers.
    """

    actor: int
    choosing: tuple[TimeSum, ...]
    phases: tuple[TimeSum, ...]
    leaving: TimeSum
    vain: TimeSum
    starting: TimeSum


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuClock:
    """The clock of a multiprocessor in a run: its mean rate, the least and the highest over pieces of the run."""

    mhz: float
    least_mhz: float
    most_mhz: float

    @property
    def moved(self) -> float:
        """By what share of the mean rate it moved."""
        return (self.most_mhz - self.least_mhz) / self.mhz


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTimes:
    """What one run tells of the GPU. ``clock`` None: no kernel ran, only FIFOs lay in its memory.

    ``reading``: what reading the clock takes, in cycles. ``ends``: by connection and whether it is the writer's.
    """

    name: str
    capability: str
    emulated: bool
    clock: GpuClock | None
    reading: float
    actors: tuple[GpuActorTimes, ...]
    ends: dict[tuple[int, bool], EndTimes]

    @property
    def card(self) -> str:
        """The card in words: two runs with the same were on GPUs of one kind."""
        return f"{self.name}, compute capability {self.capability}"


def gpu_times(document: dict[str, Any]) -> GpuTimes | None:
    """Return what the document of a run tells of a GPU; None where it used none.

    Raises:
        ExecutionError: the document lacks what this version of dse writes.
    """
    told = document.get("gpu")
    if told is None:
        return None
    try:
        return GpuTimes(
            name=str(told["name"]),
            capability=f"{told['major']}.{told['minor']}",
            emulated=bool(told["emulated"]),
            clock=clock_of(told["clocks"]),
            reading=min((float(clock["reading"]) for clock in told["clocks"]), default=0.0),
            actors=tuple(map(_actor, told["actors"])),
            ends={
                (int(end["connection"]), bool(end["writes"])): EndTimes(
                    refresh=sum_of(end["times"][0]), publish=sum_of(end["times"][1])
                )
                for end in told["ends"]
            },
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        message = f"what the native program tells of the GPU is not understood: {error!r}"
        raise ExecutionError(message, expected="build it again") from error


def _actor(told: dict[str, Any]) -> GpuActorTimes:
    leaving, vain, starting = map(sum_of, told["rest"])
    return GpuActorTimes(
        actor=int(told["actor"]),
        choosing=tuple(map(sum_of, told["choosing"])),
        phases=tuple(map(sum_of, told["phases"])),
        leaving=leaving,
        vain=vain,
        starting=starting,
    )


def sum_of(told: Sequence[float] | None) -> TimeSum:
    """Return a sum as programs tell it: count, sum, least, most, squares; None where nothing was noted."""
    if told is None:
        return TimeSum()
    count, total, least, most, squares = told
    return TimeSum(count=int(count), total=float(total), least=float(least), most=float(most), squares=float(squares))


def clock_of(clocks: Iterable[dict[str, Any]]) -> GpuClock | None:
    """Return the clock of a run: the mean of all groups, the least and the highest piece of any."""
    means, pieces = list[float](), list[float]()
    for clock in clocks:
        cycles = np.array(clock["cycles"], dtype=np.float64)
        ns = np.array(clock["ns"], dtype=np.float64)
        means.append(_mhz(cycles, ns))
        pieces += [_mhz(cycles[a : b + 1], ns[a : b + 1]) for a, b in _pieces(ns)]
    if not means:
        return None
    mhz = sum(means) / len(means)
    return GpuClock(mhz=mhz, least_mhz=min(pieces, default=mhz), most_mhz=max(pieces, default=mhz))


def _pieces(ns: "np.ndarray[Any, np.dtype[np.float64]]") -> list[tuple[int, int]]:
    """Return the first and the last sample of pieces of a run that are long enough to tell the clock."""
    found, first = [], 0
    for k in range(1, len(ns)):
        if ns[k] - ns[first] >= _LEAST_PIECE_NS:
            found.append((first, k))
            first = k
    return found


def _mhz(cycles: "np.ndarray[Any, np.dtype[np.float64]]", ns: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
    if len(ns) < 2 or ns[-1] <= ns[0]:
        raise ValueError("its clock was not measured")
    return float(1e3 * (cycles[-1] - cycles[0]) / (ns[-1] - ns[0]))


def added(runs: Sequence[GpuTimes]) -> GpuTimes:
    """Return the sums of at least one run of the same mapping, with the mean of their clocks."""
    first = runs[0]
    clocks = [run.clock for run in runs if run.clock is not None]
    return GpuTimes(
        name=first.name,
        capability=first.capability,
        emulated=first.emulated,
        clock=_mean_clock(clocks) if clocks else None,
        reading=min(run.reading for run in runs),
        actors=tuple(_added_actors(some) for some in zip(*(run.actors for run in runs), strict=True)),
        ends={
            key: EndTimes(
                refresh=sum((run.ends[key].refresh for run in runs), TimeSum()),
                publish=sum((run.ends[key].publish for run in runs), TimeSum()),
            )
            for key in first.ends
        },
    )


def _mean_clock(clocks: Sequence[GpuClock]) -> GpuClock:
    return GpuClock(
        mhz=sum(clock.mhz for clock in clocks) / len(clocks),
        least_mhz=min(clock.least_mhz for clock in clocks),
        most_mhz=max(clock.most_mhz for clock in clocks),
    )


def _added_actors(some: Sequence[GpuActorTimes]) -> GpuActorTimes:
    return GpuActorTimes(
        actor=some[0].actor,
        choosing=tuple(sum(sums, TimeSum()) for sums in zip(*(times.choosing for times in some), strict=True)),
        phases=tuple(sum(sums, TimeSum()) for sums in zip(*(times.phases for times in some), strict=True)),
        leaving=sum((times.leaving for times in some), TimeSum()),
        vain=sum((times.vain for times in some), TimeSum()),
        starting=sum((times.starting for times in some), TimeSum()),
    )
