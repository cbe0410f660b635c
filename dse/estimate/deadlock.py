"""Diagnosis of a deadlock and capacities that would do (``semantics``, section Deadlock). Shared by the engines.

The remedy is defined by rerunning the estimate with one capacity raised, again and again. Firing without time gives
the same: where every ready actor fires sooner or later, a firing that is possible stays possible until it is made, so
that all orders of firing end in one and the same state, and raising a capacity lets the run go on from that state.
That holds for STATIC_ORDER too, its turns being one more cyclic dependency, but not for STATIC_ORDER with SIMD
blocks, where the size of a turn depends on time: there the engine is rerun.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dse.base.apart import apart
from dse.estimate.problem.prepare import Prepared
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.model.estimate import Deadlock, DeadlockRow

FinalState: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Position of each actor in its trace, and visible tokens of each buffer, when nothing moves any more."""


def diagnose(
    prepared: Prepared, state: FinalState, rerun: Callable[[Prepared], FinalState] | None = None
) -> Deadlock | None:
    """Return why ``state`` is stuck; None if every firing was made.

    ``rerun`` runs the engine on the same design point with other capacities, where that cannot be avoided. With it,
    capacities with which the run completes are looked for; that plays the whole trace again.
    """
    rows = _rows(prepared.tables, prepared.capacities, state)
    if rows is None:
        return None
    if rerun is None:
        return Deadlock(rows=tuple(rows), remedy=None, sought=False)
    static = any(partition.policy == "STATIC_ORDER" for partition in prepared.point.partitions)
    if static and prepared.tables.block_width.any():
        remedy = _remedy_by_reruns(prepared, rows, rerun)
    else:
        remedy = _remedy_without_time(prepared)
    return Deadlock(rows=tuple(rows), remedy=remedy)


def always_deadlocks(tables: ProblemTables, capacities: Sequence[int]) -> bool:
    """Return whether every mapping deadlocks with these capacities: no order of firing comes to its end.

    What a mapping adds (cores, static orders, blocks) only leaves out orders of firing. Where no static order does,
    it holds the other way round too: either all mappings complete or none does.
    """
    game = _TokenGame(tables, [], [])
    game.play(capacities)
    return _rows(tables, capacities, game.state) is not None


def _entries(table: TransferTable, column: int) -> list[tuple[int, int]]:
    """Return what one firing of an action moves: (buffer, tokens) in buffer order."""
    entries = slice(int(table.first[column]), int(table.first[column + 1]))
    return list(zip(table.buffer[entries].tolist(), table.tokens[entries].tolist(), strict=True))


def _rows(tables: ProblemTables, capacities: Sequence[int], state: FinalState) -> list[DeadlockRow] | None:
    """Return a row for each unfinished actor and buffer that lacks something; None if no actor is unfinished."""
    positions, visible = state
    rows: list[DeadlockRow] = []
    unfinished = False
    for a, firings in enumerate(tables.problem.trace.firings):
        if positions[a] == len(firings):
            continue
        unfinished = True
        action = int(firings[positions[a]])
        column = int(tables.action_base[a]) + action
        lacks = [
            DeadlockRow(actor=a, action=action, buffer=b, kind="tokens", have=visible[b], need=n)
            for b, n in _entries(tables.reads, column)
            if visible[b] < n
        ]
        lacks += [
            DeadlockRow(actor=a, action=action, buffer=b, kind="space", have=capacities[b] - visible[b], need=n)
            for b, n in _entries(tables.writes, column)
            if visible[b] + n > capacities[b]
        ]
        rows += sorted(lacks, key=lambda row: (row.buffer, row.kind == "space"))
    return rows if unfinished else None


def parks_capacities(prepared: Prepared) -> tuple[int, ...] | None:
    """Return capacities with which the run completes, raised from those of the point by Parks' rule; None if none do.

    Whenever nothing moves for want of space, the smallest buffer in bytes of those that lack it (of equal ones the
    first) is raised by its shortage, and the run goes on. T. M. Parks, Bounded Scheduling of Process Networks, 1995.
    """
    return _game_of(prepared).play_out(prepared.capacities, _token_bytes(prepared.tables))


def enough_capacities(tables: ProblemTables, capacities: Sequence[int]) -> tuple[int, ...] | None:
    """Return capacities with which every mapping without a static order completes, raised as by ``parks_capacities``.

    None if there are none.
    """
    return _TokenGame(tables, [], []).play_out(capacities, _token_bytes(tables))


def _token_bytes(tables: ProblemTables) -> list[int]:
    return [buffer.token_bytes for buffer in tables.topology.buffers]


