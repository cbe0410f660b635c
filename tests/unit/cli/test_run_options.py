"""The options of a run, on every verb that runs a network; what an endless one shows; inputs that are folders."""

import json
import sys
from pathlib import Path

import pytest

from dse.base.errors import FormatError, OptionError
from dse.cli.main import main
from dse.cli.progress import EVERY_STAGE, RunLine, run_line
from dse.flows.inputs import default_input
from dse.flows.options import ProblemOptions, parse_memory
from dse.flows.program import RUNNING, load_program, record_trace, told_firings
from dse.flows.setting import load_setting
from dse.formats.trace_store import read_trace
from dse.frontend.network.elaborate import load_network
from dse.run.options import RunOptions
from tests.unit.run.programs import SINK, network_of

ENDLESS = "actor S () ==> int O : int n := 0; action ==> O:[n] do n := n + 1; end end"
IDLE = """actor S () ==> int O : int n := 0; send: action ==> O:[n] guard n < 3 do n := n + 1; end
    idle: action ==> guard n >= 3 end end"""
FILTER = """actor S () ==> int O : @native function native_source_produce(int k) --> int end
    action ==> O:[native_source_produce(0)] end end"""
BOUND = """actor S () ==> int O : @native function turned(int k) --> int end int n := 1;
    action ==> O:[turned(n)] guard n < 4 do n := if turned(n) = -n then n + 1 else 9 end; end end"""
COPIER = "actor Copier () int I ==> int(size=64) O : action I:[x] ==> O:[x] end end"
WRITER = """actor W () int I ==> : @native procedure Writer_init() end
    @native procedure Writer_write(uint(size=8) b) end
    @native procedure Writer_close() end int n := 0; initialize ==> do Writer_init(); end
    put: action I:[x] ==> guard n < 9 do Writer_write(x); n := n + 1; end
    close: action ==> guard n = 9 do Writer_close(); end end"""
WIRING = "s=S k=Sink s.O->k.I"


def network(folder: Path, source: str, sink: str = SINK, wiring: str = WIRING) -> str:
    """Write a network of a source and a sink, and return its path."""
    network_of(folder, (source, sink), wiring)
    return str(folder / "Top.xdf")


_NOMINAL = ("--weights", "nominal")
VERBS = [
    ("run", ()),
    ("trace", ("-o", "t.trace")),
    ("estimate", ()),
    ("explore", (*_NOMINAL, "--budget", "2", "--out", "out", "--engine", "reference")),
    ("buffers", ("--method", "maximal")),
    ("weights", ("--device", "gtx1660s")),
]


