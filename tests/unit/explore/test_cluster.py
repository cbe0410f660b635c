"""Estimates on a cluster are those of this process, whatever the workers and whichever of them die."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore import evaluator
from dse.explore.distribution import cluster as module
from dse.explore.distribution.cluster import ClusterEstimator
from dse.flows.explore import explore
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.search.plan import Watcher
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from tests.examples import IN_FULL
from tests.unit.explore.test_buffers import pipeline, spread

distributed = pytest.importorskip("distributed", reason="dask.distributed is missing: pip install 'dse[cluster]'")
ROOT = Path(__file__).resolve().parents[3]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
PROBLEM = pipeline((3, 7, 5, 2), firings=200)
SLOW = pipeline((3, 7, 5, 2), firings=1_500)
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
    assert list(estimator(POINTS)) == [engine.estimate(point).outcome for point in POINTS]
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


@IN_FULL
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
    argv = ["explore", PINGPONG, "--weights", "nominal", "--method", "local-search", "--budget", "30", "--quiet"]
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


def test_other_versions_are_told_with_both(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_two(cluster)
    versions = distributed.client.version_module
    monkeypatch.setattr(versions, "get_versions", _with(versions.get_versions, numpy="1.0", dask="0.1"))
    with pytest.raises(module.OptionError, match="the cluster has other versions than this machine") as caught:
        ClusterEstimator(cluster.scheduler_address, PROBLEM, "compiled")
    text = caught.value.diagnostics[0].message
    assert re.search(r"the scheduler: dask [0-9.]+ instead of 0\.1$", text, re.MULTILINE)
    assert len(re.findall(r"tcp://\S+: dask [0-9.]+ instead of 0\.1, numpy [0-9.]+ instead of 1\.0$", text, re.M)) == 2


def _with(call: Callable[..., dict[str, Any]], **packages: str) -> Callable[..., dict[str, Any]]:
    def changed(*args: Any, **more: Any) -> dict[str, Any]:
        found = call(*args, **more)
        return {**found, "packages": {**found["packages"], **packages}}

    return changed


@pytest.mark.parametrize(
    ("name", "version", "told"),
    [
        ("python", "3.9", "python 3.9 instead of 3.11"),
        ("dse", "0.0.9", "dse 0.0.9 instead of 0.1.0"),
        ("dse", "None", ""),  # from where it is developed
        ("numpy", "None", "numpy (not installed) instead of 2"),
    ],
)
def test_versions_that_matter(name: str, version: str, told: str) -> None:
    here = {"python": "3.11", "dse": "0.1.0", "dask": "1", "distributed": "1", "numpy": "2"}
    assert module._difference(here | {name: version}, here, all_of_it=True) == told
    of_scheduler = told if name == "python" else ""
    assert module._difference(here | {name: version}, here, all_of_it=False) == of_scheduler


def test_a_worker_that_comes_later_with_another_version_is_told(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_two(cluster)
    estimator = ClusterEstimator(cluster.scheduler_address, PROBLEM, "compiled")
    monkeypatch.setattr(module.dse, "__version__", "9.9")
    with pytest.raises(module.OptionError, match=r"cannot run this version of dse: it has dse 0\S+, here is 9\.9"):
        list(estimator(POINTS))
    estimator.close()


def test_workers_that_say_nothing_are_not_waited_for_without_end(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_two(cluster)
    monkeypatch.setattr(module, "WATCH_SECONDS", 0.2)
    monkeypatch.setattr(module, "SILENT_SECONDS", 2)
    estimator = ClusterEstimator(cluster.scheduler_address, SLOW, "reference")
    estimates = estimator(POINTS)
    next(estimates)
    victims = pids(cluster)
    try:
        for victim in victims:
            os.kill(victim, signal.SIGSTOP)
        with pytest.raises(module.ExecutionError, match="has no workers"):
            list(estimates)
    finally:
        for victim in victims:
            os.kill(victim, signal.SIGCONT)
    estimator.close()


CLUSTER = """
import time
import distributed

if __name__ == "__main__":
    with distributed.LocalCluster(
        processes=False, protocol="tcp", n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit=0
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        time.sleep(300)
"""


@pytest.mark.parametrize("moment", [1, 14] if "DSE_INTERRUPTS" in os.environ else [1])
def test_a_scheduler_that_dies_loses_nothing_that_was_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """It is killed in the middle of a search; the search says so, and is continued without a cluster."""
    monkeypatch.setattr(module, "CONNECT_SECONDS", 2)
    monkeypatch.setattr(evaluator, "COMMIT_SECONDS", 0.0)
    (tmp_path / "cluster.py").write_text(CLUSTER)
    victim = subprocess.Popen(
        [sys.executable, str(tmp_path / "cluster.py")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert victim.stdout is not None
        address = victim.stdout.readline().strip()
        reported = []

        def strike(progress: evaluator.Progress) -> None:
            reported.append(progress.evaluations)
            if progress.evaluations >= moment:
                victim.kill()

        problem = ProblemOptions(program=PINGPONG, weights=("nominal",))
        options = ExploreOptions(
            problem=problem, method="local-search", budget=evaluator.Budget(evaluations=30), out=tmp_path / "out"
        )
        with pytest.raises(module.ExecutionError, match=r"the scheduler of the cluster at '.*' does not answer"):
            explore(replace(options, cluster=address), Watcher(progress=strike))
    finally:
        victim.kill()
        victim.communicate()
    with closing(sqlite3.connect(tmp_path / "out" / "study.sqlite")) as study:
        assert study.execute("SELECT count(*) FROM evaluation").fetchone()[0] == reported[-1] < 30
    explore(replace(options, resume=True))
    explore(replace(options, out=tmp_path / "whole"))
    ranking = (tmp_path / "whole" / "ranking.json").read_bytes()
    assert (tmp_path / "out" / "ranking.json").read_bytes() == ranking
