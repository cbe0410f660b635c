"""The search itself: bounds, the loop of method and evaluator, and the study that comes out."""

import contextlib
import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dse.base.errors import DeadlockError, OptionError
from dse.base.interrupts import held_interrupt
from dse.base.time_limit import TimeLimit, TimeSpent
from dse.estimate.deadlock import always_deadlocks
from dse.estimate.engine import Engine
from dse.explore.distribution.crew import Crew
from dse.explore.each_number import LOOK_SHARE, closing_look
from dse.explore.evaluator import Cutting, Estimator, Evaluator
from dse.explore.mapping_bound import MappingBound, allowed_rows_of, most_room
from dse.explore.method import SearchContext, SearchMethod
from dse.explore.methods.exact.unit_program import unit_bound
from dse.explore.objectives.front import Goals, front_of, ranked_by
from dse.explore.search import ClosingLook, ranked, run_search
from dse.explore.space.space import Space
from dse.flows.options import ExploreOptions
from dse.flows.program import RUNNING
from dse.flows.search.crew import crew_of, goes_in_legs
from dse.flows.search.method import kept, looks, make_method, search_context, searched_goals
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.screening import (
    PROMOTED,
    Screened,
    ShortSieve,
    ShortTrace,
    begun_at,
    can_screen,
    enough,
    note_screened,
    noted_screening,
    screen,
    short_trace,
)
from dse.flows.search.space import first_point, holds
from dse.flows.setting import Setting
from dse.formats.study_file import StudyStore
from dse.model.design_point import DesignPoint
from dse.model.estimate import Deadlock
from dse.model.study import Evaluation, LowerBound, Screening, StopReason, Study
from dse.report.why import deadlock_lines

EXPLAINING_SECONDS = 30
"""So long a search that found only deadlocks looks for what would help, whatever its budget was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search that is ready to run."""

    options: ExploreOptions
    setting: Setting
    space: Space
    goals: Goals | None
    plan: SearchPlan


def run_study(
    search: Search, estimator: Estimator, store: StudyStore, watch: Watcher, limit: TimeLimit, engine: Engine
) -> Study:
    """Run the search and return the study; the time ends it wherever it is, and so does an interrupt."""
    started = time.perf_counter()
    state = _State()
    evaluator: Evaluator | None = None
    try:
        evaluator = _evaluator(search, estimator, store, watch, limit)
        parts = _Parts(evaluator=evaluator, store=store, watch=watch, engine=engine, estimator=estimator)
        with limit.enforced():
            _run(search, parts, state)
    except TimeSpent:
        state.stop = "seconds"
    except KeyboardInterrupt:
        state.stop = "interrupted"
    if evaluator is None:
        raise too_early(limit) if state.stop == "seconds" else KeyboardInterrupt
    with held_interrupt() as held:  # what was found is worth a ranking
        evaluator.close()
        seconds = time.perf_counter() - started + evaluator.replayed_seconds
        study = _study(search, state, evaluator.evaluations, seconds)
    return study.ended(interrupted=held.came)


def _evaluator(search: Search, estimator: Estimator, store: StudyStore, watch: Watcher, limit: TimeLimit) -> Evaluator:
    """Return the evaluator of a search, whose budget in seconds is what is left of it. Raises ``TimeSpent``."""
    limit.check()
    space, goals = search.space, search.goals
    cutting = Cutting(keep=kept(search.options), counts=lambda e: holds(space, e.n_partitions))
    return Evaluator(
        estimator,
        budget=replace(search.plan.budget, seconds=_seconds(search, limit)),
        store=store,
        clock=time.perf_counter,
        progress=watch.progress,
        cutting=cutting if searched_goals(goals) is None else None,
    )


def _seconds(search: Search, limit: TimeLimit) -> float | None:
    """Return what the search may take of the time that is left, the rest of which is for the look behind it."""
    share = 1 - 1 / LOOK_SHARE if looks(search.options) else 1.0
    return None if limit.left is None else limit.left * share


