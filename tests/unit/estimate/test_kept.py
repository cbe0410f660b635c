"""Kernels are kept as machine code with names alone, and run as those that were compiled."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from dse.base.kept_code import kept_by_sources
from dse.estimate.kept import Kernel, defined, names_alone

SOURCE = """
import numpy as np
from numba import njit
from dse.estimate.kept import Kernel

@njit(["int64(int64[::1])"], cache=True, pipeline_class=Kernel)
def total(values):
    found = 0
    for value in values:
        found += value
    return found

found = total(np.arange(5))
print(found, sum(total.stats.cache_hits.values()))
"""


@kept_by_sources
def twice(x):  # type: ignore[no-untyped-def]
    return x + x


def test_what_is_kept_runs_as_what_was_compiled(tmp_path: Path) -> None:
    (tmp_path / "total.py").write_text(SOURCE)
    printed = [
        subprocess.run([sys.executable, str(tmp_path / "total.py")], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed == ["10 0\n", "10 1\n"]


def test_names_alone_are_kept() -> None:
    function = njit(["int64(int64)"], pipeline_class=Kernel)(lambda x: x * 3 + 1)
    library = next(iter(function.overloads.values())).library
    name, kind, (machine_code, code) = library.serialize_using_object_code()
    assert kind == "object"
    whole = library._get_module_for_linking()
    kept = binding.parse_bitcode(code)
    assert {one.name for one in defined(kept.functions)} == {one.name for one in defined(whole.functions)}
    assert any(name.rpartition("::")[2] in one.name or "lambda" in one.name for one in defined(kept.functions))
    assert len(code) < len(whole.as_bitcode())
    assert len(machine_code) > 0
    assert names_alone(code) == code


def test_a_kernel_may_not_call_a_kernel() -> None:
    called = njit(["int64(int64)"], pipeline_class=Kernel)(twice)
    with pytest.raises(TypeError, match=r"calls twice_[0-9a-f]{16}, a kernel, which only Python may call"):
        njit(["int64(int64)"], pipeline_class=Kernel)(lambda x: called(x) + 1)
    assert called(np.int64(4)) == 8
