"""How much time the writers of each buffer lose on the critical chain of one run.

The chain starts at the firing that ends last. What a firing waited for last is its cause, and the chain goes on there:
the firing before it on its core or of its own actor, the firing that made its tokens, or the firing that freed its
output space. Counting tokens names the maker and the freer of every firing; start and end of firings stand for the
instants at which tokens arrive and space is freed. Where space came last, the buffer is charged with the time by which
it came later than everything else: what the chain would gain at that place with more room.

Source of the idea: "critical blocking" of buffer sizing over execution traces (the TURNUS tool); the chain and its
charge are our own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, FiringTimes
from dse.model.trace import Trace

IntArray: TypeAlias = NDArray[np.int64]
CHAIN_FIRINGS = 300_000
"""The chain is followed over at most so many firings back from the end: about a second."""
_NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One buffer as one of its ends sees it: for each of its firings the firing of the other end it waits for."""

    buffer: int
    other: int
    waits_for: list[int]


class WriteBlocking:
    """The token counts of a trace; ``on_critical_chain`` may be asked again and again."""

    def __init__(self, trace: Trace) -> None:
        self._topology = trace.topology
        self._reads: list[IntArray] = []
        self._writes: list[IntArray] = []
        """For each buffer: tokens read (written) up to and with each firing of its target (source)."""
        for buffer in trace.topology.buffers:
            source, target = trace.topology.actors[buffer.source], trace.topology.actors[buffer.target]
            write = np.array([action.writes[buffer.source_port] for action in source.actions], dtype=np.int64)
            read = np.array([action.reads[buffer.target_port] for action in target.actions], dtype=np.int64)
            self._writes.append(np.cumsum(write[trace.firings[buffer.source]], dtype=np.int64))
            self._reads.append(np.cumsum(read[trace.firings[buffer.target]], dtype=np.int64))
        self._inputs = self._sides_by_tokens()

    def on_critical_chain(self, point: DesignPoint, estimate: Estimate) -> tuple[int, ...]:
        """Return the ticks charged to each buffer. ``estimate``: of ``point``, complete, with firing times."""
        assert estimate.firing_times is not None, "the chain is made of firing times"
        chain = _Chain(
            times=estimate.firing_times,
            inputs=self._inputs,
            outputs=self._sides_by_space(point.capacities),
            core=_before_on_core(point, estimate.firing_times),
        )
        return chain.charges(len(self._topology.buffers))

    def _sides_by_tokens(self) -> list[list[_Side]]:
        """Return for each actor its inputs: firing i waits for the firing that makes the last token it reads."""
        sides: list[list[_Side]] = [[] for _ in self._topology.actors]
        for b, buffer in enumerate(self._topology.buffers):
            needed = self._reads[b] - buffer.initial_tokens
            reads = np.diff(self._reads[b], prepend=0) > 0
            maker = np.where(reads & (needed > 0), np.searchsorted(self._writes[b], needed), _NONE)
            if buffer.source != buffer.target:
                sides[buffer.target].append(_Side(buffer=b, other=buffer.source, waits_for=maker.tolist()))
        return sides

    def _sides_by_space(self, capacities: Sequence[int]) -> list[list[_Side]]:
        """Return for each actor its outputs: firing i waits for the firing that frees the last space it writes to."""
        sides: list[list[_Side]] = [[] for _ in self._topology.actors]
        for b, buffer in enumerate(self._topology.buffers):
            needed = self._writes[b] + buffer.initial_tokens - capacities[b]
            writes = np.diff(self._writes[b], prepend=0) > 0
            freer = np.where(writes & (needed > 0), np.searchsorted(self._reads[b], needed), _NONE)
            if buffer.source != buffer.target:
                sides[buffer.source].append(_Side(buffer=b, other=buffer.target, waits_for=freer.tolist()))
        return sides


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """For each firing of one actor the last firing that ended on its core before it starts: actor and position."""

    actor: list[int]
    position: list[int]


def _before_on_core(point: DesignPoint, times: Sequence[FiringTimes]) -> list[_Before]:
    """Return what ran before each firing in its partition; nothing where an actor has a core of its own."""
    found = [_Before(actor=[], position=[]) for _ in times]
    for partition in point.partitions:
        if partition.policy != "FULL_PARALLEL" and len(partition.actors) > 1:
            for a, before in _before_in_partition(partition.actors, times):
                found[a] = before
    return found


