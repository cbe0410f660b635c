"""What the live page shows and changes: a design point, costs that are scaled, and actors that stay where they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dse.model.design_point import DesignPoint
from dse.model.trace import Topology
from dse.model.weights import Cost, SimdCost, WeightTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A design point under change. ``scales``: (actor, action) to the factor of its cost of computing, never 1.

    ``fixed``: the actors that a search leaves on their unit.
    """

    point: DesignPoint
    scales: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    fixed: frozenset[int] = frozenset()

    @property
    def clocks(self) -> tuple[tuple[str, Fraction], ...]:
        """(unit, MHz) of each clock that is chosen, sorted."""
        chosen = {(p.unit, p.clock_mhz) for p in self.point.partitions if p.clock_mhz is not None}
        return tuple(sorted(chosen))


def scaled_weights(weights: WeightTable, topology: Topology, scales: Mapping[tuple[int, int], Fraction]) -> WeightTable:
    """Return weights in which the computing of some actions costs a multiple, on every kind of unit.

    Scheduling and transfers cost what they did: they are not the action's own work.
    """
    if not scales:
        return weights
    by_name = {
        (topology.actors[actor].name, topology.actors[actor].actions[action].name): factor
        for (actor, action), factor in scales.items()
    }
    return replace(
        weights,
        compute={key: _scaled(cost, by_name.get(key[:2])) for key, cost in weights.compute.items()},
        simd={key: _scaled_blocks(cost, by_name.get(key[:2])) for key, cost in weights.simd.items()},
    )


def _scaled(cost: Cost, factor: Fraction | None) -> Cost:
    """Return a cost times a factor; what is known of its spread does not hold any more."""
    if factor is None:
        return cost
    return Cost(
        mean_cycles=cost.mean_cycles * factor,
        frequency_mhz=cost.frequency_mhz,
        per_token_cycles=cost.per_token_cycles,
        origin=cost.origin,
    )


def _scaled_blocks(cost: SimdCost, factor: Fraction | None) -> SimdCost:
    if factor is None:
        return cost
    return replace(cost, block_cycles=tuple(cycles * factor for cycles in cost.block_cycles))
