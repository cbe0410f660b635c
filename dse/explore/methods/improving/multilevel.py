"""Multilevel search: groups of actors are mapped first, then smaller groups, then the actors.

Of many actors a move of one hardly changes the makespan, and there are too many to try. So actors are joined into
groups, level above level (``dse.explore.moves.coarsening``); an iterated search maps the coarsest groups, from
constructed and annealed mappings that cost little there, and its best mapping is where the search of the next level
begins, down to the actors (Hendrickson and Leland, *A multilevel algorithm for partitioning graphs*, 1995; here each
move is judged by a simulation of the whole network). A level ends when it has found nothing better for a while.
"""

from collections.abc import Sequence
from dataclasses import replace

from dse.explore.method import SearchContext, cost
from dse.explore.methods.improving.iterated_search import IteratedSearch
from dse.explore.moves.coarsening import Coarsening, Level, settled
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

PATIENCE = 60
"""After so many evaluations without a better point a level ends,"""
ACTORS_PATIENCE = 200
"""after so many the search of the actors, and it is coarsened anew,"""
LEAST_BETTER = 0.002
"""where better means by this share of the makespan."""
STALE_TURNS = 300
"""After so many turns in a row without an unknown point the space is as good as exhausted."""


class Multilevel:
    """Iterated searches of one level after the other; see the module."""

    exact = False
    proven = 0
    pruned = 0
    ceiling: int | None = None

    def __init__(self, context: SearchContext) -> None:
        self._context = replace(context, legs=False, sieve=None)
        self._levels: list[Level] = []
        self._coarsening: Coarsening | None = None
        self._coarsened = context.begun
        self._best: tuple[tuple[bool, int], Candidate] | None = None
        self._to_beat: tuple[bool, float] = (True, 0.0)
        self._idle = 0
        self._points: list[DesignPoint] = []
        self._seen: set[str] = set()
        """The digests of all points of all levels: each level knows only its own."""
        self._stale = 0
        self._inner = self._search()

    @property
    def done(self) -> bool:
        """Whether the search of the actors has nothing more to ask, or no level finds an unknown point any more."""
        exhausted = self._stale > STALE_TURNS or len(self._seen) >= self._context.space.size
        return exhausted or (not self._levels and self._inner.done)

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next points of the level."""
        if self._levels and (self._idle > PATIENCE or self._inner.done):
            del self._levels[0]
            self._next_level()
        elif self._may_coarsen():
            self._coarsen()
        self._points = list(self._inner.ask(n))
        return [self._levels[0].expanded(point) for point in self._points] if self._levels else self._points

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Tell the search of the level, as it sees them."""
        told = zip(results, self._points, strict=False)
        for result, candidate in zip(results, self._inner.asked, strict=False):
            self._note(cost(result), candidate)
        before = len(self._seen)
        self._seen.update(result.digest for result in results)
        if results:
            self._stale = 0 if len(self._seen) > before else self._stale + 1
        self._inner.tell([self._levels[0].grouped(r, p) for r, p in told] if self._levels else results)

    def _may_coarsen(self) -> bool:
        """Return whether the search of the actors knows its starts and has not coarsened yet, or has found enough."""
        ready = not self._levels and self._inner.started
        return ready and (not self._coarsened or self._idle > ACTORS_PATIENCE)

    def _coarsen(self) -> None:
        """Begin at the coarsest level with the best mapping so far, where there are levels."""
        self._coarsened = True
        if self._best is not None:
            self._coarsening = self._coarsening or Coarsening(self._context)
            self._levels = self._coarsening.levels(self._best[1].assignment)
        if self._levels:
            self._next_level()

    def _next_level(self) -> None:
        self._idle = 0
        self._inner = self._search()

    def _note(self, found: tuple[bool, int], candidate: Candidate) -> None:
        self._idle += 1
        if self._best is None or found < self._best[0]:
            slots = self._levels[0].assignment(candidate) if self._levels else candidate.assignment
            self._best = found, replace(candidate, assignment=slots)
        if found < self._to_beat:
            self._to_beat = found[0], found[1] * (1 - LEAST_BETTER)
            self._idle = 0

    def _search(self) -> IteratedSearch:
        """Return the search of the level that has come, from the best point so far."""
        context = self._levels[0].context if self._levels else self._context
        if self._best is None:
            return IteratedSearch(context)
        slots = self._best[1].assignment
        start = settled(self._levels[0].members, slots) if self._levels else slots
        return IteratedSearch(
            replace(context, start=(replace(self._best[1], assignment=start),), constructed=(), begun=True)
        )
