"""``dse what-if`` as a function: what a mapping would gain from faster actions, roomier FIFOs and better links."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from dse.analyse.critical_path import critical_path
from dse.analyse.promises import path_promises
from dse.analyse.what_if import CurveRequest, Laboratory, what_if
from dse.base.errors import DeadlockError, OptionError
from dse.base.registry import nearest_names
from dse.estimate.engine import Engine, make_engine
from dse.flows.estimate import ONE_CORE, Estimated, MappingEstimate, estimate_mappings, mapping_estimate
from dse.flows.options import EstimateOptions, ExploreOptions
from dse.flows.program import unheard
from dse.flows.search.space import searched_space
from dse.flows.search_again import SearchAgain, best_mappings, search_again
from dse.flows.setting import Setting
from dse.model.design_point import DesignPoint
from dse.model.trace import Topology
from dse.model.what_if import SearchedAgain, WhatIf


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOptions:
    """What to try on one mapping. ``curves``: names of actors, of ``actor.action``, of FIFOs. ``workers``: threads."""

    estimate: EstimateOptions
    curves: tuple[str, ...] = ()
    workers: int = 1
    search: int | None = None
    """So many mappings are estimated for the best one, from which the best for each improvement is searched."""
    partitions: tuple[int, int] | None = None
    """Of the mappings that are searched."""
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The outcome of ``ask_what_if``: the mapping as it was estimated, and what changes of it give."""

    estimated: Estimated
    mapping: MappingEstimate
    found: WhatIf
    searched: SearchedAgain | None = None


def ask_what_if(options: WhatIfOptions, stage: Callable[[str], None] = unheard) -> Asked:
    """Simulate a mapping under changes; without a mapping all actors are on one core.

    Raises:
        DeadlockError: the mapping deadlocks as it is.
        OptionError: several mappings or no thread are given, or a curve is asked for of nothing that there is.
        FormatError, SourceError, InfeasibleDesign: as ``estimate_mappings``.
    """
    _check(options)
    estimated = estimate_mappings(options.estimate, stage)
    if len(estimated.mappings) > 1:
        raise OptionError(
            f"{len(estimated.mappings)} mappings are given", expected="one: what helps is another matter for each"
        )
    setting = estimated.setting
    engine = make_engine(options.estimate.problem.engine, setting.tables)
    if options.search is not None:
        return _searched(options, estimated, engine, stage)
    mapping = estimated.mappings[0]
    if mapping.deadlock:
        raise DeadlockError(
            f"mapping {mapping.mapping} deadlocks, so that nothing makes it faster: {'; '.join(mapping.deadlock)}",
            expected="give the FIFOs more capacity with --buffers",
        )
    return Asked(estimated=estimated, mapping=mapping, found=_simulated(options, setting, engine, mapping.point, stage))


def _check(options: WhatIfOptions) -> None:
    """Raise ``OptionError`` for options that contradict each other, before time goes into them."""
    if options.workers < 1:
        raise OptionError(f"{options.workers} threads simulate nothing", expected="--workers at least 1")
    if options.search is None:
        if options.partitions is not None:
            raise OptionError(
                "--partitions are of mappings that are searched", expected="add --search, or leave it out"
            )
        return
    if options.search < 1:
        raise OptionError(f"a search of {options.search} mappings finds none", expected="--search at least 1")
    if options.estimate.mappings:
        raise OptionError("a mapping is given, and one is to be searched", expected="--mapping or --search")
    if options.seed < 0:
        raise OptionError(f"a seed of {options.seed} is below 0", expected="--seed takes 0 or more")


def _simulated(
    options: WhatIfOptions, setting: Setting, engine: Engine, point: DesignPoint, stage: Callable[[str], None]
) -> WhatIf:
    """Return what changes of a mapping give."""
    requests = [curve_request(name, setting.trace.topology) for name in options.curves]
    stage("simulating what would help")
    path = critical_path(setting.tables, point, engine.estimate(point))
    promise = path_promises(path, setting.trace, setting.platform)
    return what_if(Laboratory(engine, setting.tables, point, options.workers), curves=requests, promise=promise)


def _searched(options: WhatIfOptions, estimated: Estimated, engine: Engine, stage: Callable[[str], None]) -> Asked:
    """Return what changes give on the best mapping that is found, and on the best mapping of each."""
    assert options.search is not None, "it was asked for"
    setting, problem = estimated.setting, options.estimate.problem
    buffers = () if options.estimate.buffers is None else (options.estimate.buffers,)
    asked = ExploreOptions(problem=problem, partitions=options.partitions, buffers=buffers)
    space = searched_space(asked, setting, ()).space
    search = SearchAgain(evaluations=options.search, seed=options.seed, workers=options.workers)
    stage("searching the best mapping")
    starts = best_mappings(setting, engine, space, search)
    stage("searching the best mapping for each improvement")
    again = search_again(setting, engine, space, starts, search)
    best = mapping_estimate("the best that was found", again.point, engine.estimate(again.point), setting)
    found = _simulated(options, setting, engine, again.point, stage)
    notes = tuple(note for note in estimated.assumed if not note.startswith(ONE_CORE))
    return Asked(estimated=replace(estimated, assumed=notes), mapping=best, found=found, searched=again)


def curve_request(name: str, topology: Topology) -> CurveRequest:
    """Return what the name of an actor, ``actor.action`` or a FIFO asks for. Raises ``OptionError`` for another."""
    fifos = {topology.buffer_name(b): b for b in range(len(topology.buffers))}
    actors = {actor.name: a for a, actor in enumerate(topology.actors)}
    if name in fifos:
        return CurveRequest(name=name, buffer=fifos[name])
    if name in actors:
        return CurveRequest(name=name, actor=actors[name])
    for a, actor in enumerate(topology.actors):
        for x, action in enumerate(actor.actions):
            if name == f"{actor.name}.{action.name}":
                return CurveRequest(name=name, actor=a, action=x)
    actions = [f"{actor.name}.{action.name}" for actor in topology.actors for action in actor.actions]
    raise OptionError(
        f"--curve {name}: there is no such actor, action or FIFO",
        expected=nearest_names(name, tuple(dict.fromkeys((*actors, *actions, *fifos)))),
    )
