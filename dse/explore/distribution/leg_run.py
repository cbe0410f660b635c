"""Walks one leg of a search, wherever that is: asks it, has its points estimated, tells it, until it ends."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from dse.explore.batch import BATCH
from dse.explore.evaluator import Estimator
from dse.explore.method import SearchContext
from dse.explore.methods.improving.leg import Leg, LegOutcome, LegSearch
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation


def _nothing(_: str) -> Evaluation | None:
    return None


class LegRun:
    """A leg on its way. ``stored``: what an earlier part of the search has evaluated, by digest."""

    def __init__(
        self,
        leg: Leg,
        context: SearchContext,
        estimate: Estimator,
        clock: Callable[[], float],
        stored: Callable[[str], Evaluation | None] = _nothing,
    ) -> None:
        """Set out."""
        self._search = LegSearch(context, leg)
        self._estimate = estimate
        self._clock = clock
        self._stored = stored
        self._made: dict[str, Evaluation] = {}
        self.simulated = False
        """Whether some point of it had to be estimated."""

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""
        return self._search.done

    def outcome(self) -> LegOutcome:
        """Return what it has found so far."""
        return self._search.outcome(self._made.values())

    def step(self) -> None:
        """Evaluate one batch."""
        points = self._search.ask(BATCH)
        digests = [point.digest() for point in points]
        for digest in digests:
            known = None if digest in self._made else self._stored(digest)
            if known is not None and not known.cut:
                self._made[digest] = replace(known, ordinal=0)
        fresh = {d: p for d, p in zip(digests, points, strict=True) if d not in self._made}
        if fresh:
            self._simulate(fresh)
        self._search.tell([self._made[digest] for digest in digests])

    def _simulate(self, fresh: dict[str, DesignPoint]) -> None:
        self.simulated = True
        before = self._clock()
        points: Sequence[DesignPoint] = list(fresh.values())
        outcomes = list(self._estimate(points, None))
        seconds = (self._clock() - before) / len(points)
        for (digest, point), outcome in zip(fresh.items(), outcomes, strict=True):
            assert outcome is not None, "without a limit every estimate comes to an end"
            self._made[digest] = Evaluation.of(
                ordinal=0,
                point=point,
                digest=digest,
                makespan=outcome.makespan,
                tick_unit=outcome.tick_unit,
                deadlock=outcome.deadlock,
                partitions=outcome.partitions,
                seconds=seconds,
                waiting=outcome.waiting,
            )
