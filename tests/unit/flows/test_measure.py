"""The journey of a measurement, on a bench that is made up."""

import json
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import DseError, ExecutionError, FormatError, OptionError
from dse.cli.measure import mapping_files
from dse.explore.space.build import build_space
from dse.explore.space.space import SpaceOptions
from dse.flows.actor_loads import heaviest_load
from dse.flows.bench import Bench
from dse.flows.measure import compare_on_bench, drawn_points, measure_mappings
from dse.flows.measure_files import measured_document, write_measured
from dse.flows.measure_journal import EARLIER, RUNS, UNDER_WAY, WEIGHTS, FolderJournal
from dse.flows.measure_options import MeasureOptions
from dse.flows.measure_points import MeasureSettings, cannot_run, measure_on_bench
from dse.flows.profile import ProfileSettings, profile_on_bench, split_point
from dse.formats.weights_folder import read_weights, write_weights_folder
from dse.formats.xcf import read_xcf
from dse.formats.xcf_write import write_xcf
from dse.measure.machine import MachineMoment
from dse.measure.platform import this_machine
from dse.measure.runs import RunOrder, RunRecord
from dse.model.design_point import DesignPoint, Partition, Policy
from dse.model.weights import Cost, WeightTable
from dse.run.options import RunOptions
from tests.unit.flows.made_up_bench import made_up_bench
from tests.unit.measure.networks import FACTS, chain

OPTIONS = MeasureOptions(
    program="chain.xdf",
    sample=100,
    engine="compiled",
    profile=ProfileSettings(runs=2, calibrate=1),
    settings=MeasureSettings(rounds=4),
)
HERE = this_machine(FACTS, 2)


def test_all_mappings_beside_their_estimates(tmp_path: Path) -> None:
    measured = compare_on_bench(made_up_bench(tmp_path, rounds=60), OPTIONS, (None,))
    (found,) = measured.comparisons
    assert found.state == "near"
    assert len(found.pairs) == 4
    assert [pair.prediction.scored for pair in found.pairs].count(False) == 1
    assert found.estimated.candidates == 3
    assert found.estimated.regret_first == 0.0
    # The program is made up of loads alone; a pipeline that waits for its first block takes a little longer.
    assert found.estimated.relative.maximum < 0.02
    assert not found.noisy
    assert len(measured.session.runs) == 16


def test_a_state_that_comes_later_is_calibrated_too(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=60)
    original, made = bench.program.run, []

    def run(order):
        if order.mapping is not None and order.mapping.stem.startswith("candidate-"):
            made.append(order)
        far = len(made) > 6  # in the second of four rounds
        bench.program.trip_ns = 400.0 if far else 90.0
        return original(order)

    bench.program.run = run
    measured = compare_on_bench(bench, OPTIONS, (None,))
    assert [comparison.state for comparison in measured.comparisons] == ["far", "near"]
    ((_, profile),) = measured.profiles
    assert {(state.state, state.calibrations) for state in profile.states} == {("near", 2), ("far", 2)}
    tables = {state.state: state.table for state in profile.states}
    assert tables["far"].arrival.cycles > 4 * tables["near"].arrival.cycles
    assert dict(tables["far"].manifest)["core distance"] == "far"
    assert not any("calibrated" in warning or "left out" in warning for warning in measured.warnings)


def test_weights_that_do_not_fit_are_told_with_what_helps_here(tmp_path: Path) -> None:
    nominal = replace(OPTIONS, weights=("nominal",))
    with pytest.raises(OptionError, match="no clock can confirm"):
        compare_on_bench(made_up_bench(tmp_path), nominal, (None,))
    other = WeightTable(name="other", compute={("nobody", "acts", "cpu"): Cost(mean_cycles=Fraction(1))})
    write_weights_folder(other, str(tmp_path / "other"))
    with pytest.raises(FormatError) as raised:
        compare_on_bench(made_up_bench(tmp_path), replace(OPTIONS, weights=(str(tmp_path / "other"),)), (None,))
    last = raised.value.diagnostics[-1]
    assert "no " in last.message
    assert last.expected.startswith("give weights that were measured for this network")


def test_one_core_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.flows.measure_options.usable_cores", lambda: (0,))
    with pytest.raises(OptionError, match="one core is all that dse may use here"):
        measure_mappings(OPTIONS)


