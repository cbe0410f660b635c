"""What is said while a search goes on, and what the stages of a verb took."""

from pathlib import Path

import pytest

from dse.cli import search_progress
from dse.cli.main import main
from dse.cli.search_progress import SearchLines, progress_text, seconds_left
from dse.cli.timing import StageClock, note_stage
from dse.explore.evaluator import Budget, Progress

PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")


def progress(evaluations: int, best: int | None = 1_100_000, seconds: float = 10.0, bound: int = 1_000_000) -> Progress:
    return Progress(
        evaluations=evaluations, deadlocks=0, best=best, seconds=seconds, bound=bound, tick_unit="ps"
    )  # fmt: skip


def test_best_bound_budget_and_time_left_are_told() -> None:
    text = progress_text(progress(500), Budget(evaluations=2000), 10**9)
    assert text == "500 of at most 2,000 mappings, best 1.100 us (+10.0 % to bound), at most 30 s left"
    assert (
        progress_text(progress(5, bound=0), Budget(), 10)
        == "5 of at most 10 mappings, best 1.100 us, at most 10 s left"
    )
    assert "none estimated yet" in progress_text(progress(0, best=None), Budget(seconds=60), 10)
    assert "of at most 10^12 mappings" in progress_text(progress(5), Budget(seconds=60), 10**12)
    assert progress_text(progress(5), Budget(seconds=60), 10**12).endswith("at most 50 s left")


def test_what_ends_first_is_the_time_left() -> None:
    assert seconds_left(progress(100), Budget(evaluations=1000, seconds=30), 1000) == 20.0
    assert seconds_left(progress(900), Budget(evaluations=1000, seconds=30), 1000) == pytest.approx(10 / 9)
    assert seconds_left(progress(1), Budget(seconds=5), 10) == 0.0
    assert seconds_left(progress(0), Budget(), 10) is None


def test_off_a_terminal_there_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = SearchLines(clock=lambda: now[0])
    for second in range(13):
        now[0] = float(second)
        lines.show(f"{second}")
    assert capsys.readouterr().err.splitlines() == ["searching: 5", "searching: 10"]


def test_a_search_tells_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_progress, "LINE_SECONDS", 0.0)
    argv = ["explore", PINGPONG, "--weights", "nominal", "--budget", "30", "--out", str(tmp_path)]
    assert main(argv) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("searching: ")]
    assert " of at most 30 mappings, best 1." in told[-1]
    assert "% to bound)" in told[-1]
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_time_of_a_stage_is_added_up() -> None:
    times = iter([0.0, 1.0, 3.0, 3.5, 4.0])
    clock = StageClock("first", clock=lambda: next(times))
    assert clock.note("second: 1 of 2")
    assert not clock.note("second: 2 of 2")
    assert clock.note("first")
    assert clock.note("third")
    assert clock.lines() == [
        "    1.500 s  first",
        "    2.000 s  second",
        "    0.500 s  third",
        "    4.000 s  in all",
    ]


def test_v_prints_the_stages_and_vv_their_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    estimate = ["estimate", PINGPONG, "--weights", "nominal"]
    assert main([*estimate, "-v"]) == 0
    first = capsys.readouterr()
    assert "time of the stages" not in first.out
    after = first.err.partition("time of the stages:\n")[2].splitlines()
    assert [line.partition(" s  ")[2] for line in after][-3:] == [
        "weighing the firings",
        "estimating all on one core",
        "in all",
    ]
    assert " s: reading the program" not in first.err
    assert main([*estimate, "-vv"]) == 0
    assert " s: reading the program" in capsys.readouterr().err
    assert main([*estimate, "-v", "--quiet"]) == 0
    assert " s  weighing the firings" in capsys.readouterr().err
    assert main(["check", PINGPONG, "-v"]) == 0
    assert "  dse check" in capsys.readouterr().err
    assert main(["check", PINGPONG + "x", "-v"]) == 1
    assert " s  in all" in capsys.readouterr().err
    assert main(["check", PINGPONG]) == 0
    assert capsys.readouterr().err == ""
    note_stage("nobody hears it")