def _before_in_partition(actors: Sequence[int], times: Sequence[FiringTimes]) -> Iterator[tuple[int, _Before]]:
    """Yield for each of the actors that share a core what ran before each of its firings."""
    actor = np.concatenate([np.full(len(times[a].end), a, dtype=np.int64) for a in actors])
    position = np.concatenate([np.arange(len(times[a].end), dtype=np.int64) for a in actors])
    end = np.concatenate([times[a].end for a in actors])
    start = np.concatenate([times[a].start for a in actors])
    order = np.lexsort((start, end))  # of equal ends the one that started last
    for a in actors:
        place = np.searchsorted(end[order], times[a].start, side="right") - 1
        known = place >= 0
        chosen = order[np.maximum(place, 0)] if len(order) else place
        yield (
            a,
            _Before(
                actor=np.where(known, actor[chosen], _NONE).tolist(),
                position=np.where(known, position[chosen], _NONE).tolist(),
            ),
        )


class _Chain:
    """Walks from the last firing back to the first."""

    def __init__(
        self,
        *,
        times: Sequence[FiringTimes],
        inputs: list[list[_Side]],
        outputs: list[list[_Side]],
        core: list[_Before],
    ) -> None:
        self._start = [t.start.tolist() for t in times]
        self._end = [t.end.tolist() for t in times]
        self._inputs = inputs
        self._outputs = outputs
        self._core = core

    def charges(self, n_buffers: int) -> tuple[int, ...]:
        """Return the ticks charged to each buffer along the chain."""
        charged = [0] * n_buffers
        seen: set[tuple[int, int]] = set()
        ends = [(of_actor[-1], -a) for a, of_actor in enumerate(self._end) if of_actor]
        at: tuple[int, int] | None = None
        if ends:
            last = -max(ends)[1]
            at = last, len(self._end[last]) - 1
        while at is not None and at not in seen and len(seen) < CHAIN_FIRINGS:
            seen.add(at)
            at = self._cause(*at, charged)
        return tuple(charged)

    def _cause(self, actor: int, position: int, charged: list[int]) -> tuple[int, int] | None:
        """Return the firing that this one waited for last, charging a buffer whose space came last of all."""
        start = self._start[actor][position]
        mate = self._block_mate(actor, position, start)
        if mate is not None:
            return mate
        when, cause = self._before(actor, position, start)
        for side in self._inputs[actor]:
            end = self._end_of(side, position, start)
            if end is not None and end > when:
                when, cause = end, (side.other, side.waits_for[position])
        freed, full = when, _NONE
        for side in self._outputs[actor]:
            end = self._end_of(side, position, start)
            if end is not None and end > freed:
                freed, full, cause = end, side.buffer, (side.other, side.waits_for[position])
        if full != _NONE:
            charged[full] += freed - when
        return cause

    def _before(self, actor: int, position: int, start: int) -> tuple[int, tuple[int, int] | None]:
        """Return the firing of the actor or of its core that ended last before one, and when; 0 and None at first."""
        when, cause = 0, None
        if position:
            when, cause = min(start, self._end[actor][position - 1]), (actor, position - 1)
        core = self._core[actor]
        if core.actor and core.actor[position] != _NONE:
            before = core.actor[position], core.position[position]
            ended = self._end[before[0]][before[1]]
            if ended > when:
                when, cause = ended, before
        return when, cause

    def _end_of(self, side: _Side, position: int, start: int) -> int | None:
        """Return when the firing ended that one waits for at a buffer, at most its start; None where there is none."""
        waits_for = side.waits_for[position]
        return None if waits_for == _NONE else min(start, self._end[side.other][waits_for])

    def _block_mate(self, actor: int, position: int, start: int) -> tuple[int, int] | None:
        """Return the firing before this one when both are of one SIMD block, which has one start and one end."""
        if not position or self._start[actor][position - 1] != start:
            return None
        same = self._end[actor][position - 1] == self._end[actor][position] > start
        return (actor, position - 1) if same else None
