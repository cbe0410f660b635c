"""The main job on this machine: weights are measured, kept and used again, the best mappings are run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.base.cores import usable_cores
from dse.cli.main import main
from dse.native.toolchain import Compiler

ROOT = Path(__file__).resolve().parents[2]
JPEG = "actors/jpeg/jpeg.xdf"
"""As the README has it: places are part of a program, so that this one is built once for both."""
SEARCH = ["explore", JPEG, "--budget", "12", "--best", "2"]


pytestmark = [
    pytest.mark.skipif(len(usable_cores()) < 2, reason="measuring needs two cores"),
    pytest.mark.usefixtures("native_compiler_of_module"),
]


def read(out: Path) -> Any:
    return json.loads((out / "ranking.json").read_text())


def without_times(document: Any) -> Any:
    """A ranking without what differs from run to run."""
    kept = {key: value for key, value in document.items() if key not in ("one_core_measured", "best")}
    return kept | {"ranking": [{k: v for k, v in row.items() if k != "measured"} for row in document["ranking"]]}


@pytest.fixture(scope="module", autouse=True)
def _in_the_checkout() -> Iterator[None]:
    with contextlib.chdir(ROOT):
        yield


@pytest.fixture(scope="module")
def explored(native_compiler_of_module: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("explored")
    assert main([*SEARCH, "--measure", "1", "--out", str(out), "--quiet"]) == 0
    return out


def test_estimates_and_measured_times_stand_side_by_side(explored: Path) -> None:
    document = read(explored)
    assert any("measured on this machine" in text for text in document["assumed"])
    one = document["one_core_measured"]["times"][0]
    assert one["runs"] >= 1
    assert 0 < one["lower_quartile_ns"] <= one["median_ns"] <= one["upper_quartile_ns"]
    assert document["unit"] == "ps"
    # On one core the estimate is the sum of what was measured. Others share the machine, at either time: eight times as
    # long was seen. Beyond that something is wrong, as units of time would be.
    assert one["lower_quartile_ns"] * 1000 / 20 < document["one_core_makespan"] < 20 * one["upper_quartile_ns"] * 1000
    ran = [row for row in document["ranking"] if row.get("measured", {}).get("times")]
    assert ran
    assert "Estimated and measured" in (explored / "report.html").read_text()


def test_what_was_measured_is_a_set_for_other_verbs(explored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--weights", str(explored / "weights"), "--platform", str(explored / "platform.yaml")]
    assert main(["estimate", JPEG, *given, "--mapping", str(explored / "best-01.xcf"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["makespan"] == read(explored)["best"]["makespan"]


def test_a_rerun_and_a_resumed_search_rest_on_the_same_set(explored: Path) -> None:
    first, files = read(explored), {p.name: p.read_bytes() for p in (explored / "weights").iterdir()}
    for more in ((), ("--resume",)):
        assert main([*SEARCH, "--out", str(explored), "--quiet", *more]) == 0
        assert without_times(read(explored)) == without_times(first)
        assert {p.name: p.read_bytes() for p in (explored / "weights").iterdir()} == files


def test_refining_ends_and_keeps_its_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SEARCH, "--refine", "1", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["refinements"]) == 1
    assert document["refinements"][0]["estimate_before"] > 0
    assert (tmp_path / "weights-previous" / "weights").is_dir()
    assert (tmp_path / "study-previous.sqlite").is_file()


def test_an_interrupt_ends_compilers_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dse", "explore", JPEG, "--out", str(tmp_path / "out")]
    environment = {**os.environ, "DSE_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("measuring"):
            break
    time.sleep(1.0)  # the compilers are at work, or the program if all were quick
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    assert process.wait(timeout=60) == 130
    assert not list(tmp_path.glob("dse-*"))  # the folders that builds and runs work in
    assert not (tmp_path / "out" / "study.sqlite").exists()
