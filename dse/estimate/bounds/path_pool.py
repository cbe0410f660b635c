"""Paths of a trace, kept as sums, so that the length of each under any mapping costs a few additions.

A path is a chain of firings: each after the one of its actor before it, or after one that makes its tokens. Whatever
the mapping, the run takes at least as long as the firings of a path one behind the other (a token can be used when its
write has ended, so a firing that the path leaves by a token counts up to that write). The path that is critical under
one mapping bounds all others too, if less tightly. Of a path it is enough to know how often each action, each pair of
actions in a row, and each transfer is on it: its length is linear in their costs.

Costs are those of ``dse.estimate.bounds.lower_bounds``: scheduling at the least of after the predecessor and after
another actor; an action that fires in SIMD blocks counts with the least share of a block for its computing and its
reads. In parallel mode of the reads (and writes) of an actor those of one buffer count, of the one that gives the most.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.base.apart import apart
from dse.estimate.bounds.least_costs import (
    block_ticks,
    claimed,
    least_of_classes,
    least_pairs,
    least_share,
    or_as_host,
    simd_by_class,
)
from dse.estimate.problem.prices import PriceClass
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What a mapping decides about costs: for each actor the row of the tables, for each buffer the classes."""

    rows: IntArray
    read_class: IntArray
    write_class: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSums:
    """Ticks of paths: ``ticks[row, actor, path]``, ``reads[class, buffer, path]``, ``writes`` alike."""

    ticks: IntArray
    reads: IntArray
    writes: IntArray

    @classmethod
    def none(cls, tables: ProblemTables) -> "PathSums":
        """Return the sums of no path."""
        n_buffers = len(tables.topology.buffers)
        transfers = np.zeros((len(PriceClass), n_buffers, 0), dtype=np.int64)
        ticks = np.zeros((len(tables.rows), len(tables.topology.actors), 0), dtype=np.int64)
        return cls(ticks=ticks, reads=transfers, writes=transfers)

    def holds(self, other: "PathSums") -> bool:
        """Return whether one of the paths is the (only) one of ``other`` as far as costs tell."""
        pairs = ((self.ticks, other.ticks), (self.reads, other.reads), (self.writes, other.writes))
        same = [(mine == others).all(axis=(0, 1)) for mine, others in pairs]
        return bool(np.logical_and.reduce(same).any())

    def joined(self, other: "PathSums") -> "PathSums":
        """Return the paths of both."""

        def both(mine: IntArray, others: IntArray) -> IntArray:
            return np.ascontiguousarray(np.concatenate([mine, others], axis=2))

        return PathSums(
            ticks=both(self.ticks, other.ticks),
            reads=both(self.reads, other.reads),
            writes=both(self.writes, other.writes),
        )


