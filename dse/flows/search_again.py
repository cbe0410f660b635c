"""Which improvement pays before a mapping is chosen: for each the best mapping is searched again, from the best known.

An improvement that saves nothing on the mapping at hand may make another mapping the best, and one that saves much may
only move the work. So the mappings are searched without any change; the changes that save most over the best few of
them are then each searched for, from there (``dse.explore.methods.improving.local_search``).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.analyse.what_if import Laboratory, is_paired, single_changes
from dse.base.errors import DeadlockError
from dse.estimate.engine import Engine, compile_behind
from dse.estimate.problem.changes import changed
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.methods.improving.local_search import LocalSearch
from dse.explore.search import run_search
from dse.explore.space.space import Candidate, Space
from dse.flows.program import unheard
from dse.flows.search.method import search_context
from dse.flows.setting import Setting
from dse.model.changes import Change, FreeLink, Room
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from dse.model.study import Evaluation
from dse.model.what_if import SearchedAgain, SearchedImprovement

STARTS = 5
"""So many of the best mappings are begun from, and tell which improvements are worth a search."""
SEARCHED = 8
"""So many improvements are searched for."""
SHARE = 2
"""A search for an improvement has this part of the evaluations of the first one: it begins where that ended."""
_BATCH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAgain:
    """How to search. ``evaluations``: of the search without changes; ``workers``: threads; ``seed``: of all."""

    evaluations: int
    seed: int
    workers: int


class _Unkept:
    """An ``EvaluationStore`` that keeps nothing."""

    def known(self) -> dict[str, Evaluation]:
        return {}

    def add(self, evaluation: Evaluation) -> None:
        """Keep nothing."""

    def commit(self) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Searcher:
    """Searches the mappings of a space under changes of a setting whose tables are those of the laboratory."""

    setting: Setting
    engine: Engine
    space: Space
    options: SearchAgain

    def search(self, changes: Sequence[Change], starts: Sequence[Candidate], evaluations: int) -> LocalSearch:
        """Return the search for the best mapping under changes, when it is over."""
        tables, _ = changed(self.setting.tables, self.space.to_point(next(self.space.candidates())), changes)
        engine = self.engine.with_tables(tables)
        rooms = [change for change in changes if isinstance(change, Room)]
        setting = replace(self.setting, tables=tables)
        context = search_context(setting, self.space, self.options.seed, STARTS, 0)
        method = LocalSearch(context, starts)
        compile_behind(engine.name)
        threads = ThreadEstimator(engine, self.options.workers, setting.trace.n_firings)

        def estimates(points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
            return threads([changed(tables, point, rooms)[1] for point in points], limit)

        evaluator = Evaluator(
            estimates,
            budget=Budget(evaluations=evaluations),
            store=_Unkept(),
            clock=time.perf_counter,
            progress=unheard,
            cutting=Cutting(keep=STARTS),
        )
        try:
            if run_search(method, evaluator, None, _BATCH).stop == "interrupted":
                raise KeyboardInterrupt
        finally:
            threads.close()
        return method


def best_mappings(setting: Setting, engine: Engine, space: Space, options: SearchAgain) -> list[Candidate]:
    """Return the best mappings that a search without changes finds. Raises ``DeadlockError`` where all deadlock."""
    searcher = _Searcher(setting=setting, engine=engine, space=space, options=options)
    found = searcher.search((), (), options.evaluations).best(STARTS)
    if not found:
        raise DeadlockError(
            "every mapping estimated so far deadlocks", expected="give the FIFOs more capacity with --buffers"
        )
    return found


def search_again(
    setting: Setting, engine: Engine, space: Space, starts: Sequence[Candidate], options: SearchAgain
) -> SearchedAgain:
    """Return what improvements give when the best mapping is searched for each; ``starts``: the best without them.

    ``setting`` and ``engine`` may have any tables; what comes of it is in their ticks.
    """
    first = Laboratory(engine, setting.tables, space.to_point(starts[0]), options.workers)
    laboratories = [first, *(first.on(space.to_point(candidate)) for candidate in starts[1:])]
    fine = replace(setting, tables=first.tables)
    changes = _promising(laboratories)
    searcher = _Searcher(setting=fine, engine=engine, space=space, options=options)
    rows = []
    for change in changes:
        method = searcher.search((change,), starts, max(STARTS, options.evaluations // SHARE))
        best = method.best(1)
        if best:
            rows.append(_improvement(first, space, change, best[0]))
    return SearchedAgain(
        point=first.point,
        makespan=first.makespan,
        unit=setting.tables.tick_unit,
        improvements=tuple(sorted(rows, key=lambda row: row.found)),
        evaluations=options.evaluations,
    )


def _promising(laboratories: Sequence[Laboratory]) -> list[Change]:
    """Return the changes that save most over the best few mappings, each on the one that suits it best.

    What a link costs depends on what crosses it, so that its being free is no change of all mappings.
    """
    capacities = laboratories[0].point.capacities
    cases = dict.fromkeys(change for lab in laboratories for change in single_changes(lab))
    paired = [c for c in cases if is_paired(c, capacities) and not isinstance(c, FreeLink)]
    least: dict[Change, Fraction] = {}
    for lab in laboratories:
        for change, makespan in zip(paired, lab.makespans([(change,) for change in paired]), strict=True):
            if makespan is not None:
                least[change] = min(makespan, least.get(change, makespan))
    return sorted(least, key=least.__getitem__)[:SEARCHED]


def _improvement(laboratory: Laboratory, space: Space, change: Change, best: Candidate) -> SearchedImprovement:
    """Return what a change gives on the best mapping without it, and on its own best mapping."""
    (kept,) = laboratory.makespans([(change,)])
    point = space.to_point(best)
    own = laboratory.on(point)
    (found,) = own.makespans([(change,)])
    assert found is not None, "a search returns no mapping that deadlocks"
    without = None if own.estimate.deadlock is not None else own.makespan
    return SearchedImprovement(change=change, kept=kept, found=found, point=point, without=without)
