"""``dse build`` and ``--execution`` as a user calls them: a program, its folder, and the same results as in Python."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dse.base.errors import ExecutionError
from dse.cli.main import main
from dse.native.build import BuildOptions
from dse.native.emission import SHARED_UNITS
from dse.native.execution import run_native
from dse.native.program import NativeProgram, ProgramKind
from dse.native.toolchain import Compiler
from dse.run.natives.effects import why_time_matters
from dse.run.options import RunOptions
from tests.native.same.batches import CASES
from tests.native.shared import runtime_objects, warm_once
from tests.unit.run.programs import network_of

ROOT = Path(__file__).resolve().parents[2]
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")
STRAY = """actor Stray () ==> : int(size=32) n := 0; int(size=8) list[4];
    go: action ==> guard n < 6 do println("n = " + list[n]); list[n] := n; n := n + 1; end end"""
NATIVE = """actor A () ==> : int n := 0;
    @native function twice(int x) --> int end
    @native procedure unknown_thing(int x) end
    go: action ==> guard n < 3 do n := n + 1; println(twice(n)); if n > 5 then unknown_thing(n); end end end"""
DIVIDES = "actor D () ==> : int n := 3; go: action ==> do n := n - 1; println(6 / n); end end"
HANGS = """actor Hangs () int(size=32) I ==> : int n := 0;
    take: action I:[x] ==> do n := n + x; while n = 6 do n := 6; end end end"""
THREE = "actor Three () ==> int(size=32) O : int n := 0; put: action ==> O:[n] guard n < 9 do n := n + 1; end end"
RING = """actor Ring () int(size=32) I ==> int(size=32) O : bool begun := false;
    launch: action ==> O:[1] guard not begun do begun := true; end
    pass: action I:[x] ==> O:[x] guard begun end end"""
RELAY = "actor Relay () int(size=32) I ==> int(size=32) O : pass: action I:[x] ==> O:[x] end end"


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def both(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The document of a verb, which is that of both executions but for the key that names them."""
    documents = [as_json(capsys, *arguments, "--execution", mode) for mode in ("native", "python")]
    assert [d.pop("execution") for d in documents] == ["native", "python"]
    for document in documents:
        if "made_by" in document:
            del document["made_by"]["execution"]
    assert documents[0] == documents[1]
    return documents[0]


def test_a_folder_with_sources_and_a_program(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    document = as_json(capsys, "build", PINGPONG, "-o", str(folder))
    assert (document["app"], document["network"]) == (str(folder / "app"), "pingpong")
    done = subprocess.run([folder / "app"], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "actors" / "pingpong" / "expected" / "stdout.txt").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["kind"], manifest["portable"]) == ("native program of dse", True)
    assert "-O2" in manifest["flags"]
    assert set(document["files"]) | {"app"} == set(manifest["files"])
    assert all((folder / path).is_file() for path in manifest["files"])
    again = as_json(capsys, "build", PINGPONG, "-o", str(folder))
    assert (again["compiled"], again["reused"]) == (0, document["compiled"] + document["reused"])


