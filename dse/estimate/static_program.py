"""A program that is one static region, whose runs have a steady state, and the least period that any mapping can have.

The period of a mapping is that of its longest cycle of waits, or of its busiest core; neither is below what is here:
- cycle: the least period of the program with each actor on a core of its own (``dse.sdf.throughput.periodic``), where
  every firing takes the least that its computing and its scheduling can, and transfers take nothing;
- work: what the firings of one iteration take at least on a core, on all cores together.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from dse.base.errors import OptionError
from dse.estimate.bounds.lower_bounds import allowed_rows
from dse.estimate.problem.tables import CostRow, ProblemTables, kind_indices
from dse.model.design_point import DesignPoint, ReleaseMode
from dse.sdf.regions import Region, static_regions
from dse.sdf.throughput.periodic import least_period
from dse.sdf.throughput.storage import TimedDataflow

Times: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""Ticks of each action of each actor."""


def whole_region(tables: ProblemTables, times: Times, *, timed: bool = False) -> Region:
    """Return the static region that is the whole program; ``timed``: as in ``static_regions``.

    Raises:
        OptionError: it is not one region.
    """
    found = static_regions(tables.problem.trace, times, timed=timed)
    if found.others or len(found.regions) != 1:
        name, regions = tables.topology.name, len(found.regions)
        parts = f"{regions} static region{'' if regions == 1 else 's'} and {len(found.others)} actors in none"
        raise OptionError(
            f"'{name}' has no steady state: it is not one static region, but has {parts}",
            expected="a program whose actors all have constant or periodic rates; `dse throughput` shows the regions",
        )
    return found.regions[0]


def cpu_times(tables: ProblemTables) -> Times:
    """Return what a firing of each action takes on the CPU at its own clock, with its least scheduling."""
    return least_times(tables, [(0,)] * len(tables.topology.actors))


def least_times(tables: ProblemTables, rows: Sequence[Sequence[int]]) -> Times:
    """Return what a firing of each action takes at least, its scheduling included; ``rows[a]``: those of actor a."""
    of_row = {row: _by_actor(tables, _of_row(tables, row)) for row in sorted(set().union(*rows))}
    return tuple(
        tuple(min(times) for times in zip(*(of_row[row][a] for row in of_actor), strict=True))
        for a, of_actor in enumerate(rows)
    )


def _of_row(tables: ProblemTables, row: int) -> list[Fraction]:
    scheduling = _least_scheduling(tables, row)
    compute, widths = tables.compute[row].tolist(), tables.block_width[row].tolist()
    found = []
    for x, (least, ticks, width) in enumerate(zip(scheduling, compute, widths, strict=True)):
        base = int(tables.block_base[row, x])
        blocks = tables.block_ticks[base : base + width].tolist() if width else [max(0, ticks)]
        found.append(min(Fraction(least + block, k) for k, block in enumerate(blocks, start=1)))
    return found


def _least_scheduling(tables: ProblemTables, row: int) -> list[int]:
    """Return the least scheduling of each action, whatever its core has fired before."""
    found: list[int] = []
    for a in range(len(tables.topology.actors)):
        n = tables.action_count(a)
        first = tables.first_scheduling[row, int(tables.action_base[a]) :][:n]
        pairs = tables.pair_scheduling[row, int(tables.pair_base[a]) :][: n * n].reshape(n, n)
        found += np.maximum(np.minimum(first, pairs.min(axis=0, initial=np.iinfo(np.int64).max)), 0).tolist()
    return found


def _by_actor(tables: ProblemTables, times: list[Fraction]) -> Times:
    base = tables.action_base.tolist()
    return tuple(tuple(times[base[a] : base[a + 1]]) for a in range(len(tables.topology.actors)))


