"""What a search measures on this machine: when, what is kept, what is said where it cannot. The profile is a fake."""

import contextlib
import functools
import json
import os
import pkgutil
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

import dse
from dse.base.errors import BuildError, DseError, ExecutionError, FormatError, OptionError
from dse.base.time_limit import TimeSpent
from dse.cli.main import main
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.explore.evaluator import Budget
from dse.flows import measured as module
from dse.flows.explore import explore
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.refine import Refined, refine
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.store import STORE_NAME
from dse.flows.study_options import read_study_options
from dse.formats.weights_folder import read_weights
from dse.measure.machine import RoundTrip
from dse.model.design_point import DesignPoint
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.model.platform import Platform, Unit
from dse.model.weights import WeightTable
from dse.native.toolchain import Compiler
from dse.passes.analyses.nominal import nominal_weights
from dse.program.network import Network

ACTORS = Path(__file__).resolve().parents[3] / "actors"
PINGPONG = str(ACTORS / "pingpong" / "pingpong.xdf")


@dataclass
class Machine:
    """A machine that is a fake: what it is, what its profiles give, and what was asked of it."""

    cores: tuple[int, ...] = (0, 1)
    compiler: str = "g++"
    slower: Fraction = Fraction(1)
    refusal: BaseException | None = None
    missing: DseError | None = None
    profiles: list[Any] = field(default_factory=list)
    runs: list[tuple[DesignPoint, ...]] = field(default_factory=list)
    crossing: Callable[[int], int] = lambda _: 400
    heavy: Callable[[int], tuple[str, ...]] = lambda _: ()

    def profile(self, network: Network, run: Any, settings: Any, stage: Callable[[str], None]) -> Any:
        """Stand for ``profile_program``: what crossing costs depends on how many mappings calibrate."""
        self.profiles.append((run, settings))
        stage("profiling: run 1 of 1")
        if isinstance(self.refusal, TimeSpent):
            time.sleep(0.5)  # longer than all else takes
        if self.refusal is not None:
            raise self.refusal
        clock = Fraction("2000.125")
        source = f"{module.cpu_model()}, the rate of its counter as measured"
        unit = Unit(name="cpu", kind="cpu", cores=len(self.cores), clock_mhz=clock, source=source)
        platform = Platform(name="this machine", units=(unit,))
        return SimpleNamespace(
            table=self.table(network, platform, len(settings.in_place)),
            platform=platform,
            trips=(RoundTrip(cores=(0, 1), before_ns=300.0, after_ns=310.0),),
            closure=SimpleNamespace(error=0.004),
            warnings=("the load was 2.00 at the start: others use the cores",),
            seconds=1.25,
        )

    def table(self, network: Network, platform: Platform, mappings: int) -> WeightTable:
        """Return counted weights as if they were measured."""
        counted = nominal_weights(network, platform, ())

        def cost(of: Any, extra: int = 0) -> Any:
            return replace(of, mean_cycles=of.mean_cycles * self.slower + extra, origin="measured")

        crossing, heavy = self.crossing(mappings), self.heavy(mappings)
        return replace(
            counted,
            compute={k: cost(c, 50_000 * any(name in k for name in heavy)) for k, c in counted.compute.items()},
            scheduling={k: cost(c) for k, c in counted.scheduling.items()},
            transfers={k: cost(c, crossing if k[4] == "cpu_cpu" else 0) for k, c in counted.transfers.items()},
            manifest=(("how", "measured by a fake"), ("core distance", "far")),
        )

    def measure(self, network: Network, platform: Any, points: Any, run: Any, settings: Any, stage: Any) -> Any:
        """Stand for ``measure_points``: a mapping takes as many microseconds as it has partitions."""
        self.runs.append(tuple(points))
        stage("measuring: run 1 of 1")
        if self.refusal is not None:
            raise self.refusal
        return tuple(self.point(point) for point in points)

    def point(self, point: DesignPoint) -> MeasuredPoint:
        """Return the times of one mapping."""
        if len(point.partitions) > len(self.cores):
            return MeasuredPoint(skipped=f"it needs {len(point.partitions)} cores, this machine has {len(self.cores)}")
        ns = 1000.0 * len(point.partitions)
        return MeasuredPoint(times=(StateTimes(state="far", median_ns=ns, lower_ns=ns, upper_ns=ns, runs=7),))

    def find(self) -> Compiler:
        """Stand for ``find_compiler``."""
        if self.missing is not None:
            raise self.missing
        return Compiler(command=(self.compiler,))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine()
    monkeypatch.setattr(module, "profile_program", found.profile)
    monkeypatch.setattr("dse.flows.run_best.measure_points", found.measure)
    monkeypatch.setattr(module, "find_compiler", found.find)
    for user in ("measured", "refine", "run_best"):
        monkeypatch.setattr(f"dse.flows.{user}.usable_cores", lambda: found.cores)
    return found


