"""A run by a program: its arguments, its output as it comes, and how it fails."""

import json
import signal
from pathlib import Path

import pytest

from dse.base.errors import ExecutionError, OptionError
from dse.frontend.network.elaborate import load_network
from dse.native.execution import program_arguments, run_native, skipping
from dse.native.result import ActorTables
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.unit.native.programs import document_of, program_that_tells, trace_bytes

ROOT = Path(__file__).resolve().parents[3]
OPTIONS = RunOptions(max_firings=1000, hash_channels=True)


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(str(ROOT / "actors" / "pingpong" / "pingpong.xdf")).network


@pytest.fixture(scope="module")
def in_python(network: Network) -> RunResult:
    return run_network(network, OPTIONS)


def no_tables() -> tuple[ActorTables, ...]:
    raise AssertionError("this run names nothing by number")


def test_it_is_told_and_heard(network: Network, in_python: RunResult, tmp_path: Path) -> None:
    trace = trace_bytes([ids.tolist() for ids in in_python.trace.firings])
    app = program_that_tells(tmp_path, document_of(network, in_python), trace, stdout="hello ä\n")
    texts: list[str] = []
    firings: list[int] = []
    found = run_native(network, app, OPTIONS, no_tables, echo=texts.append, progress=firings.append)
    assert ("".join(texts), found.stdout, firings) == ("hello ä\n", "hello ä\n", [17])
    assert (found.trace.digest, found.execution) == (in_python.trace.digest, "native")
    arguments = json.loads(Path(f"{app}.arguments").read_text())
    assert arguments[:2] == ["--home", str(ROOT / "actors" / "pingpong")]
    assert "--hashes" in arguments
    assert arguments[arguments.index("--max-firings") + 1] == "1000"


def test_all_options_become_arguments(network: Network) -> None:
    options = RunOptions(
        input="i",
        output="o",
        write="w",
        reference="y",
        tolerance=2,
        loops=3,
        frames=4,
        fifo_tokens=5,
        max_firings=6,
        idle_firings=7,
        files="d",
        allow_files=("a", "-b"),
        unnamed_output="u",
        max_memory_bytes=3 << 20,
        console_input=("x", ""),
    )
    assert program_arguments(network, options)[2:] == [
        *("--files", "d", "-i", "i", "-o", "o", "-w", "w", "-y", "y", "-f", "4", "--max-firings", "6"),
        *("--max-memory", "3072K", "--unnamed-output", "u", "-l", "3", "-s", "5", "--tolerance", "2"),
        *("--idle-firings", "7", "--allow-files", "a", "--allow-files", "-b"),
        *("--console-line", "x", "--console-line", ""),
    ]
    assert program_arguments(network, RunOptions())[2:] == ["--files", "dse-out/pingpong/files"]


def test_wrong_options_are_refused_before_it_starts(network: Network, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="FIFO size is 0"):
        run_native(network, tmp_path / "none", RunOptions(fifo_tokens=0), no_tables)


def test_an_error_of_the_run(network: Network, in_python: RunResult, tmp_path: Path) -> None:
    error = {"message": "in 'a': division by zero", "path": "a.cal", "line": 2, "column": 3, "kind": "fault"}
    app = program_that_tells(tmp_path, {"version": 1, "error": error})
    with pytest.raises(ExecutionError, match="division by zero") as caught:
        run_native(network, app, OPTIONS, no_tables)
    assert caught.value.diagnostics[0].span.line == 2


def test_a_crash(network: Network, tmp_path: Path) -> None:
    app = program_that_tells(tmp_path, None, signal=signal.SIGSEGV)
    with pytest.raises(ExecutionError, match="the native program crashed: SIGSEGV"):
        run_native(network, app, OPTIONS, no_tables)


def test_ended_from_outside(network: Network, tmp_path: Path) -> None:
    app = program_that_tells(tmp_path, None, signal=signal.SIGKILL)
    with pytest.raises(ExecutionError, match="the native program was ended by SIGKILL") as caught:
        run_native(network, app, OPTIONS, no_tables)
    assert "memory" in caught.value.diagnostics[0].expected


def test_no_result(network: Network, tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match=r"ended with code 0 and told no result\n") as caught:
        run_native(network, program_that_tells(tmp_path, None), OPTIONS, no_tables)
    assert "by exit()" in caught.value.diagnostics[0].expected


def test_what_a_program_refuses_is_told_with_its_hint(network: Network, tmp_path: Path) -> None:
    refusal = "m.xcf:3: error: actor 'a' cannot run on a GPU: it prints\\n  = place it on a CPU"
    app = tmp_path / "refuses"
    app.write_text(f"#!/bin/sh\nprintf '%b\\n' \"{refusal}\" >&2\nexit 2\n")
    app.chmod(0o755)
    with pytest.raises(ExecutionError, match=r"code 2 and told no result; it said: .*on a GPU") as caught:
        run_native(network, app, OPTIONS, no_tables)
    assert caught.value.diagnostics[0].expected == "place it on a CPU"


@pytest.mark.parametrize(("characters", "left"), [(0, "abcdef"), (2, "cdef"), (4, "ef"), (6, ""), (9, "")])
def test_text_that_was_heard_is_left_out(characters: int, left: str) -> None:
    heard: list[str] = []
    listener = skipping(heard.append, characters)
    assert listener is not None
    for piece in ("abc", "", "def"):
        listener(piece)
    assert "".join(heard) == left
    assert skipping(None, 3) is None
