"""The C++ compiler: which one there is, whether it is new enough, and calling it.

Tried in this order: the one that is asked for, ``$CXX``, ``g++``, ``clang++``, and the clang of the Python package
``ziglang`` (extra ``dse[native]``), which needs no installation by the system. Together with ``dse/native/process.py``
this is the only place that starts other programs.
"""

import contextlib
import functools
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from dse.base.errors import BuildError
from dse.base.escaping import shown
from dse.base.numbers import shortened

Family: TypeAlias = Literal["gcc", "clang", "zig"]

LEAST_VERSIONS: dict[Family, int] = {"gcc": 11, "clang": 14, "zig": 14}
"""The first major version of each family whose C++20 is enough."""
NO_COMPILER = "install g++ (Debian, Ubuntu: apt install g++), or the package with a compiler: pip install 'dse[native]'"
_ASKING_SECONDS = 120.0
"""A compiler that does not even tell its version in this time hangs. The one of zig builds itself first."""
_BACKGROUND_NICENESS = 5
_NO_COLLECTION = ("--param=ggc-min-expand=1000", "--param=ggc-min-heapsize=600000")
"""Of g++: memory in kB below which it collects no garbage. A file of ours takes up to 500 MB; it was 430 MB."""
_MACROS = ("__clang_major__", "__GNUC__")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A C++ compiler that was found. ``command``: the program and the arguments that always come first."""

    command: tuple[str, ...]
    zig: bool = False

    @property
    def name(self) -> str:
        """The command in words."""
        return "the package ziglang" if self.zig else " ".join(self.command)

    @property
    def identity(self) -> str:
        """What changes when the compiler is replaced: its path, and size and time of its file."""
        path = Path(shutil.which(self.command[0]) or self.command[0])
        with contextlib.suppress(OSError):
            state = path.stat()
            package = _zig_version() if self.zig else ""
            return f"{path.resolve()} {state.st_size} {state.st_mtime_ns} {self.command[1:]} {package}"
        return " ".join(self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerVersion:
    """What a compiler says of itself. ``text``: the first line of its ``--version``."""

    family: Family
    major: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """How a call of the compiler ended. ``code``: its exit code, below 0 for a signal; ``text``: all that it said."""

    code: int
    text: str


def find_compiler(chosen: str | None = None) -> Compiler:
    """Return the compiler to use; ``chosen`` and ``$CXX`` may hold arguments too.

    Raises:
        BuildError: there is none, or the one that is asked for does not exist.
    """
    for asked, origin in ((chosen, "--compiler"), (os.environ.get("CXX"), "the environment variable CXX")):
        if asked is not None and asked.strip():
            return _asked(asked, origin)
    for name in ("g++", "clang++"):
        if shutil.which(name) is not None:
            return Compiler(command=(name,))
    if importlib.util.find_spec("ziglang") is not None:
        return Compiler(command=(sys.executable, "-m", "ziglang", "c++"), zig=True)
    raise BuildError("there is no C++ compiler: neither g++ nor clang++ is on the path", expected=NO_COMPILER)


def _asked(text: str, origin: str) -> Compiler:
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise BuildError(
            f"the compiler '{text}' of {origin} is not understood: {error}", expected="a command, such as g++-12"
        ) from error
    if shutil.which(command[0]) is None:
        raise BuildError(f"there is no compiler '{command[0]}', which {origin} names", expected=NO_COMPILER)
    return Compiler(command=command, zig="ziglang" in command)


def _zig_version() -> str:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return ""
    with contextlib.suppress(OSError):
        return str((Path(spec.origin).parent / "zig").stat().st_mtime_ns)
    return ""


def compiler_version(compiler: Compiler) -> CompilerVersion:
    """Ask a compiler what it is.

    Raises:
        BuildError: it cannot be started, is no C++ compiler, or is too old.
    """
    asked = ("-dM", "-E", "-x", "c++", os.devnull)
    macros = call_tool((*compiler.command, *asked), time_limit_s=_ASKING_SECONDS)
    found = dict(re.findall(r"#define (\w+) (\d+)\s", macros.text + "\n"))
    clang, gcc = (found.get(name) for name in _MACROS)
    if macros.code != 0 or (clang is None and gcc is None):
        answer = next(filter(None, map(str.strip, macros.text.splitlines())), "nothing")
        raise BuildError(
            f"'{compiler.name}' is no C++ compiler that dse knows: called with '{' '.join(asked)}' it names neither"
            f" {' nor '.join(_MACROS)}, its code is {macros.code}, and it says: {shown(shortened(answer))}",
            expected="g++ or clang++ by --compiler or CXX",
        )
    family: Family = "gcc" if clang is None else "zig" if compiler.zig else "clang"
    major = int(clang or gcc or 0)
    if major < LEAST_VERSIONS[family]:
        raise BuildError(
            f"the compiler '{compiler.name}' is version {major} of {family}, which is too old",
            expected=f"{family} {LEAST_VERSIONS[family]} or newer, by --compiler or CXX",
        )
    said = call_tool((*compiler.command, "--version"), time_limit_s=_ASKING_SECONDS)
    return CompilerVersion(family=family, major=major, text=next(iter(said.text.strip().splitlines()), ""))


def quick_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags with which a compiler makes the same in less time and more memory: g++ collects no garbage."""
    return _NO_COLLECTION if is_gcc(compiler) else ()


