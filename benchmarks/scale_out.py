"""Evaluations a second by the number of workers: threads of this process, and processes of a dask cluster.

``python -m benchmarks.scale_out`` prints a table (``--json``: one document) and takes about two minutes. Points are
asked for in batches, as a search does; the first batch, which builds the engines of the workers, is not timed.

``--blocks`` asks for so many points that a task of the cluster has its 20 million firings (about 200 ms), and prints
evaluations for each second of processor time of those who estimate, with what the scheduler and the client take apart.
``--search`` performs whole searches of a short trace instead, whose proposals take longer than its estimates, with one
worker and with two.
"""

import argparse
import json
import logging
import os
import platform
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from statistics import median

import dask
import distributed

from benchmarks.engine import bench
from benchmarks.search.compare import NoStore, context_of
from benchmarks.search.networks import Recipe, case_of
from dse.base.digests import text_digest
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.distribution.cluster import BLOCK_FIRINGS, ClusterEstimator
from dse.explore.distribution.crew import Crew
from dse.explore.distribution.processes import process_hands
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Estimator, Evaluator
from dse.explore.mapping_bound import AtLeast, MappingBound
from dse.explore.method import SearchMethod
from dse.explore.methods.improving.iterated_search import LANES
from dse.explore.methods.registry import METHODS
from dse.explore.search import run_search
from dse.flows.program import unheard
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem

SIZES = (10_000, 100_000, 1_000_000)
ACTORS, PARTITIONS = 10, 4
ENGINE = "compiled"
SEARCHED = Recipe(shape="irregular", actors=60, cores=8, gpu=False, room=4, seed=77_001)
SEARCHED_FIRINGS = 3_000
KEEP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one number of workers reaches at one length of the trace."""

    what: str
    workers: int
    firings: int
    evaluations_per_s: float


def points_of(point: DesignPoint, count: int) -> list[DesignPoint]:
    """Return distinct points of one cost: the same mapping with other capacities."""
    return [replace(point, capacities=(512 + i, *point.capacities[1:])) for i in range(count)]


def rate(estimator: Estimator, points: list[DesignPoint], batch: int, seconds: float) -> float:
    """Return evaluations a second when asked for in batches, as a search does; points are used again and again."""
    for _ in estimator(points[:batch], None):
        pass
    done, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds:
        start = done % (len(points) - batch + 1)
        done += sum(1 for _ in estimator(points[start : start + batch], None))
    return done / spent


@contextmanager
def cluster_of(what: str, workers: int) -> Iterator[str | None]:
    """Give the address of a cluster of so many processes; None for threads, which need none."""
    if what == "threads":
        yield None
        return
    # dask looks 100 times a second what a worker does, for its dashboard: 3 % of it
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            processes=True,
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.ERROR,
        ) as cluster,
    ):
        yield cluster.scheduler_address


def estimator_of(address: str | None, workers: int, problem: Problem) -> ThreadEstimator | ClusterEstimator:
    """Return what estimates: the workers of the cluster, or so many threads."""
    if address is not None:
        return ClusterEstimator(address, problem, ENGINE)
    return ThreadEstimator(make_engine(ENGINE, problem), workers, problem.trace.n_firings)


def measured(what: str, workers: int, batch: int, seconds: float) -> Iterator[Row]:
    """Yield the rows of one number of workers."""
    with cluster_of(what, workers) as address:
        for firings in SIZES:
            case = bench(ACTORS, PARTITIONS, firings)
            with closing(estimator_of(address, workers, case.problem)) as estimator:
                found = rate(estimator, points_of(case.point, 20 * batch), batch, seconds)
            yield Row(what=what, workers=workers, firings=firings, evaluations_per_s=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What estimates took: evaluations for each second of processor time of the workers, and other time beside."""

    what: str
    workers: int
    firings: int
    per_worker_s: float
    beside_percent: float
    """Processor time of the one that asks and the scheduler, in per cent of that of the workers."""


