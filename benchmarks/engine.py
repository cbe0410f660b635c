"""Speed of the estimation engines on synthetic traces: pipelines of actors whose firings move one token each.

Run as ``python -m benchmarks.engine [--quick] [--json] [--against CHECKOUT]``. Both engines run side by side, with
communication and scheduling weights and full accounting, and the outcomes that searches ask for beside estimates.
``--against``: the same outcomes, and estimates with all accounts, of another checkout of dse, run in turn with those of
this one, and nothing else. The machine may be busy with other things: the best of several runs counts. Nothing is
asserted.
"""

import argparse
import json
import os
import platform as machine
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from pathlib import Path

import numpy as np

from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.explore.mapping_bound import MappingBound
from dse.explore.space.build import build_space
from dse.explore.space.space import SpaceOptions
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer
from dse.model.weights import Cost, FifoKind, WeightTable

N_ACTIONS = 2
CLOCK_MHZ = Fraction(2900)
CAPACITY_TOKENS = 64
OUTCOME_SIZES = (10, 4), (100, 16), (100, 100), (1_000, 4)
"""Actors and partitions."""
OUTCOME_FIRINGS = 200_000
BATCH = 16
"""Points that a thread takes at a time."""


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


def weights(trace: Trace) -> WeightTable:  # ways: three tables of comprehensions
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
        scheduling={
            (name, before, f"x{x}", "cpu"): cost(9 if before else 14)
            for name in names
            for x in range(N_ACTIONS)
            for before in ("", "x0", "x1")
        },
        transfers={
            (names[b.source], "O", names[b.target], "I", kind, "cpu", side): cost(cycles)
            for b in trace.topology.buffers
            for kind, cycles in kinds
            for side in ("read", "write")
        },
    )


