"""Design points as arrays: what the kernel's memory is filled with.

``dse.estimate.problem.prepare`` says what a design point means. A price and a link follow from where the ends of a
buffer lie, and from where the first crossing buffer of its port leads; a ``PointEncoder`` keeps, for each of these,
what ``prepare`` chose when it first met it. A point that looks wrong, or unusual, goes to ``prepare`` as a whole: it
knows the errors.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dse.estimate.compiled.place_kernel import CHOSEN, PARTS_WIDTH, UNKNOWN, choose
from dse.estimate.problem.prepare import LinkServer, Prepared, cores_of, link_servers, prepare
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import CostRow, IntArray, ProblemTables
from dse.model.design_point import POLICIES, DesignPoint, Partition, Policy

MOST_KNOWN = 8_000_000
"""With many units and buffers the table of choices would be larger; then every point is prepared."""
_PREPARED_POLICIES: tuple[Policy, ...] = ("STATIC_ORDER",)
_NO_ORDERS: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncodedPoint:
    """A design point that was found valid, as arrays (``dse.estimate.compiled.place_kernel`` says which)."""

    point: DesignPoint
    parts: IntArray
    members: IntArray
    orders: IntArray
    choices: IntArray


class PointEncoder:
    """Encodes the points of one problem. Threads may share it."""

    def __init__(self, tables: ProblemTables) -> None:
        platform, buffers = tables.problem.platform, tables.topology.buffers
        self._tables = tables
        self.servers: tuple[LinkServer, ...] = link_servers(platform)
        gpu = [unit.kind == "gpu" for unit in platform.units]
        self._place_of = _places(tables, told_apart=any(gpu))
        """Unit as the choices tell them apart and row of the cost tables, by unit and clock."""
        ports = [(b.source, b.source_port) for b in buffers]
        readers = Counter(ports)
        shared = {port: index for index, port in enumerate(port for port, n in readers.items() if n > 1)}
        ends = [(b.source, b.target, shared.get(port, -1)) for b, port in zip(buffers, ports, strict=True)]
        self._network = (
            np.array(ends, dtype=np.int64).reshape(-1, 3),
            np.array([max(1, least) for least in tables.least_capacity], dtype=np.int64),
            _fits(tables),
            np.array(gpu if any(gpu) else [False], dtype=bool),
        )
        n_units = len(self._network[3])
        keys = n_units * n_units * 2 * (n_units + 1)
        small = keys * len(buffers) <= MOST_KNOWN
        self._known: NDArray[np.int32] = np.zeros((keys if small else 0, len(buffers), 4), dtype=np.int32)
        self._capacities: tuple[tuple[int, ...], IntArray] = (), np.zeros(0, dtype=np.int64)

    def encode(self, point: DesignPoint) -> EncodedPoint:
        """Return a point as arrays. Raises as ``prepare``."""
        placed = self._placed(point) if len(self._known) else None
        if placed is None:
            return self.of(prepare(self._tables, point))
        parts, members = placed
        n_buffers = self._known.shape[1]
        keys, choices = np.empty(n_buffers, dtype=np.int64), np.empty((n_buffers, 5), dtype=np.int64)
        found = choose(parts, members, self._capacities_of(point.capacities), self._network, self._known, keys, choices)
        if found == CHOSEN:
            return EncodedPoint(point=point, parts=parts, members=members, orders=_NO_ORDERS, choices=choices)
        encoded = self.of(prepare(self._tables, point))
        if found == UNKNOWN:
            self._learn(keys, encoded.choices)
        return encoded

    def of(self, prepared: Prepared) -> EncodedPoint:
        """Return a prepared point as arrays."""
        partitions = prepared.point.partitions
        rows = [prepared.cost_row[p.actors[0]] if p.actors else 0 for p in partitions]
        parts = [
            (POLICIES.index(p.policy), cores, len(p.actors), len(p.static_order), row, 0)
            for p, cores, row in zip(partitions, prepared.cores, rows, strict=True)
        ]
        travels = [int(kind == "cpu_cpu") for kind in prepared.fifo_kind]
        choices = (prepared.capacities, prepared.read_price, prepared.write_price, prepared.server_of, travels)
        return EncodedPoint(
            point=prepared.point,
            parts=np.array(parts, dtype=np.int64).reshape(-1, PARTS_WIDTH),
            members=np.array([a for p in partitions for a in p.actors], dtype=np.int64),
            orders=np.array([a for p in partitions for a in p.static_order], dtype=np.int64),
            choices=np.array(list(zip(*choices, strict=True)), dtype=np.int64).reshape(-1, 5),
        )

    def _placed(self, point: DesignPoint) -> tuple[IntArray, IntArray] | None:
        """Return partitions and actors as arrays; None where something is wrong, or only ``prepare`` knows."""
        parts: list[int] = []
        members: list[int] = []
        for p in point.partitions:
            place, policy = self._place_of.get((p.unit, p.clock_mhz)), _POLICY.get(p.policy)
            if place is None or policy is None or p.static_order or p.cores < 1:
                return None
            parts += (policy, cores_of(p), len(p.actors), 0, place[1], place[0])
            members += p.actors
        sizes = len(self._tables.topology.actors), self._known.shape[1]
        if (len(members), len(point.capacities)) != sizes or not _told_apart(point.partitions):
            return None
        return np.array(parts, dtype=np.int64).reshape(-1, PARTS_WIDTH), np.array(members, dtype=np.int64)

    def _capacities_of(self, capacities: tuple[int, ...]) -> IntArray:
        """Return capacities as an array; those of most points are the same ones."""
        last, array = self._capacities
        if capacities is not last:
            array = np.array(capacities, dtype=np.int64)
            self._capacities = capacities, array
        return array

    def _learn(self, keys: IntArray, choices: IntArray) -> None:
        """Keep what ``prepare`` chose; the word that makes an entry known is written last."""
        buffers = np.arange(len(keys))
        self._known[keys, buffers, 1] = choices[:, 2]
        self._known[keys, buffers, 2] = choices[:, 3]
        self._known[keys, buffers, 3] = choices[:, 4]
        self._known[keys, buffers, 0] = choices[:, 1] + 1


def _told_apart(partitions: Sequence[Partition]) -> bool:
    """Return whether all partitions have names of their own, and all of a unit one clock."""
    clocks = {(p.unit, p.clock_mhz) for p in partitions}
    return len({p.name for p in partitions}) == len(partitions) and len({u for u, _ in clocks}) == len(clocks)


_POLICY = {policy: index for index, policy in enumerate(POLICIES) if policy not in _PREPARED_POLICIES}


def _places(tables: ProblemTables, *, told_apart: bool) -> dict[tuple[str, Fraction | None], tuple[int, int]]:
    """Return unit (all are one where no GPU tells them apart) and row of the tables, by unit and clock."""
    row_of = {row: index for index, row in enumerate(tables.rows)}
    found: dict[tuple[str, Fraction | None], tuple[int, int]] = {}
    for index, unit in enumerate(tables.problem.platform.units):
        kind = UNIT_KINDS.index(unit.kind)
        chosen = [clock for name, clock in tables.problem.clocks if name == unit.name]
        for clock in (None, *chosen):
            found[unit.name, clock] = index if told_apart else 0, row_of[CostRow(kind, clock)]
    return found


def _fits(tables: ProblemTables) -> NDArray[np.bool_]:
    """Return whether nothing can be wrong with an actor on units of a row: no weight is missing, no GPU bars it.

    Shape (n_rows, n_actors).
    """
    problem, actors = tables.problem, tables.topology.actors
    barred = [not problem.platform.may_use_gpu(actor.name) for actor in actors]
    return np.array(
        [
            [
                (problem.missing_weights == "zero" or tables.actor_known[row.kind][a])
                and not (barred[a] and UNIT_KINDS[row.kind] == "gpu")
                for a in range(len(actors))
            ]
            for row in tables.rows
        ],
        dtype=bool,
    ).reshape(len(tables.rows), len(actors))