def spent(what: str, workers: int, firings: int, seconds: float) -> Spent:
    """Measure one row: batches of two blocks for each worker."""
    case = bench(ACTORS, PARTITIONS, firings)
    points = points_of(case.point, 2 * workers * max(1, BLOCK_FIRINGS // firings))
    with cluster_of(what, workers) as address, closing(estimator_of(address, workers, case.problem)) as estimator:
        for _ in estimator(points, None):
            pass

        def taken() -> tuple[float, float]:
            here = time.process_time()
            if not isinstance(estimator, ClusterEstimator):
                return here, 0.0
            return sum(estimator.spent_seconds()), here

        before, done, begin = taken(), 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            done += sum(1 for _ in estimator(points, None))
        after = taken()
    of_workers, beside = after[0] - before[0], after[1] - before[1]
    return Spent(
        what=what,
        workers=workers,
        firings=firings,
        per_worker_s=done / of_workers,
        beside_percent=100 * beside / of_workers,
    )


def blocks_table(rounds: Sequence[Sequence[Spent]]) -> str:
    """Return the medians of rounds of the same rows as a table in Markdown, with the least and largest of the ratios.

    A process is up to a tenth slower than another one with the same work, for as long as it lives, so that one round
    says little.
    """
    lines = [
        "| firings | workers | evaluations for each second of a worker | against threads | scheduler and client |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for own in zip(*rounds, strict=True):
        row = own[0]
        of_threads = [_of_threads(rows, row.firings) for rows in rounds]
        ratios = sorted(each.per_worker_s / base for each, base in zip(own, of_threads, strict=True))
        name = {"threads": "threads here", "processes": "dask processes"}[row.what]
        against, beside = "1.00", "–"
        if row.what != "threads":
            against = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            beside = f"{median(each.beside_percent for each in own):.1f} %"
        per_s = median(each.per_worker_s for each in own)
        lines.append(f"| {row.firings:,} | {name}: {row.workers} | {per_s:,.0f} | {against} | {beside} |")
    return "\n".join(lines)


def _of_threads(rows: Sequence[Spent], firings: int) -> float:
    return next(row.per_worker_s for row in rows if (row.what, row.firings) == ("threads", firings))


def searched(workers: int, evaluations: int) -> tuple[float, str]:
    """Return how long a search with ``auto`` takes, and a digest of all that it has evaluated."""
    case = case_of(SEARCHED, SEARCHED_FIRINGS)
    tables = build_tables(case.problem)
    known = replace(context_of(case, 1), keep=KEEP, legs=True, threads=workers)
    context = replace(known, bounds=AtLeast(MappingBound(tables, case.space), known.placement.least))
    engine = make_engine(ENGINE, case.problem)
    estimator = ThreadEstimator(engine, workers, case.problem.trace.n_firings)
    evaluator = Evaluator(
        estimator,
        budget=Budget(evaluations=evaluations),
        store=NoStore(),
        clock=time.perf_counter,
        progress=unheard,
        cutting=Cutting(keep=KEEP),
    )
    hands = process_hands(case.problem, ENGINE, context, workers - 1, LANES)
    method: SearchMethod = METHODS.load("portfolio")(context)
    begin = time.perf_counter()
    with closing(estimator), closing(Crew(context, estimator, hands, clock=time.perf_counter)) as crew:
        run_search(method, evaluator, None, crew=crew)
        seconds = time.perf_counter() - begin
    found = "".join(f"{e.digest}{e.makespan}" for e in evaluator.evaluations)
    return seconds, text_digest(found)


def _loaded() -> None:
    """Load in a process what is compiled."""
    searched(1, 50)


def search_lines(evaluations: int, rounds: int) -> list[str]:
    """Return in words how long searches take with one worker and with two, and what the machine would allow.

    That is measured by two searches at a time that have nothing to do with each other.
    """
    ones, twos, aparts = list[float](), list[float](), list[float]()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=_loaded) as pool:

        def times(*workers: int) -> list[float]:
            found = [future.result() for future in [pool.submit(searched, n, evaluations) for n in workers]]
            digests.update(digest for _, digest in found)
            return [seconds for seconds, _ in found]

        digests = set[str]()
        for future in [pool.submit(time.sleep, 0.5) for _ in range(2)]:  # both begin
            future.result()
        for _ in range(rounds):
            ones += times(1)
            twos += times(2)
            aparts.append(sum(times(1, 1)) / 2)
    assert len(digests) == 1, "the same evaluations whatever the number of workers"
    gain = median(one / two for one, two in zip(ones, twos, strict=True))
    most = median(2 * one / apart for one, apart in zip(ones, aparts, strict=True))
    return [
        f"{SEARCHED.actors} actors, {SEARCHED_FIRINGS:,} firings, {evaluations:,} evaluations, {rounds} rounds:",
        f"one worker {median(ones):.1f} s, two workers {median(twos):.1f} s, {gain:.2f} times as quick",
        f"two searches of one worker side by side: {most:.2f} times as much as one, of which that is {gain / most:.0%}",
    ]


def table(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown, one line a number of workers."""
    head = "| workers | " + " | ".join(f"{size:,} firings" for size in SIZES) + " |"
    lines = [head, "| --- |" + " ---: |" * len(SIZES)]
    base = {row.firings: row.evaluations_per_s for row in rows if (row.what, row.workers) == ("threads", 1)}
    for what, workers in dict.fromkeys((row.what, row.workers) for row in rows):
        own = [row for row in rows if (row.what, row.workers) == (what, workers)]
        cells = []
        for row in own:
            share = f" ({row.evaluations_per_s / base[row.firings]:.2f}x)" if row.firings in base else ""
            cells.append(f"{row.evaluations_per_s:,.1f}{share}")
        name = {"threads": "threads here", "processes": "dask processes"}[what]
        lines.append(f"| {name}: {workers} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="evaluations a second by the number of workers")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--dask", default="1,2,4", help="numbers of worker processes of a cluster; none: --dask ''")
    parser.add_argument("--batch", type=int, default=8, help="points under way at once")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure")
    parser.add_argument("--rounds", type=int, default=3, help="of --blocks and --search, one after the other")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--blocks", action="store_true", help="large batches, by processor time")
    parser.add_argument("--search", type=int, nargs="?", const=60_000, metavar="EVALUATIONS", help="whole searches")
    args = parser.parse_args()
    if args.search:
        print("\n".join(search_lines(args.search, args.rounds)))
    elif args.blocks:
        sides = (("threads", 1), ("processes", 1), ("processes", 2))
        wanted = [(what, n, size) for size in SIZES[:2] for what, n in sides]
        print(blocks_table([[spent(*each, args.seconds) for each in wanted] for _ in range(args.rounds)]))
    else:
        _print_batches(args)


def _print_batches(args: argparse.Namespace) -> None:
    """Measure batches and print the table, or one document."""
    load, rows = os.getloadavg()[0], list[Row]()
    for what, numbers in (("threads", args.threads), ("processes", args.dask)):
        for workers in map(int, filter(None, numbers.split(","))):
            rows += measured(what, workers, args.batch, args.seconds)
    if args.json:
        found = [
            {"what": r.what, "workers": r.workers, "firings": r.firings, "evaluations_per_s": r.evaluations_per_s}
            for r in rows
        ]
        machine = platform.processor() or platform.machine()
        print(json.dumps({"machine": machine, "cpus": os.cpu_count(), "load_before": load, "rows": found}, indent=2))
        return
    print(
        f"evaluations/s, {ACTORS} actors on {PARTITIONS} partitions, batches of {args.batch}, "
        f"{os.cpu_count()} CPUs, load before {load:.1f}\n"
    )
    print(table(rows))


if __name__ == "__main__":
    main()
