"""Diagnosis of a deadlock and capacities that would do (``semantics``, section Deadlock). Shared by the engines.

The remedy is defined by rerunning the estimate with one capacity raised, again and again. Firing without time gives
the same: where every ready actor fires sooner or later, a firing that is possible stays possible until it is made, so
that all orders of firing end in one and the same state, and raising a capacity lets the run go on from that state.
That holds for STATIC_ORDER too, its turns being one more cyclic dependency, but not for STATIC_ORDER with SIMD
blocks, where the size of a turn depends on time: there the engine is rerun.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dse.estimate.problem.prepare import Prepared
from dse.estimate.problem.tables import TransferTable
from dse.model.estimate import Deadlock, DeadlockRow

FinalState: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Position of each actor in its trace, and visible tokens of each buffer, when nothing moves any more."""


def diagnose(prepared: Prepared, state: FinalState, rerun: Callable[[Prepared], FinalState]) -> Deadlock | None:
    """Return why ``state`` is stuck and capacities with which the run completes; None if every firing was made.

    ``rerun`` runs the engine on the same design point with other capacities, where that cannot be avoided.
    """
    traces = prepared.tables.problem.trace.firings
    if all(position == len(firings) for position, firings in zip(state[0], traces, strict=True)):
        return None
    needs = _Needs(prepared)
    rows = _rows(needs, prepared.capacities, state)
    assert rows is not None, "some actor is unfinished"
    static = any(partition.policy == "STATIC_ORDER" for partition in prepared.point.partitions)
    if static and prepared.tables.block_width.any():
        remedy = _remedy_by_reruns(prepared, needs, rows, rerun)
    else:
        remedy = _remedy_without_time(prepared, needs)
    return Deadlock(rows=tuple(rows), remedy=remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """What one firing of an action takes from its inputs and puts to its outputs: (buffer, tokens) in buffer order."""

    reads: tuple[tuple[int, int], ...]
    writes: tuple[tuple[int, int], ...]

    def met(self, visible: Sequence[int], capacities: Sequence[int]) -> bool:
        """Return whether all tokens and all space are there."""
        tokens = all(visible[b] >= n for b, n in self.reads)
        return tokens and all(visible[b] + n <= capacities[b] for b, n in self.writes)


class _Needs:
    """The needs of all actions by actor, and the trace as lists."""

    def __init__(self, prepared: Prepared) -> None:
        tables = prepared.tables
        self.firings = [firings.tolist() for firings in tables.problem.trace.firings]
        self.of = [
            [
                _Need(
                    reads=_entries(tables.reads, int(tables.action_base[a]) + x),
                    writes=_entries(tables.writes, int(tables.action_base[a]) + x),
                )
                for x in range(tables.action_count(a))
            ]
            for a in range(len(self.firings))
        ]


def _entries(table: TransferTable, column: int) -> tuple[tuple[int, int], ...]:
    entries = slice(int(table.first[column]), int(table.first[column + 1]))
    return tuple(zip(table.buffer[entries].tolist(), table.tokens[entries].tolist(), strict=True))


def _rows(needs: _Needs, capacities: Sequence[int], state: FinalState) -> list[DeadlockRow] | None:
    """Return a row for each unfinished actor and buffer that lacks something; None if no actor is unfinished."""
    positions, visible = state
    rows: list[DeadlockRow] = []
    unfinished = False
    for a, firings in enumerate(needs.firings):
        if positions[a] == len(firings):
            continue
        unfinished = True
        action = firings[positions[a]]
        need = needs.of[a][action]
        lacks = [
            DeadlockRow(actor=a, action=action, buffer=b, kind="tokens", have=visible[b], need=n)
            for b, n in need.reads
            if visible[b] < n
        ]
        lacks += [
            DeadlockRow(actor=a, action=action, buffer=b, kind="space", have=capacities[b] - visible[b], need=n)
            for b, n in need.writes
            if visible[b] + n > capacities[b]
        ]
        rows += sorted(lacks, key=lambda row: (row.buffer, row.kind == "space"))
    return rows if unfinished else None


def parks_capacities(prepared: Prepared) -> tuple[int, ...] | None:
    """Return capacities with which the run completes, raised from those of the point by Parks' rule; None if none do.

    Whenever nothing moves for want of space, the smallest buffer in bytes of those that lack it (of equal ones the
    first) is raised by its shortage, and the run goes on. T. M. Parks, Bounded Scheduling of Process Networks, 1995.
    """
    buffers = prepared.tables.topology.buffers
    return _remedy_without_time(
        prepared, _Needs(prepared), lambda capacities, b: (capacities[b] * buffers[b].token_bytes, b)
    )


Preference: TypeAlias = Callable[[Sequence[int], int], tuple[int, int]]
"""Capacities and a buffer that lacks space to a key; the buffer with the least key is raised."""


def _lowest_index(_capacities: Sequence[int], buffer: int) -> tuple[int, int]:
    return buffer, 0


def _raised(
    capacities: Sequence[int], rows: Sequence[DeadlockRow], preference: Preference = _lowest_index
) -> tuple[int, ...] | None:
    """Return capacities with the preferred buffer that lacks space raised by its shortage, or None if none does."""
    lacking = (row for row in rows if row.kind == "space")
    short = min(lacking, key=lambda row: preference(capacities, row.buffer), default=None)
    if short is None:
        return None
    raised = list(capacities)
    raised[short.buffer] += short.need - short.have
    return tuple(raised)


def _remedy_by_reruns(
    prepared: Prepared, needs: _Needs, rows: list[DeadlockRow] | None, rerun: Callable[[Prepared], FinalState]
) -> tuple[int, ...] | None:
    """Return the capacities found by rerunning the engine."""
    while rows is not None:
        capacities = _raised(prepared.capacities, rows)
        if capacities is None:
            return None
        prepared = replace(prepared, capacities=capacities)
        rows = _rows(needs, capacities, rerun(prepared))
    return prepared.capacities


def _remedy_without_time(
    prepared: Prepared, needs: _Needs, preference: Preference = _lowest_index
) -> tuple[int, ...] | None:
    """Return the capacities found by firing without time."""
    capacities = prepared.capacities
    game = _TokenGame(prepared, needs)
    while True:
        game.play(capacities)
        rows = _rows(needs, capacities, (game.positions, game.visible))
        if rows is None:
            return capacities
        raised = _raised(capacities, rows, preference)
        if raised is None:
            return None
        capacities = raised


class _TokenGame:
    """Fires whatever can fire, without time, until nothing can; a static order lets only the actor whose turn it is."""

    def __init__(self, prepared: Prepared, needs: _Needs) -> None:
        self._needs = needs
        self._order = {
            a: p
            for p, partition in enumerate(prepared.point.partitions)
            if partition.policy == "STATIC_ORDER"
            for a in partition.actors
        }
        self._lists = [partition.static_order for partition in prepared.point.partitions]
        self._turns = [0] * len(self._lists)
        self.positions = [0] * len(needs.firings)
        self.visible = [buffer.initial_tokens for buffer in prepared.tables.topology.buffers]

    def play(self, capacities: Sequence[int]) -> None:
        """Go on from the present state until no firing is possible."""
        moved = True
        while moved:
            moved = False
            for actor in range(len(self.positions)):
                if actor in self._order:
                    moved |= self._has_turn(actor) and self._fire(actor, capacities, 1)
                else:
                    moved |= self._fire(actor, capacities, len(self._needs.firings[actor]))

    def _fire(self, actor: int, capacities: Sequence[int], most: int) -> bool:
        """Fire an actor as often as it can, at most ``most`` times; return whether it did."""
        firings, needs, visible = self._needs.firings[actor], self._needs.of[actor], self.visible
        begin = position = self.positions[actor]
        while position < len(firings) and position - begin < most:
            need = needs[firings[position]]
            if not need.met(visible, capacities):
                break
            for b, n in need.reads:
                visible[b] -= n
            for b, n in need.writes:
                visible[b] += n
            position += 1
        self.positions[actor] = position
        if position > begin and actor in self._order:
            self._turns[self._order[actor]] += 1
        return position > begin

    def _has_turn(self, actor: int) -> bool:
        """Return whether an actor of a static order is the next unfinished one of its list."""
        partition = self._order[actor]
        order = self._lists[partition]
        for _ in order:
            place = self._turns[partition] % len(order)
            if self.positions[order[place]] < len(self._needs.firings[order[place]]):
                return order[place] == actor
            self._turns[partition] += 1
        return False
