"""``dse explore --scaling``: GPU costs and power follow a model over ``--clocks``, also where faster is slower."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main

PINGPONG = str(Path(__file__).resolve().parents[2] / "actors" / "pingpong" / "pingpong.xdf")
CLOCKS = (1481, 1600, 2000)
BOARD = """name: board
units:
  cpu: {kind: cpu, cores: 2, clock_mhz: 2000, power_watt: 5}
  gpu: {kind: gpu, device: gtx1080ti, clock_mhz: 1481, power_watt: 200}
links:
  pcie: {between: [cpu, gpu], latency_ns: 0.001, bandwidth_gb_s: 1000}
gpu_capable: [Merger, CopyTokensA, CopyTokensB]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of kernels that get slower above 1600 MHz (few loads) or quicker (many), counters, a platform."""
    rows = ["kernel,core_mhz,memory_mhz,time_ms,power_watt,loads"]
    for k in range(8):
        for clock, factor in zip(CLOCKS, (1.0, 0.9, 0.7) if k % 2 else (1.0, 0.5, 60.0), strict=True):
            rows.append(f"k{k},{clock},5000,{(k + 1) * factor},{100 * clock / 1481},{10**6 if k % 2 else 10}")
    (tmp_path / "set.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "counters.csv").write_text("action,loads\nCopyTokensA.copy,10\nCopyTokensB.copy,10\nMerger.merge,10\n")
    (tmp_path / "board.yaml").write_text(BOARD)
    train = ["gpu", "scaling", "train", str(tmp_path / "set.csv"), "--base", "1481/5000", "--card", "GTX1080-Ti"]
    assert main([*train, "-o", str(tmp_path / "model.json"), "--clusters", "2", "--penalty", "0.1", "--quiet"]) == 0
    return tmp_path


def command(folder: Path, *more: str, clocks: str = "gpu=1481,1600,2000") -> list[str]:
    """A search of the folder with its model."""
    files = ["--scaling", str(folder / "model.json"), "--counters", str(folder / "counters.csv")]
    board = ["--platform", str(folder / "board.yaml"), "--weights", "nominal", "--missing-weights", "nominal"]
    return ["explore", PINGPONG, *board, "--clocks", clocks, *files, "--out", str(folder / "out"), *more]


def test_the_search_follows_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    pins = ["--pin", "CopyTokensA=gpu", "--pin", "CopyTokensB=gpu"]
    argv = command(folder, "--objectives", "makespan,power,energy", *pins, "--json")
    assert main(argv) == 0
    found: Any = json.loads(capsys.readouterr().out)
    best = {p["unit"]: p.get("clock_mhz") for p in found["best"]["design_point"]["partitions"]}
    assert best["gpu"] == 1600, "half the time at 1600 MHz, sixty times as much at 2000"
    assert [axis["name"] for axis in found["objectives"]] == ["makespan", "power", "energy"]
    assert any("by the scaling model of GTX1080-Ti, 8 kernels of set.csv" in text for text in found["assumed"])
    given = argv[2 : argv.index("--clocks")], argv[argv.index("--scaling") : argv.index("--out")]
    estimate = ["estimate", PINGPONG, *given[0], *given[1], "--mapping", str(folder / "out" / "best-01.xcf"), "--json"]
    assert main(estimate) == 0
    assert json.loads(capsys.readouterr().out)[0]["makespan"] == found["best"]["makespan"]
    study = (folder / "out" / "study.yaml").read_text()
    assert 'scaling: {model: "../model.json", counters: "../counters.csv"}' in study
    assert main(["study", "run", str(folder / "out" / "study.yaml"), "--out", str(folder / "again"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"] == found["best"]


def test_other_counters_are_another_search(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(folder, "--budget", "2", "--quiet")) == 0
    text = (folder / "counters.csv").read_text()
    (folder / "counters.csv").write_text(text.replace("merge,10", "merge,1000000"))
    assert main(command(folder, "--budget", "3", "--resume")) == 2
    assert "the scaling changed" in " ".join(capsys.readouterr().err.split())


def test_without_a_model_the_output_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    argv = command(folder)
    del argv[argv.index("--scaling") : argv.index("--counters") + 2]
    assert main(argv) == 0
    assert "GPU cycles are the same at every clock (no --scaling model)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("counters", "the counters of 2 actions of the GPU are missing: CopyTokensB.copy, Merger.merge"),
        ("card", "the scaling model is of card 'else', and unit 'gpu' is of device 'gtx1080ti'"),
        ("clock", "the model was not trained at 1700/5000"),
        ("unit", "--scaling says how a GPU follows its clock, and none is chosen"),
        ("weights", "the model was not trained at 1500/5000"),
        ("alone", "--scaling and --counters need each other"),
    ],
)
def test_what_does_not_fit(folder: Path, change: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = command(folder)
    if change == "counters":
        (folder / "counters.csv").write_text("action,loads\nCopyTokensA.copy,10\n")
    elif change == "card":
        text = (folder / "model.json").read_text()
        (folder / "model.json").write_text(text.replace("GTX1080-Ti", "else"))
    elif change == "clock":
        argv = command(folder, clocks="gpu=1700")
    elif change == "unit":
        argv = command(folder, clocks="cpu=1000,2000")
    elif change == "weights":
        (folder / "board.yaml").write_text(BOARD.replace("1481", "1500"))
    else:
        del argv[argv.index("--counters") : argv.index("--counters") + 2]
    assert main(argv) == 2
    assert message in " ".join(capsys.readouterr().err.split())
