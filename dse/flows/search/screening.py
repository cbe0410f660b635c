"""Screening: a search of a long trace begins on a short one that stands for it, and goes on from the best of that.

The short trace has the runs that one core makes in a row as single firings (``dse.estimate.problem.merged_firings``):
it covers the whole program, and ranks mappings better than a tenth of the trace taken anywhere
(docs/search-quality.md). What it finds is only where the search begins: its best mappings
are estimated with the whole trace, and nothing else is kept, ranked or proven. Afterwards it leaves out neighbours
that it finds clearly worse than the point where a descent stands.

It goes on in rounds. After each of them the best new mappings are estimated with the whole trace; when two rounds in a
row have brought nothing there, or most of the budget is spent, it is over. After the first round some worse ones are
estimated too: where the whole trace ranks them otherwise, screening ends at once, and the search begins as without it.

What its estimates cost is counted in evaluations by the number of firings, which is the same on every machine.
A search that is resumed with the same budget takes what it had found from its study.
"""

import json
import math
import re
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Protocol

from dse.base.errors import DseError
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.merged_firings import can_merge, merged_firings
from dse.estimate.problem.tables import ProblemTables
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.registry import METHODS
from dse.explore.search import ranked
from dse.explore.space.locate import candidate_at
from dse.explore.space.space import Candidate, Space
from dse.flows.program import unheard
from dse.model.design_point import DesignPoint, Policy
from dse.model.study import Evaluation, Screening

LEAST_FIRINGS = 200_000
"""Shorter traces are estimated in ten milliseconds: a search of five thousand evaluations takes a minute as it is."""
PIECES = 10_000
"""A run is at most one part of so many of the time on one core: FIFOs with much room do not make all of it one run."""
PRICE = 3
"""A run costs as much as so many firings: the next event is another actor's, as it seldom is among firings."""
PROPOSAL = 2_000
"""To propose a mapping and to look at what came of it costs as much as so many firings for each actor: 113 of them take
two or three milliseconds."""
BUILDING, BUILDING_FIRING, BUILDING_RUN = 3_500_000, 4, 165
"""To make the short trace takes as long as so many firings, and so many more for each firing and for each run."""
LEAST_GAIN = 2
"""Without proposals screening has to be so many times as cheap as the whole trace."""
SHARE = Fraction(4, 5)
"""No more of a budget than this is for screening, its best mappings with the whole trace included,"""
MOST_ESTIMATES = 5_000
"""and no more estimates than these."""
ROUNDS = 6
"""A round is one part of so many of the budget;"""
PATIENCE = 2
"""so many of them without a gain end screening."""
LEAST_IMPROVEMENT = 0.001
"""A gain is less by this part of the best makespan at least."""
LEAST_EVALUATIONS = 40
LEAST_SECONDS = 20.0
"""With a smaller budget there is nothing to go on with."""
PROMOTED = 10
"""So many of the best of the short trace have exact makespans there,"""
PROMOTED_OF_ROUND = 2
"""and so many new ones are estimated with the whole one after a round."""
MOST_PROMOTED = 64
"""No study says that there were more."""
SPREAD = (0.2, 0.4, 0.6, 0.8)
"""Where in the ranking of the first round others are, by which it is judged."""
LEAST_AGREEMENT = 0.2
"""With a smaller rank correlation (Kendall 1938) of these with the best one the short trace ranks too badly."""
WORSE = 0.005
"""A neighbour is left out that is worse by more than this part there: 3 to 6 % of those that are better with the whole
trace are (of LBP 35 %), and two to four fifths of all."""
POLICIES: tuple[Policy, ...] = ("NON_PREEMPTIVE",)
"""Others leave an actor that could go on."""
METHOD = "iterated-search"
_DIGEST = re.compile("[0-9a-f]{64}")
METHODS_AFTER = (METHOD, "portfolio")
"""The methods that go on from where another search ended."""


class Notes(Protocol):
    """Where a study keeps what it has to know when it goes on (``dse.formats.study_file.StudyStore``)."""

    def noted(self, key: str) -> str | None:
        """Return what was noted under a key, None where nothing was."""

    def note(self, key: str, value: str) -> None:
        """Note it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What came of screening: the points that were estimated with the whole trace, in this order."""

    best: list[Candidate]
    screening: Screening


