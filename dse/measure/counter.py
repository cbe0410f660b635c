"""The counter that profiles are read from: how fast it runs, how it steps, what reading it costs."""

from dataclasses import dataclass

from dse.measure.samples import CounterKind

LONG_READINGS = 40.0
"""An action is timed singly where it takes so many times longer than a reading or a step of the counter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterFacts:
    """What was measured of a counter. ``hz``: its rate by the monotonic clock of the system.

    ``step``: the least difference of two readings that differ; ``cost``: what one reading takes, both in counts.
    """

    kind: CounterKind
    hz: float
    step: float
    cost: float

    @property
    def long_steps(self) -> float:
        """The least duration, in counts, that is timed singly: four readings are then at most a tenth of it."""
        return LONG_READINGS * max(self.step, self.cost, 1.0)

    @property
    def mhz(self) -> float:
        """The rate in MHz."""
        return self.hz / 1e6
