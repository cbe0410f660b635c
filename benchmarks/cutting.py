"""What searches gain when a simulation stops once its point cannot be among the best: both ways in one run.

``python -m benchmarks.cutting`` prints a table. Each method gets the same budget of evaluations with and without; the
rankings are compared (``same``), and the best of a few runs counts, because the machine may be busy.
"""

import argparse
import time

import numpy as np

from benchmarks.engine import bench
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator, Progress
from dse.explore.mapping_bound import MappingBound
from dse.explore.method import SearchContext, SearchMethod, Traffic
from dse.explore.methods.registry import METHODS
from dse.explore.search import ranked, run_search
from dse.explore.space.build import build_space
from dse.explore.space.space import Space, SpaceOptions
from dse.flows.capacities import read_capacities
from dse.flows.defaults import cpu_only_actors
from dse.flows.options import ProblemOptions
from dse.flows.program import unheard
from dse.flows.setting import load_setting
from dse.model.problem import Problem
from dse.model.study import Evaluation

KEEP = 10
METHOD_NAMES = ("random", "exhaustive", "local-search", "idle", "annealing", "branch-and-bound", "portfolio", "tabu")


class NoStore:
    """Keeps nothing."""

    def known(self) -> dict[str, Evaluation]:
        """Return nothing."""
        return {}

    def add(self, evaluation: Evaluation) -> None:
        """Forget it."""

    def commit(self) -> None:
        """Do nothing."""


def ignored(_: Progress) -> None:
    """Watch nothing."""


def cases() -> list[tuple[str, Problem, Space]]:
    """Return a synthetic pipeline and the JPEG decoder, each with its space."""
    case = bench(12, 4, 120_000)
    options = SpaceOptions(capacities=(case.point.capacities,))
    pipeline = build_space(case.problem.trace.topology, case.problem.platform, options)
    setting = load_setting(ProblemOptions(program="actors/jpeg/jpeg.xdf", missing_weights="nominal"), unheard)
    options = SpaceOptions(capacities=(read_capacities("", setting).tokens,))
    cpu_only = cpu_only_actors(setting.tables, setting.network).actors
    jpeg = build_space(setting.trace.topology, setting.platform, options, cpu_only=cpu_only)
    return [("pipeline of 12 actors", case.problem, pipeline), ("jpeg", setting.problem, jpeg)]


def search(
    name: str, problem: Problem, space: Space, bound: MappingBound, *, evaluations: int, cut: bool
) -> tuple[float, list[Evaluation]]:
    """Return the seconds of a search, and its evaluations."""
    context = SearchContext(
        space=space,
        rng=np.random.default_rng(1),
        loads=bound.unit_loads,
        bounds=bound.of,
        keep=KEEP,
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=1, port=b.source_port)
            for b in problem.trace.topology.buffers
        ),
        placement=bound.placement(0),
    )
    method: SearchMethod = METHODS.load(name)(context)
    estimator = ThreadEstimator(make_engine("compiled", problem), 1, problem.trace.n_firings)
    evaluator = Evaluator(
        estimator,
        budget=Budget(evaluations=evaluations),
        store=NoStore(),
        clock=time.perf_counter,
        progress=ignored,
        cutting=Cutting(keep=KEEP) if cut else None,
    )
    begin = time.perf_counter()
    run_search(method, evaluator, None)
    return time.perf_counter() - begin, evaluator.evaluations


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="what stopping simulations early gains a search")
    parser.add_argument("--evaluations", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args()
    print("| network | method | evaluations | cut | evaluations/s without | with | gain | same |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for network, problem, space in cases():
        bound = MappingBound(build_tables(problem), space)
        for name in METHOD_NAMES:
            seconds, tops, cut = [1e9, 1e9], [[], []], 0  # type: ignore[var-annotated]
            for _ in range(args.repeats):
                for way in (0, 1):
                    spent, found = search(name, problem, space, bound, evaluations=args.evaluations, cut=bool(way))
                    seconds[way] = min(seconds[way], spent)
                    tops[way] = [(e.digest, e.makespan) for e in ranked(found)[:KEEP]]
                    cut = sum(e.cut for e in found)
            rates = [len(found) / spent for spent in seconds]
            same = "yes" if tops[0] == tops[1] else "NO"
            print(
                f"| {network} | `{name}` | {len(found)} | {cut} | {rates[0]:,.0f} | {rates[1]:,.0f} | "
                f"{rates[1] / rates[0]:.1f}x | {same} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
