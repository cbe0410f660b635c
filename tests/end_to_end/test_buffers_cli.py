"""``dse buffers`` on small networks: JSON, the file it writes, and that the file gives the makespan it promises."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.sizing.methods import SIZING_METHODS

ROOT = Path(__file__).resolve().parents[2]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    capsys.readouterr()
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def mapping(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("explored")
    assert main(["explore", PINGPONG, "--weights", "nominal", "--partitions", "3-3", "--out", str(out), "--quiet"]) == 0
    return str(out / "best-01.xcf")


@pytest.mark.parametrize("method", SIZING_METHODS)
def test_the_written_sizes_give_the_promised_makespan(
    method: str, mapping: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = str(tmp_path / "sizes.bxdf")
    document = run_json(capsys, "buffers", PINGPONG, "--mapping", mapping, "--method", method, "-o", sizes)
    assert document["method"] == method
    (row,) = run_json(capsys, "estimate", PINGPONG, "--mapping", mapping, "--buffers", sizes)
    assert row["makespan"] == document["makespan"]
    assert document["minimal"]["memory_bytes"] <= document["memory_bytes"]
    assert document["makespan"] <= max(document["maximal"]["makespan"] * 1.01, document["minimal"]["makespan"])
    assert {"memory_bytes", "makespan"} == set(document["curve"][0])
    assert all(tokens >= 1 for tokens in document["capacities_tokens"].values())


def test_without_a_mapping_each_actor_has_a_core(capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, "buffers", PINGPONG)
    assert any("core of its own" in text for text in document["assumed"])


def test_the_table_shows_minimal_chosen_and_maximal(mapping: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["buffers", PINGPONG, "--mapping", mapping, "--method", "top-down"]) == 0
    text = capsys.readouterr().out
    assert {"minimal", "top-down", "maximal", "makespan"} <= set(text.split())
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("assumed"))


def test_the_sizes_of_the_mapping_stand_beside(capsys: pytest.CaptureFixture[str]) -> None:
    text = "P0:Merger P1:PingPong,Prod P2:* buffers=2"
    document = run_json(capsys, "buffers", PINGPONG, "--map", text)
    own = document["mapping"]
    assert set(own["capacities_tokens"].values()) == {2}
    (row,) = run_json(capsys, "estimate", PINGPONG, "--map", text)
    assert row["makespan"] == own["makespan"]
    assert main(["buffers", PINGPONG, "--map", text]) == 0
    assert "mapping" in capsys.readouterr().out.split()
    assert run_json(capsys, "buffers", PINGPONG)["mapping"] is None
