"""Points where tokens take time to another core: the burst kernel for them against the general one, and in a search.

usage: python -m benchmarks.travelling NAME=NETWORK.xdf,WEIGHTS[,CORES[,INPUT]] ... [--search SECONDS] [--seeds 1,2,3]

WEIGHTS is a folder that ``dse profile --calibrate`` wrote, or the folder ``weights`` beside the results of ``dse
explore``. A line for the mappings of each network, neighbours on a core and random ones: nanoseconds of processor time
of an outcome a firing, in both kernels by turns, and the median of the ratios. With ``--search``, for each seed two
searches by ``portfolio`` of so many seconds of processor time, one with each kernel: evaluations a second, and how far
the best makespan of the search in the general kernel is above the other's.
"""

import argparse
import statistics
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.kernels import GeneralEngine, best_seconds, search
from benchmarks.search.long_traces import on_platform
from dse.estimate.compiled.engine import CompiledEngine
from dse.explore.space.build import build_space
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.flows.capacities import search_capacities
from dse.flows.options import ProblemOptions
from dse.flows.search.method import KEPT, search_context
from dse.flows.setting import Setting, load_setting

N_RANDOM = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A network with its trace and measured weights, on so many cores."""

    name: str
    setting: Setting
    space: Space


def load(argument: str) -> Case:
    """Return the case of ``NAME=NETWORK,WEIGHTS[,CORES[,INPUT]]``."""
    name, _, rest = argument.partition("=")
    network, weights, *more = rest.split(",")
    given = more[1] if len(more) > 1 else None
    found = load_setting(ProblemOptions(program=network, input=given, weights=(weights,), missing_weights="zero"))
    units = tuple(replace(u, cores=int(more[0])) if more else u for u in found.platform.units if u.kind == "cpu")
    setting = on_platform(found, replace(found.platform, units=units, links=()))
    options = SpaceOptions(capacities=(search_capacities(found).tokens,))
    return Case(name=name, setting=setting, space=build_space(found.trace.topology, setting.platform, options))


def assignments(case: Case) -> list[tuple[int, ...]]:
    """Return a mapping of neighbours to a core, and random ones."""
    n, cores = case.space.n_actors, sum(unit.cores for unit in case.setting.platform.units)
    rng = np.random.default_rng(3)
    return [tuple(a * cores // n for a in range(n)), *(case.space.random_assignment(rng) for _ in range(N_RANDOM))]


def compare_kernels(case: Case) -> None:
    """Print a line for the mappings of a case."""
    engine, ns = CompiledEngine(case.setting.problem), 1e9 / case.setting.trace.n_firings
    bursts = engine._bursts()
    assert bursts is not None, "`make setup` compiles it"
    burst, general = list[float](), list[float]()
    for assignment in assignments(case):
        encoded = [engine.encoder.encode(case.space.to_point(Candidate(assignment=assignment)))]
        if bursts.kernel_of(encoded[0]) != "travelling":
            continue
        made = engine._general(encoded, None)[0]
        assert bursts.run("travelling", encoded, None).make()[0] == made
        if made is not None and made.deadlock:
            continue  # over too soon
        burst.append(ns * best_seconds(lambda one=encoded: bursts.run("travelling", one, None).make()))
        general.append(ns * best_seconds(lambda one=encoded: engine._general(one, None)))
    if not burst:
        print(f"{case.name:12} no mapping where tokens travel runs to its end")
        return
    ratio = statistics.median(b / g for b, g in zip(burst, general, strict=True))
    print(
        f"{case.name:12} {case.setting.trace.n_firings:9,} firings, {len(burst)} mappings: burst"
        f" {min(burst):5.1f} to {max(burst):5.1f} ns, general {min(general):6.1f} to {max(general):6.1f} ns,"
        f" ratio {ratio:.3f} ({1 / ratio:.1f} times as fast)",
        flush=True,
    )


def compare_searches(case: Case, seed: int, seconds: float) -> None:
    """Print a line for the searches of one seed."""
    problem = case.setting.problem
    contexts = [search_context(case.setting, case.space, seed, KEPT, 0) for _ in range(2)]
    made, in_bursts = search(contexts[0], CompiledEngine(problem), seconds=seconds)
    made_generally, generally = search(contexts[1], GeneralEngine(problem), seconds=seconds)
    best, best_generally = (min(e.makespan for e in some) for some in (in_bursts, generally))
    gap = 100 * (best_generally / best - 1)
    print(
        f"{case.name:12} seed {seed}: {made:7.0f} evaluations/s in bursts, {made_generally:7.0f} in"
        f" the general kernel ({made / made_generally:.2f} times as many); best of the general one {gap:+.2f} % above",
        flush=True,
    )


def main() -> None:
    """Compare on all networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME=NETWORK.xdf,WEIGHTS[,CORES[,INPUT]]")
    parser.add_argument("--search", type=float, metavar="SECONDS", help="compare searches too")
    parser.add_argument("--seeds", default="1,2,3")
    args = parser.parse_args()
    for argument in args.networks:
        case = load(argument)
        compare_kernels(case)
        for seed in args.seeds.split(",") if args.search else ():
            compare_searches(case, int(seed), args.search)


if __name__ == "__main__":
    main()
