"""What all tests share: caches stay inside the temporary folder of the run; native programs have one of all workers."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.__main__ import NEW_OBJECTS
from dse.base.errors import BuildError
from dse.native.build import BuildOptions
from dse.native.toolchain import Compiler, compiler_version, find_compiler
from tests.native.shared import native_cache, warm_once


def pytest_configure() -> None:
    """Hear interrupts where a shell started the tests in the background, which ignores them: what they start does."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _cache_in_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch, shared = pytest.MonkeyPatch(), _shared_by_workers(tmp_path_factory)
    cache, costs = tmp_path_factory.mktemp("cache"), shared / "gpu-costs"
    costs.mkdir(exist_ok=True)
    (cache / "gpu").symlink_to(costs)  # what firings cost on a GPU takes seconds, the same in each worker
    patch.setenv("DSE_CACHE", str(cache))
    patch.setenv("DSE_TEST_PROGRAMS", str(shared / "test-programs"))
    yield
    patch.undo()


def _shared_by_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder of a run of the tests that all its workers have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def _compiler() -> Compiler:
    """The compiler of native programs, after all that they share was compiled; skips where there is none."""
    try:
        compiler = find_compiler()
        compiler_version(compiler)
    except BuildError as missing:
        pytest.skip(missing.diagnostics[0].message)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSE_CACHE", str(native_cache()))
        for kind in (BuildOptions(), BuildOptions(timed=True)):
            warm_once(kind)
    return compiler


@pytest.fixture
def native_compiler(_compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    """The compiler that builds native programs, with the objects of earlier builds; skips where there is none.

    Only tests that ask for it find programs that were built: all others run networks in Python, unless that is long.
    """
    monkeypatch.setenv("DSE_CACHE", str(native_cache()))
    return _compiler


@pytest.fixture(scope="module")
def native_compiler_of_module(_compiler: Compiler) -> Iterator[Compiler]:
    """The same for all tests of a module, and for its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSE_CACHE", str(native_cache()))
        yield _compiler


def pytest_collection_finish() -> None:
    """Leave modules and collected tests out of every later collection of garbage, which is as rare as in a verb."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
