"""Platforms: units, clocks, links. ``formats.md``, section Platform."""

from dataclasses import dataclass, field
from fractions import Fraction

from dse.model.weights import UnitKind

CUBE = 3
"""Power grows with the cube of the clock where the voltage follows it: P = C V^2 f with V in proportion to f.

The usual model of speed scaling (Yao, Demers and Shenker 1995; the cube rule of Brooks et al. 2000).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockScaling:
    """What changing the clock of a unit means. ``range_mhz``: the least and the highest clock, None: not stated.

    The power of a busy core is stated for the clock of the unit, f0. At clock f it is what ``points`` say, (MHz, W)
    pairs, where they say anything; else ``static_watt`` and the rest in proportion to (f / f0) ** ``exponent``:
    ``CUBE``; 1 where the voltage is fixed.
    """

    range_mhz: tuple[Fraction, Fraction] | None = None
    static_watt: Fraction = Fraction(0)
    exponent: int = CUBE
    points: tuple[tuple[Fraction, Fraction], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A processing unit. ``cores`` bounds the partitions a search may place there; a GPU has one.

    ``clock_mhz`` is for weights that carry no clock of their own to be normalised with, and for reports.
    """

    name: str
    kind: UnitKind
    cores: int = 1
    clock_mhz: Fraction | None = None
    device: str | None = None
    partition: str | None = None
    """Fixed partition id of this unit in configuration files (``PG`` for the GPU), or None."""
    power_watt: Fraction | None = None
    memory_bytes: int | None = None
    source: str = ""
    scaling: ClockScaling | None = field(default=None, repr=False)
    """None: as ``ClockScaling()``. Not in ``repr``, which is the identity of platforms that say nothing of it."""

    def power_at(self, clock_mhz: Fraction | None) -> Fraction | None:
        """Return the watts of a busy core (or of the GPU) at a clock, None: the unit's own; None where unknown."""
        if clock_mhz is None:
            return self.power_watt
        scaling = self.scaling or ClockScaling()
        if scaling.points:
            return dict(scaling.points).get(clock_mhz)
        if self.power_watt is None or self.clock_mhz is None:
            return None
        ratio = (clock_mhz / self.clock_mhz) ** scaling.exponent
        return scaling.static_watt + (self.power_watt - scaling.static_watt) * ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between two units. A shared link serves one host transfer at a time; two directions are two servers."""

    name: str
    between: tuple[str, str]
    latency_ns: Fraction = Fraction(0)
    bandwidth_gb_s: Fraction | None = None
    shared: bool = False
    directions: int = 1
    source: str = ""
    emulated: bool = field(default=False, repr=False)
    """Measured on an emulated GPU. Not in ``repr``, which is the identity of platforms whose links are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A platform. Unit order is the declared order."""

    name: str
    units: tuple[Unit, ...]
    links: tuple[Link, ...] = ()
    dynamic_network: bool = False
    """Every buffer that could be placed across is ``host``, as in the dynamic-network binary."""
    gpu_capable: tuple[str, ...] | None = None
    """Names of actors that may run on the GPU, or None for all."""

    @property
    def has_gpu(self) -> bool:
        """Whether a unit is a GPU."""
        return any(unit.kind == "gpu" for unit in self.units)

    @property
    def predicted_gpu(self) -> Unit | None:
        """The first GPU that names a device, so that costs on it can be predicted; None where there is none."""
        return next((unit for unit in self.units if unit.kind == "gpu" and unit.device is not None), None)

    @property
    def cpu_indices(self) -> tuple[int, ...]:
        """The indices of the CPU units."""
        return tuple(index for index, unit in enumerate(self.units) if unit.kind == "cpu")

    @property
    def shared_links(self) -> tuple[Link, ...]:
        """The links that serve one transfer at a time."""
        return tuple(link for link in self.links if link.shared)

    def unit(self, name: str) -> Unit | None:
        """Return the unit called ``name``, or None."""
        return next((u for u in self.units if u.name == name), None)

    def may_use_gpu(self, actor: str) -> bool:
        """Return whether the actor of that name may run on the GPU."""
        return self.gpu_capable is None or actor in self.gpu_capable

    def link_index(self, a: str, b: str) -> int | None:
        """Return the index of the first link between two units, in either direction, or None."""
        return next((i for i, link in enumerate(self.links) if set(link.between) == {a, b}), None)
