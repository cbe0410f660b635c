"""Standard output and error: readers that go, full disks, closed streams, text that does not print."""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TextIO, cast

import pytest

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic
from dse.base.escaping import cells, encodable, json_text, markup, name_of_file, page_text, shown, shown_message
from dse.base.folders import folder_name
from dse.base.source import Span
from dse.cli.main import main
from dse.cli.streams import READER_GONE, ReaderGone, Shown, Unfailing, program_output
from tests.examples import seldom

PINGPONG = Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf"
FULL = Path("/dev/full")

# Text -----------------------------------------------------------------------------------------------------------------


def test_what_does_not_print_is_replaced_one_by_one() -> None:
    assert shown("a\x1b[31mb\x9b\x7f\u202e\u200b\udcff\n\tc") == "a�[31mb������" + "�c"
    assert shown("Grüße, 漢字 ~") == "Grüße, 漢字 ~"
    assert shown_message("one\n  two\nthree") == "one\n  two�three"


def test_markup_is_read_back_as_it_was() -> None:
    assert markup("<a b='c\"d'>&\t\n") == "&lt;a b=&#39;c&quot;d&#39;&gt;&amp;&#9;&#10;"
    assert markup("\0\x1b\ud800\ufffe\x85") == "����\x85"
    assert page_text("\x85\u202e<") == "��&lt;"


def test_names_of_files_go_into_any_file() -> None:
    assert encodable("a\udcff") == r"a\udcff"
    assert name_of_file("d/a\x1b\udcff.xdf") == r"a�\udcff"
    assert json.loads(json_text({"a\x7f": "\udcff"})) == {"a\x7f": "\udcff"}
    assert json_text("\x7f\x80") == r'"\u007f\u0080"'


@pytest.mark.parametrize(
    ("name", "folder"),
    [("jpeg", "jpeg"), ("../x", ".._x"), ("/etc", "_etc"), ("..", "_.."), (".", "_."), ("", "_"), ("a\0\n", "a__")],
)
def test_a_name_leads_to_no_other_folder(name: str, folder: str) -> None:
    assert folder_name(name) == folder


def test_a_message_shows_no_character_that_does_not_print(tmp_path: Path) -> None:
    source = tmp_path / "a\x1b\u202e.cal"
    source.write_text("漢\tx\x9by = 漢字 z\n")
    span = Span(str(source), 1, 9, 1, 11)
    text = render(Diagnostic(message="\x1b]0;x\x07\nerror: y", span=span, expected="\x9b\u2066\r"))
    lines = text.split("\n")
    assert lines[0].endswith("a��.cal:1:9: error: �]0;x��error: y")
    assert lines[1:] == ["    漢\tx�y = 漢字 z", "      \t      ^^^^", "  = ���"]
    assert cells("漢字a\u0301") == 5


# Streams --------------------------------------------------------------------------------------------------------------