def _raised(capacities: Sequence[int], rows: Sequence[DeadlockRow]) -> tuple[int, ...] | None:
    """Return capacities with the first buffer that lacks space raised by its shortage, or None if none does."""
    short = min((row for row in rows if row.kind == "space"), key=lambda row: row.buffer, default=None)
    if short is None:
        return None
    raised = list(capacities)
    raised[short.buffer] += short.need - short.have
    return tuple(raised)


def _remedy_by_reruns(
    prepared: Prepared, rows: list[DeadlockRow] | None, rerun: Callable[[Prepared], FinalState]
) -> tuple[int, ...] | None:
    """Return the capacities found by rerunning the engine."""
    while rows is not None:
        capacities = _raised(prepared.capacities, rows)
        if capacities is None:
            return None
        prepared = replace(prepared, capacities=capacities)
        rows = _rows(prepared.tables, capacities, rerun(prepared))
    return prepared.capacities


def _remedy_without_time(prepared: Prepared) -> tuple[int, ...] | None:
    """Return the capacities found by firing without time."""
    return _game_of(prepared).play_out(prepared.capacities, [0] * len(prepared.capacities))


def _game_of(prepared: Prepared) -> "_TokenGame":
    """Return the game of a design point, with its static orders."""
    partitions = prepared.point.partitions
    order_of = {a: p for p, part in enumerate(partitions) if part.policy == "STATIC_ORDER" for a in part.actors}
    return _TokenGame(
        prepared.tables,
        [order_of.get(a, -1) for a in range(len(prepared.tables.topology.actors))],
        [partition.static_order for partition in partitions],
    )


class _TokenGame:
    """Fires whatever can fire, without time, until nothing can; a static order lets only the actor whose turn it is.

    ``order_of``: of each actor the number of its static order or -1 (none at all: no orders); ``orders``: the lists.
    """

    def __init__(self, tables: ProblemTables, order_of: Sequence[int], orders: Sequence[Sequence[int]]) -> None:
        firings = tables.problem.trace.firings
        n_actors = len(firings)
        self._trace = (
            np.concatenate([*(f.astype(np.uint16, copy=False) for f in firings), np.zeros(0, np.uint16)]),
            np.cumsum([0, *map(len, firings)], dtype=np.int64),
            tables.action_base.astype(np.int64),
        )
        self._reads = _arrays(tables.reads)
        self._writes = _arrays(tables.writes)
        self._orders = (
            np.array(order_of or [-1] * n_actors, dtype=np.int64),
            np.cumsum([0, *map(len, orders)], dtype=np.int64),
            np.array([a for order in orders for a in order], dtype=np.int64),
            np.zeros(len(orders), dtype=np.int64),
        )
        self._positions = np.zeros(n_actors, dtype=np.int64)
        self._visible = np.array([buffer.initial_tokens for buffer in tables.topology.buffers], dtype=np.int64)

    @property
    def state(self) -> FinalState:
        """What has been fired, and the tokens that are there."""
        return self._positions.tolist(), self._visible.tolist()

    def play(self, capacities: Sequence[int]) -> None:
        """Go on from the present state until no firing is possible."""
        from dse.estimate.token_kernel import play  # late: numba takes half a second

        stop, tokens = np.zeros(1, dtype=np.int64), np.array(capacities, dtype=np.int64)
        state = self._positions, self._visible
        apart(
            lambda: play(self._trace, self._reads, self._writes, self._orders, tokens, state, stop),
            lambda: stop.fill(1),
        )

    def play_out(self, capacities: Sequence[int], token_bytes: Sequence[int]) -> tuple[int, ...] | None:
        """Go on to the end; return the capacities raised where nothing could fire, None where that did not help.

        Of the buffers that lack space the smallest in bytes is raised by its shortage, of equal ones the first.
        """
        from dse.estimate.token_kernel import play_out  # late: numba takes half a second

        stop, tokens = np.zeros(1, dtype=np.int64), np.array(capacities, dtype=np.int64)
        sizes, state = np.array(token_bytes, dtype=np.int64), (self._positions, self._visible)
        complete = apart(
            lambda: play_out(self._trace, self._reads, self._writes, self._orders, tokens, sizes, state, stop),
            lambda: stop.fill(1),
        )
        return tuple(tokens.tolist()) if complete else None


def _arrays(table: TransferTable) -> tuple[IntArray, IntArray, IntArray]:
    """Return first entry of each action, buffers and tokens, as the compiled game reads them."""
    return tuple(np.ascontiguousarray(a, dtype=np.int64) for a in (table.first, table.buffer, table.tokens))  # type: ignore[return-value]
