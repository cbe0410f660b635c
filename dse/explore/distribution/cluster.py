"""Estimates made by the workers of a dask.distributed cluster (https://distributed.dask.org), in the order asked for.

The problem is scattered to the workers once; every worker process builds its engine once. Which worker makes an
estimate changes nothing in it. A task whose worker dies runs again on another one; where the last copy of the problem
died with it, the problem is scattered again and what is missing is asked for again. Every worker needs the same
versions of dse, Python, dask, distributed and numpy as the one that asks: that is looked at before any of them is asked
for an estimate, and again in each task. Nothing is waited for without an end: while an estimate is awaited, it is asked
from time to time whether the scheduler answers and still has workers that are heard of.
"""

import io
import logging
import pickle
import re
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

import dse
from dse.base.collector import set_apart
from dse.base.errors import ExecutionError, OptionError
from dse.base.extras import import_extra
from dse.estimate.engine import Engine, make_engine
from dse.explore.distribution.leg_run import LegRun
from dse.explore.distribution.workers import runs_of
from dse.explore.method import SearchContext
from dse.explore.methods.improving.leg import Leg, LegOutcome
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome, PartitionAccount, TickUnit
from dse.model.problem import Problem

CONNECT_SECONDS = 5
WORKER_SECONDS = 60
"""So long a search waits for a worker when there is none."""
ANSWER_SECONDS = 30
"""So long the scheduler may take to answer a question."""
SCATTER_SECONDS = 300
"""So long it may take to send the problem to the workers."""
WATCH_SECONDS = 5
"""While an estimate is awaited, the scheduler is asked so often whether it and its workers are alive."""
SILENT_SECONDS = 60
"""A cluster none of whose workers was heard of for so long is given up; they say that they live about every second."""
BLOCK_FIRINGS = 20_000_000
"""A task simulates so many firings where a batch has that many: a fifth of a second, so that sending hardly counts."""
PIECE = 32
"""Points that are sent as one list."""
ATTEMPTS = 5
"""So often what a lost worker leaves behind is asked for again."""

_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?(\[[0-9a-fA-F:]+\]|[^\s/:]+):\d+")
_ENGINES: dict[tuple[str, str], Engine] = {}
"""On a worker: the engine of each search that it works for."""


_SAME = ("dse", "dask", "distributed", "numpy")
"""Packages of which all need the same version: estimates differ with the first, messages are read by the others."""
_T = TypeVar("_T")


class OtherVersion(Exception):
    """Raised on a worker that came later, and has another version of dse."""


def estimate_on_worker(
    problem: Problem, search: str, engine: str, points: bytes, limit: int | None, version: str
) -> bytes:
    """Return the outcomes of a run of points, on a worker. ``search`` tells problems apart without comparing them.

    Points and outcomes are as ``_in_pieces`` makes them, each outcome as ``_told``.

    Raises ``OtherVersion`` where the worker has not the ``version`` of dse that is given.
    """
    made, outcomes = _engine_of(problem, search, engine, version), io.BytesIO()
    for piece in _pieces_of(points):
        told = [None if one is None else _told(one) for one in made.outcomes(piece, limit)]
        pickle.dump(told, outcomes, protocol=pickle.HIGHEST_PROTOCOL)
    return outcomes.getvalue()


_Told: TypeAlias = tuple[int, TickUnit, bool, tuple[tuple[int, ...], ...], tuple[int, ...]]


def _told(outcome: Outcome) -> _Told:
    """Return an outcome as plain tuples: named ones took a worker four times as long to pickle, 3 % of its time."""
    partitions = tuple(map(tuple, outcome.partitions))
    return outcome.makespan, outcome.tick_unit, outcome.deadlock, partitions, outcome.waiting


def _outcome_of(told: _Told) -> Outcome:
    """Return the outcome that ``_told`` was given."""
    makespan, tick_unit, deadlock, partitions, waiting = told
    return Outcome(
        makespan=makespan,
        tick_unit=tick_unit,
        partitions=tuple(map(PartitionAccount._make, partitions)),
        waiting=waiting,
        deadlock=deadlock,
    )