def options(out: Path, **changes: Any) -> ExploreOptions:
    """A small search; changes of the problem are told by the names of its options."""
    problem = {k: changes.pop(k) for k in list(changes) if k in ProblemOptions.__dataclass_fields__}
    program = problem.pop("program", PINGPONG)
    chosen = {"budget": Budget(evaluations=6), "workers": 1, "out": out} | changes
    return ExploreOptions(problem=ProblemOptions(program=program, engine="reference", **problem), **chosen)


def ranking(out: Path) -> Any:
    return json.loads((out / "ranking.json").read_text())


# Weights --------------------------------------------------------------------------------------------------------------


def test_weights_are_measured_once_and_kept(machine: Machine, tmp_path: Path) -> None:
    first = explore(options(tmp_path))
    text = (tmp_path / "ranking.json").read_text()
    again = explore(options(tmp_path))
    assert len(machine.profiles) == 1
    assert (tmp_path / "ranking.json").read_text() == text
    assert again.setting.problem.weights == first.setting.problem.weights
    assert again.setting.platform == first.setting.platform
    unit = first.setting.platform.units[0]
    assert (unit.cores, unit.clock_mhz) == (2, Fraction("2000.125"))
    assert "a cache line goes from core to core and back in 300 to 310 ns" in unit.source
    kept = read_weights([str(tmp_path / "weights")])
    assert kept.compute == first.setting.problem.weights.compute
    assert set(ranking(tmp_path)["assumed"]) >= {
        "CPU weights measured on this machine while its cores were far (kept in weights)",
        "platform this machine (2 x cpu 2000.12 MHz)",
    }
    assert first.setting.notes == (
        "measured the weights in 1.2 s; their sum is +0.4 % off a run that is not timed",
        "measuring: the load was 2.00 at the start: others use the cores",
    )
    assert again.setting.notes == ()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["weights how"] == "measured by a fake"
    assert {key for key in manifest if key.startswith("weights measured for ")} >= {
        f"weights measured for {what}" for what in ("network", "input", "machine", "compiler", "platform")
    }


def test_the_study_file_leads_to_the_weights_that_were_measured(machine: Machine, tmp_path: Path) -> None:
    first, second, third = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    explore(options(first))
    assert "weights: {measured: .}" in (first / "study.yaml").read_text()
    machine.slower = Fraction(3)  # another machine: nothing is to be measured on it
    for before, out in ((first, second), (second, third), (third, third)):
        given = read_study_options(str(before / "study.yaml"))
        explore(replace(given, out=out, workers=1))
        assert (out / "ranking.json").read_bytes() == (first / "ranking.json").read_bytes()
    assert len(machine.profiles) == 1
    assert read_weights([str(third / "weights")]).compute == read_weights([str(first / "weights")]).compute
    shutil.rmtree(first / "weights")
    with pytest.raises(OptionError, match="no measured weights are kept in"):
        explore(replace(read_study_options(str(first / "study.yaml")), out=tmp_path / "d", workers=1))


def test_the_study_file_says_where_nothing_could_be_measured(machine: Machine, tmp_path: Path) -> None:
    machine.missing = BuildError("there is no compiler")
    machine.refusal = BuildError("there is no compiler")
    explore(options(tmp_path / "a"))
    machine.refusal = None  # now there is one
    given = read_study_options(str(tmp_path / "a" / "study.yaml"))
    explore(replace(given, out=tmp_path / "b", workers=1))
    assert (tmp_path / "b" / "ranking.json").read_bytes() == (tmp_path / "a" / "ranking.json").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        {"weights": ("nominal",)},
        {"platform": "default"},
        {"missing_weights": "nominal"},
        {"missing_weights": "zero"},
    ],
    ids=str,
)
def test_nothing_is_measured_where_the_user_says_otherwise(
    machine: Machine, tmp_path: Path, given: dict[str, Any]
) -> None:
    explored = explore(options(tmp_path, **given))
    assert machine.profiles == []
    assert explored.setting.notes == ()
    assert not (tmp_path / "weights").exists()


