"""Packed integers come back, and can be read by the one line that their description gives."""

import random
import zlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.packing import count_and_first, pack_integers, unpack_integers


def read_by_the_description(blob: bytes) -> list[int]:
    if not blob:
        return []
    blob = zlib.decompress(blob) if blob[0] == 120 else blob
    w, n = blob[0], (len(blob) - 1) // blob[0]
    return [int.from_bytes(blob[1 + i :: n], "little", signed=w > 7) for i in range(n)]


def check(values: Sequence[int]) -> None:
    for squeeze in (False, True):
        blob = pack_integers(values, squeeze=squeeze)
        assert unpack_integers(blob) == tuple(values)
        assert read_by_the_description(blob) == list(values)
        assert blob == pack_integers(list(values), squeeze=squeeze)


@given(st.lists(st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1), st.integers()), max_size=300))
def test_integers_come_back(values: list[int]) -> None:
    check(values)


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 16, 31, 55, 56, 57, 62, 63, 64, 65, 200])
def test_every_width_comes_back(bits: int) -> None:
    rng = random.Random(bits)
    for sign in (1, -1):
        for count in (1, 2, 63, 64, 400):
            check([*(sign * rng.getrandbits(bits) for _ in range(count)), sign * ((1 << bits) - 1), sign << bits, 0])


def test_small_numbers_take_a_byte_and_times_no_more_than_they_need() -> None:
    assert len(pack_integers(range(256))) == 257
    assert len(pack_integers([10**6] * 3)) == 10
    assert len(pack_integers([10**6] * 300, squeeze=True)) < 100


@pytest.mark.parametrize(
    "blob",
    [
        b"\x00",
        b"\x00\x01",
        b"\x02\x01",
        b"\x01",
        b"\x78",
        b"\x78\x9c",
        zlib.compress(b""),
        zlib.compress(b"x" * 99)[:-1],
    ],
)
def test_other_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match="packed integers"):
        unpack_integers(blob)


def test_a_stream_that_grows_is_not_expanded() -> None:
    """64 kB that would be 64 MB."""
    bomb = zlib.compress(bytes((1,)) + bytes(1 << 26), 9)
    with pytest.raises(ValueError, match="a zlib stream of more than there can be"):
        unpack_integers(bomb, most=100)
    with pytest.raises(ValueError, match="a zlib stream of more than there can be"):
        count_and_first(bomb, most=100)


@pytest.mark.parametrize("values", [(3,), (255, 0), (70_000, 1, 2), (2**62, 5), (2**100, 1), tuple(range(500))])
def test_count_and_first_without_unpacking(values: tuple[int, ...]) -> None:
    for squeeze in (False, True):
        assert count_and_first(pack_integers(values, squeeze=squeeze), most=len(values)) == (len(values), values[0])


@pytest.mark.parametrize("values", [(1, -1), (-(2**80), 3), (2**200, 1)])
def test_what_no_time_can_be_is_refused(values: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="negative, or too large"):
        count_and_first(pack_integers(values), most=len(values))
