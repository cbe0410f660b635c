"""Large networks: what a search of many actors finds, and where its time goes.

usage: python -m benchmarks.search.large_networks [SHAPE-ACTORSxCORES[g] ...] [--methods A,B] [--budgets N,N,..]

For each network (``benchmarks.search.networks``, seed 77,000 for all) and method a line: CPU seconds from a network
with its trace, without any table, to the first mapping that the method asked for, all CPU seconds, the share of
simulation, of annealing and of the bounds of the space, the resident memory, and the best makespan after each of the
budgets, in per cent above the best of all lines of that network. Sums behind the last network are means over all of
them, by method. No clock decides anything.
"""

import argparse
import itertools
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.search.compare import NoStore
from benchmarks.search.networks import Case, Recipe, case_of
from dse.estimate.bounds import slot_loads
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.mapping_bound import MappingBound, allowed_rows_of, most_room
from dse.explore.method import SearchContext
from dse.explore.methods.exact.unit_program import unit_bound
from dse.explore.methods.registry import METHODS
from dse.explore.moves import load_model
from dse.explore.space.merged import merged_space
from dse.flows.program import unheard
from dse.flows.search.method import KEPT, bounded_context
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome

SEED = 77_000
NETWORKS = tuple(
    f"{shape}-{size}" for size in ("200x16", "1000x16") for shape in ("pipeline", "tree", "split-join", "irregular")
)


@dataclass(slots=True)
class Clocks:
    """CPU seconds by what they went to."""

    simulation: float = 0.0
    annealing: float = 0.0
    bounds: float = 0.0
    first: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What came of a search: the best makespan after each budget, and how its time was spent."""

    network: str
    method: str
    best: tuple[int, ...]
    seconds: float
    clocks: Clocks


def recipe_of(name: str) -> Recipe:
    """Return the recipe of ``SHAPE-ACTORSxCORES[g]``."""
    found = re.fullmatch(r"([a-z-]+)-([0-9]+)x([0-9]+)(g?)", name)
    if found is None:
        raise SystemExit(f"'{name}' is no network: SHAPE-ACTORSxCORES, with a g behind it for a GPU")
    shape, actors, cores, gpu = found.groups()
    return Recipe(shape=shape, actors=int(actors), cores=int(cores), gpu=bool(gpu), room=2, seed=SEED)


def search(recipe: Recipe, method: str, budgets: Sequence[int], seed: int) -> Line:
    """Search a network for the largest of some budgets of evaluations."""
    case, clocks, makespans = case_of(recipe), Clocks(), list[int]()
    begun = time.process_time()
    engine = make_engine("compiled", case.problem)
    context = _context(case, seed, clocks)

    def outcomes(points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
        for point in points:
            before = time.process_time()
            clocks.first = before - begun if clocks.first is None else clocks.first
            (outcome,) = engine.outcomes([point], limit)
            clocks.simulation += time.process_time() - before
            makespans.append(outcome.makespan if outcome is not None and not outcome.deadlock else 1 << 62)
            yield outcome

    evaluator = Evaluator(
        outcomes, budget=Budget(evaluations=max(budgets)), store=NoStore(), clock=time.process_time, progress=unheard,
        cutting=Cutting(keep=KEPT),
    )  # fmt: skip
    running = METHODS.load(method)(context)
    with _AnnealingCounted(clocks):
        while not running.done and evaluator.stop is None:
            running.tell(evaluator.evaluate(running.ask(BATCH), running.ceiling))
    least = list(itertools.accumulate(makespans, min))
    best = tuple(least[min(n, len(least)) - 1] for n in budgets)
    return Line(network=recipe.name, method=method, best=best, seconds=time.process_time() - begun, clocks=clocks)


def _context(case: Case, seed: int, clocks: Clocks) -> SearchContext:
    """Return the context of a search as ``dse explore`` makes it, bounds of the space included."""
    tables = build_tables(case.problem)
    before = time.process_time()
    space = merged_space(case.space, tables)
    bound = MappingBound(tables, space)
    rows, room = allowed_rows_of(tables, space), most_room(space)
    cores = min(space.most, space.n_actors)
    least = bound.of_trace.of_any_point(cores=cores, transfers=space.options.transfers, rows=rows, room=room).makespan
    least = max(least, unit_bound(tables, space, bound, least))
    clocks.bounds = time.process_time() - before
    return bounded_context(case.problem.trace, space, bound, seed, KEPT, least)


class _AnnealingCounted:
    """Adds what annealing takes to some clocks while it is entered."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks

    def __enter__(self) -> None:
        load_model.anneal = self._counted(slot_loads.anneal)

    def __exit__(self, *_: object) -> None:
        load_model.anneal = slot_loads.anneal

    def _counted(self, anneal: Callable[..., None]) -> Callable[..., None]:
        def counted(*given: object, **named: object) -> None:
            before = time.process_time()
            anneal(*given, **named)
            self._clocks.annealing += time.process_time() - before

        return counted


def main() -> None:
    """Search all networks with all methods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS, metavar="SHAPE-ACTORSxCORES[g]")
    parser.add_argument("--methods", default="iterated-search,multilevel,portfolio")
    parser.add_argument("--budgets", default="100,300,1000")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    budgets = [int(number) for number in args.budgets.split(",")]
    methods = args.methods.split(",")
    gaps: dict[str, list[list[float]]] = {method: [] for method in methods}
    for network in args.networks:
        lines = [search(recipe_of(network), method, budgets, args.seed) for method in methods]
        _print_lines(lines, gaps)
    for method, rows in gaps.items():
        means = [statistics.mean(column) for column in zip(*rows, strict=True)]
        print(f"{'all':18} {method:16} {' '.join(f'{gap:6.2f}' for gap in means)} % above the best, mean")


def _print_lines(lines: Sequence[Line], gaps: dict[str, list[list[float]]]) -> None:
    """Print the lines of a network, and add their gaps to those of the methods."""
    least = min(line.best[-1] for line in lines)
    for line in lines:
        gaps[line.method].append([100 * (best / least - 1) for best in line.best])
        print(_text(line, gaps[line.method][-1]), flush=True)


def _text(line: Line, gaps: Sequence[float]) -> str:
    clocks, memory = line.clocks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shares = [100 * part / line.seconds for part in (clocks.simulation, clocks.annealing, clocks.bounds)]
    return (
        f"{line.network:18} {line.method:16} {' '.join(f'{gap:6.2f}' for gap in gaps)} % above the best;"
        f" first {clocks.first or 0.0:.1f} s, all {line.seconds:.1f} s: simulation {shares[0]:.0f} %,"
        f" annealing {shares[1]:.0f} %, bounds {shares[2]:.0f} %; {memory:,.0f} MB"
    )


if __name__ == "__main__":
    main()
