"""Builds the kernel's memory: what a problem fixes is laid out once, what a design point chooses for every estimate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled import layout as at
from dse.estimate.prepare import NO_SERVER, Prepared
from dse.estimate.tables import ProblemTables, TransferTable
from dse.model.design_point import POLICIES

Ints = NDArray[np.int64]


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
    action_actor: Ints
    """shape (n_actions,)"""
    read_action: Ints
    """shape (n_reads,): the action of each read; ``write_action`` the same."""
    write_action: Ints


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
    lists = [layout.take(max(1, n)) for n in (n_actors, n_actors, n_actors, len(buffers), n_actors)]
    memory = np.zeros(layout.end, dtype=np.int64)
    packed = Packed(
        tables=tables,
        firings=np.concatenate([*(f.astype(np.uint16, copy=False) for f in trace.firings), np.zeros(0, np.uint16)]),
        firing_base=np.cumsum([0, *sizes], dtype=np.int64),
        memory=memory, actions=actions, reads=reads, writes=writes, actors=actors, fifos=fifos, pairs=pairs,
        read_costs=read_costs, write_costs=write_costs,
        action_actor=np.repeat(np.arange(n_actors), np.diff(tables.action_base)),
        read_action=np.repeat(np.arange(n_actions), counts[0]),
        write_action=np.repeat(np.arange(n_actions), counts[1]),
    )  # fmt: skip
    _copy_tables(packed, blocks)
    _fill_head(packed, lists)
    _fill_actors(packed, pending, neighbours)
    _fill_fifos(packed)
    return packed


def _copy_tables(packed: Packed, blocks: Region) -> None:
    """Copy the cost tables, and lay out what actions and transfers have under every design point."""
    tables, memory = packed.tables, packed.memory
    packed.pairs.view(memory)[:] = tables.pair_scheduling
    packed.read_costs.view(memory)[:] = tables.reads.ticks
    packed.write_costs.view(memory)[:] = tables.writes.ticks
    blocks.view(memory)[:, 0] = tables.block_ticks
    actions = packed.actions.view(memory)
    actions[:, at.READ_FIRST] = packed.reads.address(tables.reads.first[:-1])
    actions[:, at.READ_END] = packed.reads.address(tables.reads.first[1:])
    actions[:, at.WRITE_FIRST] = packed.writes.address(tables.writes.first[:-1])
    actions[:, at.WRITE_END] = packed.writes.address(tables.writes.first[1:])
    actions[:, at.SCHED_STRIDE] = np.diff(tables.action_base)[packed.action_actor]
    actions[:, at.BLOCK_COSTS] = blocks.first
    actions[:, at.TOTAL] = tables.count
    for table, region in ((tables.reads, packed.reads), (tables.writes, packed.writes)):
        rows = region.view(memory)
        rows[:, at.BUFFER], rows[:, at.TOKENS] = packed.fifos.address(table.buffer), table.tokens


def _fill_head(packed: Packed, lists: list[Region]) -> None:
    head = packed.memory
    head[at.ACTORS], head[at.ACTORS_END] = packed.actors.first, packed.actors.end
    fields = (at.ACTIVE, at.ENDING_LIST, at.LOOKING_LIST, at.LAUNCHED_LIST, at.ACTIVE_ACTORS)
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
    for row, buffer in zip(rows, packed.tables.topology.buffers, strict=True):
        row[at.VISIBLE] = row[at.MAX_TOKENS] = buffer.initial_tokens
        row[at.SOURCE] = packed.actors.first + buffer.source * at.ACTOR_FIELDS
        row[at.TARGET] = packed.actors.first + buffer.target * at.ACTOR_FIELDS


# A design point -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """The memory of one estimate and where its results will stand."""

    memory: Ints
    actors: Ints
    """View of the actors, shape (n_actors, ACTOR_FIELDS); the others likewise."""
    fifos: Ints
    links: Ints


def pack_point(packed: Packed, prepared: Prepared) -> Run:
    """Return the memory of an estimate at its beginning."""
    point = prepared.point
    layout = _Layout(len(packed.memory))
    parts = layout.take(len(point.partitions), at.PART_FIELDS)
    places, queues = layout.take(packed.actors.rows), layout.take(packed.actors.rows)
    orders = layout.take(sum(len(partition.static_order) for partition in point.partitions))
    links = layout.take(len(prepared.servers), at.LINK_FIELDS)
    requests = layout.take(len(prepared.servers), 2 * packed.fifos.rows * at.REQUEST_FIELDS)
    carried = _carried(packed, prepared, links)
    carried_region = layout.take(len(carried), at.CARRIED_FIELDS)
    memory = np.zeros(layout.end, dtype=np.int64)
    memory[: len(packed.memory)] = packed.memory
    memory[at.RELEASE_EARLY], memory[at.PARALLEL] = point.release == "reading", point.transfers == "parallel"
    memory[at.LINKS], memory[at.LINKS_END] = links.first, links.end
    packed.fifos.view(memory)[:, at.CAPACITY] = prepared.capacities
    _fill_actions(packed, prepared, memory)
    _fill_transfers(packed, prepared, memory, links)
    if len(carried):
        carried_region.view(memory)[:] = carried[:, 1:]
        rows = packed.actions.view(memory)
        edges = np.searchsorted(carried[:, 0], np.arange(len(rows) + 1), side="left")
        rows[:, at.CARRIED_FIRST] = carried_region.address(edges[:-1])
        rows[:, at.CARRIED_END] = carried_region.address(edges[1:])
    _place_actors(packed, prepared, memory, (parts, places, queues, orders))
    link_rows = links.view(memory)
    link_rows[:, at.CLIENT], link_rows[:, at.CLIENT_END] = at.NONE, at.NEVER
    link_rows[:, at.REQUESTS] = requests.address(np.arange(len(link_rows)))
    return Run(memory=memory, actors=packed.actors.view(memory), fifos=packed.fifos.view(memory), links=link_rows)


def _fill_actions(packed: Packed, prepared: Prepared, memory: Ints) -> None:
    """Give the actions the costs on their units."""
    tables, actor = packed.tables, packed.action_actor
    kind = np.array(prepared.unit_kind, dtype=np.int64)[actor]
    column = np.arange(len(actor))
    rows = packed.actions.view(memory)
    rows[:, at.SCHED_FIRST] = tables.first_scheduling[kind, column]
    pair = tables.pair_base[actor] + column - tables.action_base[actor]
    rows[:, at.SCHED_PAIRS] = packed.pairs.address(kind) + pair
    rows[:, at.COMPUTE] = tables.compute[kind, column]
    rows[:, at.BLOCK_WIDTH] = tables.block_width[kind, column]
    rows[:, at.BLOCK_COSTS] += tables.block_base[kind, column]
    rows[:, at.READ_GENERAL] = rows[:, at.WRITE_GENERAL] = rows[:, at.BLOCK_WIDTH] > 0


def _fill_transfers(packed: Packed, prepared: Prepared, memory: Ints, links: Region) -> None:
    """Give the transfers their prices and links, and the actions the lengths of their reads and writes."""
    tables, parallel = packed.tables, prepared.point.transfers == "parallel"
    server = np.array(
        [links.first + s * at.LINK_FIELDS if _is_shared(prepared, s) else at.NONE for s in prepared.server_of],
        dtype=np.int64,
    )
    actions = packed.actions.view(memory)
    for table, region, costs, prices, owner, ticks, general in (
        (tables.reads, packed.reads, packed.read_costs, prepared.read_price, packed.read_action,
         at.READ_TICKS, at.READ_GENERAL),
        (tables.writes, packed.writes, packed.write_costs, prepared.write_price, packed.write_action,
         at.WRITE_TICKS, at.WRITE_GENERAL),
    ):  # fmt: skip
        rows = region.view(memory)
        price = np.array(prices, dtype=np.int64)[table.buffer]
        rows[:, at.TICKS] = table.ticks[price, table.cost]
        rows[:, at.COSTS] = costs.address(price) + table.cost
        rows[:, at.SERVER] = server[table.buffer]
        gather = np.maximum if parallel else np.add
        gather.at(actions[:, ticks], owner, rows[:, at.TICKS])
        if (server != at.NONE).any():
            np.maximum.at(actions[:, general], owner, (rows[:, at.SERVER] != at.NONE).astype(np.int64))
    _order_writes(packed.writes, memory, packed.write_action, tables.writes, parallel=parallel)
    _plan_actions(packed, memory, late=prepared.point.release == "processing")


def _plan_actions(packed: Packed, memory: Ints, *, late: bool) -> None:
    """Give the actions the times of what happens in a firing, from the end of its scheduling."""
    rows, writes = packed.actions.view(memory), packed.writes.view(memory)
    launch = rows[:, at.READ_TICKS] + rows[:, at.COMPUTE]
    no_reads, no_writes = (
        rows[:, at.READ_FIRST] == rows[:, at.READ_END],
        rows[:, at.WRITE_FIRST] == rows[:, at.WRITE_END],
    )
    rows[:, at.LAUNCH_TICKS] = rows[:, at.FIRST_TICKS] = launch
    rows[:, at.LEAVE_TICKS] = np.where(no_reads | late, launch, rows[:, at.READ_TICKS])
    first = packed.tables.writes.first[:-1][~no_writes]
    rows[~no_writes, at.FIRST_TICKS] += writes[first, at.OFFSET]
    rows[:, at.PLANNED] = (rows[:, at.READ_GENERAL] == 0) & (rows[:, at.WRITE_GENERAL] == 0)


def _is_shared(prepared: Prepared, server: int) -> bool:
    return server != NO_SERVER and prepared.servers[server].shared


def _order_writes(region: Region, memory: Ints, owner: Ints, table: TransferTable, *, parallel: bool) -> None:
    """Give the writes of each action by the order in which they end, with the end of each after the processing."""
    rows = region.view(memory)
    if parallel:
        by_end = np.lexsort((rows[:, at.TICKS], owner))
        rows[:, at.ROW] = region.address(by_end)
        rows[:, at.OFFSET] = rows[by_end, at.TICKS]
        return
    total = np.concatenate([[0], np.cumsum(rows[:, at.TICKS])])
    rows[:, at.ROW] = region.address(np.arange(len(rows)))
    rows[:, at.OFFSET] = total[1:] - total[table.first[owner]]


def _carried(packed: Packed, prepared: Prepared, links: Region) -> Ints:
    """Return the transfers over links that are not shared: action, address of the server, address of the transfer."""
    plain = [s != NO_SERVER and not prepared.servers[s].shared for s in prepared.server_of]
    if not any(plain):
        return np.zeros((0, 1 + at.CARRIED_FIELDS), dtype=np.int64)
    found: list[tuple[int, int, int]] = []
    for table, region, owner in (
        (packed.tables.reads, packed.reads, packed.read_action),
        (packed.tables.writes, packed.writes, packed.write_action),
    ):
        for e, buffer in enumerate(table.buffer.tolist()):
            if plain[buffer]:
                server = links.first + prepared.server_of[buffer] * at.LINK_FIELDS
                found.append((int(owner[e]), server, region.first + e * at.TRANSFER_FIELDS))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 1 + at.CARRIED_FIELDS)


def _place_actors(
    packed: Packed, prepared: Prepared, memory: Ints, regions: tuple[Region, Region, Region, Region]
) -> None:
    """Lay out the partitions with their places and static orders."""
    parts, places, queues, orders = regions
    part_of, place_of, rank_of = ([0] * packed.actors.rows for _ in range(3))
    place = order = rank = 0
    for p, partition in enumerate(prepared.point.partitions):
        row = parts.first + p * at.PART_FIELDS
        n = len(partition.actors)
        memory[row + at.POLICY], memory[row + at.FREE] = POLICIES.index(partition.policy), prepared.cores[p]
        memory[row + at.PLACES], memory[row + at.N_PLACES] = places.first + place, n
        memory[row + at.QUEUE] = queues.first + place
        memory[row + at.ORDER], memory[row + at.N_ORDER] = orders.first + order, len(partition.static_order)
        memory[row + at.LAST_ACTOR] = memory[row + at.LAST_FIRED] = at.NONE
        for index, actor in enumerate(partition.actors):
            part_of[actor], place_of[actor] = row, index
            memory[places.first + place + index] = packed.actors.first + actor * at.ACTOR_FIELDS
        for actor in sorted(partition.actors):
            rank_of[actor] = rank
            rank += 1
        for actor in partition.static_order:
            memory[orders.first + order] = packed.actors.first + actor * at.ACTOR_FIELDS
            order += 1
        place += n
    rows = packed.actors.view(memory)
    rows[:, at.PARTITION], rows[:, at.PLACE], rows[:, at.RANK] = part_of, place_of, rank_of
