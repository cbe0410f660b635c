"""Files of records as the timed program writes them, made by hand."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dse.measure.raw_records import FRUITLESS, MAGIC, SINGLE, VISIT

LACKED_TOKENS, FOLLOWS = 1, 0x10


def header(
    actors: int, threads: int, *, counter: int = 1, span: tuple[int, int] = (1000, 9000), every: int = 1
) -> bytes:
    """Return the header; one step is half a nanosecond."""
    return struct.pack("<8s4I4Q", MAGIC, counter, actors, threads, every, *span, span[0] // 2, span[1] // 2)


def thread(
    visits: Sequence[tuple[int, ...]] = (),
    singles: Sequence[tuple[int, ...]] = (),
    fruitless: Sequence[tuple[int, ...]] = (),
    *,
    partition: int = 0,
    core: int = -1,
) -> bytes:
    """Return the part of a thread; the tuples are the fields of the records in their order, without the reserved.

    What lies between a visit and the one before it may be left out: then it followed at once. All visits are recorded.
    """
    ends: dict[int, int] = {}
    rows = []
    for k, (start, end, firings, actor, ending, *between) in enumerate(visits):
        before = ends.get(actor, LACKED_TOKENS) << 2
        rows.append((start, end, firings, actor, ending | before | (FOLLOWS if k else 0), *(between or (0,)), 0))
        ends[actor] = ending
    parts = [
        np.array(rows, dtype=VISIT),
        np.array(list(singles), dtype=SINGLE),
        np.array([(f[0], 0, *f[1:]) for f in fruitless], dtype=FRUITLESS),
    ]
    head = struct.pack("<Ii3Q", partition, core, *(len(part) for part in parts))
    return head + b"".join(part.tobytes() for part in parts)


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path
