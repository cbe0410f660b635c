"""How sure a ranking is: mappings simulated under thousands of drawn weights, all mappings under the same ones.

Two sources of uncertainty are kept apart. The *mean* of each weight, of computing, scheduling and transfers, is drawn
once a run (``dse.analyse.cost_errors``): measured with so many samples it is known to its standard error, a prediction
to a stated relative error, of which a part may be common to all weights of one model or card. *Each firing's own
cost*, where samples are given, is drawn from the samples of its action without putting any back, that is, they are
shuffled: what the firings of an action take together stays, so that the first source is not counted twice. Factors of
means are log-normal: costs stay above 0 and their mean what it was.

That all mappings see the same draws (common random numbers) makes differences between them far surer than their
makespans: Law, "Simulation Modeling and Analysis", chapter 11.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from dse.analyse.cost_errors import CostErrors, Reals
from dse.estimate.draws import DrawnCosts
from dse.estimate.engine import Engine
from dse.estimate.problem.changes import refined
from dse.estimate.problem.tables import UNKNOWN, IntArray, ProblemTables
from dse.estimate.problem.totals import MOST_TOTAL_TICKS, most_ticks_of_actions
from dse.model.design_point import DesignPoint
from dse.model.uncertainty import RankedBy, Robust, RobustRow

BLOCK = 64
"""So many draws have one random generator; which of them a thread makes changes nothing."""
SURE = 0.95
"""A mapping is told apart from one above it that is faster with at least this probability."""
INTERVAL = (0.025, 0.975)


class Draws:
    """Draws costs for the tables of a problem, block after block; the same for the same seed.

    ``shuffled``: each firing's own cost is drawn too, where the problem has them.
    """

    def __init__(self, tables: ProblemTables, errors: CostErrors, seed: int, *, shuffled: bool = True) -> None:
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
        """Return what each mean is multiplied by: shape (BLOCK, n_weights + 1), the last one where there is none."""
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(block, 0)))
        errors = self._errors
        found = _log_normal(rng.standard_normal((BLOCK, *errors.own.shape)), errors.own)
        if len(errors.common):
            common = _log_normal(rng.standard_normal((BLOCK, len(errors.common))), errors.common)
            found *= np.where(errors.group >= 0, common[:, errors.group], 1.0)
        return np.append(np.minimum(found, self._most), np.ones((BLOCK, 1)), axis=1)

    def sets(self, block: int, count: int) -> list[DrawnCosts]:
        """Return the first ``count`` draws of a block: in one set, or one by one where each firing has its own cost."""
        factors = self.factors(block)[:count]
        costs = self._means(factors)
        if not self._deviates:
            return [costs]
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(block, 1)))
        of_cpu = factors[:, self._errors.places.compute[0]]
        own = (self._own(rng, of_cpu[i], costs.compute[i, 0]) for i in range(count))
        return [replace(costs.one(i), deviations=deviations) for i, deviations in enumerate(own)]

    def _means(self, factors: Reals) -> DrawnCosts:
        """Return the costs of all firings alike under factors; what is not uncertain is left to the tables."""
        tables, places = self._tables, self._errors.places

        def drawn(ticks: IntArray, of: IntArray) -> IntArray | None:
            return _times(ticks, factors[:, of]) if self._errors.drawn_at(of) else None

        compute = places.compute[self._kinds]
        return DrawnCosts(
            compute=_times(tables.compute, factors[:, compute]),
            block_ticks=_times(tables.block_ticks, factors[:, compute[self._block_row, self._block_column]]),
            first_scheduling=drawn(tables.first_scheduling, places.first_scheduling[self._kinds]),
            pair_scheduling=drawn(tables.pair_scheduling, places.pair_scheduling[self._kinds]),
            reads=drawn(tables.reads.ticks, places.reads),
            writes=drawn(tables.writes.ticks, places.writes),
        )

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


def _times(ticks: IntArray, factors: Reals) -> IntArray:
    """Return costs times factors, one more dimension in front; what is not known stays so."""
    return np.where(ticks == UNKNOWN, UNKNOWN, _rounded(ticks * factors))


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
    engine: Engine, tables: ProblemTables, points: Sequence[DesignPoint], errors: CostErrors, options: DrawOptions
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
    errors: CostErrors,
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
        sources=(*errors.sources, *own),
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
