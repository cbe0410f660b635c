"""Estimates made by the threads of this process, in the order asked for: engines release the interpreter lock.

A batch of points is cut into runs of a few, and each run is one call of the engine: fewer hand-overs between threads.
Which thread makes an estimate, and with which others, changes nothing in it.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from dse.estimate.engine import Engine
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome

RUN_FIRINGS = 400_000
"""A run of points simulates about so many firings (tens of milliseconds), so that nobody waits long for the clock."""
RUNS_PER_WORKER = 2
"""A batch gives each thread so many runs: stopped simulations make them unequal."""
FEW_FIRINGS = 50_000
"""A batch of fewer firings is made where it is asked for: to hand it over takes longer than to make it."""
STOP_SECONDS = 0.05
"""So often estimates that nobody waits for are told to stop, until they have."""


def runs_of(
    points: Sequence[DesignPoint], workers: int, firings: int, of_a_run: int = RUN_FIRINGS
) -> list[Sequence[DesignPoint]]:
    """Cut a batch into runs for ``workers``, of a trace of ``firings`` firings, in order; ``of_a_run`` at most."""
    most = max(1, of_a_run // max(1, firings))
    size = max(1, min(most, -(-len(points) // (RUNS_PER_WORKER * workers))))
    return [points[i : i + size] for i in range(0, len(points), size)]


class ThreadEstimator:
    """An ``Estimator`` on ``workers`` threads of an engine whose trace has ``firings`` firings. Close it after use.

    One worker is a thread too where an estimate takes long: the main thread has to hear signals.
    """

    def __init__(self, engine: Engine, workers: int, firings: int) -> None:
        self._engine = engine
        self._workers = workers
        self._firings = firings
        apart = workers > 1 or firings > RUN_FIRINGS
        self._pool = ThreadPoolExecutor(max_workers=workers) if apart else None
        self._futures: list[Future[list[Outcome | None]]] = []

    def close(self) -> None:
        """End the threads; estimates that are under way are stopped, nobody waits for them any more."""
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        while busy := [future for future in self._futures if not future.done()]:
            self._engine.stop()
            wait(busy, timeout=STOP_SECONDS)
        self._pool.shutdown()

    def __call__(self, points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
        """Yield the outcomes of points in their order; None for those that do not complete by ``limit``."""
        few = 0 < len(points) * self._firings < FEW_FIRINGS
        runs = [points] if few else runs_of(points, self._workers, self._firings)
        here = few or self._pool is None
        results = (self._run(run, limit) for run in runs) if here else self._in_threads(runs, limit)
        for result in results:
            yield from result

    def _in_threads(self, runs: list[Sequence[DesignPoint]], limit: int | None) -> Iterator[list[Outcome | None]]:
        assert self._pool is not None
        self._futures = [self._pool.submit(self._run, run, limit) for run in runs]
        for future in self._futures:
            yield future.result()

    def _run(self, points: Sequence[DesignPoint], limit: int | None) -> list[Outcome | None]:
        return self._engine.outcomes(points, limit)
