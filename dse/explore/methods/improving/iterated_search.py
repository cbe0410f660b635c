"""Iterated local search (Lourenço, Martin and Stützle 2003), for large spaces and few evaluations.

It starts from the constructed mappings and from mappings whose loads were annealed without a simulation
(``dse.explore.moves.load_model``), as a whole or in stages. From a point it tries small batches of steps, drawn from
eleven kinds in proportion to how often each has helped, and moves to the best improvement, or sideways to a point as
good; steps that improved together are also tried all at once. At a local optimum it slides to the best of the points
just tried, many times in a row, then shakes where it came from by one or two actors; what it finds is shaken next if it
is not much worse. Where shaking fails it tries all moves and exchanges around its best point; when that fails too, it
alternates between a new start and its best.

A descent does not go down on the makespan alone, which is the same for most neighbours of a point, but on its *height*:
the makespan and the loads of the cores, so that it also learns from steps that only make room for later ones. What is
kept as the best of a descent is the best makespan.

Where somebody takes them (``SearchContext.legs``), it goes on in ``LANES`` descents side by side, in *legs*: parts of
descents that can be walked anywhere (``dse.explore.methods.improving.leg``). What a leg has seen is fixed by its
number: it sets out when the leg ``LANES`` numbers before it, of the same lane, has been taken, and all are taken in
their order.
"""

import collections.abc
import itertools
from dataclasses import dataclass, field, replace

import numpy as np

from dse.base.apart import side_by_side
from dse.explore.method import SearchContext
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.improving.descents import (
    LISTS,
    STEPS,
    Descending,
    Descent,
    Kind,
    Model,
    State,
    cost_of,
    models_of,
)
from dse.explore.methods.improving.leg import Leg, LegOutcome, Polish, Start, Work, marks_of
from dse.explore.methods.scripted import Script
from dse.explore.moves.load_model import LoadAnnealer
from dse.explore.moves.moves import position_of, random_candidate, reset
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation

FAVOURED = 4
"""One start in so many, the best ones, say how loads are annealed from then on."""
LEAST_STARTS, MOST_STARTS = 16, 64
"""As many annealed starts as there are actors, within these numbers."""
MANY_ACTORS = 500
"""With more actors a start takes so long that the clock is looked at behind each."""
ACTORS_OF_STARTS = 12_000
"""So many actors at most are in all starts together where there are many: with 1,000 actors a start takes a fifth of a
second, in which a simulation of forty firings each takes six milliseconds."""
SHAKES = 6
"""So many shaken points in a row without an improvement lead to another start."""
ACCEPTED = 0.01
"""What is found from a shaken point is shaken next unless its makespan is worse by more than this share."""
FAILURES_TO_POLISH = 2
"""After so many of them all moves and exchanges from the best point are tried, unless they were."""
SOLO = 1_000
"""After so many evaluations a search goes on in legs: before, each descent has more to learn from the one before it,
and a second is over before other processes have begun. Where they set out after 2,500, 26 searches had a mean gap of
1.50 % after 5,000 evaluations instead of 1.34, and two workers had less to share."""
LANES = 4
"""So many descents go on side by side."""
STALE_LEGS = 20
"""So many legs in a row without an unknown point end the search."""


