"""Measured run times of mappings, apart for each state of the machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTimes:
    """How long a mapping ran while the machine was in one state, in nanoseconds: median and quartiles of its runs.

    ``state``: in words, such as "near"; empty where the program crossed no cores.
    """

    state: str
    median_ns: float
    lower_ns: float
    upper_ns: float
    runs: int

    @property
    def spread(self) -> float:
        """The distance of the quartiles as a share of the median."""
        return (self.upper_ns - self.lower_ns) / self.median_ns if self.median_ns else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """What running a design point gave: its times in each state of the machine, the one with the most runs first.

    ``skipped``: why it was not run, or what was wrong with its runs; else empty. ``discarded``: runs that do not count,
    since the state of the machine changed; where all are, there are no times. ``stalls``: how often its threads slept
    beside waiting for tokens, in the median of its runs.
    """

    times: tuple[StateTimes, ...] = ()
    skipped: str = ""
    discarded: int = 0
    stalls: float = 0.0

    @property
    def missing(self) -> str:
        """Why there are no times, in words; empty where there are."""
        if self.times:
            return ""
        return self.skipped or f"the state of the machine changed in all of its {self.discarded} runs"

    def in_state(self, state: str) -> StateTimes | None:
        """Return the times in a state, or those of a program that crosses no cores; None where there are none."""
        return next((t for t in self.times if t.state in (state, "")), None)
