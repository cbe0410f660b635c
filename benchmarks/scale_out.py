"""Evaluations a second by the number of workers: threads of this process, and processes of a dask cluster.

``python -m benchmarks.scale_out`` prints a table (``--json``: one document) and takes about two minutes. Points are
asked for in batches, as a search does; the first batch, which builds the engines of the workers, is not timed.
"""

import argparse
import json
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import distributed

from benchmarks.engine import bench
from dse.estimate.engine import make_engine
from dse.explore.distribution.cluster import ClusterEstimator
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Estimator
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem

SIZES = (10_000, 100_000, 1_000_000)
ACTORS, PARTITIONS = 10, 4
ENGINE = "compiled"


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
    with distributed.LocalCluster(
        processes=True,
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        silence_logs=logging.ERROR,
    ) as cluster:
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
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
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
