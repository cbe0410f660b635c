"""All search methods on our applications and on generated networks, at equal budgets: one JSON line a run.

``python -m benchmarks.search.compare --out results.jsonl`` goes on where an earlier call stopped;
A table and a plot of the results are still to be made. Every run has a limit of
evaluations and one of seconds; a run that the clock ended says so, for it depends on the machine.
"""

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.search.networks import RECIPES, Case, case_of
from dse.estimate.bounds import Bounds
from dse.estimate.engine import make_engine
from dse.estimate.tables import build_tables
from dse.explore.evaluator import Budget, Evaluator
from dse.explore.mapping_bound import MappingBound, fastest_rows
from dse.explore.method import METHODS, SearchContext, SearchMethod, Traffic, choose_method
from dse.explore.search import run_search
from dse.explore.space import SpaceOptions, build_space
from dse.flows.defaults import cpu_only_actors
from dse.flows.options import ProblemOptions
from dse.flows.program import load_setting, read_capacities, unheard
from dse.model.study import Evaluation

APPLICATIONS = {
    "pingpong": "actors/pingpong/pingpong.xdf",
    "jpeg": "actors/jpeg/jpeg.xdf",
    "smith_waterman": "actors/smith_waterman/smith_waterman.xdf",
}
EXHAUSTED = 20_000
"""Spaces below are estimated whole, without any bound: the truth that ``auto`` is held against."""
Result: TypeAlias = dict[str, object]