class Broken(io.StringIO):
    """A stream that takes some characters, then fails."""

    def __init__(self, room: int, error: OSError) -> None:
        super().__init__()
        self.room = room
        self.error = error

    def write(self, text: str) -> int:
        """Write while there is room."""
        if self.tell() + len(text) > self.room:
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("room", [0, 30, 200])
def test_a_search_whose_reader_goes_is_finished(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = Broken(room, BrokenPipeError(32, "Broken pipe"))
    monkeypatch.chdir(tmp_path)
    words = "--engine reference --missing-weights nominal --budget 4 --out o"
    with contextlib.redirect_stdout(output):
        assert main(["explore", str(PINGPONG), *words.split()]) == 0
    assert {p.name for p in (tmp_path / "o").iterdir()} >= {
        "best-01.xcf",
        "report.html",
        "ranking.json",
        "study.sqlite",
    }


def test_output_that_cannot_be_written_is_an_error_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(Broken(0, OSError(28, "No space left on device"))):
        assert main(["trace", str(PINGPONG), "-o", "t.trace"]) == 1
    assert "error: standard output: No space left on device\n  = " in capsys.readouterr().err
    assert (tmp_path / "t.trace").exists()


def test_an_error_of_the_input_keeps_its_code_when_nobody_reads(capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.redirect_stderr(Broken(0, BrokenPipeError(32, "Broken pipe"))):
        assert main(["check", "nothere.xdf"]) == 1
    with contextlib.redirect_stdout(Broken(0, BrokenPipeError(32, "Broken pipe"))):
        assert main(["check", str(PINGPONG.parent / "nothere.xdf")]) == 1


def test_a_run_ends_where_nobody_reads_what_is_all_it_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(Broken(0, BrokenPipeError(32, "Broken pipe"))):
        assert main(["run", str(PINGPONG)]) == READER_GONE
        assert main(["run", str(PINGPONG), "-o", "x.yuv"]) == 0
        assert main(["run", str(PINGPONG), "--json"]) == 0


def test_what_a_network_prints_is_kept_for_a_pipe_and_filtered_for_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for target, seen in ((io.StringIO(), "\x1b[31m\x9b\tx\r\n"), (Terminal(), "�[31m�\tx\n")):
        with contextlib.redirect_stdout(cast(TextIO, Shown(cast(TextIO, Unfailing(target))))):
            program_output(needed=False)("\x1b[31m\x9b\tx\r\n")
        assert target.getvalue() == seen


def test_a_run_goes_on_where_it_has_more_to_give() -> None:
    broken = Broken(0, BrokenPipeError(32, "Broken pipe"))
    with contextlib.redirect_stdout(cast(TextIO, Shown(cast(TextIO, Unfailing(broken))))):
        program_output(needed=True)("x")
        with pytest.raises(ReaderGone):
            program_output(needed=False)("x")


def test_what_an_encoding_lacks_is_replaced() -> None:
    raw = io.BytesIO()
    stream = Unfailing(io.TextIOWrapper(raw, "ascii", write_through=True))
    stream.write("─ é\n")
    assert raw.getvalue() == b"? ?\n"
    assert stream.encoding == "ascii"


def test_whoever_prints_is_filtered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def printing(verb: str | None) -> None:
        sys.stdout.write("a\x1b[31m")
        sys.stderr.write("b\x9b\u202e")
        raise KeyboardInterrupt

    monkeypatch.setattr("dse.cli.main.build_parser", printing)
    assert main(["check", "x.xdf"]) == 130
    output, error = capsys.readouterr()
    assert output == "a�[31m"
    assert error.startswith("b��")


def test_no_verb_moves_the_cursor_by_itself() -> None:
    """``progress_line`` does; what other code writes to a stream would be shown, not obeyed."""
    for path in (Path(main.__code__.co_filename).parent).glob("*.py"):
        if path.name != "streams.py":
            text = path.read_text("utf-8")
            assert "\\r" not in text, f"{path.name} writes a carriage return: progress_line does that"
            assert "\\x1b" not in text, f"{path.name} writes an escape: progress_line does that"


# Processes ------------------------------------------------------------------------------------------------------------

_DSE = f"{shlex.quote(sys.executable)} -m dse"
_TRACE = f"{_DSE} trace {shlex.quote(str(PINGPONG))} -o t.trace"
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
_ENVIRONMENT["PYTHONPATH"] = str(PINGPONG.parents[2])


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (f"{_TRACE} >&-", 0, ""),
        (f"{_TRACE} >&- 2>&- <&-", 0, ""),
        pytest.param(
            f"{_TRACE} >/dev/full",
            1,
            "error: standard output: No space left on device",
            marks=pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full"),
        ),
        (f"set -o pipefail; {_TRACE} 2>&1 | true", 0, ""),
        (f"set -o pipefail; {_DSE} check nothere.xdf 2>&1 | true", 1, ""),
        (f"set -o pipefail; {_DSE} explore --help | true", 0, ""),
    ],
)
def test_a_process_keeps_its_work_and_its_code(command: str, code: int, said: str, tmp_path: Path) -> None:
    bash = ["bash", "-c", command]
    run = subprocess.run(bash, cwd=tmp_path, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr
    assert "Traceback" not in run.stderr
    assert "Exception ignored" not in run.stderr
    assert said in run.stderr
    if "trace" in command:
        assert main(["trace", "--info", str(tmp_path / "t.trace")]) == 0
    assert not list(tmp_path.glob(".dse-*"))


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, *seldom({"PYTHONIOENCODING": "ascii"})])
def test_a_path_that_is_no_utf8_in_any_locale(variables: dict[str, str], tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/n\xff\xe9"
    os.mkdir(folder)
    os.symlink(os.fsencode(PINGPONG.parent), folder + b"/pingpong")
    words = ["explore", b"pingpong/pingpong.xdf", "--engine", "reference", "--missing-weights", "nominal"]
    words += ["--budget", "3", "--out", b"o\xff"]
    command = [sys.executable, "-m", "dse", *words]
    run = subprocess.run(command, cwd=folder, env=_ENVIRONMENT | variables, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert b"written to o" in run.stdout
    assert b"Traceback" not in run.stderr
    assert {b"report.html", b"manifest.json", b"best-01.xcf"} <= set(os.listdir(folder + b"/o\xff"))
