"""Lower bounds of the makespan. None exceeds the makespan of an estimate that completes (a deadlock may end earlier).

For one design point, the first three for all of them too:
- work: the core time that the firings of a partition (or of all actors) need, divided by the cores;
- heaviest actor: its firings cannot overlap;
- critical path: the longest chain of firings, each after the one of its actor before it and after those that make its
  tokens, found by counting tokens (``dse.estimate.bounds.token_paths``); no capacity, core or policy takes part;
- room: the same, where firings wait for room in the buffers as well (where capacities are given);
- filling (of all points): the work of all firings on all cores, which have too little to do while the network fills
  and while it drains (``dse.estimate.bounds.filling``);
- pipeline (of a point): the work of a partition begins when the first tokens can have come to one of its actors, and
  when it has ended what depends on it is still to be done;
- one core (of a point): the firings of a partition one at a time, each between its own limits;
- shared link (of a point): a link that serves one transfer at a time is busy for all of them.

A firing in a SIMD block costs at least the least share, min over k of cost(k) / k. Arrivals between CPU cores are in no
bound: where they make most of the time the bounds are loose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np

from dse.base.errors import FormatError, InfeasibleDesign
from dse.estimate.bounds.filling import filling
from dse.estimate.bounds.least_costs import claimed, least_for_payer, least_share
from dse.estimate.bounds.one_core import on_one_core
from dse.estimate.bounds.token_paths import PathTimes, TokenPaths, Windows
from dse.estimate.problem.prepare import NO_SERVER, Prepared
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.model.design_point import ReleaseMode, TransferMode
from dse.model.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class MakespanBounds:
    """Lower bounds of the makespan, in ticks."""

    work: int
    heaviest_actor: int
    critical_path: int
    """0 if it was not asked for."""
    room: int = 0
    """With the critical path, where capacities are known."""
    filling: int = 0
    """Of all points, with the critical path."""
    pipeline: int = 0
    """Of one point, with the critical path."""
    one_core: int = 0
    """Of one point, with the critical path."""
    shared_link: int = 0
    """Of one point."""

    @property
    def makespan(self) -> int:
        """The best of them."""
        path = max(self.critical_path, self.room, self.filling, self.pipeline, self.one_core)
        return max(self.work, self.heaviest_actor, path, self.shared_link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The most room that any of some design points gives: ``capacities`` in tokens, by buffer."""

    capacities: tuple[int, ...]
    release: ReleaseMode


_PlacedActor: TypeAlias = tuple[int, int, bool, tuple[int, ...], tuple[int, ...], TransferMode, ReleaseMode]
"""An actor in a point: number, row of its costs, whether it is alone on its core, prices of its buffers, modes."""


