"""All search methods on our applications and on generated networks, at equal budgets: one JSON line a run.

``python -m benchmarks.search.compare --out FILE`` goes on where an earlier call stopped, then
``python -m benchmarks.search.plot FILE`` writes the page, the picture and the best known makespans.

Budgets are evaluations, so that a slow or busy machine finds the same. A method that thinks for long without an
evaluation is stopped by the number of its pauses; only the solver of ``integer-program`` is stopped by a clock.
"""

import argparse
import itertools
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from benchmarks.search.networks import JUDGED, RECIPES, Case, case_of
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Evaluator
from dse.explore.mapping_bound import MappingBound, allowed_rows_of, most_room
from dse.explore.method import SearchContext, SearchMethod
from dse.explore.methods.choose import choose_method
from dse.explore.methods.exact.unit_program import unit_bound
from dse.explore.methods.registry import METHODS
from dse.explore.space.build import build_space
from dse.explore.space.merged import merged_space
from dse.explore.space.space import SpaceOptions
from dse.flows.capacities import read_capacities
from dse.flows.defaults import cpu_only_actors, default_budget
from dse.flows.options import ProblemOptions
from dse.flows.program import unheard
from dse.flows.search.method import bounded_context
from dse.flows.setting import load_setting
from dse.model.study import Evaluation, StopReason

PROGRAMS = {name: f"actors/{name}/{name}.xdf" for name in ("pingpong", "jpeg", "smith_waterman", "matrix")}
GPU_PLATFORM = "configs/platforms/desktop-gtx1660s.yaml"
APPLICATIONS = (
    "pingpong-4",
    "jpeg-2",
    "jpeg-4",
    "jpeg-8",
    "jpeg-4g",
    "matrix-4",
    "matrix-4g",
    "smith_waterman-2",
    "smith_waterman-4",
    "smith_waterman-8",
    "smith_waterman-4g",
)
"""Program, cores of the default platform, and g where the platform has the GPU too."""
EXHAUSTED = 20_000
"""Spaces below are estimated whole, without any bound: the truth that ``auto`` is held against."""
PROVABLE = 10**11
"""Spaces below are given to branch and bound for a proof."""
PAUSES = 400
"""So many times a method may ask for nothing in a run; branch and bound looks at 500 branches in between."""
CLOCKED = ("integer-program",)
SEEDLESS = (
    "exhaustive",
    "branch-and-bound",
    "integer-program",
    "greedy",
    "workload-balance",
    "balanced-pipeline",
    "kernighan-lin",
    "round-robin",
)
"""Methods that draw nothing: every seed gives the same."""
SOLVER_SECONDS = 5.0
PROOF_EVALUATIONS = 50_000
HUGE = 100
"""Networks of so many actors take most of the time."""
ROLES = ("truth", "optimum", "compared", "proof", "default", "long")
"""In this order they are performed, so that a run that is stopped early has the table."""
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
    """One search. ``method``: a name, ``auto`` or ``whole`` (every point). ``role``: what it is for in the table.

    Roles: ``truth``, every point. ``optimum``, ``auto`` without a limit. ``compared``, all methods at equal budgets.
    ``default``, ``auto`` with the budget that ``dse explore`` gives it. ``long`` and ``proof``, for the best known.
    """

    network: str
    method: str
    seed: int
    evaluations: int | None
    role: str

    @property
    def key(self) -> str:
        """The identity of the run in the results."""
        return f"{self.network} {self.method} {self.seed} {self.evaluations} {self.role}"


@lru_cache(maxsize=64)
def load(name: str) -> Case:
    """Return a generated network or an application by name."""
    recipe = next((r for r in (*RECIPES, *JUDGED) if r.name == name), None)
    return case_of(recipe) if recipe else application(name)


def application(name: str) -> Case:
    """Return an application with its own trace and the weights that ``dse explore`` takes, on the cores of its name."""
    program, size = name.rsplit("-", 1)
    options = ProblemOptions(program=PROGRAMS[program], platform=GPU_PLATFORM if size.endswith("g") else None)
    setting = load_setting(options, unheard)
    cores = int(size.removesuffix("g"))
    units = tuple(replace(u, cores=cores) if u.kind == "cpu" else u for u in setting.platform.units)
    platform = replace(setting.platform, units=units)
    chosen = SpaceOptions(capacities=(read_capacities("", setting).tokens,))
    cpu_only = cpu_only_actors(setting.tables, setting.network).actors
    problem = replace(setting.problem, platform=platform)
    space = build_space(setting.trace.topology, platform, chosen, cpu_only=cpu_only)
    return Case(name=name, problem=problem, space=merged_space(space, build_tables(problem)))


