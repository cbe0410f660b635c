"""``dse explore`` as a function: from a network and an input to ranked mappings, their files and a report.

Read ``explore`` from top to bottom: one variable a stage.
"""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.base.errors import DeadlockError, OptionError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.prepare import prepare
from dse.explore.distribution.cluster import ClusterEstimator
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Estimator, Evaluator, Progress
from dse.explore.mapping_bound import MappingBound, fastest_rows
from dse.explore.method import SearchContext, SearchMethod, Traffic
from dse.explore.methods.registry import METHODS, choose_method, size_text
from dse.explore.objectives.front import (
    MAKESPAN_ONLY,
    ByGoals,
    Goals,
    check_method_for,
    choose_method_for,
    front_of,
    make_goals,
    ranked_by,
    unbounded,
)
from dse.explore.search import BATCH, ranked, run_search
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.merged import merged_space
from dse.explore.space.space import Space, SpaceOptions, build_space
from dse.flows.buffers import parse_sizing_method, sized_capacities
from dse.flows.clocks import clock_domains, clocked_setting, domains_text
from dse.flows.defaults import cpu_only_actors, default_budget
from dse.flows.deliver import Delivery, deliver
from dse.flows.manifest import platform_digest, text_digest, tool_manifest, trace_manifest, weights_digest
from dse.flows.options import ExploreOptions
from dse.flows.program import Setting, load_setting, read_capacities, unheard
from dse.formats.study_file import StudyStore, create_study, move_aside, resume_study
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.study import LowerBound, Study
from dse.report.html import ReportInputs, tokens_of_buffers
from dse.report.ranking import ranked_rows
from dse.report.why import Reasons, deadlock_lines, reasons_of
from dse.sizing.buffers import SIZING_METHODS

KEPT = 10
"""So many of the best are exact and shown: no bound excludes a mapping that could be among them."""
STORE_NAME = "study.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What is about to happen, for those who watch: shown before the first evaluation."""

    network: str
    firings: int
    points: int
    space: str
    method: str
    reason: str
    budget: Budget
    assumed: tuple[str, ...]
    replaced_study: bool
    """An earlier study in the folder was moved aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """The outcome of ``explore``. ``estimate`` and ``reasons`` are of the best mapping."""

    study: Study
    setting: Setting
    space: Space
    estimate: Estimate
    reasons: Reasons
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Whom to tell what. Nothing that is told influences a result."""

    planned: Callable[[SearchPlan], None] = unheard
    progress: Callable[[Progress], None] = unheard
    stage: Callable[[str], None] = unheard


def explore(options: ExploreOptions, watcher: Watcher | None = None) -> Explored:
    """Search the mappings of a network, rank them and deliver the best with a report.

    Raises:
        DeadlockError: every mapping that was evaluated deadlocks.
        InfeasibleDesign: the space is empty. FormatError, SourceError, OptionError: an input or option is wrong.
    """
    watch = watcher or Watcher()
    setting = load_setting(options.problem, watch.stage)
    domains = clock_domains(options.clocks, setting.platform)
    setting = clocked_setting(setting, ((unit, clock) for d in domains for unit in d.units for clock in d.clocks_mhz))
    space, assumed = _space(options, setting, domains)
    engine = make_engine(options.problem.engine, setting.problem)
    budget = options.budget or default_budget(
        options.problem.engine, setting.trace.n_firings, len(setting.trace.topology.actors)
    )
    prepare(setting.tables, space.one_core() or _first_point(space))  # weights that are missing stop us before all else
    goals = make_goals(options.objectives, setting.tables)
    name, reason = _method(options, space, goals, budget)
    cluster = _cluster(options, setting)  # connected before an earlier study is moved aside
    out = options.out or Path("dse-out") / setting.trace.topology.name
    store, replaced = _open_store(out, options, setting, space)
    plan = SearchPlan(
        network=setting.trace.topology.name,
        firings=setting.trace.n_firings,
        points=space.size,
        space=size_text(space),
        method=name,
        reason=reason,
        budget=budget,
        assumed=assumed,
        replaced_study=replaced,
    )
    watch.planned(plan)
    try:
        threads = ThreadEstimator(engine, options.workers, setting.trace.n_firings)
        with closing(cluster or threads) as estimator:
            study = _search(options, setting, space, estimator, store, watch, plan, goals)
    finally:
        store.close()
    if not study.ranking:
        if study.stop == "interrupted":
            raise KeyboardInterrupt
        raise _nothing_found(study, space, setting, engine)
    watch.stage("writing the report")
    inputs = _report_inputs(options, setting, study, engine, budget)
    delivery = deliver(inputs, setting.platform, out=out, best=options.best)
    return Explored(
        study=study, setting=setting, space=space, estimate=inputs.estimate, reasons=inputs.reasons, delivery=delivery
    )


