"""The throughput of a small graph by playing it: self-timed, one event after the other, until a state comes again."""

import heapq
from fractions import Fraction

from dse.sdf.throughput.timed_graph import TimedGraph

_MOST_STATES = 20_000
_MOST_AT_ONCE = 5_000


class Player:
    """A self-timed execution: what can fire fires at once. ``period`` says how long an iteration takes in the end."""

    def __init__(self, graph: TimedGraph) -> None:
        self._graph = graph
        actors = range(len(graph.actors))
        self._inputs = [[n for n, arc in enumerate(graph.arcs) if arc.target == a] for a in actors]
        self._outputs = [[n for n, arc in enumerate(graph.arcs) if arc.source == a] for a in actors]
        self._there = [arc.initial for arc in graph.arcs]
        self._phase = [0 for _ in actors]
        self._fired = [0 for _ in actors]
        self._ends: list[tuple[int, int, int]] = []
        self._now = 0

    def period(self) -> Fraction | None:
        """Return the ticks of an iteration in the steady state, 0 where time stands still; None in a deadlock."""
        seen: dict[object, tuple[int, tuple[int, ...]]] = {}
        while len(seen) < _MOST_STATES:
            if not self._fire_all():
                return Fraction(0)
            ends = tuple(sorted((end - self._now, a, p) for end, a, p in self._ends))
            state = (tuple(self._there), tuple(self._phase), ends)
            if state in seen:
                return self._between(*seen[state])
            seen[state] = (self._now, tuple(self._fired))
            if not self._ends:
                return None
            self._now = self._ends[0][0]
        raise AssertionError("no state came again")

    def _between(self, then: int, fired: tuple[int, ...]) -> Fraction | None:
        counts = zip(self._fired, fired, self._graph.actors, strict=True)
        iterations = {Fraction(now - before, len(a.ticks) * a.rounds) for now, before, a in counts}
        (iteration,) = iterations
        return None if not iteration else Fraction(self._now - then) / iteration

    def _fire_all(self) -> bool:
        """End and begin all that can, now; False: that does not end."""
        made, moved = 0, True
        while moved:
            moved = False
            while self._ends and self._ends[0][0] == self._now:
                _, a, p = heapq.heappop(self._ends)
                self._give(a, p, at_end=True)
                moved = True
            for a, actor in enumerate(self._graph.actors):
                while self._ready(a):
                    made, moved, p = made + 1, True, self._phase[a]
                    if made > _MOST_AT_ONCE:
                        return False
                    for n in self._inputs[a]:
                        self._there[n] -= self._graph.arcs[n].taken[p]
                    self._give(a, p, at_end=False)
                    heapq.heappush(self._ends, (self._now + actor.ticks[p], a, p))
                    self._phase[a] = (p + 1) % len(actor.ticks)
                    self._fired[a] += 1
        return True

    def _ready(self, a: int) -> bool:
        if not self._graph.actors[a].overlaps and any(other == a for _, other, _ in self._ends):
            return False
        needs = ((n, self._graph.arcs[n].taken[self._phase[a]]) for n in self._inputs[a])
        return all(self._there[n] >= need for n, need in needs)

    def _give(self, a: int, p: int, *, at_end: bool) -> None:
        for n in self._outputs[a]:
            arc = self._graph.arcs[n]
            if arc.at_end == at_end:
                self._there[n] += arc.given[p]
