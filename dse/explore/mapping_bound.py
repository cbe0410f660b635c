"""A makespan that a given mapping cannot beat, without its trace: cheap enough for every neighbour.

A core makes one firing at a time, so a partition takes at least the sum of what its actors compute, schedule, read and
write, each at the least it can cost where it is placed. A shared link takes at least the sum of its transfers, and a
path of the trace the sum of its firings (``dse.estimate.bounds.path_pool``). Waiting of any kind only adds. Searches
order and prune by the largest of these.
"""

import functools
import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.bounds.candidate_bounds import CandidateBounds, SlotUnits
from dse.estimate.bounds.least_costs import (
    block_ticks,
    claimed,
    least_for_payer,
    least_of_classes,
    least_pairs,
    least_share,
    or_as_host,
    simd_by_class,
)
from dse.estimate.bounds.lower_bounds import Bounds, Room
from dse.estimate.problem.prices import ACROSS, APART, CLASS_OF_ENDS, PAYER_KINDS, TOGETHER
from dse.estimate.problem.tables import CostRow, ProblemTables, TransferTable, kind_indices, least_row
from dse.explore.space.placement import EdgeCosts, Placement, Spans
from dse.explore.space.space import Candidate, Space
from dse.model.trace import TraceBuffer

IntArray: TypeAlias = NDArray[np.int64]
_CHUNK = 4096
_SAMPLE, _SAMPLED_ACTORS = 96, 20_000
"""So many mappings are drawn to look for paths, with so many actors in all: drawing takes time with their square."""
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCosts:
    """Least ticks of all transfers of one buffer: of its writer and its reader on their cores, 0 where they do not add
    up, and on the shared link with this number (-1: none)."""

    write: int
    read: int
    server: int
    carried: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DearerTransfers:
    """Ticks by which each transfer of a firing is dearer at a class than anywhere, shape (n_classes, n_entries)."""

    reads: IntArray
    writes: IntArray


