"""Runs of a program with actors on a GPU: those in which its clock moved are marked, and made again.

Nobody but the user locks a clock. A clock that moves within a run is seen there; one that differs from run to run is
compared with the middle run.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dse.base.errors import ExecutionError
from dse.measure.gpu_times import MOST_CLOCK_CHANGE, GpuClock, GpuTimes
from dse.measure.runs import RunRecord

_TRIES = 3
"""So many times as many runs are made as are wanted, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRuns:
    """Runs of one mapping. ``records``: those that count; ``repeated``: how many were made again.

    ``unsteady``: how many of those that count had a clock that moved, as no better ones came.
    """

    records: tuple[RunRecord, ...]
    repeated: int
    unsteady: int

    @property
    def times(self) -> tuple[GpuTimes, ...]:
        """What the runs tell of the GPU."""
        return tuple(times_of(record) for record in self.records)


def times_of(record: RunRecord) -> GpuTimes:
    """Return what a run tells of the GPU. Raises ``ExecutionError`` where it tells nothing of it."""
    if record.gpu is None:
        raise ExecutionError("the native program does not tell of the GPU", expected="build it again")
    return record.gpu


def steady_runs(run: Callable[[], RunRecord], wanted: int) -> GpuRuns:
    """Make runs until as many as are ``wanted`` had a steady clock. Raises ``ExecutionError`` where one fails."""
    made = [run() for _ in range(wanted)]
    while len(_steady(made)) < wanted and len(made) < _TRIES * wanted:
        made.append(run())
    good = _steady(made)
    moved = [record for record in made if record not in good]
    chosen = (*good, *moved)[:wanted]
    unsteady = max(0, wanted - len(good))
    return GpuRuns(records=chosen, repeated=len(made) - wanted, unsteady=unsteady)


def _steady(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs whose clock did not move, and was that of most of them."""
    clocks = [times_of(record).clock for record in records]
    rates = [clock.mhz for clock in clocks if clock is not None]
    usual = statistics.median(rates) if rates else 0.0
    return [record for record, clock in zip(records, clocks, strict=True) if clock is None or is_steady(clock, usual)]


def is_steady(clock: GpuClock, usual_mhz: float) -> bool:
    """Return whether a clock did not move by more than ``MOST_CLOCK_CHANGE``, within its run and from the usual one."""
    return clock.moved <= MOST_CLOCK_CHANGE and abs(clock.mhz / usual_mhz - 1) <= MOST_CLOCK_CHANGE