def _in_pieces(points: Sequence[DesignPoint]) -> bytes:
    """Return points as pickled lists of a few, one behind the other.

    dask looks into lists, element by element, which took 40 us for each. And thousands of objects at once have Python
    look for garbage in all that a worker holds.
    """
    pieces = (points[i : i + PIECE] for i in range(0, len(points), PIECE))
    return b"".join(pickle.dumps(piece, protocol=pickle.HIGHEST_PROTOCOL) for piece in pieces)


def _pieces_of(pickled: bytes) -> Iterator[Any]:
    """Yield the lists."""
    stream = io.BytesIO(pickled)
    while stream.tell() < len(pickled):
        yield pickle.load(stream)


def _outcomes_in(pickled: bytes) -> Iterator[Outcome | None]:
    """Yield the outcomes that a worker sent."""
    for piece in _pieces_of(pickled):
        for told in piece:
            yield None if told is None else _outcome_of(told)


def walk_on_worker(
    problem: Problem, context: SearchContext, search: str, engine: str, leg: Leg, version: str
) -> LegOutcome:
    """Return what came of a leg, on a worker; as ``estimate_on_worker``."""
    made = _engine_of(problem, search, engine, version)
    run = LegRun(leg, context, lambda points, limit: iter(made.outcomes(points, limit)), time.perf_counter)
    while not run.done:
        run.step()
    return run.outcome()


