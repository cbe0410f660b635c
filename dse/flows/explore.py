"""``dse explore`` as a function: from a network and an input to ranked mappings, their files and a report.

Read ``explore`` from top to bottom: one variable a stage.
"""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.base.errors import DeadlockError, OptionError
from dse.estimate.bounds import Bounds
from dse.estimate.engine import Engine, make_engine
from dse.estimate.tables import UNIT_KINDS
from dse.explore.evaluator import Budget, Evaluator, Progress
from dse.explore.mapping_bound import MappingBound
from dse.explore.method import METHODS, SearchContext, SearchMethod, Traffic, choose_method
from dse.explore.search import ranked, run_search
from dse.explore.space import Space, SpaceOptions, build_space
from dse.explore.store import StudyStore, create_study, resume_study
from dse.flows.defaults import cpu_only_actors, default_budget
from dse.flows.deliver import Delivery, deliver
from dse.flows.manifest import platform_digest, text_digest, tool_manifest, trace_manifest, weights_digest
from dse.flows.options import ExploreOptions
from dse.flows.program import Setting, load_setting, read_capacities, unheard
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.study import LowerBound, Study
from dse.report.html import ReportInputs, tokens_of_buffers
from dse.report.ranking import ranked_rows
from dse.report.why import Reasons, deadlock_lines, reasons_of

KEPT = 10
"""So many of the best are exact and shown: no bound excludes a mapping that could be among them."""
STORE_NAME = "study.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What is about to happen, for those who watch: shown before the first evaluation."""

    network: str
    firings: int
    mappings: int
    points: int
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
    space, assumed = _space(options, setting)
    engine = make_engine(options.problem.engine, setting.problem)
    budget = options.budget or default_budget(options.problem.engine, setting.trace.n_firings)
    name, reason = _method(options, space, budget)
    out = options.out or Path("dse-out") / setting.trace.topology.name
    store, replaced = _open_store(out, options, setting, space)
    watch.planned(
        SearchPlan(
            network=setting.trace.topology.name, firings=setting.trace.n_firings, mappings=space.mappings,
            points=space.size, method=name, reason=reason, budget=budget, assumed=assumed, replaced_study=replaced,
        )
    )  # fmt: skip
    try:
        study = _search(options, setting, space, engine, store, watch, (name, reason, budget, assumed))
    finally:
        store.close()
    if not study.ranking:
        raise _all_deadlock(study, space, setting, engine)
    watch.stage("writing the report")
    best = study.ranking[0].point
    estimate = engine.estimate(best, firing_times=True)
    topology = setting.trace.topology
    inputs = ReportInputs(
        study=study,
        trace=setting.trace,
        rows=ranked_rows(study, topology, max(KEPT, options.best)),
        estimate=estimate,
        reasons=reasons_of(topology, best, estimate, study.lower_bounds),
        manifest=_manifest(options, setting, budget),
    )
    delivery = deliver(inputs, setting.platform, out=out, best=options.best)
    return Explored(
        study=study, setting=setting, space=space, estimate=estimate, reasons=inputs.reasons,
        delivery=delivery
    )  # fmt: skip


def _space(options: ExploreOptions, setting: Setting) -> tuple[Space, tuple[str, ...]]:
    """Return the space and everything that is assumed so far."""
    choices = [read_capacities(text, setting) for text in options.buffers or ("",)]
    cpu_only = cpu_only_actors(setting.tables, setting.network)
    space = build_space(
        setting.trace.topology, setting.platform,
        SpaceOptions(
            partitions=options.partitions, pins=options.pins, policies=options.policies,
            capacities=tuple(dict.fromkeys(c.tokens for c in choices)), release=options.release,
            transfers=options.transfers,
        ),
        cpu_only=cpu_only.actors,
    )  # fmt: skip
    return space, (*setting.assumed, *(a for c in choices for a in c.assumed), *cpu_only.assumed)


def _method(options: ExploreOptions, space: Space, budget: Budget) -> tuple[str, str]:
    """Return the name of the search method and why it is this one."""
    if options.best < 1:
        raise OptionError(f"{options.best} best mappings are asked for", expected="--best takes 1 or more")
    if options.method == "auto":
        return choose_method(space, budget.evaluations)
    METHODS.load(options.method)
    return options.method, "as asked"


