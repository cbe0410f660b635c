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


def test_a_cache_older_than_the_kernel_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = Path(ready.__file__).with_name("kernel.py")
    folder = tmp_path / "compiled_0123"
    folder.mkdir()
    version = "".join(map(str, sys.version_info[:2]))
    index = folder / f"kernel.simulate-900.py{version}.nbi"
    index.touch()
    os.utime(index, (0, kernel.stat().st_mtime - 60))
    assert not ready.is_compiled()
    os.utime(index, (0, time.time()))
    assert ready.is_compiled()