def _report_inputs(
    options: ExploreOptions, setting: Setting, study: Study, engine: Engine, budget: Budget
) -> ReportInputs:
    """Return what the report shows; the best mapping is estimated once more, with the time of every firing."""
    topology, best = setting.trace.topology, study.ranking[0].point
    estimate = engine.estimate(best, firing_times=True)
    return ReportInputs(
        study=study,
        trace=setting.trace,
        rows=ranked_rows(study, topology, max(KEPT, options.best)),
        estimate=estimate,
        reasons=reasons_of(topology, best, estimate, study.lower_bounds),
        manifest=_manifest(options, setting, budget),
    )


def _space(
    options: ExploreOptions, setting: Setting, domains: tuple[ClockDomain, ...]
) -> tuple[Space, tuple[str, ...]]:
    """Return the space and everything that is assumed so far."""
    choices = [
        sized_capacities(parse_sizing_method(text), setting, options.problem.engine)
        if text in SIZING_METHODS
        else read_capacities(text, setting)
        for text in options.buffers or ("",)
    ]
    cpu_only = cpu_only_actors(setting.tables, setting.network)
    space = build_space(
        setting.trace.topology,
        setting.platform,
        SpaceOptions(
            partitions=options.partitions,
            pins=options.pins,
            policies=options.policies,
            policy_per_partition=options.policy_per_partition,
            capacities=tuple(dict.fromkeys(c.tokens for c in choices)),
            release=options.release,
            transfers=options.transfers,
            clocks=domains,
        ),
        cpu_only=cpu_only.actors,
    )
    space = merged_space(space, setting.tables)
    return space, (*setting.assumed, *(a for c in choices for a in c.assumed), *cpu_only.assumed)


def _first_point(space: Space) -> DesignPoint:
    return space.to_point(next(space.candidates()))


def _method(options: ExploreOptions, space: Space, goals: Goals | None, budget: Budget) -> tuple[str, str]:
    """Return the name of the search method and why it is this one."""
    searched = _not_of_makespan(goals)
    if options.workers < 1:
        raise OptionError(f"{options.workers} threads estimate nothing", expected="--workers takes 1 or more")
    if options.batch < 1:
        raise OptionError(f"batches of {options.batch} mappings hold nothing", expected="--batch takes 1 or more")
    if options.best < 1:
        raise OptionError(f"{options.best} best mappings are asked for", expected="--best takes 1 or more")
    if options.seed < 0:
        raise OptionError(f"a seed of {options.seed} is below 0", expected="--seed takes 0 or more")
    if options.method == "auto":
        return choose_method_for(searched, space, budget) if searched else choose_method(space)
    METHODS.load(options.method)
    if options.policy_per_partition and options.method == "integer-program":
        raise OptionError(
            "method 'integer-program' knows one policy for all partitions", expected="leave out --policy-per-partition"
        )
    if searched is not None:
        check_method_for(searched, options.method)
    return options.method, "as asked"


def _search(
    options: ExploreOptions,
    setting: Setting,
    space: Space,
    estimator: Estimator,
    store: StudyStore,
    watch: Watcher,
    plan: SearchPlan,
    goals: Goals | None,
) -> Study:
    """Run the search and return the study."""
    searched = _not_of_makespan(goals)
    started = time.perf_counter()
    bounds = space_bounds(setting, space)
    context = _context(setting, space, options.seed, max(KEPT, options.best), bounds[0].makespan)
    method: SearchMethod = METHODS.load(plan.method)(context if searched is None else unbounded(context, searched))
    if searched is not None:
        method = ByGoals(method, searched)
    cutting = Cutting(keep=max(KEPT, options.best), counts=lambda point: _holds(space, len(point.partitions)))
    evaluator = Evaluator(
        estimator,
        budget=plan.budget,
        store=store,
        clock=time.perf_counter,
        progress=watch.progress,
        cutting=cutting if searched is None else None,
    )
    bounding_seconds = time.perf_counter() - started
    outcome = run_search(method, evaluator, space.one_core(), options.batch)
    in_space = [e for e in evaluator.evaluations if _holds(space, e.n_partitions)]
    ranking = ranked(in_space) if goals is None else ranked_by(goals, in_space)
    return Study(
        network=setting.trace.topology.name,
        method=plan.method,
        method_reason=plan.reason,
        seed=options.seed,
        space_size=space.size,
        symmetric=space.placements - space.told_apart,
        symmetric_actors=space.told_apart - space.mappings,
        evaluations=len(evaluator.evaluations),
        deadlocks=sum(e.deadlock for e in evaluator.evaluations),
        cut=sum(e.cut for e in evaluator.evaluations),
        pruned=min(method.pruned, space.size - len(in_space)),
        complete=outcome.stop == "complete" and method.exact,
        stop=outcome.stop,
        seconds=bounding_seconds + evaluator.seconds,
        ranking=ranking,
        baseline=outcome.baseline,
        lower_bounds=_with_proven(bounds, method, plan.method),
        assumed=plan.assumed,
        front=None if goals is None else front_of(goals, in_space),
        values=() if goals is None else tuple(goals.values(goals.costs(e)) for e in ranking),
    )


