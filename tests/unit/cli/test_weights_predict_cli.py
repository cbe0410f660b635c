"""``dse weights predict``: its table, its JSON document and the folder it writes."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.weights_folder import read_weights_folder

ROOT = Path(__file__).resolve().parents[3]
JPEG = str(ROOT / "actors" / "jpeg" / "jpeg.xdf")
INPUT = str(ROOT / "actors" / "jpeg" / "input.jpg")
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")


def test_predicts_the_jpeg_decoder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "w")
    assert main(["weights", "predict", JPEG, "-i", INPUT, "--device", "gtx1660s", "-o", folder, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    actions = {(a["actor"], a["action"]): a for a in document["actions"]}
    transform, symbol = actions["idct2d", "transform"], actions["huffman", "symbol.ac"]
    assert (transform["firings"], transform["threads"], transform["confidence"]) == (384, 64, "medium")
    assert transform["longest_run"] == len(transform["simd_us"]) == 384
    assert transform["us"] < transform["one_thread_us"] / 5
    assert transform["simd_us"][-1] / 384 < transform["us"] / 20
    assert [p["threads"] for p in transform["pieces"]] == [64, 8, 8, 64]
    assert (symbol["threads"], symbol["confidence"], symbol["us"]) == (1, "low", symbol["one_thread_us"])
    assert symbol["reason"].startswith("one thread: ")
    assert document["left_out"] == ["source", "display"]
    assert document["manifest"]["model"].startswith("hierarchy")
    table = read_weights_folder(folder)
    assert len(table.compute) == len(actions)
    assert dict(table.manifest)["confidence"].startswith("low: ")
    assert {Path(path).name for path in document["written"]} == {p.name for p in Path(folder).iterdir()}


def test_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["weights", "predict", PINGPONG, "--device", "jetson-tk1"]
    assert main([*command, "--threads", "2x64", "--model", "cgpredict"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pingpong on jetson-tk1: cgpredict, 2x64 threads an actor\n")
    assert "one thread: it has no loop" in out
    assert "on a CPU (files, printing or display): PingPong, Merger" in out
    assert "launch: 50 us where another actor ran before" in out


def test_a_written_folder_can_be_explored_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nominal CPU weights and the folder together are what a search takes by itself."""
    cpu, gpu = str(tmp_path / "cpu"), str(tmp_path / "gpu")
    assert main(["weights", "nominal", PINGPONG, "-o", cpu]) == 0
    assert main(["weights", "predict", PINGPONG, "--device", "gtx1660s", "-o", gpu]) == 0
    base = ["explore", PINGPONG, "--platform", "desktop-gtx1660s", "--quiet", "--json", "--out"]
    capsys.readouterr()
    found = []
    for name, more in (("with", ["--weights", cpu, "--weights", gpu]), ("without", [])):
        assert main([*base, str(tmp_path / name), *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["ranking"])
    assert [(r["makespan"], r["mapping"]) for r in found[0]] == [(r["makespan"], r["mapping"]) for r in found[1]]