class Bounds:
    """Bounds for one problem; the dependencies between the firings are found once, when they are first needed."""

    def __init__(self, tables: ProblemTables) -> None:
        if len(tables.deviations):
            raise FormatError(
                "there are costs of single firings, and bounds only know those of actions",
                expected="estimate given mappings with them, search without",
            )
        self._tables = tables
        self._paths: TokenPaths | None = None
        self._least_costs: dict[tuple[TransferMode, ReleaseMode | None], list[_Costs]] = {}
        self._of_points: dict[_PlacedActor, ActorCost] = {}
        buffers = tables.topology.buffers
        self._inputs = _numbers_by([buffer.target for buffer in buffers], len(tables.topology.actors))
        self._outputs = _numbers_by([buffer.source for buffer in buffers], len(tables.topology.actors))
        self._room_paths: tuple[tuple[int, ...], TokenPaths] | None = None
        """Those of the capacities that were asked for last."""

    def of_point(self, prepared: Prepared, *, critical_path: bool = True) -> MakespanBounds:
        """Return bounds for one design point. Without ``critical_path`` the time does not depend on the trace."""
        actors = self._actors_of_point(prepared)
        works = [actor.work for actor in actors]
        partitions = prepared.point.partitions
        loads = [
            sum((works[a] for a in partition.actors), Fraction(0)) / cores
            for partition, cores in zip(partitions, prepared.cores, strict=True)
        ]
        found = MakespanBounds(
            work=ceil(max(loads, default=0)),
            heaviest_actor=ceil(max(works, default=0)),
            critical_path=0,
            shared_link=max(_link_loads(prepared), default=0),
        )
        return self._with_paths(found, prepared, [actor.path for actor in actors], loads) if critical_path else found

    def _with_paths(
        self, found: MakespanBounds, prepared: Prepared, times: list[PathTimes], loads: list[Fraction]
    ) -> MakespanBounds:
        """Return the bounds of a design point with those that know when its firings can begin."""
        windows = self._paths_with(tuple(prepared.point.capacities)).windows(times)
        made = [_made_whole(windows, partition.actors) for partition in prepared.point.partitions]
        parts = list(zip(made, loads, prepared.cores, strict=True))
        alone = [on_one_core(windows, windows.ticks, actors) for actors, _, cores in parts if cores == 1 and actors]
        return replace(
            found,
            critical_path=self._token_paths().longest(times),
            room=windows.longest,
            pipeline=max((_pipeline(windows, actors, load, cores) for actors, load, cores in parts), default=0),
            one_core=max(alone, default=0),
        )

    def _actors_of_point(self, prepared: Prepared) -> list["ActorCost"]:
        """Return what each actor costs in a design point; points that differ for other actors only share it."""
        tables, point = self._tables, prepared.point
        costs: _Costs | None = None
        found: list[ActorCost] = []
        for a, row in enumerate(prepared.cost_row):
            reads = tuple(prepared.read_price[b] for b in self._inputs[a])
            writes = tuple(prepared.write_price[b] for b in self._outputs[a])
            key = (a, row, prepared.alone(a), reads, writes, point.transfers, point.release)
            if key not in self._of_points:
                costs = costs or _Costs(
                    tables,
                    reads=_priced(tables.reads, prepared.read_price),
                    writes=_priced(tables.writes, prepared.write_price),
                    parallel=point.transfers == "parallel",
                    release=point.release,
                )
                self._of_points[key] = costs.actor(a, row, alone=prepared.alone(a))
            found.append(self._of_points[key])
        return found

    def of_any_point(
        self,
        *,
        cores: int,
        transfers: TransferMode = "parallel",
        rows: Sequence[Sequence[int]] | None = None,
        room: Room | None = None,
        critical_path: bool = True,
    ) -> MakespanBounds:
        """Return bounds for every design point with at most ``cores`` cores in all its partitions together.

        ``transfers``: "parallel" holds for both modes. ``rows``: for each actor the rows of the tables (indices into
        ``tables.rows``) it may need; without it all that the platform and its GPU-capable actors allow. ``room``: no
        point may have more; without it there is room for everything.

        Raises:
            InfeasibleDesign: an actor can be on no unit of the platform.
        """
        allowed = rows if rows is not None else allowed_rows(self._tables)
        options = self.times_by_row(allowed, transfers, None if room is None else room.release)
        works = [min(option.work for option in of_actor.values()) for of_actor in options]
        found = MakespanBounds(
            work=ceil(sum(works, Fraction(0)) / cores), heaviest_actor=ceil(max(works, default=0)), critical_path=0
        )
        if not critical_path:
            return found
        times = [PathTimes.least([option.path for option in of_actor.values()]) for of_actor in options]
        found = replace(found, critical_path=self._token_paths().longest(times))
        windows = self.paths(room).windows(times)
        found = replace(found, room=windows.longest if room is not None else 0)
        return replace(found, filling=filling(windows, cores=cores, at_least=found.makespan))

    def spans(self, rows: Sequence[Sequence[int]], room: Room, transfers: TransferMode) -> tuple[list[int], list[int]]:
        """Return when each actor can begin at the earliest, and how long the run goes on at least when it has ended.

        In ticks, for every point with these rows and no more than this room: a core is busy with some actors no
        sooner than the first of them can begin, and no later than what follows the last of them allows.
        """
        options = self.times_by_row(rows, transfers, room.release)
        paths = self.paths(room)
        windows = paths.windows([PathTimes.least([o.path for o in of_actor.values()]) for of_actor in options])
        begins = [windows.first(a) for a in range(len(options))]
        return begins, paths.after_last(windows, sequential=transfers == "sequential")

    def times_by_row(
        self, allowed: Sequence[Sequence[int]], transfers: TransferMode, release: ReleaseMode | None
    ) -> list[dict[int, "ActorCost"]]:
        """Return for each actor what it costs at least with each of its rows, wherever the others are.

        ``release``: when the tokens of an input leave; None where nobody asks.
        """
        costs = self._costs_of_kinds(transfers, release)
        kinds = [row.kind for row in self._tables.rows]
        return [{row: costs[kinds[row]].anywhere(a, row) for row in rows} for a, rows in enumerate(allowed)]

    def _costs_of_kinds(self, transfers: TransferMode, release: ReleaseMode | None) -> list["_Costs"]:
        """Return the least costs on each kind of unit; what was worked out of them stays known, for the next bound."""
        tables = self._tables
        if (transfers, release) not in self._least_costs:
            self._least_costs[transfers, release] = [
                _Costs(
                    tables,
                    reads=_least_priced(tables, tables.reads, kind),
                    writes=_least_priced(tables, tables.writes, kind),
                    parallel=transfers == "parallel",
                    release=release,
                )
                for kind in range(len(UNIT_KINDS))
            ]
        return self._least_costs[transfers, release]

    def paths(self, room: Room | None) -> TokenPaths:
        """Return what the firings wait for, with so much room."""
        return self._token_paths() if room is None else self._paths_with(room.capacities)

    def _paths_with(self, capacities: tuple[int, ...]) -> TokenPaths:
        if self._room_paths is None or self._room_paths[0] != capacities:
            self._room_paths = capacities, TokenPaths(self._tables, capacities)
        return self._room_paths[1]

    def _token_paths(self) -> TokenPaths:
        if self._paths is None:
            self._paths = TokenPaths(self._tables)
        return self._paths


