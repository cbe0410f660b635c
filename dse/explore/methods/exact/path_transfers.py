"""The transfers on paths of a trace: how often a path goes through each, and what they add to firings and to waits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.bounds.token_paths import LaidOut, PathCounts, TokenPaths
from dse.estimate.problem.prices import PriceClass
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.explore.mapping_bound import DearerTransfers

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferTicks:
    """Ticks, or shares, by class of prices and buffer, shape (n_classes, n_buffers)."""

    reads: FloatArray
    writes: FloatArray

    @classmethod
    def none(cls, n_buffers: int) -> "BufferTicks":
        """Return nothing for each class and buffer."""
        return cls(reads=np.zeros((len(PriceClass), n_buffers)), writes=np.zeros((len(PriceClass), n_buffers)))


class PathTransfers:
    """A firing on a path makes all its reads, and all its writes, or those up to the one that the path leaves by."""

    def __init__(self, tables: ProblemTables, paths: TokenPaths, dearer: DearerTransfers) -> None:
        self._actions, self._dearer = paths.actions, dearer
        self._reads, self._writes = tables.reads, tables.writes
        self._n_actions, self._n_buffers = int(tables.action_base[-1]), len(tables.topology.buffers)
        self._reader, self._writer = _actions_of(tables.reads), _actions_of(tables.writes)
        entry = np.full((self._n_actions, self._n_buffers + 1), -1, dtype=np.int64)
        entry[self._writer, tables.writes.buffer] = np.arange(len(self._writer))
        self._until = entry[self._actions.delay, paths.written]  # -1 takes the last column: no write is waited for

    def on(self, path: PathCounts) -> BufferTicks:
        """Return what the transfers on a path add up to, if all those of a buffer are of one class."""
        whole = _sums(self._actions.firing, path.whole, self._n_actions)
        fired = whole + _sums(self._actions.delay, path.ways, self._n_actions)
        waited = self._until >= 0
        ways = _sums(self._until[waited], path.ways[waited], len(self._writer))
        total = np.concatenate([[0.0], np.cumsum(ways)])  # a firing that is left by a write has made those before too
        made = whole[self._writer] + total[self._writes.first[self._writer + 1]] - total[:-1]
        return BufferTicks(
            reads=self._by_buffer(self._reads, self._dearer.reads * fired[self._reader]),
            writes=self._by_buffer(self._writes, self._dearer.writes * made),
        )

    def added(self, shares: BufferTicks) -> LaidOut:
        """Return what transfers add to the times of firings, if they are of these classes in these shares."""
        read = (shares.reads[:, self._reads.buffer] * self._dearer.reads).sum(axis=0)
        written = (shares.writes[:, self._writes.buffer] * self._dearer.writes).sum(axis=0)
        reading = _sums(self._reader, read, self._n_actions)
        total = np.concatenate([[0.0], np.cumsum(written)])
        until = total[1:] - total[self._writes.first[self._writer]]
        writing = _sums(self._writer, written, self._n_actions)
        delay = reading[self._actions.delay]
        waited = self._until >= 0
        delay[waited] += until[self._until[waited]]
        return LaidOut(firing=(reading + writing)[self._actions.firing].astype(np.int64), delay=delay.astype(np.int64))

    def _by_buffer(self, table: TransferTable, ticks: FloatArray) -> FloatArray:
        return np.array([_sums(table.buffer, of_class, self._n_buffers) for of_class in ticks])


def _actions_of(table: TransferTable) -> IntArray:
    """Return the action of each entry."""
    return np.repeat(np.arange(len(table.first) - 1), np.diff(table.first))


def _sums(where: IntArray, ticks: IntArray | FloatArray, n: int) -> FloatArray:
    """Return the sums of the ticks that stand at each of n numbers."""
    return np.asarray(np.bincount(where, ticks, n), dtype=np.float64)  # of nothing it is whole numbers