class PathFinder:
    """Finds the critical paths of a trace under mappings; each takes time in proportion to the trace."""

    def __init__(self, tables: ProblemTables, *, parallel: bool) -> None:
        self._tables = tables
        self._parallel = parallel
        topology, n_actions = tables.topology, int(tables.action_base[-1])
        self._actor = np.repeat(np.arange(len(topology.actors)), np.diff(tables.action_base))
        self._read_action = np.repeat(np.arange(n_actions), np.diff(tables.reads.first))
        self._write_action = np.repeat(np.arange(n_actions), np.diff(tables.writes.first))
        simd = tables.block_width > 0
        self._compute = _compute_shares(tables)
        self._first = np.where(simd, 0, np.maximum(tables.first_scheduling, 0))
        self._pairs = self._pair_ticks(simd)
        in_blocks = simd_by_class(tables)
        self._reads = _entry_ticks(tables, tables.reads, in_blocks[:, self._read_action])
        writes_in_blocks = in_blocks[:, self._write_action]
        self._writes = np.where(writes_in_blocks, 0, _entry_ticks(tables, tables.writes, writes_in_blocks))
        sizes = [len(firings) for firings in tables.problem.trace.firings]
        base = np.cumsum([0, *sizes], dtype=np.int64)
        flat = [firings.astype(np.uint16, copy=False) for firings in tables.problem.trace.firings]
        firings = np.concatenate([*flat, np.zeros(0, dtype=np.uint16)])
        self._trace = (firings, base, tables.action_base, tables.pair_base.astype(np.int64))
        start, before = np.empty((2, base[-1]), dtype=np.int64)
        self._found: tuple[IntArray, IntArray, NDArray[np.int32]] = start, before, np.empty(base[-1], dtype=np.int32)
        ends = [(b.source, b.target, b.initial_tokens) for b in topology.buffers]
        columns = np.array(ends, dtype=np.int64).reshape(-1, 3).T
        self._buffers = tuple(np.ascontiguousarray(column) for column in columns)

    def _pair_ticks(self, simd: NDArray[np.bool_]) -> IntArray:
        """Return the least scheduling of the second action of each pair, shape (n_rows, n_pairs)."""
        tables = self._tables
        ticks = np.empty_like(tables.pair_scheduling)
        for a in range(len(tables.topology.actors)):
            n, base, first = tables.action_count(a), int(tables.pair_base[a]), int(tables.action_base[a])
            marked = simd[:, None, first : first + n]
            ticks[:, base : base + n * n] = np.where(marked, 0, least_pairs(tables, a)).reshape(-1, n * n)
        return ticks

    def critical(self, placed: Placed) -> tuple[int, PathSums]:
        """Return the length of the longest path of a mapping, and its sums."""
        from dse.estimate.compiled.path_kernel import longest_path  # late: numba takes half a second

        tables, n_actions = self._tables, len(self._actor)
        sizes = (self._pairs.shape[1], n_actions, n_actions, n_actions, len(self._write_action))
        counts = tuple(np.zeros(n, dtype=np.int64) for n in sizes)
        reads, writes, times = _columns(tables.reads), _columns(tables.writes), self._times(placed)
        length = apart(
            lambda: longest_path(self._trace, reads, writes, self._buffers, times, self._found, counts)
        )  # a trace may be long, and the main thread has to hear signals
        return int(length), self._sums(*counts)

    def _times(self, placed: Placed) -> tuple[IntArray, ...]:
        """Return scheduling of pairs and of firsts, ticks before the writes, until each write ends, and of all."""
        tables, actions = self._tables, np.arange(len(self._actor))
        row = placed.rows[self._actor]
        pair_row = np.repeat(placed.rows, np.diff(tables.action_base) ** 2)
        pairs = self._pairs[pair_row, np.arange(len(pair_row))]
        reads = self._reads[placed.read_class[tables.reads.buffer], np.arange(len(self._read_action))]
        writes = self._writes[placed.write_class[tables.writes.buffer], np.arange(len(self._write_action))]
        body = self._compute[row, actions]
        whole = np.zeros(len(actions), dtype=np.int64)
        if self._parallel:
            reading = np.zeros(len(actions), dtype=np.int64)
            np.maximum.at(reading, self._read_action, reads)
            np.maximum.at(whole, self._write_action, writes)
            until = writes
        else:
            reading = _summed(reads, self._read_action, len(actions))
            whole = _summed(writes, self._write_action, len(actions))
            total = np.concatenate([[0], np.cumsum(writes)])
            until = total[1:] - total[tables.writes.first[self._write_action]]
        return pairs, self._first[row, actions], body + reading, until, whole

    def _sums(self, pairs: IntArray, firsts: IntArray, actions: IntArray, whole: IntArray, ways: IntArray) -> PathSums:
        """Return the sums of a path: how often each pair, first firing and action is on it, and how it is left."""
        tables = self._tables
        topology = tables.topology
        pair_actor = np.repeat(np.arange(len(topology.actors)), np.diff(tables.action_base) ** 2)
        ticks = np.zeros((len(tables.rows), len(topology.actors)), dtype=np.int64)
        for row in range(len(tables.rows)):
            alone = self._compute[row] * actions + self._first[row] * firsts
            ticks[row] = _summed(alone, self._actor, len(topology.actors))
            ticks[row] += _summed(self._pairs[row] * pairs, pair_actor, len(topology.actors))
        made = ways
        if not self._parallel:  # a firing that is left by a write has made those before it too
            total = np.concatenate([[0], np.cumsum(ways)])
            made = total[tables.writes.first[self._write_action + 1]] - total[:-1]
        n = len(topology.buffers)
        reads = [_summed(ticks_of * actions[self._read_action], tables.reads.buffer, n) for ticks_of in self._reads]
        written = whole[self._write_action] + made
        writes = [_summed(ticks_of * written, tables.writes.buffer, n) for ticks_of in self._writes]
        shape = (len(PriceClass), n, 1)
        return PathSums(
            ticks=ticks[:, :, None],
            reads=np.array(reads, dtype=np.int64).reshape(shape),
            writes=np.array(writes, dtype=np.int64).reshape(shape),
        )


def _columns(table: TransferTable) -> tuple[IntArray, IntArray, IntArray]:
    return table.first, table.buffer, table.tokens


def _summed(values: IntArray, groups: IntArray, n: int) -> IntArray:
    """Return the sums of the values of each group, exactly (``bincount`` would go through floats)."""
    sums = np.zeros(n, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums


def _compute_shares(tables: ProblemTables) -> IntArray:
    """Return the least computing of one firing, shape (n_rows, n_actions): of a block its least share."""
    shares = np.maximum(tables.compute, 0)
    for row, action in zip(*np.nonzero(tables.block_width), strict=True):
        shares[row, action] = least_share(block_ticks(tables, row, action))
    return shares


def _entry_ticks(tables: ProblemTables, table: TransferTable, in_blocks: NDArray[np.bool_]) -> IntArray:
    """Return the least ticks of each transfer of one firing at each class of price, shape (n_classes, n_entries).

    ``in_blocks``: same shape, whether the firing is in blocks: the least share of one. 0 where there is no price.
    """
    alone = table.ticks[:, table.cost]
    shares = np.array(alone)
    for e, (start, width) in enumerate(zip(table.cost.tolist(), table.width.tolist(), strict=True)):
        shares[:, e] = least_share(table.ticks[:, start : start + width])
    least = [claimed(least_of_classes(tables, table, ticks, table.buffer)) for ticks in (alone, shares)]
    # In the dynamic-network binary a port may be a host port although nothing crosses.
    return or_as_host(np.where(in_blocks, least[1], least[0]), tables.problem.platform.dynamic_network)