@dataclass(slots=True)
class _Course:
    """Where the search stands. ``home``: the point that is shaken; ``failures``: descents since it last got better."""

    best: State
    home: State
    failures: int = 0
    restarts: int = 0
    polished: set[Candidate] = field(default_factory=set)
    era: int = 0
    """How often the search in legs has moved its home; what comes from an earlier home counts for ``best`` alone."""

    def note(self, end: State) -> None:
        """Take the end of a descent."""
        self.best = min(self.best, end, key=cost_of)
        self.failures = self.failures + 1 if cost_of(end) >= cost_of(self.home) else 0
        self.home = end if _accepted(end, self.home) else self.home

    def note_polished(self, end: State) -> None:
        """Take what polishing made of the best point."""
        self.polished.add(end.candidate)
        if end is not self.best:
            self.failures, self.home, self.best = 0, end, end

    @property
    def may_polish(self) -> bool:
        """Whether it is time to try all moves around the best point."""
        return self.failures >= FAILURES_TO_POLISH and self.best.candidate not in self.polished

    def move_home(self, home: State) -> None:
        """Begin another era."""
        self.era, self.home, self.failures = self.era + 1, home, 0

    def note_end(self, lane: "_Lane", end: State) -> None:
        """Take the end of what a lane did."""
        work = lane.began
        if isinstance(work, Polish):
            self.polished.add(end.candidate)
            if cost_of(end) < cost_of(work.state) and cost_of(end) <= cost_of(self.best):
                self.move_home(end)
        elif isinstance(work, Start) and work.afresh:
            self.best = min(self.best, end, key=cost_of)
            self.move_home(end)
        elif lane.era == self.era:
            self.note(end)
        else:
            self.best = min(self.best, end, key=cost_of)


@dataclass(slots=True)
class _Lane:
    """One of the descents side by side."""

    work: Work
    """What its next leg does."""
    began: Work
    """What that is a part of."""
    era: int


