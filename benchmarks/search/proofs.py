"""Which optima are proven, and what that takes: spaces of 20,000 to 10^10 mappings, of all families of the comparison.

``python -m benchmarks.search.proofs`` searches each by a method (``auto``) for so many seconds of processor time of one
core. A line has the mappings, estimations and seconds, and whether the best is proven, else how far it is above that.
Identical cores and actors are counted once. Smaller spaces are estimated whole. The networks are those of
``benchmarks.search.compare``, of ``benchmarks.search.judge`` and the fresh ones of ``benchmarks.search.tightness``.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from benchmarks.search.compare import APPLICATIONS, EXHAUSTED, NoStore, context_of, least_of, load
from benchmarks.search.networks import JUDGED, RECIPES, Case, case_of
from benchmarks.search.tightness import FRESH
from dse.estimate.engine import make_engine
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.methods.choose import choose_method
from dse.explore.methods.registry import METHODS
from dse.flows.program import unheard
from dse.flows.search.method import KEPT

LARGEST = 10**10
MOST_ACTORS = 20
"""Spaces of more actors are larger than that; to count them takes time."""


def prove(name: str, method: str, seconds: float) -> tuple[str, int, int, float, int, int]:
    """Return name, mappings, estimations, seconds of processor time, best makespan and what is proven, in ticks."""
    case = case_named(name)
    engine = make_engine("compiled", case.problem)
    engine.outcomes([case.space.to_point(next(case.space.candidates()))])  # compiles it
    begin = time.process_time()
    chosen = choose_method(case.space)[0] if method == "auto" else method
    search = METHODS.load(chosen)(context_of(case, seed=1))
    evaluator = Evaluator(
        lambda points, limit: iter(engine.outcomes(points, limit)),
        store=NoStore(),
        clock=time.process_time,
        budget=Budget(seconds=max(0.1, seconds - (time.process_time() - begin))),
        progress=unheard,
        cutting=Cutting(keep=KEPT),
    )
    while not search.done and evaluator.stop is None:
        search.tell(evaluator.evaluate(search.ask(BATCH), search.ceiling))
    best = min(e.makespan for e in evaluator.evaluations if not (e.deadlock or e.cut))
    proven = best if search.done and search.exact else max(search.proven, least_of(case))
    return name, case.space.size, len(evaluator.evaluations), time.process_time() - begin, best, proven


def case_named(name: str) -> Case:
    """Return a network or an application by name, the fresh ones too."""
    recipe = next((recipe for recipe in FRESH if recipe.name == name), None)
    return case_of(recipe) if recipe else load(name)


def names() -> list[str]:
    """Return the names of the spaces, the smallest first."""
    recipes = [recipe.name for recipe in (*RECIPES, *JUDGED, *FRESH) if recipe.actors <= MOST_ACTORS]
    sizes = {name: case_named(name).space.size for name in (*APPLICATIONS, *dict.fromkeys(recipes))}
    return sorted((name for name, size in sizes.items() if EXHAUSTED <= size <= LARGEST), key=sizes.__getitem__)


def main() -> None:
    """Search all spaces and print what is proven."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    print("| space | mappings | estimations | seconds | proven |\n|---|---:|---:|---:|---|")
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = pool.map(partial(prove, method=args.method, seconds=args.seconds), args.names or names())
        for name, size, made, seconds, best, proven in rows:
            what = "optimum" if best == proven else f"{100 * (best / proven - 1):.1f} % above what is proven"
            print(f"| {name} | {size:.2g} | {made:,} | {seconds:.1f} | {what} |", flush=True)


if __name__ == "__main__":
    main()
