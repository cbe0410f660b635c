"""Which compiler is taken, and what is said of one that is missing, too old, or hangs."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.native import toolchain
from dse.native.toolchain import (
    Compiler,
    RunningTools,
    call_tool,
    compiler_version,
    find_compiler,
    native_target,
    quick_flags,
)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path that holds nothing but what a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    return folder


def put(folder: Path, name: str, *lines: str) -> None:
    file = folder / name
    file.write_text("\n".join((f"#!{sys.executable} -S", *lines, "")))
    file.chmod(0o755)


def says(macros: str, version: str = "version 1") -> str:
    return f"import sys; print({version!r} if '--version' in sys.argv else {macros!r})"


GCC = says("#define __GNUC__ 12\n#define __GNUC_MINOR__ 2", "g++ 12.2")
CLANG = says("#define __GNUC__ 4\n#define __clang_major__ 15", "clang version 15.0")


def test_in_this_order(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name == "ziglang" else None)
    assert find_compiler() == Compiler(command=(sys.executable, "-m", "ziglang", "c++"), zig=True)
    put(tools, "clang++", CLANG)
    assert find_compiler().command == ("clang++",)
    put(tools, "g++", GCC)
    assert find_compiler().command == ("g++",)
    put(tools, "mine", GCC)
    monkeypatch.setenv("CXX", "mine -m64")
    assert find_compiler().command == ("mine", "-m64")
    assert find_compiler("clang++").command == ("clang++",)
    monkeypatch.setenv("CXX", " ")
    assert find_compiler().command == ("g++",)


def test_none(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BuildError, match=r"neither g\+\+ nor clang\+\+") as caught:
        find_compiler()
    assert "dse[native]" in caught.value.diagnostics[0].expected
    with pytest.raises(BuildError, match="no compiler 'g7', which --compiler names"):
        find_compiler("g7 -x")
    monkeypatch.setenv("CXX", "g8")
    with pytest.raises(BuildError, match="which the environment variable CXX names"):
        find_compiler()
    with pytest.raises(BuildError, match="is not understood"):
        find_compiler("g++ '")


def test_versions(tools: Path) -> None:
    put(tools, "g++", GCC)
    put(tools, "clang++", CLANG)
    found = compiler_version(Compiler(command=("g++",)))
    assert (found.family, found.major, found.text) == ("gcc", 12, "g++ 12.2")
    assert compiler_version(Compiler(command=("clang++",))).family == "clang"
    assert compiler_version(Compiler(command=("clang++",), zig=True)).family == "zig"


def test_too_old_or_none_at_all(tools: Path) -> None:
    put(tools, "g++", says("#define __GNUC__ 9"))
    with pytest.raises(BuildError, match="'g\\+\\+' is version 9 of gcc, which is too old") as caught:
        compiler_version(Compiler(command=("g++",)))
    assert caught.value.diagnostics[0].expected == "gcc 11 or newer, by --compiler or CXX"
    put(tools, "false", "raise SystemExit(1)")
    with pytest.raises(BuildError, match=r"'false' is no C\+\+ compiler.*, its code is 1, and it says: nothing"):
        compiler_version(Compiler(command=("false",)))
    put(tools, "wrapper", "print(); print('wrapper: no preprocessor')")
    with pytest.raises(BuildError, match="nor __GNUC__, its code is 0, and it says: wrapper: no preprocessor"):
        compiler_version(Compiler(command=("wrapper",)))
    (tools / "broken").write_bytes(b"\x7fELF")
    (tools / "broken").chmod(0o755)
    with pytest.raises(BuildError, match="cannot be started"):
        compiler_version(Compiler(command=("broken",)))


def test_only_gcc_gets_the_flags_of_gcc(tools: Path) -> None:
    assert quick_flags(Compiler(command=("false",))) == ()
    for macros, has_flags in (("#define __GNUC__ 12", True), ("#define __GNUC__ 4\n#define __clang_major__ 14", False)):
        put(tools, "g++", says(macros, "version " + macros))  # on some systems g++ is clang
        assert bool(quick_flags(Compiler(command=("g++",)))) is has_flags


def test_one_that_hangs(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tools, "g++", "import time; time.sleep(60)")
    monkeypatch.setattr(toolchain, "_ASKING_SECONDS", 0.3)
    with pytest.raises(BuildError, match=r"has not ended after 0\.3 s"):
        compiler_version(Compiler(command=("g++",)))


def test_a_replaced_compiler_is_another_one(tools: Path) -> None:
    put(tools, "g++", GCC)
    compiler = Compiler(command=("g++",))
    first = compiler.identity
    assert compiler.identity == first
    put(tools, "g++", GCC, "# newer")
    assert compiler.identity != first


def test_a_compiler_tells_what_native_means(tools: Path) -> None:
    put(tools, "g++", "import sys; print('#define __AVX__ 1' if '-march=native' in sys.argv else '')", "print('noise')")
    assert native_target(Compiler(command=("g++",))) == "#define __AVX__ 1"
    put(tools, "g++", "import sys", "print('#define __SSE__ 1')", "# the compiler of another machine")
    assert native_target(Compiler(command=("g++",))) == "#define __SSE__ 1"
    put(tools, "g++", "raise SystemExit(1)")
    with pytest.raises(BuildError, match="does not take -march=native"):
        native_target(Compiler(command=("g++",)))


def test_all_are_ended_at_once(tools: Path) -> None:
    put(tools, "slow", "import time; print(1, flush=True); time.sleep(60)")
    live = RunningTools(background=True)
    live.end()
    assert call_tool(("slow",), among=live).code < 0
    assert os.getpriority(os.PRIO_PROCESS, 0) == os.getpriority(os.PRIO_PROCESS, os.getpid())


def wait_for(happens, seconds: float = 10.0) -> bool:
    """Return whether something happens within a time."""
    end = time.monotonic() + seconds
    while not happens() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(happens())


def is_alive(pid: int) -> bool:
    """Return whether a process is there and is more than what waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not list processes")
def test_what_a_compiler_has_started_ends_with_it(tools: Path, tmp_path: Path) -> None:
    """g++ only calls the compiler proper, which has the pipe too: who waits for its end would wait for that."""
    said = tmp_path / "pid"
    child = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(30)"
    put(tools, "driver", "import subprocess, sys", f"subprocess.run([sys.executable, '-S', '-c', {child!r}])")
    live, codes = RunningTools(), list[int]()
    thread = threading.Thread(target=lambda: codes.append(call_tool(("driver",), folder=tmp_path, among=live).code))
    thread.start()
    assert wait_for(lambda: said.exists() and said.read_text())
    started = time.monotonic()
    live.end()
    thread.join(15)
    assert time.monotonic() - started < 10
    assert codes == [-9]
    assert wait_for(lambda: not is_alive(int(said.read_text())))


def test_what_a_compiler_leaves_is_in_the_folder_of_the_build(tools: Path, tmp_path: Path) -> None:
    put(tools, "g++", "import os; print(os.environ.get('TMPDIR'))")
    assert call_tool(("g++",), scratch=tmp_path).text.strip() == str(tmp_path)
