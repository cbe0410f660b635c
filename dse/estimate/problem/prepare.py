"""Preparation of a design point: checks it against the problem and chooses the row of every tick table it needs.

What depends on the problem only is in ``ProblemTables``; what is made here is of the size of the network, not of the
trace, and is made once for every estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dse.base.errors import FormatError, InfeasibleDesign
from dse.base.registry import nearest_names
from dse.estimate.problem.failures import raise_gathered
from dse.estimate.problem.prices import ROW_FREE, ROW_LINKS, UNIT_KINDS, price_class
from dse.estimate.problem.tables import CostRow, ProblemTables, Side, TransferTable
from dse.model.design_point import POLICIES, DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology
from dse.model.weights import FifoKind

NO_SERVER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkServer:
    """One direction of a link (or the link, if it serves both directions). ``shared``: one transfer at a time."""

    name: str
    link: int
    shared: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A design point that was found valid, with the choice of table rows; indices as in topology and platform."""

    tables: ProblemTables
    point: DesignPoint
    partition_of: tuple[int, ...]
    """Partition of each actor."""
    unit_kind: tuple[int, ...]
    """Index into ``UNIT_KINDS`` of each actor."""
    cost_row: tuple[int, ...]
    """Row of the tables of computing and scheduling for each actor (``tables.rows``): its unit's kind and clock."""
    cores: tuple[int, ...]
    """Cores of each partition; under FULL_PARALLEL the number of its actors."""
    fifo_kind: tuple[FifoKind, ...]
    """Of each buffer."""
    read_price: tuple[int, ...]
    """Row of ``tables.reads.ticks`` for each buffer."""
    write_price: tuple[int, ...]
    """Row of ``tables.writes.ticks`` for each buffer."""
    servers: tuple[LinkServer, ...]
    server_of: tuple[int, ...]
    """Link server that each buffer occupies, ``NO_SERVER`` where it occupies none."""
    capacities: tuple[int, ...]

    def alone(self, actor: int) -> bool:
        """Return whether each firing of an actor knows of the one before: no other actor can fire on its core in
        between, and where visits are known it begins none."""
        if self.tables.visits is not None:
            return False
        partition = self.point.partitions[self.partition_of[actor]]
        return partition.policy == "FULL_PARALLEL" or len(partition.actors) == 1


def link_servers(platform: Platform) -> tuple[LinkServer, ...]:
    """Return the link servers of a platform: links in declared order, a link of two directions as two."""
    servers: list[LinkServer] = []
    for index, link in enumerate(platform.links):
        a, b = link.between
        names = (link.name,) if link.directions == 1 else (f"{link.name}:{a}->{b}", f"{link.name}:{b}->{a}")
        servers += [LinkServer(name=name, link=index, shared=link.shared) for name in names]
    return tuple(servers)


def server_index(platform: Platform, link_index: int, source: str, target: str) -> int:
    """Return the index into ``link_servers`` for transfers over a link from a unit to another (not always its ends)."""
    first = sum(link.directions for link in platform.links[:link_index])
    link = platform.links[link_index]
    if link.directions == 1:
        return first
    a, b = link.between
    forward = source == a or (source != b and target != a)
    return first if forward else first + 1


def prepare(tables: ProblemTables, point: DesignPoint) -> Prepared:
    """Return ``point`` ready for an engine.

    Raises:
        FormatError: the point does not fit the network or the platform, or weights it needs are missing (all named).
        InfeasibleDesign: the point fits but cannot run: an actor on a GPU that cannot be there, a capacity below a
            rate, a static order on several cores or without one of its actors.
    """
    platform = tables.problem.platform
    _check_shape(tables.topology, platform, point)
    units = {unit.name: unit for unit in platform.units}
    _check_clocks(tables, point)
    partition_of = point.partition_of(len(tables.topology.actors))
    unit_of = [units[point.partitions[p].unit] for p in partition_of]
    _check_feasible(tables, point, unit_of)
    unit_kind = tuple(UNIT_KINDS.index(unit.kind) for unit in unit_of)
    placement = _Placement(tables, partition_of, unit_of)
    kinds = placement.fifo_kinds()
    links = placement.links(kinds)
    prepared = Prepared(
        tables=tables,
        point=point,
        partition_of=partition_of,
        unit_kind=unit_kind,
        cost_row=_cost_rows(tables, point, partition_of, unit_kind) if tables.problem.clocks else unit_kind,
        cores=tuple(cores_of(partition) for partition in point.partitions),
        fifo_kind=tuple(kinds),
        read_price=placement.prices(kinds, links, "read"),
        write_price=placement.prices(kinds, links, "write"),
        servers=link_servers(platform),
        server_of=tuple(NO_SERVER if link is None else placement.server(b, link) for b, link in enumerate(links)),
        capacities=point.capacities,
    )
    _check_weights(prepared)
    return prepared


