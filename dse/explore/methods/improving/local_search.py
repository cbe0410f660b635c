"""Local search: from the constructed mappings down to a local optimum, then again from elsewhere until the budget ends.

Moves: an actor to another partition or to a new one, two actors swapped, two partitions merged, another policy, other
capacities, another clock. Neighbours come in the order of their bound, and one whose bound is not below the current
makespan is not evaluated. The first batch with an improvement moves the search to the best of that batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dse.explore.method import SearchContext, cost
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.moves.moves import candidate_of, position_of, random_candidate, reset, some_swaps
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

NEIGHBOURS = 2_000
"""At most this many neighbours are looked at from one point; more are sampled."""
START_ATTEMPTS = 50
"""So many starts in a row that were all seen before end the search: the space is as good as exhausted."""

_Cost = tuple[bool, int]


class LocalSearch:
    """Descent with restarts; see the module."""

    exact = False
    proven = 0

    def __init__(self, context: SearchContext, starts: Sequence[Candidate] = ()) -> None:
        """Begin a search. ``starts``: points to begin with instead of the constructed mappings."""
        self._context = context
        self._space = context.space
        self._size = context.space.size
        self._known: dict[Candidate, _Cost] = {}
        self._cut: set[Candidate] = set()
        self._starts = [*starts] or constructed(context)
        self._neighbours: list[tuple[int, Candidate]] = []
        self._asked: list[Candidate] = []
        self._current: Candidate | None = None
        self._best: Candidate | None = None
        self._restarts = 0
        self._done = False

    @property
    def done(self) -> bool:
        """Whether the whole space was seen, or no new start can be found."""
        return self._done or len(self._known) >= self._size

    @property
    def pruned(self) -> int:
        """Nothing is proven about the points that the search walks past."""
        return 0

    @property
    def ceiling(self) -> int | None:
        """The makespan of the current point: of a neighbour that is worse no more has to be known. Starts are exact."""
        if self._current is None or self._known[self._current][0]:
            return None
        return self._known[self._current][1]

    def best(self, n: int) -> list[Candidate]:
        """Return the ``n`` best points that were told and are exact, the best first; none that deadlocks."""
        exact = (candidate for candidate, (dead, _) in self._known.items() if not dead and candidate not in self._cut)
        return sorted(exact, key=self._known.__getitem__)[:n]

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next starts, or the next neighbours of the current point, or a new start."""
        self._asked = []
        while not self._asked and not self.done:
            if self._starts:
                self._asked, self._starts = self._starts[:n], self._starts[n:]
            elif self._current is None:
                self._asked = self._new_start()
            else:
                self._take_neighbours(n)
        return [self._space.to_point(candidate) for candidate in self._asked]

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Move to the best point of the batch if it improves on the current one."""
        for candidate, result in zip(self._asked, results, strict=False):
            self._known[candidate] = cost(result)
            (self._cut.add if result.cut else self._cut.discard)(candidate)
        told = self._asked[: len(results)]
        if told:
            self._move_to(min(told, key=self._known.__getitem__))

    def _move_to(self, candidate: Candidate) -> None:
        value = self._known[candidate]
        if self._current is None or value < self._known[self._current]:
            self._current = candidate
            self._neighbours = self._ordered_neighbours(candidate)
        if self._best is None or value < self._known[self._best]:
            self._best = candidate

    def _take_neighbours(self, n: int) -> None:
        """Put up to ``n`` unknown neighbours into ``_asked``; a known better one is moved to at once."""
        assert self._current is not None
        here = self._known[self._current]
        taken: list[tuple[int, Candidate]] = []
        while self._neighbours and len(taken) < n:
            bound, candidate = self._neighbours.pop()
            known = self._known.get(candidate)
            if known is None:
                taken += [(bound, candidate)] if here > (False, bound) else []
            elif self._is_open(candidate, here):
                # It goes first, alone.
                self._neighbours += [(bound, candidate), *reversed(taken)]
                self._asked = [candidate]
                return
            elif known < here:
                self._move_to(candidate)
                return
        self._asked = [candidate for _, candidate in taken]
        if not self._asked:
            self._current = None  # a local optimum

    def _is_open(self, candidate: Candidate, here: tuple[bool, int]) -> bool:
        """Return whether a candidate was cut for a better current point, so that nobody knows if it beats this one."""
        deadlock, makespan = here
        return candidate in self._cut and (deadlock or self._known[candidate][1] <= makespan)

    # Starts -----------------------------------------------------------------------------------------------------------

    def _new_start(self) -> list[Candidate]:
        """Return one unknown start: by turns near the best point and anywhere; none ends the search."""
        for _ in range(START_ATTEMPTS):
            self._restarts += 1
            candidate = self._shaken() if self._restarts % 2 else self._random()
            if candidate not in self._known:
                return [candidate]
        self._done = True
        return []

    def _random(self) -> Candidate:
        return random_candidate(self._context)

    def _shaken(self) -> Candidate:
        """Return the best point with a few actors moved at random."""
        assert self._best is not None
        candidate = self._best
        for _ in range(max(2, self._space.n_actors // 4)):
            moves = list(self._moves(candidate))
            if moves:
                candidate = moves[int(self._context.rng.integers(len(moves)))]
        return candidate

    # Neighbours -------------------------------------------------------------------------------------------------------

    def _ordered_neighbours(self, candidate: Candidate) -> list[tuple[int, Candidate]]:
        """Return (bound, neighbour) with the smallest bound last (they are popped); ties in random order."""
        found = dict.fromkeys([*self._moves(candidate), *self._merges(candidate), *self._swaps(candidate)])
        found.update(dict.fromkeys(self._settings(candidate)))
        found.pop(candidate, None)
        neighbours = list(found)
        self._context.rng.shuffle(neighbours)
        del neighbours[NEIGHBOURS:]
        bounded = zip(self._context.bounds(neighbours), neighbours, strict=True)
        return sorted(bounded, key=lambda pair: -pair[0])

    def _changed(self, candidate: Candidate, slots: tuple[int, ...]) -> Iterator[Candidate]:
        """Yield the candidate with other slots if the space holds it."""
        changed = candidate_of(self._space, replace(position_of(candidate), slots=slots))
        if changed is not None:
            yield changed

    def _moves(self, candidate: Candidate) -> Iterator[Candidate]:
        """One actor to another used slot or to the first unused slot of a unit."""
        assignment = candidate.assignment
        used = set(assignment)
        for actor, slot in enumerate(assignment):
            for unit in self._space.allowed[actor]:
                opened = False
                for target in self._space.slots_of_unit(unit):
                    if target == slot or (opened and target not in used):
                        continue
                    opened = opened or target not in used
                    yield from self._changed(candidate, (*assignment[:actor], target, *assignment[actor + 1 :]))

    def _merges(self, candidate: Candidate) -> Iterator[Candidate]:
        used = sorted(set(candidate.assignment))
        for kept in used:
            for gone in used:
                if kept != gone:
                    yield from self._changed(candidate, tuple(kept if s == gone else s for s in candidate.assignment))

    def _swaps(self, candidate: Candidate) -> Iterator[Candidate]:
        steps = some_swaps(self._space, position_of(candidate), self._context.rng, NEIGHBOURS)
        yield from (step.candidate for step in steps)

    def _settings(self, candidate: Candidate) -> Iterator[Candidate]:
        """Another policy, other capacities or another clock, same mapping."""
        yield from (step.candidate for step in reset(self._space, position_of(candidate)))
