"""What moving tokens between two cores takes, by itself: from the micro-benchmark of the probe, not from a network.

By capacity, size of a token, length of a block, and whether the reader waits for the writer or both are at work. It
serves where no network was run on several cores yet, and shows what a network's own calibration is to be compared with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dse.measure.port_prices import PortPrice
from dse.measure.probe_program import BlockCost, CrossingCase, Probe

CAPACITIES = (512, 4096)
BLOCKS = (1, 16, 64, 256)
TOKEN_BYTES = (1, 2, 4, 8)
WAITING_COUNTS = 3000
"""The writer computes so long between two blocks that the reader has taken the last one before the next comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingRow:
    """One case with what its ends take across two cores, and inside one; in counts."""

    case: CrossingCase
    across: BlockCost
    inside: BlockCost


def crossing_rows(probe: Probe, cores: tuple[int, int]) -> Iterator[CrossingRow]:
    """Measure all cases between two cores, in a fixed order."""
    for capacity, size, block, work in product(CAPACITIES, TOKEN_BYTES, BLOCKS, (0, WAITING_COUNTS)):
        case = CrossingCase(cores=cores, capacity_tokens=capacity, block_tokens=block, token_bytes=size, work=work)
        inside = replace(case, cores=(cores[0], cores[0]))
        yield CrossingRow(case=case, across=probe.crossing(case), inside=probe.crossing(inside))


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingLine:
    """What crossing costs more at both ends of a FIFO of tokens of one size: once a block, and for each token."""

    token_bytes: int
    writing: PortPrice
    reading: PortPrice


def crossing_lines(rows: Sequence[CrossingRow]) -> tuple[CrossingLine, ...]:
    """Return for each size of a token the straight line through the rows where both ends are at work."""
    lines = []
    for size in TOKEN_BYTES:
        own = [row for row in rows if row.case.token_bytes == size and row.case.work == 0]
        if own:
            blocks = np.array([row.case.block_tokens for row in own], dtype=np.float64)
            writing = np.array([row.across.writing - row.inside.writing for row in own])
            reading = np.array([row.across.reading - row.inside.reading for row in own])
            lines.append(CrossingLine(token_bytes=size, writing=_line(blocks, writing), reading=_line(blocks, reading)))
    return tuple(lines)


def _line(blocks: NDArray[np.float64], more: NDArray[np.float64]) -> PortPrice:
    """Return the line that fits best of those that are nowhere below 0."""
    fixed, each = np.linalg.lstsq(np.column_stack([np.ones(len(blocks)), blocks]), more, rcond=None)[0]
    if each < 0:
        return PortPrice(fixed=max(float(more.mean()), 0.0))
    if fixed < 0:
        return PortPrice(each=max(float(blocks @ more / (blocks @ blocks)), 0.0))
    return PortPrice(fixed=float(fixed), each=float(each))


def line_for(lines: Sequence[CrossingLine], token_bytes: int) -> CrossingLine:
    """Return the line of the size that is closest, the smaller of two; there is at least one."""
    return min(lines, key=lambda line: abs(line.token_bytes - token_bytes))


HEADINGS = "capacity_tokens\ttoken_bytes\tblock_tokens\treader\twriting\treading\twriting_inside\treading_inside"


def table_text(rows: Sequence[CrossingRow]) -> str:
    """Return the rows as a text table with tabs, counts with one decimal."""
    lines = [HEADINGS]
    for row in rows:
        case = row.case
        numbers = (row.across.writing, row.across.reading, row.inside.writing, row.inside.reading)
        reader = "waits" if case.work else "at work"
        head = (str(case.capacity_tokens), str(case.token_bytes), str(case.block_tokens), reader)
        lines.append("\t".join([*head, *(f"{number:.1f}" for number in numbers)]))
    return "\n".join(lines) + "\n"
