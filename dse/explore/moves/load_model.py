"""The load of every slot, kept up to date while actors move: a model of the makespan that costs no simulation.

It adds up computing, scheduling and the least costs of the transfers, as the bounds of a mapping do, and leaves out all
waiting. ``even_out`` brings a mapping to a local optimum of it within milliseconds, ``LoadAnnealer`` beyond that within
tens of milliseconds, in stages if asked: where searches start from.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dse.estimate.bounds.slot_loads import Annealing, LoadCosts, Reach, anneal, even_out
from dse.estimate.problem.tables import IntArray
from dse.explore.method import SearchContext
from dse.explore.moves.construction import cheapest_load, pipeline_order
from dse.explore.space.placement import EdgeCosts
from dse.explore.space.space import Space

SHARPNESS = 8
"""The loads are added to this power: nearly the largest load, yet every slot counts."""
SWEEPS = 20
"""At most so many rounds over all actors; most mappings settle after five."""


class LoadModel:
    """A mapping in raw slots (one an actor) with the load of each slot in ticks."""

    def __init__(self, context: SearchContext, slots: Sequence[int]) -> None:
        self._space = context.space
        self._loads = context.loads
        edges = _edges(context)
        self._edges_of = _edges_of(context)
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
        """Put each actor, in random order, where the loads are the most even; until all stay or so many rounds.

        What is minimised is the sum of the loads to the power of ``SHARPNESS``. An actor does not go back and forth by
        a rounding error.
        """
        slots, load = np.array(self._slots, dtype=np.int64), np.array(self._load, dtype=np.int64)
        where, costs = _slots_of(self._space), _costs(self._space, self._loads, self._edges_of)
        for _ in range(sweeps):
            order = np.asarray(rng.permutation(self._space.n_actors), dtype=np.int64)
            if not even_out(order, slots, load, where=where, costs=costs, share=self._share, sharpness=SHARPNESS):
                break
        self._slots, self._load = slots.tolist(), load.tolist()

    def _count(self, edge: EdgeCosts, sign: int) -> None:
        """Add the transfers of a buffer to the loads, or take them away."""
        source, target = self._slots[edge.source], self._slots[edge.target]
        u, v = self._space.unit_of_slot[source], self._space.unit_of_slot[target]
        if source == target:
            self._load[source] += sign * (edge.write_same[u] + edge.read_same[u])
        else:
            self._load[source] += sign * edge.write_apart[u][v]
            self._load[target] += sign * edge.read_apart[v][u]


class LoadAnnealer:
    """Makes mappings with even loads out of others: much nearer to the best ones than ``even_out`` comes.

    A mapping takes tens of milliseconds, and no simulation.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._where = _slots_of(context.space)
        self._costs = _costs(context.space, context.loads, _edges_of(context))
        self._order = by_start(context)
        self._stages: dict[int, IntArray] = {}

    def annealed(
        self,
        slots: Sequence[int],
        annealing: Annealing,
        *,
        steps: int,
        stages: int = 1,
        actors: Sequence[int] | None = None,
    ) -> tuple[int, ...]:
        """Return the slots of the actors after so many steps; only ``actors`` move, or all. The space need not hold it:
        the number of partitions is not looked at.

        ``stages``: the actors are divided into so many stages, as many in each, by when they can start. Loads that are
        even in each stage keep all cores busy while a pipeline fills and drains.
        """
        return self.prepared(slots, annealing, steps=steps, stages=stages, actors=actors)()

    def prepared(
        self,
        slots: Sequence[int],
        annealing: Annealing,
        *,
        steps: int,
        stages: int = 1,
        actors: Sequence[int] | None = None,
    ) -> Callable[[], tuple[int, ...]]:
        """Return what gives ``annealed``, with all that is random drawn: any thread may call it, once."""
        everyone = range(self._context.space.n_actors)
        movable = np.array(everyone if actors is None else actors, dtype=np.int64)
        found = np.array(slots, dtype=np.int64)
        draws, of_actors = self._context.rng.random((steps, 4)), self._stages_of(stages)

        def made() -> tuple[int, ...]:
            anneal(
                found,
                movable,
                draws,
                stages=of_actors,
                where=self._where,
                costs=self._costs,
                most=max(1, self._context.space.most),
                annealing=annealing,
            )
            return tuple(found.tolist())

        return made

    def _stages_of(self, count: int) -> IntArray:
        """Return the stage of each actor."""
        if count not in self._stages:
            stages = np.empty(len(self._order), dtype=np.int64)
            stages[self._order] = np.arange(len(self._order)) * count // max(1, len(self._order))
            self._stages[count] = stages
        return self._stages[count]


def by_start(context: SearchContext) -> list[int]:
    """Return the actors in the order in which they can start if each does all its work before the next one.

    Each on its fastest unit; buffers against the pipeline order close a cycle and do not count.
    """
    order = pipeline_order(context)
    place = {actor: index for index, actor in enumerate(order)}
    start = [0] * len(order)
    for edge in sorted(context.traffic, key=lambda edge: place[edge.source]):  # the start of the source is known then
        if place[edge.source] < place[edge.target]:
            start[edge.target] = max(start[edge.target], start[edge.source] + cheapest_load(context, edge.source))
    return sorted(order, key=lambda actor: start[actor])


def _edges(context: SearchContext) -> list[EdgeCosts]:
    return [edge for edge in context.placement.edges if edge.source != edge.target]


def _edges_of(context: SearchContext) -> list[list[EdgeCosts]]:
    """Return the buffers of each actor, as far as they have two ends."""
    found: list[list[EdgeCosts]] = [[] for _ in range(context.space.n_actors)]
    for edge in _edges(context):
        found[edge.source].append(edge)
        found[edge.target].append(edge)
    return found


def _costs(space: Space, loads: Sequence[Sequence[int]], edges_of: list[list[EdgeCosts]]) -> LoadCosts:
    """Return the costs as arrays, each buffer once for either end."""
    n_units, sizes = len(space.units), [len(edges) for edges in edges_of]
    ends = [(edge, edge.source == actor) for actor, edges in enumerate(edges_of) for edge in edges]
    apart = (len(ends), n_units, n_units)
    writes = np.array([edge.write_apart for edge, _ in ends], dtype=np.int64).reshape(apart)
    reads = np.array([edge.read_apart for edge, _ in ends], dtype=np.int64).reshape(apart)
    writing = np.array([own for _, own in ends], dtype=bool)[:, None, None]
    same = [(edge.write_same, edge.read_same) for edge, _ in ends]
    return LoadCosts(
        work=np.array(loads, dtype=np.int64).reshape(len(sizes), n_units),
        first=np.cumsum([0, *sizes], dtype=np.int64),
        other=np.array([edge.target if own else edge.source for edge, own in ends], dtype=np.int64),
        same=np.array(same, dtype=np.int64).reshape(len(ends), 2, n_units).sum(axis=1),
        own=np.where(writing, writes, reads),
        their=np.ascontiguousarray(np.where(writing, reads, writes).transpose(0, 2, 1)),
    )


def _slots_of(space: Space) -> Reach:
    units = range(len(space.units))
    return Reach(
        unit=np.array(space.unit_of_slot, dtype=np.int64),
        first=np.array([space.slots_of_unit(u).start for u in units], dtype=np.int64),
        count=np.array([len(space.slots_of_unit(u)) for u in units], dtype=np.int64),
        allowed=np.array([[u in allowed for u in units] for allowed in space.allowed], dtype=bool),
    )
