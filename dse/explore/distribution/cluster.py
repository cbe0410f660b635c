"""Estimates made by the workers of a dask.distributed cluster (https://distributed.dask.org), in the order asked for.

The problem is scattered to the workers once; every worker process builds its engine once. Which worker makes an
estimate changes nothing in it. A task whose worker dies runs again on another one; where the last copy of the problem
died with it, the problem is scattered again and what is missing is asked for again. Every worker needs the same
version of dse as the one that asks.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from dse.base.errors import ExecutionError, OptionError
from dse.base.extras import import_extra
from dse.estimate.engine import Engine, make_engine
from dse.explore.distribution.workers import estimates_of, runs_of
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.problem import Problem

CONNECT_SECONDS = 5
WORKER_SECONDS = 60
"""So long a search waits for a worker when there is none."""
ATTEMPTS = 5
"""So often what a lost worker leaves behind is asked for again."""

_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?(\[[0-9a-fA-F:]+\]|[^\s/:]+):\d+")
_ENGINES: dict[tuple[str, str], Engine] = {}
"""On a worker: the engine of each search that it works for."""


def estimate_on_worker(
    problem: Problem, search: str, engine: str, points: Sequence[DesignPoint], limit: int | None
) -> list[Estimate | None]:
    """Return the estimates of a run of points, on a worker. ``search`` tells problems apart without comparing them."""
    key = search, engine
    if key not in _ENGINES:
        _ENGINES.clear()  # one search at a time: the engine of the last one only takes memory
        _ENGINES[key] = make_engine(engine, problem)
    return estimates_of(_ENGINES[key], points, limit)


class ClusterEstimator:
    """An ``Estimator`` on a cluster. Close it after use.

    Raises:
        OptionError: dask.distributed is not installed, or nothing answers at the address.
        ExecutionError: no worker comes, or workers are lost again and again.
    """

    def __init__(self, address: str, problem: Problem, engine: str) -> None:
        distributed = import_extra("distributed", "--cluster", extra="cluster")
        if not _ADDRESS.fullmatch(address):
            raise OptionError(f"'{address}' is no address of a scheduler", expected="HOST:PORT or tcp://HOST:PORT")
        self._address = address
        self._problem = problem
        self._engine = engine
        self._search = uuid.uuid4().hex
        try:
            self._client: Any = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as cause:
            raise OptionError(
                f"no cluster answers at '{address}': {_reason(cause)}",
                expected="start one with `dask scheduler` and `dask worker`, and give the address that it prints",
            ) from cause
        self._scattered: Any = None
        self._workers = 0

    def close(self) -> None:
        """Leave the cluster; what the workers hold of this search goes."""
        self._client.close()

    def workers(self) -> int:
        """Return the number of workers now."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def __call__(self, points: Sequence[DesignPoint], limit: int | None = None) -> Iterator[Estimate | None]:
        """Yield the estimates of points in their order; all of them are under way from the first one on.

        With a ``limit``, in ticks, None for a point that does not complete by then.
        """
        if not points:
            return
        self._provide()
        runs = runs_of(points, max(1, self._workers), self._problem.trace.n_firings)
        futures = self._submit(runs, limit)
        try:
            for index in range(len(runs)):
                yield from self._result(runs, limit, futures, index)
        finally:
            self._client.cancel([future for future in futures if not future.done()])

    def _submit(self, runs: Sequence[Sequence[DesignPoint]], limit: int | None) -> list[Any]:
        self._provide()
        arguments = self._scattered, self._search, self._engine
        return [self._client.submit(estimate_on_worker, *arguments, run, limit, pure=False) for run in runs]

    def _provide(self) -> None:
        """See to it that the workers have the problem."""
        if self._scattered is None or self._scattered.status != "finished":
            self._scatter()
            self._workers = self.workers()

    def _scatter(self) -> None:
        """Send the problem to all workers that there are, waiting for the first one."""
        try:
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except (TimeoutError, OSError) as cause:
            raise ExecutionError(
                f"the cluster at '{self._address}' has no workers", expected="start some with `dask worker ADDRESS`"
            ) from cause
        self._scattered = self._client.scatter(self._problem, broadcast=True, hash=False)

    def _result(
        self, runs: Sequence[Sequence[DesignPoint]], limit: int | None, futures: list[Any], index: int
    ) -> list[Estimate | None]:
        """Return those of one run; what was lost with a worker is submitted again, with all that is behind it."""
        lost = self._losses()
        for _ in range(ATTEMPTS):
            try:
                estimates: list[Estimate | None] = futures[index].result()
            except lost:
                self._scattered = None
                missing = [i for i in range(index, len(runs)) if futures[i].status != "finished"]
                for i, future in zip(missing, self._submit([runs[i] for i in missing], limit), strict=True):
                    futures[i] = future
            except (ModuleNotFoundError, AttributeError) as cause:
                raise OptionError(
                    f"a worker of the cluster cannot run this version of dse: {cause}",
                    expected="install the same version of dse on all workers",
                ) from cause
            else:
                return estimates
        raise ExecutionError(
            f"workers of the cluster at '{self._address}' are lost again and again",
            expected="see their logs (memory?); what was estimated is kept, --resume continues",
        )

    def _losses(self) -> tuple[type[BaseException], ...]:
        """Return what a future raises when a worker took its task or the problem along."""
        client = import_extra("distributed.client", "--cluster", extra="cluster")
        scheduler = import_extra("distributed.scheduler", "--cluster", extra="cluster")
        comm = import_extra("distributed.comm", "--cluster", extra="cluster")
        return client.FutureCancelledError, scheduler.KilledWorker, comm.CommClosedError


def _reason(cause: Exception) -> str:
    return (str(cause).splitlines() or [type(cause).__name__])[0]