def is_gcc(compiler: Compiler) -> bool:
    """Return whether a compiler is g++; no where it does not tell."""
    return _is_gcc(compiler, compiler.identity)


@functools.cache
def _is_gcc(compiler: Compiler, _identity: str) -> bool:
    try:
        return compiler_version(compiler).family == "gcc"
    except BuildError:
        return False


def native_target(compiler: Compiler) -> str:
    """Return what ``-march=native`` means to a compiler on this machine: the macros that it then predefines.

    Raises:
        BuildError: it cannot be started, or does not know the flag.
    """
    return _native_macros(compiler, compiler.identity)


@functools.cache
def _native_macros(compiler: Compiler, _identity: str) -> str:
    told = call_tool(
        (*compiler.command, "-march=native", "-dM", "-E", "-x", "c++", os.devnull), time_limit_s=_ASKING_SECONDS
    )
    if told.code != 0:
        raise BuildError(f"'{compiler.name}' does not take -march=native", expected="build without --march-native")
    return "\n".join(sorted(line for line in told.text.splitlines() if line.startswith("#define ")))


class RunningTools:
    """The calls that are under way, so that all can be ended at once. May be used by several threads."""

    def __init__(self, *, background: bool = False) -> None:
        self.background = background
        """Whether they give way to other work."""
        self._lock = threading.Lock()
        self._live: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def end(self) -> None:
        """End what runs, and start nothing more."""
        with self._lock:
            self._ended = True
            for process in self._live:
                _kill(process)

    @property
    def ended(self) -> bool:
        """Whether ``end`` was called."""
        return self._ended

    def add(self, process: "subprocess.Popen[bytes]") -> None:
        """Take a process; it is ended at once if all are."""
        with self._lock:
            self._live.add(process)
            if self._ended:
                _kill(process)
        if self.background:
            with contextlib.suppress(OSError, AttributeError):
                os.setpriority(os.PRIO_PGRP, process.pid, _BACKGROUND_NICENESS)

    def remove(self, process: "subprocess.Popen[bytes]") -> None:
        """Forget a process that has ended."""
        with self._lock:
            self._live.discard(process)


def call_tool(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    scratch: Path | None = None,
    time_limit_s: float | None = None,
    among: RunningTools | None = None,
) -> ToolResult:
    """Call a program of the toolchain in a folder, and wait for it.

    ``scratch``: where it puts files of its own, of which some stay when it is killed; None: where the system has them.

    Raises:
        BuildError: it cannot be started, or takes longer than ``time_limit_s`` seconds.
    """
    live = among or RunningTools()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env=None if scratch is None else {**os.environ, "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BuildError(f"the compiler '{command[0]}' cannot be started: {reason}", expected=NO_COMPILER) from error
    live.add(process)
    try:
        output, _ = process.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"the compiler '{command[0]}' has not ended after {time_limit_s:g} s", expected="try it alone: it may hang"
        ) from error
    finally:
        if process.poll() is None:
            _kill(process)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        live.remove(process)
    return ToolResult(code=process.returncode, text=output.decode("utf-8", "replace"))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it started: g++ only calls the compiler, which would go on and hold the pipe."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
