"""The tree of branch and bound: all placements of actors on slots, one actor after the other, depth first.

A node is left out where the costs of what is placed, and the least costs of the rest, reach the best makespan: the load
of each slot, with the transfers between placed actors as they lie and the others at their least, between when the first
of its actors can begin and what follows the last; all work on all slots. The children of a node are looked at by their
bounds, the least first, then by the load of the heaviest slot. Actors are numbered in the order of their placement.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.problem.tables import IntArray

NEVER = 2**62
"""When the first actor of an empty slot begins."""
BEYOND = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreePlaces:
    """Where actors may go. ``unit_of_slot``, ``first_slot`` (of each unit); ``allowed``: shape (n_actors, n_units).

    A *use* is how many slots of each unit are used: ``counts[use, unit]``. ``opens[use, unit]``: the use with one more,
    -1 where there is none; ``feasible[n, use]``: whether n actors can be placed so that the others find places.
    ``alike``: of each actor one placed before whose slot may not be behind its own, or -1. Use 0 is that of no slot.
    """

    unit_of_slot: IntArray
    first_slot: IntArray
    allowed: NDArray[np.bool_]
    counts: IntArray
    opens: IntArray
    feasible: NDArray[np.bool_]
    alike: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeTies:
    """Buffers from each actor to those placed before: costs of both ends beyond the least, in ticks.

    The entries ``first[a]`` to ``first[a + 1]`` belong to actor a. ``own_same[t, u]``, ``own_apart[t, u, v]``: of the
    actor's end, it on unit u and the other on v; ``other_*`` alike, of the other's end, first its own unit.
    """

    first: IntArray
    other: IntArray
    own_same: IntArray
    other_same: IntArray
    own_apart: IntArray
    other_apart: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeCosts:
    """What actors cost at least, in ticks. ``own``: shape (n_actors, n_units); ``rest[n]``: of all but the first n.

    ``begins``, ``after``: when each can begin, and how long the run goes on behind it. ``additive``: the loads of the
    actors of a slot add up. ``most``: so many slots share the work. ``least``: a bound of all placements.
    """

    own: IntArray
    rest: IntArray
    begins: IntArray
    after: IntArray
    ties: TreeTies
    additive: bool
    most: int
    least: int


class PlacementTree:
    """A walk through the tree, which goes on where it stopped."""

    def __init__(self, places: TreePlaces, costs: TreeCosts) -> None:
        from dse.estimate.compiled.tree_kernel import DEPTH, UNBEGUN  # late: numba takes half a second

        n, n_slots = len(costs.own), len(places.unit_of_slot)
        ties = costs.ties
        self._least = costs.least
        self._problem = (
            places.allowed, places.first_slot, places.counts, places.opens, places.feasible, places.alike,
            costs.additive, costs.most, costs.rest, (places.unit_of_slot, costs.own),
            (ties.first, ties.other, ties.own_same, ties.other_same, ties.own_apart, ties.other_apart),
            (costs.begins, costs.after),
        )  # fmt: skip
        self._progress = np.zeros(2, dtype=np.int64)
        self._progress[DEPTH] = UNBEGUN
        self._cursor, self._slots, self._used = (np.zeros(n, dtype=np.int64) for _ in range(3))
        self._children = (
            np.zeros(n, dtype=np.int64),
            *(np.zeros((n, n_slots), dtype=np.int64) for _ in range(3)),
        )
        self._state = (
            np.zeros((n + 1, n_slots), dtype=np.int64),
            *(np.full((n + 1, n_slots), NEVER, dtype=np.int64) for _ in range(2)),
        )
        self._excluded = np.zeros((n + 1, len(places.counts)), dtype=np.int64)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to look at."""
        from dse.estimate.compiled.tree_kernel import DEPTH, DONE  # late: numba takes half a second

        return int(self._progress[DEPTH]) == DONE

    def walk(self, best: int | None, *, nodes: int, leaves: int) -> tuple[int, IntArray]:
        """Look at so many nodes at most; return their number, and the complete placements found, at most ``leaves``.

        Shape (n, n_actors), the slot of each actor. ``best``: nodes whose bound is not below are left out.
        """
        from dse.estimate.compiled.tree_kernel import LEAVES, walk  # late: numba takes half a second

        found = np.empty((leaves, len(self._slots)), dtype=np.int64)
        visited = walk(
            self._least, BEYOND if best is None else best, nodes, self._progress, self._cursor, self._slots, self._used,
            self._children, self._state, self._problem, self._excluded, found,
        )  # fmt: skip
        return visited, found[: self._progress[LEAVES]]

    def take_excluded(self) -> list[tuple[int, int, int]]:
        """Return what was left out since the last call: actors placed, use, and how many such nodes."""
        where = np.nonzero(self._excluded)
        counts = self._excluded[where].tolist()
        self._excluded[where] = 0
        return list(zip(*(index.tolist() for index in where), counts, strict=True))

    @property
    def least_open(self) -> int:
        """The least bound of the nodes that are yet to be looked at; ``BEYOND`` where there are none."""
        from dse.estimate.compiled.tree_kernel import DEPTH, UNBEGUN, least_open  # late: numba takes half a second

        depth = int(self._progress[DEPTH])
        return self._least if depth == UNBEGUN else int(least_open(depth, self._cursor, self._children))
