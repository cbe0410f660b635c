"""Speed of the estimation engines on synthetic traces: a pipeline of actors, round robin on several partitions.

Run as ``python -m benchmarks.engine [--engine NAME] [--firings N] [--json]``. Prints the median of several runs and
their range; nothing is asserted.
"""

import argparse
import json
import statistics
import time
from fractions import Fraction

import numpy as np

from dse.estimate.engine import ENGINES, make_engine
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer
from dse.model.weights import Cost, FifoKind, WeightTable

N_ACTIONS = 2
CLOCK_MHZ = Fraction(2900)


def pipeline(n_actors: int, n_firings: int, seed: int) -> Trace:
    """Return a pipeline in which every firing moves one token; actions alternate at random."""
    last = n_actors - 1
    actors = tuple(
        TraceActor(
            name=f"a{i}",
            class_name="Stage",
            inputs=("I",) if i else (),
            outputs=("O",) if i < last else (),
            actions=tuple(
                TraceAction(name=f"x{x}", reads=(1,) * (i > 0), writes=(1,) * (i < last)) for x in range(N_ACTIONS)
            ),
        )
        for i in range(n_actors)
    )
    buffers = tuple(
        TraceBuffer(source=i, source_port=0, target=i + 1, target_port=0, token_bytes=4, token_bits=32)
        for i in range(last)
    )
    rng = np.random.default_rng(seed)
    firings = tuple(rng.integers(0, N_ACTIONS, n_firings // n_actors).astype(np.uint8) for _ in range(n_actors))
    return Trace(
        topology=Topology(name="pipeline", actors=actors, buffers=buffers), firings=firings, digest="synthetic"
    )


def weights(trace: Trace) -> WeightTable:
    """Return weights in which every actor differs, with transfers across partitions dearer than inside."""

    def cost(cycles: int) -> Cost:
        return Cost(mean_cycles=Fraction(cycles), frequency_mhz=CLOCK_MHZ)

    names = [actor.name for actor in trace.topology.actors]
    kinds: tuple[tuple[FifoKind, int], ...] = (("local", 5), ("cpu_cpu", 40))
    return WeightTable(
        name="synthetic",
        compute={
            (name, f"x{x}", "cpu"): cost(100 + 17 * i + 31 * x)
            for i, name in enumerate(names)
            for x in range(N_ACTIONS)
        },
        scheduling={(name, "", f"x{x}", "cpu"): cost(9) for name in names for x in range(N_ACTIONS)},
        transfers={
            (names[b.source], "O", names[b.target], "I", kind, "cpu", side): cost(cycles)
            for b in trace.topology.buffers
            for kind, cycles in kinds
            for side in ("read", "write")  # type: ignore[misc]
        },
    )


def design_point(trace: Trace, n_partitions: int) -> DesignPoint:
    """Return the actors dealt out to partitions in turn."""
    n = len(trace.topology.actors)
    return DesignPoint(
        partitions=tuple(
            Partition(name=f"p{p}", actors=tuple(range(p, n, n_partitions)), unit="cpu", policy="ROUND_ROBIN")
            for p in range(n_partitions)
        ),
        capacities=(512,) * len(trace.topology.buffers),
    )


def measure(engine_name: str, problem: Problem, point: DesignPoint, repeats: int) -> dict[str, object]:
    """Return the speed of one engine; the first estimate is apart, for it may compile or fill caches."""
    begin = time.perf_counter()
    engine = make_engine(engine_name, problem)
    prepared = time.perf_counter()
    makespan = engine.estimate(point).makespan
    first = time.perf_counter()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        engine.estimate(point)
        seconds.append(time.perf_counter() - start)
    firings = problem.trace.n_firings
    return {
        "engine": engine_name,
        "firings": firings,
        "makespan_ps": makespan,
        "construction_s": prepared - begin,
        "first_estimate_s": first - prepared,
        "median_s": statistics.median(seconds),
        "firings_per_s": firings / statistics.median(seconds),
        "firings_per_s_min": firings / max(seconds),
        "firings_per_s_max": firings / min(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="speed of the estimation engines")
    parser.add_argument("--engine", action="append", choices=ENGINES.names(), help="default: all")
    parser.add_argument("--actors", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--firings", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trace = pipeline(options.actors, options.firings, options.seed)
    platform = Platform(name="synthetic", units=(Unit(name="cpu", kind="cpu", cores=options.partitions),))
    problem = Problem(trace=trace, weights=weights(trace), platform=platform)
    point = design_point(trace, options.partitions)
    rows = [measure(name, problem, point, options.repeats) for name in options.engine or ENGINES.names()]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("{engine:12} {firings_per_s:14,.0f} firings/s   first estimate {first_estimate_s:.3f} s".format(**row))


if __name__ == "__main__":
    main()
