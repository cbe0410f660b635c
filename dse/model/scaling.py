"""GPU kernels over hardware configurations: measured training sets, and models of how time and power scale.

The notions are those of Wu, Greathouse, Lyashevsky, Jayasena and Chiou, *GPGPU Performance and Power Estimation Using
Machine Learning*, HPCA 2015. A configuration is a number of compute units, a clock of the core (their engine clock) and
one of the memory. Arrays are never changed after they were made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A configuration of a card. ``compute_units`` None: the set does not tell, all have the same."""

    core_mhz: Fraction
    memory_mhz: Fraction
    compute_units: int | None = None

    def __str__(self) -> str:
        clocks = f"{float(self.core_mhz):.11g}/{float(self.memory_mhz):.11g}"
        return clocks if self.compute_units is None else f"{self.compute_units}/{clocks}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingGrid:
    """The configurations of a set: every combination of these, each ascending.

    ``compute_units``: empty where the set does not tell them.
    """

    compute_units: tuple[int, ...]
    core_mhz: tuple[Fraction, ...]
    memory_mhz: tuple[Fraction, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The lengths of the axes: compute units (1 where they are not told), clocks of core and memory."""
        return max(1, len(self.compute_units)), len(self.core_mhz), len(self.memory_mhz)

    def index(self, configuration: Configuration) -> tuple[int, int, int] | None:
        """Return where a configuration is on the axes, None where it is not on the grid."""
        units = self.compute_units or (None,)
        if (
            configuration.compute_units not in units
            or configuration.core_mhz not in self.core_mhz
            or configuration.memory_mhz not in self.memory_mhz
        ):
            return None
        return (
            units.index(configuration.compute_units),
            self.core_mhz.index(configuration.core_mhz),
            self.memory_mhz.index(configuration.memory_mhz),
        )

    def configurations(self) -> Iterator[Configuration]:
        """Yield all configurations, in the order of arrays of ``shape``."""
        for units in self.compute_units or (None,):
            for core in self.core_mhz:
                for memory in self.memory_mhz:
                    yield Configuration(compute_units=units, core_mhz=core, memory_mhz=memory)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScalingSet:
    """Kernels that were measured at every configuration of a grid. ``power_watt``, ``counters``: None without them.

    ``counters``: of the kernels at the base configuration, shape (n_kernels, n_counters), at least 0.
    """

    grid: ScalingGrid
    base: Configuration
    kernels: tuple[str, ...]
    time_ms: Reals
    """shape (n_kernels, *grid.shape)"""
    power_watt: Reals | None
    counter_names: tuple[str, ...] = ()
    counters: Reals | None = None
    notes: tuple[str, ...] = ()
    """What was left out of the files, in words."""

    @property
    def base_index(self) -> tuple[int, int, int]:
        """Where the base configuration is on the grid."""
        found = self.grid.index(self.base)
        assert found is not None, "the base is on the grid"
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classifier:
    """A network with one hidden layer of rectified units and a softmax head, from counters to a cluster.

    Counters go in as (log(1 + x) - ``mean``) / ``deviation``.
    """

    mean: Reals
    deviation: Reals
    hidden: Reals
    """shape (n_counters, n_hidden)"""
    hidden_bias: Reals
    head: Reals
    """shape (n_hidden, n_clusters)"""
    head_bias: Reals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterSet:
    """Clusters of one region of the configurations. ``centroids``: scaling values, shape (n_clusters, n_values).

    ``members``: the training kernels of each cluster. ``classifier``: None with one cluster, or without counters.
    """

    centroids: Reals
    members: tuple[tuple[str, ...], ...]
    classifier: Classifier | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurfaceModel:
    """How one quantity scales. ``by_clocks``: one set for each number of compute units; ``by_units``: over those, at
    the base clocks, None where there is one number only."""

    by_clocks: tuple[ClusterSet, ...]
    by_units: ClusterSet | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScalingModel:
    """A trained model of a card. ``power`` None: the training set has no power. ``source``: what it was trained on."""

    card: str
    source: str
    seed: int
    grid: ScalingGrid
    base: Configuration
    counter_names: tuple[str, ...]
    time: SurfaceModel
    power: SurfaceModel | None

    @property
    def base_index(self) -> tuple[int, int, int]:
        """Where the base configuration is on the grid."""
        found = self.grid.index(self.base)
        assert found is not None, "the base is on the grid"
        return found
