"""How sure a ranking is: mappings simulated under thousands of drawn weights, all mappings under the same ones.

Two sources of uncertainty are kept apart. The *mean* of each action is drawn once a run: measured with so many samples
it is known to its standard error, a prediction to a stated relative error, of which a part may be common to all weights
of one model or card. *Each firing's own cost*, where samples are given, is drawn from the samples of its action without
putting any back, that is, they are shuffled: what the firings of an action take together stays, so that the first
source is not counted twice. Factors of means are log-normal: costs stay above 0 and their mean what it was.

That all mappings see the same draws (common random numbers) makes differences between them far surer than their
makespans: Law, "Simulation Modeling and Analysis", chapter 11. Scheduling and transfers are not drawn.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dse.estimate.draws import DrawnCosts
from dse.estimate.engine import Engine
from dse.estimate.problem.changes import refined
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import UNKNOWN, IntArray, ProblemTables
from dse.estimate.problem.totals import MOST_TOTAL_TICKS, most_ticks_of_actions
from dse.model.design_point import DesignPoint
from dse.model.uncertainty import RankedBy, Robust, RobustRow, StatedError
from dse.model.weights import Cost, Origin, UnitKind, WeightTable

BLOCK = 64
"""So many draws have one random generator; which of them a thread makes changes nothing."""
SURE = 0.95
"""A mapping is told apart from one above it that is faster with at least this probability."""
INTERVAL = (0.025, 0.975)

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActionErrors:
    """The relative errors of the means of all actions, by index into ``UNIT_KINDS`` and column of the tables.

    ``own``: shape (n_kinds, n_actions), 0 where nothing is known. ``group``: the same shape, an index into ``common``,
    shape (n_groups,): relative errors that all actions of a group have together; -1: none.
    """

    own: Reals
    group: IntArray
    common: Reals
    sources: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether no mean is uncertain."""
        return not self.own.any() and not self.common.any()


def action_errors(tables: ProblemTables, stated: Sequence[StatedError]) -> ActionErrors:
    """Return what is known of the errors of all actions; what is stated of an origin wins over what weights say."""
    shape = (len(UNIT_KINDS), len(tables.count))
    own, group = np.zeros(shape), np.full(shape, -1, dtype=np.int64)
    by_origin = {error.origin: error for error in stated}
    common: dict[tuple[Origin, UnitKind], float] = {}
    seen: dict[tuple[Origin, UnitKind], list[float]] = {}
    for (k, kind), (column, names) in product(enumerate(UNIT_KINDS), enumerate(_action_names(tables))):
        if not tables.count[column] or tables.compute[k, column] <= 0:
            continue
        origin, known = _known_error(tables.problem.weights, (*names, kind))
        error = by_origin.get(origin)
        own[k, column] = known if error is None else error.own
        seen.setdefault((origin, kind), []).append(float(own[k, column]))
        if error is not None and error.common:
            group[k, column] = list(common).index((origin, kind)) if (origin, kind) in common else len(common)
            common[origin, kind] = error.common
    return ActionErrors(own=own, group=group, common=np.array(list(common.values())), sources=_sources(seen, by_origin))


def _action_names(tables: ProblemTables) -> list[tuple[str, str]]:
    """Return (actor, action) of each column."""
    return [(actor.name, action.name) for actor in tables.topology.actors for action in actor.actions]


def _known_error(weights: WeightTable, key: tuple[str, str, UnitKind]) -> tuple[Origin, float]:
    """Return the origin of a weight and the relative error that it says itself: 0 where it says nothing.

    What was measured is known to the standard error of its mean; the variance of any other is that of its error. A
    table of SIMD blocks counts as predicted.
    """
    cost = weights.compute.get(key)
    if cost is None:
        return ("predicted" if key in weights.simd else "unknown"), 0.0
    return cost.origin, _relative_error(cost)


def _relative_error(cost: Cost) -> float:
    if cost.variance_cycles2 is None or cost.mean_cycles <= 0:
        return 0.0
    samples = cost.count or 1 if cost.origin == "measured" else 1
    return math.sqrt(cost.variance_cycles2 / samples) / float(cost.mean_cycles)


