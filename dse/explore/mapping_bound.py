"""A makespan that a given mapping cannot beat, without its trace: cheap enough for every neighbour.

A core makes one firing at a time, so a partition takes at least the sum of what its actors compute, schedule, read and
write, each at the least it can cost where it is placed. A shared link takes at least the sum of its transfers, and a
path of the trace the sum of its firings (``dse.estimate.bounds.path_pool``). Waiting of any kind only adds. Searches
order and prune by the largest of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.bounds.candidate_bounds import CandidateBounds, Slots
from dse.estimate.bounds.path_pool import KIND_OF_CLASS
from dse.estimate.problem.tables import (
    PRICE_DERIVED,
    PRICES,
    CostRow,
    ProblemTables,
    TransferTable,
    host_may_be_free,
    kind_indices,
)
from dse.explore.space.placement import EdgeCosts, Placement
from dse.explore.space.space import Candidate, Space

IntArray: TypeAlias = NDArray[np.int64]
_CHUNK = 4096
_SAMPLE = 96
"""Mappings that are drawn to look for paths."""
_SEED = 1
_LOCAL, _CPU_CPU, _CUDA, _HOST_CPU, _HOST_GPU = range(len(PRICES))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """Least ticks of all transfers of one side of each buffer in the whole trace, by where its two ends lie."""

    local: tuple[int, ...]
    cpu_cpu: tuple[int, ...]
    cuda: tuple[int, ...]
    host_cpu: tuple[int, ...]
    host_gpu: tuple[int, ...]

    def by_class(self, *, dynamic: bool) -> IntArray:
        """Return the ticks by class of price and buffer; ``dynamic``: a host price may hold where nothing crosses."""
        ticks = np.array([self.local, self.cpu_cpu, self.cuda, self.host_cpu, self.host_gpu], dtype=np.int64)
        for near in (_LOCAL, _CPU_CPU, _CUDA) if dynamic else ():
            ticks[near] = np.minimum(ticks[near], ticks[_HOST_CPU + KIND_OF_CLASS[near]])
        return ticks


class MappingBound:
    """Bounds of the mappings of one space. Build once; a candidate costs microseconds, whatever the trace."""

    def __init__(self, tables: ProblemTables, space: Space) -> None:
        platform, topology = tables.problem.platform, tables.topology
        kind_of = kind_indices(platform)
        kinds = [kind_of[unit.unit] for unit in space.units]
        self._space = space
        self._buffers = topology.buffers
        self._dynamic = platform.dynamic_network
        self._kind_of_slot = np.array([kinds[u] for u in space.unit_of_slot], dtype=np.int64)
        self._rows = _rows_by_level(tables, space)
        # The buffers between CPU units are as those of one: only a GPU on one side makes a buffer cross.
        self._side_of_slot = np.array([u if kinds[u] else -1 for u in space.unit_of_slot], dtype=np.int64)
        loads = np.array(_actor_loads(tables), dtype=np.int64).reshape(len(tables.rows), space.n_actors)
        fastest = fastest_rows(tables, space)
        self.unit_loads = tuple(tuple(int(loads[r, a]) for r in fastest) for a in range(space.n_actors))
        """``unit_loads[actor][unit]``: least ticks of computing and scheduling at the fastest clock; no transfers."""
        free = host_may_be_free(tables)
        self._reads = _ends(tables.reads, tables.count, len(topology.buffers), free=free)
        self._writes = _ends(tables.writes, tables.count, len(topology.buffers), free=free)
        self._row_of_slot = np.array(fastest, dtype=np.int64)[list(space.unit_of_slot)]
        self._bounds = CandidateBounds(
            tables,
            Slots(
                unit=np.array(space.unit_of_slot, dtype=np.int64),
                names=tuple(unit.unit for unit in space.units),
            ),
            actor_loads=loads,
            reads=self._reads.by_class(dynamic=self._dynamic),
            writes=self._writes.by_class(dynamic=self._dynamic),
            parallel=space.options.transfers == "parallel",
        )
        self._bounds.find_paths(self._sample(), self._row_of_slot)

    def _sample(self) -> IntArray:
        """Return mappings of the space, shape (n, n_actors), under some of which paths are looked for."""
        rng = np.random.default_rng(_SEED)
        found = {next(self._space.assignments()): None}
        for _ in range(_SAMPLE):
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
            edges=tuple(self._edge(index) for index in edges), additive="FULL_PARALLEL" not in options.policies,
            least=least,
        )  # fmt: skip

    def _edge(self, index: int) -> EdgeCosts:
        buffer, units = self._buffers[index], range(len(self._space.units))
        port = [b for b in self._buffers if (b.source, b.source_port) == (buffer.source, buffer.source_port)]
        reachable = {u for b in port for actor in (b.source, b.target) for u in self._space.allowed[actor]}
        sides = {int(self._side_of_slot[self._space.slots_of_unit(u).start]) for u in reachable}
        other_may_cross = len(port) > 1 and len(sides) > 1

        def ticks(ends: _Ends, own: int, other: int, *, same: bool) -> int:
            here, there = (self._space.slots_of_unit(unit).start for unit in (own, other))
            on_gpu = bool(self._kind_of_slot[here])
            far = (ends.host_gpu if on_gpu else ends.host_cpu)[index]
            if self._side_of_slot[here] != self._side_of_slot[there]:
                return far
            on_cpu = ends.local if same else ends.cpu_cpu
            near = (ends.cuda if on_gpu else on_cpu)[index]
            return min(near, far) if other_may_cross or self._dynamic else near

        def same(ends: _Ends) -> tuple[int, ...]:
            return tuple(ticks(ends, u, u, same=True) for u in units)

        def apart(ends: _Ends) -> tuple[tuple[int, ...], ...]:
            return tuple(tuple(ticks(ends, u, v, same=False) for v in units) for u in units)

        return EdgeCosts(
            source=buffer.source, target=buffer.target, write_same=same(self._writes),
            write_apart=apart(self._writes), read_same=same(self._reads), read_apart=apart(self._reads),
        )  # fmt: skip

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


def fastest_rows(tables: ProblemTables, space: Space) -> tuple[int, ...]:
    """Return for each unit of a space the row of the tables at the fastest clock that it may have."""
    kind_of = kind_indices(tables.problem.platform)
    return tuple(
        tables.rows.index(CostRow(kind_of[unit.unit], space.clocks.clock_mhz(u, ())))
        for u, unit in enumerate(space.units)
    )


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


def _actor_loads(tables: ProblemTables) -> tuple[tuple[int, ...], ...]:
    """Return for each row and actor the least computing and scheduling; unknown weights count as nothing."""
    base = tables.action_base
    n_actors = len(tables.topology.actors)
    loads = []
    for k in range(len(tables.rows)):
        row = []
        for a in range(n_actors):
            actions = range(int(base[a]), int(base[a + 1]))
            computing = sum(_computing(tables, k, x) for x in actions)
            row.append(computing + _scheduling(tables, k, a))
        loads.append(tuple(row))
    return tuple(loads)


def _computing(tables: ProblemTables, row: int, action: int) -> int:
    """Return the least ticks of all firings of an action: as single firings, or in the cheapest blocks."""
    count = int(tables.count[action])
    width = int(tables.block_width[row, action])
    if not width:
        return max(0, int(tables.compute[row, action])) * count
    first = int(tables.block_base[row, action])
    return min(int(tables.block_ticks[first + k - 1]) * count // k for k in range(1, width + 1))


def _scheduling(tables: ProblemTables, row: int, actor: int) -> int:
    """Return the least scheduling: each firing after its predecessor in the actor, or after another actor."""
    n, first = tables.action_count(actor), int(tables.action_base[actor])
    if tables.first_action[actor] < 0 or tables.block_width[row, first : first + n].any():
        return 0  # a block schedules once for many firings: claim nothing
    start = tables.first_scheduling[row, first : first + n]
    pairs = slice(int(tables.pair_base[actor]), int(tables.pair_base[actor]) + n * n)
    least = np.minimum(tables.pair_scheduling[row, pairs].reshape(n, n), start)
    after = int((np.maximum(least, 0) * tables.pair_count[pairs].reshape(n, n)).sum())
    return after + max(0, int(start[int(tables.first_action[actor])]))


def _ends(table: TransferTable, counts: IntArray, n_buffers: int, *, free: bool) -> _Ends:
    """Return the least cost of all transfers of one side of each buffer at each price; ``free``: a host transfer that
    is not given may cost nothing."""
    totals = np.zeros((len(table.ticks), n_buffers), dtype=np.int64)
    firings = np.repeat(counts, np.diff(table.first))
    for entry, (buffer, count) in enumerate(zip(table.buffer.tolist(), firings.tolist(), strict=True)):
        start, width = int(table.cost[entry]), int(table.width[entry])
        blocks = np.maximum(table.ticks[:, start : start + width], 0) * count // np.arange(1, width + 1)
        totals[:, buffer] += blocks.min(axis=1)
    known = np.array(table.known, dtype=bool).reshape(len(table.ticks), n_buffers)

    def least(*rows: int) -> tuple[int, ...]:
        """The cheapest of the known prices of a buffer; nothing where none is known (it may be taken as zero)."""
        prices = np.where(known[list(rows)], totals[list(rows)], np.iinfo(np.int64).max)
        found = prices.min(axis=0)
        return tuple(np.where(known[list(rows)].any(axis=0), found, 0).tolist())

    def host(given: int) -> tuple[int, ...]:
        """The given host price, else the cheapest that a link gives."""
        links = range(PRICE_DERIVED, len(table.ticks))
        derived = least(*links) if links and not free else (0,) * n_buffers
        return tuple(g if k else d for g, k, d in zip(least(given), known[given].tolist(), derived, strict=True))

    return _Ends(
        local=least(_LOCAL), cpu_cpu=least(_CPU_CPU), cuda=least(_CUDA), host_cpu=host(_HOST_CPU),
        host_gpu=host(_HOST_GPU),
    )  # fmt: skip
