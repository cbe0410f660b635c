"""Why identical actors are not always merged: exchanging two of them may change the makespan.

Two workers of one class with the same firings, weights and neighbours look interchangeable. They are not: a firing
writes its buffers one after the other in their declared order, so the first worker has its tokens earlier, and
partitions are searched in the order of their actors. Merging such points would report a makespan that the mapping does
not have. ``dse/explore/space/symmetry.py`` says where the exchange is exact.
"""

from fractions import Fraction

import numpy as np

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.space.build import build_space
from dse.explore.space.merged import merged_space
from dse.explore.space.space import SpaceOptions
from dse.model.design_point import DesignPoint, Partition, TransferMode
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, FifoKind, TransferKey, WeightTable


def actor(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> TraceActor:
    action = TraceAction(name="x", reads=(1,) * len(inputs), writes=(1,) * len(outputs))
    return TraceActor(name=name, class_name=name[0], inputs=inputs, outputs=outputs, actions=(action,))


def buffer(source: int, source_port: int, target: int, target_port: int) -> TraceBuffer:
    return TraceBuffer(
        source=source, source_port=source_port, target=target, target_port=target_port, token_bytes=4, token_bits=32
    )


def split_join() -> Problem:
    """Source, two identical workers, join; 20 firings each; every transfer costs 40 cycles."""
    actors = (
        actor("source", (), ("a", "b")),
        actor("worker0", ("i",), ("o",)),
        actor("worker1", ("i",), ("o",)),
        actor("join", ("a", "b"), ()),
    )
    buffers = (buffer(0, 0, 1, 0), buffer(0, 1, 2, 0), buffer(1, 0, 3, 0), buffer(2, 0, 3, 1))
    topology = Topology(name="split", actors=actors, buffers=buffers)
    compute = {"source": 30, "worker0": 100, "worker1": 100, "join": 70}
    kinds: tuple[FifoKind, ...] = ("local", "cpu_cpu")
    transfers: dict[TransferKey, Cost] = {}
    for b in buffers:
        s, t = actors[b.source], actors[b.target]
        for kind in kinds:
            key = (s.name, s.outputs[b.source_port], t.name, t.inputs[b.target_port], kind, "cpu")
            transfers[(*key, "write")] = Cost(mean_cycles=Fraction(40))
            transfers[(*key, "read")] = Cost(mean_cycles=Fraction(0))
    weights = WeightTable(
        name="w",
        compute={(name, "x", "cpu"): Cost(mean_cycles=Fraction(c)) for name, c in compute.items()},
        transfers=transfers,
        has_scheduling=False,
    )
    trace = make_trace(topology, [np.zeros(20, np.uint8)] * 4)
    return Problem(
        trace=trace, weights=weights, platform=Platform(name="p", units=(Unit(name="c", kind="cpu", cores=3),))
    )


def makespan(problem: Problem, *groups: tuple[int, ...], transfers: TransferMode = "sequential") -> int:
    partitions = tuple(Partition(name=f"p{i}", actors=group, unit="c") for i, group in enumerate(groups))
    point = DesignPoint(partitions=partitions, capacities=(4,) * 4, transfers=transfers)
    return make_engine("reference", problem).estimate(point).makespan


def test_an_exchange_of_identical_actors_moves_the_makespan() -> None:
    problem = split_join()
    assert makespan(problem, (0,), (1, 3), (2,)) != makespan(problem, (0,), (2, 3), (1,))
    assert canonical_forms(problem, "sequential") == [(0, 1, 2, 1), (0, 1, 2, 2)]


def test_with_parallel_transfers_it_does_not_and_they_are_merged() -> None:
    problem = split_join()
    first = makespan(problem, (0,), (1, 3), (2,), transfers="parallel")
    assert first == makespan(problem, (0,), (2, 3), (1,), transfers="parallel")
    assert len(set(canonical_forms(problem, "parallel"))) == 1


def canonical_forms(problem: Problem, transfers: TransferMode) -> list[tuple[int, ...] | None]:
    """Return the forms of the two mappings: the join with the first worker, and with the second."""
    topology = problem.trace.topology
    options = SpaceOptions(capacities=((4,) * 4,), transfers=transfers)
    space = merged_space(build_space(topology, problem.platform, options), build_tables(problem))
    return [space.canonical((0, 1, 2, 1)), space.canonical((0, 1, 2, 2))]
