"""Every search method from the command line, and what users do wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.explore.method import METHODS

ROOT = Path(__file__).resolve().parents[2]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
DOCUMENT = (ROOT / "docs" / "methods.md").read_text()
SPACE = 51
OPTIMUM_FOUND = ("exhaustive", "branch-and-bound", "portfolio", "local-search", "tabu", "tabu-joint", "annealing")


def explored(capsys: pytest.CaptureFixture[str], out: Path, *argv: str) -> Any:
    capsys.readouterr()
    assert main(["explore", PINGPONG, "--out", str(out), "--json", *argv]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def optimum(tmp_path_factory: pytest.TempPathFactory) -> int:
    out = tmp_path_factory.mktemp("optimum")
    assert main(["explore", PINGPONG, "--out", str(out), "--quiet", "--method", "exhaustive"]) == 0
    best: int = json.loads((out / "ranking.json").read_text())["best"]["makespan"]
    return best


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_runs(name: str, optimum: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = explored(capsys, tmp_path, "--method", name, "--budget", "60,20s", "--seed", "3")
    assert found["method"] == name
    assert 1 <= found["evaluations"] <= 60
    assert found["lower_bound"] <= optimum <= found["best"]["makespan"]
    assert (tmp_path / "best-01.xcf").exists()
    if name in OPTIMUM_FOUND:
        assert found["best"]["makespan"] == optimum
    if found["complete"]:
        assert found["best"]["makespan"] == optimum


def test_equivalent_mappings_are_counted_as_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    platform = tmp_path / "twins.yaml"
    units = "".join(f"  {name}: {{kind: cpu, cores: 1, clock_mhz: 2900}}\n" for name in ("a", "b"))
    platform.write_text(f"name: twins\nunits:\n{units}")
    found = explored(capsys, tmp_path / "out", "--platform", str(platform))
    actors = sum(len(p["actors"]) for p in found["best"]["design_point"]["partitions"])
    assert found["space"] + found["symmetric_skipped"] == 2**actors
    assert found["space"] == 2 ** (actors - 1)
    assert main(["explore", PINGPONG, "--platform", str(platform), "--out", str(tmp_path / "text")]) == 0
    assert "identical cores" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_is_documented(name: str) -> None:
    assert f"`{name}`" in DOCUMENT


def test_a_proof_is_told(optimum: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = explored(capsys, tmp_path, "--method", "branch-and-bound")
    assert found["complete"] is True
    assert found["lower_bound"] == optimum
    assert "branch-and-bound" in found["lower_bound_reason"]
    assert found["evaluations"] + found["excluded_by_bound"] == found["space"] == SPACE


def test_a_search_that_was_cut_short_resumes_to_the_same_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = explored(capsys, tmp_path / "whole", "--method", "tabu", "--budget", "30")
    explored(capsys, tmp_path / "cut", "--method", "tabu", "--budget", "12")
    resumed = explored(capsys, tmp_path / "cut", "--method", "tabu", "--budget", "30", "--resume")
    assert resumed["ranking"] == whole["ranking"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--method", "tabuu"], "did you mean 'tabu'"),
        (["--method", "tabu", "--budget", "0"], "the budget allows no evaluation"),
        (["--method", "annealing", "--budget", "0s"], "the budget allows no evaluation"),
        (["--method", "nsga2", "--partitions", "9"], "9 partitions are asked for"),
    ],
)
def test_mistakes_are_named(argv: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", PINGPONG, "--out", str(tmp_path), *argv]) in (1, 2)
    assert message in capsys.readouterr().err
