"""Signals and budgets in seconds, at every stage of the command line: acknowledged, ended, kept whole."""

import importlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.base.interrupts import held_interrupt
from dse.cli.main import main
from dse.cli.signals import Terminated, watched_signals
from dse.explore.distribution.workers import ThreadEstimator
from dse.flows import explore as explore_flow
from dse.flows.search import study as study_flow
from tests.examples import in_full

ROOT = Path(__file__).resolve().parents[2]
SMITH = str(ROOT / "actors" / "smith_waterman" / "smith_waterman.xdf")
JPEG = str(ROOT / "actors" / "jpeg" / "jpeg.xdf")
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
NOMINAL = ("--weights", "nominal")
PATIENCE = 300.0
"""Seconds: where signals are not heard it takes for ever, and a machine may have other work."""
XDF = '<XDF name="{name}"><Instance id="a"><Class name="A"/></Instance></XDF>'
ENDLESS = "actor A () ==> : int n := 0; go: action ==> do while n < 2 do n := 1 - n; end end end"
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and nohup this one
from dse.cli.main import main
print("begun", flush=True)
sys.exit(main())
"""
BUSY = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import dse.cli.main as program

def busy(*arguments):
    until = time.monotonic() + 60
    words = ["begun"]
    while time.monotonic() < until:  # what does not come to its end by an exception
        try:
            if words:
                print(words.pop(), flush=True)
            time.sleep(60)
        except BaseException:
            pass

program._run_verb = busy
sys.exit(program.main())
"""


