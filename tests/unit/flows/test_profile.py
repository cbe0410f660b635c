"""The journey of a profile, on a bench that is made up."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import DeadlockError, ExecutionError, OptionError
from dse.flows.profile import ProfileSettings, profile_on_bench, split_point
from dse.flows.profile_files import ProfileOptions, profile_file, samples_of
from dse.flows.profile_manifest import visit_pairs
from dse.measure.arrival import Waits
from dse.measure.looks import Looks
from dse.measure.profiling import Profiler
from dse.model.trace import FiringIds
from dse.model.weights import Arrival, Visits, WeightTable
from dse.run.options import RunOptions
from tests.unit.flows.made_up_bench import BETWEEN, CROSSING_READ, CROSSING_WRITE, LOOK, made_up_bench
from tests.unit.measure.networks import FACTS, chain

RUN = RunOptions(input="image")
PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")


def test_weights_for_one_core_and_between_two(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=3, calibrate=2))
    assert abs(found.closure.error) < 0.02
    assert float(found.table.compute["filter", "odd", "cpu"].mean_cycles) == pytest.approx(30, rel=0.05)
    key = ("source", "Out", "filter", "In", "cpu_cpu", "cpu")
    assert float(found.table.transfers[*key, "write"].per_token_cycles) == pytest.approx(CROSSING_WRITE, rel=0.15)
    assert float(found.table.transfers[*key, "read"].per_token_cycles) == pytest.approx(CROSSING_READ, rel=0.15)
    arrival = found.table.arrival
    assert arrival is not None
    assert arrival.cycles == 90
    assert arrival.visits is not None
    more = found.runs.profile.facts.cost - FACTS.cost  # the noise of the plain runs is put down to readings
    assert float(arrival.visits.look_cycles) == pytest.approx(LOOK - more, rel=0.02)
    assert arrival.visits.wake_cycles == 0
    assert [s.state for s in found.states] == ["near"]
    assert found.states[0].calibrations == 6
    assert found.states[0].looks.between == pytest.approx(BETWEEN - more, rel=0.05)
    assert abs(found.states[0].unexplained) < 0.01
    assert found.platform.units[0].cores == 2
    assert float(found.platform.units[0].clock_mhz or 0) == 2000.0


def test_the_manifest_says_what_it_rests_on(tmp_path: Path) -> None:
    manifest = dict(profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=2, calibrate=1)).table.manifest)
    assert manifest["how"] == "measured on one core, 4 timed and 2 plain runs merged"
    assert manifest["input"] == "image"
    assert manifest["counter"] == "TSC at 2000.000 MHz, steps of 26, 20.0 a reading"
    assert manifest["timed singly"] == "sink.block"
    assert manifest["core distance"] == "near"
    assert manifest["crossing"].startswith("calibrated by 2 runs of 1 mappings")
    assert manifest["round trips"] == "90 to 90 ns"
    assert manifest["arrival"] == "45 ns, half the median round trip"
    assert manifest["waits"] == "0 ns, quartiles 0 and 0, of 600; waking takes 0 ns"
    assert re.fullmatch(r"\d+ ns a call in vain, \d+ ns between visits, of \d{4} pairs of them", manifest["looks"])
    assert manifest["entries"].endswith(" ends")
    assert manifest["involuntary switches"] == "2.0 a run"
    assert manifest["cycles"].endswith(" a plain run")
    assert manifest["cycles per instruction"] == "0.500"
    assert float(manifest["stolen time"].split()[0]) >= 0


def test_where_the_processor_may_not_be_asked_the_manifest_says_so(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    bench.program.counts = False
    manifest = dict(profile_on_bench(bench, RUN, ProfileSettings(runs=1, calibrate=0)).table.manifest)
    assert manifest["cycles and instructions"].startswith("not allowed here")
    assert "cycles" not in manifest


def test_waits_and_entries_are_told_in_nanoseconds() -> None:
    key = ("source", "Out", "filter", "In")
    visits = Visits(wake_cycles=Fraction(500), entries={(*key, "read"): Fraction(80), (*key, "write"): Fraction(300)})
    table = WeightTable(name="", arrival=Arrival(cycles=Fraction(90), frequency_mhz=Fraction(2000), visits=visits))
    waits = Waits(mean=590.0, quartiles=(400.0, 1000.0), count=77)
    pairs = dict(visit_pairs(table, waits, Looks(between=16.0, look=50.0, gaps=9), FACTS))
    assert pairs["waits"] == "295 ns, quartiles 200 and 500, of 77; waking takes 250 ns"
    assert pairs["entries"] == "40 to 150 ns a visit at 2 ends"
    assert pairs["looks"] == "25 ns a call in vain, 8 ns between visits, of 9 pairs of them"
    few = dict(visit_pairs(table, None, Looks(), FACTS))
    assert few["waits"] == "too few in the calibration runs: waking is taken to be free"


def test_without_calibration_the_micro_benchmark_tells(tmp_path: Path) -> None:
    found = profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=1, calibrate=0))
    read = found.table.transfers["filter", "Out", "sink", "In", "cpu_cpu", "cpu", "read"]
    local = found.table.transfers["filter", "Out", "sink", "In", "local", "cpu", "read"]
    assert float(read.mean_cycles - local.mean_cycles) == pytest.approx(60.0)
    assert float(read.per_token_cycles - local.per_token_cycles) == pytest.approx(0.25)
    assert "micro-benchmark" in dict(found.table.manifest)["crossing"]
    assert found.crossings.startswith("capacity_tokens\ttoken_bytes\t")
    assert found.table.arrival is not None
    assert found.table.arrival.visits is None, "nobody has seen any"


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


def test_a_static_order_that_stands_still_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = made_up_bench(tmp_path)
    point = split_point(bench.topology, (0, 0, 0), (512, 512))
    parts = (replace(point.partitions[0], policy="STATIC_ORDER", static_order=(0, 1, 2)),)
    original, stages = Profiler.firings, list[str]()

    def firings(self: Profiler, mapping: Path | None = None) -> tuple[FiringIds, ...]:
        return tuple(ids[: None if mapping is None else 3] for ids in original(self))

    monkeypatch.setattr(Profiler, "firings", firings)
    with pytest.raises(DeadlockError, match=r"a static order of the mapping stands still after 9 of [0-9,]+ firings"):
        profile_on_bench(bench, RUN, ProfileSettings(runs=1, mapping=replace(point, partitions=parts)), stages.append)
    assert stages == ["running the mapping"]


def test_mappings_in_place_are_run_just_as_they_are(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    point = split_point(bench.topology, (0, 0, 1), (777, 512))
    sizes = []
    original = bench.program.run

    def run(order):
        if order.mapping is not None:
            sizes.append("777" in order.mapping.read_text())
        return original(order)

    bench.program.run = run
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=2, calibrate=1, in_place=(point,)))
    assert sum(sizes) == 2
    assert found.owners[-1] == (0, 0, 1)
    assert found.states[0].calibrations == 2 * len(found.owners)
    assert "sink" in dict(found.table.manifest)["measured in place"]


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
    with pytest.raises(ExecutionError, match="7 runs of the program had 7 different results"):
        profile_on_bench(bench, RUN, ProfileSettings(runs=2))


def test_impossible_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="0 runs"):
        profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=0))


def test_samples_hold_every_firing(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    found = profile_on_bench(bench, RUN, ProfileSettings(runs=1, calibrate=0))
    (tmp_path / "samples.npz").write_bytes(samples_of(found))
    with np.load(tmp_path / "samples.npz") as arrays:
        assert sorted(arrays) == ["filter", "sink", "source"]
        assert len(arrays["filter"]) == len(found.runs.firings[1])
        assert arrays["source"].mean() == pytest.approx(9.0, rel=0.1)


def test_samples_of_actors_that_are_called_as_parameters_of_numpy(tmp_path: Path) -> None:
    found = profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=1, calibrate=0))
    names = ("file", "allow_pickle", "a/b")
    actors = tuple(replace(actor, name=name) for actor, name in zip(found.topology.actors, names, strict=True))
    renamed = replace(found, topology=replace(found.topology, actors=actors))
    (tmp_path / "samples.npz").write_bytes(samples_of(renamed))
    with np.load(tmp_path / "samples.npz") as arrays:
        assert sorted(arrays) == sorted(names)
    assert samples_of(renamed) == samples_of(renamed)


def test_the_manifest_names_the_options_of_the_run(tmp_path: Path) -> None:
    run = RunOptions(loops=20, fifo_tokens=1024, frames=3)
    manifest = dict(profile_on_bench(made_up_bench(tmp_path), run, ProfileSettings(runs=1, calibrate=0)).table.manifest)
    assert manifest["options"] == "-l 20 -f 3 -s 1024"
    plain = profile_on_bench(made_up_bench(tmp_path), RUN, ProfileSettings(runs=1, calibrate=0)).table.manifest
    assert "options" not in dict(plain)


def test_a_profile_that_is_written_again_leaves_nothing_of_the_former(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does not write itself would be of other runs: samples, crossings, sets of other states."""
    (tmp_path / "bench").mkdir()
    found = profile_on_bench(made_up_bench(tmp_path / "bench"), RUN, ProfileSettings(runs=1, calibrate=1))
    (near,) = found.states
    asked = []

    def profiled(_network, run, _settings, _stage):
        asked.append(run)
        return results.pop()

    table = replace(near.table, manifest=(("core distance", "far"),))
    results = [found, replace(found, crossings="a table", states=(near, replace(near, state="far", table=table)))]
    monkeypatch.setattr("dse.flows.profile_files.profile_program", profiled)
    options = ProfileOptions(program=PINGPONG, output=str(tmp_path / "w"), samples=True)
    profile_file(options)
    (tmp_path / "w" / "near").mkdir()
    (tmp_path / "w" / "near" / "notes.txt").write_text("mine")
    assert (tmp_path / "w" / "far" / "manifest.yaml").is_file()
    written = profile_file(replace(options, samples=False)).written
    left = {path for path in (tmp_path / "w").rglob("*") if path.is_file()}
    assert left == {Path(name) for name in written} | {tmp_path / "w" / "near" / "notes.txt"}
    assert not (tmp_path / "w" / "far").exists()
    assert asked[0].unnamed_output is not None, "a network that writes has no option to name where"


def test_a_mapping_of_more_cores_than_there_are_is_marked(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    two = profile_on_bench(bench, RUN, ProfileSettings(runs=1, mapping=split_point(chain(), (0, 1, 0), (512, 512))))
    assert dict(two.table.manifest)["mapping"] == "P0:source,sink P1:filter"
    assert not any("it needs" in warning for warning in two.warnings)
    crowded = made_up_bench(tmp_path, cores=1)
    one = profile_on_bench(crowded, RUN, ProfileSettings(runs=1, mapping=split_point(chain(), (0, 1, 0), (512, 512))))
    assert "the mapping is not run as it is estimated: it needs 2 cores, this machine has 1" in one.warnings
