"""Whether the kernel is compiled is told from the files of the compiler's cache."""

import os
import sys
import time
from pathlib import Path

import pytest

import dse.estimate.compiled.ready as ready
from dse.estimate.engine import needs_compiling


def test_an_empty_cache_means_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not ready.is_compiled()
    assert needs_compiling("compiled")
    assert not needs_compiling("reference")


@pytest.mark.parametrize("late", ["kernel", "path_kernel"])
def test_a_cache_older_than_a_kernel_does_not_count(late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = Path(ready.__file__).with_name(f"{late}.py")
    folder = tmp_path / "compiled_0123"
    folder.mkdir()
    version = "".join(map(str, sys.version_info[:2]))
    names = {"kernel": "kernel.simulate", "path_kernel": "path_kernel.bounds_of"}
    for name in names.values():
        (folder / f"{name}-900.py{version}.nbi").touch()
    index = folder / f"{names[late]}-900.py{version}.nbi"
    os.utime(index, (0, kernel.stat().st_mtime - 60))
    assert not ready.is_compiled()
    os.utime(index, (0, time.time()))
    assert ready.is_compiled()
