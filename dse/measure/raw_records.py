"""Reads what the timed program writes with ``--raw``: visits, single firings and visits in vain of every thread.

Little-endian, nothing between the parts. A header: ``DSERAW02``, u32 counter (1 time stamp counter, 2 the virtual
counter of aarch64, 3 nanoseconds), u32 actors, u32 threads, u32 N: one visit of N is noted, u64 counter at start and
end, u64 nanoseconds at start and end. Then for each thread u32 partition, i32 core (-1: not bound), u64 numbers of the
three kinds of records, and the records: ``VISIT``, ``SINGLE`` and ``FRUITLESS`` below.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.measure.samples import MOST_VAIN, CounterKind, Fruitless, Samples, Singles, ThreadSamples, Visits

MAGIC = b"DSERAW02"
VISIT = np.dtype(
    [
        ("start", "<u8"),
        ("end", "<u8"),
        ("firings", "<u4"),
        ("actor", "<u2"),
        ("ending", "u1"),
        ("between", "u1"),
        ("first", "<u8"),
    ]
)
SINGLE = np.dtype(
    [
        ("chosen", "<u8"),
        ("firing", "<u4"),
        ("actor", "<u2"),
        ("action", "<u2"),
        ("choosing", "<u4"),
        ("reading", "<u4"),
        ("computing", "<u4"),
        ("writing", "<u4"),
    ]
)
FRUITLESS = np.dtype(
    [("actor", "<u4"), ("reserved", "<u4"), ("visits", "<u8"), ("steps", "<u8"), ("least", "<u8"), ("most", "<u8")]
)
_APART = 0x80
"""The bit of ``between`` that says that the time since the visit before does not count; below it, visits in vain."""
_ENDING = 0x03
"""The bits of ``ending`` that say why the visit ended; the next two: why the visit of its actor before it did."""
_BEFORE_SHIFT = 2
_FOLLOWS = 0x10
"""The bit of ``ending`` that says that the visit before this one on the thread is that of the record before."""
_HEADER = struct.Struct("<8s4I4Q")
_THREAD = struct.Struct("<Ii3Q")
_Records = NDArray[np.void]


def read_samples(path: str | Path, actors: int) -> Samples:
    """Return the records of a file, of a network with so many actors; they are memory-mapped, not loaded.

    Raises:
        FormatError: the file cannot be read, is no such file, is cut off, or names actors that there are not.
    """
    data = _mapped(path)
    magic, counter, stated, threads, every, start, end, start_ns, end_ns = _HEADER.unpack(
        data[: _HEADER.size].tobytes()
    )
    if magic != MAGIC or counter not in set(CounterKind) or stated != actors:
        raise _wrong(path, f"these are no records of the timed program of a network with {actors} actors")
    if end < start or end_ns < start_ns:
        raise _wrong(path, "the run ends before it starts")
    reader = _Reader(path, data, actors, threads, every)
    found = tuple(reader.thread() for _ in range(threads))
    reader.finish()
    return Samples(
        counter=CounterKind(counter),
        start=start,
        end=end,
        run_ns=end_ns - start_ns,
        threads=found,
        every=max(every, 1),
    )


def _mapped(path: str | Path) -> NDArray[np.uint8]:
    """Return the bytes of a file that has a header, shape (n_bytes,)."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is empty"
        raise _wrong(path, f"cannot read the records of the timed program: {reason}") from error
    if len(data) < _HEADER.size:
        raise _wrong(path, "the records of the timed program end in their header")
    return data


def _wrong(path: str | Path, message: str) -> FormatError:
    return FormatError(
        message,
        span=file_span(str(path), 0),
        expected="profile again; if it stays, the program is of another version of dse: build it again",
    )


class _Reader:
    """Cuts a file into threads."""

    def __init__(self, path: str | Path, data: NDArray[np.uint8], actors: int, threads: int, every: int) -> None:
        self._path = path
        self._data = data
        self._actors = actors
        self._vain_readings = 2 if threads == 1 and every <= 1 else 1
        self._at = _HEADER.size

    def thread(self) -> ThreadSamples:
        """Return the records of the next thread."""
        head = self._take(_THREAD.size)
        partition, core, visits, singles, fruitless = _THREAD.unpack(head.tobytes())
        return ThreadSamples(
            partition=partition,
            core=None if core < 0 else core,
            visits=_visits(self._records(VISIT, visits), self._vain_readings),
            singles=_singles(self._records(SINGLE, singles), self._actors),
            fruitless=_fruitless(self._records(FRUITLESS, fruitless)),
        )

    def finish(self) -> None:
        """Raise ``FormatError`` where something is left."""
        if self._at != len(self._data):
            raise _wrong(self._path, f"{len(self._data) - self._at} bytes are left after the records of all threads")

    def _records(self, kind: np.dtype[Any], count: int) -> _Records:
        records = self._take(count * kind.itemsize).view(kind)
        if len(records) and int(records["actor"].max()) >= self._actors:
            raise _wrong(self._path, f"a record is of actor {int(records['actor'].max())} of {self._actors}")
        return records

    def _take(self, count: int) -> NDArray[np.uint8]:
        if count > len(self._data) - self._at:
            raise _wrong(self._path, "the records of the timed program are cut off")
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken


def _visits(records: _Records, vain_readings: int) -> Visits:
    return Visits(
        actor=records["actor"],
        start=records["start"],
        end=records["end"],
        firings=records["firings"],
        ending=(records["ending"] & _ENDING).astype(np.uint8),
        before=((records["ending"] >> _BEFORE_SHIFT) & _ENDING).astype(np.uint8),
        follows=(records["ending"] & _FOLLOWS) != 0,
        first=records["first"],
        vain=(records["between"] & MOST_VAIN).astype(np.uint8),
        apart=(records["between"] & _APART) != 0,
        vain_readings=vain_readings,
    )


def _singles(records: _Records, actors: int) -> Singles:
    return Singles(
        actor=records["actor"],
        action=records["action"],
        firing=_unwrapped(records["firing"], records["actor"], actors),
        chosen=records["chosen"],
        choosing=records["choosing"],
        reading=records["reading"],
        computing=records["computing"],
        writing=records["writing"],
    )


def _unwrapped(positions: NDArray[np.uint32], actor: NDArray[np.uint16], actors: int) -> NDArray[np.int64]:
    """Return positions that were written modulo 2**32; those of an actor only grow."""
    found = positions.astype(np.int64)
    for a in range(actors):
        rows = np.flatnonzero(actor == a)
        turns = np.cumsum(np.diff(found[rows], prepend=found[rows[:1]]) < 0)
        found[rows] += turns << 32
    return found


def _fruitless(records: _Records) -> Fruitless:
    return Fruitless(
        actor=records["actor"],
        visits=records["visits"],
        steps=records["steps"],
        least=records["least"],
        most=records["most"],
    )