def _search(
    options: ExploreOptions, setting: Setting, space: Space, engine: Engine, store: StudyStore, watch: Watcher,
    plan: tuple[str, str, Budget, tuple[str, ...]],
) -> Study:  # fmt: skip
    """Run the search and return the study."""
    name, reason, budget, assumed = plan
    bounds = space_bounds(setting, space)
    context = _context(setting, space, options.seed, max(KEPT, options.best), bounds[0].makespan)
    method: SearchMethod = METHODS.load(name)(context)
    evaluator = Evaluator(
        functools.partial(_estimates, engine), budget=budget, store=store, clock=time.perf_counter,
        progress=watch.progress,
    )  # fmt: skip
    outcome = run_search(method, evaluator, space.one_core())
    in_space = [e for e in evaluator.evaluations if _holds(space, e.point)]
    return Study(
        network=setting.trace.topology.name,
        method=name,
        method_reason=reason,
        seed=options.seed,
        space_size=space.size,
        evaluations=len(evaluator.evaluations),
        deadlocks=sum(e.deadlock for e in evaluator.evaluations),
        pruned=min(method.pruned, space.size - len(in_space)),
        complete=outcome.stop == "complete" and name == "exhaustive",
        stop=outcome.stop,
        seconds=evaluator.seconds,
        ranking=ranked(in_space),
        baseline=outcome.baseline,
        lower_bounds=bounds,
        assumed=assumed,
    )


def _estimates(engine: Engine, points: Sequence[DesignPoint]) -> Iterator[Estimate]:
    return (engine.estimate(point) for point in points)


def _holds(space: Space, point: DesignPoint) -> bool:
    """Return whether the space holds a point; only the reference mapping on one core may be outside."""
    return len(point.partitions) > 1 or space.least == 1


def _context(setting: Setting, space: Space, seed: int, keep: int, least: int) -> SearchContext:
    topology = setting.trace.topology
    bound = MappingBound(setting.tables)
    kinds = [bound.kind_of_unit[unit.unit] for unit in space.units]
    tokens = tokens_of_buffers(setting.trace)
    return SearchContext(
        space=space,
        rng=np.random.default_rng(seed),
        loads=tuple(tuple(bound.actor_loads[k][a] for k in kinds) for a in range(len(topology.actors))),
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=n) for b, n in zip(topology.buffers, tokens, strict=True)
        ),
        bound=lambda point: max(least, bound.of(point)),
        keep=keep,
    )


def space_bounds(setting: Setting, space: Space) -> tuple[LowerBound, ...]:
    """Return what no mapping of the space can beat, the highest first."""
    kind_of = {unit.name: UNIT_KINDS.index(unit.kind) for unit in setting.platform.units}
    kinds = [sorted({kind_of[space.units[u].unit] for u in units}) for units in space.allowed]
    cores = space.n_actors if "FULL_PARALLEL" in space.options.policies else min(space.most, space.n_actors)
    found = Bounds(setting.tables).of_any_point(cores=cores, transfers=space.options.transfers, kinds=kinds)
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
    replaced = path.exists()
    if replaced:
        path.replace(path.with_name("study-previous.sqlite"))
    return create_study(path, topology, identity, manifest), replaced


def _identity(options: ExploreOptions, setting: Setting, space: Space) -> dict[str, str]:
    """Return what has to be equal for stored evaluations, and the order of their making, to hold.

    The budget is left out: more of it continues a study. So is the engine: all give the same integers.
    """
    return {
        "trace": setting.trace.digest,
        "weights": weights_digest(setting.problem.weights),
        "missing weights": setting.problem.missing_weights,
        "platform": platform_digest(setting.platform),
        "partitions": f"{space.least}-{space.most}",
        "gpu-capable and pinned": text_digest(repr(space.allowed)),
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
    )


def _all_deadlock(study: Study, space: Space, setting: Setting, engine: Engine) -> DeadlockError:
    """Return the error for a study without a mapping that completes; it explains the first deadlock."""
    if study.evaluations == 0:
        message, expected = "interrupted before the first evaluation", "resume with --resume"
        return DeadlockError(message, expected=expected)
    point = space.one_core()
    if point is None:
        point = space.to_point(next(space.candidates()))
    estimate = engine.estimate(point)
    lines = ["every mapping deadlocks; the first one:"]
    if estimate.deadlock is not None:
        lines += deadlock_lines(setting.trace.topology, estimate.deadlock, point.capacities)
    return DeadlockError("\n  ".join(lines), expected="give the FIFOs more capacity with --buffers")
