"""A leg: a part of a descent of an iterated search, told of all that it may know, so that it can be walked anywhere.

What comes of a leg depends on nothing but the leg and the context of the search: not on who walks it, nor on what else
is under way. So it does not matter how many walk, or how long each takes.
"""

import hashlib
from array import array
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.explore.method import SearchContext
from dse.explore.methods.improving.descents import Descending, Descent, Kind, Model, State
from dse.explore.methods.scripted import Script
from dse.explore.moves.load_model import LoadAnnealer
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation

LEG_EVALUATIONS = 256
"""A leg ends after so many evaluations: a fifth of a second, or more where traces are longer. It is sent and received
in milliseconds."""
Marks: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a descent begins: near a point, or, ``afresh``, where it is drawn."""

    origin: State
    afresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Polish:
    """All moves and exchanges around a point that have not been tried."""

    state: State


Work: TypeAlias = Start | Descent | Polish
"""What is to be done: a descent begins or goes on, or a point is polished."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leg:
    """What a leg may know."""

    number: int
    seed: int
    """Of the search; the number of the leg goes with it."""
    work: Work
    kinds: tuple[Kind, ...]
    models: tuple[Model, ...]
    seen: Marks
    """The marks of the points that were known when it set out: it does not try them again."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LegOutcome:
    """What a leg has found. ``made``: its evaluations in their order, each with the ordinal 0."""

    number: int
    made: tuple[Evaluation, ...]
    marks: Marks
    """Of the points of ``made``."""
    work: Work
    """Where it stands: what another leg goes on with, if it is not over."""
    over: bool
    kinds: tuple[Kind, ...]
    complete: bool = True
    """Whether it came to its end; else ``made`` is all that counts."""

    @property
    def end(self) -> State:
        """The best point of the descent, or of the polishing."""
        match self.work:
            case Descent():
                return self.work.best
            case Polish():
                return self.work.state
            case Start():
                return self.work.origin


def mark_of(candidate: Candidate) -> int:
    """Return 64 bits that stand for a point. Two points of a search have the same with a chance of 10^-9 at most:
    then one of them may not be tried."""
    words = array("q", (*candidate.assignment, candidate.policy, candidate.capacity, *candidate.clocks))
    return int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little")


def marks_of(candidates: Collection[Candidate]) -> Marks:
    """Return the marks of points."""
    return np.fromiter(map(mark_of, candidates), dtype=np.uint64, count=len(candidates))


class LegSearch(Descending):
    """Walks a leg: it is asked and told as any method is."""

    patience = None

    def __init__(self, context: SearchContext, leg: Leg) -> None:
        """Set out."""
        rng = np.random.default_rng((leg.seed, leg.number))
        super().__init__(replace(context, rng=rng))
        self._leg = leg
        self._seen = frozenset(leg.seen.tolist())
        self._annealer = LoadAnnealer(self._context)
        self._models = list(leg.models)
        self._kinds = [replace(kind) for kind in leg.kinds]
        self._work = leg.work.copied() if isinstance(leg.work, Descent) else leg.work
        self._over = False

    def _is_known(self, candidate: Candidate) -> bool:
        return candidate in self._known or mark_of(candidate) in self._seen

    def _script(self) -> Script:
        work = self._work
        if isinstance(work, Polish):
            state, self._over = yield from self._polished(work.state, LEG_EVALUATIONS)
            self._work = Polish(state=state)
            return
        if isinstance(work, Start):
            candidate = self._new_start() if work.afresh else self._shaken(work.origin.candidate)
            (state,) = self._states([candidate], (yield [candidate]))
            work = Descent.of(state)
        self._work = work
        self._over = yield from self._descent(work, LEG_EVALUATIONS)

    def outcome(self, made: Collection[Evaluation]) -> LegOutcome:
        """Return what was found, of which ``made`` are the evaluations."""
        return LegOutcome(
            number=self._leg.number,
            made=tuple(made),
            marks=marks_of(self._known),
            work=self._work,
            over=self._over,
            kinds=tuple(self._kinds),
            complete=self.done,
        )
