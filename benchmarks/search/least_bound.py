"""How high bounds can get that know loads, paths and single cores: what no bound of these kinds exceeds.

``python -m benchmarks.search.least_bound NAME ...`` anneals placements of a space for the least bound of a placement
(``dse.estimate.bounds.lower_bounds``): the largest of the loads of its cores and links, of its longest path with room,
and of the firings of each core one at a time between their limits, all with what they cost in that placement. A bound
of all placements that rests on these exceeds the bound of none, whatever program makes it, so that the least one found
here limits it. A line has that in ticks, and how far the best known makespan is above it.
"""

import argparse
import json
import math
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from benchmarks.search.proofs import case_named
from benchmarks.search.tightness import BEST_KNOWN
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.estimate.problem.tables import ProblemTables
from dse.explore.mapping_bound import MappingBound
from dse.explore.space.canonical import Assignment
from dse.explore.space.space import Candidate, Space

HOT, COLD = 0.02, 0.0005
"""Temperature at the beginning and at the end, as a share of the bound."""
SWAPPED = 0.4
"""Share of the steps in which two actors change places; else one moves."""


class PlacementBound:
    """The bound of each placement of a space."""

    def __init__(self, tables: ProblemTables, space: Space) -> None:
        self._tables, self._space = tables, space
        self._bounds, self._cheap = Bounds(tables), MappingBound(tables, space)

    def of(self, assignment: Assignment, limit: float = math.inf) -> float:
        """Return it in ticks; infinity where it is above the limit."""
        candidate = Candidate(assignment=assignment)
        cheap = self._cheap.of([candidate])[0]
        if cheap > limit:  # the other takes a hundred times as long
            return math.inf
        return max(cheap, self._bounds.of_point(prepare(self._tables, self._space.to_point(candidate))).makespan)


def least(name: str, seconds: float, seed: int) -> tuple[str, int, int]:
    """Return the name, how many placements were looked at, and the least bound that was found, in ticks."""
    case = case_named(name)
    space, rng = case.space, np.random.default_rng(seed)
    bound = PlacementBound(build_tables(case.problem), space)
    here = space.random_assignment(rng)
    value = best = bound.of(here)
    begin, looked, share = time.process_time(), 1, 0.0
    while share < 1:
        share = (time.process_time() - begin) / seconds
        there = step(space, here, rng)
        if there is None:
            continue
        heat = HOT * (COLD / HOT) ** min(share, 1) * value
        limit = value - heat * math.log(1 - rng.random())
        other, looked = bound.of(there, limit), looked + 1
        if other <= limit:
            here, value, best = there, other, min(best, other)
    return name, looked, int(best)


def step(space: Space, here: Assignment, rng: np.random.Generator) -> Assignment | None:
    """Return a neighbour of an assignment, None where what was drawn is none."""
    slots = list(here)
    a, b = (int(x) for x in rng.choice(len(slots), 2, replace=False))
    if rng.random() < SWAPPED:
        slots[a], slots[b] = slots[b], slots[a]
    else:
        slots[a] = int(rng.integers(len(space.unit_of_slot)))
    there = space.canonical(tuple(slots))
    return None if there == here else there


def main() -> None:
    """Anneal in the spaces that are named and print what comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--seconds", type=float, default=300, help="processor time for each (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    known = json.loads(BEST_KNOWN.read_text())
    print("| space | placements | least bound | best known above that |\n|---|---:|---:|---:|")
    with ProcessPoolExecutor(args.jobs) as pool:
        for name, looked, best in pool.map(partial(least, seconds=args.seconds, seed=args.seed), args.names):
            above = f"{100 * (known[name]['best'] / best - 1):.1f} %" if name in known else ""
            print(f"| {name} | {looked:,} | {best:,} | {above} |", flush=True)


if __name__ == "__main__":
    main()