def allowed_rows(tables: ProblemTables) -> list[tuple[int, ...]]:
    """Return for each actor the rows that it may need: units of the platform, a GPU only if it is capable, any clock.

    Kinds for which weights are missing are left out, unless that leaves none.

    Raises:
        InfeasibleDesign: an actor can be on no unit of the platform.
    """
    allowed: list[tuple[int, ...]] = []
    for a, actor in enumerate(tables.topology.actors):
        kinds = _possible_kinds(tables.problem.platform, actor.name)
        usable = [k for k in kinds if tables.actor_known[k][a]] or kinds
        allowed.append(tuple(r for r, row in enumerate(tables.rows) if row.kind in usable))
    return allowed


def _possible_kinds(platform: Platform, actor: str) -> list[int]:
    """Return the kinds of units that an actor can be on. Raises ``InfeasibleDesign`` where there are none."""
    present = {unit.kind for unit in platform.units if unit.kind == "cpu" or platform.may_use_gpu(actor)}
    if not present:
        raise InfeasibleDesign(
            f"actor '{actor}' can be on no unit of platform '{platform.name}'",
            expected="add a CPU, or name the actor among the GPU-capable ones",
        )
    return [k for k, kind in enumerate(UNIT_KINDS) if kind in present]


def _numbers_by(owners: Sequence[int], n: int) -> tuple[tuple[int, ...], ...]:
    """Return for each of n owners the numbers of what is theirs."""
    found: tuple[list[int], ...] = tuple([] for _ in range(n))
    for number, owner in enumerate(owners):
        found[owner].append(number)
    return tuple(map(tuple, found))


def _made_whole(windows: Windows, actors: Sequence[int]) -> tuple[int, ...]:
    """Return those of some actors that fire, and all of whose firings can be made."""
    ends = [(a, int(windows.base[a]), int(windows.base[a + 1])) for a in actors]
    return tuple(a for a, begin, end in ends if begin < end and windows.made[begin:end].all())


