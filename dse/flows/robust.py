"""Rankings under uncertain weights: what users say of errors, and the best mappings of a search ranked by draws."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from dse.analyse.cost_errors import cost_errors
from dse.analyse.uncertainty import DrawOptions, robust_ranking
from dse.base.errors import OptionError
from dse.base.numbers import shortened
from dse.base.registry import nearest_names
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.objectives.front import MAKESPAN_ONLY
from dse.flows.estimate import Estimated, MappingEstimate
from dse.flows.options import ExploreOptions
from dse.flows.own_costs import deviations
from dse.flows.setting import Setting
from dse.formats.samples_file import SAMPLES
from dse.model.design_point import DesignPoint
from dse.model.study import Study
from dse.model.uncertainty import RankedBy, Robust, StatedError
from dse.model.weights import Origin

AMONG = 20
"""So many of the best mappings are ranked by draws."""
_FIRINGS = 100_000_000
"""As many draws are made as simulate so many firings (some seconds),"""
FEWEST, MOST = 100, 2000
"""within these bounds, unless a number is asked for."""
MOST_ASKED = 1_000_000
MOST_ERROR = 10.0
_SHARE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(%?)")
_FORM = "[ORIGIN=]OWN[+COMMON], such as 30%, predicted=30%+10%, measured=2%"
_UNMEASURED: tuple[Origin, ...] = ("predicted", "nominal", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustOptions:
    """How a ranking is made under uncertain weights. ``draws`` None: as many as take some seconds."""

    by: RankedBy = "mean"
    errors: tuple[StatedError, ...] = ()
    draws: int | None = None
    seed: int = 1
    workers: int = 1


def parse_ranked_by(text: str) -> RankedBy:
    """Return what ``mean``, ``95%`` or ``0.95`` ranks by. Raises ``OptionError``."""
    if text.strip().lower() == "mean":
        return "mean"
    share = _share(text.strip())
    if share is None or not 0 < share < 1:
        raise OptionError(
            f"mappings cannot be ranked by '{shortened(text)}'",
            expected="mean, or a quantile above 0 and below 1: 95%, 0.95",
        )
    return share


def parse_errors(text: str) -> tuple[StatedError, ...]:
    """Return the errors that ``30%``, ``predicted=30%+10%`` or ``measured=0.02`` states. Raises ``OptionError``.

    Without an origin all costs are meant that were not measured.
    """
    left, equals, right = text.partition("=")
    shares = (right if equals else text).split("+")
    found = [share for part in shares if (share := _share(part.strip())) is not None]
    if not 1 <= len(found) == len(shares) <= 2:
        raise OptionError(f"error '{shortened(text)}' is not understood", expected=_FORM)
    if max(found) > MOST_ERROR:
        raise OptionError(f"error '{shortened(text)}' is more than 1000 %", expected="say it in per cent: 30%")
    own, common = (*found, 0.0)[:2]
    origins = _origins(left.strip().lower(), text) if equals else _UNMEASURED
    return tuple(StatedError(origin=origin, own=own, common=common) for origin in origins)


def _origins(name: str, text: str) -> tuple[Origin, ...]:
    """Return the origin of a name. Raises ``OptionError``."""
    known = get_args(Origin)
    if name not in known:
        raise OptionError(
            f"error '{shortened(text)}': there are no '{name}' costs", expected=nearest_names(name, known)
        )
    return (cast(Origin, name),)


def _share(text: str) -> float | None:
    match = _SHARE.fullmatch(text)
    return None if match is None else float(match[1]) / (100 if match[2] else 1)


def robust_options(by: str, errors: Sequence[str], draws: int | None, seed: int, workers: int) -> RobustOptions:
    """Return what texts and numbers ask for; of one origin the last error counts. Raises ``OptionError``."""
    if draws is not None and not 1 <= draws <= MOST_ASKED:
        raise OptionError(f"{draws} draws are asked for", expected=f"--draws takes 1 to {MOST_ASKED:,}")
    stated = {error.origin: error for text in errors for error in parse_errors(text)}
    return RobustOptions(by=parse_ranked_by(by), errors=tuple(stated.values()), draws=draws, seed=seed, workers=workers)


_HOW = "add --robust; in a study file the key 'robust', in Python robust=..."


def asked_robust(options: ExploreOptions) -> RobustOptions | None:
    """Return how a search is asked to rank, None: as ever. Raises ``OptionError`` where that is not understood."""
    if options.robust is None:
        if options.errors or options.draws is not None:
            raise OptionError("errors and draws are for a ranking under uncertain weights", expected=_HOW)
        return None
    if options.objectives != MAKESPAN_ONLY:
        raise OptionError("--robust ranks by the makespan alone", expected="leave out --objectives, or --robust")
    return robust_options(options.robust, options.errors, options.draws, options.seed, options.workers)


def check_uncertain(setting: Setting, weights: Sequence[str], options: RobustOptions) -> None:
    """Raise ``OptionError`` where nothing is known of the errors of the weights of a problem."""
    if _has_samples(weights) or not cost_errors(setting.tables, options.errors).none:
        return
    raise OptionError(
        "nothing is known of how wrong the weights are, so that all draws would be equal",
        expected="state it, such as --error 30%, or give measured weights: dse profile keeps their variance",
    )


def _has_samples(weights: Sequence[str]) -> bool:
    return any((Path(path) / SAMPLES).is_file() for path in weights)


def rank_points(
    setting: Setting,
    points: Sequence[DesignPoint],
    nominal: Sequence[int],
    weights: Sequence[str],
    options: RobustOptions,
    engine: str,
) -> Robust:
    """Return points ranked under uncertain weights; samples in the folders of ``weights`` are drawn too.

    ``nominal``: their makespans in ticks; none of them deadlocks. ``engine``: the name of one.
    Raises ``OptionError`` as ``check_uncertain``, ``FormatError`` as ``deviations``.
    """
    check_uncertain(setting, weights, options)
    problem, tables = setting.problem, setting.tables
    errors = cost_errors(tables, options.errors)
    if _has_samples(weights) and not problem.clocks:
        problem = replace(problem, deviations=deviations(weights, setting.trace, problem.weights))
        tables = build_tables(problem)
    draws = options.draws or min(MOST, max(FEWEST, _FIRINGS // max(1, setting.trace.n_firings * len(points))))
    drawing = DrawOptions(draws=draws, seed=options.seed, workers=options.workers)
    return robust_ranking(make_engine(engine, tables), tables, points, nominal, errors, drawing, options.by)


def robust_study(
    study: Study, setting: Setting, weights: Sequence[str], options: RobustOptions, engine: str
) -> tuple[Study, Robust]:
    """Return a study whose first ``AMONG`` mappings are ranked under uncertain weights, and that ranking."""
    best = study.ranking[:AMONG]
    robust = rank_points(setting, [e.point for e in best], [e.makespan for e in best], weights, options, engine)
    ranking = (*(best[row.index] for row in robust.rows), *study.ranking[AMONG:])
    return replace(study, ranking=ranking), robust


def rank_estimated(
    estimated: Estimated, weights: Sequence[str], options: RobustOptions, engine: str
) -> tuple[tuple[MappingEstimate, ...], Robust]:
    """Return the mappings that complete, as they were estimated, and their ranking under uncertain weights.

    Raises: as ``rank_points``; ``OptionError`` where all deadlock.
    """
    alive = tuple(m for m in estimated.mappings if not m.deadlock)
    if not alive:
        raise OptionError("every mapping deadlocks: there is nothing to rank", expected="leave out --robust")
    points, nominal = [m.point for m in alive], [m.estimate.makespan for m in alive]
    return alive, rank_points(estimated.setting, points, nominal, weights, options, engine)