def _sources(seen: dict[tuple[Origin, UnitKind], list[float]], stated: dict[Origin, StatedError]) -> tuple[str, ...]:
    """Return in words where the errors come from, and of which actions none is known."""
    words = []
    for (origin, kind), errors in seen.items():
        what = f"{len(errors)} {origin} costs on the {kind}"
        error = stated.get(origin)
        if error is not None:
            common = f", and {100 * error.common:g} % in common" if error.common else ""
            words.append(f"{what}: {100 * error.own:g} % each{common}, as stated")
        elif any(errors):
            middle, most = 100 * float(np.median(errors)), 100 * max(errors)
            told = "standard errors" if origin == "measured" else "errors of their own"
            words.append(f"{what}: {told} of {middle:.2g} % (median), up to {most:.2g} %")
        else:
            words.append(f"{what}: no error is known, they are not drawn")
    return tuple(words)


class Draws:
    """Draws costs for the tables of a problem, block after block; the same for the same seed.

    ``shuffled``: each firing's own cost is drawn too, where the problem has them.
    """

    def __init__(self, tables: ProblemTables, errors: ActionErrors, seed: int, *, shuffled: bool = True) -> None:
        self._tables = tables
        self._errors = errors
        self._seed = seed
        self._kinds = np.array([row.kind for row in tables.rows])
        self._most = _largest_factor(tables)
        self._block_column, self._block_row = _owners_of_blocks(tables)
        self.of_firings = shuffled and bool(tables.deviations.any())
        ids = zip(tables.action_base[:-1].tolist(), tables.problem.trace.firings, strict=True)
        self._column = np.concatenate([base + f.astype(np.int64) for base, f in ids]) if self._deviates else None
        self._order = None if self._column is None else np.argsort(self._column, kind="stable")

    @property
    def _deviates(self) -> bool:
        return bool(len(self._tables.deviations))

    def factors(self, block: int) -> Reals:
        """Return what the mean of each action is multiplied by: shape (BLOCK, n_kinds, n_actions)."""
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(block, 0)))
        errors = self._errors
        found = _log_normal(rng.standard_normal((BLOCK, *errors.own.shape)), errors.own)
        if len(errors.common):
            common = _log_normal(rng.standard_normal((BLOCK, len(errors.common))), errors.common)
            found *= np.where(errors.group >= 0, common[:, errors.group], 1.0)
        return np.minimum(found, self._most)

    def sets(self, block: int, count: int) -> list[DrawnCosts]:
        """Return the first ``count`` draws of a block: in one set, or one by one where each firing has its own cost."""
        tables, factors = self._tables, self.factors(block)[:count]
        rows = factors[:, self._kinds]
        compute = np.where(tables.compute == UNKNOWN, UNKNOWN, _rounded(tables.compute * rows))
        blocks = _rounded(tables.block_ticks * rows[:, self._block_row, self._block_column])
        if not self._deviates:
            return [DrawnCosts(compute=compute, block_ticks=blocks)]
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(block, 1)))
        own = (self._own(rng, factors[i, 0], compute[i, 0]) for i in range(count))
        return [
            DrawnCosts(compute=compute[i : i + 1], block_ticks=blocks[i : i + 1], deviations=deviations)
            for i, deviations in enumerate(own)
        ]

    def _own(self, rng: np.random.Generator, factors: Reals, compute: IntArray) -> IntArray:
        """Return the deviations of one draw: those of an action in another order, as long as its mean."""
        column, order = self._column, self._order
        assert column is not None, "firings have costs of their own"
        assert order is not None, "firings have costs of their own"
        found = self._tables.deviations
        if self.of_firings:
            mixed = order[np.argsort(column[order] + rng.random(len(column)))]
            found = np.empty_like(found)
            found[order] = self._tables.deviations[mixed]
        least: IntArray = -np.maximum(compute[column], 0)
        return np.asarray(np.maximum(_rounded(found * factors[column]), least), dtype=np.int64)


def _log_normal(normal: Reals, relative: Reals) -> Reals:
    """Return log-normal numbers of mean 1 and the given relative standard deviations, of standard normal ones."""
    variance = np.log1p(relative**2)
    found: Reals = np.exp(np.sqrt(variance) * normal - variance / 2)
    return found


def _rounded(ticks: Reals) -> IntArray:
    found: IntArray = np.rint(ticks).astype(np.int64)
    return found


def _largest_factor(tables: ProblemTables) -> float:
    """Return by what all costs may be multiplied so that their sums fit 64 bits."""
    at_once = max(1, len(tables.topology.buffers)) if tables.problem.platform.links else 1
    return max(1.0, MOST_TOTAL_TICKS / max(1.0, float(most_ticks_of_actions(tables).sum()) * at_once))


