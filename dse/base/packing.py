"""Integers as few bytes: what a long search keeps of each evaluation, in memory and in its study file.

The first byte is the width w. Then follow the lowest bytes of all integers, then their second ones, and so on: w
planes. Integer i of n is ``blob[1 + i :: n]``, the least significant byte first, with a sign (two's complement) where
the width is 8 or more. No integers are no bytes. A first byte of 120, which no width is, begins a zlib stream of all
this: high planes are nearly constant.
"""

import sys
import zlib
from array import array
from collections.abc import Sequence

WORD = 8
"""Bytes of the integers that fit ``array``; wider ones are packed one by one."""
ZLIB_MARK = 0x78
"""The first byte of every zlib stream with the usual window."""
ZLIB_HEADER = bytes((ZLIB_MARK, 0x01))
MOST_OF_SIGN = 0x7F
"""The highest byte of an integer with a sign is larger where it is negative."""
LEAST_SQUEEZED = 64
"""Shorter blobs gain nothing from zlib."""


def pack_integers(values: Sequence[int], *, squeeze: bool = False) -> bytes:
    """Return integers as bytes. ``squeeze``: by zlib too, where that is shorter. Equal integers give equal bytes."""
    if not values:
        return b""
    raw, step = _words(values)
    planes = [raw[i::step] for i in range(step)]
    while step == WORD and len(planes) > 1 and planes[-1].count(0) == len(values):
        planes.pop()  # never the plane of the sign: it would be 255 where a word is negative
    packed = b"".join((bytes((len(planes),)), *planes))
    if not squeeze or len(packed) < LEAST_SQUEEZED:
        return packed
    squeezed = _squeezed(packed)
    return squeezed if len(squeezed) < len(packed) else packed


def _squeezed(packed: bytes) -> bytes:
    """Return a zlib stream of some bytes.

    It is made in a window of 4 kB: to get the usual one ready takes several times as long as to squeeze so little. What
    stands around the deflated bytes are the header and the checksum of RFC 1950.
    """
    squeezer = zlib.compressobj(1, zlib.DEFLATED, -12, 4)
    return b"".join((ZLIB_HEADER, squeezer.compress(packed), squeezer.flush(), zlib.adler32(packed).to_bytes(4, "big")))


def _count_of(blob: bytes, width: int) -> int:
    """Return how many integers of a width the bytes hold. Raises ``ValueError`` where they hold no whole number."""
    count, rest = divmod(len(blob) - 1, width or 1)
    if width == 0 or rest or not count:
        raise ValueError(f"{len(blob)} bytes are no packed integers of width {width}")
    return count


def unpack_integers(blob: bytes, *, most: int | None = None) -> tuple[int, ...]:
    """Return what ``pack_integers`` was given. Raises ``ValueError`` where the bytes are not from it.

    ``most``: so many integers at most are expected. A zlib stream of more is not expanded, whatever it claims to hold.
    """
    if not blob:
        return ()
    if blob[0] == ZLIB_MARK:
        blob = _expanded(blob, 0 if most is None else 1 + ZLIB_MARK * most)
    width = blob[0]
    count = _count_of(blob, width)
    if width == 1:
        return tuple(blob[1:])
    if width > WORD:
        return tuple(int.from_bytes(blob[1 + i :: count], "little", signed=True) for i in range(count))
    raw = bytearray(WORD * count)
    for i in range(width):
        raw[i::WORD] = blob[1 + i * count : 1 + (i + 1) * count]
    return tuple(_native(array("q", bytes(raw))))


def count_and_first(blob: bytes, *, most: int) -> tuple[int, int]:
    """Return how many integers there are, and the first one, without unpacking them.

    Raises ``ValueError`` where the bytes are not from ``pack_integers``, or where the integers are more than ``most``,
    one of them is negative or takes more than two words.
    """
    if blob[0] == ZLIB_MARK:
        blob = _expanded(blob, 1 + ZLIB_MARK * most)
    width = blob[0]
    count = _count_of(blob, width)
    if width > 2 * WORD or (width >= WORD and max(blob[1 + (width - 1) * count :]) > MOST_OF_SIGN):
        raise ValueError("packed integers are negative, or too large")
    return count, int.from_bytes(blob[1::count], "little")


def _words(values: Sequence[int]) -> tuple[bytes, int]:
    """Return integers as little-endian words behind each other, and the bytes of a word."""
    try:
        return _native(array("q", values)).tobytes(), WORD
    except OverflowError:
        step = max(value.bit_length() for value in values) // 8 + 1
        assert step < ZLIB_MARK, "no time has so many digits"
        return b"".join(value.to_bytes(step, "little", signed=True) for value in values), step


def _native(words: "array[int]") -> "array[int]":
    """Return words with the bytes in the order of this machine turned to little-endian, or back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _expanded(blob: bytes, most: int) -> bytes:
    """Return what a zlib stream holds, at most ``most`` bytes of it unless that is 0."""
    stream = zlib.decompressobj()
    try:
        packed = stream.decompress(blob, most)
    except zlib.error as cause:
        raise ValueError(f"packed integers are damaged: {cause}") from cause
    if not stream.eof and most and len(packed) == most:
        raise ValueError("packed integers are damaged: a zlib stream of more than there can be")
    if not stream.eof or stream.unused_data:
        raise ValueError("packed integers are damaged: a zlib stream that does not end where it should")
    if not packed:
        raise ValueError("packed integers are damaged: an empty zlib stream")
    return packed
