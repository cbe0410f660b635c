"""``dse explore`` as a function: from a network and an input to ranked mappings, their files and a report.

Read ``explore`` from top to bottom: one variable a stage. The stages are in ``dse.flows.search``.
"""

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.errors import ExecutionError, OptionError
from dse.base.files import write_whole
from dse.base.interrupts import held_interrupt
from dse.base.limits import limits, raised_limits
from dse.base.time_limit import TimeLimit, TimeSpent
from dse.estimate.engine import Engine, compile_behind, make_engine
from dse.estimate.problem.prepare import prepare
from dse.explore.distribution.cluster import ClusterEstimator
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget
from dse.explore.methods.choose import size_text
from dse.explore.objectives.front import make_goals
from dse.explore.objectives.objectives import Basis
from dse.explore.space.space import Space
from dse.flows.capacities import search_capacities
from dse.flows.clocks import clock_domains, clocked_setting, clocks_of_domains
from dse.flows.defaults import default_budget
from dse.flows.deliver import Delivery, deliver
from dse.flows.kept_weights import kept_weights
from dse.flows.measured import measuring, output_folder, take_weights
from dse.flows.options import ExploreOptions
from dse.flows.page_views import page_views
from dse.flows.robust import asked_robust, check_uncertain, robust_study
from dse.flows.run_best import MEASURE_ON_TOP, RunBest, run_best
from dse.flows.search.look import with_look
from dse.flows.search.method import check_options, choose, kept
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.space import reference_point, searched_space
from dse.flows.search.store import open_store, search_manifest
from dse.flows.search.study import Search, nothing_found, run_study, too_early
from dse.flows.setting import Setting, load_setting
from dse.flows.study_options import STUDY_FILE, StudyNotes, is_study_file, study_text
from dse.formats.mapping_text import MappingTexts
from dse.formats.study_file import StudyStore
from dse.model.estimate import Estimate
from dse.model.study import Evaluation, Study
from dse.model.uncertainty import Robust
from dse.report.accounts import NamedAccounts, named_accounts
from dse.report.html import ReportInputs
from dse.report.measured import Measurements
from dse.report.ranking import ranked_rows
from dse.report.why import Reasons, reasons_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """The outcome of ``explore``. ``estimate`` and ``reasons`` are of the best mapping, ``accounts`` of the first ones.

    ``measured``: of the best mappings, None where nothing was to be run, or could; ``notes`` say why, in words.
    """

    study: Study
    setting: Setting
    space: Space
    estimate: Estimate
    reasons: Reasons
    accounts: tuple[NamedAccounts, ...]
    delivery: Delivery
    measured: Measurements | None
    notes: tuple[str, ...]
    robust: Robust | None = None
    """The ranking under uncertain weights, where that was asked for; ``study.ranking`` has its order."""
    refined: int = 0
    """So many rounds of refining the weights rest on."""


def explore(options: ExploreOptions, watcher: Watcher | None = None, given: Setting | None = None) -> Explored:
    """Search the mappings of a network, rank them and deliver the best with a report.

    ``given``: the setting of ``options.problem`` where that is loaded already.

    A budget in seconds counts from here, and bounds everything until the last evaluation (``dse.base.time_limit``);
    only the compiling of the engine is not counted. The report comes after it, with one more estimate of the first.

    Raises:
        DeadlockError: every mapping that was evaluated deadlocks.
        InfeasibleDesign: the space is empty. FormatError, SourceError, OptionError: an input or option is wrong.
        OptionError: the budget ended before a mapping was evaluated.
    """
    with raised_limits(options.limits or limits()):
        return _explore(options, watcher, given)


def _explore(options: ExploreOptions, watcher: Watcher | None, given: Setting | None) -> Explored:
    limit = TimeLimit(None if options.budget is None else options.budget.seconds)
    watch = _timed(watcher or Watcher(), limit)
    try:
        with limit.enforced():
            ready = _set_up(options, watch, limit, given)
    except TimeSpent:
        raise too_early(limit) from None
    setting = ready.search.setting
    with closing(ready.store):  # nobody else begins a search in the folder before the results are in it
        found = _rounded_off(ready, _searched(ready, watch, limit), watch, limit)
        study = found.study
        watch.stage("writing the report")
        with held_interrupt() as held:  # what was found is worth its files
            inputs = _report_inputs(ready, study, found.best.found)
            inputs = replace(inputs, robust=found.robust)
            ready.store.commit()  # it and its folder are still where they were
            described = _described(options, setting, ready.out, study)
            delivery = deliver(inputs, out=ready.out, best=options.best, described=described, dialect=options.dialect)
            ready.store.finish()
    return Explored(
        study=study.ended(interrupted=held.came),
        setting=setting,
        space=ready.search.space,
        estimate=inputs.estimate,
        reasons=inputs.reasons,
        accounts=inputs.accounts,
        delivery=delivery,
        measured=found.best.found,
        notes=found.best.notes,
        robust=found.robust,
        refined=ready.search.options.refined,
    )


