"""What all tests share: caches stay inside the temporary folder of the run; native programs have one of all workers."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.native.toolchain import Compiler, compiler_version, find_compiler

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]


@pytest.fixture(autouse=True, scope="session")
def _cache_in_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("DSE_CACHE", str(tmp_path_factory.mktemp("cache")))
    patch.setenv("DSE_TEST_PROGRAMS", str(_shared_by_workers(tmp_path_factory) / "test-programs"))
    yield
    patch.undo()


def _shared_by_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder of a run of the tests that all its workers have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def _native_cache(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiler, Path]:
    """The compiler of native programs, and a cache that holds the objects which all of them share."""
    try:
        compiler = find_compiler()
        compiler_version(compiler)
    except BuildError as missing:
        pytest.skip(missing.diagnostics[0].message)
    folder = _shared_by_workers(tmp_path_factory) / "native-cache"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one worker compiles, the others wait for its objects
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DSE_CACHE", str(folder))
            _compile_shared(compiler, tmp_path_factory.mktemp("shared"))
    return compiler, folder


@pytest.fixture
def native_compiler(_native_cache: tuple[Compiler, Path], monkeypatch: pytest.MonkeyPatch) -> Compiler:
    """The compiler that builds native programs, with the objects of earlier builds; skips where there is none.

    Only tests that ask for it find programs that were built: all others run networks in Python, unless that is long.
    """
    compiler, folder = _native_cache
    monkeypatch.setenv("DSE_CACHE", str(folder))
    return compiler


def _compile_shared(compiler: Compiler, folder: Path) -> None:
    """Build one program, so that the objects that do not depend on the network are there."""
    from dse.frontend.network.elaborate import load_network
    from dse.native.program import NativeProgram, ProgramKind

    path = Path(__file__).parents[1] / "actors" / "pingpong" / "pingpong.xdf"
    program = NativeProgram(load_network(str(path)).network, ProgramKind(), compiler)
    if program.kept() is None:
        program.build(folder, progress=lambda _done, _all: None)


def pytest_collection_finish() -> None:
    """Leave the modules and the thousands of collected tests out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
