"""Kernels are kept as machine code with names alone, and run as those that were compiled."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba import int64, njit
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

from dse.base.kept_code import kept_by_sources
from dse.estimate import kept as module_of_kernels
from dse.estimate.kept import KeptCode, Kernel, defined, loads_alone, names_alone

SOURCE = """
import sys
import numpy as np
from numba import njit
from dse.estimate.kept import kernel

@kernel(["int64(int64[::1])"])
def total(values):
    found = 0
    for value in values:
        found += value
    return found

found = total(np.arange(5))
print(found, sum(total.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules)
print(njit(["int64(int64[::1])"])(lambda values: values.sum())(np.arange(4)))
"""


@kept_by_sources
def twice(x):  # type: ignore[no-untyped-def]
    return x + x


@kept_by_sources
def thrice(x):  # type: ignore[no-untyped-def]
    return x + x + x


def test_what_is_kept_runs_as_what_was_compiled(tmp_path: Path) -> None:
    (tmp_path / "total.py").write_text(SOURCE)
    printed = [
        subprocess.run([sys.executable, str(tmp_path / "total.py")], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed == ["10 0 True\n6\n", "10 1 False\n6\n"], "what only compiling needs comes with compiling"


def test_what_others_compile_still_has_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """``kernel`` compiles while the module is loaded that has it."""
    seen = []

    class Compiled(Mock):
        def compile(self, signature: str) -> None:
            seen.append((signature, kept_vectors()))
            if signature == "wrong":
                raise TypeError

    def kept_vectors() -> int:
        return int(numba.config.LOOP_VECTORIZE)  # type: ignore[attr-defined]

    monkeypatch.setattr("dse.estimate.kept.KeptCode", Mock())
    before = kept_vectors()
    with pytest.raises(TypeError):
        module_of_kernels._of_signatures(Compiled(), ["int64(int64)", "wrong"])
    assert seen == [("int64(int64)", 0), ("wrong", 0)]
    assert kept_vectors() == before == 1


def test_only_versions_that_were_tried_load_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loads_alone(numba.__version__), "try all tests with it, then name it in TRIED"
    assert not any(loads_alone(version) for version in ("0.59.1", "0.1000.0", "1.60.0", "0.60rc1.0"))
    kept = KeptCode(thrice)
    monkeypatch.setattr(CPUContext, "refresh", Mock(side_effect=ReferenceError))
    assert kept.load_overload((int64,), cpu_target.target_context) is None
    monkeypatch.setattr(numba, "__version__", "9.0.0")
    with pytest.raises(ReferenceError):
        kept.load_overload((int64,), cpu_target.target_context)


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
