"""The link between processor and GPU: which cases tell of it, and the numbers of a platform file that they give.

An estimate lets the write and the read of a FIFO across occupy the link, each for a latency and its bytes over a
bandwidth (``formats.md``, Platform). So both are those of a line through what moving a block takes at an end, in the
mean of the four ends. The paper names measured numbers of a shared link as what its estimate is missing (section 6).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dse.measure.gpu_runs import is_steady
from dse.measure.link_program import LinkCase, LinkRow, LinkRun, Way
from dse.measure.port_prices import PortPrice
from dse.measure.profile_weights import exact
from dse.model.platform import Link

TOKEN_BYTES = (1, 2, 4, 8)
BLOCKS = (1, 16, 64, 256)
_TOKEN = 4
_BLOCK = 64
"""Bytes and tokens of what is sent where neither is varied."""
ENDS = ("cpu_writes", "gpu_reads", "gpu_writes", "cpu_reads")
_BOTH_AT_ONCE = 0.75
"""Each way has a server of its own where both at once reach this share of the rate that one reaches alone."""
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlan:
    """How much is measured. ``fifos``: numbers of FIFOs at once; ``trips``, ``tokens``: of a case, about."""

    capacity_tokens: int
    fifos: tuple[int, ...]
    trips: int
    tokens: int

    def case(self, way: Way, fifos: int = 1, block: int = _BLOCK, token_bytes: int = _TOKEN) -> LinkCase:
        """Return a case of this plan; a block is no longer than half of the FIFO, so that both ends can be at work."""
        block = max(1, min(block, self.capacity_tokens // 2))
        blocks = self.trips if way == "echo" else max(self.tokens // block, 30)
        return LinkCase(
            way=way,
            fifos=fifos,
            capacity_tokens=self.capacity_tokens,
            block_tokens=block,
            token_bytes=token_bytes,
            blocks=blocks,
        )

    def trip(self) -> LinkCase:
        """Return the case that tells how long a token takes there and back."""
        return self.case("echo", block=1)

    def by_size(self) -> tuple[LinkCase, ...]:
        """Return the cases of one FIFO, each way, by size of token and block."""
        blocks = sorted({self.case("to-gpu", block=block).block_tokens for block in BLOCKS})
        ways: tuple[Way, ...] = ("to-gpu", "from-gpu")
        return tuple(self.case(way, 1, block, size) for way in ways for size in TOKEN_BYTES for block in blocks)

    def at_once(self) -> tuple[LinkCase, ...]:
        """Return the cases of several FIFOs at once, each way and both ways."""
        ways: tuple[Way, ...] = ("to-gpu", "from-gpu", "both")
        return tuple(self.case(way, fifos) for way in ways for fifos in self.fifos)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFigures:
    """What was found. ``ends``: ns of a block at each end, fixed and per byte.

    ``slower``: by FIFOs at once, how many times as long all take as one alone, the worse way. ``both``: the share of
    its rate that each way keeps while the other is at work too. ``moved``: cases whose GPU clock moved in all tries.
    """

    card: str
    emulated: bool
    trip_ns: float
    ends: tuple[tuple[str, PortPrice], ...]
    slower: tuple[tuple[int, float], ...]
    both: float
    clock_mhz: float
    rows: tuple[LinkRow, ...]
    moved: int

    @property
    def latency_ns(self) -> float:
        """What a block takes an end whatever its size, in the mean of the ends."""
        return sum(price.fixed for _, price in self.ends) / len(self.ends)

    @property
    def bandwidth_gb_s(self) -> float | None:
        """What an end moves on top of that, in the mean; None: its bytes take nothing that was seen."""
        each = sum(price.each for _, price in self.ends) / len(self.ends)
        return 1.0 / each if each > 0 else None

    @property
    def directions(self) -> int:
        """How many servers the link has."""
        return 2 if self.both >= _BOTH_AT_ONCE else 1

    def shared(self, cores: int) -> bool:
        """Return whether several FIFOs wait for each other, by as many as cores can serve at once."""
        served = [(n, times) for n, times in self.slower if 1 < n <= cores]
        return bool(served) and served[-1][1] > (1 + served[-1][0]) / 2

    def link(self, name: str, between: tuple[str, str], cores: int) -> Link:
        """Return the link as a platform has it; its source tells what it was measured by."""
        bandwidth = self.bandwidth_gb_s
        how = "emulated, a rehearsal" if self.emulated else "measured"
        fifos = ", ".join(f"{n}: {times:.2f}" for n, times in self.slower)
        return Link(
            name=name,
            between=between,
            latency_ns=_rounded(self.latency_ns),
            bandwidth_gb_s=None if bandwidth is None else _rounded(bandwidth),
            shared=self.shared(cores),
            directions=self.directions,
            emulated=self.emulated,
            source=f"{how} by dse gpu link on {self.card}: a token there and back takes {self.trip_ns:.0f} ns; FIFOs "
            f"at once and how many times as long all take: {fifos}; each way keeps {100 * self.both:.0f} % of its rate "
            "while the other is at work",
        )


def _rounded(value: float) -> Fraction:
    return exact(float(f"{value:.4g}"))


def measure_link(
    measure: Callable[[Sequence[LinkCase]], LinkRun], plan: LinkPlan, heard: Callable[[str], None] = lambda _: None
) -> LinkFigures:
    """Measure all cases of a plan; a case in which the GPU's clock moved is measured again, up to twice.

    Raises:
        ExecutionError: as ``LinkProgram.measure``.
    """
    groups = (((plan.trip(),), "latency"), (plan.by_size(), "sizes"), (plan.at_once(), "several FIFOs"))
    runs = []
    for cases, what in groups:
        heard(f"measuring the link: {what}")
        runs.append(_steady(measure, cases, heard))
    trip, sizes, at_once = (rows for rows, _, _ in runs)
    first = runs[0][1]
    clocks = [row.clock.mhz for rows, _, _ in runs for row in rows]
    ends = tuple((end, found) for end in ENDS if (found := _line(end, sizes)) is not None)
    trip_ns = trip[0].ends.cpu_writes
    assert trip_ns is not None, "an echo has an end that writes"
    return LinkFigures(
        card=first.card,
        emulated=first.emulated,
        trip_ns=trip_ns,
        ends=ends,
        slower=_slower(at_once),
        both=_both(at_once),
        clock_mhz=float(np.median(clocks)),
        rows=(*trip, *sizes, *at_once),
        moved=sum(moved for _, _, moved in runs),
    )


def _steady(
    measure: Callable[[Sequence[LinkCase]], LinkRun], cases: Sequence[LinkCase], heard: Callable[[str], None]
) -> tuple[tuple[LinkRow, ...], LinkRun, int]:
    """Return a row for each case, the run, and for how many of them the clock of the GPU moved in all tries."""
    run = measure(cases)
    rows = list(run.rows)
    usual = float(np.median([row.clock.mhz for row in rows]))
    for _ in range(_TRIES - 1):
        wrong = [k for k, row in enumerate(rows) if not is_steady(row.clock, usual)]
        if not wrong:
            break
        heard(f"measuring the link: {len(wrong)} cases again, the clock of the GPU moved")
        for k, row in zip(wrong, measure([cases[k] for k in wrong]).rows, strict=True):
            rows[k] = row
    return tuple(rows), run, sum(not is_steady(row.clock, usual) for row in rows)


def _line(end: str, rows: Sequence[LinkRow]) -> PortPrice | None:
    """Return the line through what blocks take at an end by their bytes, nowhere below 0.

    Small and large blocks count alike: what differs from the line counts by its share.
    """
    known = [(row.case.block_bytes, took) for row in rows if (took := getattr(row.ends, end)) is not None and took > 0]
    if not known:
        return None
    sizes, took = np.array(known, dtype=np.float64).T
    fixed, each = np.linalg.lstsq(np.column_stack([1 / took, sizes / took]), np.ones(len(took)), rcond=None)[0]
    if each < 0:
        return PortPrice(fixed=float(1 / np.mean(1 / took)))
    if fixed < 0:
        return PortPrice(each=float((sizes / took).sum() / ((sizes / took) ** 2).sum()))
    return PortPrice(fixed=float(fixed), each=float(each))


def _slower(rows: Sequence[LinkRow]) -> tuple[tuple[int, float], ...]:
    """Return by number of FIFOs how many times as long all take as one alone, of one way the worse."""
    times = {(row.case.way, row.case.fifos): row.all_ns for row in rows}
    numbers = sorted({fifos for _, fifos in times})
    ways: tuple[Way, ...] = ("to-gpu", "from-gpu")
    return tuple((n, max(times[way, n] / times[way, numbers[0]] for way in ways)) for n in numbers)


def _both(rows: Sequence[LinkRow]) -> float:
    """Return the share of its rate that each way of one FIFO keeps while the other is at work too."""
    times = {(row.case.way, row.case.fifos): row.all_ns for row in rows}
    least = min(fifos for _, fifos in times)
    return min(1.0, max(times["to-gpu", least], times["from-gpu", least]) / times["both", least])