def design_point(trace: Trace, n_partitions: int, rng: np.random.Generator | None = None) -> DesignPoint:
    """Return the actors dealt out to partitions in turn, or at random."""
    n = len(trace.topology.actors)
    owner = np.arange(n) % n_partitions
    if rng is not None:
        owner = rng.permutation(owner)
    return DesignPoint(
        partitions=tuple(
            Partition(name=f"p{p}", actors=tuple(np.flatnonzero(owner == p).tolist()), unit="cpu")
            for p in range(n_partitions)
        ),
        capacities=(CAPACITY_TOKENS,) * len(trace.topology.buffers),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A synthetic problem and a point of it."""

    problem: Problem
    point: DesignPoint


def bench(n_actors: int, n_partitions: int, n_firings: int) -> Bench:
    """Return the problem of one size."""
    trace = pipeline(n_actors, n_firings, seed=1)
    platform = Platform(name="synthetic", units=(Unit(name="cpu", kind="cpu", cores=n_partitions),))
    problem = Problem(trace=trace, weights=weights(trace), platform=platform)
    return Bench(problem=problem, point=design_point(trace, n_partitions))


def best_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several runs."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def firings_per_s(case: Bench, engine: str, repeats: int) -> float:
    """Return the speed of an engine on a case."""
    made = make_engine(engine, case.problem)
    made.estimate(case.point)
    return case.problem.trace.n_firings / best_seconds(lambda: made.estimate(case.point), repeats)


def outcome_speeds(repeats: int) -> dict[str, float]:
    """Return firings a second of outcomes and of estimates with all accounts, by turns, and their ratio."""
    found: dict[str, float] = {}
    for n_actors, n_partitions in OUTCOME_SIZES:
        case = bench(n_actors, n_partitions, OUTCOME_FIRINGS)
        engine = make_engine("compiled", case.problem)
        assert engine.outcomes([case.point]) == [engine.estimate(case.point).outcome]
        calls = lambda: engine.outcomes([case.point]), lambda: engine.estimate(case.point)  # noqa: B023
        seconds = [
            min(times) for times in zip(*([best_seconds(c, 3) for c in calls] for _ in range(repeats)), strict=True)
        ]
        prefix = f"outcomes_{n_actors}_on_{n_partitions}_"
        found[f"{prefix}firings_per_s"] = case.problem.trace.n_firings / seconds[0]
        found[f"{prefix}to_estimates"] = seconds[1] / seconds[0]
    return found


MEASURED = """
from benchmarks.engine import bench, best_seconds, make_engine
case = bench({actors}, {partitions}, {firings})
engine = make_engine("compiled", case.problem)
run = getattr(engine, {asked!r}, engine.estimates)
run([case.point])
print(case.problem.trace.n_firings / best_seconds(lambda: run([case.point]), 20))
"""


def against(other: Path, repeats: int) -> dict[str, float]:
    """Return firings a second of outcomes and estimates, here and in another checkout, by turns, and the ratio."""

    def speed(root: Path, script: str) -> float:
        run = subprocess.run(
            [sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        return float(run.stdout)

    found: dict[str, float] = {}
    for (n_actors, n_partitions), asked in product(OUTCOME_SIZES, ("outcomes", "estimates")):
        script = MEASURED.format(actors=n_actors, partitions=n_partitions, firings=OUTCOME_FIRINGS, asked=asked)
        pairs = [(speed(Path(__file__).parents[1], script), speed(other, script)) for _ in range(repeats)]
        here, there = (max(speeds) for speeds in zip(*pairs, strict=True))
        prefix = f"{asked}_{n_actors}_on_{n_partitions}_"
        found |= {f"{prefix}here": here, f"{prefix}there": there, f"{prefix}ratio": here / there}
    return found


def side_by_side(prefix: str, size: tuple[int, int, int], *, reference_firings: int, repeats: int) -> dict[str, float]:
    """Return the speed of both engines on a network; the reference may get a shorter trace of the same actors."""
    compiled = firings_per_s(bench(*size), "compiled", repeats)
    reference = firings_per_s(bench(*size[:2], reference_firings), "reference", 2)
    return {
        f"{prefix}compiled_firings_per_s": compiled,
        f"{prefix}reference_firings_per_s": reference,
        f"{prefix}ratio": compiled / reference,
    }


def points_per_s(engine: Engine, points: Sequence[DesignPoint], threads: int) -> float:
    """Return how many points a second are estimated, in batches, by so many threads."""
    batches = iter([points[i : i + BATCH] for i in range(0, len(points), BATCH)])
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                batch = next(batches, None)
            if batch is None:
                return
            engine.outcomes(batch)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(points) / (time.perf_counter() - begin)


def mappings(repeats: int) -> dict[str, float]:
    """Return mappings a second on one core and on two: short traces (many mappings), and one long trace."""
    rng = np.random.default_rng(2)
    found: dict[str, float] = {}
    for prefix, case, n_points in (("", bench(10, 4, 10_000), 2_000), ("long_", bench(10, 4, 1_000_000), 32)):
        engine = make_engine("compiled", case.problem)
        points = [design_point(case.problem.trace, 4, rng) for _ in range(n_points)]
        engine.outcomes(points[:4])
        one, two = [], []
        for _ in range(repeats):
            one.append(points_per_s(engine, points, 1))
            two.append(points_per_s(engine, points, 2))
        found[f"{prefix}mappings_per_s_one_core"], found[f"{prefix}mappings_per_s"] = max(one), max(two)
        found[f"{prefix}two_core_ratio"] = max(two) / max(one)
    return found


def micro(call: Callable[[], object], repeats: int, count: int = 1) -> float:
    """Return the microseconds of one of ``count`` things that a call does."""
    return 1e6 * best_seconds(call, repeats * 3) / count


def candidate_bound_times(repeats: int) -> dict[str, float]:
    """Return what the bounds of a candidate cost (load, shared links, pool of paths), and to prepare them."""
    found: dict[str, float] = {}
    for size, firings in (("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)):
        case = bench(10, 4, firings)
        tables = build_tables(case.problem)
        options = SpaceOptions(partitions=(4, 4), capacities=(case.point.capacities,))
        space = build_space(tables.topology, case.problem.platform, options)
        candidates = list(islice(space.candidates(), 4_000))
        MappingBound(tables, space)  # loads the compiled functions
        begin = time.perf_counter()
        bound = MappingBound(tables, space)
        found[f"bounds_{size}_prepare_s"] = time.perf_counter() - begin
        found[f"bounds_{size}_candidate_us"] = micro(lambda: bound.of(candidates), repeats, len(candidates))  # noqa: B023
        found[f"bounds_{size}_one_alone_us"] = micro(lambda: bound.of(candidates[:1]), repeats)  # noqa: B023
    return found


def bound_times(repeats: int) -> dict[str, float]:
    """Return what exact bounds of a point cost in microseconds, and what a run costs that stops at a limit."""
    case = bench(10, 4, 100_000)
    tables = build_tables(case.problem)
    engine, bounds = make_engine("compiled", case.problem), Bounds(tables)
    prepared = prepare(tables, case.point)
    makespan = engine.estimate(case.point).makespan
    bounds.of_point(prepared)
    return {
        "link_bound_us": micro(lambda: bounds.of_point(prepared, critical_path=False), repeats),
        "critical_path_bound_us": micro(lambda: bounds.of_point(prepared), repeats),
        "estimate_us": micro(lambda: engine.estimate(case.point), repeats),
        "stopped_at_99_percent_us": micro(lambda: engine.estimate_within(case.point, makespan * 99 // 100), repeats),
        "stopped_at_90_percent_us": micro(lambda: engine.estimate_within(case.point, makespan * 9 // 10), repeats),
    }


def growth(repeats: int) -> list[dict[str, str | float]]:
    """Return nanoseconds a firing as one thing at a time grows: firings, actors (with FIFOs), partitions."""
    rows: list[dict[str, str | float]] = []
    for what, sizes in (
        ("firings", [(10, 4, n) for n in (10_000, 100_000, 1_000_000, 10_000_000)]),
        ("actors and FIFOs", [(n, 4, 1_000_000) for n in (5, 10, 30, 100, 300, 1_000)]),
        ("partitions", [(100, n, 1_000_000) for n in (1, 4, 16, 50, 100)]),
    ):
        for n_actors, n_partitions, n_firings in sizes:
            case = bench(n_actors, n_partitions, n_firings)
            speed = firings_per_s(case, "compiled", repeats)
            engine = make_engine("compiled", case.problem)
            outcome_s = best_seconds(lambda: engine.outcomes([case.point]), repeats)  # noqa: B023
            rows.append(
                {
                    "grows": what,
                    "actors": n_actors,
                    "fifos": n_actors - 1,
                    "partitions": n_partitions,
                    "firings": n_firings,
                    "ns_per_firing": 1e9 / speed,
                    "outcome_ns_per_firing": 1e9 * outcome_s / case.problem.trace.n_firings,
                }
            )
    return rows


def memory() -> dict[str, float]:
    """Return the bytes that a trace takes in the engine, and those that a mapping takes."""
    small, large = (bench(10, 4, n) for n in (10_000, 1_000_000))
    sizes = []
    for case in (small, large):
        packed = make_engine("compiled", case.problem).packed  # type: ignore[attr-defined]
        trace = sum(firings.nbytes for firings in case.problem.trace.firings)
        sizes.append((trace + packed.firings.nbytes, packed.memory.nbytes))
    return {
        "trace_bytes_per_firing": sizes[1][0] / large.problem.trace.n_firings,
        "mapping_bytes": sizes[1][1],
        "mapping_bytes_of_a_short_trace": sizes[0][1],
    }


def start_times() -> dict[str, float]:
    """Return the seconds until ``dse --help`` ends, and until a first estimate of a new process is there."""
    first = (
        "from benchmarks.engine import bench, make_engine; c = bench(10, 4, 10_000); "
        "make_engine('compiled', c.problem).estimate(c.point)"
    )
    root = Path(__file__).parent.parent

    def seconds(*arguments: str) -> float:
        return best_seconds(lambda: subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True), 5)

    return {"help_s": seconds("-m", "dse", "--help"), "first_result_s": seconds("-c", first)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed of the estimation engines")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no table of growth")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="only compare with another checkout")
    options = parser.parse_args()
    repeats = 3 if options.quick else 10
    if options.against is not None:
        show(against(options.against.resolve(), repeats), [], as_json=options.json)
        return
    reference = 50_000 if options.quick else 1_000_000
    found: dict[str, object] = {
        "machine": f"{os.cpu_count()} cores, {machine.machine()}, Python {machine.python_version()}"
    }
    found |= side_by_side("", (10, 4, 1_000_000), reference_firings=reference, repeats=repeats)
    found |= side_by_side("large_", (100, 16, 1_000_000), reference_firings=reference, repeats=repeats)
    found |= outcome_speeds(repeats)
    found |= mappings(repeats)
    found |= candidate_bound_times(repeats)
    found |= bound_times(repeats)
    found |= memory()
    found |= start_times()
    table = [] if options.quick else growth(3)
    show(found, table, as_json=options.json)


def show(found: Mapping[str, object], table: list[dict[str, str | float]], *, as_json: bool) -> None:
    """Print what was measured."""
    if as_json:
        print(json.dumps({**found, "growth": table}, indent=2))
        return
    for name, value in found.items():
        print(f"{name:34} {value:>14,.6g}" if isinstance(value, float) else f"{name:34} {value!s:>14}")
    for row in table:
        sizes = "{actors:5} actors {partitions:4} partitions {firings:10,} firings".format(**row)
        print(
            f"{row['grows']:17} {sizes} {row['ns_per_firing']:7.1f} ns, outcomes {row['outcome_ns_per_firing']:7.1f} ns"
        )


if __name__ == "__main__":
    main()
