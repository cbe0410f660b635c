"""Makespans in bursts: lays out the board of a problem, and hands points to the burst kernel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.burst_kernel import follow_points
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.pack import Ints, Packed
from dse.estimate.compiled.place_kernel import PART_ACTORS, PART_CORES, PART_POLICY, PART_ROW
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.estimate.problem.totals import most_ticks_of_actions

MOST_SHIFT = 20
LEAST_SHIFT = 6


class _Board:
    def __init__(self) -> None:
        self.words = [np.zeros(at.BOARD_FIELDS, dtype=np.int64)]
        self.end = at.BOARD_FIELDS

    def put(self, field: int, values: IntArray) -> None:
        self.words[0][field] = self.end
        flat = np.ascontiguousarray(values, dtype=np.int64).reshape(-1)
        self.words.append(flat)
        self.end += len(flat)


def make_board(tables: ProblemTables, packed: Packed) -> Ints | None:
    total = float(most_ticks_of_actions(tables).sum())
    shift = min(MOST_SHIFT, 61 - int(np.ceil(np.log2(max(2.0, total)))))
    if shift < LEAST_SHIFT:
        return None
    board = _Board()
    head = board.words[0]
    buffers = tables.topology.buffers
    n_actions = int(tables.action_base[-1])
    head[at.SHIFT], head[at.N_ACTORS], head[at.N_BUFFERS] = shift, len(tables.topology.actors), len(buffers)
    head[at.N_ACTIONS], head[at.N_TRANSFERS] = n_actions, len(tables.reads.buffer) + len(tables.writes.buffer)
    board.put(at.ACTION_BASE, tables.action_base)
    board.put(at.FIRING_BASE, packed.firing_base)
    board.put(at.COUNTS, tables.count)
    for side, table in ((at.READS, tables.reads), (at.WRITES, tables.writes)):
        board.put(side + at.FIRST, table.first)
        board.put(side + at.BUFFER, table.buffer)
        board.put(side + at.TOKENS, table.tokens)
        board.put(side + at.COLUMN, table.cost)
        board.put(side + at.TICKS, table.ticks << shift)
        head[side + at.WIDTH] = table.ticks.shape[1]
    sources = np.array([b.source for b in buffers], dtype=np.int64)
    targets = np.array([b.target for b in buffers], dtype=np.int64)
    board.put(at.SOURCES, sources)
    board.put(at.TARGETS, targets)
    board.put(at.INITIAL, np.array([b.initial_tokens for b in buffers], dtype=np.int64))
    board.put(at.COMPUTE, tables.compute << shift)
    board.put(at.FIRST_SCHEDULING, tables.first_scheduling << shift)
    board.put(at.LEAST_SCHEDULING, least_scheduling(tables) << shift)
    board.put(at.PAIR_SCHEDULING, tables.pair_scheduling << shift)
    head[at.N_PAIRS] = tables.pair_scheduling.shape[1]
    board.put(at.PAIR_BASE, tables.pair_base)
    board.put(at.UNIFORM_RATES, uniform_rates(tables))
    n = len(tables.topology.actors)
    for first, which, of in ((at.OUTPUTS_FIRST, at.OUTPUTS, sources), (at.INPUTS_FIRST, at.INPUTS, targets)):
        board.put(first, np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))]))
        board.put(which, np.argsort(of, kind="stable"))
    return np.concatenate(board.words)


def least_scheduling(tables: ProblemTables) -> IntArray:
    least = tables.first_scheduling.copy()
    for a, base in enumerate(tables.pair_base.tolist()):
        first, n = int(tables.action_base[a]), tables.action_count(a)
        pairs = tables.pair_scheduling[:, base : base + n * n].reshape(-1, n, n)
        occurs = tables.pair_count[base : base + n * n].reshape(n, n) > 0
        after = np.where(occurs, pairs, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
        least[:, first : first + n] = np.minimum(least[:, first : first + n], after)
    return least


def uniform_rates(tables: ProblemTables) -> IntArray:
    buffers = len(tables.topology.buffers)
    least, most = np.full(buffers, np.iinfo(np.int64).max), np.zeros(buffers, dtype=np.int64)
    for table in (tables.reads, tables.writes):
        fired = np.repeat(tables.count, np.diff(table.first)) > 0
        np.minimum.at(least, table.buffer[fired], table.tokens[fired])
        np.maximum.at(most, table.buffer[fired], table.tokens[fired])
    return np.where(least == most, most, 0)


def bench_words(board: Ints, n_orders: int) -> int:
    n, buffers = int(board[at.N_ACTORS]), int(board[at.N_BUFFERS])
    return (
        at.BENCH_FIELDS + n * (at.ACTOR_WORDS + at.LANE_WORDS + 4) + int(board[at.N_ACTIONS]) * at.ACTION_WORDS
        + int(board[at.N_TRANSFERS]) * at.NEED_WORDS + 2 * buffers * at.QUEUE_WORDS + n_orders + 16
    )


def suits(tables: ProblemTables, shared: np.ndarray, encoded: EncodedPoint) -> bool:
    """Whether the burst kernel holds for the point."""
    parts = encoded.parts
    if len(tables.deviations):
        return False
    one = (parts[:, PART_CORES] <= 1) | (parts[:, PART_POLICY] == layout.FULL_PARALLEL) | (parts[:, PART_ACTORS]<=1)
    if not one.all():
        return False
    if tables.block_width[parts[:, PART_ROW]].any():
        return False
    servers = encoded.choices[:, 3]
    if len(shared) and shared[servers[servers >= 0]].any():
        return False
    return not (tables.arrival > 0 and encoded.choices[:, 4].any())


def run_points(board: Ints, firings, encoded: Sequence[EncodedPoint], limit: int | None = None):
    n, nb = int(board[at.N_ACTORS]), int(board[at.N_BUFFERS])
    head = np.empty((len(encoded), 6), dtype=np.int64)
    p = o = 0
    for i, e in enumerate(encoded):
        head[i] = p, len(e.parts), o, i * nb, e.point.release == "reading", e.point.transfers == "parallel"
        p += len(e.parts)
        o += len(e.orders)
    parts = np.concatenate([e.parts for e in encoded]).reshape(-1)
    members = np.concatenate([e.members for e in encoded])
    orders = np.concatenate([e.orders for e in encoded])
    choices = np.concatenate([e.choices for e in encoded]).reshape(-1)
    bench = np.empty(bench_words(board, max((len(e.orders) for e in encoded), default=0)), dtype=np.int64)
    k = len(encoded)
    stop = np.zeros(1, dtype=np.int64)
    limits = np.full(k, layout.NEVER if limit is None else max(-1, min(limit, layout.NEVER)), dtype=np.int64)
    ended, latest = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    spent, idle = np.zeros(4 * p, dtype=np.int64), np.empty(n * k, dtype=np.int64)
    follow_points(bench, board, firings, (head.reshape(-1), parts, members, orders, choices), stop, limits, ended, latest, spent, idle)
    return ended, latest, spent.reshape(-1, 4), idle.reshape(k, n), bench
