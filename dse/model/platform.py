"""Platforms: units, clocks, links. ``formats.md``, section Platform."""

from dataclasses import dataclass
from fractions import Fraction

from dse.model.weights import UnitKind


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

    def unit(self, name: str) -> Unit | None:
        """Return the unit called ``name``, or None."""
        return next((u for u in self.units if u.name == name), None)