def _owners_of_blocks(tables: ProblemTables) -> tuple[IntArray, IntArray]:
    """Return column and row of the tables to which each entry of ``block_ticks`` belongs."""
    column, row = np.zeros((2, len(tables.block_ticks)), dtype=np.int64)
    for r, c in zip(*np.nonzero(tables.block_width), strict=True):
        begin = int(tables.block_base[r, c])
        span = slice(begin, begin + int(tables.block_width[r, c]))
        column[span], row[span] = c, r
    return column, row


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions:
    """How much is drawn. ``shuffled``: each firing's own cost too; ``workers``: threads, no result depends on them."""

    draws: int
    seed: int = 1
    workers: int = 1
    shuffled: bool = True


def drawn_makespans(
    engine: Engine, tables: ProblemTables, points: Sequence[DesignPoint], errors: ActionErrors, options: DrawOptions
) -> IntArray:
    """Return the makespan of each point under each draw, in ticks: shape (n_draws, n_points); -1 for a deadlock."""
    drawing = Draws(tables, errors, options.seed, shuffled=options.shuffled)
    found = np.empty((options.draws, len(points)), dtype=np.int64)
    stopped: list[bool] = []

    def make(block: int) -> None:
        begin = block * BLOCK
        for costs in drawing.sets(block, min(BLOCK, options.draws - begin)):
            behind = begin + len(costs.compute)
            for p, point in enumerate(points):
                if stopped:
                    return
                found[begin:behind, p] = engine.drawn(point, costs)
            begin = behind

    def stop() -> None:
        stopped.append(True)
        engine.stop()

    _in_threads(make, -(-options.draws // BLOCK), options.workers, stop)
    return found


def _in_threads(make: Callable[[int], None], count: int, workers: int, stop: Callable[[], None]) -> None:
    """Call a function for each number below ``count`` by so many threads; an interrupt stops them."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for future in [pool.submit(make, number) for number in range(count)]:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise


def robust_ranking(
    engine: Engine,
    tables: ProblemTables,
    points: Sequence[DesignPoint],
    nominal: Sequence[int],
    errors: ActionErrors,
    options: DrawOptions,
    by: RankedBy = "mean",
) -> Robust:
    """Return the points ranked under uncertain weights; ``nominal``: their makespans without. None may deadlock."""
    fine, scale = refined(tables)
    changed = engine.with_tables(fine)
    makespans = drawn_makespans(changed, fine, points, errors, options) / scale
    shuffled = options.shuffled and bool(tables.deviations.any())
    own = ("each firing's own cost: those of an action in another order in each draw",) if shuffled else ()
    return Robust(
        rows=ranked_rows(makespans, nominal, by),
        by=by,
        draws=options.draws,
        seed=options.seed,
        unit=tables.tick_unit,
        sources=(*errors.sources, *own, "scheduling and transfers are not drawn"),
    )


def ranked_rows(makespans: Reals, nominal: Sequence[int], by: RankedBy) -> tuple[RobustRow, ...]:
    """Return the mappings ranked by ``by``; ``makespans``: shape (n_draws, n_points)."""
    best = makespans.min(axis=1, keepdims=True)
    equal = makespans == best
    first = (equal / equal.sum(axis=1, keepdims=True)).mean(axis=0)
    regret = (makespans - best).mean(axis=0)
    value = makespans.mean(axis=0) if by == "mean" else np.quantile(makespans, by, axis=0)
    low, high = np.quantile(makespans, INTERVAL, axis=0)
    order = np.lexsort((np.arange(len(value)), value))
    tied = _ties(makespans[:, order])
    return tuple(
        RobustRow(
            index=int(index),
            nominal=nominal[index],
            mean=float(makespans[:, index].mean()),
            low=float(low[index]),
            high=float(high[index]),
            value=float(value[index]),
            first=float(first[index]),
            regret=float(regret[index]),
            tied=tied[place],
        )
        for place, index in enumerate(order)
    )


def _ties(makespans: Reals) -> list[int | None]:
    """Return of each ranked mapping the first of those that it cannot be told apart from, None for such a first."""
    head, tied = 0, list[int | None]()
    for place in range(makespans.shape[1]):
        first, other = makespans[:, head], makespans[:, place]
        faster = float(((first < other) + 0.5 * (first == other)).mean())
        if place and faster < SURE:
            tied.append(head)
        else:
            head = place
            tied.append(None)
    return tied


def without_own_costs(errors: ActionErrors) -> ActionErrors:
    """Return errors of no action: only the firings' own costs are drawn."""
    return replace(errors, own=np.zeros_like(errors.own), group=np.full_like(errors.group, -1), common=np.zeros(0))
