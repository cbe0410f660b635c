"""The arithmetic of the language against oracles that compute in another way: ctypes, fractions, numpy."""

import ctypes
import math
import struct
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.passes.arithmetic import (
    LARGEST_SHIFT,
    float_quotient,
    quotient,
    remainder,
    shift_left,
    shift_right,
    single,
    wrap,
)

C_TYPES = {
    (8, True): ctypes.c_int8,
    (16, True): ctypes.c_int16,
    (32, True): ctypes.c_int32,
    (64, True): ctypes.c_int64,
    (8, False): ctypes.c_uint8,
    (16, False): ctypes.c_uint16,
    (32, False): ctypes.c_uint32,
    (64, False): ctypes.c_uint64,
}
EDGES = sorted({s * (2**b) + d for b in (0, 1, 7, 8, 15, 31, 32, 63, 64, 200) for s in (-1, 1) for d in (-1, 0, 1)})
anywhere = st.one_of(st.sampled_from(EDGES), st.integers(-(2**200), 2**200))


# Division -------------------------------------------------------------------------------------------------------------


@given(anywhere, anywhere.filter(bool))
def test_division_truncates_toward_zero(a: int, b: int) -> None:
    exact = Fraction(a, b)
    assert quotient(a, b) == math.trunc(exact)
    assert remainder(a, b) == a - b * math.trunc(exact)


@pytest.mark.parametrize("b", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("a", range(-7, 8))
def test_division_of_small_numbers_by_the_table_of_c(a: int, b: int) -> None:
    assert quotient(a, b) == int(a / b)
    assert remainder(a, b) == int(math.fmod(a, b))


def test_the_remainder_has_the_sign_of_the_dividend() -> None:
    assert [remainder(a, b) for a, b in ((7, 3), (-7, 3), (7, -3), (-7, -3))] == [1, -1, 1, -1]


@pytest.mark.parametrize("operation", [quotient, remainder])
@pytest.mark.parametrize("a", [-1, 0, 1])
def test_zero_divides_nothing(operation: object, a: int) -> None:
    assert callable(operation)
    with pytest.raises(ZeroDivisionError):
        operation(a, 0)


# Wraps ----------------------------------------------------------------------------------------------------------------


@given(anywhere, st.sampled_from(sorted(C_TYPES)))
def test_wraps_as_c_does(value: int, container: tuple[int, bool]) -> None:
    assert wrap(value, *container) == C_TYPES[container](value).value


@given(anywhere, st.integers(1, 512))
def test_a_wrap_of_any_width_keeps_the_low_bits(value: int, bits: int) -> None:
    low = int(format(value % (1 << bits), "b").rjust(bits, "0")[-bits:], 2)
    assert wrap(value, bits, signed=False) == low
    signed = wrap(value, bits, signed=True)
    assert -(2 ** (bits - 1)) <= signed < 2 ** (bits - 1)
    assert (signed - value) % 2**bits == 0


@pytest.mark.parametrize("bits", [1, 2, 5, 8])
@pytest.mark.parametrize("signed", [False, True])
def test_a_wrap_leaves_alone_exactly_what_fits(bits: int, signed: bool) -> None:
    fits = range(-(1 << bits - 1), 1 << bits - 1) if signed else range(1 << bits)
    for value in range(-(4 << bits), 4 << bits):
        assert (wrap(value, bits, signed) == value) == (value in fits)


# Shifts ---------------------------------------------------------------------------------------------------------------


@given(anywhere, st.integers(0, 600), st.integers(1, 512))
def test_a_count_from_zero_on_is_not_masked(value: int, count: int, left_bits: int) -> None:
    assert shift_left(value, count, left_bits) == value * 2**count
    assert shift_right(value, count, left_bits) == math.floor(Fraction(value, 2**count))


@given(anywhere, st.one_of(st.integers(-200, -1), st.integers(-(2**70), -1)), st.integers(1, 512))
def test_a_count_below_zero_is_masked_by_the_left_type(value: int, count: int, left_bits: int) -> None:
    masked = count % (32 if left_bits <= 32 else 64)
    assert shift_left(value, count, left_bits) == value * 2**masked
    assert shift_right(value, count, left_bits) == math.floor(Fraction(value, 2**masked))


@pytest.mark.parametrize(
    ("count", "left_bits", "masked"),
    [(-8, 1, 24), (-8, 32, 24), (-8, 33, 56), (-8, 64, 56), (-1, 32, 31), (-1, 33, 63), (-32, 32, 0), (-32, 64, 32)],
)
def test_masks_at_the_boundaries(count: int, left_bits: int, masked: int) -> None:
    assert shift_left(3, count, left_bits) == 3 << masked
    assert shift_right(-(3 << 70), count, left_bits) == -(3 << 70 - masked)


def test_a_count_of_the_width_is_not_masked() -> None:
    assert shift_left(1, 32, 32) == 1 << 32
    assert shift_right(-1, 32, 32) == -1
    assert shift_right(1, 32, 32) == 0


@pytest.mark.parametrize("count", [LARGEST_SHIFT + 1, 10**9, 2**80])
def test_gigantic_shifts_cost_nothing(count: int) -> None:
    assert LARGEST_SHIFT == 4096
    assert shift_left(1, LARGEST_SHIFT, 32) == 1 << LARGEST_SHIFT
    assert shift_left(-1, count, 32) == -1 << LARGEST_SHIFT
    assert shift_right(-(2**100), count, 32) == -1


# Floats ---------------------------------------------------------------------------------------------------------------

floats = st.one_of(st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan]), st.floats())


@given(floats, floats)
def test_float_division_is_that_of_ieee_754(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(np.float64(a) / np.float64(b))
    assert struct.pack("d", float_quotient(a, b)) == struct.pack("d", expected) or (
        math.isnan(expected) and math.isnan(float_quotient(a, b))
    )


@given(st.floats())
def test_singles_are_rounded_as_by_the_hardware(value: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(np.float32(value))
    assert single(value) == expected or (math.isnan(expected) and math.isnan(single(value)))


# Numba ----------------------------------------------------------------------------------------------------------------


def test_compiled_by_numba_the_integer_functions_are_the_same() -> None:
    edges = [v for v in EDGES if -(2**31) <= v < 2**31]
    for function in (quotient, remainder):
        compiled = numba.njit(function)
        assert all(compiled(a, b) == function(a, b) for a in edges for b in edges if b)
    compiled_wrap = numba.njit(wrap)
    for bits, signed in ((bits, signed) for bits in (1, 8, 16, 31, 32, 62) for signed in (False, True)):
        assert all(compiled_wrap(v, bits, signed) == wrap(v, bits, signed) for v in edges)
    for shift in (shift_left, shift_right):
        compiled_shift = numba.njit(shift)
        assert all(compiled_shift(v, c, 32) == shift(v, c, 32) for v in edges for c in (-32, -8, -1, 0, 1, 31))
