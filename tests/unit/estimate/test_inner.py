"""What only kernels call is compiled at a lower level of the optimiser, and nothing else is."""

from typing import Any

import pytest
from numba import TypingError, njit
from numba.core import config
from numba.core.compiler import Compiler

from dse.estimate.compiled.inner import Inner


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The level at which each function is compiled from now on."""
    found: list[int] = []
    whole = Compiler.compile_extra

    def compile_extra(self: Compiler, func: Any) -> Any:
        found.append(int(config.OPT))
        return whole(self, func)

    monkeypatch.setattr(Compiler, "compile_extra", compile_extra)
    return found


def test_what_is_inside_is_compiled_at_a_lower_level(levels: list[int]) -> None:
    @njit(pipeline_class=Inner)
    def innermost(x: int) -> int:
        return x + 1

    @njit(pipeline_class=Inner)
    def inside(x: int) -> int:
        return 2 * innermost(x)

    @njit
    def kernel(x: int) -> int:
        return inside(x) - 3

    before = config.OPT
    assert kernel(4) == 7
    assert levels == [int(before), 1, 1]
    assert config.OPT is before


def test_the_level_is_as_before_where_compiling_fails(levels: list[int]) -> None:
    @njit(pipeline_class=Inner)
    def wrong(x: int) -> int:
        return x + "one"  # type: ignore[operator]

    before = config.OPT
    with pytest.raises(TypingError):
        wrong(1)
    assert levels == [1]
    assert config.OPT is before


def test_who_wants_no_optimisation_gets_none(levels: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))
    assert njit(pipeline_class=Inner)(lambda x: x + 1)(1) == 2
    assert levels == [0]