class NoStore:
    """Keeps nothing: what is found with the short trace is no result."""

    def known(self) -> dict[str, Evaluation]:
        """Return nothing."""
        return {}

    def add(self, evaluation: Evaluation) -> None:
        """Forget it."""

    def commit(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTrace:
    """A short trace that stands for a long one, with the engine for it. ``whole``: the firings of the long one."""

    engine: Engine
    n_actors: int
    firings: int
    whole: int

    @property
    def price(self) -> float:
        """What an estimate costs, in those of the whole trace."""
        return (PRICE * self.firings + self._proposal) / (self.whole + self._proposal)

    @property
    def price_of_look(self) -> float:
        """What an estimate costs of a mapping that was proposed anyway, in those of the whole trace."""
        return PRICE * self.firings / (self.whole + self._proposal)

    @property
    def building(self) -> int:
        """What it took to make it, in estimates of the whole trace."""
        firings = BUILDING + BUILDING_FIRING * self.whole + BUILDING_RUN * self.firings
        return math.ceil(firings / (self.whole + self._proposal))

    def leaves_some(self, evaluations: int | None) -> bool:
        """Return whether the share of so many evaluations (None: any number) is not spent by having made it."""
        return evaluations is None or self.building + PROMOTED_OF_ROUND < SHARE * evaluations

    @property
    def _proposal(self) -> int:
        return PROPOSAL * self.n_actors


class ShortSieve:
    """Leaves out neighbours that the short trace finds clearly worse than the point where a descent stands. Close it.

    What it estimates is counted in evaluations of the whole trace as it goes on. Where the rest of the budget does not
    suffice for a look everything passes.
    """

    def __init__(self, short: ShortTrace, space: Space, evaluator: Evaluator, workers: int) -> None:
        self._short, self._space, self._evaluator = short, space, evaluator
        self._estimator = ThreadEstimator(short.engine, workers, short.firings)
        self._makespans: dict[Candidate, float] = {}
        self._charged = 0

    def close(self) -> None:
        """End the threads."""
        self._estimator.close()

    def passes(self, origin: Candidate, neighbours: Sequence[Candidate]) -> list[bool]:
        """Return for each neighbour whether it is worth an estimate of the whole trace."""
        unknown = [c for c in dict.fromkeys((origin, *neighbours)) if c not in self._makespans]
        counted = math.ceil((len(self._makespans) + len(unknown)) * self._short.price_of_look) - self._charged
        left = self._evaluator.evaluations_left
        if left is not None and counted >= left:
            return [True] * len(neighbours)
        outcomes = self._estimator([self._space.to_point(candidate) for candidate in unknown], None)
        for candidate, outcome in zip(unknown, outcomes, strict=True):
            assert outcome is not None, "without a limit every estimate comes to an end"
            self._makespans[candidate] = math.inf if outcome.deadlock else outcome.makespan
        self._evaluator.charge(counted)
        self._charged += counted
        most = self._makespans[origin] * (1 + WORSE)
        return [self._makespans[candidate] <= most for candidate in neighbours]

    def added_to(self, screening: Screening) -> Screening:
        """Return what went before with what was looked at since."""
        estimates, counted = screening.estimates + len(self._makespans), screening.counted + self._charged
        return replace(screening, estimates=estimates, counted=counted)


def can_screen(tables: ProblemTables, space: Space, method: str) -> bool:
    """Return whether a search is one that screening is for: of a long trace, on CPUs, by a method that goes on."""
    return (
        tables.problem.trace.n_firings >= LEAST_FIRINGS
        and method in METHODS_AFTER
        and space.options.policies == POLICIES
        and len(space.options.capacities) == 1
        and can_merge(tables.problem)
        and space.one_core() is not None
    )


def enough(budget: Budget, seconds_left: float | None) -> bool:
    """Return whether a budget, of whose seconds so many are left, is large enough to be split."""
    return (budget.evaluations is None or budget.evaluations >= LEAST_EVALUATIONS) and (
        seconds_left is None or seconds_left >= LEAST_SECONDS
    )


def short_trace(
    tables: ProblemTables, space: Space, engine: Engine, named: str, evaluations: int | None
) -> ShortTrace | None:
    """Return the short trace of a problem and the engine called ``named`` for it.

    None where it gains too little, or making it counts for all that screening may have of so many ``evaluations``.
    """
    one_core = space.one_core()
    assert one_core is not None, "screening asks for a mapping on one core first"
    whole = tables.problem.trace.n_firings
    estimate = engine.estimate(one_core, firing_times=True)
    assert estimate.firing_times is not None
    most = whole // (PRICE * LEAST_GAIN)
    problem = merged_firings(tables, estimate.firing_times, longest=estimate.makespan // PIECES, most=most)
    if estimate.deadlock is not None or problem is None:
        return None
    short = ShortTrace(
        engine=make_engine(named, problem),
        n_actors=space.n_actors,
        firings=problem.trace.n_firings,
        whole=whole,
    )
    return short if short.leaves_some(evaluations) and _completes(short, one_core) else None


def _completes(short: ShortTrace, point: DesignPoint) -> bool:
    """Return whether the runs follow each other on one core; firings of no length may make them overlap."""
    try:
        return short.engine.estimate(point).deadlock is None
    except DseError:
        return False


def screen(
    short: ShortTrace, context: SearchContext, evaluator: Evaluator, *, workers: int, batch: int
) -> tuple[Screened, bool]:
    """Search with the short trace, in its context, and return what came of it; and whether the user interrupted it.

    ``evaluator``: has evaluated the points returned with the whole trace, and is charged with the others.
    """
    estimator = ThreadEstimator(short.engine, workers, short.firings)
    with closing(estimator):
        rounds = _Rounds(short, context, evaluator, estimator)
        interrupted = False
        try:
            rounds.run(batch)
        except KeyboardInterrupt:
            interrupted = True
            rounds.promote_best()  # what was found is worth one estimate of the whole trace
        return rounds.screened(), interrupted


class _Rounds:
    """The search with the short trace, of which the whole trace judges after each round."""

    def __init__(
        self, short: ShortTrace, context: SearchContext, evaluator: Evaluator, estimator: ThreadEstimator
    ) -> None:
        self._short, self._space, self._whole = short, context.space, evaluator
        self._left = evaluator.left
        of_short = Budget(
            evaluations=self._most_estimates,
            seconds=None if self._left.seconds is None else self._left.seconds * float(SHARE),
        )
        self._evaluator = Evaluator(
            estimator,
            budget=of_short,
            store=NoStore(),
            clock=time.perf_counter,
            progress=unheard,
            cutting=Cutting(keep=PROMOTED),
        )
        self._method = METHODS.load(METHOD)(context)
        self._promoted: dict[Candidate, tuple[int, Evaluation]] = {}
        """With the makespan of the short trace, and what the whole one says."""
        self._counted = self._misses = 0
        evaluator.charge(short.building)
        self._agreed = True

    def run(self, batch: int) -> None:
        """Make rounds until they bring nothing more, or screening has had its share."""
        for number in range(1, ROUNDS + 1):
            best = self._best
            goes_on = self._search(number, batch)
            self._promote(range(PROMOTED_OF_ROUND))
            if number == 1:
                made = len(ranked(self._evaluator.evaluations))
                self._promote([int(part * made) for part in SPREAD])
                self._agreed = agreement(list(self._promoted.values())) >= LEAST_AGREEMENT
            self._misses = 0 if self._gained(best) else self._misses + 1
            if not goes_on or not self._agreed or self._misses >= PATIENCE:
                return

    def _gained(self, before: int | None) -> bool:
        """Return whether the whole trace knows a makespan that is clearly less than one before."""
        return before is None or (self._best is not None and self._best < before * (1 - LEAST_IMPROVEMENT))

    def _search(self, number: int, batch: int) -> bool:
        """Search until the end of a round; return whether there may be another one."""
        evaluator, method = self._evaluator, self._method
        while not method.done and evaluator.stop is None and not self._is_over(number):
            method.tell(evaluator.evaluate(method.ask(batch), method.ceiling))
        counted = math.ceil(self._estimated)
        self._whole.charge(counted - self._counted)
        self._counted = counted
        return not self._is_spent and not method.done and evaluator.stop is None

    def _is_over(self, number: int) -> bool:
        """Return whether the share of so many rounds is spent."""
        part, most, seconds = number / ROUNDS, self._left.evaluations, self._left.seconds
        late = seconds is not None and self._evaluator.seconds >= part * seconds
        return late or self._is_spent or (most is not None and self._estimated >= part * most)

    @property
    def _most_estimates(self) -> int:
        """So many estimates of the short trace at most: a large batch leaves something for its best mappings."""
        if self._left.evaluations is None:
            return MOST_ESTIMATES
        left = self._left.evaluations - self._short.building - PROMOTED_OF_ROUND
        return max(1, min(MOST_ESTIMATES, math.floor(left / self._short.price)))

    @property
    def _estimated(self) -> float:
        """What the estimates of the short trace count."""
        return len(self._evaluator.evaluations) * self._short.price

    @property
    def _is_spent(self) -> bool:
        """Whether the share of screening is spent, what is promoted next included."""
        most = self._left.evaluations
        spent = self._short.building + self._estimated + len(self._promoted) + PROMOTED_OF_ROUND
        return most is not None and spent >= SHARE * most

    def _promote(self, ranks: Sequence[int]) -> None:
        """Estimate some of the best that are not yet with the whole trace; ``ranks``: which of them."""
        made = ranked(self._evaluator.evaluations)
        fresh = ((e, c) for e in made if (c := candidate_at(self._space, e.point)) not in self._promoted)
        first = list(islice(fresh, max(ranks) + 1))  # there may be thousands, and a candidate takes a while
        chosen = [(e.makespan, c) for e, c in (first[i] for i in ranks if i < len(first)) if c is not None]
        results = self._whole.evaluate([self._space.to_point(candidate) for _, candidate in chosen])
        for (makespan, candidate), result in zip(chosen, results, strict=False):
            self._promoted[candidate] = makespan, result

    def promote_best(self) -> None:
        """Estimate the best one with the whole trace, if it was not."""
        if not self._promoted:
            self._promote([0])

    @property
    def _best(self) -> int | None:
        return min((e.makespan for _, e in self._promoted.values() if not e.deadlock), default=None)

    def screened(self) -> Screened:
        """Return what came of it."""
        screening = Screening(
            firings=self._short.firings,
            whole=self._short.whole,
            estimates=len(self._evaluator.evaluations),
            counted=self._short.building + self._counted,
            agreed=self._agreed,
        )
        return Screened(best=list(self._promoted), screening=screening)


def agreement(pairs: Sequence[tuple[int, Evaluation]]) -> float:
    """Return the rank correlation of makespans with evaluations of the same points, -1 to 1; 1 where there are none.

    Pairs with equal makespans count for nothing: no tau-b (``dse.measure.agreement.kendall``), which is not defined
    where all makespans are equal.
    """
    made = [(short, e.makespan) for short, e in pairs if not e.deadlock]
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(made, 2)]
    told = [sign for sign in signs if sign]
    return sum(1 if sign > 0 else -1 for sign in told) / len(told) if told else 1.0


def note_screened(notes: Notes, budget: Budget, found: Screened, space: Space) -> None:
    """Note in the study what came of screening with such a budget, before its best points are estimated."""
    digests = [space.to_point(candidate).digest() for candidate in found.best]
    notes.note(_key(budget), json.dumps({**asdict(found.screening), "best": digests}))


def noted_screening(notes: Notes, budget: Budget, evaluator: Evaluator, space: Space) -> Screened | None:
    """Return what came of screening with such a budget where the study knows; None where it has to be made (again).

    That is so too where the search ended before all of the best points were estimated.
    """
    text = notes.noted(_key(budget))
    read = None if text is None else _read(text)
    if read is None:
        return None
    screening, best = read
    known = [evaluation for digest in best if (evaluation := evaluator.stored(digest)) is not None]
    candidates = [candidate_at(space, evaluation.point) for evaluation in known]
    found = [candidate for candidate in candidates if candidate is not None]
    return Screened(best=found, screening=screening) if len(found) == len(best) else None


def _read(text: str) -> tuple[Screening, list[str]] | None:
    """Return what a note says, and the digests of the best points; None where it is none of ours."""
    try:
        values = json.loads(text)
        best = values.pop("best")
        screening = Screening(**values)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    few = isinstance(best, list) and 0 < len(best) <= MOST_PROMOTED
    if not _is_sound(screening) or not few or not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in best):
        return None
    return screening, best


def _is_sound(screening: Screening) -> bool:
    """Return whether what was read has the types that it should have."""
    counts = (screening.firings, screening.whole, screening.estimates, screening.counted)
    return all(type(number) is int and number > 0 for number in counts) and type(screening.agreed) is bool


def _key(budget: Budget) -> str:
    """Return the key of what comes of screening with a budget: how much that may be, but not of which machine."""
    evaluations = "any number of" if budget.evaluations is None else f"{budget.evaluations}"
    return f"screening for {evaluations} evaluations{'' if budget.seconds is None else ' within a time'}"


def begun_at(found: Screened, context: SearchContext, evaluator: Evaluator) -> SearchContext:
    """Return the context of a search that begins where screening ended, or, if that ranked too badly, as ever.

    The points that were found are evaluated with the whole trace, unless they were. If none of them completes there,
    it begins as ever too.
    """
    results = evaluator.evaluate([context.space.to_point(candidate) for candidate in found.best])
    alive = [pair for pair in zip(results, found.best, strict=False) if not pair[0].deadlock]
    best = [candidate for _, candidate in sorted(alive, key=lambda pair: pair[0].makespan)]
    return replace(context, start=tuple(best[:PROMOTED]), begun=found.screening.agreed and bool(best))