def test_documents_and_files(tmp_path: Path) -> None:
    options = replace(OPTIONS, buffers=(256, 512))
    measured = compare_on_bench(made_up_bench(tmp_path, rounds=40), options, (None,))
    document = measured_document(measured)
    assert {"pairs", "max_divergence", "mean_divergence", "spearman", "kendall", "regret"} <= set(document)
    assert document["state"] == "near"
    assert len(document["pairs"]) == 8
    assert document["pairs"][0]["name"].endswith("256 tokens")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scatter-far.svg").write_text("of an earlier measurement")
    written = write_measured(measured, tmp_path / "out")
    assert {path for path in (tmp_path / "out").rglob("*") if path.is_file()} == set(written)
    first = ["measured.json", "runs.tsv", "scatter-near.svg", "scatter-near.png"]
    assert [path.name for path in written if path.parent == tmp_path / "out"] == first
    kept = [read_weights([str(tmp_path / "out" / "weights" / name)]) for name in ("256-tokens", "512-tokens")]
    assert [table.compute for table in kept] == [profile.table.compute for _, profile in measured.profiles]
    assert json.loads((tmp_path / "out" / "measured.json").read_text()) == document
    assert "512 tokens" in (tmp_path / "out" / "scatter-near.svg").read_text()
    assert len((tmp_path / "out" / "runs.tsv").read_text().splitlines()) == 1 + 8 * 4


def interrupted_bench(tmp_path: Path, after: int, stop: BaseException) -> Bench:
    """A bench whose program is stopped behind so many runs that are measured."""
    bench = made_up_bench(tmp_path, rounds=40)
    original, made = bench.program.run, []

    def run(order: RunOrder) -> RunRecord:
        if order.mapping is not None and order.mapping.stem.startswith("candidate-"):
            made.append(order)
            if len(made) > after:
                raise stop
        return original(order)

    bench.program.run = run
    return bench


def test_an_interrupt_compares_what_was_measured_until_then(tmp_path: Path) -> None:
    bench, options = interrupted_bench(tmp_path, 10, KeyboardInterrupt()), replace(OPTIONS, timeline=True)
    journal = FolderJournal(lambda network: tmp_path / network)
    measured = compare_on_bench(bench, options, (None,), journal=journal)
    assert measured.session.interrupted
    assert (len(measured.session.runs), measured.session.rounds) == (10, 2)
    assert sum(pair.measured.count for pair in measured.comparisons[0].pairs) == 10
    assert measured.timelines == ()
    assert measured_document(measured)["interrupted"]
    folder = tmp_path / "chain" / UNDER_WAY
    assert journal.place == folder
    assert len((folder / RUNS).read_text().splitlines()) == 11
    write_measured(measured, tmp_path / "chain")
    assert (folder / RUNS).read_text() == (tmp_path / "chain" / RUNS).read_text()
    kept = [read_weights([str(place / WEIGHTS)]).compute for place in (folder, tmp_path / "chain")]
    assert kept[0] == kept[1]
    journal.remove()
    assert not folder.exists()


def test_an_interrupt_before_the_first_run_leaves_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        compare_on_bench(interrupted_bench(tmp_path, 0, KeyboardInterrupt()), OPTIONS, (None,))


