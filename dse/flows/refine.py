"""A search that is refined: its best mapping is measured in place, and the search repeated with what that tells.

Estimates rest on what crossing between cores costs, which depends on the mapping. The best mapping found is therefore
measured in place and joins the mappings that the costs are taken from; then all mappings are estimated and searched
again, until the ranking stays as it is (figure 9 of the paper, ``004_fe729001a6d206e7.txt``).
"""

from dataclasses import dataclass, replace

from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.flows.explore import Explored, explore
from dse.flows.measure_points import cannot_run
from dse.flows.measured import IMPOSSIBLE, measured_again, measuring, why_not
from dse.flows.options import ExploreOptions
from dse.flows.search.plan import Watcher
from dse.flows.setting import Setting
from dse.formats.mapping_text import mapping_text
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit
from dse.report.quantities import time_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """One round. ``before``, ``after``: the estimates of the mapping that was measured in place, in ticks of ``unit``.

    ``after`` None: the search that followed did not keep it among its best. ``stable``: the ranking stayed as it was.
    """

    mapping: str
    digest: str
    before: int
    after: int | None
    unit: TickUnit
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """The outcome of ``refine``: that of the last search, the rounds, and in words why there were no more."""

    explored: Explored
    rounds: tuple[Refinement, ...]
    ended: str


def refine(options: ExploreOptions, watcher: Watcher | None = None, given: Setting | None = None) -> Refined:
    """Search, then measure the best mapping in place and search again, at most ``options.refine`` times.

    ``given``: the setting of the first search where that is loaded already. Each search has the whole budget. The study
    of each but the last is moved aside in the folder of the results.
    Raises: as ``explore``; ``OptionError`` where the weights are not those that dse measures.
    """
    if options.refine and measuring(options) is None:
        raise OptionError(
            "only weights that the search measures itself can be refined",
            expected="leave out --weights, --platform and --missing-weights, or --refine",
        )
    watch = watcher or Watcher()
    explored, rounds, tried = explore(options, watch, given), list[Refinement](), list[DesignPoint]()
    while len(rounds) < options.refine:
        if explored.study.stop == "interrupted":
            return Refined(explored=explored, rounds=tuple(rounds), ended=_INTERRUPTED)
        point = _to_measure(explored, tried, gpu=options.cuda is not None)
        if point is None:
            return Refined(explored=explored, rounds=tuple(rounds), ended=_NOTHING_NEW)
        tried.append(point)
        try:
            measured_again(options, explored.setting, tuple(tried), watch.stage)
        except IMPOSSIBLE as error:
            return Refined(explored=explored, rounds=tuple(rounds), ended=why_not(error))
        except KeyboardInterrupt:  # the ranking is there
            explored = replace(explored, study=replace(explored.study, stop="interrupted"))
            return Refined(explored=explored, rounds=tuple(rounds), ended=_INTERRUPTED)
        again = explore(replace(options, resume=False, refine=0, measured_in=None), watch)
        rounds.append(_refinement(point, explored, again, options.best))
        explored = again
        if rounds[-1].stable:
            return Refined(explored=explored, rounds=tuple(rounds), ended=_STABLE)
    return Refined(explored=explored, rounds=tuple(rounds), ended="")


_INTERRUPTED = "the search was interrupted"
_STABLE = "the ranking stayed as it was"
_NOTHING_NEW = "the best mapping that this machine can run was measured in place already"


def _to_measure(explored: Explored, tried: list[DesignPoint], *, gpu: bool) -> DesignPoint | None:
    """Return the best mapping that this machine can run; None where it was tried, or there is none."""
    platform, cores = explored.setting.platform, len(usable_cores())
    ranking = (evaluation.point for evaluation in explored.study.ranking)
    point = next((p for p in ranking if len(p.partitions) > 1 and not cannot_run(p, platform, cores, gpu=gpu)), None)
    known = {p.digest() for p in tried}
    return None if point is None or point.digest() in known else point


def _refinement(point: DesignPoint, first: Explored, second: Explored, best: int) -> Refinement:
    before, after = ({e.digest: e for e in explored.study.ranking} for explored in (first, second))
    digest = point.digest()
    orders = [[e.digest for e in explored.study.ranking[:best]] for explored in (first, second)]
    return Refinement(
        mapping=mapping_text(point, first.setting.trace.topology, first.setting.platform),
        digest=digest,
        before=before[digest].makespan,
        after=after[digest].makespan if digest in after else None,
        unit=before[digest].tick_unit,
        stable=orders[0] == orders[1],
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
