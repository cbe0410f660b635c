"""Evaluations a second on a cluster of 1, 2, ... worker processes of this machine, against this process alone.

``python -m benchmarks.scale_out --workers 1,2 --firings 200000`` prints one JSON document. The points are the same
each time; the first batch, which builds the engines of the workers, is timed apart.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import distributed

from benchmarks.engine import bench
from dse.estimate.engine import make_engine
from dse.explore.cluster import ClusterEstimator
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate


def points_of(point: DesignPoint, count: int) -> list[DesignPoint]:
    """Return distinct points of one cost: the same mapping with other capacities."""
    return [replace(point, capacities=(512 + i, *point.capacities[1:])) for i in range(count)]


def rate(
    estimate: Callable[[Sequence[DesignPoint]], Iterator[Estimate]], points: list[DesignPoint], batch: int
) -> float:
    """Return evaluations a second when asked for in batches, as a search does."""
    begin = time.perf_counter()
    for start in range(0, len(points), batch):
        for _ in estimate(points[start : start + batch]):
            pass
    return len(points) / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description="evaluations a second by the number of workers")
    parser.add_argument("--workers", default="1,2", help="numbers of worker processes")
    parser.add_argument("--actors", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--firings", type=int, default=200_000)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--engine", default="compiled")
    args = parser.parse_args()
    case = bench(args.actors, args.partitions, args.firings)
    problem = case.problem
    points = points_of(case.point, args.points + args.batch)
    engine = make_engine(args.engine, problem)
    engine.estimate(points[0])
    rows: list[dict[str, object]] = [
        {"workers": 0, "evaluations_per_s": rate(lambda p: map(engine.estimate, p), points[args.batch :], args.batch)}
    ]
    for workers in map(int, args.workers.split(",")):
        with distributed.LocalCluster(
            processes=True, n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
        ) as cluster:
            estimator = ClusterEstimator(cluster.scheduler_address, problem, args.engine)
            begin = time.perf_counter()
            list(estimator(points[: args.batch]))
            first = time.perf_counter() - begin
            rows.append(
                {
                    "workers": workers,
                    "evaluations_per_s": rate(estimator, points[args.batch :], args.batch),
                    "first_batch_s": first,
                }
            )
            estimator.close()
    document = {
        "machine": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "firings": problem.trace.n_firings,
        "batch": args.batch,
        "rows": rows,
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