class MappingBound:
    """Bounds of the mappings of one space. Build once; a candidate costs microseconds, whatever the trace."""

    def __init__(self, tables: ProblemTables, space: Space, *, paths: bool = True) -> None:
        """``paths``: whether candidates are to be bounded by paths of the trace too, which takes time to prepare."""
        self.of_trace = Bounds(tables)
        """The bounds of the trace, which remember what they have found of its dependencies."""
        platform, topology = tables.problem.platform, tables.topology
        kind_of = kind_indices(platform)
        kinds = [kind_of[unit.unit] for unit in space.units]
        self._space, self._tables = space, tables
        self._buffers = topology.buffers
        self._dynamic = platform.dynamic_network
        self._of_port: dict[tuple[int, int], list[TraceBuffer]] = defaultdict(list)
        for buffer in topology.buffers:
            self._of_port[buffer.source, buffer.source_port].append(buffer)
        self._kind_of_slot = np.array([kinds[u] for u in space.unit_of_slot], dtype=np.int64)
        self._rows = _rows_by_level(tables, space)
        # The buffers between CPU units are as those of one: only a GPU on one side makes a buffer cross.
        self._side_of_slot = np.array([u if kinds[u] else -1 for u in space.unit_of_slot], dtype=np.int64)
        loads = _actor_loads(tables)
        fastest = fastest_rows(tables, space)
        self.unit_loads = tuple(tuple(int(loads[r, a]) for r in fastest) for a in range(space.n_actors))
        """``unit_loads[actor][unit]``: least ticks of computing and scheduling at the fastest clock; no transfers."""
        self._reads = _transfers_of_buffers(tables, tables.reads)
        self._writes = _transfers_of_buffers(tables, tables.writes)
        self._row_of_slot = np.array(fastest, dtype=np.int64)[list(space.unit_of_slot)]
        self._bounds = CandidateBounds(
            tables,
            SlotUnits(
                unit=np.array(space.unit_of_slot, dtype=np.int64),
                names=tuple(unit.unit for unit in space.units),
            ),
            actor_loads=loads,
            reads=or_as_host(self._reads, self._dynamic),
            writes=or_as_host(self._writes, self._dynamic),
            parallel=space.options.transfers == "parallel",
        )
        if paths:
            self._bounds.find_paths(self._sample(), self._row_of_slot)

    def _sample(self) -> IntArray:
        """Return mappings of the space, shape (n, n_actors), under some of which paths are looked for."""
        rng = np.random.default_rng(_SEED)
        found = {self._space.first_assignment(): None}
        for _ in range(min(_SAMPLE, _SAMPLED_ACTORS // max(1, self._space.n_actors))):
            found[self._space.random_assignment(rng)] = None
        return np.array(list(found), dtype=np.int64).reshape(-1, self._space.n_actors)

    def of(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return the bound of each candidate, in ticks."""
        found: list[int] = []
        for start in range(0, len(candidates), _CHUNK):
            found += self._of_chunk(candidates[start : start + _CHUNK])
        return found

    def placement(self, least: int) -> Placement:
        """Return the parts of these bounds for methods that place actors one by one; ``least`` holds for all points."""
        options = self._space.options
        edges = range(len(self._buffers)) if options.transfers == "sequential" else range(0)
        return Placement(
            edges=tuple(self._edge(index) for index in edges),
            additive="FULL_PARALLEL" not in options.policies,
            least=least,
            spans=self._spans,
        )

    def _spans(self) -> Spans:
        rows = allowed_rows_of(self._tables, self._space)
        begins, after = self.of_trace.spans(rows, most_room(self._space), self._space.options.transfers)
        return Spans(begins=tuple(begins), after=tuple(after))

    def transfers_between(self, index: int, source: int, target: int, *, together: bool | None = None) -> "EndCosts":
        """Return what the transfers of a buffer cost at least whose ends are on these units.

        ``together``: whether they are on one slot; None: anywhere on the units.
        """
        nears = (TOGETHER, APART) if source == target else (APART,)
        if together is not None:
            nears = (TOGETHER,) if together else (APART,)
        writes, reads = self._prices[index]
        write = min(writes[self._class(source, target, near)] for near in nears)
        read = min(reads[self._class(target, source, near)] for near in nears)
        counted = int(self._space.options.transfers == "sequential")
        return EndCosts(
            write=write * counted,
            read=read * counted,
            server=self._bounds.shared_server(source, target) if self._crosses(source, target) else -1,
            carried=write + read,
        )

    def dearer_transfers(self) -> "DearerTransfers":
        """Return what transfers of single firings cost beyond the least that whoever pays has to pay anywhere."""
        tables = self._tables
        read, written = (self._dearer(table) for table in (tables.reads, tables.writes))
        return DearerTransfers(reads=read, writes=written)

    def _dearer(self, table: TransferTable) -> IntArray:
        """Return it for each class and entry; 0 where transfers do not add up, and for firings in blocks."""
        tables = self._tables
        ticks = table.ticks[:, table.cost]
        by_class = claimed(least_of_classes(tables, table, ticks, table.buffer))
        by_class = or_as_host(by_class, self._may_be_host[table.buffer])
        least = np.array([claimed(least_for_payer(tables, table, ticks, table.buffer, kind)) for kind in PAYER_KINDS])
        action = np.repeat(np.arange(len(table.first) - 1), np.diff(table.first))
        in_blocks = simd_by_class(tables)[:, action]
        counted = ~in_blocks & (self._space.options.transfers == "sequential")
        return np.where(counted, np.maximum(by_class - least.reshape(by_class.shape), 0), 0)

    def classes_between(self, source: int, target: int, *, together: bool) -> tuple[int, int]:
        """Return the classes of the prices of the write and the read of a buffer between these units."""
        near = TOGETHER if together else APART
        return self._class(source, target, near), self._class(target, source, near)

    @functools.cached_property
    def _may_be_host(self) -> NDArray[np.bool_]:
        """Return for each buffer whether it may be a host FIFO although its own ends do not ask for it."""
        return np.array([self._dynamic or self._other_may_cross(i) for i in range(len(self._buffers))], dtype=bool)

    @functools.cached_property
    def _prices(self) -> list[tuple[list[int], list[int]]]:
        """Return for each buffer what its writes and its reads cost by class, at least."""
        writes, reads = (or_as_host(ticks, self._may_be_host).T.tolist() for ticks in (self._writes, self._reads))
        return list(zip(writes, reads, strict=True))

    @functools.cached_property
    def _ends_of_units(self) -> list[list[tuple[bool, tuple[int, int]]]]:
        """Return for each two units whether a buffer crosses from one to the other, and the classes of the prices of
        its end on the first if nothing crosses: both ends on one slot, and on two."""
        starts = [self._space.slots_of_unit(unit).start for unit in range(len(self._space.units))]
        sides, kinds = self._side_of_slot[starts].tolist(), self._kind_of_slot[starts].tolist()
        near = [(int(CLASS_OF_ENDS[kind, TOGETHER]), int(CLASS_OF_ENDS[kind, APART])) for kind in kinds]
        across = [(int(CLASS_OF_ENDS[kind, ACROSS]),) * 2 for kind in kinds]
        return [
            [(side != other, across[u] if side != other else near[u]) for other in sides]
            for u, side in enumerate(sides)
        ]

    def _crosses(self, source: int, target: int) -> bool:
        """Return whether a buffer between two units crosses from one to the other."""
        return self._ends_of_units[source][target][0]

    def _edge(self, index: int) -> EdgeCosts:
        buffer, units = self._buffers[index], range(len(self._space.units))
        writes, reads = self._prices[index]

        def same(ticks: list[int]) -> tuple[int, ...]:
            return tuple(ticks[self._class(u, u, TOGETHER)] for u in units)

        def apart(ticks: list[int]) -> tuple[tuple[int, ...], ...]:
            return tuple(tuple(ticks[self._class(u, v, APART)] for v in units) for u in units)

        return EdgeCosts(
            source=buffer.source,
            target=buffer.target,
            write_same=same(writes),
            write_apart=apart(writes),
            read_same=same(reads),
            read_apart=apart(reads),
        )

    def _class(self, own: int, other: int, near: int) -> int:
        """Return the class of the price of the end on unit ``own``; ``near``: where the ends are if nothing crosses."""
        return self._ends_of_units[own][other][1][near == APART]

    def _other_may_cross(self, index: int) -> bool:
        """Return whether another reader of a buffer's port may make it a host port."""
        port = (self._buffers[index].source, self._buffers[index].source_port)
        readers = self._of_port[port]
        if len(readers) == 1:
            return False
        reachable = {u for b in readers for actor in (b.source, b.target) for u in self._space.allowed[actor]}
        return any(self._crosses(u, v) for u, v in itertools.combinations(sorted(reachable), 2))

    def _of_chunk(self, candidates: Sequence[Candidate]) -> list[int]:
        slots = np.array([c.assignment for c in candidates], dtype=np.int64).reshape(-1, self._space.n_actors)
        policies = self._space.options.policies
        side_by_side = np.array([policies[c.policy] == "FULL_PARALLEL" for c in candidates], dtype=bool)
        bounds: list[int] = self._bounds.of(slots, self._rows_of(candidates, slots), side_by_side).tolist()
        return bounds

    def _rows_of(self, candidates: Sequence[Candidate], slots: IntArray) -> IntArray:
        """Return the row of the loads for each actor of each candidate: the kind of its unit, at the clock chosen."""
        clocks = self._space.clocks
        if not clocks.domains:
            return np.asarray(self._row_of_slot[slots])
        units = np.array(self._space.unit_of_slot, dtype=np.int64)[slots]
        levels = np.array(
            [(*clocks.levels(c.clocks), 0) for c in candidates], dtype=np.int64
        )  # the last one: no domain
        domains = np.array([-1 if d is None else d for d in clocks.of_unit], dtype=np.int64)[units]
        return np.asarray(self._rows[units, np.take_along_axis(levels, domains % levels.shape[1], axis=1)])


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The bounds of candidates, none below ``least``; other processes can be given it, and load little for it."""

    bound: MappingBound
    least: int

    def __call__(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return the bound of each candidate, in ticks."""
        return [max(self.least, own) for own in self.bound.of(candidates)]


def fastest_rows(tables: ProblemTables, space: Space) -> tuple[int, ...]:
    """Return for each unit of a space the row of the tables at the fastest clock that it may have.

    Where that need not be the quickest, it is the row of the least costs at all its clocks.
    """
    kind_of = kind_indices(tables.problem.platform)
    return tuple(
        tables.rows.index(
            least_row(tables.problem, kind_of[unit.unit], unit.unit)
            or CostRow(kind_of[unit.unit], space.clocks.clock_mhz(u, ()))
        )
        for u, unit in enumerate(space.units)
    )


def allowed_rows_of(tables: ProblemTables, space: Space) -> list[list[int]]:
    """Return for each actor the rows of the tables that it may have at the fastest clocks."""
    row_of = fastest_rows(tables, space)
    return [sorted({row_of[u] for u in units}) for units in space.allowed]


def most_room(space: Space) -> Room:
    """Return the most room that any point of a space gives each buffer."""
    options = space.options
    capacities = tuple(max(tokens) for tokens in zip(*options.capacities, strict=True))
    return Room(capacities=capacities, release=options.release)


def _rows_by_level(tables: ProblemTables, space: Space) -> IntArray:
    """Return the row of the tables for each unit and level of its clock, shape (n_units, most levels of a domain)."""
    most = max([1, *(len(domain.clocks_mhz) for domain in space.clocks.domains)])
    rows = np.repeat(np.array(fastest_rows(tables, space), dtype=np.int64)[:, None], most, axis=1)
    for unit, domain in enumerate(space.clocks.of_unit):
        if domain is not None:
            kind = tables.rows[int(rows[unit, 0])].kind
            for level, clock in enumerate(space.clocks.domains[domain].clocks_mhz):
                rows[unit, level] = tables.rows.index(CostRow(kind, clock))
    return rows


def _actor_loads(tables: ProblemTables) -> IntArray:
    """Return the least computing and scheduling, shape (n_rows, n_actors); unknown weights count as nothing."""
    base, n_rows, n_actors = tables.action_base.tolist(), len(tables.rows), len(tables.topology.actors)
    loads = np.zeros((n_rows, n_actors), dtype=np.int64)
    for a in range(n_actors):
        loads[:, a] = _scheduling(tables, a)
        for k, x in itertools.product(range(n_rows), range(base[a], base[a + 1])):
            loads[k, a] += least_share(block_ticks(tables, k, x), tables.count[x])
    return loads


def _scheduling(tables: ProblemTables, actor: int) -> IntArray:
    """Return the least scheduling by row: each firing after its predecessor in the actor, or after another actor."""
    n, first, base = tables.action_count(actor), int(tables.action_base[actor]), int(tables.pair_base[actor])
    if tables.first_action[actor] < 0:
        return np.zeros(len(tables.rows), dtype=np.int64)
    after = (least_pairs(tables, actor) * tables.pair_count[base : base + n * n].reshape(n, n)).sum(axis=(1, 2))
    start = np.maximum(tables.first_scheduling[:, first + int(tables.first_action[actor])], 0)
    # a block schedules once for many firings: claim nothing
    return np.where(tables.block_width[:, first : first + n].any(axis=1), 0, after + start)


def _transfers_of_buffers(tables: ProblemTables, table: TransferTable) -> IntArray:
    """Return the least cost of all transfers of one side of each buffer, shape (n_classes, n_buffers)."""
    totals = np.zeros((len(table.ticks), len(tables.topology.buffers)), dtype=np.int64)
    firings = np.repeat(tables.count, np.diff(table.first))
    for entry, (buffer, count) in enumerate(zip(table.buffer.tolist(), firings.tolist(), strict=True)):
        start, width = int(table.cost[entry]), int(table.width[entry])
        totals[:, buffer] += least_share(table.ticks[:, start : start + width], count)
    return claimed(least_of_classes(tables, table, totals, np.arange(totals.shape[1])))
