"""Evaluates design points for a search: cache, budget, store and progress. Knows no engine, only what it is handed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dse.base.errors import OptionError
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.study import Evaluation, StopReason

Estimator: TypeAlias = Callable[[Sequence[DesignPoint]], Iterator[Estimate]]
"""Yields the estimates of points in their order; may work ahead in other threads or processes."""
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
class Progress:
    """What is reported after each commit. ``best`` is the smallest makespan in ticks, None before the first."""

    evaluations: int
    deadlocks: int
    best: int | None
    seconds: float


class EvaluationStore(Protocol):
    """Where evaluations are kept (``dse/explore/store.py``)."""

    def known(self) -> dict[str, Evaluation]:
        """Return the stored evaluations by digest."""

    def add(self, evaluation: Evaluation) -> None:
        """Add an evaluation; it may be lost until ``commit``."""

    def commit(self) -> None:
        """Make everything added durable."""


class Evaluator:
    """Turns design points into evaluations, each distinct point once.

    Evaluations that the store already holds are replayed: they cost no time, and count against the budget as if they
    had been made now, so that a resumed search takes the same decisions as an uninterrupted one.
    """

    def __init__(
        self, estimate: Estimator, *, budget: Budget, store: EvaluationStore, clock: Callable[[], float],
        progress: Callable[[Progress], None],
    ) -> None:  # fmt: skip
        self._estimate = estimate
        self._budget = budget
        self._store = store
        self._clock = clock
        self._progress = progress
        self._stored = store.known()
        self._known: dict[str, Evaluation] = {}
        self._deadlocks = 0
        self._best: int | None = None
        self._started = clock()
        self._replayed_seconds = 0.0
        self._last_commit = self._started
        self.stop: StopReason | None = None
        """Why the last call returned fewer evaluations than it was asked for, or None."""

    @property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations in the order in which they were made."""
        return list(self._known.values())

    @property
    def seconds(self) -> float:
        """Time spent, replayed evaluations included."""
        return self._clock() - self._started + self._replayed_seconds

    def evaluate(self, points: Sequence[DesignPoint]) -> list[Evaluation]:
        """Return the evaluations of the leading points that the budget allows, in order; sets ``stop`` if not all."""
        if not points:  # a method that thinks for long asks for nothing, so that its time is counted
            self.stop = self._spent()
        digests = [point.digest() for point in points]
        fresh = {d: p for d, p in zip(digests, points, strict=True) if d not in self._known and d not in self._stored}
        estimates = self._estimate(list(fresh.values()))
        results: list[Evaluation] = []
        try:
            for digest, point in zip(digests, points, strict=True):
                if digest not in self._known:
                    self.stop = self._spent()
                    if self.stop:
                        break
                    self._note(self._replay(digest) or self._make(digest, point, estimates))
                results.append(self._known[digest])
        finally:
            self._commit(force=self.stop is not None)
        return results

    def close(self) -> None:
        """Commit and report what is left."""
        self._commit(force=True)

    def _spent(self) -> StopReason | None:
        budget = self._budget
        if budget.evaluations is not None and len(self._known) >= budget.evaluations:
            return "evaluations"
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return "seconds"
        return None

    def _replay(self, digest: str) -> Evaluation | None:
        stored = self._stored.get(digest)
        if stored is not None:
            self._replayed_seconds += stored.seconds
        return stored

    def _make(self, digest: str, point: DesignPoint, estimates: Iterator[Estimate]) -> Evaluation:
        before = self._clock()
        estimate = next(estimates)
        evaluation = Evaluation(
            ordinal=len(self._known), point=point, digest=digest, makespan=estimate.makespan,
            tick_unit=estimate.tick_unit, deadlock=estimate.deadlock is not None, partitions=estimate.partitions,
            seconds=self._clock() - before, waiting=tuple(account.idle for account in estimate.actors),
        )  # fmt: skip
        self._store.add(evaluation)
        return evaluation

    def _note(self, evaluation: Evaluation) -> None:
        self._known[evaluation.digest] = evaluation
        if evaluation.deadlock:
            self._deadlocks += 1
        elif self._best is None or evaluation.makespan < self._best:
            self._best = evaluation.makespan

    def _commit(self, *, force: bool) -> None:
        now = self._clock()
        if not force and now - self._last_commit < COMMIT_SECONDS:
            return
        self._store.commit()
        self._last_commit = now
        self._progress(
            Progress(
                evaluations=len(self._known), deadlocks=self._deadlocks, best=self._best, seconds=self.seconds
            )
        )  # fmt: skip
