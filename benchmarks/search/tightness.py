"""How far the best known makespan is above what is proven: on the larger spaces of the comparison and on fresh ones.

``python -m benchmarks.search.tightness`` prints a line for each space: the gap to the bound that is known before a
search, and to the one that ``auto`` has proven: with its default budget where there are at most ``SMALL`` actors, else
after so many evaluations, which prove nothing more there. In per cent. Validity is what tests look at;
this tells whether a bound is worth anything. The networks of ``FRESH`` served for no tuning, of bounds or of methods.

``--exhausted`` looks at networks that are so small that all their mappings are estimated, with few iterations and many:
how far the optimum itself is above the bound that is known before a search, which no search can make less.
"""

import argparse
import itertools
import json
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.search.compare import EXHAUSTED, Run, least_of, load, search
from benchmarks.search.networks import Case, Recipe, case_of
from dse.estimate.engine import make_engine
from dse.flows.defaults import default_budget

SMALL = 20
BEST_KNOWN = Path(__file__).parent / "best_known.json"
FRESH_SIZES = ((14, 4, False), (20, 4, True), (32, 4, True), (40, 8, False), (90, 16, True))
FRESH = tuple(
    Recipe(
        shape=shape,
        actors=actors,
        cores=cores,
        gpu=gpu,
        room=(2, 4)[index % 2],
        seed=31_000 + index,
    )
    for index, (shape, (actors, cores, gpu)) in enumerate(
        (shape, size)
        for size in FRESH_SIZES
        for shape in (("pipeline", "irregular") if size[0] < 32 else ("tree", "split-join"))
    )
)
"""Ten networks: each size once in a shape with long paths, once in another."""


RELATIVES = (
    ("pipeline", 12, 2, False),
    ("pipeline", 9, 3, False),
    ("irregular", 12, 2, False),
    ("irregular", 9, 3, False),
    ("irregular", 8, 2, True),
)
RELATIVE_SEEDS = range(71_000, 71_008)
RELATIVE_ITERATIONS = (2, 4, 8, 20, 80)
ESTIMATED_AT_ONCE = 256


def optimum(case: Case) -> int:
    """Return the least makespan of all mappings of a small space, in ticks."""
    engine = make_engine("compiled", case.problem)
    points = [case.space.to_point(candidate) for candidate in case.space.candidates()]
    parts = [points[i : i + ESTIMATED_AT_ONCE] for i in range(0, len(points), ESTIMATED_AT_ONCE)]
    found = [outcome for part in parts for outcome in engine.outcomes(part)]
    return min(outcome.makespan for outcome in found if outcome is not None and not outcome.deadlock)


def exhaust() -> None:
    """Print how far the optima of small networks are above their bounds."""
    print("| networks | mappings | iterations | median | worst |\n|---|---:|---:|---:|---:|")
    for (shape, actors, cores, gpu), iterations in itertools.product(RELATIVES, RELATIVE_ITERATIONS):
        gaps, case = list[float](), None
        for seed in RELATIVE_SEEDS:
            recipe = Recipe(shape=shape, actors=actors, cores=cores, gpu=gpu, room=(2, 4)[seed % 2], seed=seed)
            case = case_of(recipe, 0, iterations)
            gaps.append(100 * (optimum(case) / least_of(case) - 1))
        assert case is not None, "there are seeds"
        numbers = f"{statistics.median(gaps):.1f} % | {max(gaps):.1f} %"
        print(f"| {case.name} | {case.space.size:,} | {iterations} | {numbers} |", flush=True)


def measure(name: str, evaluations: int) -> tuple[str, int, int, int]:
    """Return the name, the best known makespan, and the bounds before and after a search, in ticks."""
    recipe = next((r for r in FRESH if r.name == name), None)
    case = case_of(recipe) if recipe else load(name)
    known = json.loads(BEST_KNOWN.read_text()).get(name, {})
    if case.space.n_actors <= SMALL:
        usual = default_budget("compiled", case.problem.trace.n_firings, case.space.n_actors).evaluations
        evaluations = max(evaluations, usual or 0)
    found = search(case, Run(network=name, method="auto", seed=1, evaluations=evaluations, role="compared"))
    curve, bound = found["curve"], found["bound"]
    assert isinstance(curve, list)
    assert isinstance(bound, int)
    best = min([curve[-1][1], *([known["best"]] if known else [])])
    return name, best, least_of(case), best if found["proven"] else bound


def main() -> None:
    """Measure all spaces and print them, the tightest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--exhausted", action="store_true")
    args = parser.parse_args()
    if args.exhausted:
        exhaust()
        return
    known = json.loads(BEST_KNOWN.read_text())
    names = [name for name, row in known.items() if int(row["size"]) >= EXHAUSTED] + [r.name for r in FRESH]
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(partial(measure, evaluations=args.evaluations), names))
    gaps = [(100 * (best / after - 1), 100 * (best / before - 1), name) for name, best, before, after in rows]
    for after, before, name in sorted(gaps):
        print(f"{name:20} before a search {before:6.1f} %   after {after:6.1f} %")
    for what, column in (("before a search", 1), ("after", 0)):
        values = [float(gap[column]) for gap in gaps]
        print(f"{what}: median {statistics.median(values):.1f} %, worst {max(values):.1f} %")


if __name__ == "__main__":
    main()