def context_of(case: Case, seed: int) -> SearchContext:
    """Return what ``dse explore`` would tell a method."""
    tables, space = build_tables(case.problem), case.space
    bound = MappingBound(tables, space)
    least = least_of(case, bound)
    return bounded_context(case.problem.trace, space, bound, seed, keep=1, least=least)


def least_of(case: Case, given: MappingBound | None = None) -> int:
    """Return a makespan that no point of the space can beat; ``given``: its bounds where they have been built."""
    space, tables = case.space, build_tables(case.problem)
    rows = allowed_rows_of(tables, space)
    bound = given or MappingBound(tables, space, paths=False)
    found = bound.of_trace.of_any_point(
        cores=min(space.most, space.n_actors), transfers=space.options.transfers, rows=rows, room=most_room(space)
    )
    return unit_bound(tables, space, bound, found.makespan)


def search(case: Case, run: Run) -> Result:
    """Run one search and return its result line; ``curve``: (evaluations, makespan) of each improvement."""
    name = choose_method(case.space)[0] if run.method == "auto" else run.method
    engine = make_engine("compiled", case.problem)
    seconds = SOLVER_SECONDS if name in CLOCKED else None
    begin = time.perf_counter()
    method: SearchMethod = METHODS.load(name)(context_of(case, run.seed))
    evaluator = Evaluator(
        lambda points, _: iter(engine.outcomes(points)),
        store=NoStore(),
        clock=time.perf_counter,
        budget=Budget(evaluations=run.evaluations, seconds=seconds),
        progress=unheard,
    )
    stop = _searched(method, evaluator)
    return {
        "curve": curve_of(evaluator.evaluations),
        "stop": stop,
        "seconds": round(time.perf_counter() - begin, 3),
        "used": name,
        "made": len(evaluator.evaluations),
        "pruned": str(method.pruned),
        "proven": bool(method.exact and stop == "complete"),
        "bound": max(method.proven, least_of(case)),
    }


def curve_of(evaluations: Sequence[Evaluation]) -> list[tuple[int, int]]:
    """Return (evaluations, makespan) of each improvement."""
    curve: list[tuple[int, int]] = []
    for count, e in enumerate(evaluations, 1):
        if not e.deadlock and (not curve or e.makespan < curve[-1][1]):
            curve.append((count, e.makespan))
    return curve


def _searched(method: SearchMethod, evaluator: Evaluator) -> StopReason | str:
    """Run a search to its end, as ``dse.explore.search`` does, or until it has paused too often."""
    pauses = 0
    while not method.done:
        points = method.ask(BATCH)
        pauses += not points
        method.tell(evaluator.evaluate(points))
        if evaluator.stop is not None and (points or not method.done):
            return evaluator.stop
        if pauses > PAUSES:
            return "pauses"
    return "complete"


def whole(case: Case) -> Result:
    """Estimate every point of the space."""
    engine, begin = make_engine("compiled", case.problem), time.perf_counter()
    estimates = (engine.estimate(case.space.to_point(c)) for c in case.space.candidates())
    best = min(e.makespan for e in estimates if e.deadlock is None)
    seconds = round(time.perf_counter() - begin, 3)
    return {
        "curve": [(case.space.size, best)],
        "stop": "complete",
        "seconds": seconds,
        "used": "whole",
        "made": case.space.size,
        "pruned": "0",
        "proven": True,
        "bound": best,
    }


def perform(run: Run) -> Result:
    """Perform a run; a failure is a result too, and is shown."""
    case = load(run.network)
    result: Result = {
        "key": run.key,
        "network": run.network,
        "method": run.method,
        "seed": run.seed,
        "role": run.role,
        "actors": case.space.n_actors,
        "firings": case.problem.trace.n_firings,
        "size": str(case.space.size),
        "placements": str(case.space.placements),
        "budget": run.evaluations,
    }
    try:
        return result | (whole(case) if run.method == "whole" else search(case, run))
    except Exception as error:  # the comparison goes on, and the table names what failed
        return result | {"error": f"{type(error).__name__}: {error}"}


