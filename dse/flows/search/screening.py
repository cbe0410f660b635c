"""Screening: a search of a long trace begins on a short one that stands for it, and goes on from the best of that.

The short trace has the runs that one core makes in a row as single firings (``dse.estimate.problem.merged_firings``):
it covers the whole program, and ranks mappings better than a tenth of the trace taken anywhere
(docs/search-quality.md). What it finds is only where the search begins: each of its best mappings
is estimated with the whole trace, and nothing else is kept, ranked or proven. Half of the budget goes to it at most.
What its estimates cost is counted in evaluations by the number of firings, which is the same on every machine.
A search that is resumed with the same budget takes what it had found from its study.
"""

import json
import math
import re
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Protocol

from dse.base.errors import DseError
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.merged_firings import can_merge, merged_firings
from dse.estimate.problem.tables import ProblemTables
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.registry import METHODS
from dse.explore.search import ranked, run_search
from dse.explore.space.locate import candidate_at
from dse.explore.space.space import Candidate, Space
from dse.flows.program import unheard
from dse.model.design_point import DesignPoint, Policy
from dse.model.study import Evaluation, Screening
from dse.model.trace import Trace

LEAST_FIRINGS = 200_000
"""Shorter traces are estimated in ten milliseconds: a search of five thousand evaluations takes a minute as it is."""
PIECES = 10_000
"""A run is at most one part of so many of the time on one core: FIFOs with much room do not make all of it one run."""
PRICE = 4
"""A run costs as much as so many firings: the next event is another actor's, as it seldom is among firings."""
PROPOSAL = 150_000
"""To propose a mapping and to look at what came of it costs as much as so many firings: a millisecond or two."""
LEAST_GAIN = 2
"""Without proposals screening has to be so many times as cheap as the whole trace."""
SHARE = 2
"""One part of so many of a budget at most is for screening,"""
MOST_ESTIMATES = 5_000
"""and no more estimates than these."""
LEAST_EVALUATIONS = 40
LEAST_SECONDS = 20.0
"""With a smaller budget there is nothing to go on with."""
PROMOTED = 10
"""So many of the best of the short trace are estimated with the whole one."""
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
    """What came of screening: its best points, the best first."""

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
    """The tables of a short trace that stands for a long one, and the engine for them."""

    tables: ProblemTables
    engine: Engine
    firings: int
    whole: int

    @property
    def trace(self) -> Trace:
        """The short trace."""
        return self.tables.problem.trace

    @property
    def price(self) -> float:
        """What an estimate costs, in those of the whole trace."""
        return (PRICE * self.firings + PROPOSAL) / (self.whole + PROPOSAL)


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


def short_trace(tables: ProblemTables, space: Space, engine: Engine, named: str) -> ShortTrace | None:
    """Return the short trace of a problem and the engine called ``named`` for it; None where it gains too little."""
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
        tables=build_tables(problem),
        engine=make_engine(named, problem),
        firings=problem.trace.n_firings,
        whole=whole,
    )
    return short if _completes(short, one_core) else None


def _completes(short: ShortTrace, point: DesignPoint) -> bool:
    """Return whether the runs follow each other on one core; firings of no length may make them overlap."""
    try:
        return short.engine.estimate(point).deadlock is None
    except DseError:
        return False


def estimates_for(short: ShortTrace, budget: Budget) -> Budget:
    """Return the budget of screening, in estimates of the short trace."""
    most = MOST_ESTIMATES
    if budget.evaluations is not None:
        most = min(most, int(budget.evaluations / SHARE / short.price))
    return Budget(evaluations=max(1, most), seconds=None if budget.seconds is None else budget.seconds / SHARE)


def screen(
    short: ShortTrace, context: SearchContext, budget: Budget, *, workers: int, batch: int
) -> tuple[Screened, bool]:
    """Search with the short trace, in its context, and return what came of it; and whether the user interrupted it."""
    estimator = ThreadEstimator(short.engine, workers, short.firings)
    evaluator = Evaluator(
        estimator,
        budget=estimates_for(short, budget),
        store=NoStore(),
        clock=time.perf_counter,
        progress=unheard,
        cutting=Cutting(keep=PROMOTED),
    )
    with closing(estimator):
        outcome = run_search(METHODS.load(METHOD)(context), evaluator, None, batch)
    made = evaluator.evaluations
    found = [candidate_at(context.space, evaluation.point) for evaluation in ranked(made)[:PROMOTED]]
    counted = math.ceil(len(made) * short.price)
    screening = Screening(firings=short.firings, whole=short.whole, estimates=len(made), counted=counted)
    candidates = [candidate for candidate in found if candidate is not None]
    return Screened(best=candidates, screening=screening), outcome.stop == "interrupted"


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
    numbers = all(type(number) is int and number > 0 for number in asdict(screening).values())
    few = isinstance(best, list) and 0 < len(best) <= PROMOTED
    if not numbers or not few or not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in best):
        return None
    return screening, best


def _key(budget: Budget) -> str:
    """Return the key of what comes of screening with a budget: how much that may be, but not of which machine."""
    evaluations = "any number of" if budget.evaluations is None else f"{budget.evaluations}"
    return f"screening for {evaluations} evaluations{'' if budget.seconds is None else ' within a time'}"


def promoted(candidates: list[Candidate], evaluator: Evaluator, space: Space) -> list[Candidate]:
    """Evaluate candidates with the whole trace and return those that completed, the best first."""
    results = evaluator.evaluate([space.to_point(candidate) for candidate in candidates])
    order = [space_point for space_point in zip(results, candidates, strict=False) if not space_point[0].deadlock]
    return [candidate for _, candidate in sorted(order, key=lambda pair: pair[0].makespan)]
