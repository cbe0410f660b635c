"""The burst kernels against the general one on generated networks: wide ones, and such whose bus to a GPU is shared.

``python -m benchmarks.kernels [SHAPE-ACTORSxCORES[g] ...] [--firings N] [--search SECONDS]`` prints nanoseconds of
processor time a firing of each, in random mappings and where neighbours share a core; with a GPU (g), in mappings
that a search has found, and how many of all that it simulated ask its bus. ``--firings``: of an actor, about. With
``--search``, for each network with a GPU also two searches by ``portfolio`` of so many seconds of processor time, one
with bursts and one without: evaluations a second, and how far the best makespan of the search in the general kernel is
above the other's.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.search.compare import NoStore, context_of
from benchmarks.search.large_networks import recipe_of
from benchmarks.search.networks import Case, case_of
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.registry import METHODS
from dse.explore.space.space import Candidate
from dse.flows.program import unheard
from dse.flows.search.method import KEPT
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from dse.model.study import Evaluation

METHOD = "portfolio"
MOST_EVALUATIONS = 10_000_000
NETWORKS = tuple(
    f"{shape}-{size}" for shape in ("pipeline", "irregular") for size in ("60x8", "200x64", "1000x16", "5000x64")
) + tuple(f"{shape}-{size}" for shape in ("pipeline", "tree", "irregular") for size in ("16x4g", "60x8g"))
FIRINGS_OF_ACTOR = 40
LOOKED_AT = 500
"""Evaluations of the search whose last mappings are measured."""
N_FOUND = 5
SEEDS = 1, 2, 3
LEAST_SECONDS = 0.15


def best_seconds(call: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> float:
    """Return the least time of a call: of the processor in this thread, or by another clock."""
    call()
    found = list[float]()
    while len(found) < 3 or sum(found) < LEAST_SECONDS:
        begin = clock()
        call()
        found.append(clock() - begin)
    return min(found)


class GeneralEngine(CompiledEngine):
    """An engine that makes no outcome in bursts."""

    def _in_bursts(
        self,
        encoded: Sequence[EncodedPoint],  # noqa: ARG002  (what it takes no notice of)
        limit: int | None,  # noqa: ARG002
    ) -> dict[int, Outcome | None]:
        return {}


def search(
    context: SearchContext, engine: CompiledEngine, *, seconds: float | None = None, most: int = MOST_EVALUATIONS
) -> tuple[float, list[Evaluation]]:
    """Search until the budget is spent, or all is known; return the evaluations a second, and what was estimated."""
    begun = time.process_time()
    evaluator = Evaluator(
        lambda points, limit: iter(engine.outcomes(points, limit)),
        budget=Budget(evaluations=most, seconds=seconds),
        store=NoStore(),
        clock=time.process_time,
        progress=unheard,
        cutting=Cutting(keep=KEPT),
    )
    method = METHODS.load(METHOD)(context)
    while not method.done and evaluator.stop is None:
        method.tell(evaluator.evaluate(method.ask(BATCH), method.ceiling))
    made = len(evaluator.evaluations) / (time.process_time() - begun)
    return made, [e for e in evaluator.evaluations if not (e.deadlock or e.cut)]


def line(case: Case, what: str, points: Sequence[DesignPoint]) -> str:
    """Return the line of some mappings, all of one kind: medians of the nanoseconds, and of their ratio."""
    engine, ns, found = CompiledEngine(case.problem), 1e9 / case.problem.trace.n_firings, list[tuple[float, float]]()
    bursts = engine._bursts()
    assert bursts is not None, "`make setup` compiles it"
    for point in points:
        encoded = [engine.encoder.encode(point)]
        kind = bursts.kernel_of(encoded[0])
        if kind is None or (kind == "still" and case.problem.platform.has_gpu):
            continue  # of a network with a GPU what asks its link is measured
        run = bursts.run(kind, encoded, None)
        assert run.make() == engine._general(encoded, None)
        general = best_seconds(lambda one=encoded: engine._general(one, None))
        found.append((ns * best_seconds(run.make), ns * general))
    if not found:
        return f"{case.name:20} {what:10} none asks a link"
    burst, general, ratio = (statistics.median(x) for x in zip(*((b, g, b / g) for b, g in found), strict=True))
    return f"{case.name:20} {what:10} burst {burst:6.1f} ns  general {general:6.1f} ns  {ratio:.2f}"


def compare_searches(case: Case, seed: int, seconds: float) -> str:
    """Return the line of two searches."""
    made, in_bursts = search(context_of(case, seed), CompiledEngine(case.problem), seconds=seconds)
    made_generally, generally = search(context_of(case, seed), GeneralEngine(case.problem), seconds=seconds)
    best, best_generally = (min(e.makespan for e in some) for some in (in_bursts, generally))
    gap = 100 * (best_generally / best - 1)
    return (
        f"{case.name:20} seed {seed}: {made:7.0f} evaluations/s in bursts, {made_generally:7.0f} in the general kernel"
        f" ({made / made_generally:.2f} times as many); best of the general one {gap:+.2f} % above"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--firings", type=int, default=FIRINGS_OF_ACTOR)
    parser.add_argument("--search", type=float, metavar="SECONDS", help="compare searches too")
    args = parser.parse_args()
    for name in args.networks:
        recipe = recipe_of(name)
        case, n = case_of(recipe, args.firings * recipe.actors), recipe.actors
        random = case.space.random_assignment(np.random.default_rng(3))
        print(line(case, "random", [case.space.to_point(Candidate(assignment=random))]), flush=True)
        if not recipe.gpu:
            neighbours = Candidate(assignment=tuple(actor * recipe.cores // n for actor in range(n)))
            print(line(case, "neighbours", [case.space.to_point(neighbours)]), flush=True)
            continue
        engine = CompiledEngine(case.problem)
        _, found = search(context_of(case, SEEDS[0]), engine, most=LOOKED_AT)
        best = sorted(found, key=lambda e: e.makespan)[:N_FOUND]
        print(line(case, "found", [e.point for e in best]), end="", flush=True)
        bursts = engine._bursts()
        assert bursts is not None, "`make setup` compiles it"
        asking = sum(bursts.kernel_of(engine.encoder.encode(e.point)) == "linked" for e in found)
        print(f"; {100 * asking / len(found):.0f} % of what the search simulated to its end asks the link", flush=True)
        for seed in SEEDS if args.search else ():
            print(compare_searches(case, seed, args.search), flush=True)


if __name__ == "__main__":
    main()
