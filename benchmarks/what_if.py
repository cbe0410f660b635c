"""What-if analyses and draws of weights a second, on the pipelines of ``benchmarks.engine``.

``python -m benchmarks.what_if [--workers N]`` prints a table. The what-if case has 100 actions, in 50 actors on 4
partitions; draws are counted for each mapping that is simulated. Nothing is asserted.
"""

import argparse
import os
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.engine import design_point, pipeline, weights
from dse.analyse.cost_errors import cost_errors
from dse.analyse.uncertainty import DrawOptions, drawn_makespans
from dse.analyse.what_if import Laboratory, what_if
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.uncertainty import StatedError

PLATFORM = Platform(name="bench", units=(Unit(name="cpu", kind="cpu", cores=64, clock_mhz=Fraction(2900)),))
STATED = (StatedError(origin="measured", own=0.1),)


def synthetic(actors: int, firings: int, *, own_costs: bool = False) -> Problem:
    """Return a pipeline with weights, and where asked for with a cost of its own for each firing."""
    trace = pipeline(actors, firings, 1)
    problem = Problem(trace=trace, weights=weights(trace), platform=PLATFORM)
    if not own_costs:
        return problem
    rng = np.random.default_rng(1)
    deviations = tuple(rng.integers(-20_000, 20_000, len(ids)) for ids in trace.firings)
    return replace(problem, deviations=deviations)


def analysed(firings: int, workers: int) -> str:
    """Return what an analysis of 100 actions takes."""
    problem = synthetic(50, firings)
    engine, point = make_engine("compiled", problem), design_point(problem.trace, 4)
    point = replace(point, capacities=(4,) * len(point.capacities))
    started = time.perf_counter()
    found = what_if(Laboratory(engine, build_tables(problem), point, workers))
    seconds = time.perf_counter() - started
    return f"{len(found.singles)} single changes, {len(found.pairs)} pairs: {seconds:.2f} s"


def drawn(firings: int, workers: int, draws: int, *, own_costs: bool = False) -> str:
    """Return how many simulations a second are made under drawn weights."""
    problem = synthetic(10, firings, own_costs=own_costs)
    engine, tables = make_engine("compiled", problem), build_tables(problem)
    points = [design_point(problem.trace, 4, np.random.default_rng(seed)) for seed in range(5)]
    errors = cost_errors(tables, STATED)
    started = time.perf_counter()
    drawn_makespans(engine, tables, points, errors, DrawOptions(draws=draws, workers=workers))
    seconds = time.perf_counter() - started
    return f"{draws * len(points) / seconds:,.0f} draws/s"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    workers = parser.parse_args().workers
    drawn(1000, workers, 64)  # the engine is compiled
    print(f"what if, 100 actions, 10 k firings    {analysed(10_000, workers)}")
    print(f"what if, 100 actions, 100 k firings   {analysed(100_000, workers)}")
    for firings, draws in ((3_000, 2000), (100_000, 100)):
        print(f"means drawn, {firings:,} firings           {drawn(firings, workers, draws)}")
        print(f"every firing drawn, {firings:,} firings    {drawn(firings, workers, draws // 2, own_costs=True)}")


if __name__ == "__main__":
    main()
