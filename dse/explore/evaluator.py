"""Evaluates design points for a search: cache, budget, store and progress. Knows no engine, only what it is handed.

A simulation may be *cut*: stopped as soon as it is clear that the point is not among the best that are reported, and
that the method does not need its makespan (``SearchMethod.ceiling``). The limit of a batch follows from what was known
when the batch was asked for, so that it does not depend on the number of workers.
"""

import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

from dse.base.errors import ExecutionError, OptionError
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome, TickUnit
from dse.model.study import Evaluation, StopReason

Estimator: TypeAlias = Callable[[Sequence[DesignPoint], int | None], Iterator[Outcome | None]]
"""Yields the outcomes of points in their order; may work ahead in other threads or processes. With a limit, in ticks,
None for a point that does not complete by then."""
_Estimated = TypeVar("_Estimated", Outcome | None, Evaluation)
COMMIT_SECONDS = 0.2
"""Evaluations are committed, then reported, at least this often: a commit waits for the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a search may spend; None is no limit. Raises ``OptionError`` when nothing may be spent."""

    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.evaluations is not None and self.evaluations < 1) or (self.seconds is not None and self.seconds <= 0):
            raise OptionError("the budget allows no evaluation", expected="give at least 1 evaluation and some time")


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBack:
    """The part of a budget that is not to be spent for now."""

    evaluations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutting:
    """When simulations may be cut. ``keep``: so many best points are exact; ``counts``: whether one is ranked."""

    keep: int
    counts: Callable[[Evaluation], bool] = lambda _: True


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is reported after each commit. ``best`` is the smallest makespan in ticks, None before the first.

    ``bound``: a makespan in ticks that no point can beat, 0 where none is known yet.
    """

    evaluations: int
    deadlocks: int
    best: int | None
    seconds: float
    bound: int = 0
    tick_unit: TickUnit = "cycles"


class EvaluationStore(Protocol):
    """Where evaluations are kept (``dse/formats/study_file.py``)."""

    def known(self) -> dict[str, Evaluation]:
        """Return the stored evaluations by digest."""

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation; it may be lost until ``commit``."""

    def commit(self) -> None:
        """Make everything added durable."""


