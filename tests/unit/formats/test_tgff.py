"""Task graphs of TGFF: what is read, and that damaged files give errors of ours."""

import contextlib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings

from dse.base.errors import DeadlockError, DseError, FormatError, OptionError
from dse.flows.estimate import estimate_mappings
from dse.flows.graphs import unfold_graph
from dse.flows.options import EstimateOptions, GraphOptions, ProblemOptions
from dse.formats.tgff import is_tgff, read_tgff
from tests.examples import examples
from tests.unit.formats.strategies import damaged

ROBOT = Path(__file__).parents[2] / "graphs" / "robot.tgff"


def test_graphs_side_by_side() -> None:
    found = read_tgff(str(ROBOT))
    assert found.name == "robot"
    assert [actor.name for actor in found.actors] == [
        "g0_camera",
        "g0_find",
        "g0_plan",
        "g0_move",
        "g1_bumper",
        "g1_move",
    ]
    assert [channel.name for channel in found.channels] == ["g0_image", "g0_place", "g0_place_2", "g0_order", "g1_hit"]
    assert found.notes[0] == "2 task graphs side by side, each once an iteration (--graph N takes one)"


def test_one_graph() -> None:
    found = read_tgff(str(ROBOT), "0")
    camera, finding, plan, move = found.actors
    assert found.name == "robot_0"
    assert (plan.inputs, plan.outputs, plan.reads) == (("place", "place_2"), ("order",), ((1,), (1,)))
    assert [(t.processor, t.times[0], t.default) for t in finding.times] == [
        ("Core 1 GHz", Fraction(4000), True),
        ("DSP 200 MHz", Fraction(1000), False),
    ]
    assert [t.processor for t in camera.times] == ["Core 1 GHz"], "a row that is not valid is none"
    assert [t.processor for t in plan.times] == ["Core 1 GHz"]
    assert [channel.token_bits for channel in found.channels] == [800, 32, 32, 32]
    assert move.class_name == "type3"


def test_the_first_processor_that_runs_all_tasks_is_the_default(tmp_path: Path) -> None:
    path = tmp_path / "g.tgff"
    path.write_text(ROBOT.read_text().replace("  2    0       1     0.0025", "  2    0       0     0.0025"))
    assert not any(time.default for actor in read_tgff(str(path)).actors for time in actor.times)
    alone = read_tgff(str(path), "1")
    assert [time.default for time in alone.actors[0].times] == [True, False]


def test_an_iteration_takes_its_seconds() -> None:
    options = ProblemOptions(program=str(ROBOT), graph=GraphOptions(iterations=3, graph="0"), engine="reference")
    found = estimate_mappings(EstimateOptions(problem=options)).mappings[0].estimate
    assert (found.makespan, found.tick_unit) == (3 * 8_100_000_000, "ps")


def test_processors_of_one_name_are_two(tmp_path: Path) -> None:
    path = tmp_path / "g.tgff"
    path.write_text(ROBOT.read_text().replace("# DSP 200 MHz", "# Core 1 GHz"))
    assert [t.processor for t in read_tgff(str(path), "1").actors[0].times] == ["Core 1 GHz", "Core 1 GHz (PROC 1)"]


def test_of_several_rows_of_a_type_the_first_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.tgff"
    table = "@PE 0 {\n# type version exec_time\n 0 0 10\n 0 1 20\n}\n"
    path.write_text("@TASK_GRAPH 0 {\n TASK a TYPE 0\n}\n" + table)
    (actor,) = read_tgff(str(path)).actors
    assert [time.times for time in actor.times] == [(10_000_000,)]


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("FROM find ", "FROM fnid ", "there is no task 'fnid'", 17),
        ("TASK plan ", "TASK find ", "task 'g0_find' is there twice", 14),
        ("TASK plan ", "TUSK plan ", "'TUSK plan    TYPE 2' is not understood", 14),
        ("@TASK_GRAPH 1", "@TASK_GRAPH 0", "task graph '0' is there twice", 23),
        ("@TASK_GRAPH", "@GRAPH", "there is no task graph", 0),
        ("2e-5\n}", "2e-5\n", "the block '@PROC 0' does not end", 31),
        ("  TASK bumper TYPE 4\n  TASK move   TYPE 3\n  ARC hit", "  # ARC hit", "the graph has no tasks", 23),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, message: str, line: int) -> None:
    path = tmp_path / "g.tgff"
    text = ROBOT.read_text()
    path.write_text(text.replace(old, new) if "PROC" not in message else text.replace(old, new).rpartition("# DSP")[0])
    with pytest.raises(FormatError) as error:
        read_tgff(str(path))
    assert [(d.message, d.span.line) for d in error.value.diagnostics][:1] == [(message, line)]


def test_a_circle_of_tasks_is_a_deadlock(tmp_path: Path) -> None:
    path = tmp_path / "g.tgff"
    path.write_text(ROBOT.read_text().replace("FROM bumper TO move", "FROM bumper TO bumper"))
    with pytest.raises(DeadlockError, match="'g1_bumper' waits for itself"):
        unfold_graph(str(path))


def test_a_graph_that_is_not_there() -> None:
    with pytest.raises(OptionError, match="has no task graph '2'"):
        read_tgff(str(ROBOT), "2")


@given(text=damaged(ROBOT.read_bytes()))
@settings(max_examples=examples(120), deadline=None)
def test_damaged_files_give_errors_of_ours(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.mktemp("d") / "g.tgff"
    path.write_bytes(text)
    with contextlib.suppress(DseError):
        read_tgff(str(path))


def test_how_a_file_is_told() -> None:
    assert is_tgff(ROBOT.read_bytes()[:200])
    assert not is_tgff(b"<sdf3/>")
    assert not is_tgff(b"# a comment\nTASK a TYPE 0")
