"""``dse explore`` and ``dse estimate`` on a small network: files, JSON, same seed, kill and resume."""

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
SMITH = str(ROOT / "actors" / "smith_waterman" / "smith_waterman.xdf")
NOMINAL = ("--weights", "nominal")
EXPLORE = ["explore", PINGPONG, *NOMINAL]
PLATFORM = "name: two\nunits:\n  cpu: {kind: cpu, cores: 2, clock_mhz: 1000}\n"


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("explored")
    assert main([*EXPLORE, "--out", str(out), "--quiet"]) == 0
    return out


def run_json(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*argv, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_everything_is_delivered(explored: Path) -> None:
    names = sorted(p.name for p in explored.iterdir())
    mappings = [f"best-0{n}.xcf" for n in range(1, 6)]
    assert names == sorted([*mappings, "manifest.json", "ranking.json", "report.html", "study.sqlite", "study.yaml"])
    ranking = json.loads((explored / "ranking.json").read_text())
    makespans = [row["makespan"] for row in ranking["ranking"]]
    assert makespans == sorted(makespans)
    assert ranking["best"] == ranking["ranking"][0]
    assert ["actors" in row for row in ranking["ranking"]] == [True] * 5 + [False] * 5
    assert sum(actor["firings"] for actor in ranking["best"]["actors"]) > 0
    assert ranking["lower_bound"] <= makespans[0] <= ranking["one_core_makespan"]
    assert ranking["complete"] is True
    assert ranking["evaluations"] + ranking["excluded_by_bound"] == ranking["space"] == 51
    assert 0 <= ranking["cut_while_running"] < ranking["evaluations"]
    manifest = json.loads((explored / "manifest.json").read_text())
    assert {"trace", "weights", "platform", "seed", "tool"} <= set(manifest)
    (data,) = re.findall(r'id="document">(.*?)</script>', (explored / "report.html").read_text())
    assert [view["label"] for view in json.loads(data)["mappings"]] == [f"#{row['rank']}" for row in ranking["ranking"]]


def test_every_evaluation_is_stored(explored: Path) -> None:
    ranking = json.loads((explored / "ranking.json").read_text())
    with sqlite3.connect(explored / "study.sqlite") as store:
        assert store.execute("SELECT count(*) FROM evaluation").fetchone()[0] == ranking["evaluations"]
        best = store.execute("SELECT min(makespan) FROM evaluation WHERE NOT deadlock").fetchone()[0]
    assert best == ranking["best"]["makespan"]


def test_json_of_explore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, *EXPLORE, "--out", str(tmp_path))
    assert {"best", "ranking", "lower_bound", "evaluations", "seconds", "assumed"} <= set(document)
    assert any("nominal" in text for text in document["assumed"])
    assert any("platform" in text for text in document["assumed"])
    assert document["best"]["unit"] == "ps"


def test_same_seed_same_files(tmp_path: Path) -> None:
    for folder, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        argv = [*EXPLORE, "--method", "local-search", "--budget", "15", "--seed", seed, "--quiet"]
        assert main([*argv, "--out", str(tmp_path / folder)]) == 0
    first, second, other = ((tmp_path / f / "ranking.json").read_text() for f in "abc")
    assert first == second
    assert first != other
    assert (tmp_path / "a" / "best-01.xcf").read_text() == (tmp_path / "b" / "best-01.xcf").read_text()