def runs_of(network: str, args: argparse.Namespace) -> list[Run]:
    """Return all runs on a network: the truth or what stands in for it, then every method."""
    case = load(network)
    size, found = case.space.size, list[Run]()

    def add(method: str, seed: int, evaluations: int | None, role: str) -> None:
        found.append(Run(network=network, method=method, seed=seed, evaluations=evaluations, role=role))

    seeds = range(1, args.seeds + 1)
    usual = default_budget("compiled", case.problem.trace.n_firings, case.space.n_actors).evaluations
    if size < EXHAUSTED:
        add("whole", 0, None, "truth")
        add("auto", 1, None, "optimum")
    else:
        assert usual is not None, "the default budget is a number of evaluations"
        add("iterated-search", 99, min(2 * usual, args.long), "long")
        for seed in seeds:
            add("auto", seed, min(usual, args.long), "default")
        if size < PROVABLE:
            add("branch-and-bound", 1, PROOF_EVALUATIONS, "proof")
    for method in (*METHODS.names(), "auto"):
        for seed in seeds[:1] if size < EXHAUSTED or method in SEEDLESS else seeds:
            add(method, seed, args.evaluations, "compared")
    return found


def yardstick() -> list[str]:
    """Return how long all 1024 CPU/GPU mappings of smith_waterman take for each of two buffer sizes, in words."""
    options = ProblemOptions(program=PROGRAMS["smith_waterman"], platform=GPU_PLATFORM)
    setting = load_setting(options, unheard)
    units = tuple(replace(u, cores=1) for u in setting.platform.units)
    problem = replace(setting.problem, platform=replace(setting.platform, units=units))
    engine, found = make_engine("compiled", problem), list[str]()
    for size in ("512", "4096"):
        capacities = (read_capacities(size, setting).tokens,)
        chosen = SpaceOptions(capacities=capacities, pins=(("source", "cpu"),))
        space = build_space(setting.trace.topology, problem.platform, chosen)
        begin = time.perf_counter()
        estimates = [engine.estimate(space.to_point(c)) for c in space.candidates()]
        seconds = time.perf_counter() - begin
        best = min((e.makespan for e in estimates if e.deadlock is None), default=None)
        dead = sum(e.deadlock is not None for e in estimates)
        what = f"{len(estimates)} mappings of {setting.trace.n_firings} firings, buffers of {size} tokens"
        found.append(f"{what}: {seconds:.1f} s, best {best} ticks, {dead} deadlocks")
    return found


def _order(run: Run) -> tuple[int, int, bool]:
    """Return the key of the order of runs: by role, every seed of ``auto`` once before the next, huge networks last."""
    huge = load(run.network).space.n_actors >= HUGE
    return ROLES.index(run.role), run.seed if run.role == "default" else 0, huge


def main() -> None:
    """Perform what is missing in the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("search-results.jsonl"))
    parser.add_argument("--evaluations", type=int, default=300)
    parser.add_argument(
        "--long", type=int, default=120_000, help="most evaluations of the long run, which has twice the default budget"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="four networks, 100 evaluations, one seed")
    parser.add_argument("--yardstick", action="store_true", help="only all 1024 mappings of smith_waterman, twice")
    args = parser.parse_args()
    if args.yardstick:
        print("\n".join(yardstick()))
    else:
        perform_missing(args)


def _done(results: Path) -> set[str]:
    """Return the keys of the runs in a file of results."""
    return {json.loads(line)["key"] for line in results.read_text().splitlines()} if results.exists() else set()


def perform_missing(args: argparse.Namespace) -> None:
    """Perform the runs that the results lack."""
    networks = [*APPLICATIONS, *(r.name for r in RECIPES)]
    if args.quick:
        args.evaluations, args.long, args.seeds = 100, 300, 1
        networks = ["pingpong-4", "jpeg-4", "tree-6x3g", "split-join-12x4"]
    done = _done(args.out)
    runs = itertools.chain.from_iterable(runs_of(network, args) for network in networks)
    open_runs = sorted((run for run in runs if run.key not in done), key=_order)
    with ProcessPoolExecutor(args.jobs, initializer=os.nice, initargs=(5,)) as pool, args.out.open("a") as out:
        for future in as_completed([pool.submit(perform, run) for run in open_runs]):
            out.write(json.dumps(future.result()) + "\n")
            out.flush()
        if "yardstick" not in done and not args.quick:
            out.write(json.dumps({"key": "yardstick", "role": "yardstick", "lines": yardstick()}) + "\n")


if __name__ == "__main__":
    main()
