"""The search itself: bounds, the loop of method and evaluator, and the study that comes out."""

import time
from dataclasses import dataclass

from dse.base.errors import DeadlockError, OptionError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import Engine
from dse.explore.evaluator import Cutting, Estimator, Evaluator
from dse.explore.mapping_bound import fastest_rows
from dse.explore.method import SearchMethod
from dse.explore.objectives.front import Goals, front_of, ranked_by
from dse.explore.search import SearchOutcome, ranked, run_search
from dse.explore.space.space import Space
from dse.flows.options import ExploreOptions
from dse.flows.search.method import kept, make_method, search_context, searched_goals
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.space import first_point, holds
from dse.flows.setting import Setting
from dse.formats.study_file import StudyStore
from dse.model.study import Evaluation, LowerBound, Study
from dse.report.why import deadlock_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search that is ready to run."""

    options: ExploreOptions
    setting: Setting
    space: Space
    goals: Goals | None
    plan: SearchPlan


def run_study(search: Search, estimator: Estimator, store: StudyStore, watch: Watcher) -> Study:
    """Run the search and return the study."""
    options, space, goals, plan = search.options, search.space, search.goals, search.plan
    keep = kept(options)
    started = time.perf_counter()
    bounds = space_bounds(search.setting, space)
    context = search_context(search.setting, space, options.seed, keep, bounds[0].makespan)
    method = make_method(plan.method, context, goals)
    cutting = Cutting(keep=keep, counts=lambda point: holds(space, len(point.partitions)))
    store.expect_at_least(bounds[0].makespan)
    evaluator = Evaluator(
        estimator,
        least=bounds[0].makespan,
        budget=plan.budget,
        store=store,
        clock=time.perf_counter,
        progress=watch.progress,
        cutting=cutting if searched_goals(goals) is None else None,
    )
    bounding_seconds = time.perf_counter() - started
    outcome = run_search(method, evaluator, space.one_core(), options.batch)
    seconds = bounding_seconds + evaluator.seconds
    found = _Found(bounds=bounds, method=method, outcome=outcome, evaluations=evaluator.evaluations, seconds=seconds)
    return _study(search, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a search has left when it is over."""

    bounds: tuple[LowerBound, ...]
    method: SearchMethod
    outcome: SearchOutcome
    evaluations: list[Evaluation]
    seconds: float


def _study(search: Search, found: _Found) -> Study:
    """Return the study of a search that is over."""
    space, goals, plan, method = search.space, search.goals, search.plan, found.method
    in_space = [e for e in found.evaluations if holds(space, e.n_partitions)]
    ranking = ranked(in_space) if goals is None else ranked_by(goals, in_space)
    return Study(
        network=plan.network,
        method=plan.method,
        method_reason=plan.reason,
        seed=search.options.seed,
        space_size=space.size,
        symmetric=space.placements - space.told_apart,
        symmetric_actors=space.told_apart - space.mappings,
        evaluations=len(found.evaluations),
        deadlocks=sum(e.deadlock for e in found.evaluations),
        cut=sum(e.cut for e in found.evaluations),
        pruned=min(method.pruned, space.size - len(in_space)),
        complete=found.outcome.stop == "complete" and method.exact,
        stop=found.outcome.stop,
        seconds=found.seconds,
        ranking=ranking,
        baseline=found.outcome.baseline,
        lower_bounds=_with_proven(found.bounds, method, plan.method),
        assumed=plan.assumed,
        front=None if goals is None else front_of(goals, in_space),
        values=() if goals is None else tuple(goals.values(goals.costs(e)) for e in ranking),
    )


def _with_proven(bounds: tuple[LowerBound, ...], method: SearchMethod, name: str) -> tuple[LowerBound, ...]:
    """Return the bounds with what the search has proven itself, the highest first."""
    if method.proven <= bounds[0].makespan:
        return bounds
    return (LowerBound(makespan=method.proven, reason=f"proven by the search ({name})"), *bounds)


def space_bounds(setting: Setting, space: Space) -> tuple[LowerBound, ...]:
    """Return what no mapping of the space can beat, the highest first."""
    row_of = fastest_rows(setting.tables, space)
    rows = [sorted({row_of[u] for u in units}) for units in space.allowed]
    cores = space.n_actors if "FULL_PARALLEL" in space.options.policies else min(space.most, space.n_actors)
    found = Bounds(setting.tables).of_any_point(cores=cores, transfers=space.options.transfers, rows=rows)
    on = "one core" if cores == 1 else f"{cores} cores"
    bounds = [
        LowerBound(makespan=found.work, reason=f"all the work evenly on {on}"),
        LowerBound(makespan=found.heaviest_actor, reason="the heaviest actor, whose firings cannot overlap"),
        LowerBound(makespan=found.critical_path, reason="the critical path of the trace"),
    ]
    return tuple(sorted(bounds, key=lambda bound: -bound.makespan))


def nothing_found(search: Search, study: Study, engine: Engine) -> DeadlockError | OptionError | KeyboardInterrupt:
    """Return what to raise for a study without a mapping that completes; an error explains one deadlock."""
    if study.stop == "interrupted":
        return KeyboardInterrupt()
    space = search.space
    outside = study.baseline is not None and not holds(space, study.baseline.n_partitions)
    if study.evaluations == int(outside):
        return OptionError(
            "the budget ended before a mapping of the space was estimated",
            expected="give more of it: the mapping on one core, to which the others are compared, counts as one",
        )
    what = "every mapping deadlocks" if study.stop == "complete" else "every mapping estimated so far deadlocks"
    explained = _one_deadlock(search, engine)
    return DeadlockError(f"{what}{explained}", expected="give the FIFOs more capacity with --buffers")


def _one_deadlock(search: Search, engine: Engine) -> str:
    """Return one deadlock in words, to go behind what is said of all: of the mapping on one core, else of the first."""
    one_core, topology = search.space.one_core(), search.setting.trace.topology
    for point in (one_core, first_point(search.space)):
        deadlock = None if point is None else engine.estimate(point).deadlock
        if point is not None and deadlock is not None:
            where = "with all actors on one core" if len(point.partitions) == 1 else "one"
            return "\n  ".join([f"; {where}:", *deadlock_lines(topology, deadlock, point.capacities)])
    return ""
