"""What the actions of one actor cost, from its visits and from firings that were timed singly; in counts.

A visit takes what finding, entering and leaving the actor takes, and what its firings take. Actions that are long
against the counter are timed singly: their reading, computing and writing are known firing by firing, and only what is
left, the choosing, comes from the split of visits. The cost of a short action comes from the split alone: a mean of
everything that its firing does. What is said of its spread is then the spread of visits (``Spread.of_visits``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.measure.counter import CounterFacts
from dse.measure.outliers import ordinary
from dse.measure.regression import Split, split_durations
from dse.measure.samples import SATURATED_STEPS, UNKNOWN_STEPS, ActorVisits, Singles

FloatArray = NDArray[np.float64]
_FEWEST_REPEATS = 3
"""So many runs with the same visits are needed to tell an interruption from a visit that takes long by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean, least, most and variance of a cost, in counts. ``of_visits``: all but the mean are those of visits."""

    mean: float
    least: float
    most: float
    variance: float
    count: int
    of_visits: bool = False

    def scaled(self, factor: float) -> "Spread":
        """Return the spread of a cost that is ``factor`` times this one."""
        return replace(
            self,
            mean=self.mean * factor,
            least=self.least * factor,
            most=self.most * factor,
            variance=self.variance * factor**2,
        )


def spread_of_samples(values: FloatArray) -> Spread:
    """Return the spread of at least one sample."""
    return Spread(
        mean=float(values.mean()),
        least=float(values.min()),
        most=float(values.max()),
        variance=float(values.var()),
        count=len(values),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCosts:
    """What a firing of an action takes. Phases are None where the action was not timed singly; then all is computing.

    ``choosing``: the choice of the action and what is done around its firing.
    """

    firings: int
    computing: Spread
    choosing: Spread | None = None
    reading: Spread | None = None
    writing: Spread | None = None

    @property
    def total(self) -> float:
        """Mean of all phases together."""
        return sum(s.mean for s in (self.choosing, self.reading, self.computing, self.writing) if s is not None)

    def scaled(self, factor: float) -> "ActionCosts":
        """Return costs that are ``factor`` times these."""
        phases = (self.choosing, self.reading, self.writing)
        choosing, reading, writing = (None if s is None else s.scaled(factor) for s in phases)
        return replace(
            self, computing=self.computing.scaled(factor), choosing=choosing, reading=reading, writing=writing
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outliers:
    """How many of how many samples were left out."""

    left_out: int = 0
    samples: int = 0

    def __add__(self, other: "Outliers") -> "Outliers":
        return Outliers(left_out=self.left_out + other.left_out, samples=self.samples + other.samples)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActorCosts:
    """What one actor costs. ``actions``: one entry each, None for those that never fired.

    ``visit``: what a visit takes beside its firings. ``shared``: groups of actions (indices) whose costs could not be
    told apart. ``visit_contained``: the cost of a visit could not be told from that of the firings and is inside it.
    ``total``: what all visits of one run take by these costs. ``visits``: the visits of one run. ``factor``: what was
    measured is multiplied by it.
    """

    actor: int
    visit: float
    actions: tuple[ActionCosts | None, ...]
    shared: tuple[tuple[int, ...], ...]
    visit_contained: bool
    outliers: Outliers
    total: float
    visits: int
    factor: float = 1.0

    def means(self) -> FloatArray:
        """Return the mean of all phases of each action, shape (n_actions,); 0 for those that never fired."""
        return np.array([0.0 if action is None else action.total for action in self.actions])

    def scaled(self, factor: float) -> "ActorCosts":
        """Return costs that are ``factor`` times these."""
        actions = tuple(None if action is None else action.scaled(factor) for action in self.actions)
        return replace(
            self,
            visit=self.visit * factor,
            actions=actions,
            total=self.total * factor,
            factor=self.factor * factor,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SingleFirings:
    """The firings of one actor that were timed singly, of all runs; columns as in ``Singles``, shape (n,)."""

    action: NDArray[np.int64]
    firing: NDArray[np.int64]
    run: NDArray[np.int64]
    reading: FloatArray
    computing: FloatArray
    writing: FloatArray


def singles_of_actor(runs: Sequence[Sequence[Singles]], actor: int, cost: float) -> SingleFirings:
    """Return the single firings of an actor; ``runs``: the threads of each run. Readings are taken out of the phases.

    Firings with a phase that the counter could not hold are left out.
    """
    parts = [(run, s, np.flatnonzero(s.actor == actor)) for run, threads in enumerate(runs) for s in threads]

    def column(name: str) -> FloatArray:
        values = [np.asarray(getattr(s, name)[rows], dtype=np.float64) for _, s, rows in parts]
        return np.concatenate([np.zeros(0), *values])

    phases = [column(name) for name in ("reading", "computing", "writing")]
    held = np.all([phase < min(SATURATED_STEPS, UNKNOWN_STEPS) for phase in phases], axis=0)
    reading, computing, writing = (np.maximum(phase[held] - cost, 0.0) for phase in phases)
    of_run = np.concatenate([np.zeros(0), *(np.full(len(rows), run) for run, _, rows in parts)])
    return SingleFirings(
        action=column("action")[held].astype(np.int64),
        firing=column("firing")[held].astype(np.int64),
        run=of_run[held].astype(np.int64),
        reading=reading,
        computing=computing,
        writing=writing,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergedVisits:
    """The visits of an actor over all runs, without what reading the counter costs.

    ``rest``: what the singly timed firings leave of each visit, shape (n,). ``repeated``: the runs had the same visits,
    and each entry is the mean over the quicker runs; else the visits of all runs stand one after the other.
    """

    counts: NDArray[np.int32]
    steps: FloatArray
    rest: FloatArray
    repeated: bool
    runs: int
    outliers: Outliers


def merged_visits(runs: Sequence[ActorVisits], singles: SingleFirings, facts: CounterFacts) -> MergedVisits:
    """Return the visits of at least one run merged."""
    steps = [visits.taken(facts.cost) for visits in runs]
    rests = [
        np.maximum(of_run - _timed_singly(visits, singles, run, facts.cost), 0.0)
        for run, (visits, of_run) in enumerate(zip(runs, steps, strict=True))
    ]
    same = all(np.array_equal(visits.counts, runs[0].counts) for visits in runs[1:])
    if not same or len(runs) < _FEWEST_REPEATS:
        return MergedVisits(
            counts=np.concatenate([visits.counts for visits in runs]),
            steps=np.concatenate(steps),
            rest=np.concatenate(rests),
            repeated=False,
            runs=len(runs),
            outliers=Outliers(),
        )
    quicker = quicker_runs([float(of_run.sum()) for of_run in steps])
    taken, left = np.stack(steps)[quicker], np.stack(rests)[quicker]
    kept = _uninterrupted(taken, np.sqrt(1.0 + runs[0].counts.sum(axis=1)))
    return MergedVisits(
        counts=runs[0].counts,
        steps=_means(taken, kept),
        rest=_means(left, kept),
        repeated=True,
        runs=len(runs),
        outliers=Outliers(left_out=int((~kept).sum()), samples=kept.size),
    )


def quicker_runs(lengths: Sequence[float]) -> list[int]:
    """Return the quicker half of the runs, three at least: what others do to the machine may last for whole runs."""
    order = sorted(range(len(lengths)), key=lambda run: lengths[run])
    return order[: max(_FEWEST_REPEATS, (len(lengths) + 1) // 2)]


def quicker_mean(lengths: Sequence[float]) -> float:
    """Return the mean length of the quicker half of at least one run, three if there are so many."""
    return float(np.mean([lengths[run] for run in quicker_runs(lengths)]))


def _means(values: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """Return the mean over the runs of what was kept, shape (n_visits,); both have shape (n_runs, n_visits).

    A mean and no median: the counter goes in steps, and a visit that is shorter than a few of them reads as the step
    below or the one above, each the more often the nearer it is.
    """
    return np.asarray((values * kept).sum(axis=0) / kept.sum(axis=0), dtype=np.float64)


def _uninterrupted(steps: FloatArray, scale: FloatArray) -> NDArray[np.bool_]:
    """Return which visits did not take so much longer than in the middle run that they are outliers.

    ``steps``: shape (n_runs, n_visits), as the result. The middle run itself says nothing of the spread, and what is
    below it is taken to be spread as what is above it would be without interruptions.
    """
    ordered = np.sort(steps, axis=0)
    middle = np.median(steps, axis=0)
    above = ((ordered[len(steps) // 2 + 1 :] - middle) / scale).ravel()
    below = ((middle - ordered[: (len(steps) - 1) // 2]) / scale).ravel()
    spread = np.concatenate([above, -below])
    kept = spread[ordinary(spread)]
    farthest = max(float(kept.max(initial=0.0)), 0.0)
    return np.asarray((steps - middle) / scale <= farthest, dtype=np.bool_)


def _timed_singly(visits: ActorVisits, singles: SingleFirings, run: int, cost: float) -> FloatArray:
    """Return what the singly timed firings of each visit took, with the four readings of each; shape (n_visits,)."""
    mine = singles.run == run
    took = (singles.reading + singles.computing + singles.writing)[mine] + 4.0 * cost
    visit = np.searchsorted(visits.first, singles.firing[mine], side="right") - 1
    return np.asarray(np.bincount(visit, weights=took, minlength=len(visits.first)), dtype=np.float64)


def actor_costs(actor: int, runs: Sequence[ActorVisits], singles: SingleFirings, facts: CounterFacts) -> ActorCosts:
    """Return the costs of an actor from its visits in at least one run, and its firings that were timed singly."""
    visits = merged_visits(runs, singles, facts)
    columns = np.column_stack([np.ones(len(visits.counts)), visits.counts])
    split = split_durations(visits.rest, columns, optional=(0,), filtered=not visits.repeated)
    split = _with_the_right_sum(split, visits.rest)
    found = [_action(action, visits, split, singles) for action in range(visits.counts.shape[1])]
    left_out = Outliers(left_out=int((~split.kept).sum()), samples=len(split.kept))
    runs_merged = 1 if visits.repeated else visits.runs
    visit = max(float(split.costs[0]), 0.0) if len(visits.counts) else 0.0
    costs = ActorCosts(
        actor=actor,
        visit=visit,
        actions=tuple(action for action, _ in found),
        shared=tuple(tuple(c - 1 for c in group) for group in split.shared),
        visit_contained=0 in split.contained,
        outliers=sum((some for _, some in found), visits.outliers if visits.repeated else left_out),
        total=0.0,
        visits=len(visits.counts) // runs_merged,
    )
    firings = visits.counts.sum(axis=0) / runs_merged
    return replace(costs, total=visit * costs.visits + float(firings @ costs.means()))


def _with_the_right_sum(split: Split, durations: FloatArray) -> Split:
    """Return the split with costs that give the sum of the durations that were kept; the rest keeps its proportions."""
    predicted = float(split.predicted[split.kept].sum())
    factor = float(durations[split.kept].sum()) / predicted if predicted > 0 else 1.0
    return replace(split, costs=split.costs * factor, predicted=split.predicted * factor)


def _action(
    action: int, visits: MergedVisits, split: Split, singles: SingleFirings
) -> tuple[ActionCosts | None, Outliers]:
    """Return the costs of one action, and the outliers among its single firings."""
    firings = int(visits.counts[:, action].sum()) // (1 if visits.repeated else visits.runs)
    cost = float(split.costs[action + 1]) if len(visits.counts) else math.nan
    if math.isnan(cost):
        return None, Outliers()
    of_visits = _spread_of_visits(action, cost, visits, split, firings)
    if not (singles.action == action).any():
        return ActionCosts(firings=firings, computing=of_visits), Outliers()
    phases, outliers = _merged_phases(action, singles, visits.runs)
    reading, computing, writing = (spread_of_samples(phase) for phase in phases)
    costs = ActionCosts(firings=firings, choosing=of_visits, reading=reading, computing=computing, writing=writing)
    return costs, outliers


def _merged_phases(action: int, singles: SingleFirings, runs: int) -> tuple[list[FloatArray], Outliers]:
    """Return reading, computing and writing of the firings of an action, and how many samples are outliers.

    Where all of enough runs timed the same firings, each is the mean over the runs in which it was not interrupted: a
    firing that takes long in every run is none that was. Else all samples stand side by side without the outliers.
    """
    mine = np.flatnonzero(singles.action == action)
    mine = mine[np.lexsort((singles.run[mine], singles.firing[mine]))]
    phases = [phase[mine] for phase in (singles.reading, singles.computing, singles.writing)]
    rows = len(mine) // runs
    firings = singles.firing[mine]
    if (
        runs >= _FEWEST_REPEATS
        and len(mine) == rows * runs
        and np.array_equal(firings, np.repeat(firings[::runs], runs))
    ):
        by_firing = [phase.reshape(rows, runs) for phase in phases]
        total = np.sum(by_firing, axis=0)
        kept = _uninterrupted(total.T, np.sqrt(1.0 + np.median(total, axis=1)))
        outliers = Outliers(left_out=int((~kept).sum()), samples=kept.size)
        return [_means(phase.T, kept) for phase in by_firing], outliers
    usual = ordinary(np.sum(phases, axis=0))
    return [phase[usual] for phase in phases], Outliers(left_out=int((~usual).sum()), samples=len(usual))


def _spread_of_visits(action: int, cost: float, visits: MergedVisits, split: Split, firings: int) -> Spread:
    """Return the spread of a cost from how much the visits in which the action fired differ from what was predicted."""
    rows = (visits.counts[:, action] > 0) & split.kept & (split.predicted > 0)
    ratio = visits.rest[rows] / split.predicted[rows] if rows.any() else np.ones(1)
    return Spread(
        mean=cost,
        least=cost * min(float(ratio.min()), 1.0),
        most=cost * max(float(ratio.max()), 1.0),
        variance=cost**2 * float(ratio.var()),
        count=firings,
        of_visits=True,
    )