class NoStore:
    """Keeps nothing."""

    def known(self) -> dict[str, Evaluation]:
        """Return nothing."""
        return {}

    def add(self, evaluation: Evaluation) -> None:
        """Forget it."""

    def commit(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One search. ``method``: a name, ``auto`` or ``whole`` (every point). ``role``: what it is for in the table."""

    network: str
    method: str
    seed: int
    evaluations: int | None
    seconds: float | None
    role: str

    @property
    def key(self) -> str:
        """The identity of the run in the results."""
        return f"{self.network} {self.method} {self.seed} {self.evaluations} {self.role}"


@lru_cache(maxsize=2)
def load(name: str) -> Case:
    """Return a generated network or an application by name."""
    recipe = next((r for r in RECIPES if r.name == name), None)
    return case_of(recipe) if recipe else application(APPLICATIONS[name])


def application(program: str) -> Case:
    """Return an application on the default platform."""
    setting = load_setting(ProblemOptions(program=program, missing_weights="nominal"), unheard)
    options = SpaceOptions(capacities=(read_capacities("", setting).tokens,))
    cpu_only = cpu_only_actors(setting.tables, setting.network).actors
    space = build_space(setting.trace.topology, setting.platform, options, cpu_only=cpu_only)
    return Case(name=setting.trace.topology.name, problem=setting.problem, space=space)


def context_of(case: Case, seed: int) -> SearchContext:
    """Return what ``dse explore`` would tell a method."""
    tables, space = build_tables(case.problem), case.space
    bound, least = MappingBound(tables, space), least_of(case)
    edges, trace = case.problem.trace.topology.buffers, case.problem.trace
    written = [
        sum(
            trace.topology.actors[b.source].actions[x].writes[b.source_port] * int(n)
            for x, n in _counts(case, b.source)
        )
        for b in edges
    ]
    return SearchContext(
        space=space, rng=np.random.default_rng(seed), loads=bound.unit_loads, keep=1,
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=n, port=b.source_port)
            for b, n in zip(edges, written, strict=True)
        ),
        bounds=lambda candidates: [max(least, own) for own in bound.of(candidates)],
        placement=bound.placement(least),
    )  # fmt: skip


def _counts(case: Case, actor: int) -> Iterator[tuple[int, int]]:
    return enumerate(np.bincount(case.problem.trace.firings[actor]).tolist())


def least_of(case: Case) -> int:
    """Return a makespan that no point of the space can beat."""
    space, tables = case.space, build_tables(case.problem)
    row_of = fastest_rows(tables, space)
    rows = [sorted({row_of[u] for u in units}) for units in space.allowed]
    found = Bounds(tables).of_any_point(
        cores=min(space.most, space.n_actors), transfers=space.options.transfers, rows=rows
    )
    return max(found.work, found.heaviest_actor, found.critical_path)


def search(case: Case, run: Run) -> Result:
    """Run one search and return its result line; ``curve``: (evaluations, makespan) of each improvement."""
    name = choose_method(case.space)[0] if run.method == "auto" else run.method
    engine = make_engine("compiled", case.problem)
    method: SearchMethod = METHODS.load(name)(context_of(case, run.seed))
    evaluator = Evaluator(
        lambda points, _: map(engine.estimate, points), store=NoStore(), clock=time.perf_counter,
        budget=Budget(evaluations=run.evaluations, seconds=run.seconds), progress=unheard,
    )  # fmt: skip
    outcome = run_search(method, evaluator, None)
    curve: list[tuple[int, int]] = []
    for count, e in enumerate(evaluator.evaluations, 1):
        if not e.deadlock and (not curve or e.makespan < curve[-1][1]):
            curve.append((count, e.makespan))
    return {
        "curve": curve, "stop": outcome.stop, "seconds": round(evaluator.seconds, 3), "used": name,
        "made": len(evaluator.evaluations), "proven": bool(method.exact and outcome.stop == "complete"),
        "bound": max(method.proven, least_of(case)),
    }  # fmt: skip


def whole(case: Case) -> Result:
    """Estimate every point of the space."""
    engine, begin = make_engine("compiled", case.problem), time.perf_counter()
    estimates = (engine.estimate(case.space.to_point(c)) for c in case.space.candidates())
    best = min(e.makespan for e in estimates if e.deadlock is None)
    seconds = round(time.perf_counter() - begin, 3)
    return {
        "curve": [(case.space.size, best)], "stop": "complete", "seconds": seconds, "used": "whole",
        "made": case.space.size, "proven": True, "bound": best,
    }  # fmt: skip


def perform(run: Run) -> Result:
    """Perform a run; a failure is a result too, and is shown."""
    case = load(run.network)
    result: Result = {
        "key": run.key, "network": run.network, "method": run.method, "seed": run.seed, "role": run.role,
        "size": str(case.space.size), "budget": run.evaluations,
    }  # fmt: skip
    try:
        return result | (whole(case) if run.method == "whole" else search(case, run))
    except Exception as error:  # the comparison goes on, and the table names what failed
        return result | {"error": f"{type(error).__name__}: {error}"}


def runs_of(network: str, args: argparse.Namespace) -> list[Run]:
    """Return all runs on a network: the truth or a long reference, every method, and a proof of large spaces."""
    size, found = load(network).space.size, list[Run]()

    def add(method: str, seed: int, evaluations: int | None, seconds: float | None, role: str) -> None:
        found.append(
            Run(network=network, method=method, seed=seed, evaluations=evaluations, seconds=seconds, role=role)
        )

    if size < EXHAUSTED:
        add("whole", 0, None, None, "truth")
        add("auto", 1, None, None, "optimum")
    else:
        add("portfolio", 99, 5 * args.evaluations, 5 * args.seconds, "reference")
    if size > 10**6:
        add("branch-and-bound", 1, None, 3 * args.seconds, "proof")
    for method in (*METHODS.names(), "auto"):
        for seed in range(1, args.seeds + 1):
            add(method, seed, args.evaluations, args.seconds, "compared")
    return found


def yardstick() -> None:
    """Print how long all 1024 CPU/GPU mappings of smith_waterman take for each of two buffer sizes."""
    options = ProblemOptions(
        program=APPLICATIONS["smith_waterman"], platform="configs/platforms/desktop-gtx1660s.yaml",
        missing_weights="nominal",
    )  # fmt: skip
    setting = load_setting(options, unheard)
    units = tuple(replace(u, cores=1) for u in setting.platform.units)
    problem = replace(setting.problem, platform=replace(setting.platform, units=units))
    engine = make_engine("compiled", problem)
    for size in ("512", "4096"):
        capacities = (read_capacities(size, setting).tokens,)
        chosen = SpaceOptions(capacities=capacities, pins=(("source", "cpu"),))
        space = build_space(setting.trace.topology, problem.platform, chosen)
        begin = time.perf_counter()
        estimates = [engine.estimate(space.to_point(c)) for c in space.candidates()]
        seconds = time.perf_counter() - begin
        best = min((e.makespan for e in estimates if e.deadlock is None), default=None)
        print(f"yardstick: {len(estimates)} mappings, buffers of {size}: {seconds:.1f} s, best {best} ticks,")
        print(f"  {setting.trace.n_firings} firings each, {sum(e.deadlock is not None for e in estimates)} deadlocks")


def main() -> None:
    """Perform what is missing in the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("search-results.jsonl"))
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="four networks, 100 evaluations, one seed")
    parser.add_argument("--yardstick", action="store_true", help="only all 1024 mappings of smith_waterman, twice")
    args = parser.parse_args()
    if args.yardstick:
        yardstick()
        return
    if args.quick:
        args.evaluations, args.seeds, args.seconds = 100, 1, 1.0
    networks = [*(r.name for r in RECIPES), *APPLICATIONS]
    networks = networks[:4] if args.quick else networks
    done = {json.loads(line)["key"] for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        open_runs = [run for network in networks for run in runs_of(network, args) if run.key not in done]
        for future in as_completed([pool.submit(perform, run) for run in open_runs]):
            out.write(json.dumps(future.result()) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
