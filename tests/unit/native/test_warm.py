"""What all native programs share is compiled before the first of them; where that is impossible, nothing happens."""

import pytest

from dse.native.build import BuildCounts
from dse.native.toolchain import Compiler
from dse.native.warm import warm


def test_nothing_is_left_to_compile(native_compiler: Compiler) -> None:
    found = warm()  # the fixture has built a program, with the same files
    assert found is not None
    assert (found.compiled, found.reused) == (0, found.reused)
    assert found.reused >= 2


def test_no_compiler_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    none: BuildCounts | None = warm()
    assert none is None