class Evaluator:
    """Turns design points into evaluations, each distinct point once.

    Evaluations that the store already holds are replayed: they cost no time, and count against the budget as if they
    had been made now, so that a resumed search takes the same decisions as an uninterrupted one. What is above the
    limit of a batch is told as cut even where more is known, for the same reason. A cut point that is asked for again
    with a higher limit is simulated again, and counts once.
    """

    def __init__(
        self,
        estimate: Estimator,
        *,
        budget: Budget,
        store: EvaluationStore,
        clock: Callable[[], float],
        progress: Callable[[Progress], None],
        cutting: Cutting | None = None,
        least: int = 0,
    ) -> None:
        """Begin a search. ``least``: a makespan in ticks that is proven to be the smallest there can be."""
        self._least = least
        self._estimate = estimate
        self._budget = budget
        self._store = store
        self._clock = clock
        self._progress = progress
        self._stored = store.known()
        self._known: dict[str, Evaluation] = {}
        self._cutting = cutting
        self._kept: list[int] = []
        self._deadlocks = 0
        self._best: int | None = None
        self._tick_unit: TickUnit = "cycles"
        self._started = clock()
        self._replayed_seconds = 0.0
        self._held_back = HoldBack()
        self._charged = 0
        self._last_commit = self._started
        self.stop: StopReason | None = None
        """Why the last call returned fewer evaluations than it was asked for, or None."""

    @property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations in the order in which they were made."""
        return list(self._known.values())

    @property
    def replayed_seconds(self) -> float:
        """What the evaluations took that were replayed."""
        return self._replayed_seconds

    @property
    def seconds(self) -> float:
        """Time spent, replayed evaluations included."""
        return self._clock() - self._started + self._replayed_seconds

    @property
    def left(self) -> Budget:
        """What is left of the budget. Raises ``OptionError`` where nothing is."""
        most, seconds = self._most_evaluations, self._budget.seconds
        return Budget(
            evaluations=None if most is None else most - len(self._known),
            seconds=None if seconds is None else seconds - self._held_back.seconds - self.seconds,
        )

    @property
    def evaluations_left(self) -> int | None:
        """What is left of the budget in evaluations; None where it has none."""
        most = self._most_evaluations
        return None if most is None else max(0, most - len(self._known))

    @property
    def seconds_left(self) -> float | None:
        """What is left of the budget in seconds, 0 where nothing is; None where it has none."""
        seconds = self._budget.seconds
        return None if seconds is None else max(0.0, seconds - self._held_back.seconds - self.seconds)

    @property
    def resumes(self) -> bool:
        """Whether there is an earlier part of this search."""
        return bool(self._stored)

    def stored(self, digest: str) -> Evaluation | None:
        """Return what an earlier part of this search has evaluated, None where it has not."""
        return self._stored.get(digest)

    def hold_back(self, part: HoldBack) -> None:
        """Act from now on as if the budget were smaller by this part; ``HoldBack()`` gives it free."""
        self._held_back = part
        self.stop = None

    def charge(self, evaluations: int) -> None:
        """Count so many evaluations as made, for estimates of something else that were as dear."""
        self._charged += evaluations

    def evaluate(self, points: Sequence[DesignPoint], ceiling: int | None = None) -> list[Evaluation]:
        """Return the evaluations of the leading points that the budget allows, in order; sets ``stop`` if not all.

        ``ceiling``: makespans above it need not be exact for whoever asks (``SearchMethod.ceiling``).
        """
        if not points:  # a method that thinks for long asks for nothing, so that its time is counted
            self.stop = self._spent()
        limit = self._limit(ceiling)
        digests = [point.digest() for point in points]
        estimates = self._estimate(self._to_estimate(digests, points, limit), limit)
        results: list[Evaluation] = []
        try:
            for digest, point in zip(digests, points, strict=True):
                known = self._known.get(digest)
                if known is None:
                    self.stop = self._spent()
                    if self.stop:
                        break
                    known = self._replay(digest, limit)
                if known is None or not _suffices(known, limit):
                    known = self._make(digest, point, estimates, limit, known)
                self._note(known)
                results.append(_as_told(known, limit))
        finally:
            self._commit(force=self.stop is not None)
        return results

    def take(self, made: Sequence[Evaluation]) -> list[Evaluation]:
        """Return evaluations that were made elsewhere as they count, as far as the budget of evaluations goes.

        Sets ``stop`` if that is not all, or if the time is over. None of them may be cut.
        """
        results: list[Evaluation] = []
        self.stop = None
        try:
            for evaluation in made:
                known = self._known.get(evaluation.digest)
                if known is None:
                    if self._is_full:
                        break
                    known = self._replay(evaluation.digest, None)
                if known is None or known.cut:
                    known = self._placed(evaluation, known)
                self._note(known)
                results.append(known)
            self.stop = self._spent()
        finally:
            self._commit(force=self.stop is not None)
        return results

    def _placed(self, evaluation: Evaluation, known: Evaluation | None) -> Evaluation:
        """Store an evaluation that was made elsewhere at its place; ``known``: what was known of the point, cut."""
        self._proven(evaluation)
        ordinal = len(self._known) if known is None else known.ordinal
        seconds = evaluation.seconds + (0.0 if known is None else known.seconds)
        placed = replace(evaluation, ordinal=ordinal, seconds=seconds)
        self._store.add(placed)
        return placed

    def _limit(self, ceiling: int | None) -> int | None:
        """Return the makespan above which a simulation of the next batch may be cut; None: none may be."""
        if self._cutting is None or ceiling is None or len(self._kept) < self._cutting.keep:
            return None
        return max(ceiling, self._kept[-1])

    def _to_estimate(self, digests: list[str], points: Sequence[DesignPoint], limit: int | None) -> list[DesignPoint]:
        """Return the points that have to be simulated, as far as the budget of evaluations goes."""
        most = self._most_evaluations
        left = len(points) if most is None else most - len(self._known)
        fresh: dict[str, DesignPoint] = {}
        for digest, point in dict(zip(digests, points, strict=True)).items():
            known = self._known.get(digest)
            if known is None:
                left -= 1
                if left < 0:
                    break
                known = self._stored.get(digest)
            if known is None or not _suffices(known, limit):
                fresh[digest] = point
        return list(fresh.values())

    def close(self) -> None:
        """Commit and report what is left."""
        self._commit(force=True)

    @property
    def _most_evaluations(self) -> int | None:
        budget = self._budget.evaluations
        return None if budget is None else budget - self._charged - self._held_back.evaluations

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        seconds = self._budget.seconds
        return seconds is not None and self.seconds >= seconds - self._held_back.seconds

    @property
    def _is_full(self) -> bool:
        most = self._most_evaluations
        return most is not None and len(self._known) >= most

    def _spent(self) -> StopReason | None:
        if self._is_full:
            return "evaluations"
        return "seconds" if self.is_late else None

    def _replay(self, digest: str, limit: int | None) -> Evaluation | None:
        """Return what the store holds of a point as this search would know it: at its place, and cut by the limit.

        A search with a smaller budget may have come to the point sooner, and without the limit.
        """
        stored = self._stored.get(digest)
        if stored is None:
            return None
        self._replayed_seconds += stored.seconds
        placed = stored if stored.ordinal == len(self._known) else replace(stored, ordinal=len(self._known))
        if placed is not stored:
            self._store.add(placed)
        return _as_told(placed, limit)

    def _make(
        self,
        digest: str,
        point: DesignPoint,
        estimates: Iterator[Outcome | None],
        limit: int | None,
        known: Evaluation | None,
    ) -> Evaluation:
        """Take the next estimate; ``known``: what was known of the point, which did not suffice."""
        before = self._clock()
        estimate = self._proven(next(estimates))
        seconds = self._clock() - before + (0.0 if known is None else known.seconds)
        ordinal = len(self._known) if known is None else known.ordinal
        if estimate is None:
            assert limit is not None, "without a limit every estimate comes to an end"
            evaluation = Evaluation.of(
                ordinal=ordinal,
                point=point,
                digest=digest,
                makespan=limit + 1,
                cut=True,
                tick_unit=self._tick_unit,
                deadlock=False,
                partitions=(),
                seconds=seconds,
            )
        else:
            evaluation = Evaluation.of(
                ordinal=ordinal,
                point=point,
                digest=digest,
                makespan=estimate.makespan,
                tick_unit=estimate.tick_unit,
                deadlock=estimate.deadlock,
                partitions=estimate.partitions,
                seconds=seconds,
                waiting=estimate.waiting,
            )
        self._store.add(evaluation)
        return evaluation

    def expect_at_least(self, makespan: int) -> None:
        """Refuse makespans below this one, in ticks, which is proven to be the least. Raises ``ExecutionError``."""
        self._least = makespan
        for evaluation in self._known.values():
            if not evaluation.deadlock and not evaluation.cut:
                self._check(evaluation.makespan, evaluation.tick_unit)

    def _proven(self, estimate: _Estimated) -> _Estimated:
        """Return an estimate that is not below what is proven. Raises ``ExecutionError`` where it is."""
        if estimate is not None and not estimate.deadlock:
            self._check(estimate.makespan, estimate.tick_unit)
        return estimate

    def _check(self, makespan: int, tick_unit: TickUnit) -> None:
        if makespan < self._least:
            raise ExecutionError(
                f"a mapping is estimated to take {makespan} {tick_unit}, but it is proven that none"
                f" takes less than {self._least}: one of the two is wrong",
                expected="this is a fault of dse, or of a worker of a cluster: please report it, with the study",
            )

    def _note(self, evaluation: Evaluation) -> None:
        """Keep an evaluation, in the place of an earlier one of its point that was cut."""
        known = self._known.get(evaluation.digest)
        if known is evaluation:
            return
        self._known[evaluation.digest] = evaluation
        if evaluation.cut:
            return
        self._tick_unit = evaluation.tick_unit
        if evaluation.deadlock:
            self._deadlocks += 1
            return
        if self._best is None or evaluation.makespan < self._best:
            self._best = evaluation.makespan
        if self._cutting is not None and self._cutting.counts(evaluation):
            bisect.insort(self._kept, evaluation.makespan)
            del self._kept[self._cutting.keep :]

    def _commit(self, *, force: bool) -> None:
        now = self._clock()
        if not force and now - self._last_commit < COMMIT_SECONDS:
            return
        self._store.commit()
        self._last_commit = now
        self._progress(
            Progress(
                evaluations=len(self._known),
                deadlocks=self._deadlocks,
                best=self._best,
                seconds=self.seconds,
                bound=self._least,
                tick_unit=self._tick_unit,
            )
        )


def _suffices(known: Evaluation, limit: int | None) -> bool:
    """Return whether what is known of a point is all that a limit asks for."""
    return not known.cut or (limit is not None and known.makespan > limit)


def _as_told(known: Evaluation, limit: int | None) -> Evaluation:
    """Return an evaluation as a batch with a limit tells it: cut where it is above, whatever else is known."""
    if limit is None or (not known.deadlock and known.makespan <= limit):
        return known
    return replace(known, makespan=limit + 1, cut=True, deadlock=False, times=b"")
