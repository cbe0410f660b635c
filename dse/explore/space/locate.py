"""Where a design point stands in a space: the candidate that it is."""

from collections import Counter
from collections.abc import Collection, Sequence

from dse.explore.space.space import Candidate, Space
from dse.model.design_point import DesignPoint


def candidate_at(space: Space, point: DesignPoint) -> Candidate | None:
    """Return the canonical candidate of a point, None where the space does not hold it.

    The clocks of the point have to be the first ones of the space's domains; names of partitions do not matter.
    """
    if (point.release, point.transfers) != (space.options.release, space.options.transfers):
        return None
    policies = {partition.policy for partition in point.partitions}
    mixed = any(unit.policy is not None for unit in space.units)
    policy = 0 if mixed else _index(space.options.policies, policies)
    capacity = _index(space.options.capacities, {point.capacities})
    slots = _slots(space, point)
    if policy is None or capacity is None or slots is None:
        return None
    return space.candidate(slots, policy=policy, capacity=capacity)


def _index(choices: Sequence[object], wanted: Collection[object]) -> int | None:
    """Return where the only one wanted stands among some choices, None where there is no such place."""
    (first, *more) = wanted
    return None if more or first not in choices else choices.index(first)


def _slots(space: Space, point: DesignPoint) -> tuple[int, ...] | None:
    """Return the slot of each actor, None where a partition finds no slot."""
    slots, taken = [-1] * space.n_actors, Counter[int]()
    for partition in point.partitions:
        found = (
            u
            for u, unit in enumerate(space.units)
            if unit.unit == partition.unit and unit.policy in (None, partition.policy) and taken[u] < unit.slots
        )
        unit = next(found, None)
        if unit is None or partition.cores != 1 or partition.clock_mhz != space.clocks.clock_mhz(unit, ()):
            return None
        slot = space.slots_of_unit(unit)[taken[unit]]
        taken[unit] += 1
        for actor in partition.actors:
            slots[actor] = slot
    return tuple(slots)