def test_the_delivered_mappings_give_the_ranked_makespans(explored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = json.loads((explored / "ranking.json").read_text())["ranking"]
    paths = [str(explored / f"best-0{n}.xcf") for n in range(1, 6)]
    rows = run_json(capsys, "estimate", PINGPONG, "--mapping", *paths)
    assert [row["mapping"] for row in rows] == paths
    assert [row["makespan"] for row in rows] == [row["makespan"] for row in ranking[:5]]
    for key in ("actors", "fifos"):
        assert [row[key] for row in rows] == [row[key] for row in ranking[:5]]
    for row in rows:
        assert {"mapping", "makespan", "unit", "deadlock", "bottleneck"} <= set(row)
        for partition in row["partitions"]:
            times = ("scheduling", "reading", "processing", "writing", "link_waiting", "unoccupied")
            assert sum(partition[t] for t in times) == row["makespan"] * partition["cores"]
            actors = [actor for actor in row["actors"] if actor["partition"] == partition["name"]]
            assert [actor["name"] for actor in actors] == partition["actors"]
            assert sum(actor["busy"] for actor in actors) == sum(partition[t] for t in times[:-1])


def test_estimate_without_a_mapping_is_one_core(explored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = json.loads((explored / "ranking.json").read_text())
    (row,) = run_json(capsys, "estimate", PINGPONG)
    assert row["mapping"] == "all on one core"
    assert row["makespan"] == ranking["one_core_makespan"]


def test_partitions_and_pins_hold(tmp_path: Path) -> None:
    argv = [*EXPLORE, "--partitions", "2-2", "--pin", "Prod=cpu", "--out", str(tmp_path), "--quiet"]
    assert main(argv) == 0
    ranking = json.loads((tmp_path / "ranking.json").read_text())
    assert ranking["space"] == 15
    assert {row["partitions"] for row in ranking["ranking"]} == {2}


def test_a_second_run_keeps_the_first_study_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main([*EXPLORE, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "study-previous.sqlite").exists()
    assert "moved to study-previous.sqlite" in capsys.readouterr().out


def test_output_fits_100_columns_when_piped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EXPLORE, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    long = [line for line in lines if len(line) > 100 and not line.startswith(("assumed:", "written to"))]
    assert long == []


def test_gpu_platform_keeps_printing_actors_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["explore", PINGPONG, "--platform", "desktop-gtx1660s", "--out", str(tmp_path), "--budget", "40"]
    document = run_json(capsys, *argv)
    assert any("PingPong, Merger on a CPU" in text for text in document["assumed"])
    for row in document["ranking"]:
        for partition in row["design_point"]["partitions"]:
            if partition["unit"] == "gpu":
                assert partition["name"] == "PG"
                assert not {"PingPong", "Merger"} & set(partition["actors"])


def write_deadlock_network(folder: Path) -> str:
    """A writes 8 to the first FIFO before it writes the second one, whose token the reader needs first."""
    (folder / "Late.cal").write_text(
        "actor Late () ==> int(size=32) A, int(size=32) B :\n"
        "  int(size=32) n := 0;\n"
        "  a: action ==> A:[n] guard n < 8 do n := n + 1; end\n"
        "  b: action ==> B:[n] guard n = 8 do n := n + 1; end\n"
        "end\n"
    )
    (folder / "First.cal").write_text(
        "actor First () int(size=32) A, int(size=32) B ==> :\n"
        "  int(size=32) n := 0;\n"
        "  b: action B:[x] ==> guard n = 0 do n := 1; end\n"
        "  a: action A:[x] ==> guard n = 1 end\n"
        "end\n"
    )
    (folder / "late.xdf").write_text(
        '<?xml version="1.0"?>\n<XDF name="late">\n'
        '  <Instance id="late"><Class name="Late"/></Instance>\n'
        '  <Instance id="first"><Class name="First"/></Instance>\n'
        '  <Connection src="late" src-port="A" dst="first" dst-port="A"/>\n'
        '  <Connection src="late" src-port="B" dst="first" dst-port="B"/>\n'
        "</XDF>\n"
    )
    return str(folder / "late.xdf")


def test_a_deadlock_names_who_waits_and_what_would_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = write_deadlock_network(tmp_path)
    (row,) = run_json(capsys, "estimate", network, "--buffers", "3", code=3)
    assert row["deadlock"] is True
    assert row["makespan"] is None
    assert {(w["actor"], w["fifo"], w["for"]) for w in row["waits"]} == {
        ("late", "late.A->first.A", "space"),
        ("first", "late.B->first.B", "tokens"),
    }
    assert row["remedy_tokens"] == {"late.A->first.A": 8}
    assert main(["estimate", network, "--buffers", "3", "--accounts"]) == 3
    shown = capsys.readouterr()
    assert "late.A->first.A 3 -> 8" in shown.err
    assert "where the time of the actors went" in shown.out
    assert main(["estimate", network, "--buffers", "8"]) == 0


def test_explore_fails_when_every_mapping_deadlocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = write_deadlock_network(tmp_path)
    assert main(["explore", network, *NOMINAL, "--buffers", "3", "--out", str(tmp_path / "out"), "--quiet"]) == 3
    assert "every mapping deadlocks" in capsys.readouterr().err


BUDGET = 20
KILLED_AFTER = 3
KILL = f"""
import os, signal, sys
from dse.cli.main import main
from dse.explore import evaluator
from dse.formats.study_file import StudyStore

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
how, kept, added, add, commit = int(sys.argv.pop(1)), 0, 0, StudyStore.add, StudyStore.commit
evaluator.COMMIT_SECONDS = 0  # after each batch: the search is too small to last for several commits

def add_then_die(store, evaluation):
    global added
    add(store, evaluation)
    added += 1
    if kept >= 4 and added == kept + {KILLED_AFTER}:
        os.kill(os.getpid(), how)

def commit_and_count(store):
    global kept
    commit(store)
    kept = added

StudyStore.add, StudyStore.commit = add_then_die, commit_and_count
sys.exit(main())
"""
"""The program, which is hit by a signal with some evaluations committed and some not: on every machine, busy or not."""


def small_search(folder: Path, out: str, *more: str) -> list[str]:
    """The arguments of a search whose evaluations the reference engine makes, so that no two runs share a cache."""
    sequences = folder / "dna.txt"
    sequences.write_text("ACGTTG\nACGTT\n")
    options = ["--engine", "reference", "-i", str(sequences), "--out", str(folder / out), "--json"]
    return ["explore", SMITH, *NOMINAL, *options, "--budget", str(BUDGET), *more]


def killed(arguments: list[str], by: signal.Signals) -> int:
    """Run the program in a process of its own, which a signal hits; its exit code."""
    command = [sys.executable, "-c", KILL, str(int(by)), *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, cwd=ROOT, check=False).returncode


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """What the search prints, and its ranking."""
    folder, text = tmp_path_factory.mktemp("whole"), io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main(small_search(folder, "whole")) == 0
    return json.loads(text.getvalue()), (folder / "whole" / "ranking.json").read_text()


def stored(out: Path) -> int:
    """The number of committed evaluations."""
    with sqlite3.connect(out / "study.sqlite") as store:
        return int(store.execute("SELECT count(*) FROM evaluation").fetchone()[0])


@pytest.mark.parametrize("how", [signal.SIGKILL, *([signal.SIGINT] if "DSE_INTERRUPTS" in os.environ else [])])
def test_killed_and_resumed_equals_uninterrupted(
    tmp_path: Path, how: signal.Signals, uninterrupted: tuple[Any, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert killed(small_search(tmp_path, "killed"), how) == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    kept = stored(tmp_path / "killed")
    assert 4 <= kept < BUDGET
    capsys.readouterr()
    assert main(small_search(tmp_path, "killed", "--resume")) == 0
    resumed = json.loads(capsys.readouterr().out)
    whole, ranking = uninterrupted
    for key in resumed.keys() - {"seconds", "out"}:
        assert resumed[key] == whole[key], key
    assert resumed.keys() == whole.keys()
    assert (tmp_path / "killed" / "ranking.json").read_text() == ranking


def test_more_budget_continues_a_finished_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = [*EXPLORE, "--method", "local-search", "--out", str(tmp_path)]
    assert run_json(capsys, *base, "--budget", "9")["evaluations"] == 9
    assert run_json(capsys, *base, "--budget", "20", "--resume")["evaluations"] == 20
    fresh = run_json(capsys, *base[:-1], str(tmp_path / "fresh"), "--budget", "20")
    continued = json.loads((tmp_path / "ranking.json").read_text())
    assert continued["ranking"] == fresh["ranking"]


def test_resume_refuses_a_study_that_lost_its_contents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = [*EXPLORE, "--out", str(tmp_path), "--budget", "9", "--quiet"]
    assert main(base) == 0
    (tmp_path / "study.sqlite").write_bytes(b"")
    ranking = (tmp_path / "ranking.json").read_bytes()
    assert main([*base, "--resume"]) == 1
    assert "it is empty, and a ranking.json lies beside it" in capsys.readouterr().err
    assert (tmp_path / "ranking.json").read_bytes() == ranking


def test_resume_refuses_another_platform(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two.yaml").write_text(PLATFORM)
    assert main([*EXPLORE, "--out", str(tmp_path / "o"), "--quiet"]) == 0
    argv = [*EXPLORE, "--out", str(tmp_path / "o"), "--platform", str(tmp_path / "two.yaml"), "--resume"]
    assert main(argv) == 2
    assert "was made from other inputs (" in capsys.readouterr().err


POWERED = "name: two\nunits:\n  cpu: {kind: cpu, cores: 2, clock_mhz: 1000, power_watt: 2.5}\n"


def test_several_objectives_give_a_front(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "powered.yaml").write_text(POWERED)
    out = tmp_path / "out"
    argv = ["explore", PINGPONG, "--platform", str(tmp_path / "powered.yaml"), "--buffers", "16", "--buffers", "64"]
    argv += ["--objectives", "makespan,memory,traffic,energy", "--out", str(out)]
    document = run_json(capsys, *argv)
    assert [o["name"] for o in document["objectives"]] == ["makespan", "memory", "traffic", "energy"]
    front = [tuple(point["values"].values()) for point in document["pareto"]]
    assert len(front) == len(set(front)) > 1
    for a in front:
        assert not any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in front)
    assert document["complete"] is True
    assert document["best"]["makespan"] == front[0][0] == min(row["makespan"] for row in document["ranking"])
    assert 0 < document["hypervolume"]["share"] <= 1
    assert [v for _, v in document["hypervolume"]["over_evaluations"]][-1] == document["hypervolume"]["share"]
    assert len(list(out.glob("pareto-*.xcf"))) == len(front)
    rows = run_json(
        capsys, "estimate", PINGPONG, "--platform", str(tmp_path / "powered.yaml"),
        "--mapping", *(str(p) for p in sorted(out.glob("pareto-*.xcf"))),
    )  # fmt: skip
    assert [row["makespan"] for row in rows] == [values[0] for values in front]
    resumed = run_json(capsys, *argv, "--resume")
    assert resumed["pareto"] == document["pareto"]
    assert main([*argv[:-4], "--out", str(out), "--resume"]) == 2  # the makespan alone is another study
    assert "objectives" in capsys.readouterr().err


def test_the_first_objective_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, *EXPLORE, "--objectives", "traffic", "--out", str(tmp_path))
    assert document["best"]["partitions"] == 1
    assert [point["values"]["traffic"] for point in document["pareto"]] == [0]


def test_the_table_shows_what_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*EXPLORE, "--buffers", "16", "--buffers", "64", "--out", str(tmp_path)]
    assert main([*argv, "--objectives", "memory,traffic,partitions,units"]) == 0
    text = capsys.readouterr().out
    head = next(line for line in text.splitlines() if line.lstrip().startswith("#"))
    assert head.split() == ["#", "memory", "traffic", "partitions", "makespan", "mapping"]
    first = next(line for line in text.splitlines() if line.lstrip().startswith("1 "))
    assert first.split()[1:6] == ["320", "B", "0", "B", "1"]
    assert "the best mapping, memory 320 B, traffic 0 B, partitions 1, units 1, makespan " in text
    assert max(len(head), len(first)) <= 100
    row = json.loads((tmp_path / "ranking.json").read_text())["ranking"][0]
    assert row["values"] == {"memory": 320, "traffic": 0, "partitions": 1, "units": 1}
    page = (tmp_path / "report.html").read_text()
    for head in ("memory", "traffic", "partitions", "units", "makespan"):
        assert f'<th class="n">{head}</th>' in page
    assert "<b>320 B</b><span>best memory</span>" in page


@pytest.mark.parametrize("method", ["auto", "branch-and-bound", "local-search"])
def test_throughput_alone_is_searched_as_the_makespan_is(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trace is the same for all mappings: bounds exclude, simulations stop, and the ranking is the same."""
    argv = [*EXPLORE, "--method", method, "--seed", "3"]
    plain = run_json(capsys, *argv, "--out", str(tmp_path / "makespan"))
    found = run_json(capsys, *argv, "--objectives", "throughput", "--out", str(tmp_path / "throughput"))
    for key in ("evaluations", "excluded_by_bound", "cut_while_running", "complete", "method", "lower_bound"):
        assert found[key] == plain[key], key
    assert found["complete"] is (method != "local-search")
    assert [row["digest"] for row in found["ranking"]] == [row["digest"] for row in plain["ranking"]]
    values = [row["values"]["throughput"] for row in found["ranking"]]
    assert values == sorted(values, reverse=True)
    assert found["pareto"][0]["values"]["throughput"] == values[0]
    again = run_json(
        capsys, *argv, "--objectives", "throughput", "--out", str(tmp_path / "throughput"), "--resume"
    )  # fmt: skip
    assert again["pareto"] == found["pareto"]
    assert again["ranking"] == found["ranking"]


def test_the_makespan_alone_writes_no_front(explored: Path) -> None:
    ranking = json.loads((explored / "ranking.json").read_text())
    assert not {"objectives", "pareto", "hypervolume"} & set(ranking)
    assert list(explored.glob("pareto-*.xcf")) == []


def test_minimal_and_maximal_sizes_can_be_chosen_with_the_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--buffers", "minimal", "--buffers", "maximal", "--objectives", "makespan,memory", "--out", str(tmp_path)]
    document = run_json(capsys, *EXPLORE, *argv)
    assert document["deadlocks"] == 0
    sizes = {tuple(point["design_point"]["capacities_tokens"]) for point in document["pareto"]}
    assert len(sizes) == 2
    assert any("minimal FIFO sizes" in text for text in document["assumed"])


def test_each_partition_may_have_its_own_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*EXPLORE, "--policy", "NON_PREEMPTIVE,ROUND_ROBIN", "--partitions", "2-2", "--budget", "500"]
    one = run_json(capsys, *argv, "--out", str(tmp_path / "one"))
    each = run_json(capsys, *argv, "--policy-per-partition", "--out", str(tmp_path / "each"))
    assert (one["space"], each["space"]) == (15 * 2, 15 * 4)
    assert each["complete"] is True
    assert each["best"]["makespan"] <= one["best"]["makespan"]
    argv += ["--method", "random", "--policy-per-partition", "--out", str(tmp_path / "random")]
    drawn = run_json(capsys, *argv)
    policies = [{p["policy"] for p in row["design_point"]["partitions"]} for row in drawn["ranking"]]
    assert {"NON_PREEMPTIVE", "ROUND_ROBIN"} in policies