LAUNCHER = """import os, shutil, sys
ready, command = dict(pair.split("=", 1) for pair in sys.argv[1].split("|")), sys.argv[2:]
(source,) = [os.path.basename(word) for word in command if word.endswith(".cpp")] or [""]
if source in ready:
    shutil.copy(ready[source], command[command.index("-o") + 1])
else:
    os.execvp(command[0], command)
"""
"""Stands before the compiler: the two long files of each program are compiled already (``make test-full`` does it)."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_builds_the_same_program(tmp_path: Path, native_compiler: Compiler) -> None:
    assert main(["build", PINGPONG, "-o", str(tmp_path / "made"), "--quiet"]) == 0
    command = ["cmake", "-S", str(tmp_path / "made"), "-B", str(tmp_path / "build")]
    compiler = shutil.which(native_compiler.command[0])
    command += [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]  # quick
    if not CASES and not native_compiler.zig:
        (tmp_path / "launcher.py").write_text(LAUNCHER)
        kept = zip(SHARED_UNITS, runtime_objects(BuildOptions()), strict=True)
        ready = "|".join(f"{Path(unit.path).name}={compiled}" for unit, compiled in kept)
        command += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={sys.executable};{tmp_path / 'launcher.py'};{ready}"]
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(tmp_path / "build"), "--parallel", "2"], check=True, capture_output=True)
    done = subprocess.run([tmp_path / "build" / "app"], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "actors" / "pingpong" / "expected" / "stdout.txt").read_text()


def test_what_the_folder_held_before_stays(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["build", PINGPONG, "-o", str(tmp_path)]) == 2
    assert "holds something else than a native program of dse" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_runs_and_traces_are_equal(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    document = both(capsys, "run", PINGPONG)
    assert document["firings"] == 20
    traced = both(capsys, "trace", PINGPONG, "-o", str(tmp_path / "t"))
    assert traced["digest"] == document["digest"]


def test_warnings_have_their_place(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    network_of(tmp_path, (STRAY,), "s=Stray")
    document = both(capsys, "run", str(tmp_path / "Top.xdf"))
    assert len(document["warnings"]) == 2
    assert main(["run", str(tmp_path / "Top.xdf"), "--execution", "native"]) == 0
    captured = capsys.readouterr()
    assert "6 firings, run by a native program; no actor can fire any more" in captured.err
    assert "Stray.cal:2:" in captured.err
    assert captured.out == document["stdout"]


def test_a_fault_has_its_place(tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    network_of(tmp_path, (DIVIDES,), "d=D")
    said = []
    for mode in ("native", "python"):
        assert main(["run", str(tmp_path / "Top.xdf"), "--execution", mode]) == 1
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "in 'd', go: division by zero" in said[0].err
    assert said[0].out == "3\n6\n"


def test_a_function_of_the_user_stands_for_a_native(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    network_of(tmp_path, (NATIVE,), "a=A")
    path = str(tmp_path / "Top.xdf")
    (tmp_path / "mine.cpp").write_text(
        "#include <cstdint>\n"
        "namespace my { std::int64_t twice(std::int32_t x) { int unused_one = 0; return 2 * x; } }\n"
    )
    bound = ["--native", f"A.twice={tmp_path / 'mine.cpp'}:my::twice"]
    assert main(["build", path, "-o", str(tmp_path / "made"), *bound]) == 0
    captured = capsys.readouterr()
    assert "the native 'unknown_thing' has no C++ form" in captured.err
    assert "--native A.unknown_thing=FILE.cpp:SYMBOL" in captured.err
    assert "'twice'" not in captured.err
    done = subprocess.run([tmp_path / "made" / "app"], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n4\n6\n"
    assert as_json(capsys, "run", path, *bound)["stdout"] == "2\n4\n6\n"
    (tmp_path / "mine.cpp").write_text("namespace my { static short twice(long x) { return -2 * x; } }\n")
    assert as_json(capsys, "run", path, *bound)["stdout"] == "-2\n-4\n-6\n"
    file, option = tmp_path / "mine.cpp", f"--native {bound[1].replace(str(tmp_path) + '/', '')}"
    for text, said in (
        ("int other;\n", f"{option}:4:"),
        ("namespace my { int twice(short x) { return x; } }\n", "expected std::int64_t my::twice(std::int32_t)"),
        ("namespace my { float twice(int x) { return x; } }\n", "the function has to give an integer or a bool"),
        ("namespace my {\nint twice(int x) { return y; } }\n", f"({file}:2)"),
    ):
        file.write_text(text)
        assert main(["run", path, *bound]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("kinds", ["address,undefined", "thread"])
@pytest.mark.slow
def test_sanitizers(tmp_path: Path, native_compiler: Compiler, kinds: str) -> None:
    if native_compiler.zig:
        pytest.skip("the compiler of zig brings no runtime of the sanitizers")
    warm_once(BuildOptions(sanitize=tuple(kinds.split(","))))
    assert main(["build", PINGPONG, "-o", str(tmp_path / "made"), "--sanitize", kinds, "--quiet"]) == 0
    done = subprocess.run([tmp_path / "made" / "app"], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "actors" / "pingpong" / "expected" / "stdout.txt").read_text()


def test_a_crash_has_signal_and_actor(
    tmp_path: Path, native_compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    network_of(tmp_path, (NATIVE,), "a=A")
    (tmp_path / "mine.cpp").write_text(
        "#include <csignal>\n#include <cstdint>\nstd::int64_t twice(std::int32_t x) { std::raise(SIGFPE); return x; }\n"
    )
    assert main(["run", str(tmp_path / "Top.xdf"), "--native", f"A.twice={tmp_path / 'mine.cpp'}:twice"]) == 1
    said = capsys.readouterr().err
    assert "error: the native program crashed: SIGFPE" in said
    assert "'a'" in said


@pytest.mark.parametrize(
    ("actors", "wiring", "place"),
    [
        ((THREE, HANGS), "a=Three b=Hangs a.O->b.I", r"; it was in 'b', take \(its firing [1-4] or one soon after\)"),
        (
            (RING, RELAY),
            "a=Ring b=Relay a.O->b.I b.O->a.I",
            r"; (it was in '[ab]' \(its firing [\d,]+ or|no actor was at)",
        ),
    ],
    ids=["in a firing", "in the schedule"],
)
def test_a_program_that_does_not_end_says_in_which_actor(
    tmp_path: Path, native_compiler: Compiler, actors: tuple[str, ...], wiring: str, place: str
) -> None:
    network = network_of(tmp_path, actors, wiring)
    app = NativeProgram(network, ProgramKind(), native_compiler).build(
        tmp_path / "made", progress=lambda _done, _all: None
    )
    mapping = tmp_path / "two.xcf"
    parts = "".join(f'<Partition id="p{k}" scheduling="ROUND_ROBIN"><Instance id="{k}"/></Partition>' for k in "ab")
    mapping.write_text(f'<Configuration network="Top"><Partitioning>{parts}</Partitioning></Configuration>')
    for where in (None, mapping):
        with pytest.raises(ExecutionError, match=r"has not ended after 1 s, with [\d,]+ firings at last" + place):
            run_native(network, app, RunOptions(), tuple, mapping=where, time_limit_s=1)


MERGES = """actor Merges () int(size=32) I, int(size=32) J ==> :
    x: action I:[a] ==> do println(a); end y: action J:[b] ==> do println(-b); end end"""


def test_a_run_on_threads_that_may_differ_is_warned_of(tmp_path: Path, native_compiler: Compiler) -> None:
    network = network_of(tmp_path, (THREE, MERGES), "a=Three b=Merges c=Three a.O->b.I c.O->b.J")
    app = NativeProgram(network, ProgramKind(), native_compiler).build(
        tmp_path / "made", progress=lambda _done, _all: None
    )
    parts = "".join(f'<Partition id="p{k}" scheduling="ROUND_ROBIN"><Instance id="{k}"/></Partition>' for k in "abc")
    mapping = tmp_path / "three.xcf"
    mapping.write_text(f'<Configuration network="Top"><Partitioning>{parts}</Partitioning></Configuration>')
    said = [
        subprocess.run([app, *words], capture_output=True, text=True, check=True).stderr
        for words in (["--mapping", mapping], ["--mapping", mapping, "--quiet"], [])
    ]
    assert said[0].startswith(f"warning: {why_time_matters(network)}\n")
    assert said[0].count("warning") == 1
    assert said[1] == ""
    assert "warning" not in said[2]
