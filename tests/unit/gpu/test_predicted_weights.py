"""Predicted weights of whole networks: what pays a launch, what a transfer costs, what is left out, how sure it is."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import ModelNotApplicable
from dse.formats.device_yaml import load_device
from dse.formats.weights_folder import read_weights_folder, write_weights_folder
from dse.gpu.actors.firing import LaunchShape
from dse.gpu.actors.weights import PredictedWeights, longest_run, predict_weights
from dse.model.device import Device
from dse.model.trace import Trace
from dse.program.network import Network
from dse.run.execution import RunOptions, run_network
from tests.unit.gpu.actor_support import network

TEXT = """
  int seen := 0;
  start: action ==> O:[n] repeat 4 guard seen < 1 var int n[4] do seen := 1; end
  pass: action I:[v] repeat 4 ==> O:[w] repeat 4
  guard seen < 9
  var int w[4]
  do foreach int i in 0 .. 3 do w[i] := v[3 - i]; end seen := seen + 1; end
  priority start > pass; end
"""
STATELESS = "  twice: action I:[v] repeat 256 ==> O:[w] repeat 256 var int w[256]\n"
STATELESS += "  do foreach int i in 0 .. 255 do w[i] := 2 * v[i]; end end"


def traced(found: Network) -> Trace:
    return run_network(found, RunOptions()).trace


def predicted(folder: Path, device: Device, *, leave_out: tuple[str, ...] = ()) -> PredictedWeights:
    found = network(folder, TEXT)
    return predict_weights(found, traced(found), device, leave_out=leave_out, cpu_clock_mhz=Fraction(2900))


def test_a_launch_is_paid_where_another_actor_ran_before(tmp_path: Path) -> None:
    device = load_device("gtx1660s")
    steps = predicted(tmp_path, device).table.scheduling
    own, other = steps["a", "pass", "pass", "gpu"], steps["a", "", "pass", "gpu"]
    assert other.mean_cycles - own.mean_cycles == (5 + 8) * 1800  # launch_us + synchronise_us
    # two actions are tried, each a guard (load, comparison, branch), the second one a port; and the dispatch
    load, compare, branch = 190, 4, 10
    assert own.mean_cycles == 2 * (load + compare + branch) + 2 * (load + compare + branch)
    pairs = {key[1:3] for key in steps if key[0] == "a"}
    assert pairs == {(p, x) for p in ("", "start", "pass") for x in ("start", "pass")}


def test_transfers(tmp_path: Path) -> None:
    device = load_device("gtx1660s")
    transfers = predicted(tmp_path, device).table.transfers
    host = transfers["a", "O", "b", "I", "host", "gpu", "write"]
    assert (host.mean_cycles, host.per_token_cycles) == (10 * 1800, Fraction(4 * 1800, 12_000))
    cpu = transfers["a", "O", "b", "I", "host", "cpu", "read"]
    assert (cpu.mean_cycles, cpu.frequency_mhz) == (44, 2900)
    cuda = transfers["a", "O", "b", "I", "cuda", "gpu", "read"]
    assert cuda.frequency_mhz == 1800
    assert cuda.per_token_cycles < host.per_token_cycles + 200
    assert {key[4:6] for key in transfers} == {("cuda", "gpu"), ("host", "gpu"), ("host", "cpu")}
    assert len(transfers) == 2 * 2 * 3


def test_actors_that_are_left_out_have_no_weights(tmp_path: Path) -> None:
    found = predicted(tmp_path, load_device("h200"), leave_out=("b",))
    assert {key[0] for key in found.table.compute} == {key[0] for key in found.table.scheduling} == {"a"}
    sides = {(key[0], key[4], key[5], key[6]) for key in found.table.transfers}
    assert ("a", "host", "gpu", "write") in sides
    assert ("a", "host", "cpu", "read") in sides
    assert ("a", "host", "cpu", "write") not in sides  # what b reads a cannot be on a CPU and b on the GPU
    with pytest.raises(ModelNotApplicable, match="no actor of 'top' can run on a GPU"):
        predicted(tmp_path, load_device("h200"), leave_out=("a", "b"))


def test_manifest_says_model_device_and_confidence(tmp_path: Path) -> None:
    found = predicted(tmp_path, load_device("h200"))
    manifest = dict(found.table.manifest)
    assert manifest["how"].startswith("predicted, hierarchy on h200")
    assert manifest["model"].startswith("hierarchy")
    assert manifest["confidence"] == f"low: {found.confidence_text}"
    assert "constants of the device are assumptions" in found.confidence_text
    assert {cost.origin for cost in found.table.compute.values()} == {"predicted"}


def test_stateless_actors_fire_in_blocks_as_long_as_runs(tmp_path: Path) -> None:
    found = network(tmp_path, STATELESS)
    trace = traced(found)
    actors = tuple(replace(actor, stateless=True) for actor in trace.topology.actors)
    firings = (np.zeros(37, np.uint8), np.zeros(1, np.uint8))
    trace = replace(trace, topology=replace(trace.topology, actors=actors), firings=firings)
    table = predict_weights(found, trace, load_device("gtx1660s")).table
    assert table.simd["a", "twice", "gpu"].width == 37
    assert ("b", "twice", "gpu") not in table.simd
    assert table.compute["a", "twice", "gpu"].mean_cycles == table.simd["a", "twice", "gpu"].block_cycles[0]
    assert "fire side by side" not in predict_weights(found, trace, load_device("gtx1660s")).confidence_text
    narrow = predict_weights(found, trace, load_device("gtx1660s"), shape=LaunchShape(blocks=1, threads=8)).table
    assert all(cost.width <= 8 for cost in narrow.simd.values())


def test_a_block_of_firings_is_not_called_a_loop(tmp_path: Path) -> None:
    found = network(tmp_path, "  int P[4] = [3, 1, 2, 0];\n  x: action I:[t] ==> O:[s] var int s := P[t & 3] do end")
    trace = traced(found)
    actors = tuple(replace(actor, stateless=True) for actor in trace.topology.actors)
    firings = (np.zeros(900, np.uint8), np.zeros(900, np.uint8))
    trace = replace(trace, topology=replace(trace.topology, actors=actors), firings=firings)
    text = predict_weights(found, trace, load_device("gtx1660s")).confidence_text
    assert "2 fire side by side" in text
    assert "parallel loops" not in text


@pytest.mark.parametrize(("ids", "longest"), [([0, 1, 1, 0, 1], 2), ([1, 1, 1], 3), ([0], 0), ([1, 0, 1, 1, 1], 3)])
def test_longest_run(ids: list[int], longest: int) -> None:
    assert longest_run(np.array(ids, np.uint8), 1) == longest


def test_the_folder_is_what_was_predicted(tmp_path: Path) -> None:
    found = predicted(tmp_path, load_device("gtx1660s")).table
    folder = str(tmp_path / "w")
    assert sorted(write_weights_folder(found, folder)) == [
        "manifest.yaml",
        "weights-CPU-HostFifo.cxdf",
        "weights-GPU-HostFifo.cxdf",
        "weights-GPU.cxdf",
        "weights-GPU.exdf",
        "weights-GPU.sxdf",
    ]
    again = read_weights_folder(folder)
    assert (again.compute, again.simd, again.scheduling) == (found.compute, found.simd, found.scheduling)
    assert again.transfers == found.transfers
    assert again.manifest == found.manifest


def test_the_same_again(tmp_path: Path) -> None:
    assert predicted(tmp_path, load_device("h200")) == predicted(tmp_path, load_device("h200"))


def test_rounds_of_the_run_make_a_prediction_surer(tmp_path: Path) -> None:
    text = """
  int n := 60;
  x: action I:[v] repeat 64 ==> O:[w] repeat 64
  var int w[64]
  do foreach int i in 0 .. n - 1 do w[i] := 3 * v[i]; end end
  int sent := 0;
  start: action ==> O:[n] repeat 64 guard sent < 1 var int n[64] do sent := sent + 1; end
"""
    found, device = network(tmp_path, text), load_device("gtx1660s")
    plain = run_network(found, RunOptions(max_firings=9)).trace
    counted = run_network(found, RunOptions(max_firings=9, count_rounds=True)).trace
    of_plain, of_counted = (
        next(a.cost for a in predict_weights(found, t, device).actions if a.cost.action == "x")
        for t in (plain, counted)
    )
    assert (of_plain.confidence, of_counted.confidence) == ("low", "medium")
    assert of_counted.threads == 60
    assert "line 6: 60" in dict(predict_weights(found, counted, device).table.manifest)["rounds of loops"]
