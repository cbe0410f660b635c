"""Small batches are made by the thread that asks, large ones by the workers; what comes of them is the same."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from dse.estimate.engine import Engine, make_engine
from dse.explore.distribution.workers import FEW_FIRINGS, ThreadEstimator
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from tests.property.test_bursts_agree import plain_case

CASE = plain_case(12)
POINTS = [replace(CASE.point, capacities=tuple(c + more for c in CASE.point.capacities)) for more in range(8)]


class Watched:
    """An engine that notes who asks."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.threads: set[int] = set()

    def outcomes(self, points: Sequence[DesignPoint], limit: int | None = None) -> list[Outcome | None]:
        self.threads.add(threading.get_ident())
        return self.engine.outcomes(points, limit)


def asked(workers: int, firings: int) -> tuple[list[Outcome | None], set[int]]:
    watched = Watched(make_engine("compiled", CASE.problem))
    estimator = ThreadEstimator(watched, workers, firings)  # type: ignore[arg-type]
    found = list(estimator(POINTS, None))
    assert list(estimator([], None)) == []
    estimator.close()
    return found, watched.threads


def test_who_makes_a_batch_follows_from_its_size_and_changes_nothing() -> None:
    here, few = asked(2, 1), FEW_FIRINGS // len(POINTS)
    assert here[1] == {threading.get_ident()}
    assert asked(2, few - 1) == here
    apart = asked(2, few + 1)
    assert threading.get_ident() not in apart[1]
    assert apart[0] == here[0]
    assert asked(1, few + 1) == here
