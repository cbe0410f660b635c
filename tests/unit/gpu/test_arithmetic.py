"""The arithmetic of executed and of counted threads is that of the language, on all pairs of extremes."""

import itertools

import numpy as np
import pytest
from numba import njit

from dse.gpu.kernel import lanes
from dse.gpu.trace import arithmetic as threads
from dse.passes import arithmetic
from dse.program.ir import BinaryOp
from dse.program.types import IntType

EDGES = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1]
EDGES += [2**32, 2**53 + 1, 2**62, 2**63 - 1]
WORDS = sorted({*EDGES, *(-v for v in EDGES), -(2**63) + 1})
PAIRS = list(itertools.product(WORDS, WORDS))
DIVISIBLE = [(a, b) for a, b in PAIRS if b]
COUNTS = [-64, -63, -40, -32, -31, -8, -1, 0, 1, 5, 31, 32, 33, 62, 63, 64, 65, 100]
SHIFTS = [(a, b) for a in WORDS for b in COUNTS]


def word(value: int) -> int:
    return arithmetic.wrap(value, 64, True)


def compiled(function, pairs, *more):  # type: ignore[no-untyped-def]  # numba infers the types
    """The results of a function inside compiled code."""

    @njit
    def all_of(a, b):  # type: ignore[no-untyped-def]
        found = np.empty(a.size, np.int64)
        for at in range(a.size):
            found[at] = function(a[at], b[at], *more)
        return found

    left, right = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    return all_of(left, right).tolist()


@pytest.mark.parametrize("name", ["quotient", "remainder"])
def test_division_in_compiled_code(name: str) -> None:
    meaning = getattr(arithmetic, name)
    function = {"quotient": threads.divide, "remainder": threads.remainder}[name]
    expected = [meaning(a, b) for a, b in DIVISIBLE]
    assert compiled(function, DIVISIBLE) == expected
    assert [function(a, b) for a, b in DIVISIBLE] == expected
    assert [int(function(np.int64(a), np.int64(b))) for a, b in DIVISIBLE] == expected


def test_a_division_by_zero_has_an_answer() -> None:
    by_zero = [(a, 0) for a in WORDS]
    assert set(compiled(threads.divide, by_zero)) == {0} == {threads.divide(a, 0) for a in WORDS}
    assert compiled(threads.remainder, by_zero) == WORDS == [threads.remainder(a, 0) for a in WORDS]
    assert threads.divide_float(1.0, 0.0) == 0.0


@pytest.mark.parametrize("bits", [31, 32, 33, 64])
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts_in_compiled_code_and_of_lanes(op: BinaryOp, bits: int) -> None:
    meaning = arithmetic.shift_left if op == "<<" else arithmetic.shift_right
    function = threads.shift_left if op == "<<" else threads.shift_right
    expected = [word(meaning(a, b, bits)) for a, b in SHIFTS]
    assert compiled(function, SHIFTS, bits) == expected
    assert [word(function(a, b, bits)) for a, b in SHIFTS] == expected
    left, right = np.array([p[0] for p in SHIFTS]), np.array([p[1] for p in SHIFTS])
    found = lanes.combined(op, left, right, bits)
    assert found is not None
    assert found.tolist() == expected


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_wraps_in_compiled_code_and_of_lanes(bits: int, signed: bool) -> None:
    expected = [word(arithmetic.wrap(a, bits, signed)) for a in WORDS]
    assert compiled(lambda_of_wrap(bits, signed), [(a, 0) for a in WORDS]) == expected
    assert [word(threads.wrap(a, bits, signed)) for a in WORDS] == expected
    assert lanes.wrapped(np.array(WORDS), IntType(bits, signed)).tolist() == expected


def lambda_of_wrap(bits: int, signed: bool):  # type: ignore[no-untyped-def]
    """The wrap to one type, as generated code calls it: with literals."""
    wrap = threads.wrap

    @njit
    def to_type(value, unused):  # type: ignore[no-untyped-def]
        return wrap(value, bits, signed)

    return to_type


def test_lanes_divide_as_the_language() -> None:
    small = [(a, b) for a in range(-9, 10) for b in range(-9, 10) if b] + [
        (a, b) for a, b in DIVISIBLE if abs(a) < 2**53
    ]
    left, right = np.array([p[0] for p in small]), np.array([p[1] for p in small])
    for op, meaning in (("/", arithmetic.quotient), ("mod", arithmetic.remainder)):
        found = lanes.combined(op, left, right, 32)  # type: ignore[arg-type]
        assert found is not None
        assert found.tolist() == [meaning(a, b) for a, b in small]
        assert lanes.combined(op, left, np.zeros_like(right), 32) is None  # type: ignore[arg-type]


def test_literals_are_the_words_that_stand_for_them() -> None:
    assert [threads.in_word(v) for v in (2**63, 2**64 - 1, -1, 2**64, 5)] == [-(2**63), -1, -1, 0, 5]