class StaticProgram:
    """The program and its least periods. Raises ``OptionError`` where it is not one static region."""

    def __init__(self, tables: ProblemTables) -> None:
        self._tables = tables
        self._region = self._least_region(allowed_rows(tables))
        self._timed = self._least_region(allowed_rows(tables), timed=True)
        self._work: dict[int, tuple[Fraction, ...]] = {}
        self._cycles: dict[tuple[tuple[int, ...], ReleaseMode], Fraction] = {}

    @property
    def firings(self) -> tuple[int, ...]:
        """Firings of each actor in an iteration."""
        return self._region.firings

    @property
    def iterations(self) -> int:
        """How often the trace goes through the program."""
        return self._region.iterations

    def _least_region(self, rows: Sequence[Sequence[int]], *, timed: bool = False) -> Region:
        """Return the region with the least times; the shortest where firings of one phase take several."""
        times = least_times(self._tables, rows)
        region = whole_region(self._tables, times, timed=timed)
        if not region.averaged:
            return region
        used = [np.unique(ids).tolist() for ids in self._tables.problem.trace.firings]
        shortest = tuple(
            (min(of_actor[x] for x in used[a]),) * len(of_actor) if actor.name in region.averaged else of_actor
            for a, (actor, of_actor) in enumerate(zip(self._tables.topology.actors, times, strict=True))
        )
        return whole_region(self._tables, shortest, timed=timed)

    def _works(self, row: int) -> tuple[Fraction, ...]:
        """Return the ticks of a core that each actor needs at least in an iteration."""
        if row not in self._work:
            self._work[row] = _works(self._least_region([(row,)] * len(self._tables.topology.actors)))
        return self._work[row]

    def cycle(self, capacities: tuple[int, ...], release: ReleaseMode) -> Fraction:
        """Return the least period of these capacities, on as many cores as one likes; 0 where they deadlock."""
        if (capacities, release) not in self._cycles:
            graph = self._timed.graph
            flow = TimedDataflow(
                graph=graph,
                firings=self._timed.firings,
                times=tuple(actor.times[0].times for actor in graph.actors),
                release=release,
            )
            # Room that a block takes is free sooner than a share of the block tells, so that nobody waits for it.
            sizes = flow.unlimited if self._tables.block_width.any() else self._sizes(capacities)
            timed = flow.timed(sizes)
            found = least_period(timed).ticks
            longer = self._timed.firings[0] // self._region.firings[0]
            self._cycles[capacities, release] = (found or Fraction(0)) / timed.ticks_per_unit / longer
        return self._cycles[capacities, release]

    def _sizes(self, capacities: tuple[int, ...]) -> tuple[int | None, ...]:
        """Return the sizes of the region's channels; what begins with more tokens has no room to begin with."""
        buffers = self._tables.topology.buffers
        return tuple(max(capacities[b], buffers[b].initial_tokens) for b in self._timed.buffers)

    def of_any_point(self, capacities: Sequence[tuple[int, ...]], release: ReleaseMode, cores: int) -> Fraction:
        """Return a period that no mapping to so many cores beats, with the best of some capacities."""
        works = _works(self._region)
        cycle = min(self.cycle(sizes, release) for sizes in capacities)
        return max(cycle, sum(works, Fraction(0)) / cores, *works)

    def of_point(self, point: DesignPoint) -> Fraction:
        """Return a period that a mapping cannot beat."""
        kinds = kind_indices(self._tables.problem.platform)
        found = self.cycle(tuple(point.capacities), point.release)
        for partition in point.partitions:
            row = self._tables.rows.index(CostRow(kinds[partition.unit], partition.clock_mhz))
            works = [self._works(row)[a] for a in partition.actors]
            cores = len(works) if partition.policy == "FULL_PARALLEL" else partition.cores
            found = max(found, sum(works, Fraction(0)) / cores, *works)
        return found


def _works(region: Region) -> tuple[Fraction, ...]:
    """Return what the firings of each actor take in an iteration."""
    pairs = zip(region.graph.actors, region.firings, strict=True)
    return tuple(sum(actor.times[0].times, Fraction(0)) * (n // actor.n_phases) for actor, n in pairs)