def test_weights_are_kept_before_the_next_input_is_profiled(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    original = bench.program.run

    def run(order: RunOrder) -> RunRecord:
        if order.input == "b":
            raise KeyboardInterrupt
        return original(order)

    bench.program.run = run
    journal = FolderJournal(lambda _network: tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        compare_on_bench(bench, OPTIONS, ("a", "b"), journal=journal)
    assert read_weights([str(tmp_path / "out" / UNDER_WAY / WEIGHTS / "a")]).arrival is not None


def test_what_was_measured_before_a_run_fails_is_kept(tmp_path: Path) -> None:
    journal = FolderJournal(lambda _network: tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "measured.json").write_text("of an earlier measurement")
    with pytest.raises(ExecutionError, match="crashed"), closing(journal):
        compare_on_bench(
            interrupted_bench(tmp_path, 5, ExecutionError("it crashed")), OPTIONS, (None,), journal=journal
        )
    folder = tmp_path / "out" / UNDER_WAY
    assert len((folder / RUNS).read_text().splitlines()) == 6
    assert read_weights([str(folder / WEIGHTS)]).arrival is not None
    assert (tmp_path / "out" / "measured.json").read_text() == "of an earlier measurement"
    (folder / "mine").write_text("kept by the user")
    again = FolderJournal(lambda _network: tmp_path / "out")
    measured = compare_on_bench(made_up_bench(tmp_path, rounds=40), OPTIONS, (None,), journal=again)
    assert len((folder / RUNS).read_text().splitlines()) == 1 + len(measured.session.runs)
    again.remove()
    assert [path.name for path in folder.iterdir()] == ["mine"]
    assert again.earlier == tmp_path / "out" / EARLIER
    assert len((again.earlier / RUNS).read_text().splitlines()) == 6
    assert read_weights([str(again.earlier / WEIGHTS)]).arrival is not None


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("no folder")
    journal = FolderJournal(lambda _network: tmp_path / "out")
    with pytest.raises(ExecutionError, match=r"cannot write '.*out/under-way'"):
        compare_on_bench(made_up_bench(tmp_path, rounds=40), OPTIONS, (None,), journal=journal)
    assert journal.place is None


def test_inputs_are_profiled_and_measured_each(tmp_path: Path) -> None:
    measured = compare_on_bench(made_up_bench(tmp_path, rounds=40), replace(OPTIONS, top=1, sample=None), ("a", "b"))
    assert len(measured.profiles) == 2
    names = [pair.prediction.name for pair in measured.comparisons[0].pairs]
    assert [name.rsplit(" ", 1)[1] for name in names] == ["a", "b"]
    assert measured.comparisons[0].by_first.maximum < 0.02


def test_the_best_by_estimate(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    every = compare_on_bench(bench, OPTIONS, (None,)).comparisons[0]
    best = compare_on_bench(made_up_bench(tmp_path, rounds=40), replace(OPTIONS, sample=None, top=2), (None,))
    ranked = sorted(every.pairs, key=lambda pair: pair.prediction.estimated_ns)
    assert {p.prediction.name for p in best.comparisons[0].pairs} == {p.prediction.name for p in ranked[:2]}


def test_weights_that_are_given_are_not_measured(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    found = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=1, calibrate=1))
    write_weights_folder(found.table, str(tmp_path / "weights"))
    bench.program.orders.clear()
    measured = compare_on_bench(bench, replace(OPTIONS, weights=(str(tmp_path / "weights"),)), (None,))
    assert measured.profiles == ()
    assert not any(order.timed for order in bench.program.orders)
    assert measured.comparisons[0].estimated.candidates == 4  # nothing was calibrated here
    assert measured.comparisons[0].estimated.relative.maximum < 0.02


def test_mapping_files_keep_their_sizes(tmp_path: Path) -> None:
    point = split_point(chain(), (0, 0, 1), (64, 128))
    write_xcf(point, chain(), str(tmp_path / "mine.xcf"), platform=HERE)
    bench = made_up_bench(tmp_path, rounds=40)
    options = replace(OPTIONS, sample=None, mappings=(str(tmp_path / "mine.xcf"),))
    measured = compare_on_bench(bench, options, (None,))
    assert [p.prediction.name for p in measured.comparisons[0].pairs] == ["mine"]
    assert 'size="64"' in (tmp_path / "candidate-0.xcf").read_text()


def test_what_this_machine_cannot_run_is_named(tmp_path: Path) -> None:
    three = split_point(chain(), (0, 1, 2), (512, 512))
    assert cannot_run(three, HERE, 2) == "it needs 3 cores, this machine has 2"
    gpu = DesignPoint(partitions=(Partition(name="PG", actors=(0, 1, 2), unit="gpu"),), capacities=(512, 512))
    assert cannot_run(gpu, HERE, 2) == "partition PG is on 'gpu', which is no CPU"
    two = split_point(chain(), (0, 1, 0), (512, 512))
    found = measure_on_bench(made_up_bench(tmp_path), HERE, [three, two], RunOptions(), MeasureSettings(rounds=3))
    assert found[0].skipped
    assert not found[0].times
    (times,) = found[1].times
    assert (times.state, times.runs) == ("near", 3)
    assert times.lower_ns <= times.median_ns <= times.upper_ns


def test_a_point_that_fails_is_skipped_with_the_reason(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path)
    original = bench.program.run

    def run(order):
        if order.mapping is not None:
            raise ExecutionError("the native program crashed: SIGSEGV in 'filter'")
        return original(order)

    bench.program.run = run
    (found,) = measure_on_bench(
        bench, HERE, [split_point(chain(), (0, 1, 0), (512, 512))], RunOptions(), MeasureSettings()
    )
    assert found.skipped == "the native program crashed: SIGSEGV in 'filter'"


def test_times_of_points_are_whole_or_left_out(tmp_path: Path) -> None:
    bench, made = made_up_bench(tmp_path), []
    original = bench.program.run

    def run(order: RunOrder) -> RunRecord:
        made.append(order)
        if len(made) > 5:  # two on one core, one that is tried, two that are measured
            raise KeyboardInterrupt
        return original(order)

    bench.program.run = run
    two = split_point(chain(), (0, 1, 0), (512, 512))
    with pytest.raises(KeyboardInterrupt):
        measure_on_bench(bench, HERE, [two], RunOptions(), MeasureSettings(rounds=9))
    assert len(made) == 6


def test_a_wrong_result_is_not_compared(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    original = bench.program.run

    def run(order):
        record = original(order)
        wrong = order.mapping is not None and "candidate-1" in str(order.mapping)
        return replace(record, result="other") if wrong else record

    bench.program.run = run
    measured = compare_on_bench(bench, OPTIONS, (None,))
    assert len(measured.session.wrong) == 1
    assert measured.comparisons[0].left_out == 1


def test_it_has_to_be_clear_what_is_measured() -> None:
    with pytest.raises(OptionError, match="not clear"):
        measure_mappings(replace(OPTIONS, top=3))
    with pytest.raises(OptionError, match="--sample 0"):
        measure_mappings(replace(OPTIONS, sample=0))


def test_mappings_are_read_before_anything_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        pytest.fail("something is built")

    monkeypatch.setattr("dse.flows.measure.open_bench", build)
    monkeypatch.setattr("dse.flows.measure_options.usable_cores", lambda: (0, 1))
    network = str(Path(__file__).parents[3] / "actors" / "pingpong" / "pingpong.xdf")
    with pytest.raises(FormatError, match="nobody"):
        measure_mappings(replace(OPTIONS, program=network, sample=None, mappings=("P0:nobody P1:*",)))


def test_folders_of_mappings(tmp_path: Path) -> None:
    for name in ("b.xcf", "a.xcf", "c.txt"):
        (tmp_path / name).touch()
    assert mapping_files([str(tmp_path)]) == [str(tmp_path / "a.xcf"), str(tmp_path / "b.xcf")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match="holds no mapping"):
        mapping_files([str(tmp_path / "empty")])


def test_drawn_points_are_different_and_the_same_for_a_seed() -> None:
    space = build_space(chain(), HERE, SpaceOptions(capacities=((512, 512),)))
    drawn = drawn_points(space, 3, np.random.default_rng(1))
    assert len({point.digest() for point in drawn}) == 3
    assert drawn == drawn_points(space, 3, np.random.default_rng(1))
    assert len(drawn_points(space, 99, np.random.default_rng(1))) == 4


def test_values_that_differ_are_found_before_anything_is_measured(tmp_path: Path) -> None:
    """As many tokens as on one core, but not the same ones: only their hashes tell."""
    bench = made_up_bench(tmp_path, rounds=40)
    original = bench.program.run

    def run(order):
        apart = order.mapping is not None and len(read_xcf(str(order.mapping), chain(), HERE).partitions) > 1
        return replace(original(order), result="other values" if order.hashed and apart else "same")

    bench.program.run = run
    measured = compare_on_bench(bench, OPTIONS, (None,))
    assert [why for _, why in measured.skipped] == ["its result is not that of one core"] * 3
    assert len(measured.comparisons[0].pairs) == 1
    two = split_point(chain(), (0, 1, 0), (512, 512))
    bench.program.run = lambda order: replace(
        original(order), result="other values" if order.hashed and order.mapping else "same"
    )
    (found,) = measure_on_bench(bench, HERE, [two], RunOptions(), MeasureSettings(rounds=3))
    assert found.skipped == "its result is not that of one core"


def test_a_mapping_that_fails_does_not_end_the_measurement(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    original = bench.program.run
    tried = []

    def run(order):
        if order.mapping is not None and order.mapping.stem == "tried":
            tried.append(order)
            if len(tried) == 2:
                raise ExecutionError("the native program crashed: SIGSEGV in 'filter'")
        return original(order)

    bench.program.run = run
    measured = compare_on_bench(bench, OPTIONS, (None,))
    ((_, why),) = measured.skipped
    assert why == "the native program crashed: SIGSEGV in 'filter'"
    assert len(measured.comparisons[0].pairs) == 3


def test_the_document_says_what_made_it(tmp_path: Path) -> None:
    options = replace(OPTIONS, run=RunOptions(loops=7))
    measured = compare_on_bench(made_up_bench(tmp_path, rounds=40), options, ("a", "b"))
    made = measured_document(measured)["made"]
    assert {"where", "when", "tool", "compiler", "flags", "counter", "machine at the start"} <= made.keys()
    assert (made["input 1"], made["input 2"], made["options"]) == ("a", "b", "-l 7")
    assert made["runs"] == "up to 4 of each mapping, in random order by seed 1"
    assert made["weights"].startswith("measured here, 2 profiles")


def test_weights_of_another_state_are_no_secret(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    found = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=1, calibrate=1))
    write_weights_folder(found.table, str(tmp_path / "weights"))
    bench.program.trip_ns = 400.0
    measured = compare_on_bench(bench, replace(OPTIONS, weights=(str(tmp_path / "weights"),)), (None,))
    assert measured.comparisons[0].state == "far"
    assert "cores far: the weights were calibrated while they were near" in measured.warnings


def test_a_machine_that_is_busy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = MachineMoment(load=3.0, stolen_s=None, busy_s=None, mhz=())
    monkeypatch.setattr("dse.flows.measure.machine_moment", lambda: busy)
    bench = made_up_bench(tmp_path, rounds=40)
    found = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=1, calibrate=1))
    write_weights_folder(found.table, str(tmp_path / "weights"))
    measured = compare_on_bench(bench, replace(OPTIONS, weights=(str(tmp_path / "weights"),)), (None,))
    assert "the load was 3.00 at the start: others use the cores" in measured.warnings


def test_cores_that_others_share_are_told(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    found = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=2, calibrate=1))
    assert not any("share them" in warning for warning in found.warnings)
    bench.program.work_ns = (1.0, 1.0, 1.0, 1.9)
    shared = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=2, calibrate=1))
    assert any("up to 1.9 times as long, in " in warning for warning in shared.warnings)
    write_weights_folder(found.table, str(tmp_path / "weights"))
    measured = compare_on_bench(bench, replace(OPTIONS, weights=(str(tmp_path / "weights"),)), (None,))
    assert any("up to 1.9 times as long, in " in warning for warning in measured.warnings)


