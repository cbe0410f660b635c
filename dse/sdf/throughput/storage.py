"""Sizes of channels and the throughput that they allow: the front of both, exact as far as the search comes.

Stuijk, Geilen and Basten, "Exploring trade-offs in buffer requirements and throughput constraints for synchronous
dataflow graphs", DAC 2006, with critical cycles in the place of states: a critical cycle that waits for no room limits
the graph whatever the sizes; else a quicker graph has more room in some channel of the cycle. So from the least sizes
on, each channel of the cycle is raised by the least that can matter, the smallest memory first, and what is found first
is the least memory for its throughput. After ``MOST_ANALYSES`` sizes the search goes straight on: it raises the
cheapest channel of the cycle until nothing is gained, then lowers what is not needed. That is not proven to be least.
"""

import heapq
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dse.base.errors import OptionError
from dse.model.dataflow_graph import DataflowChannel, DataflowGraph
from dse.model.design_point import ReleaseMode
from dse.sdf.throughput.periodic import LeastPeriod, least_period
from dse.sdf.throughput.timed_graph import TimedGraph, timed_graph

Sizes: TypeAlias = tuple[int | None, ...]
"""Tokens of each channel; None where a channel has no size: it goes from an actor to itself."""
MOST_ANALYSES = 400
"""Sizes that are analysed in the exact search, at most, unless told otherwise."""
_MOST_MORE = 400
"""And on the way straight on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePoint:
    """Sizes of the channels, their memory (``Storage.unit``), and the least ticks of an iteration with them."""

    sizes: Sizes
    memory: int
    period: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The front: by rising memory, each point quicker than the one before, the last as quick as without limits.

    ``proven``: how many of the leading points are proven to be on the front. ``unit``: bytes, or tokens where the
    graph does not say what a token takes.
    """

    points: tuple[StoragePoint, ...]
    proven: int
    unit: str
    analyses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedDataflow:
    """A graph with the firings of an iteration and the times of its phases, as ``timed_graph`` takes them."""

    graph: DataflowGraph
    firings: tuple[int, ...]
    times: tuple[tuple[Fraction, ...], ...]
    release: ReleaseMode = "processing"
    overlap: bool = False

    def timed(self, sizes: Sizes | None = None) -> TimedGraph:
        """Return the arcs with channels of these sizes, None: as the graph has them."""
        return timed_graph(
            self.graph, self.firings, self.times, capacities=sizes, release=self.release, overlap=self.overlap
        )

    @property
    def unlimited(self) -> Sizes:
        """No sizes."""
        return (None,) * len(self.graph.channels)


def storage_front(flow: TimedDataflow, most: int = MOST_ANALYSES) -> Storage:
    """Return the front of memory and period of a live graph.

    Raises:
        OptionError: nothing but sizes limits the graph, so that the front has no end.
    """
    search = _Search(flow, most)
    if search.is_endless:
        raise OptionError(
            f"the front of '{flow.graph.name}' has no end: nothing but the sizes of its channels limits it",
            expected="leave out --overlap, so that an actor fires once at a time",
        )
    return search.run()


