"""A search that is refined: its best mapping is measured in place, and the search repeated with what that tells.

Estimates rest on what crossing between cores costs, which depends on the mapping. The best mapping found is therefore
measured in place and joins the mappings that the costs are taken from; then all mappings are estimated and searched
again, until the ranking stays as it is (figure 9 of the paper, ``004_fe729001a6d206e7.txt``).
"""

from dataclasses import dataclass, replace

from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.flows.explore import Explored, explore
from dse.flows.manifest import weights_digest
from dse.flows.measure_points import cannot_run
from dse.flows.measured import IMPOSSIBLE, measured_again, measuring, output_folder, why_not
from dse.flows.options import ExploreOptions
from dse.flows.rounds import Refinement, Rounds, order_digest
from dse.flows.search.plan import Watcher
from dse.flows.search.store import refined_weights
from dse.flows.setting import Setting
from dse.flows.trace import is_recorded
from dse.formats.mapping_text import mapping_text, read_mapping_text
from dse.model.design_point import DesignPoint
from dse.report.quantities import time_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """The outcome of ``refine``: that of the last search, the rounds, and in words why there were no more."""

    explored: Explored
    rounds: tuple[Refinement, ...]
    ended: str


def refine(options: ExploreOptions, watcher: Watcher | None = None, given: Setting | None = None) -> Refined:
    """Search, then measure the best mapping in place and search again, at most ``options.refine`` times.

    ``given``: the setting of the first search where that is loaded already. Each search has the whole budget. The study
    of each but the last is moved aside in the folder of the results. What is resumed goes on in the round where it was.
    Raises: as ``explore``; ``OptionError`` where the weights are not those that dse measures.
    """
    if options.refine:
        _require_measuring(options, given)
    watch = watcher or Watcher()
    explored = explore(options, watch, None if _is_refined(options, given) else given)
    rounds = _rounds_before(options, explored)
    while (ended := _end(options, explored, rounds)) is None:
        point = _to_measure(explored, rounds, gpu=options.cuda is not None)
        if point is None:
            return Refined(explored=explored, rounds=rounds, ended=_NOTHING_NEW)
        begun = _round(point, explored, rounds, options.best)
        try:
            measured_again(options, explored.setting, (*_measured(explored, rounds), point), begun, watch.stage)
        except IMPOSSIBLE as error:
            return Refined(explored=explored, rounds=rounds, ended=why_not(error))
        except KeyboardInterrupt:  # the ranking is there
            explored = replace(explored, study=replace(explored.study, stop="interrupted"))
            return Refined(explored=explored, rounds=rounds, ended=_INTERRUPTED)
        again = replace(options, resume=False, refine=0, measured_in=None, refined=len(begun))
        explored = explore(again, watch)
        rounds = begun.over(explored.study)
    return Refined(explored=explored, rounds=rounds, ended=ended)


def _require_measuring(options: ExploreOptions, given: Setting | None) -> None:
    """Raise ``OptionError`` where nothing is measured that a search could be refined with."""
    if measuring(options) is None:
        raise OptionError(
            "only weights that the search measures itself can be refined",
            expected="leave out --weights, --platform and --missing-weights, or --refine",
        )
    if is_recorded(options.problem.program) if given is None else given.network is None:
        raise OptionError(
            "a trace or a graph cannot be run, so that nothing is measured to refine with",
            expected="name the network (.xdf), or leave out --refine",
        )


def _end(options: ExploreOptions, explored: Explored, rounds: tuple[Refinement, ...]) -> str | None:
    """Return in words why there are no more rounds, empty where none are asked for; None where there is one more."""
    if options.refine and explored.study.stop == "interrupted":
        return _INTERRUPTED
    if rounds and rounds[-1].stable:
        return _STABLE
    return None if len(rounds) < options.refine else ""


def _is_refined(options: ExploreOptions, given: Setting | None) -> bool:
    """Return whether a search that is resumed goes on with refined weights, and not with those that are ``given``."""
    if given is None or not options.resume:
        return False
    return refined_weights(output_folder(options, given.trace.topology.name), options) is not None


def _rounds_before(options: ExploreOptions, explored: Explored) -> tuple[Refinement, ...]:
    """Return the rounds that a search which was resumed has behind it."""
    kept = refined_weights(explored.delivery.folder, options) if options.resume and explored.refined else None
    return () if kept is None or kept.rounds is None else kept.rounds.over(explored.study)


_INTERRUPTED = "the search was interrupted"
_STABLE = "the ranking stayed as it was"
_NOTHING_NEW = "the best mapping that this machine can run was measured in place already"


def _to_measure(explored: Explored, rounds: tuple[Refinement, ...], *, gpu: bool) -> DesignPoint | None:
    """Return the best mapping that this machine can run; None where it was measured in place, or there is none."""
    platform, cores = explored.setting.platform, len(usable_cores())
    ranking = (evaluation.point for evaluation in explored.study.ranking)
    point = next((p for p in ranking if len(p.partitions) > 1 and not cannot_run(p, platform, cores, gpu=gpu)), None)
    return None if point is None or point.digest() in {of.digest for of in rounds} else point


def _measured(explored: Explored, rounds: tuple[Refinement, ...]) -> tuple[DesignPoint, ...]:
    """Return the mappings that were measured in place."""
    topology, platform = explored.setting.trace.topology, explored.setting.platform
    return tuple(read_mapping_text(of.mapping, topology, platform) for of in rounds)


def _round(point: DesignPoint, explored: Explored, rounds: tuple[Refinement, ...], best: int) -> Rounds:
    """Return the rounds with the one that begins, in which a mapping is measured in place."""
    found = next(e for e in explored.study.ranking if e.digest == point.digest())
    return Rounds(
        past=rounds,
        weights=weights_digest(explored.setting.problem.weights),
        mapping=mapping_text(point, explored.setting.trace.topology, explored.setting.platform),
        digest=found.digest,
        before=found.makespan,
        unit=found.tick_unit,
        best=best,
        order=order_digest(explored.study.ranking, best),
    )


def refinement_text(number: int, refinement: Refinement) -> str:
    """Return in a sentence what a round changed."""
    before = time_text(refinement.before, refinement.unit)
    now = (
        "is no longer among the best"
        if refinement.after is None
        else f"now {time_text(refinement.after, refinement.unit)}"
    )
    ranking = "the ranking stayed" if refinement.stable else "the ranking changed"
    return f"round {number}: {refinement.mapping} was measured in place: estimated {before}, {now}; {ranking}"


def refinement_json(refinement: Refinement) -> dict[str, object]:
    """Return a round as JSON, times in ticks with their unit."""
    return {
        "mapping": refinement.mapping,
        "digest": refinement.digest,
        "estimate_before": refinement.before,
        "estimate_after": refinement.after,
        "unit": refinement.unit,
        "ranking_changed": not refinement.stable,
    }
