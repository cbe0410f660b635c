"""A sweep: one prediction at each value of one or two things that vary, such as a size, a stride or the block."""

from dataclasses import dataclass

BY_HAND = "by hand"
"""The kernel of points whose inputs are given by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
    """What varies, as it is called, and its values as they are written."""

    name: str
    values: tuple[str, ...]

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers, None where one of them is none, such as a block."""
        try:
            return tuple(float(value) for value in self.values)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """A prediction. ``values``: of the axes, in their order. ``measured_s``: where somebody measured it.

    ``warps`` are launched and ``transactions`` a request of the longest kernel; ``requests_hz``, the throughput of the
    memory pipeline, only that model has.
    """

    kernel: str
    device: str
    model: str
    values: tuple[str, ...]
    time_s: float
    bottleneck: str
    warps: float
    transactions: float
    requests_hz: float | None = None
    measured_s: float | None = None

    @property
    def error(self) -> float | None:
        """|predicted / measured - 1|."""
        return None if self.measured_s is None else abs(self.time_s / self.measured_s - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The points in the order of kernels, devices, models, the second axis and the first."""

    axes: tuple[SweepAxis, ...]
    points: tuple[SweepPoint, ...]