class _Search:
    """The search from the least sizes up."""

    def __init__(self, flow: TimedDataflow, most: int) -> None:
        graph = flow.graph
        self._flow, self._most = flow, most
        self._goal = _period(flow.timed(flow.unlimited)).ticks
        self._steps = [_step(graph, channel) for channel in graph.channels]
        sized = [c for c, step in zip(graph.channels, self._steps, strict=True) if step]
        self._in_bytes = bool(sized) and all(channel.token_bits for channel in sized)
        self._weights = [-(-c.token_bits // 8) if self._in_bytes else 1 for c in graph.channels]
        self._known: dict[Sizes, tuple[Fraction | None, tuple[int, ...]]] = {}

    @property
    def is_endless(self) -> bool:
        """Whether firings take time that only sizes of channels make count."""
        return self._goal == 0 and any(self._steps) and any(map(any, self._flow.times))

    def run(self) -> Storage:
        """Return the front."""
        assert self._goal is not None, "the graph is live"
        least = self._least_sizes()
        queue, queued, points = [(self._memory(least), least)], {least}, list[StoragePoint]()
        while queue and len(self._known) < self._most:
            memory, sizes = heapq.heappop(queue)
            self._add(points, sizes, memory)
            if points and points[-1].period <= self._goal:
                return self._storage(points, proven=len(points))
            for more in self._larger(sizes):
                if more not in queued:
                    queued.add(more)
                    heapq.heappush(queue, (self._memory(more), more))
        proven = len(points)
        self._straight_on(points, queue[0][1])
        return self._storage(points, proven=proven)

    def _least_sizes(self) -> Sizes:
        """Return the least sizes that each channel alone allows."""
        channels = zip(self._flow.graph.channels, self._steps, strict=True)
        return tuple(_least(self._flow.graph, channel, step) if step else None for channel, step in channels)

    def _add(self, points: list[StoragePoint], sizes: Sizes, memory: int) -> None:
        """Add sizes to the front if they are quicker than all smaller ones."""
        period, _ = self._look(sizes)
        if period is None or (points and period >= points[-1].period):
            return
        if points and points[-1].memory == memory:
            points.pop()
        points.append(StoragePoint(sizes=sizes, memory=memory, period=period))

    def _larger(self, sizes: Sizes) -> list[Sizes]:
        """Return the next larger sizes that may be quicker: one channel of the critical cycle raised."""
        return [self._raised(sizes, channel, 1) for channel in self._look(sizes)[1]]

    def _storage(self, points: list[StoragePoint], proven: int) -> Storage:
        unit = "bytes" if self._in_bytes else "tokens"
        return Storage(points=tuple(points), proven=proven, unit=unit, analyses=len(self._known))

    def _straight_on(self, points: list[StoragePoint], sizes: Sizes) -> None:
        """Add sizes as quick as without limits, reached by raising the cheapest channel of each cycle."""
        assert self._goal is not None, "the graph is live"
        left, times = len(self._known) + _MOST_MORE, [1] * len(self._weights)
        period, to_raise = self._look(sizes)
        while (period is None or period > self._goal) and len(self._known) < left:
            channel = min(to_raise, key=lambda c: (self._weights[c] * self._steps[c] * times[c], c))
            sizes = self._raised(sizes, channel, times[channel])
            times[channel] *= 2
            period, to_raise = self._look(sizes)
        for channel in sorted(range(len(sizes)), key=lambda c: -(sizes[c] or 0) * self._weights[c]):
            if sizes[channel] is not None and period is not None:
                sizes = self._lowered(sizes, channel, period)
        self._add(points, sizes, self._memory(sizes))

    def _lowered(self, sizes: Sizes, channel: int, period: Fraction) -> Sizes:
        """Return sizes with one as low as the period allows, by bisection in steps."""
        most, step = sizes[channel], self._steps[channel]
        assert most is not None, "the channel has a size"
        low, high = 0, (most - _least(self._flow.graph, self._flow.graph.channels[channel], step)) // step
        while low < high:
            taken = (low + high + 1) // 2
            found, _ = self._look((*sizes[:channel], most - taken * step, *sizes[channel + 1 :]))
            low, high = (taken, high) if found is not None and found <= period else (low, taken - 1)
        return (*sizes[:channel], most - low * step, *sizes[channel + 1 :])

    def _look(self, sizes: Sizes) -> tuple[Fraction | None, tuple[int, ...]]:
        """Return the period of sizes, and the channels whose room the critical cycle waits for."""
        if sizes not in self._known:
            timed = self._flow.timed(sizes)
            found = _period(timed)
            arcs = (timed.arcs[step.arc] for step in found.cycle if step.arc is not None)
            rooms = tuple(sorted({arc.channel for arc in arcs if arc.kind == "room"}))
            self._known[sizes] = (found.ticks, rooms)
        return self._known[sizes]

    def _raised(self, sizes: Sizes, channel: int, times: int) -> Sizes:
        before = sizes[channel]
        assert before is not None, "channels that are raised have a size"
        return (*sizes[:channel], before + times * self._steps[channel], *sizes[channel + 1 :])

    def _memory(self, sizes: Sizes) -> int:
        return sum(weight * (size or 0) for weight, size in zip(self._weights, sizes, strict=True))


def _period(timed: TimedGraph) -> LeastPeriod:
    """Return the least period in the unit of the graph's times."""
    found = least_period(timed)
    return replace(found, ticks=None if found.ticks is None else found.ticks / timed.ticks_per_unit)


def _step(graph: DataflowGraph, channel: DataflowChannel) -> int:
    """Return the tokens by which the room of a channel matters: the common divisor of its rates; 0: it has no size."""
    if channel.source == channel.target:
        return 0
    return math.gcd(*graph.written(channel), *graph.read(channel))


def _least(graph: DataflowGraph, channel: DataflowChannel, step: int) -> int:
    """Return tokens below which the channel alone deadlocks, or does not hold what it begins with.

    Room beside the initial tokens counts in whole steps only. For one phase each: Adé, Lauwereins and Peperstraete,
    "Data memory minimisation for synchronous data flow graphs emulated on DSP-FPGA targets", DAC 1997.
    """
    written, read, initial = graph.written(channel), graph.read(channel), channel.initial_tokens
    if len(set(written)) == len(set(read)) == 1:
        return max(initial, written[0] + read[0] - step + initial % step)
    return initial + -(-(max(initial, *written, *read) - initial) // step) * step