def _not_of_makespan(goals: Goals | None) -> Goals | None:
    """Return the goals that the search itself has to know: none where the makespan, or a function of it, is all."""
    return None if goals is None or goals.of_makespan else goals


def _cluster(options: ExploreOptions, setting: Setting) -> ClusterEstimator | None:
    if options.cluster is None:
        return None
    return ClusterEstimator(options.cluster, setting.problem, options.problem.engine)


def _holds(space: Space, n_partitions: int) -> bool:
    """Return whether the space holds a point that was evaluated; only the reference mapping on one core may not be."""
    return n_partitions > 1 or space.least == 1


def _context(setting: Setting, space: Space, seed: int, keep: int, least: int) -> SearchContext:
    topology = setting.trace.topology
    bound = MappingBound(setting.tables, space)
    tokens = tokens_of_buffers(setting.trace)
    return SearchContext(
        space=space,
        rng=np.random.default_rng(seed),
        loads=bound.unit_loads,
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=n, port=b.source_port)
            for b, n in zip(topology.buffers, tokens, strict=True)
        ),
        bounds=lambda candidates: [max(least, own) for own in bound.of(candidates)],
        keep=keep,
        placement=bound.placement(least),
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


def _open_store(out: Path, options: ExploreOptions, setting: Setting, space: Space) -> tuple[StudyStore, bool]:
    """Return the store of the study and whether an earlier one was moved aside."""
    path = out / STORE_NAME
    topology = setting.trace.topology
    identity = _identity(options, setting, space)
    manifest = dict(_manifest(options, setting, options.budget))
    if options.resume:
        return resume_study(path, topology, identity, manifest), False
    replaced = move_aside(path)
    return create_study(path, topology, identity, manifest), replaced


def _identity(options: ExploreOptions, setting: Setting, space: Space) -> dict[str, str]:
    """Return what has to be equal for stored evaluations, and the order of their making, to hold.

    The budget is left out: more of it continues a study. So is the engine: all give the same integers.
    """
    objectives = {} if options.objectives == MAKESPAN_ONLY else {"objectives": ",".join(options.objectives)}
    batch = {} if options.batch == BATCH else {"batch": str(options.batch)}
    return {
        **objectives,
        **batch,
        **({"policy of each partition": "yes"} if options.policy_per_partition else {}),
        **({"clocks": domains_text(space.options.clocks)} if options.clocks else {}),
        "trace": setting.trace.digest,
        "weights": weights_digest(setting.problem.weights),
        "missing weights": setting.problem.missing_weights,
        "platform": platform_digest(setting.platform),
        "partitions": f"{space.least}-{space.most}",
        "gpu-capable and pinned": text_digest(repr(space.allowed)),
        **({} if space.symmetry is None else {"identical actors": text_digest(repr(space.symmetry))}),
        "policies": ",".join(options.policies),
        "buffers": text_digest(repr(space.options.capacities)),
        "release": options.release,
        "transfers": options.transfers,
        "method": options.method,
        "seed": str(options.seed),
    }


def _manifest(options: ExploreOptions, setting: Setting, budget: Budget | None) -> tuple[tuple[str, str], ...]:
    spent = "default" if budget is None else f"{budget.evaluations} evaluations, {budget.seconds} seconds"
    return (
        *tool_manifest(),
        *setting.manifest,
        *trace_manifest(setting.trace),
        ("engine", options.problem.engine),
        ("method", options.method),
        ("seed", str(options.seed)),
        ("budget", spent.replace("None", "unlimited")),
        ("policies", ",".join(options.policies)),
        ("release", options.release),
        ("transfers", options.transfers),
        *((("clocks", domains_text(clock_domains(options.clocks, setting.platform))),) if options.clocks else ()),
    )


def _nothing_found(study: Study, space: Space, setting: Setting, engine: Engine) -> DeadlockError | OptionError:
    """Return the error for a study without a mapping that completes; it explains one deadlock."""
    outside = study.baseline is not None and not _holds(space, study.baseline.n_partitions)
    if study.evaluations == int(outside):
        return OptionError(
            "the budget ended before a mapping of the space was estimated",
            expected="give more of it: the mapping on one core, to which the others are compared, counts as one",
        )
    what = "every mapping deadlocks" if study.stop == "complete" else "every mapping estimated so far deadlocks"
    for point in (space.one_core(), _first_point(space)):
        estimate = None if point is None else engine.estimate(point)
        if point is not None and estimate is not None and estimate.deadlock is not None:
            where = "with all actors on one core" if len(point.partitions) == 1 else "one"
            lines = deadlock_lines(setting.trace.topology, estimate.deadlock, point.capacities)
            what = "\n  ".join([f"{what}; {where}:", *lines])
            break
    return DeadlockError(what, expected="give the FIFOs more capacity with --buffers")
