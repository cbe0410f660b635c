"""Branch and bound: the optimum, proven, without looking at most of the space (Land and Doig 1960).

Actors are placed one by one, the heaviest first, in canonical form, so that no two branches hold the same mapping. A
branch ends when the costs of what is placed, and the least costs of the rest, cannot beat the best makespan: the load
of each slot, with the transfers between placed actors as they lie and the others at their least, between when the first
of its actors can begin and what follows the last; all work on all slots; the bounds of the whole space; all at the
fastest clock, where clocks are chosen. What survives to the last actor is estimated. The least bound of the open
branches is proven for the space at every moment, so even a search that is cut short gives a gap.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.estimate.bounds.placement_tree import BEYOND, PlacementTree, TreeCosts, TreePlaces, TreeTies
from dse.estimate.problem.tables import IntArray
from dse.explore.method import least_makespan
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import settings_of
from dse.explore.space.placement import EdgeCosts, Spans
from dse.explore.space.space import Assignment, Candidate
from dse.model.study import Evaluation

LEAVES = 8
"""Mappings that are estimated together."""
LEAVES_AT_ONCE = 64
"""Mappings that are looked for, and bounded, before the first of them is estimated."""
LOADS_PER_PAUSE = 400_000
"""Between two looks at the clock so many loads of slots are computed: some hundredths of a second."""
LEAST_NODES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tie:
    """A buffer from one actor to one that was placed before it: costs of both ends beyond the least, by units.

    ``own_same[u]``, ``own_apart[u][v]``: of the actor's end, it on u and the other on v; ``other_*`` alike, of the
    other's end, first index the other's unit.
    """

    other: int
    own_same: tuple[int, ...]
    own_apart: tuple[tuple[int, ...], ...]
    other_same: tuple[int, ...]
    other_apart: tuple[tuple[int, ...], ...]


class BranchAndBound(Scripted):
    """Depth-first branch and bound; ``exact`` for the best point."""

    exact = True
    patience = None
    ceiling = 0
    _best: int | None = None

    def _script(self) -> Script:
        results = yield settings_of(self._space, constructed(self._context))
        self._learn(results)
        tree = self._tree()
        nodes_per_pause = max(LEAST_NODES, LOADS_PER_PAUSE // len(self._space.unit_of_slot) ** 2)
        visited = 0
        while not tree.done:
            made, found = tree.walk(self._best, nodes=nodes_per_pause - visited, leaves=LEAVES_AT_ONCE)
            visited += made
            self._count_excluded(tree)
            points = self._open_points(found)
            if not points and visited >= nodes_per_pause:
                yield []
                visited = 0
            while points:
                self._learn((yield [point for _, point in points[:LEAVES]]))
                visited, points = 0, self._still_open(points[LEAVES:])
            self._prove(tree)
        self._proven = self._best or 0

    def observe(self, evaluations: Sequence[Evaluation]) -> None:
        """Take makespans that another search has found."""
        self._learn(evaluations)

    def _learn(self, results: Sequence[Evaluation]) -> None:
        self._best = least_makespan(results, self._best)

    def _excluded(self, bound: int) -> bool:
        return self._best is not None and bound >= self._best

    def _prove(self, tree: PlacementTree) -> None:
        least = min(tree.least_open, BEYOND if self._best is None else self._best)
        self._proven = max(self._proven, 0 if least == BEYOND else least)

    def _count_excluded(self, tree: PlacementTree) -> None:
        for placed, use, count in tree.take_excluded():
            self._pruned += count * self._permuted.points(placed, self._uses.used[use])

    def _open_points(self, found: IntArray) -> list[tuple[int, Candidate]]:
        """Return the points of complete mappings that their bounds do not exclude, with these."""
        slots = found[:, self._place_of].tolist()
        if not self._settled:
            return self._still_open(self._bounded([point for of in slots for point in self._points_of(tuple(of))]))
        # Which core of a unit it is does not matter to a bound, and few mappings are left to be put in canonical form.
        left = self._still_open(self._bounded([Candidate(assignment=tuple(of)) for of in slots]))
        return [(bound, point) for bound, raw in left for point in self._points_of(raw.assignment)]

    def _bounded(self, points: list[Candidate]) -> list[tuple[int, Candidate]]:
        return list(zip(self._context.bounds(points), points, strict=True))

    def _still_open(self, points: list[tuple[int, Candidate]]) -> list[tuple[int, Candidate]]:
        """Return those of some points that their bounds do not exclude, and count the others."""
        kept = [(bound, point) for bound, point in points if not self._excluded(bound)]
        self._pruned += len(points) - len(kept)
        return kept

    def _points_of(self, slots: Assignment) -> list[Candidate]:
        """Return the points of a mapping, none if it was reached before by an exchange of identical actors."""
        assignment = self._space.canonical(slots)
        assert assignment is not None
        if self._space.symmetry is not None:
            if assignment in self._seen:
                return []
            self._seen.add(assignment)
        return list(self._space.settings(assignment))

    # The bound --------------------------------------------------------------------------------------------------------

    def _tree(self) -> PlacementTree:
        """Choose the order of the actors and tabulate what each costs at least on each unit."""
        space, placement = self._space, self._context.placement
        own = self._least_costs()
        cheapest = [min(own[a][u] for u in space.allowed[a]) for a in range(space.n_actors)]
        self._order = sorted(range(space.n_actors), key=lambda a: (-cheapest[a], a))
        order = _ints(self._order)
        self._place_of = order.argsort()
        self._permuted = space.reordered(tuple(self._order))
        self._uses = self._permuted.uses()
        options = space.options
        self._settled = len(options.policies) == len(options.capacities) == 1 and not options.clocks
        self._seen: set[Assignment] = set()
        spans = Spans(begins=(0,) * len(own), after=(0,) * len(own)) if placement.spans is None else placement.spans()
        costs = TreeCosts(
            own=_ints(own)[order],
            rest=np.append(_ints(cheapest)[order][::-1].cumsum()[::-1], 0),
            begins=_ints(spans.begins)[order],
            after=_ints(spans.after)[order],
            ties=_tied(self._ties_in_order(), len(space.units)),
            additive=placement.additive,
            most=space.most,
            least=placement.least,
        )
        return PlacementTree(self._places(), costs)

    def _places(self) -> TreePlaces:
        space, uses = self._space, self._uses
        allowed = np.zeros((space.n_actors, len(space.units)), dtype=np.bool_)
        for depth, units in enumerate(self._permuted.allowed):
            allowed[depth, list(units)] = True
        return TreePlaces(
            unit_of_slot=_ints(space.unit_of_slot),
            first_slot=_ints([space.slots_of_unit(u).start for u in range(len(space.units))]),
            allowed=allowed,
            counts=_ints(uses.used).reshape(-1, len(space.units)),
            opens=uses.opens,
            feasible=uses.feasible,
            alike=_ints([-1 if depth is None else depth for depth in self._alike_in_order()]),
        )

    def _least_costs(self) -> list[list[int]]:
        """Return what each actor costs at least on each unit, its ends of buffers included."""
        own = [list(self._context.loads[a]) for a in range(self._space.n_actors)]
        for edge in self._context.placement.edges:
            for u in range(len(self._space.units)):
                own[edge.source][u] += self._least_end(edge, u, write=True)
                own[edge.target][u] += self._least_end(edge, u, write=False)
        return own

    def _alike_in_order(self) -> list[int | None]:
        """Return by depth that of the actor of the same class that is placed last before."""
        found: list[int | None] = [None] * self._space.n_actors
        symmetry = self._space.symmetry
        for members in () if symmetry is None else symmetry.alike:
            depths = sorted(self._order.index(a) for a in members)
            for earlier, later in itertools.pairwise(depths):
                found[later] = earlier
        return found

    def _ties_in_order(self) -> list[list[_Tie]]:
        """Return by depth the buffers to actors that are placed before."""
        ties: list[list[_Tie]] = [[] for _ in self._order]
        depth_of = {actor: depth for depth, actor in enumerate(self._order)}
        for edge in self._context.placement.edges:
            if edge.source != edge.target:
                depth, tie = self._tie(edge, depth_of[edge.source], depth_of[edge.target])
                ties[depth].append(tie)
        return ties

    def _least_end(self, edge: EdgeCosts, unit: int, *, write: bool) -> int:
        """Return the least that one end of a buffer costs on a unit, wherever the other end is."""
        same, apart = (edge.write_same, edge.write_apart) if write else (edge.read_same, edge.read_apart)
        if edge.source == edge.target:
            return same[unit]
        others = self._space.allowed[edge.target if write else edge.source]
        elsewhere = [apart[unit][v] for v in others if v != unit or self._space.units[v].slots > 1]
        return min([*elsewhere, *([same[unit]] if unit in others else [])])

    def _tie(self, edge: EdgeCosts, source: int, target: int) -> tuple[int, _Tie]:
        """Return the depth of the end that is placed last, and the costs beyond the least of both ends."""
        units = range(len(self._space.units))
        write = [self._least_end(edge, u, write=True) for u in units]
        read = [self._least_end(edge, u, write=False) for u in units]
        write_same = tuple(edge.write_same[u] - write[u] for u in units)
        read_same = tuple(edge.read_same[u] - read[u] for u in units)
        write_apart = tuple(tuple(edge.write_apart[u][v] - write[u] for v in units) for u in units)
        read_apart = tuple(tuple(edge.read_apart[u][v] - read[u] for v in units) for u in units)
        if source > target:
            return source, _Tie(
                other=target, own_same=write_same, own_apart=write_apart, other_same=read_same, other_apart=read_apart
            )
        return target, _Tie(
            other=source, own_same=read_same, own_apart=read_apart, other_same=write_same, other_apart=write_apart
        )


def _ints(values: object) -> IntArray:
    return np.array(values, dtype=np.int64)


def _tied(ties: list[list[_Tie]], n_units: int) -> TreeTies:
    """Return ties by depth as arrays."""
    flat = list(itertools.chain.from_iterable(ties))
    square = (-1, n_units, n_units)
    return TreeTies(
        first=np.cumsum([0, *map(len, ties)], dtype=np.int64),
        other=_ints([tie.other for tie in flat]),
        own_same=_ints([tie.own_same for tie in flat]).reshape(-1, n_units),
        other_same=_ints([tie.other_same for tie in flat]).reshape(-1, n_units),
        own_apart=_ints([tie.own_apart for tie in flat]).reshape(square),
        other_apart=_ints([tie.other_apart for tie in flat]).reshape(square),
    )
