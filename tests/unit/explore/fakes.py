"""A small problem with an engine that is a formula, for the tests of the search."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from dse.explore.method import SearchContext, Traffic
from dse.explore.space.build import build_space
from dse.explore.space.space import Space, SpaceOptions
from dse.model.design_point import DesignPoint
from dse.model.estimate import Deadlock, Estimate, Outcome, PartitionAccount
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology, TraceActor, TraceBuffer

LOADS = (50, 30, 40, 20, 60, 10)
CUT_COST = 7


def chain(n: int = len(LOADS)) -> Topology:
    actors = tuple(
        TraceActor(name=f"a{i}", class_name="A", inputs=("i",), outputs=("o",), actions=()) for i in range(n)
    )
    buffers = tuple(
        TraceBuffer(source=i, source_port=0, target=i + 1, target_port=0, token_bytes=4, token_bits=32)
        for i in range(n - 1)
    )
    return Topology(name="chain", actors=actors, buffers=buffers)


def chain_space(cores: int = 3, n: int = len(LOADS), gpu: bool = False) -> Space:
    units = [Unit(name="cpu", kind="cpu", cores=cores)]
    if gpu:
        units.append(Unit(name="gpu", kind="gpu", partition="PG"))
    topology = chain(n)
    options = SpaceOptions(capacities=((8,) * len(topology.buffers),))
    return build_space(topology, Platform(name="box", units=tuple(units)), options)


def load(actor: int) -> int:
    return LOADS[actor % len(LOADS)] + actor // len(LOADS)


def partition_loads(point: DesignPoint) -> list[int]:
    return [sum(load(a) for a in p.actors) for p in point.partitions]


def makespan(point: DesignPoint) -> int:
    """The heaviest partition, plus a cost for each cut FIFO of the chain, plus something rugged."""
    owner = point.partition_of(sum(len(p.actors) for p in point.partitions))
    cuts = sum(a != b for a, b in itertools.pairwise(owner))
    return max(partition_loads(point)) + CUT_COST * cuts + int(point.digest()[:2], 16) % 5


def bound(point: DesignPoint) -> int:
    return max(partition_loads(point))


def estimate_of(point: DesignPoint, *, deadlock: bool = False) -> Estimate:
    span = makespan(point)
    partitions = tuple(
        PartitionAccount(
            scheduling=0, reading=0, processing=busy, writing=0, link_waiting=0, unoccupied=span - busy, cores=1
        )
        for busy in partition_loads(point)
    )
    return Estimate(
        makespan=span, tick_unit="cycles", actors=(), partitions=partitions, buffers=(), links=(),
        deadlock=Deadlock(rows=(), remedy=None) if deadlock else None,
    )  # fmt: skip


class FormulaEngine:
    """Counts what it is asked and answers with the formula; some points can be made to deadlock."""

    def __init__(self, deadlocks: bool = False) -> None:
        self.asked: list[DesignPoint] = []
        self.deadlocks = deadlocks

    def __call__(self, points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
        for point in points:
            self.asked.append(point)
            estimate = estimate_of(point, deadlock=self.deadlocks and point.digest()[-1] in "01234567")
            late = limit is not None and (estimate.deadlock is not None or estimate.makespan > limit)
            yield None if late else estimate.outcome


def context(space: Space, *, seed: int = 1, keep: int = 5, bounded: bool = True) -> SearchContext:
    return SearchContext(
        space=space,
        rng=np.random.default_rng(seed),
        loads=tuple((load(a),) * len(space.units) for a in range(space.n_actors)),
        traffic=tuple(Traffic(source=i, target=i + 1, tokens=100 - i) for i in range(space.n_actors - 1)),
        bounds=lambda candidates: [bound(space.to_point(c)) if bounded else 0 for c in candidates],
        keep=keep,
    )
