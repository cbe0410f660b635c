"""The load of every slot, kept up to date while actors move: a model of the makespan that costs no simulation.

It adds up computing, scheduling and the least costs of the transfers, as the bounds of a mapping do, and leaves out all
waiting. ``even_out`` brings a mapping to a local optimum of it within milliseconds: where searches start from.
"""

from collections.abc import Sequence

import numpy as np

from dse.explore.method import SearchContext
from dse.explore.moves import targets
from dse.explore.placement import EdgeCosts

SHARPNESS = 8
"""The loads are added to this power: nearly the largest load, yet every slot counts."""
SWEEPS = 20
"""At most so many rounds over all actors; most mappings settle after five."""


class LoadModel:
    """A mapping in raw slots (one an actor) with the load of each slot in ticks.

    ``cut_share``: an actor prefers a slot where one buffer less is cut if that raises the sum by no more than this
    share. The least transfer costs do not say what waiting for a token of another partition costs.
    """

    def __init__(self, context: SearchContext, slots: Sequence[int], *, cut_share: float = 0.0) -> None:
        self._space = context.space
        self._loads = context.loads
        self._cut_share = cut_share
        edges = [edge for edge in context.placement.edges if edge.source != edge.target]
        self._edges_of: list[list[EdgeCosts]] = [[] for _ in range(context.space.n_actors)]
        for edge in edges:
            self._edges_of[edge.source].append(edge)
            self._edges_of[edge.target].append(edge)
        self._slots = list(slots)
        self._load = [0] * len(context.space.unit_of_slot)
        for actor, slot in enumerate(self._slots):
            self._load[slot] += self._loads[actor][self._space.unit_of_slot[slot]]
        for edge in edges:
            self._count(edge, 1)
        self._share = max(1.0, sum(self._load) / max(1, self._space.most))

    @property
    def slots(self) -> tuple[int, ...]:
        """The slot of each actor."""
        return tuple(self._slots)

    @property
    def loads(self) -> tuple[int, ...]:
        """The load of each slot in ticks."""
        return tuple(self._load)

    def move(self, actor: int, slot: int) -> None:
        """Put an actor on another slot."""
        unit_of, old = self._space.unit_of_slot, self._slots[actor]
        for edge in self._edges_of[actor]:
            self._count(edge, -1)
        self._load[old] -= self._loads[actor][unit_of[old]]
        self._slots[actor] = slot
        self._load[slot] += self._loads[actor][unit_of[slot]]
        for edge in self._edges_of[actor]:
            self._count(edge, 1)

    def even_out(self, rng: np.random.Generator, sweeps: int = SWEEPS) -> None:
        """Put each actor, in random order, where the loads are the most even; until all stay or so many rounds."""
        for _ in range(sweeps):
            moves = sum(self._settle(actor) for actor in rng.permutation(self._space.n_actors).tolist())
            if not moves:
                return

    def _settle(self, actor: int) -> bool:
        """Put one actor where it is best; returns whether it moved."""
        home = where = self._slots[actor]
        least = self._height(actor) * (1 - 1e-9)  # no move back and forth by a rounding error
        for slot in list(targets(self._space, self.slots, actor)):
            self.move(actor, slot)
            height = self._height(actor)
            if height < least:
                least, where = height, slot
        if self._slots[actor] != where:
            self.move(actor, where)
        return where != home

    def _height(self, actor: int) -> float:
        """Return what is minimised when an actor moves."""
        height = sum((load / self._share) ** SHARPNESS for load in self._load)
        if not self._cut_share:
            return height
        cut = sum(self._slots[edge.source] != self._slots[edge.target] for edge in self._edges_of[actor])
        return height * (1 + self._cut_share * cut)

    def _count(self, edge: EdgeCosts, sign: int) -> None:
        """Add the transfers of a buffer to the loads, or take them away."""
        source, target = self._slots[edge.source], self._slots[edge.target]
        u, v = self._space.unit_of_slot[source], self._space.unit_of_slot[target]
        if source == target:
            self._load[source] += sign * (edge.write_same[u] + edge.read_same[u])
        else:
            self._load[source] += sign * edge.write_apart[u][v]
            self._load[target] += sign * edge.read_apart[v][u]
