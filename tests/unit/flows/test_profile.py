"""The journey of a profile, on a bench that is made up."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import ExecutionError, OptionError
from dse.flows.profile import ProfileSettings, profile_on_bench, split_point
from dse.flows.profile_files import samples_bytes
from dse.run.options import RunOptions
from tests.unit.flows.made_up_bench import CROSSING_READ, CROSSING_WRITE, made_up_bench

RUN = RunOptions(input="image")


def test_weights_for_one_core_and_between_two(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=3, calibrate=2))
    assert abs(found.closure.error) < 0.02
    assert float(found.table.compute["filter", "odd", "cpu"].mean_cycles) == pytest.approx(30, rel=0.05)
    key = ("source", "Out", "filter", "In", "cpu_cpu", "cpu")
    assert float(found.table.transfers[*key, "write"].per_token_cycles) == pytest.approx(CROSSING_WRITE, rel=0.15)
    assert float(found.table.transfers[*key, "read"].per_token_cycles) == pytest.approx(CROSSING_READ, rel=0.15)
    assert [s.state for s in found.states] == ["near"]
    assert found.states[0].calibrations == 6
    assert found.platform.units[0].cores == 2
    assert float(found.platform.units[0].clock_mhz or 0) == 2000.0


def test_the_manifest_says_what_it_rests_on(tmp_path: Path) -> None:
    manifest = dict(profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=2, calibrate=1)).table.manifest)
    assert manifest["how"] == "measured on one core, 2 timed and 2 plain runs merged"
    assert manifest["input"] == "image"
    assert manifest["counter"] == "TSC at 2000.000 MHz, steps of 26, 20.0 a reading"
    assert manifest["timed singly"] == "sink.block"
    assert manifest["core distance"] == "near"
    assert manifest["crossing"].startswith("calibrated by 2 runs of 1 mappings")
    assert manifest["round trips"] == "90 to 90 ns"
    assert manifest["involuntary switches"] == "2.0 a run"


def test_without_calibration_the_micro_benchmark_tells(tmp_path: Path) -> None:
    found = profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=1, calibrate=0))
    read = found.table.transfers["filter", "Out", "sink", "In", "cpu_cpu", "cpu", "read"]
    local = found.table.transfers["filter", "Out", "sink", "In", "local", "cpu", "read"]
    assert float(read.mean_cycles - local.mean_cycles) == pytest.approx(60.0)
    assert float(read.per_token_cycles - local.per_token_cycles) == pytest.approx(0.25)
    assert "micro-benchmark" in dict(found.table.manifest)["crossing"]
    assert found.crossings.startswith("capacity_tokens\ttoken_bytes\t")


def test_one_core_has_no_crossings(tmp_path: Path) -> None:
    found = profile_on_bench(made_up_bench(tmp_path, cores=1), RUN, ProfileSettings(runs=1))
    assert found.owners == ()
    assert found.crossings == ""
    assert dict(found.table.manifest)["crossing"].startswith("not measured")


def test_in_place_the_crossings_are_in_the_actions(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    point = split_point(bench.topology, (0, 1, 1), (512, 512))
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=2, mapping=point))
    assert float(found.table.compute["source", "go", "cpu"].mean_cycles) == pytest.approx(9 + CROSSING_WRITE, rel=0.05)
    assert "in one mapping" in dict(found.table.manifest)["how"]


def test_runs_in_a_changing_state_do_not_calibrate(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    bench.program.trip_ns = 195.0
    original = bench.program.run

    def run(order):
        record = original(order)
        trips = tuple(replace(trip, after_ns=400.0) for trip in record.trips)
        return replace(record, trips=trips)

    bench.program.run = run
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=2, calibrate=2))
    assert found.states == ()
    assert "4 calibration runs were left out: the distance of the cores changed" in found.warnings
    assert "micro-benchmark" in dict(found.table.manifest)["crossing"]


def test_runs_that_differ_are_refused(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    original, made = bench.program.run, []

    def run(order):
        made.append(order)
        return replace(original(order), result=str(len(made)))

    bench.program.run = run
    with pytest.raises(ExecutionError, match="4 runs of the program had 4 different results"):
        profile_on_bench(bench, RUN, ProfileSettings(runs=2))


def test_impossible_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="0 runs"):
        profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=0))


def test_samples_hold_every_firing(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=1, calibrate=0))
    (tmp_path / "samples.npz").write_bytes(samples_bytes(found))
    with np.load(tmp_path / "samples.npz") as arrays:
        assert sorted(arrays) == ["filter", "sink", "source"]
        assert len(arrays["filter"]) == len(found.runs.firings[1])
        assert arrays["source"].mean() == pytest.approx(9.0, rel=0.1)
