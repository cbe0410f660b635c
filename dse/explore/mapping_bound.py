"""A makespan that a given mapping cannot beat, from the load of its partitions alone: cheap enough for every neighbour.

A core makes one firing at a time, so a partition takes at least the sum of what its actors compute, schedule, read and
write, each at the least it can cost where it is placed. Waiting of any kind only adds. Searches order and prune by it.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.tables import PRICE_DERIVED, PRICES, UNIT_KINDS, ProblemTables, TransferTable
from dse.model.design_point import DesignPoint

IntArray: TypeAlias = NDArray[np.int64]
_LOCAL, _CPU_CPU, _CUDA, _HOST_CPU, _HOST_GPU = range(len(PRICES))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """Least ticks of all transfers of one side of each buffer in the whole trace, by where its two ends lie."""

    local: tuple[int, ...]
    cpu_cpu: tuple[int, ...]
    cuda: tuple[int, ...]
    host_cpu: tuple[int, ...]
    host_gpu: tuple[int, ...]


class MappingBound:
    """Bounds of the mappings of one problem. Build once; ``of`` costs microseconds an actor and buffer."""

    def __init__(self, tables: ProblemTables) -> None:
        self._topology = tables.topology
        self._kind_of_unit = {u.name: UNIT_KINDS.index(u.kind) for u in tables.problem.platform.units}
        self._dynamic = tables.problem.platform.dynamic_network
        self.actor_loads = _actor_loads(tables)
        """``actor_loads[kind][actor]``: least ticks of computing and scheduling on a unit of that kind."""
        counts = tables.count
        self._reads = _ends(tables.reads, counts, len(self._topology.buffers))
        self._writes = _ends(tables.writes, counts, len(self._topology.buffers))

    def of(self, point: DesignPoint) -> int:
        """Return the largest load of a partition of ``point``, in ticks."""
        n = len(self._topology.actors)
        owner = point.partition_of(n)
        kinds = [self._kind_of_unit[p.unit] for p in point.partitions]
        load = [self.actor_loads[kinds[owner[a]]][a] for a in range(n)]
        self._add_transfers(point, owner, kinds, load)
        bound = 0
        for partition in point.partitions:
            loads = [load[a] for a in partition.actors]
            cores = len(loads) if partition.policy == "FULL_PARALLEL" else partition.cores
            bound = max(bound, max(loads), -(-sum(loads) // cores))
        return bound

    def _add_transfers(self, point: DesignPoint, owner: tuple[int, ...], kinds: list[int], load: list[int]) -> None:
        """Add to each actor what its transfers cost at least: their sum, or the longest of parallel ones."""
        longest_read, longest_write = [0] * len(load), [0] * len(load)
        sequential = point.transfers == "sequential"
        buffers = self._topology.buffers
        units = [p.unit if kinds[i] else "" for i, p in enumerate(point.partitions)]  # CPU units are as one here
        across = [units[owner[b.source]] != units[owner[b.target]] for b in buffers]
        host_ports = {(b.source, b.source_port) for b, crosses in zip(buffers, across, strict=True) if crosses}
        for b, buffer in enumerate(buffers):
            source, target = owner[buffer.source], owner[buffer.target]
            host = (buffer.source, buffer.source_port) in host_ports
            write = self._least(self._writes, b, kinds[source], source == target, host)
            read = self._least(self._reads, b, kinds[target], source == target, host)
            if sequential:
                load[buffer.source] += write
                load[buffer.target] += read
            else:
                longest_write[buffer.source] = max(longest_write[buffer.source], write)
                longest_read[buffer.target] = max(longest_read[buffer.target], read)
        for actor, (read, write) in enumerate(zip(longest_read, longest_write, strict=True)):
            load[actor] += read + write

    def _least(self, ends: _Ends, buffer: int, kind: int, same: bool, host: bool) -> int:
        """Return the least that one side of a buffer costs; ``host``: some reader of its port is across."""
        over_link = (ends.host_gpu if kind else ends.host_cpu)[buffer]
        if host:
            return over_link
        near = (ends.cuda if kind else ends.local if same else ends.cpu_cpu)[buffer]
        return min(near, over_link) if self._dynamic else near


def _actor_loads(tables: ProblemTables) -> tuple[tuple[int, ...], ...]:
    """Return for each unit kind and actor the least computing and scheduling; unknown weights count as nothing."""
    base = tables.action_base
    n_actors = len(tables.topology.actors)
    loads = []
    for k in range(len(UNIT_KINDS)):
        row = []
        for a in range(n_actors):
            actions = range(int(base[a]), int(base[a + 1]))
            computing = sum(_computing(tables, k, x) for x in actions)
            row.append(computing + _scheduling(tables, k, a))
        loads.append(tuple(row))
    return tuple(loads)


def _computing(tables: ProblemTables, kind: int, action: int) -> int:
    """Return the least ticks of all firings of an action: as single firings, or in the cheapest blocks."""
    count = int(tables.count[action])
    width = int(tables.block_width[kind, action])
    if not width:
        return max(0, int(tables.compute[kind, action])) * count
    first = int(tables.block_base[kind, action])
    return min(int(tables.block_ticks[first + k - 1]) * count // k for k in range(1, width + 1))


def _scheduling(tables: ProblemTables, kind: int, actor: int) -> int:
    """Return the least scheduling: each firing after its predecessor in the actor, or after another actor."""
    n, first = tables.action_count(actor), int(tables.action_base[actor])
    if tables.first_action[actor] < 0 or tables.block_width[kind, first : first + n].any():
        return 0  # a block schedules once for many firings: claim nothing
    start = tables.first_scheduling[kind, first : first + n]
    pairs = slice(int(tables.pair_base[actor]), int(tables.pair_base[actor]) + n * n)
    least = np.minimum(tables.pair_scheduling[kind, pairs].reshape(n, n), start)
    after = int((np.maximum(least, 0) * tables.pair_count[pairs].reshape(n, n)).sum())
    return after + max(0, int(start[int(tables.first_action[actor])]))


def _ends(table: TransferTable, counts: IntArray, n_buffers: int) -> _Ends:
    """Return the least cost of all transfers of one side of each buffer at each price."""
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
        derived = least(*links) if links else (0,) * n_buffers
        return tuple(g if k else d for g, k, d in zip(least(given), known[given].tolist(), derived, strict=True))

    return _Ends(
        local=least(_LOCAL), cpu_cpu=least(_CPU_CPU), cuda=least(_CUDA), host_cpu=host(_HOST_CPU),
        host_gpu=host(_HOST_GPU),
    )  # fmt: skip