def test_what_is_wrong_with_options_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dse.flows.measure_options.usable_cores", lambda: (0, 1))
    bench = made_up_bench(tmp_path)
    (tmp_path / "broken.xcf").write_text("<configuration>")
    options = replace(OPTIONS, sample=None, mappings=(str(tmp_path / "broken.xcf"),))
    with pytest.raises(DseError):
        compare_on_bench(bench, options, (None,))
    assert bench.program.orders == []
    with pytest.raises(OptionError, match="engine"):
        measure_mappings(replace(OPTIONS, engine="steam"))


def test_the_heaviest_load_of_several_cores() -> None:
    def load(policy: Policy, cores: int) -> float:
        partition = Partition(name="P", actors=(0, 1, 2), unit="cpu", policy=policy, cores=cores)
        return heaviest_load(DesignPoint(partitions=(partition,), capacities=(512, 512)), [3.0, 8.0, 4.0])

    assert load("NON_PREEMPTIVE", 1) == 15.0
    assert load("NON_PREEMPTIVE", 2) == 8.0  # one actor is on one core at a time
    assert load("FULL_PARALLEL", 1) == 8.0


def test_weights_by_which_nothing_takes_time_are_refused(tmp_path: Path) -> None:
    bench = made_up_bench(tmp_path, rounds=40)
    table = profile_on_bench(bench, RunOptions(), ProfileSettings(runs=1, calibrate=1)).table
    nothing = Cost(mean_cycles=Fraction(0), frequency_mhz=Fraction(2000))
    assert all(cost.frequency_mhz == nothing.frequency_mhz for cost in table.compute.values())
    free = replace(table, compute=dict.fromkeys(table.compute, nothing))
    all_free = replace(
        free,
        scheduling=dict.fromkeys(table.scheduling, nothing),
        transfers=dict.fromkeys(table.transfers, nothing),
    )
    for k, given in enumerate((free, all_free)):
        folder = str(tmp_path / f"weights{k}")
        write_weights_folder(given, folder)
        with pytest.raises(OptionError, match=r"takes time to compute|is no time"):
            compare_on_bench(bench, replace(OPTIONS, weights=(folder,)), (None,))
