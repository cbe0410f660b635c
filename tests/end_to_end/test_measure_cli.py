"""``dse profile`` and ``dse measure`` from the command line to files, on one of our networks."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dse.base.cores import usable_cores
from dse.cli.main import main
from dse.formats.weights_folder import read_weights_folder
from dse.native.toolchain import Compiler
from tests.examples import IN_FULL
from tests.unit.report.timeline_readers import read as read_timeline
from tests.unit.run.programs import SINK, network_of

ROOT = Path(__file__).resolve().parents[2]
NETWORK = str(ROOT / "actors" / "matrix" / "matrix.xdf")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("native_compiler_of_module")]


@pytest.fixture(scope="module")
def weights(native_compiler_of_module: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a measured weight set."""
    folder = tmp_path_factory.mktemp("profile") / "weights"
    assert main(["profile", NETWORK, "-o", str(folder), "--runs", "2", "--calibrate", "1", "--samples"]) == 0
    return folder


def test_the_weights_are_whole(weights: Path) -> None:
    table = read_weights_folder(str(weights))
    assert {cost.origin for cost in table.compute.values()} == {"measured"}
    assert all(cost.frequency_mhz for cost in table.compute.values())
    assert dict(table.manifest)["how"].startswith("measured on one core, 4 timed")
    assert (weights / "samples.npz").is_file()


def test_they_estimate_the_network(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", NETWORK, "--weights", str(weights), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["unit"] == "ps"
    assert found["makespan"] > 0


def test_each_firing_may_cost_what_it_cost_then(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def spans(*more: str) -> list[int]:
        mappings = ["P0:*", "P0:first P1:*", "P0:generate P1:*", "P0:second P1:*", "P0:first,digest P1:*"]
        assert main(["estimate", NETWORK, "--weights", str(weights), "--json", "--mapping", *mappings, *more]) == 0
        return [found["makespan"] for found in json.loads(capsys.readouterr().out)]

    (one, *two), (own_one, *own_two) = spans(), spans("--samples")
    assert own_one == pytest.approx(one, rel=1e-6)  # all firings together take what they took
    assert own_two != two  # of one mapping they may be equal, where a core never waits
    assert main(["estimate", NETWORK, "--weights", "nominal", "--samples"]) == 2
    assert "dse profile NETWORK.xdf --samples" in capsys.readouterr().err


@pytest.mark.skipif(len(usable_cores()) < 2, reason="measuring needs two cores")
def test_mappings_beside_estimates(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, timeline = tmp_path / "out", tmp_path / "both.pftrace"
    arguments = ["measure", NETWORK, "--sample", "3", "--runs", "2", "--weights", str(weights), "--out", str(out)]
    assert main([*arguments, "--timeline", str(timeline), "--json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["network"] == "matrix"
    assert document["runs"] == 6
    assert document["wrong"] == []
    assert len((out / "runs.tsv").read_text().splitlines()) == 7
    assert (out / "measured.json").is_file()
    check_timelines(timeline)


@pytest.mark.skipif(len(usable_cores()) < 2, reason="measuring needs two cores")
def test_an_interrupt_leaves_a_comparison_and_sigterm_the_runs(weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--sample", "3", "--runs", "100000", "--weights", str(weights), "--out", str(out), "--json"]
    command = [sys.executable, "-m", "dse", "measure", NETWORK, *options]
    ended = stopped(command, out / "under-way" / "runs.tsv", signal.SIGTERM)
    assert ended.returncode == 143
    assert f"weights and runs so far are in '{out / 'under-way'}'" in ended.stderr
    assert len((out / "under-way" / "runs.tsv").read_text().splitlines()) > 7
    assert not (out / "measured.json").exists()
    ended = stopped(command, out / "under-way" / "runs.tsv", signal.SIGINT)
    assert ended.returncode == 130
    assert "interrupted: this is what was measured until then" in ended.stderr
    document = json.loads((out / "measured.json").read_text())
    assert document["interrupted"]
    assert document["runs"] + 1 == len((out / "runs.tsv").read_text().splitlines()) > 7
    assert not (out / "under-way").exists()
    assert f"of a measurement that was ended were moved to '{out / 'under-way-previous'}'" in ended.stderr
    assert len((out / "under-way-previous" / "runs.tsv").read_text().splitlines()) > 7


def stopped(command: list[str], runs: Path, number: signal.Signals) -> "subprocess.CompletedProcess[str]":
    """Send a signal when eight runs are written, and return how the command ended."""
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        begun = time.time()
        while process.poll() is None:
            written = runs.is_file() and runs.stat().st_mtime >= begun
            if written and len(runs.read_text().splitlines()) > 8:
                process.send_signal(number)
                break
            time.sleep(0.02)
        output, errors = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def check_timelines(path: Path) -> None:
    """The estimate and the run have the same cores, FIFOs, firings and flows; no core is in two firings at once."""
    estimated, measured = read_timeline(path.name, path.read_bytes())
    assert estimated.title.startswith("matrix, estimated: ")
    assert measured.title == estimated.title.replace("estimated", "measured")
    assert estimated.tracks == [*measured.tracks, "critical path"]
    firings = [
        sorted((s.track, s.name, s.firing) for s in process.slices if s.track != "critical path")
        for process in (estimated, measured)
    ]
    assert firings[0] == firings[1]
    assert estimated.counters.keys() == measured.counters.keys()
    flows = [{((a.name, a.firing), (b.name, b.firing)) for a, b in process.flows} for process in (estimated, measured)]
    assert flows[0] == flows[1]
    assert measured.lost == []
    assert max(s.end for s in measured.slices) > 1000


BOUND = """actor S () ==> int O : @native function turned(int k) --> int end int n := 1;
    action ==> O:[turned(n)] guard n < 900 do n := if turned(n) = -n then n + 1 else 9000 end; end end"""
FORM = "#include <cstdint>\nstd::int64_t turned(std::int32_t k) { return -k; }\n"


@IN_FULL
def test_natives_of_the_user_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    network_of(tmp_path, (BOUND, SINK), "s=S k=Sink s.O->k.I")
    (tmp_path / "mine.cpp").write_text(FORM)
    bound = ["--native", "S.turned=mine.cpp:turned"]
    assert main(["profile", "Top.xdf", "-o", "w", "--runs", "1", "--calibrate", "0", "--quiet", *bound]) == 0
    assert "--native S.turned=mine.cpp:turned" in dict(read_weights_folder("w").manifest)["options"]
    again = ["measure", "Top.xdf", "--sample", "1", "--runs", "1", "--weights", "w", "--quiet", *bound]
    if len(usable_cores()) > 1:
        assert main(again) == 0
        assert "measured the weights in" in explored(bound, capsys)
        assert "measured the weights in" not in explored(bound, capsys)
        (tmp_path / "mine.cpp").write_text(FORM.replace("-k", "0 - k"))
        assert "were measured for another network" in explored(bound, capsys)


def explored(bound: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Search with weights that are measured; return what is printed."""
    capsys.readouterr()
    assert main(["explore", "Top.xdf", "--budget", "3", "--out", "out", *bound]) == 0
    return capsys.readouterr().out