def test_a_network_of_other_sources_is_measured_anew(machine: Machine, tmp_path: Path) -> None:
    shutil.copytree(ACTORS / "pingpong", tmp_path / "pingpong")
    program, out = str(tmp_path / "pingpong" / "pingpong.xdf"), tmp_path / "out"
    explore(options(out))
    explore(options(out, program=program))  # the same in another place
    assert len(machine.profiles) == 1
    source = next((tmp_path / "pingpong").rglob("*.cal"))
    source.write_text(source.read_text() + "\n// a remark\n")
    explored = explore(options(out, program=program))
    assert len(machine.profiles) == 2
    why = "the weights in the folder were measured for another network: they were moved to weights-previous-2"
    assert explored.setting.notes[0] == why
    assert (out / "weights-previous-2" / "weights").is_dir()
    assert (out / "weights-previous-2" / "platform.yaml").is_file()
    assert (out / "study-previous-2.sqlite").is_file()  # the study that they belong to


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda machine: setattr(machine, "compiler", "clang++"), "compiler"),
        (lambda machine: setattr(machine, "cores", (0, 1, 2)), "machine"),
    ],
    ids=["compiler", "machine"],
)
def test_another_machine_or_compiler_measures_anew_but_a_study_goes_on(
    machine: Machine, tmp_path: Path, change: Callable[[Machine], None], what: str
) -> None:
    explore(options(tmp_path))
    before = ranking(tmp_path)
    change(machine)
    again = explore(options(tmp_path, resume=True, budget=Budget(evaluations=7)))
    assert len(machine.profiles) == 1  # what a study was begun with it goes on with
    assert again.study.evaluations >= before["evaluations"]
    assert ranking(tmp_path)["best"]["makespan"] == before["best"]["makespan"]
    fresh = explore(options(tmp_path))
    assert len(machine.profiles) == 2
    assert f"for another {what}:" in fresh.setting.notes[0]


def test_the_firings_are_part_of_what_is_measured(machine: Machine, tmp_path: Path) -> None:
    explore(options(tmp_path))
    problem = options(tmp_path).problem
    explore(replace(options(tmp_path), problem=replace(problem, run=replace(problem.run, max_firings=10))))
    assert len(machine.profiles) == 2
    run, _ = machine.profiles[1]
    assert run.max_firings == 10


