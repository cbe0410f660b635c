"""The points that no other one beats in every objective, and how much of the objective space they dominate.

All costs are integers and smaller is better. Hypervolume: Zitzler and Thiele 1998; computed exactly by slicing along
the last objective, which is quick for the two or three objectives of a search.
"""

from collections.abc import Sequence
from typing import TypeAlias

Costs: TypeAlias = tuple[int, ...]


def dominates(a: Costs, b: Costs) -> bool:
    """Return whether ``a`` is nowhere worse than ``b`` and somewhere better."""
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


class ParetoArchive:
    """The non-dominated points among those added, by key. Of points with equal costs the first one added stays."""

    def __init__(self) -> None:
        self._front: dict[int, Costs] = {}

    def add(self, key: int, costs: Costs) -> bool:
        """Add a point; return whether it is on the front now."""
        if any(other == costs or dominates(other, costs) for other in self._front.values()):
            return False
        self._front = {k: other for k, other in self._front.items() if not dominates(costs, other)}
        self._front[key] = costs
        return True

    @property
    def front(self) -> list[tuple[int, Costs]]:
        """Keys and costs of the front, by costs."""
        return sorted(self._front.items(), key=lambda entry: (entry[1], entry[0]))


def hypervolume(front: Sequence[Costs], reference: Costs) -> int:
    """Return the volume of what is dominated by ``front`` and strictly better than ``reference``; exact."""
    inside = [costs for costs in front if all(c < r for c, r in zip(costs, reference, strict=True))]
    if not inside:
        return 0
    if len(reference) == 1:
        return reference[0] - min(costs[0] for costs in inside)
    if len(reference) == 2:
        return _area(inside, reference)
    levels = sorted({costs[-1] for costs in inside})
    volume = 0
    for low, high in zip(levels, (*levels[1:], reference[-1]), strict=True):
        slab = [costs[:-1] for costs in inside if costs[-1] <= low]
        volume += (high - low) * hypervolume(slab, reference[:-1])
    return volume


def _area(inside: Sequence[Costs], reference: Costs) -> int:
    """Return the area that points dominate in two objectives: one strip for each point that lowers the second."""
    area, lowest = 0, reference[1]
    for x, y in sorted(inside):
        if y < lowest:
            area += (reference[0] - x) * (lowest - y)
            lowest = y
    return area
