"""Long traces: how many times the evaluations a search needs that does not begin on a short trace.

usage: python -m benchmarks.search.long_traces NAME=NETWORK.xdf,INPUT[,CORES] ... [--seeds 1,2,3] [--times 5]

For each network and seed two searches: one with screening (``dse.flows.search.screening``), with the default number of
evaluations or ``--evaluations``, and one without, with ``--times`` as many. What screening takes is counted as ``dse
explore`` counts it, so that all figures but the seconds are the same on every machine; the CPU seconds an evaluation
show whether it counts right. A line for each: the best makespan with screening, how far above it the other search is
after as many evaluations and after all of its own, and how many times the evaluations it took to be as good, ``>``
where it never was.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.search.compare import NoStore
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.registry import METHODS
from dse.explore.space.build import build_space
from dse.explore.space.merged import merged_space
from dse.explore.space.space import Space, SpaceOptions
from dse.flows.capacities import search_capacities
from dse.flows.defaults import default_budget
from dse.flows.options import NOMINAL, ProblemOptions
from dse.flows.program import unheard
from dse.flows.search.method import KEPT, search_context
from dse.flows.search.screening import PROMOTED, Screened, ShortSieve, ShortTrace, begun_at, screen, short_trace
from dse.flows.setting import Setting, load_setting
from dse.model.design_point import DesignPoint
from dse.model.estimate import Outcome
from dse.model.platform import Platform
from dse.model.study import Screening

METHOD = "portfolio"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How a search went: (evaluations, makespan) of each improvement, all evaluations counted, CPU seconds.

    ``screened``: the estimates of the short trace, what they count and took; zeros where there are none.
    """

    curve: tuple[tuple[int, int], ...]
    evaluations: int
    seconds: float
    screened: tuple[int, int, float] = (0, 0, 0.0)

    def after(self, evaluations: int) -> int:
        """Return the best makespan after so many evaluations."""
        return next(makespan for at, makespan in reversed(self.curve) if at <= evaluations)

    def reached(self, makespan: int) -> int | None:
        """Return the evaluations until a makespan was this good, None where it never was."""
        return next((at for at, best in self.curve if best <= makespan), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A network with its trace on so many cores."""

    name: str
    setting: Setting
    space: Space
    engine: Engine


def load(argument: str) -> Case:
    """Return the case of ``NAME=NETWORK,INPUT[,CORES]``."""
    name, _, rest = argument.partition("=")
    network, given, *cores = rest.split(",")
    found = load_setting(ProblemOptions(program=network, input=given, weights=(NOMINAL,)))
    units = tuple(replace(u, cores=int(cores[0])) if cores else u for u in found.platform.units)
    setting = on_platform(found, replace(found.platform, units=units))
    options = SpaceOptions(capacities=(search_capacities(found).tokens,))
    space = merged_space(build_space(found.trace.topology, setting.platform, options), setting.tables)
    return Case(name=name, setting=setting, space=space, engine=make_engine("compiled", setting.problem))


def on_platform(found: Setting, platform: Platform) -> Setting:
    """Return a setting on another platform."""
    problem = replace(found.problem, platform=platform)
    return replace(found, platform=platform, problem=problem, tables=build_tables(problem))


def search(case: Case, seed: int, *, evaluations: int, screening: bool) -> Found:
    """Search for so many evaluations."""
    begun, curve = time.process_time(), list[tuple[int, int]]()
    screened, sieve = (0, 0, 0.0), None

    def timed(points: Sequence[DesignPoint], limit: int | None) -> Iterator[Outcome | None]:
        left = evaluator.evaluations_left or 0
        for made, point in enumerate(points, 1):
            (outcome,) = case.engine.outcomes([point], limit)
            done = outcome is not None and not outcome.deadlock
            if outcome is not None and done and (not curve or outcome.makespan < curve[-1][1]):
                curve.append((evaluations - left + made, outcome.makespan))
            yield outcome

    evaluator = Evaluator(
        timed,
        budget=Budget(evaluations=evaluations),
        store=NoStore(),
        clock=time.process_time,
        progress=unheard,
        cutting=Cutting(keep=KEPT),
    )
    context = search_context(case.setting, case.space, seed, KEPT, 0)
    made: Screening | None = None
    if screening:
        short, found = _screened(case, evaluator, replace(context, rng=np.random.default_rng(seed), keep=PROMOTED))
        context, made = begun_at(found, context, evaluator), found.screening
        screened = made.estimates, made.counted, time.process_time() - begun
        if context.begun:
            sieve = ShortSieve(short, case.space, evaluator, 1)
            context = replace(context, sieve=sieve)
    method = METHODS.load(METHOD)(context)
    while not method.done and evaluator.stop is None:
        method.tell(evaluator.evaluate(method.ask(BATCH), method.ceiling))
    if made is not None and sieve is not None:
        sieve.close()
        made = sieve.added_to(made)
    counted = len(evaluator.evaluations) + (0 if made is None else made.counted)
    return Found(curve=tuple(curve), evaluations=counted, seconds=time.process_time() - begun, screened=screened)


def _screened(case: Case, evaluator: Evaluator, context: SearchContext) -> tuple[ShortTrace, Screened]:
    """Return what came of screening, as ``dse explore`` does it, and the short trace."""
    setting = case.setting
    short = short_trace(setting.tables, case.space, case.engine, "compiled", None)
    if short is None:
        raise SystemExit(f"{case.name}: what one core fires in a row is no shorter trace")
    return short, screen(short, context, evaluator, workers=1, batch=BATCH)[0]


def compare(case: Case, seed: int, times: float, evaluations: int | None) -> tuple[float, float, float | None]:
    """Print a line; return the gaps without screening, in per cent, and how many times the evaluations it needed."""
    trace = case.setting.trace
    usual = default_budget("compiled", trace.n_firings, len(trace.topology.actors)).evaluations
    most = evaluations or usual
    assert most is not None, "default budgets are in evaluations"
    one = search(case, seed, evaluations=most, screening=True)
    other = search(case, seed, evaluations=int(times * most), screening=False)
    best = one.curve[-1][1]
    same, end = (100 * (other.after(n) / best - 1) for n in (most, other.evaluations))
    reached = other.reached(best)
    ratio = None if reached is None else reached / most
    needed = f"> {times:g}" if ratio is None else f"{ratio:.1f}"
    estimates, counted, seconds = one.screened
    print(
        f"{case.name:8} seed {seed}: {most} evaluations, {counted} of them {estimates} estimates of the short trace:"
        f" {best}; without: {same:+.2f} % after as many, {end:+.2f} % after {times:g} times;"
        f" as good after {needed} times; CPU of an evaluation: {1e3 * seconds / counted:.1f} ms while screening,"
        f" {1e3 * other.seconds / other.evaluations:.1f} ms without",
        flush=True,
    )
    return same, end, ratio


def main() -> None:
    """Compare on all networks and seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME=NETWORK.xdf,INPUT[,CORES]")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--times", type=float, default=5)
    parser.add_argument("--evaluations", type=int, help="instead of the default budget of the trace")
    args = parser.parse_args()
    for argument in args.networks:
        case = load(argument)
        print(f"{case.name}: {case.setting.trace.n_firings:,} firings, {case.space.n_actors} actors")
        rows = [compare(case, int(seed), args.times, args.evaluations) for seed in args.seeds.split(",")]
        _summary(case.name, rows, args.times)


def _summary(name: str, rows: Sequence[tuple[float, float, float | None]], times: float) -> None:
    median: Callable[[Sequence[float]], float] = statistics.median
    needed = median([times if ratio is None else ratio for *_, ratio in rows])
    print(
        f"{name:8} median: {median([row[0] for row in rows]):+.2f} % after as many evaluations,"
        f" {median([row[1] for row in rows]):+.2f} % after {times:g} times; as good after {needed:.1f} times or more"
    )


if __name__ == "__main__":
    main()
