"""The burst kernel against the general one on wide networks: where neighbours share a core, and in random mappings.

``python -m benchmarks.kernels [SHAPE-ACTORSxCORES ...]`` prints nanoseconds of processor time a firing of each.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.search.large_networks import recipe_of
from benchmarks.search.networks import Case, case_of
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore.space.space import Candidate

NETWORKS = tuple(
    f"{shape}-{size}" for shape in ("pipeline", "irregular") for size in ("60x8", "200x64", "1000x16", "5000x64")
)
FIRINGS_OF_ACTOR = 40
LEAST_SECONDS = 0.15


def best_seconds(call: Callable[[], object]) -> float:
    """Return the least processor time of a call in this thread."""
    call()
    found = list[float]()
    while len(found) < 3 or sum(found) < LEAST_SECONDS:
        begin = time.thread_time()
        call()
        found.append(time.thread_time() - begin)
    return min(found)


def line(case: Case, what: str, assignment: tuple[int, ...]) -> str:
    """Return the line of one mapping."""
    engine = CompiledEngine(case.problem)
    encoded = [engine.encoder.encode(case.space.to_point(Candidate(assignment=assignment)))]
    bursts = engine._bursts()
    assert bursts is not None, "`make setup` compiles it"
    assert bursts.kernel_of(encoded[0]) == "still", "one core for a partition, no shared link"
    assert engine._in_bursts(encoded, None)[0] == engine._general(encoded, None)[0]
    burst = best_seconds(lambda: bursts.run("still", encoded, None).make())
    general = best_seconds(lambda: engine._general(encoded, None))
    ns = 1e9 / case.problem.trace.n_firings
    return f"{case.name:20} {what:10} burst {burst * ns:6.1f} ns  general {general * ns:6.1f} ns  {burst / general:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    for name in parser.parse_args().networks:
        recipe = recipe_of(name)
        case, n = case_of(recipe, FIRINGS_OF_ACTOR * recipe.actors), recipe.actors
        print(line(case, "random", case.space.random_assignment(np.random.default_rng(3))), flush=True)
        print(line(case, "neighbours", tuple(actor * recipe.cores // n for actor in range(n))), flush=True)


if __name__ == "__main__":
    main()
