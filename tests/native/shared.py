"""What all workers of a run of the tests have in common: what one of them compiles while the others wait for it.

Programs of tests lie in ``shared_folder``; objects and programs that dse builds in ``native_cache``.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dse.base.caches import cache_folder, digest_of
from dse.native.build import BuildOptions
from dse.native.toolchain import find_compiler, quick_flags
from dse.native.warm import warm

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

RUNTIME = Path(__file__).parents[2] / "dse" / "native" / "runtime"
COMPILER = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
NO_COMPILER = "there is no g++ and no clang++, which have the sanitizers"


@contextlib.contextmanager
def one_worker(lock: Path) -> Iterator[None]:
    """Let the other workers wait, who then find what this one has made. ``lock``: a file in a folder that all share."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def shared_folder() -> Path:
    """Return where programs of tests lie: of all workers of one run, or of all runs of the fuzzers."""
    return Path(os.environ.get("DSE_TEST_PROGRAMS") or cache_folder("native/tests") or _scratch())


def native_cache() -> Path:
    """Return the folder of the caches for tests that build: what one has compiled, all others find."""
    folder = shared_folder().with_name("native-cache")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def warm_once(build: BuildOptions) -> None:
    """Compile what all programs of a kind of build share into the present cache, unless another worker has."""
    with one_worker(shared_folder() / f"{digest_of(*build.flags)}.lock"):
        warm(replace(build, jobs=None))  # the others wait: their cores are free


def compiled(source: Path, *flags: str) -> Path:
    """Return the program that one file of C++ is, compiled unless one of the same text was. Skips without compiler."""
    if COMPILER is None:
        pytest.skip(NO_COMPILER)
    return _compiled(source, (*flags, f"-I{RUNTIME}"))


@cache
def _compiled(source: Path, flags: tuple[str, ...]) -> Path:
    program = shared_folder() / f"{source.stem}-{_digest(source, flags)}"
    with one_worker(program.with_suffix(".lock")):
        if not program.exists():
            made = program.with_suffix(".part")
            done = _called(*flags, *quick_flags(find_compiler(COMPILER)), str(source), "-o", str(made))
            assert done.returncode == 0, done.stderr[:6000]
            made.replace(program)
    return program


def _digest(source: Path, flags: Sequence[str]) -> str:
    """Return the digest of all that a program is made of."""
    named = _called(*flags, "-MM", str(source)).stdout.replace("\\\n", " ").split()[1:]
    assert str(source) in named, "the compiler tells which files it reads"
    return digest_of(_version(), *flags, *(Path(name).read_bytes() for name in named))


@cache
def _version() -> str:
    return _called("--version").stdout


@cache
def _scratch() -> str:
    return tempfile.mkdtemp(prefix="dse-tests-")


def _called(*arguments: str) -> "subprocess.CompletedProcess[str]":
    assert COMPILER is not None, NO_COMPILER
    return subprocess.run([COMPILER, *arguments], capture_output=True, text=True, check=False)
