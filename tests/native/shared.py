"""What all workers of a run of the tests have in common: what one of them compiles while the others wait for it.

Programs of tests lie in ``shared_folder``; objects and programs that dse builds in ``native_cache``.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dse.base.caches import cache_folder, digest_of
from dse.codegen.cpp.target import ACTOR_HEADERS
from dse.native.build import BuildOptions, build_objects, object_key, prelude_key
from dse.native.cache import FileCache
from dse.native.emission import SHARED_UNITS
from dse.native.prelude import kept_preludes
from dse.native.project import Project, runtime_headers, write_sources
from dse.native.toolchain import find_compiler, quick_flags
from dse.native.warm import warm

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

RUNTIME = Path(__file__).parents[2] / "dse" / "native" / "runtime"
COMPILER = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
OF_SETUP = FileCache("objects", ".o")
PRELUDES_OF_SETUP = kept_preludes()
"""What ``make setup`` compiled: the caches that there are before the tests have some of their own."""
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


def written_once(name: str, write: Callable[[Path], Path]) -> Path:
    """Return a file that one worker writes, with what belongs to it, into a folder of that name that all workers see.

    Where its sources lie is part of a program: those that lie in a folder of each worker are compiled by each.
    """
    folder = shared_folder().with_name("sources") / name
    told = folder.with_suffix(".path")
    with one_worker(folder.with_suffix(".lock")):
        if not told.exists():
            folder.mkdir(parents=True, exist_ok=True)
            told.write_text(str(write(folder)), encoding="utf-8")
    return Path(told.read_text(encoding="utf-8"))


def native_cache() -> Path:
    """Return the folder of the caches for tests that build: what one has compiled, all others find."""
    folder = shared_folder().with_name("native-cache")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def warm_once(build: BuildOptions) -> None:
    """Compile what all programs of a kind of build share into the present cache, unless another worker has."""
    with _one_to_compile(build):
        warm(replace(build, jobs=None))  # the others wait: their cores are free


@contextlib.contextmanager
def _one_to_compile(build: BuildOptions) -> Iterator[None]:
    """Let one worker compile what all programs of a kind of build share, less what ``make setup`` has compiled."""
    with one_worker(shared_folder() / f"{digest_of(*build.flags)}.lock"):
        _take_over(FileCache("objects", ".o"), OF_SETUP, _shared_keys(build))
        headers, compiler = dict(runtime_headers()), find_compiler(COMPILER)
        _take_over(kept_preludes(), PRELUDES_OF_SETUP, [prelude_key(ACTOR_HEADERS, headers, compiler, build)])
        yield


def _take_over(ours: FileCache, of_setup: FileCache, keys: Sequence[str]) -> None:
    """Put what another cache has into ours, unless that has it."""
    for key in keys:
        compiled_before = of_setup.get(key)
        if compiled_before is not None and ours.get(key) is None:
            ours.put(key, compiled_before)


def _shared_keys(build: BuildOptions) -> list[str]:
    """Return the keys of the objects of the command line and of the engine."""
    headers, compiler = dict(runtime_headers()), find_compiler(COMPILER)
    return [object_key(unit, headers, compiler, build) for unit in SHARED_UNITS]


@cache
def runtime_objects(build: BuildOptions) -> tuple[Path, Path]:
    """Return the objects of the command line and of the engine, the same that programs of networks have."""
    project = Project(name="shared", units=SHARED_UNITS, headers=runtime_headers())
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="dse-shared-") as folder:
        patch.setenv("DSE_CACHE", str(native_cache()))
        with _one_to_compile(build):
            write_sources(project, Path(folder), {})
            build_objects(project, Path(folder), find_compiler(COMPILER), build)
        kept = map(FileCache("objects", ".o").get, _shared_keys(build))
    main, engine = (path for path in kept if path is not None)
    return main, engine


def needs_compiler() -> None:
    """Skip a test where there is no compiler that has the sanitizers."""
    if COMPILER is None:
        pytest.skip(NO_COMPILER)


def compiled(source: Path, *flags: str, objects: Sequence[Path] = ()) -> Path:
    """Return the program that one file of C++ is, with ``objects``, compiled unless one of the same text was.

    Skips without compiler.
    """
    needs_compiler()
    return _compiled(source, (*flags, f"-I{RUNTIME}"), tuple(objects))


@cache
def _compiled(source: Path, flags: tuple[str, ...], objects: tuple[Path, ...]) -> Path:
    program = shared_folder() / f"{source.stem}-{_digest(source, flags, objects)}"
    with one_worker(program.with_suffix(".lock")):
        if not program.exists():
            made = program.with_suffix(".part")
            files = [str(path) for path in (source, *objects)]
            done = _called(*flags, *quick_flags(find_compiler(COMPILER)), *files, "-o", str(made))
            assert done.returncode == 0, done.stderr[:6000]
            made.replace(program)
    return program


def _digest(source: Path, flags: Sequence[str], objects: Sequence[Path]) -> str:
    """Return the digest of all that a program is made of."""
    named = _called(*flags, "-MM", str(source)).stdout.replace("\\\n", " ").split()[1:]
    assert str(source) in named, "the compiler tells which files it reads"
    return digest_of(_version(), *flags, *(Path(name).read_bytes() for name in (*named, *objects)))


@cache
def _version() -> str:
    return _called("--version").stdout


@cache
def _scratch() -> str:
    return tempfile.mkdtemp(prefix="dse-tests-")


def _called(*arguments: str) -> "subprocess.CompletedProcess[str]":
    assert COMPILER is not None, NO_COMPILER
    return subprocess.run([COMPILER, *arguments], capture_output=True, text=True, check=False)
