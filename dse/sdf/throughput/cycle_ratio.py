"""The maximum ratio of a cycle, sum of ``length`` over sum of ``height``, in a strongly connected graph; exact.

Policy iteration (Howard; Cochet-Terrasson, Cohen, Gaubert, McGettrick and Quadrat, "Numerical computation of spectral
elements in max-plus algebra", IFAC SSC 1998; Dasdan, "Experimental analysis of the fastest optimum cycle ratio and mean
algorithms", ACM TODAES 9(4), 2004). It runs in floating point first; its last policy is where it begins again in whole
numbers, so that it ends with a proof: potentials which no edge exceeds, and a cycle that meets them.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
_Numbers: TypeAlias = NDArray[Any]
"""float64, int64, or whole numbers of Python where int64 is too small."""
_TOLERANCE = 1e-11
_MOST_FLOAT_ROUNDS = 200
_LARGEST = 1 << 61


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioGraph:
    """Edges of a strongly connected graph, sorted by tail; every node has one at least.

    ``length``: int64. The height of edge e is ``steps[e] / scale[e]``; both int64, ``scale`` above 0.
    """

    n_nodes: int
    tail: IntArray
    head: IntArray
    length: IntArray
    steps: IntArray
    scale: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumCycle:
    """The largest ratio, and the edges of a cycle that has it, in order.

    ``ratio`` None: the cycle has no height, or one below 0, so that no ratio is large enough.
    """

    ratio: Fraction | None
    edges: tuple[int, ...]


class RatioSearch:
    """A policy, one outgoing edge for each node, and what it says. A cycle of no height has no ratio.

    ``nearly`` improves it in floating point and ``exactly`` until its cycle is proven to be the maximum.
    """

    def __init__(self, graph: RatioGraph) -> None:
        self._graph = graph
        self._first = np.searchsorted(graph.tail, np.arange(graph.n_nodes))
        self._heights = graph.steps / graph.scale
        lengths = graph.length.astype(np.float64)
        self._policy = self._best(lengths, np.maximum.reduceat(lengths, self._first))
        self._scales = np.unique(graph.scale)

    def nearly(self) -> MaximumCycle:
        """Improve the policy as far as floating point can tell, and return its best cycle."""
        graph, cycle = self._graph, self._best_cycle()
        for _ in range(_MOST_FLOAT_ROUNDS):
            if cycle.ratio is None:
                break
            weights = graph.length - float(cycle.ratio) * self._heights
            if not self._step(weights, cycle, _TOLERANCE * max(1.0, float(np.abs(weights).max()))):
                break
            found = self._best_cycle()
            if found.ratio is not None and found.ratio < cycle.ratio:  # by rounding: the cycle is gone
                return found
            if found.ratio is None or found.ratio > cycle.ratio:
                cycle = found
        return cycle

    def exactly(self) -> MaximumCycle:
        """Improve the policy until no edge can, and return its cycle."""
        cycle = self._best_cycle()
        while cycle.ratio is not None and self._step(self._whole_weights(cycle.ratio), cycle, 0):
            found = self._best_cycle()
            # A cycle stays in the policy until there is a better one, and of equal ones it stays the root: so values
            # only rise until the ratio does.
            if found.ratio is None or found.ratio > cycle.ratio:
                cycle = found
        return cycle

    def _whole_weights(self, ratio: Fraction) -> _Numbers:
        """Return ``length - ratio * height`` of all edges, times what makes them whole."""
        graph = self._graph
        # Every multiplier is common to the edges of one scale, so that only few large numbers are made.
        times = ratio.denominator * math.lcm(*self._scales.tolist())
        per_scale = [int(ratio * times / scale) for scale in self._scales.tolist()]
        largest = int(np.abs(graph.length).max(initial=0)) * times
        largest += max(map(abs, per_scale)) * int(np.abs(graph.steps).max(initial=0))
        fits = largest < _LARGEST // max(1, 2 * graph.n_nodes)
        kind: type = np.int64 if fits else object
        factors: _Numbers = np.array(per_scale, dtype=kind)[np.searchsorted(self._scales, graph.scale)]
        weights: _Numbers = graph.length.astype(kind) * times - factors * graph.steps.astype(kind)
        return weights

    def _step(self, weights: _Numbers, cycle: MaximumCycle, tolerance: float) -> bool:
        """Let every node reach the cycle, then take what is better by more than the tolerance; False: nothing is."""
        graph = self._graph
        root = int(graph.tail[cycle.edges[0]])
        self._reach(cycle)
        values = self._values(weights, root)
        offered = weights + values[graph.head]
        best = np.maximum.reduceat(offered, self._first)
        better = np.asarray(best > values + tolerance, dtype=bool)
        better[root] = bool(best[root] > tolerance)
        if not better.any():
            return False
        self._policy = np.where(better, self._best(offered, best), self._policy)
        return True

    def _best(self, offered: _Numbers, best: _Numbers) -> IntArray:
        """Return for each node its first edge that offers the best."""
        places = np.flatnonzero(offered == best[self._graph.tail])
        found = np.full(self._graph.n_nodes, -1, dtype=np.int64)
        found[self._graph.tail[places][::-1]] = places[::-1]
        return found

    def _reach(self, cycle: MaximumCycle) -> None:
        """Change the policy of nodes that do not come to the cycle, so that they do."""
        graph = self._graph
        reached = np.zeros(graph.n_nodes, dtype=bool)
        reached[graph.tail[list(cycle.edges)]] = True
        reached = reached[self._ends(graph.head[self._policy])]
        while not reached.all():
            into = np.flatnonzero(reached[graph.head] & ~reached[graph.tail])
            self._policy[graph.tail[into]] = into
            reached[graph.tail[into]] = True

    @staticmethod
    def _ends(after: IntArray) -> IntArray:
        """Return where each node is after more steps than there are nodes: on a cycle."""
        steps = 1
        while steps < len(after):
            after, steps = after[after], 2 * steps
        return after

    def _values(self, weights: _Numbers, root: int) -> _Numbers:
        """Return the sum of weights on the way from each node to the root, by the policy; the root's is 0."""
        after = self._graph.head[self._policy].copy()
        sums = weights[self._policy].copy()
        after[root], sums[root] = root, 0
        steps = 1
        while steps < len(after):
            sums, after, steps = sums + sums[after], after[after], 2 * steps
        return sums

    def _best_cycle(self) -> MaximumCycle:
        """Return the cycle of the policy with the largest ratio, or one without a height above 0."""
        best: MaximumCycle | None = None
        after = self._graph.head[self._policy]
        left = np.zeros(len(after), dtype=bool)
        left[self._ends(after)] = True
        while left.any():
            cycle = self._cycle_of(int(np.argmax(left)))
            left[self._graph.tail[list(cycle.edges)]] = False
            if cycle.ratio is None:
                return cycle
            if best is None or best.ratio is None or cycle.ratio > best.ratio:
                best = cycle
        assert best is not None, "every policy has a cycle"
        return best

    def _cycle_of(self, start: int) -> MaximumCycle:
        """Return the cycle on which a node lies."""
        graph, edges = self._graph, list[int]()
        node = start
        while not edges or node != start:
            edges.append(int(self._policy[node]))
            node = int(graph.head[edges[-1]])
        length = sum(graph.length[edges].tolist())  # more than 64 bits, perhaps
        height = sum((Fraction(s, n) for s, n in _by_scale(graph.steps[edges], graph.scale[edges])), Fraction(0))
        return MaximumCycle(ratio=Fraction(length) / height if height > 0 else None, edges=tuple(edges))


def _by_scale(steps: IntArray, scales: IntArray) -> list[tuple[int, int]]:
    """Return the sums of steps with the same scale."""
    found: dict[int, int] = {}
    for step, scale in zip(steps.tolist(), scales.tolist(), strict=True):
        found[scale] = found.get(scale, 0) + step
    return [(step, scale) for scale, step in found.items()]
