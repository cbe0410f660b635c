"""Options as text, defaults with their words, weights and traces as the flows choose them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import DeadlockError, DseError, FormatError, InfeasibleDesign, OptionError
from dse.estimate.problem.build import build_tables
from dse.explore.evaluator import Budget
from dse.flows.capacities import default_capacities, given_capacities, read_capacities
from dse.flows.defaults import cpu_only_actors, default_budget
from dse.flows.estimate import ONE_CORE, estimate_mappings
from dse.flows.explore import explore
from dse.flows.manifest import origins_text, weights_digest
from dse.flows.options import (
    EstimateOptions,
    ExploreOptions,
    ProblemOptions,
    parse_budget,
    parse_partitions,
    parse_pin,
    parse_policies,
)
from dse.flows.program import load_program, record_trace
from dse.flows.search.plan import Watcher
from dse.flows.setting import load_setting
from dse.flows.weighing import choose_weights
from dse.formats.platform_yaml import load_platform
from dse.formats.trace_store import write_trace
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, WeightTable
from tests.unit.run.programs import network_of

ROOT = Path(__file__).resolve().parents[3]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")


def test_budgets_as_text() -> None:
    assert parse_budget("2000") == Budget(evaluations=2000)
    assert parse_budget("90s") == Budget(seconds=90)
    assert parse_budget("1.5m, 20") == Budget(evaluations=20, seconds=90)
    assert parse_budget("2h") == Budget(seconds=7200)
    for bad in ("", "x", "10 s", "5d", "0", "-3", "0s", "1,,2", "7,5", "5s,7s", "2,000"):
        with pytest.raises(OptionError):
            parse_budget(bad)


def test_other_options_as_text() -> None:
    assert parse_partitions("4") == (1, 4)
    assert parse_partitions("2-4") == (2, 4)
    assert parse_pin("decoder/display=cpu") == ("decoder/display", "cpu")
    assert parse_policies("round-robin,NON_PREEMPTIVE,ROUND_ROBIN") == ("ROUND_ROBIN", "NON_PREEMPTIVE")
    for parse, bad in ((parse_partitions, "2-"), (parse_pin, "=cpu"), (parse_pin, "a="), (parse_policies, "RANDOM")):
        with pytest.raises(OptionError):
            parse(bad)


def topology(capacities: tuple[int | None, ...], rate: int = 1) -> Topology:
    writer = TraceAction(name="w", reads=(), writes=(rate,) * len(capacities))
    reader = TraceAction(name="r", reads=(rate,) * len(capacities), writes=())
    ports = tuple(f"p{i}" for i in range(len(capacities)))
    actors = (
        TraceActor(name="a", class_name="A", inputs=(), outputs=ports, actions=(writer,)),
        TraceActor(name="b", class_name="B", inputs=ports, outputs=(), actions=(reader,)),
    )
    buffers = tuple(
        TraceBuffer(source=0, source_port=i, target=1, target_port=i, token_bytes=4, token_bits=32, capacity=c)
        for i, c in enumerate(capacities)
    )
    return Topology(name="net", actors=actors, buffers=buffers)


def test_default_capacities_say_what_they_assume() -> None:
    assert default_capacities(topology((None, None)), (1, 1)).tokens == (512, 512)
    mixed = default_capacities(topology((64, None, None)), (1, 1, 700))
    assert mixed.tokens == (64, 512, 700)
    assert mixed.assumed == ("a capacity of 512 tokens for 2 of 3 FIFOs (1 raised to what one firing needs)",)
    assert default_capacities(topology((64,)), (1,)).assumed == ()
    assert given_capacities("7", topology((64,))) == (7,)


def test_default_budget_is_a_number_of_evaluations() -> None:
    assert default_budget("reference", 10**9, 100).evaluations == 50
    assert default_budget("reference", 100_000, 10).evaluations == 100
    assert default_budget("compiled", 1, 1).evaluations == 5_000
    assert default_budget("compiled", 10_000, 12).evaluations == 12_000
    assert default_budget("compiled", 20_000, 200).evaluations == 25_000
    assert default_budget("compiled", 1_000, 200).evaluations == 60_000
    assert default_budget("reference", 100_000, 10).seconds is None


def trace_of(n: int = 3) -> Trace:
    return make_trace(topology((None,)), [np.zeros(n, dtype=np.int64)] * 2)


def table(**compute: int) -> WeightTable:
    costs = {("a" if k == "w" else "b", k, "cpu"): Cost(mean_cycles=Fraction(c)) for k, c in compute.items()}
    return WeightTable(name="t", compute=costs, has_scheduling=False, has_transfers=False)  # type: ignore[arg-type]


def test_actors_without_gpu_weights_stay_on_a_cpu() -> None:
    units = (Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu"))
    weights = table(w=1, r=2)
    weights.compute["b", "r", "gpu"] = Cost(mean_cycles=Fraction(1))
    problem = Problem(trace=trace_of(), weights=weights, platform=Platform(name="p", units=units))
    found = cpu_only_actors(build_tables(problem), None)
    assert found.actors == (0,)
    assert found.assumed == ("a on a CPU (no GPU weights)",)


def test_a_trace_can_be_estimated_with_weights_or_zero(tmp_path: Path) -> None:
    path = str(tmp_path / "t.trace")
    write_trace(trace_of(), path)
    with pytest.raises(OptionError, match="weights are needed"):
        load_setting(ProblemOptions(program=path))
    with pytest.raises(OptionError, match="takes no input"):
        load_setting(ProblemOptions(program=path, input=PINGPONG, missing_weights="zero"))
    estimated = estimate_mappings(EstimateOptions(problem=ProblemOptions(program=path, missing_weights="zero")))
    assert "all weights zero" in estimated.assumed
    assert estimated.mappings[0].estimate.makespan == 0
    assert "are the weights all zero?" in estimated.mappings[0].reasons.verdict


def test_a_trace_of_turnus_can_be_estimated() -> None:
    path = str(ROOT / "tests" / "golden" / "turnus" / "case_00" / "top.trace")
    options = ProblemOptions(program=path, missing_weights="zero")
    estimated = estimate_mappings(EstimateOptions(problem=options))
    (only,) = estimated.mappings
    assert sum(actor.firings for actor in only.estimate.actors) == estimated.setting.trace.n_firings > 0


def test_a_trace_without_firings_is_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "t.trace")
    write_trace(trace_of(0), path)
    with pytest.raises(DseError, match="nothing fires"):
        load_setting(ProblemOptions(program=path, missing_weights="zero"))


def test_weights_are_filled_as_asked() -> None:
    program, platform = load_program(PINGPONG), load_platform()
    trace, _ = record_trace(program, None)
    nominal, assumed = choose_weights(program, trace, platform, None, "error")
    assert assumed == ("nominal CPU weights (operation counts)",)
    some = dict(list(nominal.compute.items())[:2])
    given = WeightTable(name="g", compute=some, has_scheduling=False, has_transfers=False)
    free = ("no scheduling costs (no .sxdf in the weights)", "no communication costs (no .cxdf in the weights)")
    assert choose_weights(program, trace, platform, given, "error") == (given, free)
    assert choose_weights(program, trace, platform, nominal, "error") == (nominal, ())
    costs = [Fraction("0.4"), Fraction("1.5"), Fraction(3)]
    rough = {key: Cost(mean_cycles=n, origin="measured") for key, n in zip(nominal.compute, costs, strict=False)}
    _, assumed = choose_weights(program, trace, platform, replace(given, compute=rough), "error")
    said = "2 of 3 costs rounded to whole cycles, by up to 100 % (no clock to count in ps)"
    assert assumed == (*free, said)
    filled, assumed = choose_weights(program, trace, platform, given, "nominal")
    assert filled.compute == nominal.compute
    assert assumed == (f"nominal for {len(nominal.compute) - 2} missing weights", *free)
    zeros, assumed = choose_weights(program, trace, platform, given, "zero")
    assert {c.origin for k, c in zeros.compute.items() if k not in some} == {"zero"}
    assert assumed == (f"zero for {len(nominal.compute) - 2} missing weights", *free)


def test_digest_of_weights_is_of_the_numbers() -> None:
    first, second = table(w=1, r=2), table(r=2, w=1)
    assert weights_digest(first) == weights_digest(second) != weights_digest(table(w=1, r=3))
    assert origins_text(first) == "2 measured"


def test_platform_without_cpu_cannot_run_all_on_one_core(tmp_path: Path) -> None:
    path = tmp_path / "gpu.yaml"
    path.write_text("name: g\nunits:\n  gpu: {kind: gpu, clock_mhz: 1000}\n")
    options = EstimateOptions(problem=ProblemOptions(program=PINGPONG, platform=str(path)))
    with pytest.raises(InfeasibleDesign, match="no CPU unit"):
        estimate_mappings(options)


def test_engines_agree_through_the_flow() -> None:
    spans = set()
    for engine in ("reference", "compiled"):
        options = EstimateOptions(problem=ProblemOptions(program=PINGPONG, engine=engine))
        (only,) = estimate_mappings(options).mappings
        assert only.mapping == ONE_CORE
        spans.add(only.estimate.makespan)
    assert len(spans) == 1


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_engine_and_threads_change_no_result(tmp_path: Path, engine: str, workers: int) -> None:
    def run(folder: str, engine: str, workers: int) -> str:
        options = ExploreOptions(
            problem=ProblemOptions(program=PINGPONG, weights=("nominal",), engine=engine),
            method="local-search", seed=5, workers=workers,
            budget=Budget(evaluations=30), out=tmp_path / folder,
        )  # fmt: skip
        return explore(options).delivery.ranking.read_text()

    assert run("a", engine, workers) == run("b", "compiled", 1)


def test_the_watcher_hears_of_the_plan_and_the_progress(tmp_path: Path) -> None:
    heard: list[str] = []
    watcher = Watcher(
        planned=lambda plan: heard.append(plan.method),
        progress=lambda progress: heard.append(f"{progress.evaluations}"),
        stage=heard.append,
    )
    explored = explore(
        ExploreOptions(problem=ProblemOptions(program=PINGPONG, weights=("nominal",)), out=tmp_path), watcher
    )
    assert "exhaustive" in heard
    assert str(explored.study.evaluations) in heard
    assert explored.study.lower_bounds[0].makespan <= explored.study.ranking[0].makespan


def test_a_program_that_deadlocks_is_run_with_larger_fifos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer fills a FIFO before it writes what the reader needs first; one without a size is enlarged."""
    (tmp_path / "Late.cal").write_text(
        "actor Late () ==> int(size=32) A, int(size=32) B :\n  int(size=32) n := 0;\n"
        "  a: action ==> A:[n] guard n < 600 do n := n + 1; end\n"
        "  b: action ==> B:[n] guard n = 600 do n := n + 1; end\nend\n"
    )
    (tmp_path / "First.cal").write_text(
        "actor First () int(size=32) A, int(size=32) B ==> :\n  int(size=32) n := 0;\n"
        "  b: action B:[x] ==> guard n = 0 do n := 1; end\n"
        "  a: action A:[x] ==> guard n = 1 end\nend\n"
    )
    (tmp_path / "late.xdf").write_text(
        '<XDF name="late"><Instance id="late"><Class name="Late"/></Instance>'
        '<Instance id="first"><Class name="First"/></Instance>'
        '<Connection src="late" src-port="A" dst="first" dst-port="A"/>'
        '<Connection src="late" src-port="B" dst="first" dst-port="B"/></XDF>'
    )
    setting = load_setting(ProblemOptions(program=str(tmp_path / "late.xdf")))
    assert setting.trace.n_firings == 1202
    assert "the firings of a run with FIFOs of 4096 tokens (with less it deadlocks)" in setting.assumed
    monkeypatch.setattr("dse.flows.program._MOST_RUN_TOKENS", 512)
    with pytest.raises(DeadlockError, match=r"wait for each other, late\.A->first\.A is full"):
        load_setting(ProblemOptions(program=str(tmp_path / "late.xdf")))


