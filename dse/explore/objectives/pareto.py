"""The points that no other one beats in every objective, and how much of the objective space they dominate.

All costs are integers and smaller is better. Hypervolume: Zitzler and Thiele 1998; computed exactly, each point adding
what it dominates alone (While, Bradstreet and Barone 2012): quick for two or three objectives, exponential in their
number.
"""

import math
import operator
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
    ordered = sorted(front_of_costs(inside), reverse=True)  # the worst first: what it shares with the rest is small
    return sum(_exclusive(costs, ordered[place + 1 :], reference) for place, costs in enumerate(ordered))


def _exclusive(costs: Costs, others: Sequence[Costs], reference: Costs) -> int:
    """Return the volume that ``costs`` dominates and none of ``others`` does."""
    whole = math.prod(r - c for c, r in zip(costs, reference, strict=True))
    shared = [tuple(map(max, costs, other)) for other in others]
    return whole - hypervolume(shared, reference)


def front_of_costs(points: Sequence[Costs]) -> list[Costs]:
    """Return the costs that nothing among ``points`` dominates, each once, sorted."""
    found: list[Costs] = []
    for costs in sorted(set(points)):  # whatever dominates a point comes before it
        if not any(all(map(operator.le, other, costs)) for other in found):
            found.append(costs)
    return found


def _area(inside: Sequence[Costs], reference: Costs) -> int:
    """Return the area that points dominate in two objectives: one strip for each point that lowers the second."""
    area, lowest = 0, reference[1]
    for x, y in sorted(inside):
        if y < lowest:
            area += (reference[0] - x) * (lowest - y)
            lowest = y
    return area