def _engine_of(problem: Problem, search: str, engine: str, version: str) -> Engine:
    if version != dse.__version__:
        raise OtherVersion(f"it has dse {dse.__version__}, here is {version}")
    key = search, engine
    if key not in _ENGINES:
        _ENGINES.clear()  # one search at a time: the engine of the last one only takes memory
        _ENGINES[key] = make_engine(engine, problem)
        set_apart()
    return _ENGINES[key]


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
        for logger in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)  # what matters of it is raised here
        try:
            self._client = _connected(distributed, address)
        except (OSError, ValueError, TypeError, RuntimeError) as cause:
            raise OptionError(
                f"no cluster answers at '{address}': {_reason(cause)}", expected=_advice(address)
            ) from cause
        self._scattered: Any = None
        self._context: Any = None
        """That of the search, where legs are walked."""
        self._providing = threading.Lock()
        self._checked: frozenset[str] = frozenset()
        """Addresses of workers whose versions are known to be right."""
        self._workers = 0
        self._heard: dict[str, float] = {}
        """When the scheduler heard of each worker, by its own clock."""
        try:
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave the cluster; what the workers hold of this search goes."""
        self._client.close(timeout=CONNECT_SECONDS)

    def workers(self) -> int:
        """Return the number of workers now."""
        return len(self._identities())

    def spent_seconds(self) -> list[float]:
        """Return the processor time of each worker process so far."""
        return list(self._asked(lambda: self._client.run(time.process_time)).values())

    def _identities(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what the scheduler knows of its workers, by their addresses."""
        client = self._client
        found = self._asked(
            lambda: client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS)
        )
        workers: Mapping[str, Mapping[str, Any]] = found["workers"]
        return workers

    def _asked(self, question: Callable[[], _T]) -> _T:
        """Return an answer of the scheduler. Raises ``ExecutionError`` where it gives none."""
        broken: tuple[type[Exception], ...] = (*self._losses(), OSError, RuntimeError, AttributeError, ValueError)
        try:
            return question()
        except broken as cause:
            if self._client.status == "running" and not isinstance(cause, OSError):
                raise  # it answers, and something else is wrong
            raise self._no_scheduler(cause) from cause

    def _no_scheduler(self, cause: Exception) -> ExecutionError:
        return ExecutionError(
            f"the scheduler of the cluster at '{self._address}' does not answer any more: {_reason(cause)}",
            expected="what was estimated is kept: start it and its workers again, and continue with --resume",
        )

    def _check_versions(self) -> None:
        """Raise ``OptionError`` where a worker has other versions than we have; it names them all."""
        addresses = frozenset(self._identities())
        if addresses <= self._checked:
            return
        client = self._client
        found = self._asked(
            lambda: client.sync(client._get_versions, packages=["dse"], callback_timeout=ANSWER_SECONDS)
        )
        here = _versions(found["client"])
        wrong = [
            f"{who}: {difference}"
            for who, theirs in (("the scheduler", found["scheduler"]), *sorted(found["workers"].items()))
            if (difference := _difference(_versions(theirs), here, all_of_it=who != "the scheduler"))
        ]
        if wrong:
            raise OptionError(
                "\n  ".join(["the cluster has other versions than this machine", *wrong]),
                expected="install the same ones everywhere, and start its scheduler and workers again",
            )
        self._checked |= addresses

    def __call__(self, points: Sequence[DesignPoint], limit: int | None = None) -> Iterator[Outcome | None]:
        """Yield the estimates of points in their order; all of them are under way from the first one on.

        With a ``limit``, in ticks, None for a point that does not complete by then.
        """
        if not points:
            return
        self._provide()
        runs = runs_of(points, max(1, self._workers), self._problem.trace.n_firings, BLOCK_FIRINGS)
        futures = self._submit(runs, limit)
        try:
            for index in range(len(runs)):
                yield from self._result(runs, limit, futures, index)
        finally:
            self._give_up([future for future in futures if not future.done()])

    def walked(self, leg: Leg, context: SearchContext) -> LegOutcome:
        """Return what came of a leg, walked by a worker. Several threads may ask at once; all have the same context."""
        for _ in range(ATTEMPTS):
            try:
                with self._providing:
                    future = self._submitted(leg, context)
                found: LegOutcome = self._awaited(future)
            except self._losses():
                with self._providing:
                    self._scattered = self._context = None
            else:
                return found
        raise self._lost_again()

    def _submitted(self, leg: Leg, context: SearchContext) -> Any:
        self._provide()
        if self._context is None or self._context.status != "finished":
            scatter = self._client.scatter
            self._context = self._asked(lambda: scatter(context, broadcast=True, hash=False, timeout=SCATTER_SECONDS))
        given = self._scattered, self._context, self._search, self._engine, leg, dse.__version__
        return self._asked(lambda: self._client.submit(walk_on_worker, *given, pure=False))

    def _give_up(self, futures: list[Any]) -> None:
        """Tell the cluster what is not needed any more, if it still listens."""
        if futures and self._client.status == "running":
            with suppress(OSError, RuntimeError, *self._losses()):
                self._client.sync(self._client._cancel, futures, callback_timeout=CONNECT_SECONDS)

    def _submit(self, runs: Sequence[Sequence[DesignPoint]], limit: int | None) -> list[Any]:
        self._provide()
        submit, scattered = self._client.submit, self._scattered
        common = self._search, self._engine
        version = dse.__version__
        packed = [_in_pieces(run) for run in runs]
        return self._asked(
            lambda: [submit(estimate_on_worker, scattered, *common, run, limit, version, pure=False) for run in packed]
        )

    def _provide(self) -> None:
        """See to it that the workers have the problem."""
        if self._scattered is None or self._scattered.status != "finished":
            self._scatter()

    def _scatter(self) -> None:
        """Send the problem to all workers that there are, waiting for the first one."""
        try:
            self._asked(lambda: self._client.wait_for_workers(1, timeout=WORKER_SECONDS))
        except ExecutionError as cause:
            self._identities()  # raises where the scheduler is gone
            raise self._no_workers() from cause
        self._check_versions()
        self._workers = self.workers()
        scatter = self._client.scatter
        self._scattered = self._asked(
            lambda: scatter(self._problem, broadcast=True, hash=False, timeout=SCATTER_SECONDS)
        )

    def _no_workers(self) -> ExecutionError:
        return ExecutionError(
            f"the cluster at '{self._address}' has no workers",
            expected="start some with `dask worker ADDRESS`; what was estimated is kept, --resume continues",
        )

    def _result(
        self, runs: Sequence[Sequence[DesignPoint]], limit: int | None, futures: list[Any], index: int
    ) -> list[Outcome | None]:
        """Return those of one run; what was lost with a worker is submitted again, with all that is behind it."""
        lost = self._losses()
        for _ in range(ATTEMPTS):
            try:
                return list(_outcomes_in(self._awaited(futures[index])))
            except lost:
                self._scattered = None
                missing = [i for i in range(index, len(runs)) if futures[i].status != "finished"]
                for i, future in zip(missing, self._submit([runs[i] for i in missing], limit), strict=True):
                    futures[i] = future
            except (ImportError, AttributeError, TypeError, OtherVersion) as cause:
                raise OptionError(
                    f"a worker of the cluster cannot run this version of dse: {cause}",
                    expected="install the same version of dse on all workers",
                ) from cause
        raise self._lost_again()

    def _lost_again(self) -> ExecutionError:
        return ExecutionError(
            f"workers of the cluster at '{self._address}' are lost again and again",
            expected="see their logs (memory?); what was estimated is kept, --resume continues",
        )

    def _awaited(self, future: Any) -> Any:
        """Return the result of a task. Raises ``ExecutionError`` where nobody is there any more who could make it."""
        heard = time.monotonic()
        while True:
            try:
                found = future.result(timeout=WATCH_SECONDS)
            except TimeoutError:
                now = time.monotonic()
                if self._someone_lives():
                    heard = now
                if now - heard > SILENT_SECONDS:
                    raise self._no_workers() from None
            else:
                return found

    def _someone_lives(self) -> bool:
        """Return whether some worker was heard of since this was asked last. No clock but the scheduler's is read."""
        before, self._heard = self._heard, {a: w["last_seen"] for a, w in self._identities().items()}
        return any(before.get(address) != seen for address, seen in self._heard.items())

    def _losses(self) -> tuple[type[Exception], ...]:
        """Return what a future raises when a worker took its task or the problem along."""
        client = import_extra("distributed.client", "--cluster", extra="cluster")
        scheduler = import_extra("distributed.scheduler", "--cluster", extra="cluster")
        comm = import_extra("distributed.comm", "--cluster", extra="cluster")
        return client.FutureCancelledError, scheduler.KilledWorker, comm.CommClosedError


