"""Estimates on a cluster are those of this process, whatever the workers and whichever of them die."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore.distribution import cluster as module
from dse.explore.distribution.cluster import ClusterEstimator
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from tests.unit.explore.test_buffers import pipeline, spread

distributed = pytest.importorskip("distributed", reason="dask.distributed is missing: pip install 'dse[cluster]'")
PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")
PROBLEM = pipeline((3, 7, 5, 2), firings=200)
SLOW = pipeline((3, 7, 5, 2), firings=5_000)
POINTS: list[DesignPoint] = [spread(PROBLEM, (a, b, c)) for a in (1, 2, 5) for b in (1, 3, 4) for c in (1, 2, 3)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        processes=True, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
    ) as started:
        yield started


def pids(cluster: Any) -> list[int]:
    with distributed.Client(cluster, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


def wait_for_two(cluster: Any) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)


def expected(problem: Problem) -> list[int]:
    engine = CompiledEngine(problem)
    return [engine.estimate(point).makespan for point in POINTS]


class Scatters(ClusterEstimator):
    """Counts how often the problem is sent."""

    count = 0

    def _scatter(self) -> None:
        self.count += 1
        super()._scatter()


def test_estimates_are_those_of_this_process_in_order(cluster: Any) -> None:
    wait_for_two(cluster)
    estimator = ClusterEstimator(cluster.scheduler_address, PROBLEM, "compiled")
    assert estimator.workers() == 2
    engine = CompiledEngine(PROBLEM)
    assert list(estimator(POINTS)) == [engine.estimate(point) for point in POINTS]
    assert list(estimator([])) == []
    estimator.close()


def test_a_worker_that_dies_loses_nothing(cluster: Any) -> None:
    wait_for_two(cluster)
    estimator = ClusterEstimator(cluster.scheduler_address, SLOW, "reference")
    before = pids(cluster)
    found = []
    for number, estimate in enumerate(estimator(POINTS)):
        found.append(estimate.makespan)
        if number == 2:
            os.kill(before[0], signal.SIGKILL)
    assert found == expected(SLOW)
    wait_for_two(cluster)
    assert before[0] not in pids(cluster)
    assert before[1] in pids(cluster)
    estimator.close()


def test_all_workers_may_die_at_once(cluster: Any) -> None:
    """The last copy of the problem goes with them: it is scattered to the workers that the nannies start anew."""
    wait_for_two(cluster)
    estimator = Scatters(cluster.scheduler_address, SLOW, "reference")
    before = pids(cluster)
    estimates = estimator(POINTS)
    found = [next(estimates).makespan]
    for victim in before:
        os.kill(victim, signal.SIGKILL)
    found += [estimate.makespan for estimate in estimates]
    assert found == expected(SLOW)
    assert estimator.count >= 2
    assert not set(before) & set(pids(cluster))
    estimator.close()


def test_explore_gives_the_same_files_as_without_a_cluster(cluster: Any, tmp_path: Path) -> None:
    wait_for_two(cluster)
    argv = ["explore", PINGPONG, "--method", "local-search", "--budget", "30", "--quiet"]
    assert main([*argv, "--out", str(tmp_path / "here")]) == 0
    assert main([*argv, "--out", str(tmp_path / "there"), "--cluster", cluster.scheduler_address]) == 0
    for name in ("ranking.json", "best-01.xcf", "best-05.xcf"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert json.loads((tmp_path / "there" / "ranking.json").read_text())["evaluations"] == 30
    again = [*argv, "--out", str(tmp_path / "there"), "--resume"]  # the store has every evaluation
    assert main(again) == 0
    assert (tmp_path / "here" / "ranking.json").read_bytes() == (tmp_path / "there" / "ranking.json").read_bytes()


def test_a_cluster_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORKER_SECONDS", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty:
        estimator = ClusterEstimator(empty.scheduler_address, PROBLEM, "compiled")
        with pytest.raises(module.ExecutionError, match="no workers"):
            list(estimator(POINTS))
        estimator.close()
