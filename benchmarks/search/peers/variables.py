"""A mapping as the variables of a black box: one a actor, whose values are the slots that the actor may have."""

import math
from collections.abc import Sequence

import numpy as np

from dse.explore.moves.moves import Position, candidate_of
from dse.explore.space.space import Candidate, Space
from dse.model.study import Evaluation

UNFIT = 1e30
"""The cost of what deadlocks or is no point of the space."""


class Variables:
    """The variables of a space with one policy, one size of each buffer and no clocks."""

    def __init__(self, space: Space) -> None:
        assert len(space.options.policies) == len(space.options.capacities) == 1, "peers choose mappings alone"
        self._space = space
        self.values = [[s for u in units for s in space.slots_of_unit(u)] for units in space.allowed]
        """``values[actor]``: the slots that the actor may have."""

    def __len__(self) -> int:
        return len(self.values)

    def random(self, rng: np.random.Generator) -> list[int]:
        """Return an index of a value for each variable, drawn uniformly."""
        return [int(rng.integers(len(own))) for own in self.values]

    def candidate(self, indices: Sequence[int]) -> Candidate | None:
        """Return the point of the space with these values; None where it has none."""
        slots = tuple(own[index] for own, index in zip(self.values, indices, strict=True))
        return candidate_of(self._space, Position(slots=slots))

    def in_cube(self, at: Sequence[float]) -> list[int]:
        """Return the indices of a place in the unit cube, each axis of which is cut into as many parts as values."""
        return [min(len(own) - 1, max(0, math.floor(x * len(own)))) for own, x in zip(self.values, at, strict=True)]


def cost_of(evaluation: Evaluation | None) -> float:
    """Return what a black box is told."""
    return UNFIT if evaluation is None or evaluation.deadlock else float(evaluation.makespan)