def test_without_a_compiler_one_line_says_what_is_missing(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.refusal = machine.missing = BuildError("there is no C++ compiler", expected="install g++")
    words = ["explore", PINGPONG, "--engine", "reference", "--budget", "4", "--out", str(tmp_path)]
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()
    assert told.count("not measured: there is no C++ compiler; install g++") == 1
    assert any("nominal CPU weights" in line for line in told)
    assert not (tmp_path / "weights").exists()
    assert main([*words, "--json", "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_whoever_waits_for_the_profile_is_told(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explore", PINGPONG, "--engine", "reference", "--budget", "4", "--out", str(tmp_path)]
    notice = "measuring what the actions cost on this machine, once for this folder\n"
    for count in (1, 0):
        assert main(words) == 0
        assert capsys.readouterr().err.count(notice) == count


def test_a_study_without_measured_weights_goes_on_without_where_a_compiler_appears(
    machine: Machine, tmp_path: Path
) -> None:
    machine.refusal = BuildError("there is no C++ compiler")
    explore(options(tmp_path))
    machine.refusal = None
    explored = explore(options(tmp_path, resume=True, budget=Budget(evaluations=7)))
    assert any("nominal" in text for text in explored.study.assumed)
    assert len(machine.profiles) == 1  # the one that was refused


def test_kept_weights_need_no_compiler(machine: Machine, tmp_path: Path) -> None:
    explore(options(tmp_path))
    machine.refusal = machine.missing = BuildError("there is no C++ compiler")
    again = explore(options(tmp_path))
    assert again.setting.notes == ()
    assert any("measured on this machine" in text for text in again.study.assumed)


@pytest.mark.parametrize(
    "error",
    [
        NoNativeForm("a list of lists has no C++ form"),
        ExecutionError("the program crashed: SIGSEGV in 'Prod'\nand more"),
        OptionError("a native that is bound to Python cannot be called by a native program"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_whatever_prevents_measuring_is_said_and_the_search_goes_on(
    machine: Machine, tmp_path: Path, error: DseError
) -> None:
    machine.refusal = error
    explored = explore(options(tmp_path))
    (note,) = explored.setting.notes
    assert note == f"not measured: {' '.join(error.diagnostics[0].message.split())}"
    assert any("nominal" in text for text in explored.study.assumed)


def test_weights_of_another_network_do_not_stay_beside_a_search_without_measured_ones(
    machine: Machine, tmp_path: Path
) -> None:
    """Whoever continues the search would go on with them, not with those that it was begun with."""
    shutil.copytree(ACTORS / "pingpong", tmp_path / "pingpong")
    program, out = str(tmp_path / "pingpong" / "pingpong.xdf"), tmp_path / "out"
    explore(options(out, program=program))
    source = next((tmp_path / "pingpong").rglob("*.cal"))
    source.write_text(source.read_text() + "\n// a remark\n")
    machine.refusal = NoNativeForm("an actor has no C++ form")
    counted = explore(options(out, program=program))
    assert counted.setting.notes[0] == "not measured: an actor has no C++ form"
    assert "were measured for another network: they were moved to weights-previous" in counted.setting.notes[1]
    assert not (out / "weights").exists()
    continued = explore(options(out, program=program, resume=True))
    assert continued.setting.problem.weights == counted.setting.problem.weights


def test_one_core_cannot_tell_what_crossing_costs(machine: Machine, tmp_path: Path) -> None:
    machine.cores = (3,)
    explored = explore(options(tmp_path))
    assert machine.profiles == []
    assert explored.setting.notes[0].startswith("not measured: one core is all that dse may use here")


def test_more_cores_than_the_machine_has_are_allowed_and_said(machine: Machine, tmp_path: Path) -> None:
    explored = explore(options(tmp_path, partitions=(1, 3)))
    assert explored.setting.platform.units[0].cores == 3
    assert "3 cores, of which this machine has 2" in explored.study.assumed
    assert max(len(e.point.partitions) for e in explored.study.ranking) == 3


def test_the_time_of_a_budget_bounds_the_profile(machine: Machine, tmp_path: Path) -> None:
    machine.refusal = TimeSpent()
    with pytest.raises(OptionError, match="the budget ended before a mapping of the space was estimated") as ended:
        explore(options(tmp_path, budget=Budget(seconds=30.0)))
    assert "profiling took" in str(ended.value)
    assert not (tmp_path / STORE_NAME).exists()


@pytest.mark.parametrize(
    ("budget", "told"),
    [(Budget(seconds=9.0), True), (Budget(evaluations=9), False), (None, False)],
    ids=["seconds", "evaluations", "none"],
)
def test_what_comes_on_top_of_a_budget_is_said_once(
    machine: Machine, tmp_path: Path, budget: Budget | None, told: bool
) -> None:
    plans: list[SearchPlan] = []
    refine(options(tmp_path, budget=budget, measure=1, refine=2), Watcher(planned=plans.append))
    notes = [note for note in plans[0].notes if note.startswith("on top of the budget")]
    assert notes == (
        [
            "on top of the budget of 9 s: --measure runs mappings for up to about 60 s;"
            " --refine measures again and makes up to 2 more searches with the same budget"
        ]
        if told
        else []
    )
    assert len(plans) > 1
    assert not any("--refine" in note for plan in plans[1:] for note in plan.notes)


def test_wrong_options_are_refused_before_anything_is_measured(machine: Machine, tmp_path: Path) -> None:
    for wrong in ({"method": "exhaustiv"}, {"best": 0}, {"measure": 0}, {"refine": -1}, {"workers": 0}):
        with pytest.raises(OptionError):
            explore(options(tmp_path, **wrong))
    assert machine.profiles == []


# Run times ------------------------------------------------------------------------------------------------------------


def test_the_best_and_one_core_are_run(machine: Machine, tmp_path: Path) -> None:
    explored = explore(options(tmp_path, measure=2, partitions=(1, 3), budget=None))
    (points,) = machine.runs
    best = [e.point for e in explored.study.ranking[:2]]
    assert explored.study.baseline is not None
    assert set(points) == {*best, explored.study.baseline.point}
    assert len(points) == len(set(points))
    rows = ranking(tmp_path)["ranking"]
    assert [("measured" in row) for row in rows[:3]] == [True, True, False]
    assert ranking(tmp_path)["one_core_measured"]["times"][0]["median_ns"] == 1000.0
    assert "Estimated and measured" in (tmp_path / "report.html").read_text()


def test_measured_times_stand_in_the_table(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explore", PINGPONG, "--engine", "reference", "--partitions", "3", "--out", str(tmp_path)]
    assert main([*words, "--measure", "20"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "measured (far)" in told
    assert "1.000 us ±0.0 %" in told
    assert "on one core: " in told
    assert "(it needs 3 cores, this machine has 2)" in told
    assert "runs of 0.001 ms are too short to say much" in told
    assert "mappings (far cores) differ by " in told


def test_what_cannot_run_here_is_passed_over(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.cores = (1,)
    words = ["explore", PINGPONG, "--engine", "reference", "--weights", "nominal", "--out", str(tmp_path)]
    assert main([*words, "--budget", "40", "--method", "random", "--measure", "1"]) == 0
    rows = ranking(tmp_path)["ranking"]
    ran = [row for row in rows if row.get("measured", {}).get("times")]
    first = next(row for row in rows if row["partitions"] == 1)
    assert ran == [first]
    assert all("cores" in row["measured"]["not_measured"] for row in rows[: first["rank"] - 1])
    told = capsys.readouterr().out
    assert first["rank"] > 1
    assert "(it needs " in told


def test_an_interrupted_search_runs_and_draws_nothing(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was found is written, and one line says what is left out, and how to have it."""
    words = ["explore", PINGPONG, "--engine", "reference", "--budget", "6", "--out", str(tmp_path)]
    words += ["--robust", "--error", "measured=30%", "--draws", "3", "--measure", "1"]
    with monkeypatch.context() as patch:
        patch.setattr("dse.flows.search.study.make_method", Mock(side_effect=KeyboardInterrupt))
        assert main(words) == 130
    assert machine.runs == []
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "interrupted: weights were not drawn (--robust) and no mapping was run (--measure);"
        " the same command with --resume does that" in told
    )
    assert ranking(tmp_path)["stop"] == "interrupted"
    assert main([*words, "--resume"]) == 0
    assert len(machine.runs) == 1
    assert "robust" in ranking(tmp_path)
    machine.refusal = KeyboardInterrupt()  # while mappings run: the draws are there
    assert main([*words, "--resume"]) == 130
    told = " ".join(capsys.readouterr().out.split())
    assert "interrupted: no mapping was run (--measure); the same command" in told


def test_clocks_that_were_chosen_are_not_run(machine: Machine, tmp_path: Path) -> None:
    from dse.flows.options import ClockRequest

    clocks = (ClockRequest(names=("cpu",), clocks_mhz=(Fraction(2000), Fraction(1000))),)
    explored = explore(options(tmp_path, measure=3, clocks=clocks))
    assert explored.measured is not None
    assert {point.skipped for _, point in explored.measured.ranked} == {"its clocks cannot be set here"}


def test_a_platform_of_another_machine_is_not_measured(machine: Machine, tmp_path: Path) -> None:
    other = explore(options(tmp_path / "a", measure=2, platform="big-little"))
    assert (machine.runs, other.measured) == ([], None)
    assert other.notes == ("not measured: the platform 'big-little' is not this machine",)
    explore(options(tmp_path / "b"))
    named = {"platform": str(tmp_path / "b" / "platform.yaml"), "weights": (str(tmp_path / "b" / "weights"),)}
    mine = explore(options(tmp_path / "c", measure=2, **named))
    assert mine.measured is not None
    nominal = explore(options(tmp_path / "d", measure=1, weights=("nominal",)))
    assert nominal.measured is not None


def test_a_failure_while_running_keeps_the_estimates(machine: Machine, tmp_path: Path) -> None:
    explore(options(tmp_path))
    machine.refusal = ExecutionError("the program crashed: SIGSEGV in 'Prod'")
    explored = explore(options(tmp_path, measure=2))
    assert explored.measured is None
    assert explored.notes == ("not measured: the program crashed: SIGSEGV in 'Prod'",)
    assert (tmp_path / "report.html").exists()


# Refinement -----------------------------------------------------------------------------------------------------------


def test_refining_measures_the_best_in_place_until_the_ranking_is_stable(machine: Machine, tmp_path: Path) -> None:
    machine.crossing = lambda mappings: 1 + mappings
    explored_first = explore(options(tmp_path / "first", budget=None))
    machine.profiles.clear()
    refined = refine(options(tmp_path, refine=5, budget=None))
    also = [settings.in_place for _, settings in machine.profiles]
    assert also[0] == ()
    assert [len(points) for points in also] == list(range(len(also)))
    first = refined.rounds[0]
    best = explored_first.study.ranking[0].point
    assert (first.digest, also[1][0]) == (best.digest(), best)
    assert refined.ended
    assert refined.rounds[-1].stable or "already" in refined.ended
    assert len(refined.rounds) < 5
    # the weights that are kept are those of the last round, and a rerun rests on them
    count = len(machine.profiles)
    again = explore(options(tmp_path, budget=None))
    assert len(machine.profiles) == count
    assert [e.digest for e in again.study.ranking] == [e.digest for e in refined.explored.study.ranking]


def test_refining_ends_after_so_many_rounds(machine: Machine, tmp_path: Path) -> None:
    machine.crossing = lambda mappings: 400 if mappings % 2 else 400_000
    refined = refine(options(tmp_path, refine=1, budget=None))
    assert len(refined.rounds) == 1
    assert (refined.ended, refined.rounds[0].stable) == ("", False)


def test_refining_needs_weights_of_the_search(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="only weights that the search measures itself can be refined"):
        refine(options(tmp_path, refine=1, weights=("nominal",)))
    graph = str(Path(__file__).resolve().parents[2] / "graphs" / "camera.xml")
    recorded = replace(options(tmp_path, refine=1), problem=ProblemOptions(program=graph))
    with pytest.raises(OptionError, match="a trace or a graph cannot be run"):
        refine(recorded)
    machine.refusal = BuildError("there is no C++ compiler")
    refined = refine(options(tmp_path, refine=1))
    assert (refined.rounds, refined.ended) == ((), "not measured: there is no C++ compiler")


def test_rounds_are_told(machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explore", PINGPONG, "--engine", "reference", "--refine", "2", "--out", str(tmp_path)]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "round 1: " in told
    assert "was measured in place" in told
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["refinements"][0]["unit"] == "ps"


@pytest.mark.usefixtures("machine")
def test_an_interrupt_while_a_mapping_is_measured_in_place_leaves_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dse.flows.refine.measured_again", Mock(side_effect=KeyboardInterrupt))
    refined = refine(options(tmp_path, refine=2))
    assert (refined.rounds, refined.ended) == ((), "the search was interrupted")
    assert refined.explored.study.stop == "interrupted", "so that the exit code tells"
    assert refined.explored.study.ranking
    assert refined.explored.delivery.ranking.exists()


ENOUGH = Budget(evaluations=16)
"""All mappings on two cores."""
HEAVY = (("CopyTokensA", "CopyTokensB"), ("PingPong", "CopyTokensA"), ())
"""Actors that are better apart in the first search, and in the second one: each has another best mapping."""
INTERRUPTED_AT = {
    "while round 1 is measured": ("dse.flows.measured.keep_weights", 2),
    "behind the new weights": ("dse.flows.refine.explore", 2),
    "when the study is moved aside": ("dse.flows.search.store.create_study", 2),
    "before the second search": ("dse.flows.search.study.search_context", 2),
    "in the second search": ("dse.explore.evaluator.Evaluator.evaluate", 6),
    "while round 2 is measured": ("dse.flows.measured.keep_weights", 3),
    "behind the weights of round 2": ("dse.flows.refine.explore", 3),
    "in the third search": ("dse.explore.evaluator.Evaluator.evaluate", 10),
}
"""What is interrupted when it is called so often."""
QUICK = ("behind the new weights", "in the third search")


@dataclass
class Interrupted:
    """A function that is interrupted once."""

    function: Callable[..., Any]
    call: int
    calls: int = 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function, unless this is the call that is interrupted."""
        self.calls += 1
        if self.calls == self.call:
            raise KeyboardInterrupt
        return self.function(*args, **named)


def told_rounds(refined: Refined) -> tuple[Any, ...]:
    """What has to be the same with and without an interrupt."""
    return refined.rounds, refined.ended, [e.digest for e in refined.explored.study.ranking]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Machine], tuple[tuple[Any, ...], int]]:
    """What a refined search gives when nothing disturbs it, and the number of its profiles."""

    @functools.cache
    def found() -> tuple[tuple[Any, ...], int]:
        refined = refine(options(tmp_path_factory.mktemp("undisturbed"), refine=2, budget=ENOUGH))
        assert len(refined.rounds) == 2
        return told_rounds(refined), 3

    return lambda _: found()


@pytest.mark.parametrize("where", INTERRUPTED_AT if "DSE_INTERRUPTS" in os.environ else QUICK)
def test_a_refined_search_goes_on_where_it_was_interrupted(
    where: str,
    machine: Machine,
    undisturbed: Callable[[Machine], tuple[tuple[Any, ...], int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine.heavy = lambda mappings: HEAVY[mappings]
    wanted, profiles = undisturbed(machine)
    machine.profiles.clear()
    name, call = INTERRUPTED_AT[where]
    place, attribute = name.rsplit(".", 1)
    with monkeypatch.context() as patch:
        function = Interrupted(pkgutil.resolve_name(place).__dict__[attribute], call)
        patch.setattr(name, lambda *args, **named: function(*args, **named))
        with contextlib.suppress(KeyboardInterrupt):  # before the search had anything to show
            assert refine(options(tmp_path, refine=2, budget=ENOUGH)).explored.study.stop == "interrupted"
        assert function.calls >= call
    found = refine(options(tmp_path, refine=2, budget=ENOUGH, resume=True))
    assert told_rounds(found) == wanted
    assert len(machine.profiles) == profiles + (attribute == "keep_weights"), "nothing that was kept is measured again"
    assert told_rounds(refine(options(tmp_path, refine=2, budget=ENOUGH, resume=True))) == wanted, (
        "there is nothing left to do"
    )


@pytest.mark.usefixtures("machine")
def test_another_search_is_not_taken_for_the_one_that_was_refined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = Interrupted(explore, 2)
    monkeypatch.setattr("dse.flows.refine.explore", lambda *args: function(*args))
    with pytest.raises(KeyboardInterrupt):
        refine(options(tmp_path, refine=1))
    with pytest.raises(OptionError, match="made from other inputs"):
        refine(options(tmp_path, refine=1, resume=True, seed=2))
    manifest = tmp_path / "weights" / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace('\\"past\\": []', '\\"past\\": 1'))
    with pytest.raises(FormatError, match="'measured for rounds' cannot be read: 'past' is of another kind"):
        refine(options(tmp_path, refine=1, resume=True))


def test_python_refines_and_leaves_a_study_file_that_is_true(machine: Machine, tmp_path: Path) -> None:
    machine.crossing = lambda mappings: 1 + mappings
    program = dse.load(PINGPONG, weights="measured", engine="reference", out=tmp_path / "kept")
    plain = program.explore(budget=6, workers=1, out=tmp_path / "plain")
    assert len(machine.profiles) == 1
    assert "weights: {measured: .}" in (tmp_path / "plain" / "study.yaml").read_text()
    again = explore(replace(read_study_options(str(tmp_path / "plain" / "study.yaml")), out=tmp_path / "b", workers=1))
    assert [e.digest for e in again.study.ranking] == [m.digest for m in plain.ranking]
    refined = program.explore(workers=1, refine=1, out=tmp_path / "refined")
    assert len(machine.profiles) == 2
    assert len(refined.rounds) == 1
    assert refined.best.makespan == refined.ranking[0].makespan, "estimated with the weights of the last round"
    assert read_weights([str(tmp_path / "kept" / "weights")]).compute == program.weights.compute
