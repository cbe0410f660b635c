"""Bounds of many mappings at once: the work of the busiest core, the busiest shared link, and a pool of paths.

All three are sums of costs that do not depend on the order of events, so a mapping takes time in proportion to actors,
buffers and paths, never to the trace.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.estimate.bounds.path_pool import PathFinder, PathSums, Placed
from dse.estimate.problem.prepare import server_index
from dse.estimate.problem.tables import IntArray, ProblemTables, kind_indices
from dse.model.platform import Platform

MOST_PATHS = 16
PATH_FIRINGS = 3_000_000
"""The traces of all searches for a path together have at most about so many firings (a quarter of a second), but
``LEAST_SEARCHES`` are made."""
LEAST_SEARCHES = 3
IDLE_SEARCHES = 4
"""So many searches in a row that only find known paths end them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotUnits:
    """The slots that actors are mapped to. ``unit``: of each slot, an index into ``names``, the units of the platform
    (one may stand there more than once)."""

    unit: IntArray
    names: tuple[str, ...]


class CandidateBounds:
    """Bounds of mappings on ``slots``. ``actor_loads[row, actor]``: computing and scheduling of all firings;
    ``reads[class, buffer]`` and ``writes``: all transfers, at least."""

    def __init__(
        self,
        tables: ProblemTables,
        slots: SlotUnits,
        *,
        actor_loads: IntArray,
        reads: IntArray,
        writes: IntArray,
        parallel: bool,
    ) -> None:
        platform, buffers = tables.problem.platform, tables.topology.buffers
        kind_of = kind_indices(platform)
        index_of = {unit.name: i for i, unit in enumerate(platform.units)}
        kinds = np.array([kind_of[name] for name in slots.names], dtype=np.int64)
        # All CPU units are one side: only a GPU at one end makes a buffer cross.
        sides = np.array([index_of[name] if kind_of[name] else -1 for name in slots.names], dtype=np.int64)
        ports = {(b.source, b.source_port): None for b in buffers}
        port_of = {port: index for index, port in enumerate(ports)}
        ends = [(b.source, b.target, port_of[b.source, b.source_port]) for b in buffers]
        columns = np.array(ends, dtype=np.int64).reshape(-1, 3).T
        self._tables = tables
        self._parallel = parallel
        self._units = (slots.unit, kinds, sides)
        self._buffers = tuple(np.ascontiguousarray(column) for column in columns)
        self._n_ports = len(ports)
        self._actor_loads = np.ascontiguousarray(actor_loads)
        self._loads = (np.ascontiguousarray(reads), np.ascontiguousarray(writes))
        self._links = _links(tables, slots.names)
        self._paths = PathSums.none(tables)

    def of(self, slots: IntArray, rows: IntArray, side_by_side: NDArray[np.bool_]) -> IntArray:
        """Return the bound of each mapping, in ticks.

        ``slots`` and ``rows``: shape (n, n_actors), the slot and the row of the cost tables of each actor.
        ``side_by_side``: shape (n,), whether the actors of a slot do not wait for each other.
        """
        from dse.estimate.compiled.path_kernel import bounds_of  # late: numba takes half a second

        bounds = np.empty(len(slots), dtype=np.int64)
        paths = (self._paths.ticks, self._paths.reads, self._paths.writes)
        bounds_of(
            slots,
            np.ascontiguousarray(rows),
            side_by_side,
            self._units,
            self._buffers,
            self._n_ports,
            self._actor_loads,
            self._loads,
            self._links,
            paths,
            self._parallel,
            bounds,
        )
        return bounds

    def shared_server(self, source: int, target: int) -> int:
        """Return the shared server of tokens that cross from a unit to another (indices into the names), -1: none."""
        between, servers = self._links
        link = int(between[source, target])
        return -1 if link < 0 else int(servers[link, source, target])

    def find_paths(self, mappings: IntArray, row_of_slot: IntArray) -> None:
        """Put critical paths of some of the mappings, shape (n, n_actors), into the pool.

        Each time that of the mapping whose bound is the smallest, where paths are wanted most.
        """
        finder = PathFinder(self._tables, parallel=self._parallel)
        firings = max(1, self._tables.problem.trace.n_firings)
        searches = min(len(mappings), 2 * MOST_PATHS, max(LEAST_SEARCHES, PATH_FIRINGS // firings))
        open_mappings = np.ones(len(mappings), dtype=bool)
        rows, none = row_of_slot[mappings], np.ones(len(mappings), dtype=bool)
        idle = 0
        for _ in range(searches):
            bounds = np.where(open_mappings, self.of(mappings, rows, none), np.iinfo(np.int64).max)
            chosen = int(bounds.argmin())
            open_mappings[chosen] = False
            length, path = finder.critical(self._placed(mappings[chosen], rows[chosen]))
            idle = idle + 1 if length == 0 or self._paths.holds(path) else 0
            if idle == 0:
                self._paths = self._paths.joined(path)
            if idle == IDLE_SEARCHES or self._paths.ticks.shape[2] == MOST_PATHS:
                break

    def _placed(self, slots: IntArray, rows: IntArray) -> Placed:
        from dse.estimate.compiled.path_kernel import classes_of  # late: numba takes half a second

        reads, writes = (np.empty(len(self._buffers[0]), dtype=np.int64) for _ in range(2))
        classes_of(slots, self._units, self._buffers, self._n_ports, reads, writes)
        return Placed(rows=rows, read_class=reads, write_class=writes)


def _links(tables: ProblemTables, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
    """Return the link between each two units, and the shared server that each link gives each two ends; -1: none.

    Shapes (n_units, n_units) and (n_links, n_units, n_units); no links where none is shared.
    """
    platform, n = tables.problem.platform, len(names)
    between = np.full((n, n), -1, dtype=np.int64)
    if not platform.shared_links:
        return between, np.zeros((0, n, n), dtype=np.int64)
    for u, v in itertools.product(range(n), repeat=2):
        index = platform.link_index(names[u], names[v])
        between[u, v] = -1 if index is None else index
    servers = [[_shared_server(platform, i, u, v) for u in names for v in names] for i in range(len(platform.links))]
    return between, np.array(servers, dtype=np.int64).reshape(-1, n, n)


def _shared_server(platform: Platform, link: int, source: str, target: str) -> int:
    """Return the server of a link that serves transfers between two units, -1 where it serves several at a time."""
    server = server_index(platform, link, source, target)
    return server if platform.links[link].shared else -1