class IteratedSearch(Descending):
    """Descents with slides, shakes and new starts; see the module."""

    started = False
    """Whether the points are known that the search starts from."""

    def __init__(self, context: SearchContext) -> None:
        super().__init__(context)
        self._course: _Course | None = None
        """Where the search in legs stands, from its first leg on."""
        self._lanes: list[_Lane] = []
        self._taken = self._issued = 0
        self._stale_legs = 0
        self._marks, self._marked = np.zeros(0, dtype=np.uint64), set[int]()
        """What is known, in its order and as a set."""

    def _script(self) -> Script:
        states = yield from self._begun()
        self.started = True
        state = min(states, key=cost_of)
        now = _Course(best=state, home=state)
        while True:
            descent = Descent.of(state)
            if not (yield from self._descent(descent, self._left_alone)):
                break
            now.note(descent.best)
            if now.may_polish:
                now.note_polished((yield from self._polished(now.best))[0])
            state = yield from self._next_start(now)
        self._set_out(now, descent)
        while True:  # from here on there is nothing to ask
            yield []

    def _next_start(self, now: _Course) -> collections.abc.Generator[list[Candidate], list[Evaluation], State]:
        """Evaluate the point where the next descent begins."""
        stuck = now.failures >= SHAKES
        now.restarts += stuck
        afresh = stuck and now.restarts % 2 == 1
        origin = now.best if stuck else now.home
        candidate = self._new_start() if afresh else self._shaken(origin.candidate)
        (state,) = self._states([candidate], (yield [candidate]))
        if stuck:
            now.failures, now.home = 0, state if afresh else now.best
        return state

    @property
    def _left_alone(self) -> int | None:
        """So many evaluations are made before legs set out; None where none ever do."""
        return max(0, SOLO - len(self._known)) if self._context.legs else None

    # Legs -------------------------------------------------------------------------------------------------------------

    @property
    def legs_soon(self) -> bool:
        """Whether the search will go on in legs."""
        return self._context.legs

    @property
    def awaited(self) -> int | None:
        """The number of the leg that is to be taken next; None where the method is to be asked."""
        return None if self._course is None else self._taken

    def _set_out(self, course: _Course, descent: Descent) -> None:
        """Go on in legs; the first lane goes on with a descent."""
        self._course = course
        course.best = min(course.best, descent.best, key=cost_of)
        if _accepted(descent.best, course.home):
            course.home = descent.best
        self._marks = marks_of(self._known)
        self._marked = set(self._marks.tolist())
        self._seed = int(self._context.rng.integers(1 << 62))
        began = Start(origin=course.home)
        self._lanes = [_Lane(work=descent, began=began, era=0)]
        self._lanes += [_Lane(work=began, began=began, era=0) for _ in range(LANES - 1)]

    def next_leg(self) -> Leg | None:
        """Return a leg that may set out now, None where none may before another one is taken."""
        if self._course is None or self._issued - self._taken >= LANES:
            return None
        leg = Leg(
            number=self._issued,
            seed=self._seed,
            work=self._lanes[self._issued % LANES].work,
            kinds=tuple(replace(kind) for kind in self._kinds),
            models=tuple(self._models),
            seen=self._marks,
        )
        self._issued += 1
        return leg

    def _next_work(self, now: _Course, others: list[_Lane]) -> Work:
        """Return what a lane does next whose last descent is over."""
        if now.may_polish:
            now.polished.add(now.best.candidate)
            return Polish(state=now.best)
        drawn = any(isinstance(lane.began, Start) and lane.began.afresh for lane in others)
        if now.failures >= SHAKES and not drawn:
            now.restarts += 1
            if now.restarts % 2 == 1:
                return Start(origin=now.best, afresh=True)
            now.move_home(now.best)
        return Start(origin=now.best if drawn else now.home)

    def take(self, outcome: LegOutcome) -> None:
        """Take what the leg with the number of ``awaited`` has found."""
        course, lane = self._course, self._lanes[self._taken % LANES]
        assert course is not None, "there are legs"
        self._taken += 1
        course.best = min(course.best, outcome.end, key=cost_of)
        lane.work = outcome.work
        if outcome.over:
            course.note_end(lane, outcome.end)
            lane.work = lane.began = self._next_work(course, [other for other in self._lanes if other is not lane])
            lane.era = course.era
        self._kinds = [replace(kind) for kind in outcome.kinds]
        fresh = [mark for mark in outcome.marks.tolist() if mark not in self._marked]
        self._marked.update(fresh)
        self._marks = np.concatenate([self._marks, np.array(fresh, dtype=np.uint64)])
        self._stale_legs = 0 if fresh else self._stale_legs + 1
        self._done = self._stale_legs >= STALE_LEGS or len(self._marks) >= self._space.size

    # Starts -----------------------------------------------------------------------------------------------------------

    def _begun(self) -> collections.abc.Generator[list[Candidate], list[Evaluation], list[State]]:
        """Evaluate the points that the search starts from; keep the models whose annealed mappings are the best."""
        self._annealer = LoadAnnealer(self._context)
        self._models = models_of(self._space.n_actors)
        first = constructed(self._context)
        has_settings = bool(reset(self._space, position_of(first[0])))
        self._kinds = [Kind(name) for name in (*STEPS, *LISTS) if name != "setting" or has_settings]
        if self._context.begun:
            starts = list(self._context.start)
            return self._states(starts, (yield starts))
        if self._space.n_actors > MANY_ACTORS:
            yield first  # known before the annealing, which takes long
        annealed = yield from self._annealed()
        starts = list(dict.fromkeys([*first, *annealed]))
        states = self._states(starts, (yield starts))
        favoured = [annealed[s.candidate] for s in sorted(states, key=cost_of) if s.candidate in annealed]
        self._models = favoured[: max(1, len(favoured) // FAVOURED)] or self._models
        return states

    def _annealed(self) -> collections.abc.Generator[list[Candidate], list[Evaluation], dict[Candidate, Model]]:
        """Return mappings whose loads were annealed, from random ones, and how; pauses where that takes long."""
        n_actors = self._space.n_actors
        many = n_actors > MANY_ACTORS
        most = ACTORS_OF_STARTS // n_actors if many else MOST_STARTS
        count = max(1, min(most, max(LEAST_STARTS, n_actors)))
        models = itertools.islice(itertools.cycle(self._models), count)
        found: dict[Candidate, Model] = {}
        while some := list(itertools.islice(models, self._context.threads)):
            starts = [self._annealing_from(random_candidate(self._context), model) for model in some]
            for candidate, model in zip(side_by_side(starts), some, strict=True):
                if candidate is not None:
                    found.setdefault(candidate, model)
                if many:  # what has been found is worth knowing before the next ones
                    yield [] if candidate is None else [candidate]
        return found


def _accepted(end: State, home: State) -> bool:
    """Return whether a search goes on from what it found instead of where it was."""
    (dead, makespan), (dead_before, before) = cost_of(end), cost_of(home)
    return dead < dead_before or (dead == dead_before and makespan <= before * (1 + ACCEPTED))
