"""The wire format of protocol buffers, as far as a trace needs it: single messages, and many of one form at once.

Source: protobuf.dev, "Encoding". A varint may have more bytes than its value needs, so that those of one column can all
have equally many.
"""

import numpy as np
from numpy.typing import NDArray

from dse.report.timeline.slices import Numbers

Bytes2 = NDArray[np.uint8]
"""Bytes of messages of one length, shape (n_messages, n_bytes)."""
LENGTH_BYTES = 4
"""So many bytes have the lengths of messages whose length differs: enough for 2**28."""


def varint(value: int) -> bytes:
    """Return a number of 0 or more in as few bytes as it takes."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """Return a field that holds a number."""
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes) -> bytes:
    """Return a field that holds a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field: int, content: str) -> bytes:
    """Return a field that holds a text; what UTF-8 cannot hold becomes a question mark."""
    return message(field, content.encode("utf-8", "replace"))


def column(values: Numbers, length: int | None = None) -> Bytes2:
    """Return numbers of 0 or more as varints of ``length`` bytes each; None: as many as the largest takes."""
    shifts = 7 * np.arange(length or len(varint(int(values.max(initial=0)))))
    found = (values[:, None] >> shifts & 0x7F).astype(np.uint8)
    found[:, :-1] |= 0x80
    return found


def fixed(values: Numbers) -> Bytes2:
    """Return numbers as 8 bytes each."""
    return np.ascontiguousarray(values, dtype="<i8").view(np.uint8).reshape(len(values), 8)


def joined(count: int, *pieces: bytes | Bytes2) -> Bytes2:
    """Return ``count`` messages that are made of the same pieces: bytes that all have, and columns."""
    parts = [np.frombuffer(p, dtype=np.uint8) if isinstance(p, bytes) else p for p in pieces]
    lengths = [part.shape[-1] for part in parts]
    found = np.empty((count, sum(lengths)), dtype=np.uint8)
    at = 0
    for part, length in zip(parts, lengths, strict=True):
        found[:, at : at + length] = part
        at += length
    return found


def wrapped(field: int, content: Bytes2) -> Bytes2:
    """Return messages of one length as a field of others."""
    return joined(len(content), varint(field << 3 | 2) + varint(content.shape[1]), content)


def scattered(size: int, *pieces: tuple[Numbers, Bytes2]) -> bytes:
    """Return ``size`` bytes that are made of rows of bytes, each at its place; they must fill it."""
    found = np.empty(size, dtype=np.uint8)
    for places, rows in pieces:
        found[places[:, None] + np.arange(rows.shape[1])] = rows
    return found.tobytes()