class ClusterHand:
    """One task at a time on a cluster (``dse.explore.distribution.crew``)."""

    def __init__(self, estimator: ClusterEstimator, context: SearchContext) -> None:
        self._estimator = estimator
        self._context = replace(context, rng=np.random.default_rng(0), threads=1)  # each leg has its own

    def begin(self) -> None:
        """The cluster is there."""

    def walk(self, leg: Leg) -> LegOutcome:
        """Have a leg walked. Raises ``ExecutionError`` and ``OptionError``, as estimates do."""
        return self._estimator.walked(leg, self._context)

    def close(self) -> None:
        """Leave what is under way to the workers: closing the estimator takes it from them."""


def _connected(distributed: Any, address: str) -> Any:
    """Return a client. One that never gets a connection says a lot when it goes; ours is closed, or forgotten."""
    silent: Any = type("Client", (distributed.Client,), {"__del__": lambda _: None})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other versions: they are an error, a little later
        return silent(address, timeout=CONNECT_SECONDS, set_as_default=False)


def _versions(of_one: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that matter of a process of the cluster."""
    packages = of_one["packages"]
    python = ".".join(str(of_one["host"]["python"]).split(".")[:2])
    return {"python": python} | {name: str(packages.get(name)) for name in _SAME}


def _difference(theirs: Mapping[str, str], here: Mapping[str, str], *, all_of_it: bool) -> str:
    """Return in words what is another version there. A scheduler never looks into a problem, nor estimates."""
    names = [name for name in here if all_of_it or name not in ("dse", "numpy")]
    if "None" in (theirs["dse"], here["dse"]):  # it runs from where it is developed; each task looks at the version
        names = [name for name in names if name != "dse"]
    return ", ".join(
        f"{name} {_installed(theirs[name])} instead of {here[name]}" for name in names if theirs[name] != here[name]
    )


def _installed(version: str) -> str:
    return "(not installed)" if version == "None" else version


def _advice(address: str) -> str:
    if address.startswith("tls:"):
        return "give the certificates of the cluster, as docs/objectives.md shows; is the scheduler started with tls?"
    return "start one with `dask scheduler` and `dask worker`, and give the address that it prints"


def _reason(cause: Exception) -> str:
    return (str(cause).splitlines() or [type(cause).__name__])[0]
