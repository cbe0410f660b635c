"""What only kernels call is neither optimised nor made code of by itself, and kernels compute what they should."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba import TypingError, njit
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary

from dse.estimate.compiled.inner import inlined, inner


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is done from now on, and with the code of which function."""
    assert njit(lambda x: x)(1) == 1  # the first one of a process makes numba's own library too
    found: list[tuple[str, str]] = []

    def note(library: type, step: str, what: str) -> None:
        whole = getattr(library, step)

        def noted(self: Any) -> Any:
            found.append((what, self.name.rsplit(".", 1)[-1]))
            return whole(self)

        monkeypatch.setattr(library, step, noted)

    note(CPUCodeLibrary, "_optimize_final_module", "optimised")
    note(JITCodeLibrary, "_finalize_specific", "made code")
    return found


@inner
def _shared(x: int) -> int:
    return x + 1


@inlined
def _inside(x: int) -> int:
    return 2 * _shared(x)


@inner
def _fibonacci(x: int) -> int:
    return 1 if x < 2 else _fibonacci(x - 1) + _fibonacci(x - 2)


def test_only_the_kernel_is_compiled(made: list[tuple[str, str]]) -> None:
    @njit
    def kernel(x: int) -> int:
        return _inside(x) - 3 * _shared(x)

    assert kernel(4) == -5
    assert made == [("optimised", "kernel"), ("made code", "kernel")]


def test_kernels_share_what_is_inside(made: list[tuple[str, str]]) -> None:
    kernels = [njit(lambda x, k=k: _inside(x) + k) for k in range(2)]
    assert [kernel(3) for kernel in kernels] == [8, 9]
    assert len(made) == 4


def test_what_is_inside_may_call_itself() -> None:
    @njit
    def kernel(x: int) -> int:
        return _fibonacci(x)

    assert [kernel(x) for x in range(7)] == [1, 1, 2, 3, 5, 8, 13]


def test_types_are_checked_as_everywhere() -> None:
    @inner
    def wrong(x: int) -> int:
        return x + "one"  # type: ignore[operator]

    @njit
    def kernel(x: int) -> int:
        return wrong(x)

    with pytest.raises(TypingError):
        kernel(1)


def test_python_is_refused() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="bad argument type"):
            _shared(1)


def test_an_environment_in_which_nothing_is_compiled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    pingpong = Path(__file__).parents[3] / "actors" / "pingpong" / "pingpong.xdf"
    command = [sys.executable, "-m", "dse", "estimate", str(pingpong), "--weights", "nominal"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr.splitlines()[-2:] == [
        "error: NUMBA_DISABLE_JIT is set, and dse estimates with compiled code only",
        "  = unset it in the environment",
    ]