def _pipeline(windows: Windows, made: Sequence[int], load: Fraction, cores: int) -> int:
    """Return when the work of a partition and all that depends on its actors ``made`` whole can have ended."""
    parts = [slice(int(windows.base[a]), int(windows.base[a + 1])) for a in made]
    if not parts:
        return ceil(load)
    begin = min(int(windows.start[part.start]) for part in parts)
    after = min(int(windows.after[part.stop - 1]) for part in parts)
    # a block counts in ``load`` with more than its firings can have done before its first tokens are seen
    return begin + max(ceil(load), -(-sum(int(windows.ticks[part].sum()) for part in parts) // cores) + after)


def _link_loads(prepared: Prepared) -> list[int]:
    """Return for each link server, if it is shared, the least ticks of all its transfers."""
    tables = prepared.tables
    loads = [0] * len(prepared.servers)
    shared = [server != NO_SERVER and prepared.servers[server].shared for server in prepared.server_of]
    if not any(shared):
        return loads
    for table, prices in ((tables.reads, prepared.read_price), (tables.writes, prepared.write_price)):
        firings = np.repeat(tables.count, np.diff(table.first)).tolist()
        for e, buffer in enumerate(table.buffer.tolist()):
            if shared[buffer]:
                begin, width = int(table.cost[e]), int(table.width[e])
                ticks = table.ticks[prices[buffer], begin : begin + width]
                loads[prepared.server_of[buffer]] += int(least_share(ticks, firings[e]))
    return loads


def _column_buffers(table: TransferTable) -> IntArray:
    """Return the buffer of each column of ``table.ticks``."""
    return np.repeat(table.buffer, table.width)


def _priced(table: TransferTable, prices: Sequence[int]) -> IntArray:
    """Return the ticks of each column at the price of its buffer."""
    rows = np.array(prices, dtype=np.int64)[_column_buffers(table)]
    return np.asarray(table.ticks[rows, np.arange(table.ticks.shape[1])])


def _least_priced(tables: ProblemTables, table: TransferTable, kind: int) -> IntArray:
    """Return the least ticks of each column that an end on a unit of ``kind`` has to pay; 0 where none is known."""
    return claimed(least_for_payer(tables, table, table.ticks, _column_buffers(table), kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorCost:
    """The least core time of all firings of an actor, and the least times of one firing on a path."""

    work: Fraction
    path: PathTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Ticks of some firings at once, from the end of their scheduling: ``whole`` to their end, ``early`` until
    something of them is visible (or to their end), ``visible`` until each output is, ``released`` until their inputs
    have left."""

    whole: int
    early: int
    visible: dict[int, int]
    released: dict[ReleaseMode | None, int]


class _Costs:
    """Least costs of actions at given prices: ``reads`` and ``writes`` hold the ticks of every column."""

    def __init__(
        self, tables: ProblemTables, *, reads: IntArray, writes: IntArray, parallel: bool, release: ReleaseMode | None
    ) -> None:
        self._tables = tables
        self._release = release
        self._reads = reads
        self._writes = writes
        self._parallel = parallel
        self._known: dict[tuple[int, int], ActorCost] = {}
        sources = [buffer.source for buffer in tables.topology.buffers]
        self._outputs_of = _numbers_by(sources, len(tables.topology.actors))

    def anywhere(self, actor: int, row: int) -> ActorCost:
        """Return the costs of an actor with ``row`` of the tables, whoever fires in between; they stay known."""
        if (actor, row) not in self._known:
            self._known[actor, row] = self.actor(actor, row, alone=False)
        return self._known[actor, row]

    def actor(self, actor: int, row: int, *, alone: bool) -> ActorCost:
        """Return the costs of an actor with ``row`` of the tables; ``alone``: no other actor can fire in between."""
        tables = self._tables
        n = tables.action_count(actor)
        base, pair_base = int(tables.action_base[actor]), int(tables.pair_base[actor])
        first = tables.first_scheduling[row, base : base + n]
        pairs = tables.pair_scheduling[row, pair_base : pair_base + n * n]
        if not alone:
            pairs = np.minimum(pairs, np.tile(first, n))
        scheduling = np.maximum(np.concatenate([pairs, first]), 0)  # by q * n + x, then by x after none
        count = np.append(tables.pair_count[pair_base : pair_base + n * n], np.zeros(n, dtype=np.int64))
        if tables.first_action[actor] >= 0:
            count[n * n + tables.first_action[actor]] = 1
        path = PathTimes.zero(n, list(self._outputs_of[actor]))
        work = Fraction(0)
        for x in range(n):
            if not tables.count[base + x]:
                continue
            blocks = [self._block(base + x, row, k) for k in range(1, max(1, self._width(base + x, row)) + 1)]
            mine = np.arange(x, len(scheduling), n)
            if self._width(base + x, row):
                least = int(scheduling[mine][count[mine] > 0].min())
                share = min(Fraction(least + block.whole, k) for k, block in enumerate(blocks, start=1))
                work += share * int(tables.count[base + x])
                path.set_block(mine, min((least + block.early) // k for k, block in enumerate(blocks, start=1)))
            else:
                (block,) = blocks
                work += int((count[mine] * (scheduling[mine] + block.whole)).sum())
                path.set(mine, scheduling[mine], block.whole, block.visible, block.released.get(self._release))
        return ActorCost(work=work, path=path)

    def _width(self, column: int, row: int) -> int:
        return int(self._tables.block_width[row, column])

    def _block(self, column: int, row: int, firings: int) -> "_Block":
        """Return the ticks of a block of firings, without its scheduling."""
        tables = self._tables
        if self._width(column, row):
            compute = int(tables.block_ticks[int(tables.block_base[row, column]) + firings - 1])
        else:
            compute = max(0, int(tables.compute[row, column]))
        reads = [ticks for _, ticks in self._transfers(tables.reads, self._reads, column, firings)]
        read = max(reads, default=0) if self._parallel else sum(reads)
        done = read + compute
        visible: dict[int, int] = {}
        total = 0
        for buffer, ticks in self._transfers(tables.writes, self._writes, column, firings):
            total += ticks
            visible[buffer] = done + (ticks if self._parallel else total)
        return _Block(
            whole=max(visible.values(), default=done),
            early=min(visible.values(), default=done),
            visible=visible,
            released={"reading": read, "processing": done},
        )

    @staticmethod
    def _transfers(table: TransferTable, ticks: IntArray, column: int, firings: int) -> list[tuple[int, int]]:
        entries = range(int(table.first[column]), int(table.first[column + 1]))
        return [(int(table.buffer[e]), max(0, int(ticks[int(table.cost[e]) + firings - 1]))) for e in entries]
