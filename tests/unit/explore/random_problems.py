"""Small random problems that every mapping can run: a tree of actors with rates of one token and random weights."""

from fractions import Fraction

import numpy as np

from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, SimdCost, WeightTable

BOX = Platform(
    name="box",
    units=(Unit(name="cpu", kind="cpu", cores=3), Unit(name="gpu", kind="gpu", partition="PG")),
    links=(Link(name="bus", between=("cpu", "gpu"), latency_ns=Fraction(3), bandwidth_gb_s=Fraction(1), shared=True),),
)


def problem_of(
    seed: int, *, clock: int | None, given_host: bool, n_actors: int | None = None, n_firings: int | None = None
) -> Problem:
    """A tree of actors with random weights; a few actors and firings unless told how many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5)) if n_actors is None else n_actors
    firings = int(rng.integers(1, 12)) if n_firings is None else n_firings
    actors, buffers = [], []
    for a in range(n):
        inputs = () if a == 0 else ("i",)
        outputs = () if a == n - 1 else ("o",)
        actions = tuple(TraceAction(name=f"x{k}", reads=(1,) * len(inputs), writes=(1,) * len(outputs)) for k in (0, 1))
        actors.append(TraceActor(name=f"a{a}", class_name="A", inputs=inputs, outputs=outputs, actions=actions))
    for a in range(1, n):
        source = int(rng.integers(0, a))
        ends = {"source": source, "source_port": 0, "target": a, "target_port": 0}
        buffers.append(TraceBuffer(**ends, token_bytes=4, token_bits=32))
    topology = Topology(name="tree", actors=tuple(actors), buffers=tuple(buffers))
    trace = make_trace(topology, [rng.integers(0, 2, firings) for _ in actors])
    frequency = None if clock is None else Fraction(clock)

    def cost(per_token: int = 0) -> Cost:
        cycles, token = Fraction(int(rng.integers(0, 90))), Fraction(int(rng.integers(0, 1 + per_token)))
        return Cost(mean_cycles=cycles, per_token_cycles=token, frequency_mhz=frequency)

    table = WeightTable(name="w")
    for actor in actors:
        for kind in ("cpu", "gpu"):
            for x in ("x0", "x1"):
                table.compute[actor.name, x, kind] = cost()
                for q in ("", "x0", "x1"):
                    table.scheduling[actor.name, q, x, kind] = cost()
    for b in buffers:
        ends = (actors[b.source].name, "o", actors[b.target].name, "i")
        for fifo, kind in (("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu")):
            for side in ("read", "write"):
                if fifo != "host" or given_host or clock is None:
                    table.transfers[*ends, fifo, kind, side] = cost(3)
    if rng.integers(0, 2):
        blocks = tuple(Fraction(30 + 7 * k) for k in range(4))
        table.simd["a1", "x0", "gpu"] = SimdCost(block_cycles=blocks, frequency_mhz=frequency)
    return Problem(trace=trace, weights=table, platform=BOX)
