"""Every search method from the command line, and what users do wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.explore.methods.registry import METHODS

ROOT = Path(__file__).resolve().parents[2]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
DOCUMENT = (ROOT / "docs" / "methods.md").read_text()
SPACE = 51
OPTIMUM_FOUND = ("exhaustive", "branch-and-bound", "portfolio", "local-search", "tabu", "tabu-joint", "annealing")


def explored(capsys: pytest.CaptureFixture[str], out: Path, *argv: str) -> Any:
    capsys.readouterr()
    assert main(["explore", PINGPONG, "--weights", "nominal", "--out", str(out), "--json", *argv]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def optimum(tmp_path_factory: pytest.TempPathFactory) -> int:
    out = tmp_path_factory.mktemp("optimum")
    argv = ["explore", PINGPONG, "--weights", "nominal", "--method", "exhaustive"]
    assert main([*argv, "--out", str(out), "--quiet"]) == 0
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


SOURCE = """actor Source () ==> int Out:
    int n := 0;
    send: action ==> Out:[n] guard n < 9 do n := n + 1; end
end
"""
SINK = """actor Sink () int In ==> :
    int sum := 0;
    add: action In:[token] ==> do sum := sum + token * token; end
end
"""


def test_identical_actors_and_identical_units_are_counted_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two chains of a source and a sink on three equal units of one core each."""
    (tmp_path / "Source.cal").write_text(SOURCE)
    (tmp_path / "Sink.cal").write_text(SINK)
    instances = "".join(
        f'<Instance id="{name}{i}"><Class name="{name}"/></Instance>' for i in "01" for name in ("Source", "Sink")
    )
    wires = "".join(f'<Connection src="Source{i}" src-port="Out" dst="Sink{i}" dst-port="In"/>' for i in "01")
    network = tmp_path / "chains.xdf"
    network.write_text(f'<XDF name="chains">{instances}{wires}</XDF>')
    platform = tmp_path / "triplets.yaml"
    units = "".join(f"  {name}: {{kind: cpu, cores: 1, clock_mhz: 2900}}\n" for name in "abc")
    platform.write_text(f"name: triplets\nunits:\n{units}")
    argv = ["explore", str(network), "--platform", str(platform), "--out", str(tmp_path / "out"), "--workers", "1"]
    capsys.readouterr()
    assert main([*argv, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # 3**4 placements, 14 partitions of the set of actors; which of the chains is cut when the other is whole matters
    # as little. Chains that share a core are told apart by the order in it.
    assert (found["symmetric_skipped"], found["identical_actors_skipped"], found["space"]) == (81 - 14, 1, 13)
    assert main(argv) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "67 skipped that only number identical cores" in told
    assert "1 skipped that only exchange identical actors" in told


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
    assert main(["explore", PINGPONG, "--weights", "nominal", "--out", str(tmp_path), *argv]) in (1, 2)
    assert message in capsys.readouterr().err