def turn_firings(prepared: Prepared) -> tuple[int, ...]:
    """Return for each actor after how many firings it publishes though its turn goes on (``semantics``, Arrival)."""
    tables = prepared.tables
    found = [tables.turn_firings] * len(tables.topology.actors)
    for b, buffer in enumerate(tables.topology.buffers):
        tokens = int(tables.turn_tokens[b])
        if tokens > 0 and prepared.fifo_kind[b] == "cpu_cpu":
            for end in (buffer.source, buffer.target):
                found[end] = min(found[end], max(1, prepared.capacities[b] // tokens))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitCosts:
    """What visits cost under a design point, in ticks (``semantics``, Visits).

    ``entries``: of each buffer, what a visit takes that reads tokens, or writes some, if they travel. ``polled``: of
    each actor, whether an end of such a buffer is there. ``calls``: of each actor, what a call in vain takes.
    """

    calls: tuple[int, ...]
    wake: int
    entries: tuple[tuple[int, int], ...]
    polled: tuple[bool, ...]


def visit_costs(prepared: Prepared) -> VisitCosts | None:
    """Return the costs of visits, None where the weights know of none."""
    tables = prepared.tables
    if tables.visits is None:
        return None
    travel = [b for kind, b in zip(prepared.fifo_kind, tables.topology.buffers, strict=True) if kind == "cpu_cpu"]
    calls = dict.fromkeys((buffer.source for buffer in travel), tables.visits.glance)
    calls |= dict.fromkeys((buffer.target for buffer in travel), tables.visits.look)
    actors = range(len(tables.topology.actors))
    read, write = tables.visits.entries.tolist()
    return VisitCosts(
        calls=tuple(calls.get(a, 0) for a in actors),
        wake=tables.visits.wake,
        entries=tuple(zip(read, write, strict=True)),
        polled=tuple(a in calls for a in actors),
    )


def _cost_rows(
    tables: ProblemTables, point: DesignPoint, partition_of: Sequence[int], unit_kind: Sequence[int]
) -> tuple[int, ...]:
    """Return the row of the tables that each actor needs."""
    clocks = [point.partitions[p].clock_mhz for p in partition_of]
    index = {row: r for r, row in enumerate(tables.rows)}
    return tuple(index[CostRow(kind, clock)] for kind, clock in zip(unit_kind, clocks, strict=True))


class _Placement:
    """Where the ends of the buffers lie, and what follows for FIFO kind, price and link."""

    def __init__(self, tables: ProblemTables, partition_of: Sequence[int], unit_of: Sequence[Unit]) -> None:
        self.tables = tables
        self.platform: Platform = tables.problem.platform
        self.buffers = tables.topology.buffers
        self.partition_of = partition_of
        self.unit_of = unit_of
        self.crossing_of_port: dict[tuple[int, int], int] = {}
        for index in reversed(range(len(self.buffers))):
            if self._crosses(index):
                self.crossing_of_port[self._port(index)] = index

    def _port(self, buffer: int) -> tuple[int, int]:
        """Return the output port that feeds a buffer, as (actor, port)."""
        return self.buffers[buffer].source, self.buffers[buffer].source_port

    def fifo_kinds(self) -> list[FifoKind]:
        """Return the FIFO kind of each buffer (``semantics``, section FIFO kinds)."""
        host_ports = set(self.crossing_of_port)
        if self.platform.dynamic_network:
            host_ports |= {self._port(b) for b in range(len(self.buffers)) if self._could_cross(b)}
        kinds: list[FifoKind] = []
        for buffer in self.buffers:
            if (buffer.source, buffer.source_port) in host_ports:
                kinds.append("host")
            elif self.unit_of[buffer.source].kind == "gpu":
                kinds.append("cuda")
            elif self.partition_of[buffer.source] == self.partition_of[buffer.target]:
                kinds.append("local")
            else:
                kinds.append("cpu_cpu")
        return kinds

    def _crosses(self, buffer: int) -> bool:
        """Return whether a buffer has one end on a GPU and the other elsewhere."""
        source, target = self._units(buffer)
        return source is not target and "gpu" in (source.kind, target.kind)

    def _could_cross(self, buffer: int) -> bool:
        """Return whether some placement puts one end of a buffer on a GPU and the other elsewhere."""
        ends = self.buffers[buffer]
        kinds = {unit.kind for unit in self.platform.units}
        names = [self.tables.topology.actors[end].name for end in (ends.source, ends.target)]
        can_move = any(self.platform.may_use_gpu(name) for name in names)
        return ends.source != ends.target and kinds == {"cpu", "gpu"} and can_move

    def _units(self, buffer: int) -> tuple[Unit, Unit]:
        ends = self.buffers[buffer]
        return self.unit_of[ends.source], self.unit_of[ends.target]

    def links(self, kinds: Sequence[FifoKind]) -> list[int | None]:
        """Return the link of each buffer, None of those that are no host buffers."""
        return [self.link(b) if kind == "host" else None for b, kind in enumerate(kinds)]

    def link(self, buffer: int) -> int | None:
        """Return the index of the link that a host buffer occupies, or None (``semantics``, section Links)."""
        crossing = buffer if self._crosses(buffer) else self.crossing_of_port.get(self._port(buffer))
        if crossing is not None:
            source, target = self._units(crossing)
            return self.platform.link_index(source.name, target.name)
        kind_of = {unit.name: unit.kind for unit in self.platform.units}
        for end in self._units(buffer):
            for index, link in enumerate(self.platform.links):
                joined = {kind_of.get(name) for name in link.between}
                if end.name in link.between and joined == {"cpu", "gpu"}:
                    return index
        return None

    def server(self, buffer: int, link_index: int) -> int:
        """Return the index of the link server of a host buffer: a link of two directions has one for each."""
        source, target = self._units(buffer)
        return server_index(self.platform, link_index, source.name, target.name)

    def prices(self, kinds: Sequence[FifoKind], links: Sequence[int | None], side: Side) -> tuple[int, ...]:
        """Return the row of prices of each buffer."""
        return tuple(self.price(b, kind, links[b], side) for b, kind in enumerate(kinds))

    def price(self, buffer: int, kind: FifoKind, link: int | None, side: Side) -> int:
        """Return the row of prices of a buffer: what is given, else what its link gives, else nothing if so asked."""
        source, target = self._units(buffer)
        price = price_class(kind, (source if side == "write" else target).kind)
        table = self.tables.writes if side == "write" else self.tables.reads
        if table.known[price][buffer]:
            return price
        if link is not None and kind == "host" and table.known[ROW_LINKS + link][buffer]:
            return ROW_LINKS + link
        problem = self.tables.problem
        free = problem.missing_weights == "zero" or not problem.weights.has_transfers
        return ROW_FREE if free else price


def cores_of(partition: Partition) -> int:
    """Return the cores of a partition: under FULL_PARALLEL each of its actors has one."""
    return len(partition.actors) if partition.policy == "FULL_PARALLEL" else partition.cores


def _check_shape(topology: Topology, platform: Platform, point: DesignPoint) -> None:
    """Raise ``FormatError`` with everything in a point that names what is not there or leaves something out."""
    wrong: list[str] = []
    names: set[str] = set()
    for partition in point.partitions:
        if partition.name in names:
            wrong.append(f"partition '{partition.name}' appears twice")
        names.add(partition.name)
        wrong += _partition_faults(platform, partition)
    wrong += _placing_faults(topology, point)
    if len(point.capacities) != len(topology.buffers):
        wrong.append(f"{len(point.capacities)} capacities for {len(topology.buffers)} buffers")
    if wrong:
        raise_gathered(FormatError, wrong, expected="the mapping has to place every actor once, on units that exist")


def _partition_faults(platform: Platform, partition: Partition) -> list[str]:
    """Return what is wrong with unit, policy and cores of a partition."""
    wrong: list[str] = []
    label = f"partition '{partition.name}'"
    units = tuple(unit.name for unit in platform.units)
    if partition.unit not in units:
        near = nearest_names(partition.unit, units)
        wrong.append(f"{label} is on unit '{partition.unit}', which platform '{platform.name}' lacks; {near}")
    if partition.policy not in POLICIES:
        wrong.append(f"{label} has policy '{partition.policy}'; {nearest_names(partition.policy, POLICIES)}")
    if partition.cores < 1:
        wrong.append(f"{label} has {partition.cores} cores")
    return wrong


def _placing_faults(topology: Topology, point: DesignPoint) -> list[str]:
    """Return the actors that are not in exactly one partition, and the indices that are no actors."""
    owners: dict[int, list[str]] = {}
    for partition in point.partitions:
        for actor in partition.actors:
            owners.setdefault(actor, []).append(partition.name)
    n = len(topology.actors)
    wrong = [f"actor index {actor} is out of range" for actor in owners if not 0 <= actor < n]
    for index, known in enumerate(topology.actors):
        places = owners.get(index, [])
        if not places:
            wrong.append(f"actor '{known.name}' is in no partition")
        elif len(places) > 1:
            wrong.append(f"actor '{known.name}' is in several partitions: {', '.join(places)}")
    return wrong


def _check_clocks(tables: ProblemTables, point: DesignPoint) -> None:
    """Raise ``FormatError`` where a clock is none of the problem's, or a unit has several."""
    known = set(tables.problem.clocks)
    clock_of: dict[str, Fraction | None] = {}
    wrong: list[str] = []
    for p in point.partitions:
        if p.clock_mhz is not None and (p.unit, p.clock_mhz) not in known:
            wrong.append(f"partition '{p.name}' runs unit '{p.unit}' at {p.clock_mhz} MHz, which the problem lacks")
        if clock_of.setdefault(p.unit, p.clock_mhz) != p.clock_mhz:
            wrong.append(f"partition '{p.name}' gives unit '{p.unit}' another clock than a partition before it")
    if wrong:
        raise_gathered(FormatError, wrong, expected="all partitions of a unit have one clock of the problem, or none")


def _check_feasible(tables: ProblemTables, point: DesignPoint, unit_of: Sequence[Unit]) -> None:
    """Raise ``InfeasibleDesign`` with all the reasons why a well-formed point can never run."""
    topology = tables.topology
    platform = tables.problem.platform
    wrong = [
        f"actor '{actor.name}' is on GPU '{unit.name}' but is not GPU-capable"
        for actor, unit in zip(topology.actors, unit_of, strict=True)
        if unit.kind == "gpu" and not platform.may_use_gpu(actor.name)
    ]
    for partition in point.partitions:
        if partition.policy == "STATIC_ORDER":
            wrong += _static_order_faults(topology, partition.name, partition.actors, partition.static_order)
            if partition.cores != 1:
                wrong.append(f"partition '{partition.name}' is STATIC_ORDER on {partition.cores} cores; it takes 1")
    for index, (have, least) in enumerate(zip(point.capacities, tables.least_capacity, strict=True)):
        if have < max(1, least):
            wrong.append(_capacity_fault(tables, index, have))
    if wrong:
        raise_gathered(InfeasibleDesign, wrong, expected="change the mapping or the buffer sizes as said")


def _static_order_faults(topology: Topology, name: str, actors: Sequence[int], order: Sequence[int]) -> list[str]:
    """Return what is wrong with the order of a STATIC_ORDER partition."""
    here = set(actors)
    n = len(topology.actors)
    strange = [topology.actors[a].name if 0 <= a < n else str(a) for a in order if a not in here]
    lacking = [topology.actors[a].name for a in actors if a not in set(order)]
    faults = [f"the static order of partition '{name}' names actor '{a}' of another partition" for a in strange]
    return faults + [f"the static order of partition '{name}' leaves out actor '{a}'" for a in lacking]


def _capacity_fault(tables: ProblemTables, buffer: int, have: int) -> str:
    """Return what needs a larger capacity than ``have``: an action of an end, or the initial tokens."""
    topology = tables.topology
    least = max(1, tables.least_capacity[buffer])
    who = f"its {topology.buffers[buffer].initial_tokens} initial tokens need"
    for table, verb in ((tables.reads, "reads"), (tables.writes, "writes")):
        for column, (start, end) in enumerate(pairwise(table.first.tolist())):
            hit = (table.buffer[start:end] == buffer) & (table.tokens[start:end] == least)
            if tables.count[column] and bool(np.any(hit)):
                actor = int(np.searchsorted(tables.action_base, column, side="right")) - 1
                action = topology.actors[actor].actions[column - int(tables.action_base[actor])].name
                who = f"action {topology.actors[actor].name}.{action} {verb} {least} at once: it needs"
    return f"buffer {topology.buffer_name(buffer)} has capacity {have}; {who} at least {least}"


def _check_weights(prepared: Prepared) -> None:
    """Raise ``FormatError`` with every weight that the point needs and the tables lack."""
    tables = prepared.tables
    if tables.problem.missing_weights == "zero":
        return
    reads = _unpriced(tables, tables.reads, prepared.read_price)
    writes = _unpriced(tables, tables.writes, prepared.write_price)
    missing = _missing_of_actors(prepared)
    missing += [_missing_of_buffer(prepared, b, "read") for b in reads]
    missing += [_missing_of_buffer(prepared, b, "write") for b in writes]
    if missing:
        unlinked = any(prepared.fifo_kind[b] == "host" for b in (*reads, *writes))
        link = ", or a link between the units to the platform" if unlinked else ""
        expected = f"add the weights{link}, or choose --missing-weights zero or nominal"
        raise_gathered(FormatError, missing, expected=expected)


def _unpriced(tables: ProblemTables, table: TransferTable, prices: Sequence[int]) -> list[int]:
    """Return the buffers that some firing uses at a price that is not known."""
    unpriced = [b for b, price in enumerate(prices) if not table.known[price][b]]
    used = set(table.buffer[np.repeat(tables.count > 0, np.diff(table.first))].tolist()) if unpriced else set()
    return [b for b in unpriced if b in used]


def _missing_of_buffer(prepared: Prepared, buffer: int, side: Side) -> str:
    """Return the weight of a transfer that the point needs and that is not known."""
    topology = prepared.tables.topology
    ends = topology.buffers[buffer]
    payer = UNIT_KINDS[prepared.unit_kind[ends.source if side == "write" else ends.target]]
    kind = prepared.fifo_kind[buffer]
    return f"no {side} weight of buffer {topology.buffer_name(buffer)} as {kind} FIFO on {payer}"


def _missing_of_actors(prepared: Prepared) -> list[str]:
    """Return the compute and scheduling weights that the actors need on their units and that are not known."""
    tables = prepared.tables
    missing: list[str] = []
    for a, actor in enumerate(tables.topology.actors):
        kind, base, n = prepared.unit_kind[a], int(tables.action_base[a]), len(actor.actions)
        count = tables.count[base : base + n]
        if tables.actor_known[kind][a]:  # a chosen clock changes no weight that is missing
            continue
        pairs = slice(int(tables.pair_base[a]), int(tables.pair_base[a]) + n * n)
        no_compute = (tables.compute[kind, base : base + n] < 0) & (count > 0)
        no_first = (tables.first_scheduling[kind, base : base + n] < 0) & (count > 0)
        if prepared.alone(a):
            no_first &= np.arange(n) == tables.first_action[a]
        no_pair = (tables.pair_scheduling[kind, pairs] < 0) & (tables.pair_count[pairs] > 0)
        names, unit = [action.name for action in actor.actions], UNIT_KINDS[kind]
        missing += [
            f"no compute weight of action {actor.name}.{names[x]} on {unit}" for x in np.flatnonzero(no_compute)
        ]
        missing += [
            f"no scheduling weight of action {actor.name}.{names[x]} on {unit}" for x in np.flatnonzero(no_first)
        ]
        missing += [
            f"no scheduling weight of action {actor.name}.{names[p % n]} after {names[p // n]} on {unit}"
            for p in np.flatnonzero(no_pair)
        ]
    return missing
