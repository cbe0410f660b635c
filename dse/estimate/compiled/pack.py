"""Builds the kernel's memory: what a problem fixes is laid out once, what a design point chooses for every estimate."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled import layout as at
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.place_kernel import PART_ACTORS, PART_ROW, fill
from dse.estimate.draws import DrawnCosts
from dse.estimate.problem.prepare import link_servers
from dse.estimate.problem.tables import ProblemTables

Ints = NDArray[np.int64]


Kind: TypeAlias = Literal["general", "still", "plain"]
"""What a memory has, by the kernel that makes it: ``plain_kernel``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A table in the memory: ``rows`` rows of ``width`` words from address ``first`` on."""

    first: int
    rows: int
    width: int

    @property
    def end(self) -> int:
        """The address behind the table."""
        return self.first + self.rows * self.width

    def view(self, memory: Ints) -> Ints:
        """Return the table as an array of shape (rows, width) that shares the memory."""
        return memory[self.first : self.end].reshape(self.rows, self.width)

    def address(self, row: Ints) -> Ints:
        """Return the addresses of rows."""
        return self.first + row * self.width


class _Layout:
    """Hands out regions one behind the other."""

    def __init__(self, first: int) -> None:
        self.end = first

    def take(self, rows: int, width: int = 1) -> Region:
        region = Region(first=self.end, rows=rows, width=width)
        self.end = region.end
        return region


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packed:
    """What all design points of a problem share. ``memory`` is a template that every estimate copies."""

    tables: ProblemTables
    firings: NDArray[np.uint16]
    """shape (n_firings,): the action ids of all actors, actor after actor."""
    firing_base: Ints
    """shape (n_actors + 1,)"""
    memory: Ints
    actions: Region
    reads: Region
    writes: Region
    actors: Region
    fifos: Region
    pairs: Region
    read_costs: Region
    write_costs: Region
    blocks: Region
    action_actor: Ints
    """shape (n_actions,)"""
    action_costs: Ints
    """shape (n_rows, n_actions, 5), see ``fill``"""
    shared: NDArray[np.bool_]
    """shape (n_servers,): whether a link server makes one transfer at a time"""
    blocks_of_row: NDArray[np.bool_]
    """shape (n_rows,): whether some action of a row of the cost tables is made in blocks"""

    def kind_of(self, encoded: EncodedPoint) -> Kind:
        """Return what the memory of a point has."""
        if self.tables.arrival > 0 and encoded.choices[:, 4].any():
            return "general"
        if self.blocks_of_row[encoded.parts[:, PART_ROW]].any():
            return "still"
        return "still" if len(self.shared) and (encoded.choices[:, 3] >= 0).any() else "plain"


def pack_problem(tables: ProblemTables) -> Packed:
    """Return the shared part of the memory of a problem."""
    trace, buffers = tables.problem.trace, tables.topology.buffers
    n_actors, n_actions = len(tables.topology.actors), int(tables.action_base[-1])
    sizes = [len(firings) for firings in trace.firings]
    counts = [np.diff(table.first) for table in (tables.reads, tables.writes)]
    layout = _Layout(at.HEAD_FIELDS)
    actors = layout.take(n_actors, at.ACTOR_FIELDS)
    fifos = layout.take(len(buffers), at.FIFO_FIELDS)
    actions = layout.take(n_actions, at.ACTION_FIELDS)
    reads = layout.take(len(tables.reads.buffer), at.TRANSFER_FIELDS)
    writes = layout.take(len(tables.writes.buffer), at.TRANSFER_FIELDS)
    pairs = layout.take(*tables.pair_scheduling.shape)
    read_costs, write_costs = layout.take(*tables.reads.ticks.shape), layout.take(*tables.writes.ticks.shape)
    blocks = layout.take(len(tables.block_ticks))
    pending = layout.take(n_actors, max([1, *(int(count.max(initial=0)) for count in counts)]))
    neighbours = [layout.take(len(buffers)), layout.take(len(buffers))]
    eights = -(-n_actors // 8)
    sizes_of_lists = (8 * eights, n_actors, n_actors, len(buffers), n_actors, 2 * len(buffers), n_actors, eights)
    lists = [layout.take(max(1, n)) for n in sizes_of_lists]
    memory = np.zeros(layout.end, dtype=np.int64)
    action_actor = np.repeat(np.arange(n_actors), np.diff(tables.action_base))
    packed = Packed(
        tables=tables,
        firings=np.concatenate([*(f.astype(np.uint16, copy=False) for f in trace.firings), np.zeros(0, np.uint16)]),
        firing_base=np.cumsum([0, *sizes], dtype=np.int64),
        memory=memory,
        actions=actions,
        reads=reads,
        writes=writes,
        actors=actors,
        fifos=fifos,
        pairs=pairs,
        read_costs=read_costs,
        write_costs=write_costs,
        blocks=blocks,
        action_actor=action_actor,
        action_costs=_action_costs(tables, action_actor, pairs, blocks),
        shared=_shared(tables),
        blocks_of_row=_blocks_of_row(tables),
    )
    _copy_structure(packed)
    _copy_costs(packed)
    _fill_head(packed, lists)
    _fill_actors(packed, pending, neighbours)
    _fill_fifos(packed)
    return packed


def repack(packed: Packed, tables: ProblemTables) -> Packed:
    """Return the shared part for tables of the same trace with other ticks or links; the firings are not copied."""
    again = replace(
        packed,
        tables=tables,
        memory=packed.memory.copy(),
        action_costs=_action_costs(tables, packed.action_actor, packed.pairs, packed.blocks),
        shared=_shared(tables),
        blocks_of_row=_blocks_of_row(tables),
    )
    _copy_costs(again)
    return again


def _shared(tables: ProblemTables) -> NDArray[np.bool_]:
    return np.array([server.shared for server in link_servers(tables.problem.platform)], dtype=bool)


def _blocks_of_row(tables: ProblemTables) -> NDArray[np.bool_]:
    return np.asarray(np.any(tables.block_width > 0, axis=1).reshape(-1))


def _copy_costs(packed: Packed) -> None:
    """Copy the cost tables."""
    tables, memory = packed.tables, packed.memory
    packed.pairs.view(memory)[:] = tables.pair_scheduling
    packed.read_costs.view(memory)[:] = tables.reads.ticks
    packed.write_costs.view(memory)[:] = tables.writes.ticks
    packed.blocks.view(memory)[:, 0] = tables.block_ticks
    memory[at.ARRIVAL], memory[at.LONGEST_TURN] = tables.arrival, tables.turn_firings
    memory[at.DEVIATIONS] = len(tables.deviations)
    visits, fifos = tables.visits, packed.fifos.view(memory)
    memory[at.VISITS] = visits is not None
    if visits is not None:
        memory[at.LOOK_TICKS], memory[at.GLANCE_TICKS], memory[at.WAKE_TICKS] = visits.look, visits.glance, visits.wake
        fifos[:, at.READ_ENTRY], fifos[:, at.WRITE_ENTRY] = visits.entries


def _copy_structure(packed: Packed) -> None:
    """Lay out what actions and transfers have under every design point and at all costs."""
    tables, memory = packed.tables, packed.memory
    actions = packed.actions.view(memory)
    actions[:, at.READ_FIRST] = packed.reads.address(tables.reads.first[:-1])
    actions[:, at.READ_END] = packed.reads.address(tables.reads.first[1:])
    actions[:, at.WRITE_FIRST] = packed.writes.address(tables.writes.first[:-1])
    actions[:, at.WRITE_END] = packed.writes.address(tables.writes.first[1:])
    actions[:, at.SCHED_STRIDE] = np.diff(tables.action_base)[packed.action_actor]
    actions[:, at.TOTAL] = tables.count
    for table, region in ((tables.reads, packed.reads), (tables.writes, packed.writes)):
        rows = region.view(memory)
        rows[:, at.BUFFER], rows[:, at.TOKENS] = packed.fifos.address(table.buffer), table.tokens
        rows[:, at.COLUMN_OF_COSTS] = table.cost


def _fill_head(packed: Packed, lists: list[Region]) -> None:
    head = packed.memory
    head[at.ACTORS], head[at.ACTORS_END] = packed.actors.first, packed.actors.end
    head[at.FIFOS], head[at.FIFOS_END] = packed.fifos.first, packed.fifos.end
    head[at.READ_COSTS], head[at.READ_COSTS_WIDTH] = packed.read_costs.first, packed.read_costs.width
    head[at.WRITE_COSTS], head[at.WRITE_COSTS_WIDTH] = packed.write_costs.first, packed.write_costs.width
    fields: tuple[int, ...] = (at.ACTIVE, at.ENDING_LIST, at.LOOKING_LIST, at.LAUNCHED_LIST, at.ACTIVE_ACTORS)
    fields += (at.ARRIVING_LIST, at.ENDED_LIST, at.FIRST_OF_EIGHT)
    for field, region in zip(fields, lists, strict=True):
        head[field] = region.first


def _fill_actors(packed: Packed, pending: Region, neighbours: list[Region]) -> None:
    """Lay out the actors, and the lists of buffers that begin and end at each."""
    tables, memory, buffers = packed.tables, packed.memory, packed.tables.topology.buffers
    rows = packed.actors.view(memory)
    rows[:, at.ACTIONS] = packed.actions.address(tables.action_base[:-1])
    rows[:, at.ACTIONS_END] = packed.actions.address(tables.action_base[1:])
    rows[:, at.FIRING_BASE] = rows[:, at.POSITION] = packed.firing_base[:-1]
    rows[:, at.FIRING_END] = packed.firing_base[1:]
    rows[:, at.LAST_ACTION], rows[:, at.SIZE] = at.NONE, 1
    rows[:, at.LEAVE_AT] = rows[:, at.LAUNCH_AT] = at.NEVER
    rows[:, at.PENDING] = pending.address(np.arange(len(rows)))
    pending.view(memory)[:] = at.NEVER
    ends = ([buffer.source for buffer in buffers], [buffer.target for buffer in buffers])
    for region, owners, first, end in (
        (neighbours[0], ends[0], at.OUTPUTS, at.OUTPUTS_END),
        (neighbours[1], ends[1], at.INPUTS, at.INPUTS_END),
    ):
        of = np.array(owners, dtype=np.int64)
        region.view(memory)[:, 0] = packed.fifos.address(np.argsort(of, kind="stable"))
        rows[:, end] = region.first + np.cumsum(np.bincount(of, minlength=len(rows)))
        rows[1:, first] = rows[:-1, end]
        rows[:1, first] = region.first


def _fill_fifos(packed: Packed) -> None:
    rows = packed.fifos.view(packed.memory)
    rows[:, at.TURN_TOKENS] = packed.tables.turn_tokens
    for row, buffer in zip(rows, packed.tables.topology.buffers, strict=True):
        row[at.VISIBLE] = row[at.MAX_TOKENS] = buffer.initial_tokens
        row[at.SOURCE] = packed.actors.first + buffer.source * at.ACTOR_FIELDS
        row[at.TARGET] = packed.actors.first + buffer.target * at.ACTOR_FIELDS


def _action_costs(tables: ProblemTables, actor: Ints, pairs: Region, blocks: Region) -> Ints:
    """Return the words of each action that depend on the row of the tables: shape (n_rows, n_actions, 5)."""
    rows, column = np.arange(len(tables.rows))[:, None], np.arange(len(actor))
    pair = tables.pair_base[actor] + column - tables.action_base[actor]
    words = (
        tables.first_scheduling,
        pairs.address(rows) + pair,
        tables.compute,
        tables.block_width,
        blocks.first + tables.block_base,
    )
    return np.ascontiguousarray(np.stack(words, axis=2))


def pack_point(packed: Packed, encoded: EncodedPoint, limit: int | None = None) -> Ints:
    """Return the memory of an estimate at its beginning; the kernel's ``settle`` does the rest."""
    n_actors, n_servers = len(encoded.members), len(packed.shared)
    words = at.CHOSEN_ACTOR_FIELDS * n_actors + at.CHOSEN_FIFO_FIELDS * len(encoded.choices)
    words += at.PART_FIELDS * len(encoded.parts) + 2 * n_actors + len(encoded.orders)
    if n_servers:
        words += n_servers * (at.LINK_FIELDS + 2 * len(encoded.choices) * at.REQUEST_FIELDS)
        words += (packed.reads.rows + packed.writes.rows) * at.CARRIED_FIELDS
    memory = np.empty(len(packed.memory) + words, dtype=np.int64)
    modes = (
        int(encoded.point.release == "reading"),
        int(encoded.point.transfers == "parallel"),
        at.NEVER if limit is None else max(-1, min(limit, at.NEVER)),  # any limit fits the array
    )
    fill(
        memory,
        packed.memory,
        encoded.parts,
        encoded.members,
        encoded.orders,
        encoded.choices,
        packed.action_costs,
        packed.shared,
        modes,
    )
    return memory


def draw_costs(packed: Packed, encoded: EncodedPoint, costs: DrawnCosts, memories: Ints) -> None:
    """Put drawn costs into memories of one point, shape (n, words), a set into each."""
    row_of = np.empty(len(encoded.members), dtype=np.int64)
    row_of[encoded.members] = np.repeat(encoded.parts[:, PART_ROW], encoded.parts[:, PART_ACTORS])
    columns = np.arange(len(packed.action_actor))
    words, rows = packed.actions.address(columns), row_of[packed.action_actor]
    memories[:, words + at.COMPUTE] = costs.compute[:, rows, columns]
    memories[:, packed.blocks.first : packed.blocks.end] = costs.block_ticks
    if costs.first_scheduling is not None:
        memories[:, words + at.SCHED_FIRST] = costs.first_scheduling[:, rows, columns]
    regions = (packed.pairs, packed.read_costs, packed.write_costs)
    for region, ticks in zip(regions, (costs.pair_scheduling, costs.reads, costs.writes), strict=True):
        if ticks is not None:
            memories[:, region.first : region.end] = ticks.reshape(len(memories), -1)