def arguments(verb: str, more: tuple[str, ...], path: str) -> list[str]:
    """Return the command line of a verb for a network."""
    return [verb, *(("predict",) if verb == "weights" else ()), path, *more]


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_every_verb_that_runs_a_network_binds_natives(
    verb: str,
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    network_of(tmp_path, (BOUND, COPIER, SINK), "s=S c=Copier k=Sink s.O->c.I c.O->k.I")
    path = str(tmp_path / "Top.xdf")
    assert main([*arguments(verb, more, path), "--quiet"]) == 1
    assert "'turned'" in capsys.readouterr().err
    bound = ("--native", "S.turned=operator:neg", "--quiet")
    assert main([*arguments(verb, more, path), *bound]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("more", [("profile", "-o", "w"), ("measure", "--sample", "2")])
def test_what_is_measured_calls_no_python(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dse.flows.measure_options.usable_cores", lambda: (0, 1))
    path = network(tmp_path, BOUND)
    assert main([more[0], path, *more[1:], "--native", "S.turned=operator:neg"]) == 2
    assert "cannot call a native that is bound to Python" in capsys.readouterr().err


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_every_verb_that_runs_a_network_can_be_told_when_to_stop(
    verb: str,
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = network(tmp_path, ENDLESS)
    limits = (
        "-l",
        "2",
        "-f",
        "3",
        "--max-firings",
        "50",
        "--max-memory",
        "2G",
        "--files",
        "made",
        "--allow-files",
        ".",
    )
    assert main([*arguments(verb, more, path), *limits, "--quiet"]) == 0, capsys.readouterr().err


def test_what_is_estimated_of_an_unfinished_run_is_said(tmp_path: Path) -> None:
    path = network(tmp_path, ENDLESS)
    setting = load_setting(ProblemOptions(program=path, run=RunOptions(max_firings=40)))
    assert setting.trace.n_firings == 40
    assert "only the first 40 firings of the network (--max-firings)" in setting.assumed
    assert ("max_firings", "40") in setting.trace.made_by


def test_what_is_left_out_of_an_endless_trace_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, store = network(tmp_path, IDLE), str(tmp_path / "t.trace")
    assert main(["trace", path, "-o", store]) == 0
    said = "which came after the last token had moved"
    assert said in capsys.readouterr().out
    trace = read_trace(store)
    counts = dict(trace.made_by)
    assert int(counts["idle firings left out"]) >= 100_000 - 4096
    assert counts["ended"] == "livelock"
    assert trace.n_firings <= 4096 + 3
    assert main(["trace", "--info", store]) == 0
    assert said in capsys.readouterr().out
    for program in (path, store):
        setting = load_setting(ProblemOptions(program=program, missing_weights="zero"))
        assert setting.trace.digest == trace.digest
        assert any(said in words for words in setting.assumed)
    assert main(["run", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["firings"] == trace.n_firings + int(counts["idle firings left out"])


def test_a_trace_is_not_run_again(tmp_path: Path) -> None:
    path, store = network(tmp_path, ENDLESS), str(tmp_path / "t.trace")
    assert main(["trace", path, "-o", store, "--max-firings", "9", "--quiet"]) == 0
    with pytest.raises(OptionError, match="a trace is not run again"):
        record_trace(load_program(store), None, run=RunOptions(loops=2))


def test_a_folder_of_inputs_goes_with_every_verb(tmp_path: Path) -> None:
    path = network(tmp_path, FILTER)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "input_0.in").write_text("1 2 3 4")
    setting = load_setting(ProblemOptions(program=path, input=str(tmp_path / "in")))
    assert setting.trace.n_firings == 8
    (key,) = [key for key, _ in setting.trace.made_by if key.startswith("read ")]
    assert key.endswith("in/input_0.in")
    store = str(tmp_path / "t.trace")
    assert main(["trace", path, "-i", str(tmp_path / "in"), "-o", store, "--quiet"]) == 0
    assert key in dict(read_trace(store).made_by)


def test_a_writer_ends_a_program_for_every_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = network(tmp_path, ENDLESS, WRITER, "s=S w=W s.O->w.I")
    trace, _ = record_trace(load_program(path), None)
    assert len(trace.firings[1]) == 10
    assert Path("dse-out/Top/files/output").read_bytes() == bytes(range(1, 10))
    assert main(["run", path, "--quiet"]) == 1, "dse run has an option to name the file"


def test_results_stay_below_their_folder_whatever_a_network_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = Path(
        network(tmp_path, "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 3 do n := n + 1; end end")
    )
    for name in ("../../stolen", f"{tmp_path}/stolen"):
        path.write_text(path.read_text().replace("Top", name))
        assert main(["explore", str(path), *_NOMINAL, "--budget", "2", "--quiet", "--engine", "reference"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["here"]
    assert all(p.parent == Path("dse-out") for p in Path("dse-out").iterdir())


def test_the_default_input_lies_with_the_network(tmp_path: Path) -> None:
    home = tmp_path / "net"
    home.mkdir()
    (tmp_path / "secret").write_text("TOP SECRET")
    (home / "data").mkdir()
    (home / "data" / "x").write_text("x")
    top = str(home / "Top.xdf")
    pointer = home / "input.default"
    (home / "link").symlink_to("../secret")
    for name in ("../secret", str(tmp_path / "secret"), "link", ".."):
        pointer.write_text(name)
        with pytest.raises(FormatError, match="is not in the folder of the network"):
            default_input(top)
    for bad in (b"\xff\xfe\n\0", b"x" * 5000, b"\x1b[31m"):
        pointer.write_bytes(bad)
        with pytest.raises(FormatError, match="no name of a file"):
            default_input(top)
    for good in ("data/x", "data", "data/../data/x"):
        pointer.write_text(f"{good}\n")
        assert default_input(top) == str(home / good)
    pointer.unlink()
    pointer.symlink_to("../secret")
    with pytest.raises(FormatError, match="is a link that leads out of the folder") as caught:
        default_input(top)
    assert "TOP" not in str(caught.value)


def test_a_link_to_a_file_of_another_kind_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("TOP SECRET\n")
    home = tmp_path / "net"
    home.mkdir()
    (home / "Top.xdf").write_text('<XDF name="Top"><Instance id="s"><Class name="S"/></Instance></XDF>')
    (home / "S.cal").symlink_to("../secret")
    (home / ".project").symlink_to("../secret")
    (home / ".classpath").symlink_to("../secret")
    with pytest.raises(Exception, match="class 'S' not found"):
        load_network(str(home / "Top.xdf"))
    (tmp_path / "Shared.cal").write_text("actor S () ==> : end")
    (home / "S.cal").unlink()
    (home / "S.cal").symlink_to("../Shared.cal")
    assert load_network(str(home / "Top.xdf")).network.instances[0].name == "s"


def interrupt() -> int:
    """A native in which the user interrupts."""
    raise KeyboardInterrupt


def test_an_interrupted_verb_says_where_the_run_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "actor S () ==> int O : @native function ask() --> int end go: action ==> O:[ask()] end end"
    path = network(tmp_path, source)
    assert main(["run", path, "--native", f"S.ask={__name__}:interrupt"]) == 130
    assert "interrupted; the run was in 's', go, after 0 firings; everything" in capsys.readouterr().err


def test_memory_as_text() -> None:
    assert [parse_memory(t) for t in ("500M", "4G", "1 GiB", "2t", "8kB")] == [
        500 << 20,
        4 << 30,
        1 << 30,
        2 << 40,
        8 << 10,
    ]
    for bad in ("", "4", "G", "-1G", "0G", "1e9G", "4.5G", "9" * 400 + "G", "1GG", "nan"):
        with pytest.raises(OptionError):
            parse_memory(bad)


def test_the_line_of_a_run_shows_firings_and_their_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    line = RunLine()
    tell = told_firings(line.show)
    for seconds, firings in ((0.1, 100), (2.0, 4_000_000), (2.1, 4_000_001)):
        now[0] = seconds
        tell(firings)
    line.show("weighing the firings")
    shown = capsys.readouterr().err
    assert shown == f"\r\x1b[K{RUNNING}: 4,000,000 firings, 2,000,000/s\r\x1b[K"


def test_off_a_terminal_a_long_run_says_how_to_end_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    line = RunLine()
    for now[0] in range(0, 200, 10):
        line.show(f"{RUNNING}: {now[0]:.0f} firings, 1/s")
    shown = capsys.readouterr().err.splitlines()
    assert shown == [f"{RUNNING}: {n} firings, 1/s; --max-firings N ends it" for n in (30, 60, 120)]
    line.show("weighing the firings")
    now[0] += 1000
    line.show(f"{RUNNING}: 0 firings, 1/s")  # another run has just begun
    assert capsys.readouterr().err == ""


def test_what_takes_long_in_many_stages_shows_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with run_line(EVERY_STAGE) as line:
        line.show("calibrating: round 1 of 5, 3 mappings")
    assert capsys.readouterr().err == "\r\x1b[Kcalibrating: round 1 of 5, 3 mappings\r\x1b[K"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with run_line(EVERY_STAGE) as line:
        for now[0] in range(0, 100, 10):
            line.show(f"measuring: run {now[0]:.0f} of 1000")
    assert capsys.readouterr().err.splitlines() == [f"measuring: run {n} of 1000" for n in (30, 60)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def neg(x):\n    sys.exit(3)", "leaving.py:3: error: this ends the program, with 3; the run was in 's'"),
        ("sys.exit('so')", "leaving.py:2: error: this ends the program, with so\n"),
    ],
)
def test_code_of_the_user_that_exits_is_named(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 3 it would say that the program deadlocks."""
    path = network(tmp_path, BOUND)
    (tmp_path / "leaving.py").write_text(f"import sys\n{text}\n")
    assert main(["run", path, "--native", "S.turned=leaving:neg"]) == 1
    assert said in capsys.readouterr().err
