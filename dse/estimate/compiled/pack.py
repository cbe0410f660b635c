"""Builds the kernel's memory: what a problem fixes is laid out once, what a design point chooses for every estimate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled import layout as at
from dse.estimate.prepare import NO_SERVER, Prepared
from dse.estimate.tables import ProblemTables
from dse.model.design_point import POLICIES

Ints = NDArray[np.int64]
_KEPT_TEMPLATES = 64


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
    templates: dict[tuple[int, ...], Ints]
    """By the cost rows of the actors: ``memory`` with the costs of the actions on them."""


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
        templates={},
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
        rows[:, at.COLUMN_OF_COSTS] = table.cost


def _fill_head(packed: Packed, lists: list[Region]) -> None:
    head = packed.memory
    head[at.ACTORS], head[at.ACTORS_END] = packed.actors.first, packed.actors.end
    head[at.FIFOS], head[at.FIFOS_END] = packed.fifos.first, packed.fifos.end
    head[at.READ_COSTS], head[at.READ_COSTS_WIDTH] = packed.read_costs.first, packed.read_costs.width
    head[at.WRITE_COSTS], head[at.WRITE_COSTS_WIDTH] = packed.write_costs.first, packed.write_costs.width
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


def pack_point(packed: Packed, prepared: Prepared, limit: int | None = None) -> Run:
    """Return the memory of an estimate at its beginning; the kernel's ``settle`` does the rest."""
    point = prepared.point
    n_actors = packed.actors.rows
    layout = _Layout(len(packed.memory))
    chosen = layout.take(packed.fifos.rows * at.CHOSEN_FIFO_FIELDS + n_actors * at.CHOSEN_ACTOR_FIELDS)
    parts = layout.take(len(point.partitions), at.PART_FIELDS)
    places = layout.take(n_actors)
    orders = layout.take(sum(len(partition.static_order) for partition in point.partitions))
    queues = layout.take(n_actors)
    links = layout.take(len(prepared.servers), at.LINK_FIELDS)
    requests = layout.take(len(prepared.servers), 2 * packed.fifos.rows * at.REQUEST_FIELDS)
    carried = _carried(packed, prepared, links) if prepared.servers else None
    carried_region = layout.take(0 if carried is None else len(carried), at.CARRIED_FIELDS)
    memory = np.empty(layout.end, dtype=np.int64)
    memory[: len(packed.memory)] = _template(packed, prepared.cost_row)
    memory[queues.first :] = 0
    memory[at.RELEASE_EARLY], memory[at.PARALLEL] = point.release == "reading", point.transfers == "parallel"
    memory[at.PARTITIONS], memory[at.PARTITIONS_END] = parts.first, parts.end
    memory[at.LIMIT] = at.NEVER if limit is None else max(-1, min(limit, at.NEVER))  # any limit fits the array
    memory[at.LINKS], memory[at.LINKS_END], memory[at.CHOSEN] = links.first, links.end, chosen.first
    memory[chosen.first : queues.first] = _chosen(packed, prepared, links, (parts, places, queues, orders))
    link_rows = links.view(memory)
    if prepared.servers:
        link_rows[:, at.CLIENT], link_rows[:, at.CLIENT_END] = at.NONE, at.NEVER
        link_rows[:, at.REQUESTS] = requests.address(np.arange(len(link_rows)))
    if carried is not None and len(carried):
        carried_region.view(memory)[:] = carried[:, 1:]
        rows = packed.actions.view(memory)
        edges = np.searchsorted(carried[:, 0], np.arange(len(rows) + 1), side="left")
        rows[:, at.CARRIED_FIRST] = carried_region.address(edges[:-1])
        rows[:, at.CARRIED_END] = carried_region.address(edges[1:])
    return Run(memory=memory, actors=packed.actors.view(memory), fifos=packed.fifos.view(memory), links=link_rows)


def _template(packed: Packed, cost_row: tuple[int, ...]) -> Ints:
    """Return the shared memory with the costs of the actions on their units; the last few are kept."""
    found = packed.templates.get(cost_row)
    if found is None:
        if len(packed.templates) >= _KEPT_TEMPLATES:
            packed.templates.clear()
        found = packed.memory.copy()
        _fill_actions(packed, cost_row, found)
        packed.templates[cost_row] = found
    return found


def _fill_actions(packed: Packed, cost_row: tuple[int, ...], memory: Ints) -> None:
    """Give the actions the costs on their units."""
    tables, actor = packed.tables, packed.action_actor
    chosen = np.array(cost_row, dtype=np.int64)[actor]
    column = np.arange(len(actor))
    rows = packed.actions.view(memory)
    rows[:, at.SCHED_FIRST] = tables.first_scheduling[chosen, column]
    pair = tables.pair_base[actor] + column - tables.action_base[actor]
    rows[:, at.SCHED_PAIRS] = packed.pairs.address(chosen) + pair
    rows[:, at.COMPUTE] = tables.compute[chosen, column]
    rows[:, at.BLOCK_WIDTH] = tables.block_width[chosen, column]
    rows[:, at.BLOCK_COSTS] += tables.block_base[chosen, column]


def _chosen(
    packed: Packed, prepared: Prepared, links: Region, regions: tuple[Region, Region, Region, Region]
) -> list[int]:
    """Return the words of what is chosen for buffers and actors, of partitions, places and static orders."""
    parts, places, queues, orders = regions
    words: list[int] = []
    for capacity, read, write, server in zip(
        prepared.capacities, prepared.read_price, prepared.write_price, prepared.server_of, strict=True
    ):
        asked = server != NO_SERVER and prepared.servers[server].shared
        words += (capacity, read, write, links.first + server * at.LINK_FIELDS if asked else at.NONE)
    rows: list[int] = []
    in_places: list[int] = []
    in_orders: list[int] = []
    of_actor = [(0, 0, 0)] * packed.actors.rows
    rank = 0
    for p, partition in enumerate(prepared.point.partitions):
        row, place, order = [0] * at.PART_FIELDS, len(in_places), len(in_orders)
        row[at.POLICY], row[at.FREE] = POLICIES.index(partition.policy), prepared.cores[p]
        row[at.CORES] = prepared.cores[p]
        row[at.PLACES], row[at.N_PLACES] = places.first + place, len(partition.actors)
        row[at.QUEUE] = queues.first + place
        row[at.ORDER], row[at.N_ORDER] = orders.first + order, len(partition.static_order)
        row[at.LAST_ACTOR] = row[at.LAST_FIRED] = at.NONE
        rows += row
        ranks = {actor: rank + i for i, actor in enumerate(sorted(partition.actors))}
        rank += len(ranks)
        for index, actor in enumerate(partition.actors):
            of_actor[actor] = (parts.first + p * at.PART_FIELDS, index, ranks[actor])
        in_places += [packed.actors.first + actor * at.ACTOR_FIELDS for actor in partition.actors]
        in_orders += [packed.actors.first + actor * at.ACTOR_FIELDS for actor in partition.static_order]
    for of in of_actor:
        words += of
    return words + rows + in_places + in_orders


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
