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

from dse.explore.method import least_makespan
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import settings_of
from dse.explore.space.placement import EdgeCosts, Spans
from dse.explore.space.space import Assignment, Candidate
from dse.model.study import Evaluation

LEAVES = 8
"""Mappings that are estimated together."""
NEVER = 2**62
"""When the first actor of an empty slot begins."""
NODES_PER_PAUSE = 500
"""Branches between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A placement of the first actors; ``bound``: of every completion. Of each slot: ``loads``, the least ticks of its
    actors; ``begins``, when the first of them can begin; ``after``, what follows the last of them at least."""

    bound: int
    slots: tuple[int, ...]
    used: tuple[int, ...]
    loads: tuple[int, ...]
    begins: tuple[int, ...]
    after: tuple[int, ...]


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
        self._prepare()
        root = _Node(
            bound=self._context.placement.least,
            slots=(),
            used=(0,) * len(self._space.units),
            loads=(0,) * len(self._space.unit_of_slot),
            begins=(NEVER,) * len(self._space.unit_of_slot),
            after=(NEVER,) * len(self._space.unit_of_slot),
        )
        stack = [root]
        leaves: list[Candidate] = []
        visited, pause_at = 0, NODES_PER_PAUSE
        while stack:
            node = stack.pop()
            if self._excluded(node.bound):
                self._pruned += self._permuted.points(len(node.slots), node.used)
            elif len(node.slots) == self._space.n_actors:
                leaves += self._leaf(node)
            else:
                stack += self._children(node)
                visited += 1
            if len(leaves) >= LEAVES or (leaves and not stack) or visited >= pause_at:
                self._learn((yield leaves))
                self._prove(stack)
                leaves = []
                pause_at = visited + NODES_PER_PAUSE
        self._proven = self._best or 0

    def observe(self, evaluations: Sequence[Evaluation]) -> None:
        """Take makespans that another search has found."""
        self._learn(evaluations)

    def _learn(self, results: Sequence[Evaluation]) -> None:
        self._best = least_makespan(results, self._best)

    def _excluded(self, bound: int) -> bool:
        return self._best is not None and bound >= self._best

    def _prove(self, stack: list[_Node]) -> None:
        open_bounds = [node.bound for node in stack] + ([] if self._best is None else [self._best])
        self._proven = max(self._proven, min(open_bounds, default=0))

    def _leaf(self, node: _Node) -> list[Candidate]:
        """Return the points of a complete mapping that its bound does not exclude."""
        slots = [0] * self._space.n_actors
        for actor, slot in zip(self._order, node.slots, strict=True):
            slots[actor] = slot
        assignment = self._space.canonical(tuple(slots))
        assert assignment is not None
        if assignment in self._seen:  # reached before by an exchange of identical actors
            return []
        self._seen.add(assignment)
        points = list(self._space.settings(assignment))
        bounds = self._context.bounds(points)
        kept = [point for point, bound in zip(points, bounds, strict=True) if not self._excluded(bound)]
        self._pruned += len(points) - len(kept)
        return kept

    # The bound --------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Choose the order of the actors and tabulate what each costs at least on each unit."""
        space = self._space
        own = self._least_costs()
        cheapest = [min(own[a][u] for u in space.allowed[a]) for a in range(space.n_actors)]
        self._order = sorted(range(space.n_actors), key=lambda a: (-cheapest[a], a))
        self._permuted = space.reordered(tuple(self._order))
        self._own = [own[a] for a in self._order]
        spans = self._context.placement.spans
        found = Spans(begins=(0,) * len(own), after=(0,) * len(own)) if spans is None else spans()
        self._begins, self._after = ([of[a] for a in self._order] for of in (found.begins, found.after))
        self._seen: set[Assignment] = set()
        self._alike_before = self._alike_in_order()
        self._ties = self._ties_in_order()
        self._rest = [0] * (space.n_actors + 1)
        for depth in reversed(range(space.n_actors)):
            self._rest[depth] = self._rest[depth + 1] + cheapest[self._order[depth]]

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

    def _children(self, node: _Node) -> list[_Node]:
        """Return the placements of the next actor that are not excluded, the most promising last."""
        depth = len(node.slots)
        children: list[_Node] = []
        before = self._alike_before[depth]
        for slot, used in self._permuted.choices(depth, node.used):
            if before is not None and slot < node.slots[before]:
                continue  # another branch has an equivalent mapping: alike actors can be sorted
            ways = self._permuted.completions(depth + 1, used)
            if not ways:
                continue
            child = self._child(node, depth, slot, used)
            if self._excluded(child.bound):
                self._pruned += self._permuted.points(depth + 1, used)
            else:
                children.append(child)
        return sorted(children, key=lambda c: (-c.bound, -max(c.loads), -c.slots[-1]))

    def _child(self, node: _Node, depth: int, slot: int, used: tuple[int, ...]) -> _Node:
        """Return a node with the next actor on a slot.

        A core is busy with any of its actors between when the first of them can begin and what follows the last.
        """
        loads = self._loads_with(node, depth, slot)
        begins, after = list(node.begins), list(node.after)
        begins[slot], after[slot] = min(begins[slot], self._begins[depth]), min(after[slot], self._after[depth])
        bound = node.bound
        if self._context.placement.additive:
            work = -(-(sum(loads) + self._rest[depth + 1]) // self._space.most)
            bound = max(bound, work, max(loads), loads[slot] + begins[slot] + after[slot])
        return _Node(
            bound=bound,
            slots=(*node.slots, slot),
            used=used,
            loads=tuple(loads),
            begins=tuple(begins),
            after=tuple(after),
        )

    def _loads_with(self, node: _Node, depth: int, slot: int) -> list[int]:
        unit_of = self._space.unit_of_slot
        unit = unit_of[slot]
        loads = list(node.loads)
        loads[slot] += self._own[depth][unit]
        for tie in self._ties[depth]:
            other = node.slots[tie.other]
            there = unit_of[other]
            if other == slot:
                loads[slot] += tie.own_same[unit] + tie.other_same[unit]
            else:
                loads[slot] += tie.own_apart[unit][there]
                loads[other] += tie.other_apart[there][unit]
        return loads