def test_capacities_beyond_any_memory_are_refused(tmp_path: Path) -> None:
    setting = load_setting(ProblemOptions(program=PINGPONG))
    huge = tmp_path / "huge.bxdf"
    huge.write_text(f'<bxdf network="pingpong" default-size="{10**20}"/>')
    with pytest.raises(OptionError, match="no memory holds"):
        read_capacities(str(10**20), setting)
    with pytest.raises(FormatError, match="default-size of 'bxdf' is '1000"):
        read_capacities(str(huge), setting)
    assert set(read_capacities("1099511627776", setting).tokens) == {2**40}


def test_nominal_weights_can_be_asked_for_by_name() -> None:
    named, default = (load_setting(ProblemOptions(program=PINGPONG, weights=w)) for w in (("nominal",), ()))
    assert named.problem.weights == default.problem.weights
    assert named.assumed == default.assumed


def test_costs_derived_from_a_link_are_said() -> None:
    said = "costs of host FIFOs from latency and bandwidth of pcie"
    assert said not in load_setting(ProblemOptions(program=PINGPONG)).assumed
    assert (
        said
        in load_setting(
            ProblemOptions(program=PINGPONG, platform="desktop-gtx1660s", missing_weights="nominal")
        ).assumed
    )


def test_missing_files_are_named() -> None:
    with pytest.raises(FormatError, match="no such file"):
        load_program("nowhere.xdf")
    with pytest.raises(FormatError, match="this is a folder"):
        load_program(str(ROOT))


def test_actors_that_wait_for_ever_are_named(tmp_path: Path) -> None:
    put = "actor Put () ==> int Out : int n := 0; action ==> Out:[n] guard n < 3 do n := n + 1; end end"
    add = "actor Add () int A, int B ==> int Out : action A:[a], B:[b] ==> Out:[a + b] end end"
    network_of(tmp_path, (put, add), "p=Put a=Add p.Out->a.A a.Out->a.B")
    setting = load_setting(ProblemOptions(program=str(tmp_path / "Top.xdf")))
    assert "no firings of a, though tokens wait there (`dse run --why` says for what)" in setting.assumed
