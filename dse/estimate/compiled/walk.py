"""The record of a run as the flat arrays that ``walk_kernel`` goes over, and what it finds in them.

The critical path is gone back from the last event: a firing began when the last of what it needed was there. That is
the firing of its actor before, a core, the last token of an input, or the last room in an output; a transfer that
waited began when its link had ended another one.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled import walk_kernel as kernel
from dse.estimate.compiled.record import RunRecord
from dse.estimate.problem.prepare import cores_of, link_servers
from dse.estimate.problem.tables import IntArray, TransferTable

ROOM = 1 << 20
"""So many segments are made room for at first; a path that has more is walked twice."""
_PARTS = 6
"""A firing on a path has about so many segments at most: its four steps, tokens or room on the way, a link."""


class RecordWalk:
    """Goes over one record; makes an array of about 100 bytes a firing."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self._by_order, before, free = self._share_cores()
        self._memory = self._packed(before, free)
        kernel.find_looks(self._memory)

    def segments(self) -> NDArray[np.int64]:
        """Return the critical path, first segment first: shape (n, SEGMENT_FIELDS), columns as in ``walk_kernel``."""
        if not len(self._by_order):
            return np.zeros((0, kernel.SEGMENT_FIELDS), dtype=np.int64)
        pos, look = self._last_event()
        room = min(ROOM, _PARTS * len(self._by_order))  # what is not written to takes no memory
        while True:
            out = np.empty((room, kernel.SEGMENT_FIELDS), dtype=np.int64)
            n = kernel.walk(self._memory, pos, look, out)
            if n <= room:
                return np.ascontiguousarray(out[:n][::-1])
            room = n

    def slacks(self) -> IntArray:
        """Return by how many ticks each firing may begin later, shape (n_firings,); -1: never made."""
        slack = np.empty(len(self.record.firings), dtype=np.int64)
        kernel.slacks(self._memory, self._by_order, self.record.makespan, self.record.complete, slack)
        return slack

    def _last_event(self) -> tuple[int, int]:
        """Return the position of the firing that ended last, or the look that arrived behind it in a deadlock."""
        end = self.record.end
        pos = int(np.argmax(end))
        if int(end[pos]) < self.record.makespan:
            first, n = self._memory[kernel.SET_OUT], self._memory[kernel.N_LOOKS]
            return pos, int(np.argmax(self._memory[first : first + n]))
        last = np.flatnonzero(end == end[pos])
        return int(last[np.argmax(self.record.order[last])]), -1

    def _share_cores(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the first position of each start, the firing before each on its core, and since when one was free."""
        record = self.record
        cores = [0 if p.policy == "FULL_PARALLEL" else cores_of(p) for p in record.point.partitions]
        n = len(record.firings)
        before, free = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        by_order = np.empty(int(record.order.max(initial=-1)) + 1, dtype=np.int64)
        kernel.share_cores(
            record.firing_base,
            record.order,
            record.start,
            record.end,
            _ints(record.point.partition_of(len(record.firing_base) - 1)),
            np.cumsum([0, *cores], dtype=np.int64),
            by_order,
            before,
            free,
        )
        return by_order, before, free

    def _packed(self, before: IntArray, free: IntArray) -> IntArray:
        """Return the memory of the kernel, with room for the looks that it finds."""
        record, tables = self.record, self.record.tables
        buffers, log = tables.topology.buffers, self._log()
        source = _ints(b.source for b in buffers)
        target = _ints(b.target for b in buffers)
        first, n_of_firings, n_looks = self._room_of_looks(source, target)
        unknown, room = np.full(n_of_firings, -1, dtype=np.int64), np.zeros(n_looks, dtype=np.int64)
        parts: tuple[IntArray, ...] = (
            *(record.firings.astype(np.int64), record.firing_base, tables.action_base),
            *(tables.reads.first, tables.reads.buffer, tables.reads.tokens, record.read_ticks, record.read_alone),
            *(tables.writes.first, tables.writes.buffer, tables.writes.tokens, record.write_ticks, record.write_alone),
            *(source, target, _ints(b.initial_tokens for b in buffers)),
            *(record.capacities, record.server),
            *(_totals(table, tables.count, len(buffers)) for table in (tables.writes, tables.reads)),
            *(record.start, record.scheduled, record.read, record.computed, record.end, record.order),
            *log,
            *(first, unknown, unknown, room, room, room, room),
            *(record.published, before, free),
        )
        parallel, early = record.point.transfers == "parallel", record.point.release == "reading"
        numbers = (len(record.firing_base) - 1, len(buffers), len(tables.reads.buffer), len(log[0]), 0)
        words = np.cumsum([kernel.HEAD_WORDS, *map(len, parts)], dtype=np.int64)
        head = np.concatenate([_ints((*numbers, parallel, early, tables.arrival)), words[:-1]])
        assert len(head) == kernel.HEAD_WORDS, "a word for each number, mode and table"
        return np.concatenate([head, *parts])

    def _room_of_looks(self, source: IntArray, target: IntArray) -> tuple[IntArray, int, int]:
        """Return where the firings of each way begin in the tables of looks, their number, and that of looks."""
        record = self.record
        returns = record.travels * (record.tables.visits is not None)
        sender = np.concatenate([source, target])
        travelling = np.flatnonzero(np.concatenate([record.travels, returns]))
        sizes = np.diff(record.firing_base)[sender[travelling]]
        first = np.full(len(sender), -1, dtype=np.int64)
        first[travelling] = np.cumsum(sizes) - sizes
        upto = np.concatenate([[0], np.cumsum(record.published)])[record.firing_base]
        return first, int(sizes.sum()), int(np.diff(upto)[sender[travelling]].sum())

    def _log(self) -> tuple[IntArray, ...]:
        """Return the log by position, each transfer with that before it on its link."""
        log, reads = self.record.log, self.record.tables.reads
        buffer = np.append(reads.buffer, self.record.tables.writes.buffer)[log.entry]
        shared = np.array([s.shared for s in link_servers(self.record.tables.problem.platform)] + [False], dtype=bool)
        server = self.record.server[buffer]
        asked = np.flatnonzero((server >= 0) & shared[server])
        asked = asked[np.argsort(server[asked], kind="stable")]
        follows = server[asked[1:]] == server[asked[:-1]]
        before = np.full(len(server), -1, dtype=np.int64)
        before[asked[1:][follows]] = asked[:-1][follows]
        order = np.argsort(log.position, kind="stable")
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(order)), -1
        columns = (log.position, log.entry, log.begin, log.end, log.waited, rank[before])
        return tuple(column[order] for column in columns)


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def _totals(table: TransferTable, count: IntArray, n_buffers: int) -> IntArray:
    """Return the tokens that all firings of the trace move on one side of each buffer."""
    moved = np.repeat(count, np.diff(table.first)) * table.tokens
    totals = np.zeros(n_buffers, dtype=np.int64)
    np.add.at(totals, table.buffer, moved)
    return totals