def _ranked_again(
    options: ExploreOptions, setting: Setting, study: Study, watch: Watcher
) -> tuple[Study, Robust | None]:
    """Return the study as it is ranked under uncertain weights, where that is asked for."""
    robust = asked_robust(options)
    if robust is None:
        return study, None
    watch.stage("drawing weights for the best mappings")
    return robust_study(study, setting, options.problem.weights, robust, options.problem.engine)


def _timed(watch: Watcher, limit: TimeLimit) -> Watcher:
    """Return a watcher that tells the limit too what goes on."""

    def stage(what: str) -> None:
        limit.stage(what)
        watch.stage(what)

    return replace(watch, stage=stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A search with all that it needs; ``estimator`` and ``store`` have to be closed."""

    search: Search
    engine: Engine
    estimator: ClusterEstimator | ThreadEstimator
    store: StudyStore
    out: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoundedOff:
    """A study with all that is looked at behind the search."""

    study: Study
    robust: Robust | None
    best: RunBest


def _searched(ready: _Ready, watch: Watcher, limit: TimeLimit) -> Study:
    """Return the study of the search, with what made its estimates closed; an interrupt meanwhile leaves the study."""
    with ExitStack() as behind:
        behind.callback(ready.estimator.close)
        study = run_study(ready.search, ready.estimator, ready.store, watch, limit, ready.engine)
        with held_interrupt() as held:
            behind.close()
    return study.ended(interrupted=held.came)


def _rounded_off(ready: _Ready, study: Study, watch: Watcher, limit: TimeLimit) -> _RoundedOff:
    """Return the study with all that is looked at behind the search; an interrupt leaves out what is left of that.

    Raises what ``explore`` raises where nothing is ranked.
    """
    search, engine = ready.search, ready.engine
    robust = None
    try:
        watch.stage("looking at other policies and sizes")
        study = with_look(search, study, engine, limit)
        if not study.ranking:
            watch.stage("looking for what would help")
            raise nothing_found(search, study, engine, limit)
        if study.stop == "interrupted":
            return _RoundedOff(study=study, robust=None, best=_left_out(search.options, None))
        study, robust = _ranked_again(search.options, search.setting, study, watch)
        best = run_best(search.options, search.setting, study, watch.stage)
    except KeyboardInterrupt:
        if study.stop == "interrupted" or not study.ranking:
            raise
        study, best = replace(study, stop="interrupted"), _left_out(search.options, robust)
    return _RoundedOff(study=study, robust=robust, best=best)


def _left_out(options: ExploreOptions, robust: Robust | None) -> RunBest:
    """Return what an interrupt leaves out of what comes behind the search, in words; ``robust`` is there already."""
    left = ["weights were not drawn (--robust)"] if options.robust is not None and robust is None else []
    left += ["no mapping was run (--measure)"] if options.measure is not None else []
    note = f"interrupted: {' and '.join(left)}; the same command with --resume does that"
    return RunBest(found=None, notes=(note,) if left else ())


def _set_up(options: ExploreOptions, watch: Watcher, limit: TimeLimit, given: Setting | None) -> _Ready:
    """Return a search that is ready to run; it is shown to those who watch."""
    check_options(options)
    plain = given or load_setting(options.problem, watch.stage, limit, measuring(options))
    domains = clock_domains(options.clocks, plain.platform)
    setting = clocked_setting(plain, clocks_of_domains(domains), scaling=options.scaling)
    watch.stage("gathering the mappings")
    searched = searched_space(options, setting, domains)
    engine = make_engine(options.problem.engine, setting.tables)
    budget = options.budget or _default_budget(options, setting)
    if (robust := asked_robust(options)) is not None:
        check_uncertain(setting, options.problem.weights, robust)
    prepare(setting.tables, reference_point(searched.space))  # weights that are missing stop us before all else
    goals = make_goals(options.objectives, Basis(tables=setting.tables, engine=engine))
    method = choose(options, searched.space, goals, budget)
    cluster = _cluster(options, setting)  # connected before an earlier study is moved aside
    out = output_folder(options, setting.trace.topology.name)
    opened = open_store(out, options, setting, searched.space)
    with ExitStack() as failed:
        failed.callback(opened.store.close)
        options = replace(options, refined=opened.refined)
        if given is not None and options.measured_in is not None and not options.resume:
            take_weights(options.measured_in, out)
        _describe(options, setting, out)
        plan = SearchPlan(
            network=setting.trace.topology.name,
            firings=setting.trace.n_firings,
            points=searched.space.size,
            space=size_text(searched.space),
            method=method.name,
            reason=method.reason,
            budget=budget,
            assumed=(*setting.assumed, *searched.assumed),
            notes=(*setting.notes, *_on_top(options, budget)),
            moved_aside=opened.moved,
        )
        watch.planned(plan)
        ready = _Ready(
            search=Search(options=options, setting=setting, space=searched.space, goals=goals, plan=plan),
            engine=engine,
            estimator=cluster or _threads(options, setting, engine),
            store=opened.store,
            out=out,
        )
        failed.pop_all()
    return ready


def _on_top(options: ExploreOptions, budget: Budget) -> tuple[str, ...]:
    """Return in words what comes on top of a budget in seconds."""
    if budget.seconds is None or options.budget is None:
        return ()
    more = [MEASURE_ON_TOP] if options.measure is not None else []
    searches = "one more search" if options.refine == 1 else f"up to {options.refine} more searches"
    more += ["--robust draws weights, for some seconds"] if options.robust is not None else []
    more += [f"--refine measures again and makes {searches} with the same budget"] if options.refine else []
    return (f"on top of the budget of {budget.seconds:g} s: {'; '.join(more)}",) if more else ()


def _default_budget(options: ExploreOptions, setting: Setting) -> Budget:
    return default_budget(options.problem.engine, setting.trace.n_firings, len(setting.trace.topology.actors))


def _cluster(options: ExploreOptions, setting: Setting) -> ClusterEstimator | None:
    if options.cluster is None:
        return None
    return ClusterEstimator(options.cluster, setting.problem, options.problem.engine)


def _threads(options: ExploreOptions, setting: Setting, engine: Engine) -> ThreadEstimator:
    compile_behind(options.problem.engine)
    return ThreadEstimator(engine, options.workers, setting.trace.n_firings)


def _describe(options: ExploreOptions, setting: Setting, out: Path) -> None:
    """Write the study file of a search that begins, so that one that is killed has left it.

    The one that lies there is of the results that lie there: a search that goes on leaves it until it has new ones.
    """
    described = _described(options, setting, out)
    try:
        if described is not None and not (options.resume and (out / STUDY_FILE).exists()):
            write_whole(out / STUDY_FILE, described)
    except OSError as cause:
        raise OptionError(
            f"cannot write '{out / STUDY_FILE}': {cause.strerror or cause}",
            expected="make room, or choose another folder with --out",
        ) from cause


def _described(options: ExploreOptions, setting: Setting, out: Path, study: Study | None = None) -> str | None:
    """Return the study file of a search, None where the one that it is from lies in its folder.

    ``study``: what came out; None before the search.
    """
    if options.of_objects or is_study_file(out / STUDY_FILE, options.study_file):
        return None
    own = measuring(options) is not None and setting.network is not None
    kept = own and kept_weights(out) is not None
    ended = study.evaluations if study is not None and study.stop == "seconds" else None
    return study_text(options, out, StudyNotes(measured=kept, counted=own and not kept, ended_after=ended))


def _compare(best: Evaluation, estimate: Estimate) -> None:
    """Raise ``ExecutionError`` where the best mapping is not what the study says."""
    if (best.makespan, best.tick_unit) != (estimate.makespan, estimate.tick_unit):
        raise ExecutionError(
            f"the study has makespan {best.makespan} {best.tick_unit} for the best mapping, but its estimation gives"
            f" {estimate.makespan} {estimate.tick_unit}",
            expected="the study is of another version of dse, or damaged: leave out --resume to start a new one",
        )


def _report_inputs(ready: _Ready, study: Study, measured: Measurements | None) -> ReportInputs:
    """Return what the report shows; the best mapping is estimated once more, with the time of every firing."""
    options, setting, engine = ready.search.options, ready.search.setting, ready.engine
    topology, best = setting.trace.topology, study.ranking[0].point
    estimate = engine.estimate(best, firing_times=True)
    _compare(study.ranking[0], estimate)
    texts = MappingTexts(topology=topology, platform=setting.platform, capacities=search_capacities(setting).tokens)
    rows = ranked_rows(study, texts, max(kept(options), len(measured.ranked) if measured else 0), measured)
    return ReportInputs(
        study=study,
        trace=setting.trace,
        texts=texts,
        rows=rows,
        estimate=estimate,
        reasons=reasons_of(topology, best, estimate, study.lower_bounds),
        manifest=search_manifest(options, setting, ready.search.plan.budget),
        measured=measured,
        accounts=_first_accounts(setting, study, engine, estimate),
        views=page_views(setting, study, rows, engine, estimate),
    )


ACCOUNTED = 5
"""Of so many rows of the ranking the times of actors and FIFOs are told,"""
ACCOUNTED_FIRINGS = 4_000_000
"""as long as estimating them once more simulates no more firings than this; of the first one always."""


def _first_accounts(setting: Setting, study: Study, engine: Engine, best: Estimate) -> tuple[NamedAccounts, ...]:
    """Return the accounts of the first rows, which studies do not keep: these points are estimated once more."""
    count = min(ACCOUNTED, max(1, ACCOUNTED_FIRINGS // setting.trace.n_firings))
    points = [evaluation.point for evaluation in study.ranking[:count]]
    estimates = [best, *(engine.estimate(point) for point in points[1:])]
    pairs = zip(points, estimates, strict=True)
    return tuple(named_accounts(setting.trace, point, estimate) for point, estimate in pairs)