def started(text: str, *argv: str) -> subprocess.Popen[str]:
    """The program, when it has begun."""
    process = subprocess.Popen(
        [sys.executable, "-c", text, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error of a program that ends soon."""
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()  # what has not heard its signal would take a core for ever
    assert "Traceback" not in errors
    return process.returncode, errors


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A network whose first firing never ends."""
    (tmp_path / "A.cal").write_text(ENDLESS)
    (tmp_path / "endless.xdf").write_text(XDF.format(name="endless"))
    return str(tmp_path / "endless.xdf")


@pytest.mark.parametrize(
    ("verb", "how", "code", "said"),
    [
        ("run", signal.SIGINT, 130, "interrupted; finishing"),
        ("run", signal.SIGTERM, 143, "terminated; everything reported so far is kept"),
        *in_full(("run", signal.SIGHUP, 129, "the terminal is closed; everything reported so far is kept")),
        ("explore", signal.SIGINT, 130, "interrupted; finishing"),
    ],
)
def test_an_action_that_never_ends_is_ended(
    verb: str, how: signal.Signals, code: int, said: str, endless: str, tmp_path: Path
) -> None:
    options = (*NOMINAL, "--out", str(tmp_path / "out")) if verb == "explore" else ()
    process = started(PROGRAM, verb, endless, *options)
    time.sleep(2)  # wherever it is then
    process.send_signal(how)
    found, errors = ended(process)
    assert found == code
    assert said in errors


def test_a_second_interrupt_ends_what_cannot_be_interrupted() -> None:
    process = started(BUSY, "run", "x")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("interrupted; finishing")
    process.send_signal(signal.SIGINT)
    code, errors = ended(process)
    assert code == 130
    assert errors == "interrupted again; everything reported so far is kept\n"


def test_termination_ends_what_cannot_be_interrupted() -> None:
    process = started(BUSY, "run", "x")
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, "terminated; everything reported so far is kept\n")


class Destroyed:
    """An object whose destructor is interrupted."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        time.sleep(0.001)  # the handler has run


class Forgotten:
    """An object that something is called for when it is gone."""


def in_a_destructor(number: int) -> None:
    Destroyed(number)


def in_a_callback(number: int) -> None:
    weakref.finalize(Forgotten(), lambda: (os.kill(os.getpid(), number), time.sleep(0.001)))


def in_a_text(number: int) -> None:
    exec(f"import os; os.kill(os.getpid(), {number})", {"__name__": "made"})


def in_a_text_without_a_name(number: int) -> None:
    """As compilers and makers of classes execute theirs."""
    exec(f"import os; os.kill(os.getpid(), {number})", {})


def in_an_import(number: int) -> None:
    sys.modules.pop("interrupted_module", None)
    importlib.import_module("interrupted_module")


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("place", [in_a_destructor, in_a_callback, in_a_text, in_a_text_without_a_name, in_an_import])
@pytest.mark.parametrize(("how", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGHUP, Terminated)])
def test_a_signal_where_its_exception_would_be_lost_comes_a_moment_later(
    place: Callable[[int], None],
    how: signal.Signals,
    raised: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "interrupted_module.py").write_text(f"import os; os.kill(os.getpid(), {int(how)})\nwhole = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("dse.cli.signals.LAST_SECONDS", PATIENCE)
    came = False
    with watched_signals():
        try:
            place(how)
            came = True
            time.sleep(PATIENCE)
        except raised:
            pass
        else:
            pytest.fail("it did not come again")
    assert came
    assert "Exception ignored" not in capfd.readouterr().err
    if place is in_an_import:
        assert sys.modules["interrupted_module"].whole == 1


LEFT = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import dse.cli.main as program
from dse.__main__ import main

program._run_verb = lambda *arguments: exec("interrupt()", {"__name__": "made", "interrupt": interrupt}) or sleep()

def sleep():
    import time
    time.sleep(60)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

atexit.register(interrupt)
sys.exit(main())
"""


def test_python_does_not_end_itself_by_the_signal() -> None:
    """As it does where an exception went through a text that is executed, or comes when the program is over."""
    process = subprocess.run(
        [sys.executable, "-c", LEFT, "check", "x"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert process.returncode == 130
    assert process.stderr.count("interrupted") == 2
    assert "Traceback" not in process.stderr


# -- a search ---------------------------------------------------------------------------------------------------------

BUDGET = 150
MOMENTS = int(os.environ.get("DSE_INTERRUPTS", "1"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path, float]:
    """Arguments of a search of some seconds, the folder of its results undisturbed, and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    sequences = folder / "dna.txt"
    sequences.write_text("ACGTTGCAACGTACGTACGGTACGTT\nACGTTGACGTACTACGG\n")
    argv = ["explore", SMITH, *NOMINAL, "-i", str(sequences), "--budget", str(BUDGET), "--quiet", "--out"]
    begin = time.perf_counter()
    process = started(PROGRAM, *argv, str(folder / "out"))
    assert ended(process)[0] == 0
    return argv, folder / "out", time.perf_counter() - begin


def rows(study: Path) -> int:
    """The number of evaluations of a study that is whole."""
    with sqlite3.connect(study) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(store.execute("SELECT count(*) FROM evaluation").fetchone()[0])


def test_signals_at_many_moments_of_a_search(whole: tuple[list[str], Path, float], tmp_path: Path) -> None:
    """One interrupt, two, or SIGTERM: the study is whole and continues to the ranking of an undisturbed search."""
    argv, undisturbed, seconds = whole
    codes = set()
    for moment in range(MOMENTS):
        out = tmp_path / str(moment)
        hows = ((signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM,))[moment % 3]
        process = started(PROGRAM, *argv, str(out))
        time.sleep(seconds * (moment + 0.5) / MOMENTS)
        for how in hows:
            if process.poll() is None:
                process.send_signal(how)
        code, errors = ended(process)
        codes.add(code)
        if code in (0, -how):  # it had ended, or was leaving Python, which has no handlers any more
            assert (out / "ranking.json").exists()
            continue
        assert code == (130 if signal.SIGINT in hows else 143), errors
        assert "kept" in errors
        if not (out / "study.sqlite").exists():
            continue
        assert rows(out / "study.sqlite") <= BUDGET
        assert main([*argv, str(out), "--resume"]) == 0
        assert (out / "ranking.json").read_text() == (undisturbed / "ranking.json").read_text()
    assert codes & {130, 143}


# -- budgets in seconds -----------------------------------------------------------------------------------------------


def test_a_budget_ends_an_action_that_never_ends(
    endless: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = time.perf_counter()
    assert main(["explore", endless, *NOMINAL, "--budget", "1s", "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert time.perf_counter() - begin < PATIENCE
    error = capsys.readouterr().err
    assert "the budget ended before a mapping of the space was estimated" in error
    assert re.search(r"of \d+\.\d s, running the network took \d+\.\d s", error)
    assert "a network that never ends needs -f or --max-firings" in error
    assert not (tmp_path / "out").exists()


def test_a_budget_ends_the_set_up_of_a_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was estimated before is ranked and reported: at least the mapping on one core."""

    def endless_method(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("dse.flows.search.study.make_method", endless_method)
    assert main(["explore", PINGPONG, *NOMINAL, "--budget", "3s", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["evaluations"] == 1
    assert document["complete"] is False
    assert document["best"]["makespan"] == document["one_core_makespan"]


def test_a_budget_ends_bounds_that_take_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def endless_bounds(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("dse.flows.search.study.space_bounds", endless_bounds)
    assert main(["explore", PINGPONG, *NOMINAL, "--budget", "3s", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["evaluations"], document["lower_bound"]) == (1, 0)


def test_an_interrupt_of_the_set_up_of_a_method_keeps_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dse.flows.search.study.make_method", interrupted)
    assert main(["explore", PINGPONG, *NOMINAL, "--out", str(tmp_path), "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["evaluations"] == 1


def test_a_budget_of_evaluations_does_not_look_at_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The alarm is not armed: what a search finds is the same however slow the machine is."""

    def armed(*_: object) -> None:
        pytest.fail("an alarm was set")

    monkeypatch.setattr("signal.setitimer", armed)
    assert main(["explore", JPEG, *NOMINAL, "--budget", "20", "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evaluations"] == 20


# -- behind the search ------------------------------------------------------------------------------------------------


def quick(out: Path, *more: str) -> list[str]:
    return ["explore", PINGPONG, *NOMINAL, "--budget", "20", "--out", str(out), "--quiet", *more]


@pytest.fixture
def heard() -> Iterator[None]:
    """A shell has its background jobs ignore interrupts, and nohup the end of the terminal."""
    defaults: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    former = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    ("module", "where", "stop"),
    [
        (study_flow, "ranked", "interrupted"),
        (ThreadEstimator, "close", "interrupted"),
        (explore_flow, "with_look", "interrupted"),
        (explore_flow, "run_best", "interrupted"),
        (explore_flow, "_report_inputs", "evaluations"),
        (explore_flow, "deliver", "evaluations"),
    ],
)
def test_an_interrupt_behind_the_search_leaves_the_ranking(
    module: object,
    where: str,
    stop: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What is looked at is left out, what is written is written to the end."""
    assert main(quick(tmp_path / "whole")) == 0
    whole = json.loads((tmp_path / "whole" / "ranking.json").read_text())
    function = getattr(module, where)

    def interrupted(*args: object, **named: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return function(*args, **named)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(module, where, interrupted)
        assert main(quick(out)) == 130
    assert "interrupted; finishing" in capfd.readouterr().err
    found = json.loads((out / "ranking.json").read_text())
    assert found["stop"] == stop
    assert found["ranking"] == whole["ranking"]
    assert {path.name for path in out.iterdir()} == {path.name for path in (tmp_path / "whole").iterdir()}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert main(quick(out, "--resume")) == 0
    assert json.loads((out / "ranking.json").read_text()) == whole


@pytest.mark.usefixtures("heard")
def test_a_second_interrupt_ends_what_is_being_written() -> None:
    with held_interrupt() as held:
        os.kill(os.getpid(), signal.SIGINT)
        assert held.came
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_interrupts_that_are_ignored_stay_ignored() -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_interrupt() as held:
            os.kill(os.getpid(), signal.SIGINT)
        assert not held.came
    finally:
        signal.signal(signal.SIGINT, former)
