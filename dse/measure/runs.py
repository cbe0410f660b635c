"""What it means to run a program for a measurement: the order, the record, and the seam to whatever runs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from dse.measure.gpu_times import GpuTimes
from dse.measure.machine import RoundTrip, State, state_of

FifoChoice: TypeAlias = Literal["host", "special", "pinned"]
"""Where FIFOs lie: those of actors on a GPU as if they might cross, in its memory, or all as if they might cross."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """How a program is to be run. ``mapping``: an XCF, None: all on one core in the usual schedule.

    ``records``: where the timed program writes its records, ``trace``: where the firings go, ``singly``: (actor,
    action) that are timed one by one; all only of the timed program. ``every``: of the visits of each thread the timed
    program records one in so many. ``hashed``: the result has what the tokens were
    and not only how many, which takes time. ``fifos``: None: as a program has them that knows no GPU. ``singular``: on
    a GPU actions fire one by one, as weights tell what they cost; a program of weights does so by itself.
    """

    input: str | None = None
    mapping: Path | None = None
    timed: bool = False
    records: Path | None = None
    trace: Path | None = None
    singly: tuple[tuple[int, int], ...] = ()
    every: int = 1
    hashed: bool = False
    fifos: FifoChoice | None = None
    singular: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorCounts:
    """What the processor counted of all threads of a run, in the program itself and not in the system."""

    cycles: int
    instructions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What a run was. ``run_ns``: first firing to last, without set-up; ``result``: a digest of what it computed.

    ``counts``: cycles and instructions, None where the system does not allow to count. ``cpu_ns``: how long its threads
    had a core, all together, None where the system does not tell: what else runs on the machine makes ``run_ns``
    longer, this hardly. ``switches``: involuntary ones of all threads, ``stalls``: how often threads gave up their core
    beside waiting for tokens, both None where they are not told; ``trips``: of all pairs of cores that it was bound to;
    ``gpu``: None where it used none.
    """

    run_ns: int
    counts: ProcessorCounts | None = None
    result: str
    trips: tuple[RoundTrip, ...]
    switches: int | None = None
    stalls: int | None = None
    cpu_ns: int | None = None
    gpu: GpuTimes | None = None

    @property
    def state(self) -> State | None:
        """The state of the machine during the run, None where it changed or is not known."""
        return state_of(self.trips)


class Program(Protocol):
    """A program that can be run again and again."""

    def run(self, order: RunOrder) -> RunRecord:
        """Run it.

        Raises:
            ExecutionError: it fails, crashes, or takes too long.
        """