@dataclass(slots=True)
class _State:
    """What a search has so far: an exception may end it at any place."""

    bounds: tuple[LowerBound, ...] = (LowerBound(makespan=0, reason="the search ended before it found a bound"),)
    method: SearchMethod | None = None
    baseline: Evaluation | None = None
    stop: StopReason = "complete"
    screening: Screening | None = None
    sieve: ShortSieve | None = None
    """What the short trace leaves out of descents."""

    def close(self) -> None:
        """End what is only for the search, and count what it took."""
        if self.sieve is not None and self.screening is not None:
            self.sieve.close()
            self.screening, self.sieve = self.sieve.added_to(self.screening), None

    @property
    def pruned(self) -> int:
        """So many points were left out by a bound."""
        return 0 if self.method is None else self.method.pruned

    @property
    def complete(self) -> bool:
        """Whether the best of the space was found."""
        return self.stop == "complete" and self.method is not None and self.method.exact


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a search works with."""

    evaluator: Evaluator
    store: StudyStore
    watch: Watcher
    engine: Engine
    estimator: Estimator


def _run(search: Search, parts: _Parts, state: _State) -> None:
    """Evaluate the mapping on one core, set up the method, and search; ``state`` tells how far it came."""
    options, space, goals, plan = search.options, search.space, search.goals, search.plan
    evaluator, store, watch = parts.evaluator, parts.store, parts.watch
    one_core = space.one_core()
    watch.stage("estimating the mapping on one core")
    if one_core is not None:
        state.baseline = next(iter(evaluator.evaluate([one_core])), None)
    if _is_dead(search, state.baseline):
        return
    watch.stage("computing bounds")
    bound = MappingBound(search.setting.tables, space)
    state.bounds = space_bounds(search.setting, space, bound)
    store.expect_at_least(state.bounds[0].makespan)
    evaluator.expect_at_least(state.bounds[0].makespan)
    context = search_context(search.setting, space, options.seed, kept(options), state.bounds[0].makespan, bound)
    context = replace(_screened(search, context, parts, state), threads=options.workers)
    context, crew = _in_legs(search, context, parts)
    watch.stage("setting up the method")
    state.method = make_method(plan.method, context, goals)
    watch.stage("searching")
    closing = _closing(search, context, evaluator)
    with contextlib.closing(state), contextlib.nullcontext() if crew is None else contextlib.closing(crew):
        outcome = run_search(state.method, evaluator, one_core, options.batch, closing, crew)
    state.baseline, state.stop = outcome.baseline, outcome.stop


def _in_legs(search: Search, context: SearchContext, parts: _Parts) -> tuple[SearchContext, Crew | None]:
    """Return the context of a search that may go on in legs, with who walks them; else the context as it is."""
    if searched_goals(search.goals) is not None or not goes_in_legs(search.setting):
        return context, None
    context = replace(context, legs=True)
    return context, crew_of(search.options, search.setting, parts.estimator, parts.evaluator, context)


def _screened(search: Search, context: SearchContext, parts: _Parts, state: _State) -> SearchContext:
    """Return the context with where the search begins, found on a short trace where the trace is long."""
    setting, space, options, evaluator = search.setting, search.space, search.options, parts.evaluator
    fits = options.screening and searched_goals(search.goals) is None
    if (
        not fits
        or not enough(search.plan.budget, evaluator.seconds_left)
        or not can_screen(setting.tables, space, search.plan.method)
    ):
        return context
    budget = evaluator.left
    parts.watch.stage("screening on a shorter trace")
    make = partial(short_trace, setting.tables, space, parts.engine, options.problem.engine, budget.evaluations)
    found, short = noted_screening(parts.store, budget, evaluator, space), None
    if found is not None:
        evaluator.charge(found.screening.counted)
        state.screening = found.screening
    else:
        short = make()
        if short is None:
            return context
        found = _screened_on(short, search, context, evaluator, state)
    note_screened(parts.store, budget, found, space)
    context = begun_at(found, context, evaluator)
    if context.begun:  # of screening that was noted the short trace is made only now
        short = short or make()
        state.sieve = None if short is None else ShortSieve(short, space, evaluator, options.workers)
    return replace(context, sieve=state.sieve)


def _screened_on(
    short: ShortTrace, search: Search, context: SearchContext, evaluator: Evaluator, state: _State
) -> Screened:
    """Return what came of screening on a short trace. Raises ``KeyboardInterrupt`` behind what an interrupt left."""
    options = search.options
    of_short = replace(context, rng=np.random.default_rng(options.seed), keep=PROMOTED)  # its loads are the same
    found, interrupted = screen(short, of_short, evaluator, workers=options.workers, batch=options.batch)
    state.screening = found.screening
    if interrupted:
        raise KeyboardInterrupt
    return found


def _closing(search: Search, context: SearchContext, evaluator: Evaluator) -> ClosingLook | None:
    """Return the closing look at each number of cores, which is shown where the makespan is what ranks."""
    if searched_goals(search.goals) is not None:
        return None

    def context_in(part: Space) -> SearchContext:
        # What bounds the points of a space bounds those of its parts.
        rng = np.random.default_rng(search.options.seed)
        return replace(context, space=part, rng=rng, keep=1, start=(), begun=False, legs=False, sieve=None)

    return closing_look(context, search.plan.budget.evaluations, evaluator, context_in)


def _is_dead(search: Search, baseline: Evaluation | None) -> bool:
    """Return whether every mapping of the space deadlocks: then none of them needs to be tried.

    Of several capacities those that always deadlock were left out (``searched_space``), if any other is left.
    """
    if baseline is not None and not baseline.deadlock:
        return False
    return all(always_deadlocks(search.setting.tables, tokens) for tokens in search.space.options.capacities)


def _study(search: Search, state: _State, evaluations: list[Evaluation], seconds: float) -> Study:
    """Return the study of a search that is over."""
    space, goals, plan = search.space, search.goals, search.plan
    in_space = [e for e in evaluations if holds(space, e.n_partitions)]
    several = len(space.options.capacities) > 1
    memory = search.setting.trace.topology.memory_bytes if several else None
    ranking = ranked(in_space, memory) if goals is None else ranked_by(goals, in_space)
    return Study(
        network=plan.network,
        method=plan.method,
        method_reason=plan.reason,
        seed=search.options.seed,
        space_size=space.size,
        symmetric=space.placements - space.told_apart,
        symmetric_actors=space.told_apart - space.mappings,
        evaluations=len(evaluations),
        deadlocks=sum(e.deadlock for e in evaluations),
        cut=sum(e.cut for e in evaluations),
        pruned=min(state.pruned, space.size - len(in_space)),
        complete=state.complete,
        stop=state.stop,
        seconds=seconds,
        ranking=ranking,
        baseline=state.baseline,
        lower_bounds=_with_proven(state, plan.method),
        assumed=(*plan.assumed, *_remarks(goals)),
        screening=state.screening,
        front=None if goals is None else front_of(goals, in_space, goals.least(space)),
        values=() if goals is None else tuple(goals.values(goals.costs(e)) for e in ranking),
    )


def _remarks(goals: Goals | None) -> tuple[str, ...]:
    """Return what is to be said of the costs of a search that is over."""
    return () if goals is None else goals.remarks


def _with_proven(state: _State, name: str) -> tuple[LowerBound, ...]:
    """Return the bounds with what the search has proven itself, the highest first."""
    if state.method is None or state.method.proven <= state.bounds[0].makespan:
        return state.bounds
    return (LowerBound(makespan=state.method.proven, reason=f"proven by the search ({name})"), *state.bounds)


def space_bounds(setting: Setting, space: Space, bound: MappingBound) -> tuple[LowerBound, ...]:
    """Return what no mapping of the space can beat, the highest first; ``bound``: the bounds of its mappings."""
    rows = allowed_rows_of(setting.tables, space)
    cores = space.n_actors if "FULL_PARALLEL" in space.options.policies else min(space.most, space.n_actors)
    room = most_room(space)
    found = bound.of_trace.of_any_point(cores=cores, transfers=space.options.transfers, rows=rows, room=room)
    on = "one core" if cores == 1 else f"{cores} cores"
    bounds = [
        LowerBound(makespan=found.work, reason=f"all the work evenly on {on}"),
        LowerBound(makespan=found.heaviest_actor, reason="the heaviest actor, whose firings cannot overlap"),
        LowerBound(makespan=found.critical_path, reason="the critical path of the trace"),
    ]
    if found.room > found.critical_path:
        words = "the critical path of the trace, room in the buffers included"
        bounds.append(LowerBound(makespan=found.room, reason=words))
    if found.filling > max(bound.makespan for bound in bounds):
        words = f"all the work on {on}, filling and draining included"
        bounds.append(LowerBound(makespan=found.filling, reason=words))
    placed = unit_bound(setting.tables, space, bound, found.makespan)
    if placed > found.makespan:
        bounds.append(LowerBound(makespan=placed, reason="an integer program of where the actors are"))
    return tuple(sorted(bounds, key=lambda bound: -bound.makespan))


def too_early(limit: TimeLimit) -> OptionError:
    """Return the error for a budget in seconds that ended before the first evaluation did, with where it went."""
    what, seconds = limit.longest_stage()
    more = "give more of it: the mapping on one core, to which the others are compared, counts too"
    return OptionError(
        f"the budget ended before a mapping of the space was estimated: of {limit.spent:.1f} s,"
        f" {what} took {seconds:.1f} s",
        expected=f"{more}; a network that never ends needs -f or --max-firings" if what == RUNNING else more,
    )


def nothing_found(
    search: Search, study: Study, engine: Engine, limit: TimeLimit
) -> DeadlockError | OptionError | KeyboardInterrupt:
    """Return what to raise for a study without a mapping that completes; an error explains one deadlock."""
    if study.stop == "interrupted":
        return KeyboardInterrupt()
    space = search.space
    outside = study.baseline is not None and not holds(space, study.baseline.n_partitions)
    if study.evaluations == int(outside):
        if study.stop == "seconds":
            return too_early(limit)
        return OptionError(
            "the budget ended before a mapping of the space was estimated",
            expected="give more of it: the mapping on one core, to which the others are compared, counts as one",
        )
    what = "every mapping deadlocks" if study.stop == "complete" else "every mapping estimated so far deadlocks"
    try:
        with TimeLimit(EXPLAINING_SECONDS).enforced():
            explained = _one_deadlock(search, engine)
    except TimeSpent:
        explained = f"; who waits for what was not found within {EXPLAINING_SECONDS} s, `dse estimate` looks longer"
    return DeadlockError(f"{what}{explained}", expected="give the FIFOs more capacity with --buffers")


def _one_deadlock(search: Search, engine: Engine) -> str:
    """Return one deadlock in words, to go behind what is said of all: of the mapping on one core, else of the first."""
    one_core, topology = search.space.one_core(), search.setting.trace.topology
    for point in (one_core, first_point(search.space)):
        deadlock = None if point is None else verified_deadlock(engine, point)
        if point is not None and deadlock is not None:
            where = "with all actors on one core" if len(point.partitions) == 1 else "one"
            return "\n  ".join([f"; {where}:", *deadlock_lines(topology, deadlock, point.capacities)])
    return ""


def verified_deadlock(engine: Engine, point: DesignPoint) -> Deadlock | None:
    """Return the deadlock of a point, if it has one; capacities that are said to help have been tried."""
    deadlock = engine.estimate(point).deadlock
    if deadlock is None or deadlock.remedy is None:
        return deadlock
    (helped,) = engine.estimates([replace(point, capacities=deadlock.remedy)])
    return deadlock if helped.deadlock is None else replace(deadlock, remedy=None, sought=False)
