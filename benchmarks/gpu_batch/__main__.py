"""Batches of mappings on a card against cores of the processor: equal in every integer, and how much sooner.

usage: python -m benchmarks.gpu_batch [NETWORK ...] [--points N,...] [--firings N] [--spread N,...] [--registers N,...]
           [--block N] [--workers N]

NETWORK is SHAPE-ACTORSxCORES, a g behind it for a GPU whose bus is shared, a t for tokens that travel. Random mappings
of traces of about ``--firings`` firings. For each network, number of mappings, spread and registers of a thread
(``benchmarks.gpu_batch.batch.LaunchShape``): millions of firings a second of the kernels alone on the card, on one
core and on all (``--workers``), and milliseconds of whole calls of ``outcomes``, encoding and reading included. Where
no driver of a card is, it says so and ends.
"""

import argparse
import functools
import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from benchmarks.gpu_batch.batch import DEFAULT_SHAPE, CardBatch, LaunchShape
from benchmarks.gpu_batch.driver import Card, CardError
from benchmarks.kernels import best_seconds
from benchmarks.search.large_networks import recipe_of
from benchmarks.search.networks import case_of
from dse.estimate.compiled.burst import BURST_KINDS, BurstRun, Bursts, bursts_of
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from dse.model.problem import Problem
from dse.model.weights import Arrival

NETWORKS = ("irregular-10x4", "irregular-16x4", "pipeline-60x8", "irregular-16x4g", "irregular-16x4t")
FIRINGS, POINTS, ARRIVAL_CYCLES = 10_000, "1024,4096,16384", 20
REPEATS = 3
FEW = 512
"""Mappings that a core is timed with."""


def points_of(name: str, firings: int, number: int) -> tuple[Problem, list[DesignPoint]]:
    """Return a network's problem and random mappings of it."""
    recipe = recipe_of(name.removesuffix("t"))
    case = case_of(recipe, firings)
    problem = case.problem
    if name.endswith("t"):
        arrival = Arrival(cycles=Fraction(ARRIVAL_CYCLES), frequency_mhz=None)
        problem = replace(problem, weights=replace(problem.weights, arrival=arrival))
    rng = np.random.default_rng(1)
    drawn = (case.space.random_assignment(rng) for _ in range(number))
    return problem, [case.space.to_point(Candidate(assignment=one)) for one in drawn]


def runs_of(bursts: Bursts, encoded: Sequence[EncodedPoint]) -> list[BurstRun]:
    """Return the runs of points, one for each kind."""
    kinds = [bursts.kernel_of(one) for one in encoded]
    chosen = ([one for one, of in zip(encoded, kinds, strict=True) if of == kind] for kind in BURST_KINDS)
    return [bursts.run(kind, some, None) for kind, some in zip(BURST_KINDS, chosen, strict=True) if some]


def made_by(workers: int, runs: Sequence[BurstRun]) -> Callable[[], list[list[Outcome | int]]]:
    """Return a call that makes runs on so many cores, in pieces."""

    def make() -> list[list[Outcome | int]]:
        pieces = [
            run.bursts.run(run.kind, run.encoded[first::workers], None) for run in runs for first in range(workers)
        ]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda piece: piece.make(), pieces))

    return make


def all_of(batch: CardBatch, runs: Sequence[BurstRun]) -> list[Outcome | int]:
    """Return what a card finds of points."""
    return [outcome for run in runs for outcome in batch.make(run)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A network's mappings, and what a processor makes of them: M firings/s on one core and on all, all outcomes."""

    bursts: Bursts
    n_firings: int
    encoded: list[EncodedPoint]
    expected: list[Outcome | int]
    one: float
    every: float


def on_processor(name: str, args: argparse.Namespace, most: int) -> Prepared:
    """Draw mappings of a network, let the processor make them, and print its line."""
    problem, points = points_of(name, args.firings, most)
    engine, n = CompiledEngine(problem), problem.trace.n_firings
    bursts = bursts_of(engine.packed)
    assert bursts is not None, "these networks suit the burst kernels"
    begun = time.perf_counter()
    encoded = [engine.encoder.encode(point) for point in points]
    encoding = (time.perf_counter() - begun) / len(points)
    few, some = runs_of(bursts, encoded[:FEW]), runs_of(bursts, encoded[: FEW * args.workers])
    one = n * min(FEW, len(encoded)) / best_seconds(lambda: [run.make() for run in few])
    every = n * min(FEW * args.workers, len(encoded)) / best_seconds(made_by(args.workers, some), time.perf_counter)
    print(
        f"{name} ({', '.join(run.kind for run in some)}): {n} firings, {1e6 * encoding:.0f} us to encode a mapping;"
        f" M firings/s: one core {1e-6 * one:.1f}, {args.workers} workers {1e-6 * every:.1f}",
        flush=True,
    )
    expected = [outcome for run in runs_of(bursts, encoded) for outcome in run.make()]
    return Prepared(bursts=bursts, n_firings=n, encoded=encoded, expected=expected, one=1e-6 * one, every=1e-6 * every)


def compare(prepared: Prepared, batch: CardBatch, size: int) -> str:
    """Return what a card makes of so many mappings, beside the processor."""
    runs, firings = runs_of(prepared.bursts, prepared.encoded[:size]), 1e-6 * prepared.n_firings * size
    if size == len(prepared.encoded):
        assert all_of(batch, runs) == prepared.expected, "the card finds something else"
    whole = best_seconds(functools.partial(all_of, batch, runs), time.perf_counter)
    kernel = firings / sum(batch.kernel_seconds(run, REPEATS) for run in runs)
    return (
        f"at once {batch.at_once(runs[0].kind):6} mappings {size:6}: {kernel:8.1f} M firings/s,"
        f" {kernel / prepared.one:5.1f} times one core, {kernel / prepared.every:5.2f} times all;"
        f" call {1e3 * whole:7.1f} ms, {firings / whole / prepared.one:5.1f} times one core"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--points", default=POINTS)
    parser.add_argument("--firings", type=int, default=FIRINGS)
    parser.add_argument("--spread", default=str(DEFAULT_SHAPE.spread))
    parser.add_argument("--registers", default=str(DEFAULT_SHAPE.most_registers))
    parser.add_argument("--block", type=int, default=DEFAULT_SHAPE.block)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args(words)
    try:
        card = Card()
    except CardError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{card.name}, {card.n_processors} multiprocessors, compute capability {card.capability / 10}")
    sizes = [int(number) for number in args.points.split(",")]
    for name in args.networks:
        prepared = on_processor(name, args, max(sizes))
        for spread, registers in itertools.product(args.spread.split(","), args.registers.split(",")):
            shape = LaunchShape(spread=int(spread), block=args.block, most_registers=int(registers))
            batch = CardBatch(card, prepared.bursts, shape)
            for size in sizes:
                print(f"  spread {spread:>2} registers {registers:>3} {compare(prepared, batch, size)}", flush=True)
            batch.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
