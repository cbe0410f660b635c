"""``dse explore`` as a function: from a network and an input to ranked mappings, their files and a report.

Read ``explore`` from top to bottom: one variable a stage. The stages are in ``dse.flows.search``.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dse.base.files import folder_name
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.prepare import prepare
from dse.explore.distribution.cluster import ClusterEstimator
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget
from dse.explore.methods.registry import size_text
from dse.explore.objectives.front import make_goals
from dse.explore.space.space import Space
from dse.flows.clocks import clock_domains, clocked_setting, clocks_of_domains
from dse.flows.defaults import default_budget
from dse.flows.deliver import Delivery, deliver
from dse.flows.options import ExploreOptions
from dse.flows.search.method import choose, kept
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.space import reference_point, searched_space
from dse.flows.search.store import open_store, search_manifest
from dse.flows.search.study import Search, nothing_found, run_study
from dse.flows.setting import Setting, load_setting
from dse.model.estimate import Estimate
from dse.model.study import Study
from dse.report.html import ReportInputs
from dse.report.ranking import ranked_rows
from dse.report.why import Reasons, reasons_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """The outcome of ``explore``. ``estimate`` and ``reasons`` are of the best mapping."""

    study: Study
    setting: Setting
    space: Space
    estimate: Estimate
    reasons: Reasons
    delivery: Delivery


def explore(options: ExploreOptions, watcher: Watcher | None = None) -> Explored:
    """Search the mappings of a network, rank them and deliver the best with a report.

    Raises:
        DeadlockError: every mapping that was evaluated deadlocks.
        InfeasibleDesign: the space is empty. FormatError, SourceError, OptionError: an input or option is wrong.
    """
    watch = watcher or Watcher()
    plain = load_setting(options.problem, watch.stage)
    domains = clock_domains(options.clocks, plain.platform)
    setting = clocked_setting(plain, clocks_of_domains(domains))
    searched = searched_space(options, setting, domains)
    engine = make_engine(options.problem.engine, setting.problem)
    budget = options.budget or _default_budget(options, setting)
    prepare(setting.tables, reference_point(searched.space))  # weights that are missing stop us before all else
    goals = make_goals(options.objectives, setting.tables)
    method = choose(options, searched.space, goals, budget)
    cluster = _cluster(options, setting)  # connected before an earlier study is moved aside
    out = options.out or Path("dse-out") / folder_name(setting.trace.topology.name)
    store, replaced = open_store(out, options, setting, searched.space)
    plan = SearchPlan(
        network=setting.trace.topology.name,
        firings=setting.trace.n_firings,
        points=searched.space.size,
        space=size_text(searched.space),
        method=method.name,
        reason=method.reason,
        budget=budget,
        assumed=(*setting.assumed, *searched.assumed),
        replaced_study=replaced,
    )
    watch.planned(plan)
    search = Search(options=options, setting=setting, space=searched.space, goals=goals, plan=plan)
    with closing(store), closing(cluster or _threads(options, setting, engine)) as estimator:
        study = run_study(search, estimator, store, watch)
    if not study.ranking:
        raise nothing_found(search, study, engine)
    watch.stage("writing the report")
    inputs = _report_inputs(options, setting, study, engine, budget)
    delivery = deliver(inputs, setting.platform, out=out, best=options.best)
    return Explored(
        study=study,
        setting=setting,
        space=searched.space,
        estimate=inputs.estimate,
        reasons=inputs.reasons,
        delivery=delivery,
    )


def _default_budget(options: ExploreOptions, setting: Setting) -> Budget:
    return default_budget(options.problem.engine, setting.trace.n_firings, len(setting.trace.topology.actors))


def _cluster(options: ExploreOptions, setting: Setting) -> ClusterEstimator | None:
    if options.cluster is None:
        return None
    return ClusterEstimator(options.cluster, setting.problem, options.problem.engine)


def _threads(options: ExploreOptions, setting: Setting, engine: Engine) -> ThreadEstimator:
    return ThreadEstimator(engine, options.workers, setting.trace.n_firings)


def _report_inputs(
    options: ExploreOptions, setting: Setting, study: Study, engine: Engine, budget: Budget
) -> ReportInputs:
    """Return what the report shows; the best mapping is estimated once more, with the time of every firing."""
    topology, best = setting.trace.topology, study.ranking[0].point
    estimate = engine.estimate(best, firing_times=True)
    return ReportInputs(
        study=study,
        trace=setting.trace,
        rows=ranked_rows(study, topology, kept(options)),
        estimate=estimate,
        reasons=reasons_of(topology, best, estimate, study.lower_bounds),
        manifest=search_manifest(options, setting, budget),
    )
