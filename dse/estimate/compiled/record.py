"""The record of one run of the compiled engine: every step of every firing, and each transfer that was made alone.

A record costs about a third of the time of the run more, and 56 bytes a firing; searches make none. Numbers of actions,
of entries of the transfer tables and of firings (*positions*) run through all actors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled import layout as at
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.pack import Ints, Packed
from dse.estimate.compiled.place_kernel import PART_ACTORS, PART_ROW
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.model.design_point import DesignPoint


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferLog:
    """Transfers that were made one by one (they asked a shared link, or belong to a SIMD action), as they ended.

    Arrays have shape (n_transfers,), int64. Times are ticks.
    """

    position: IntArray
    """Of the firing, or of the first one of its block."""
    entry: IntArray
    """Of the table of reads; that of the table of writes behind the last of them."""
    waited: IntArray
    """From the request to the begin."""
    begin: IntArray
    end: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRecord:
    """What one run of a design point did. Arrays of firings have shape (n_firings,), int64; -1: never made."""

    tables: ProblemTables
    point: DesignPoint
    firings: NDArray[np.uint16]
    """shape (n_firings,): the action ids of all actors, actor after actor"""
    firing_base: IntArray
    """shape (n_actors + 1,)"""
    makespan: int
    """In a deadlock the time of the last event."""
    complete: bool
    start: IntArray
    scheduled: IntArray
    read: IntArray
    computed: IntArray
    end: IntArray
    order: IntArray
    """Number of the start, through all actors; all firings of a block have the same."""
    published: IntArray
    """1: behind its end the actor published what it had written for other cores."""
    log: TransferLog
    read_ticks: IntArray
    """shape (n_entries,): of one firing under this point; ``write_ticks`` likewise"""
    write_ticks: IntArray
    read_alone: IntArray
    """shape (n_actions,): 1 where the reads of an action are made one by one and are in the log"""
    write_alone: IntArray
    capacities: IntArray
    """shape (n_buffers,)"""
    server: IntArray
    """shape (n_buffers,): the link server that its transfers take, -1 where none"""
    travels: IntArray
    """shape (n_buffers,): 1 where tokens arrive later than they are written"""


@dataclass(slots=True, kw_only=True, eq=False)
class Recorder:
    """Room for a record, which the kernel fills; it has only the addresses, so that this object has to live on."""

    times: Ints
    """shape (2, n_firings): start and end"""
    rows: Ints
    """shape (RECORDED_FIELDS, n_firings)"""
    log: Ints
    """shape (at most so many transfers, LOGGED_FIELDS)"""

    @classmethod
    def attached(cls, packed: Packed, encoded: EncodedPoint, memory: Ints) -> "Recorder":
        """Return room for the record of the run of a memory, and have the kernel fill it."""
        n = len(packed.firings)
        recorder = cls(
            times=np.full((2, n), at.NONE, dtype=np.int64),
            rows=np.full((at.RECORDED_FIELDS, n), at.NONE, dtype=np.int64),
            log=np.empty((_most_logged(packed, encoded), at.LOGGED_FIELDS), dtype=np.int64),
        )
        memory[at.RECORD], memory[at.LOG] = recorder.rows.ctypes.data, recorder.log.ctypes.data
        return recorder

    def record(
        self, packed: Packed, encoded: EncodedPoint, memory: Ints, *, makespan: int, complete: bool
    ) -> RunRecord:
        """Return what the run of a memory did, after the run."""
        reads, writes = packed.reads.view(memory), packed.writes.view(memory)
        actions = packed.actions.view(memory)
        travels = encoded.choices[:, 4] * (packed.tables.arrival > 0)
        return RunRecord(
            tables=packed.tables,
            point=encoded.point,
            firings=packed.firings,
            firing_base=packed.firing_base,
            makespan=makespan,
            complete=complete,
            start=self.times[0],
            scheduled=self.rows[at.RECORDED_SCHEDULED],
            read=self.rows[at.RECORDED_READ],
            computed=self.rows[at.RECORDED_COMPUTED],
            end=self.times[1],
            order=self.rows[at.RECORDED_ORDER],
            published=np.maximum(self.rows[at.RECORDED_PUBLISHED], 0),
            log=_log(packed, self.log[: memory[at.N_LOGGED]]),
            read_ticks=reads[:, at.TICKS].copy(),
            write_ticks=writes[:, at.TICKS].copy(),
            read_alone=actions[:, at.READ_GENERAL].copy(),
            write_alone=actions[:, at.WRITE_GENERAL].copy(),
            capacities=encoded.choices[:, 0].copy(),
            server=encoded.choices[:, 3].copy(),
            travels=np.ascontiguousarray(travels),
        )


def _log(packed: Packed, rows: Ints) -> TransferLog:
    address = rows[:, at.LOGGED_TRANSFER]
    writes = address >= packed.writes.first
    first = np.where(writes, packed.writes.first, packed.reads.first)
    entry = (address - first) // at.TRANSFER_FIELDS + np.where(writes, packed.reads.rows, 0)
    return TransferLog(
        position=rows[:, at.LOGGED_POSITION].copy(),
        entry=entry,
        waited=rows[:, at.LOGGED_WAITED].copy(),
        begin=rows[:, at.LOGGED_BEGIN].copy(),
        end=rows[:, at.LOGGED_END].copy(),
    )


def _most_logged(packed: Packed, encoded: EncodedPoint) -> int:
    """Return how many transfers are made one by one at most: all of an action if one asks a link, or it has blocks."""
    tables = packed.tables
    row_of = np.zeros(len(encoded.members), dtype=np.int64)
    row_of[encoded.members] = np.repeat(encoded.parts[:, PART_ROW], encoded.parts[:, PART_ACTORS])
    n_actions = len(packed.action_actor)
    blocks = tables.block_width[row_of[packed.action_actor], np.arange(n_actions)] > 0
    server = encoded.choices[:, 3]
    asks = (server >= 0) & packed.shared[server] if len(packed.shared) else np.zeros(len(server), dtype=bool)
    return sum(_alone(table, tables.count, asks, blocks) for table in (tables.reads, tables.writes))


def _alone(table: TransferTable, count: IntArray, asks: NDArray[np.bool_], blocks: NDArray[np.bool_]) -> int:
    sizes = np.diff(table.first)
    action = np.repeat(np.arange(len(sizes)), sizes)
    alone = (np.bincount(action, weights=asks[table.buffer], minlength=len(sizes)) > 0) | blocks
    return int((sizes * count)[alone].sum())
