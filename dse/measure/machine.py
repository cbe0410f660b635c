"""The machine during measurements: where cores lie to each other, its load, what was taken from it, its clock.

Virtual cores move: the round trip of a cache line between the same two is some tens of nanoseconds for a while
("near") and some hundreds later ("far"), and a program that crosses cores takes up to twice as long. Every run is
therefore put down to a state by the round trips before and after it; runs whose state changed are left out, and states
are never pooled.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

State: TypeAlias = Literal["near", "far"]
NEAR_NS = 200.0
"""Below it a round trip is near; on one socket it takes 60 to 150 ns, over a slower link 300 to 600."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """The round trip of a cache line between two cores before and after a run, in nanoseconds.

    ``work_ns``: what a round of the same work took the first and the second core before the run, and after it; empty
    where it was not measured.
    """

    cores: tuple[int, int]
    before_ns: float
    after_ns: float
    work_ns: tuple[float, ...] = ()


def state_of(trips: Sequence[RoundTrip]) -> State | None:
    """Return the state of a run by the round trips between its cores; None where it is mixed or was not measured."""
    states = {_state(ns) for trip in trips for ns in (trip.before_ns, trip.after_ns)}
    return states.pop() if len(states) == 1 else None


def _state(round_trip_ns: float) -> State:
    return "near" if round_trip_ns < NEAR_NS else "far"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMoment:
    """What the system said at one moment. Times are of all cores together; None where it does not tell.

    ``stolen_s``: time that other virtual machines got; ``mhz``: the clocks of the cores as the system knows them.
    """

    load: float | None
    stolen_s: float | None
    busy_s: float | None
    mhz: tuple[float, ...]


def machine_moment(proc: Path = Path("/proc")) -> MachineMoment:
    """Return what the system says now; ``proc``: where it says it."""
    load = _text(proc / "loadavg").split()
    seconds = _core_seconds(_text(proc / "stat"))
    clocks = [line for line in _text(proc / "cpuinfo").splitlines() if line.startswith("cpu MHz")]
    return MachineMoment(
        load=float(load[0]) if load else None,
        stolen_s=seconds[_STOLEN] if seconds else None,
        busy_s=sum(seconds) - sum(seconds[k] for k in _UNUSED) if seconds else None,
        mhz=tuple(float(line.split(":")[1]) for line in clocks),
    )


_STOLEN, _UNUSED = 7, (3, 4)
"""Columns of the first line of ``/proc/stat``: stolen time; time without work and time waiting for disks."""


def _core_seconds(stat: str) -> list[float]:
    """Return the times of all cores together in seconds, by kind; empty where the system does not tell."""
    words = stat.partition("\n")[0].split()
    if len(words) <= _STOLEN + 1 or words[0] != "cpu":
        return []
    ticks = os.sysconf("SC_CLK_TCK")
    return [int(word) / ticks for word in words[1:]]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


_MOVED_SHARE = 0.02
"""By more than that the clock must not change during a measurement."""
_LEAST_STOLEN_S = 0.05
"""The system counts in hundredths of a second: less is one step or two."""
_MOST_LOAD = 0.5
"""Above it others were at work when the measurement began, which wants the cores for itself."""


def unsteady(before: MachineMoment, after: MachineMoment, seconds: float) -> tuple[str, ...]:
    """Return in words what was not steady between two moments that lie so many seconds apart."""
    found = []
    if before.load is not None and before.load > _MOST_LOAD:
        found.append(f"the load was {before.load:.2f} at the start: others use the cores")
    stolen = (after.stolen_s or 0.0) - (before.stolen_s or 0.0)
    if stolen > max(_MOVED_SHARE * seconds, _LEAST_STOLEN_S):
        found.append(f"{stolen:.1f} s in {seconds:.0f} s were taken by other virtual machines")
    return (*found, *_moved_clock(before, after))


def _moved_clock(before: MachineMoment, after: MachineMoment) -> list[str]:
    """Return in words how the clock of the first core whose clock moved did that; empty where none moved."""
    pairs = zip(before.mhz, after.mhz, strict=False)
    moved = [(b, a) for b, a in pairs if b > 0 and abs(a / b - 1) > _MOVED_SHARE]
    return [f"the clock moved from {b:.0f} to {a:.0f} MHz" for b, a in moved[:1]]


_SLOWER = 1.15
"""A core whose round of work takes so many times its least shares its units with somebody, or its clock is low."""
_MOST_SLOWER = 0.1
"""A tenth of the looks may be so: interruptions, a clock that has to rise first."""


def uneven_pace(trips: Iterable[RoundTrip]) -> tuple[str, ...]:
    """Return in words that cores took longer for the same work now and then; empty where that was seldom or never.

    Virtual machines share physical cores without a sign of it in load, stolen time or clock.
    """
    of_core: dict[int, list[float]] = {}
    for trip in trips:
        for core, work_ns in zip(trip.cores * 2, trip.work_ns, strict=False):
            of_core.setdefault(core, []).append(work_ns)
    ratios = sorted(ns / min(looks) for looks in of_core.values() for ns in looks)
    slower = sum(ratio > _SLOWER for ratio in ratios)
    if slower <= _MOST_SLOWER * len(ratios):
        return ()
    return (
        f"the same work took the cores up to {ratios[-1]:.1f} times as long, in {slower} of {len(ratios)} looks beside"
        f" the runs more than {_SLOWER} times: others share them, or their clock moves; times are as uneven",
    )


def cpu_model(proc: Path = Path("/proc")) -> str:
    """Return what the system calls its processor; "unknown" where it does not tell."""
    lines = _text(proc / "cpuinfo").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def work_text(trips: Iterable[RoundTrip]) -> str:
    """Return the range of rounds of work in words: ``0.95 to 1.84 ns``; empty where none was measured."""
    values = [ns for trip in trips for ns in trip.work_ns]
    return f"{min(values):.2f} to {max(values):.2f} ns" if values else ""


def trips_text(trips: Iterable[RoundTrip]) -> str:
    """Return the range of round trips in words: ``72 to 110 ns``; empty where there are none."""
    values = [ns for trip in trips for ns in (trip.before_ns, trip.after_ns)]
    return f"{min(values):.0f} to {max(values):.0f} ns" if values else ""
