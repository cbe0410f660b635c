"""The bounds that searches prune by are what a mapping costs where nothing is left to chance.

Loads and links: against the accounts of an engine for every mapping. Paths: on networks in which one token goes round,
where every mapping takes as long as all firings one after the other.
"""

import random
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from dse.base.errors import DseError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import link_servers, prepare
from dse.explore.mapping_bound import MappingBound
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.flows.search.study import space_bounds
from dse.flows.setting import Setting
from dse.model.design_point import Policy
from dse.model.estimate import Estimate
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Trace
from dse.model.weights import Cost, SimdCost, WeightTable
from tests.property.estimation_cases import Shape, random_case
from tests.property.test_bound_tightness import (
    busiest_shared_link,
    shared_links,
    spent,
    with_room,
    without_order,
)
from tests.property.test_search_bounds import space_of
from tests.unit.estimate.networks import CPU, heterogeneous, network, problem, weights
from tests.unit.explore.random_problems import BOX, problem_of

CLOCKS = (Fraction(1600), Fraction(400))


def plain(given: Problem) -> Problem:
    """The problem without SIMD blocks, each scheduling cost whatever ran before."""
    first = {key: cost for key, cost in given.weights.scheduling.items() if not key[1]}
    return replace(given, weights=replace(given.weights, scheduling=first, simd={}))


def load_of(space: Space, given: Problem, candidate: Candidate, estimate: Estimate) -> int:
    """The busiest core and the busiest shared link of a mapping, from the accounts of its estimate."""
    times, found = spent(estimate), [busiest_shared_link(given, estimate)]
    for p in space.to_point(candidate).partitions:
        of_actors = [times[a] for a in p.actors]
        found.append(max(of_actors) if p.policy == "FULL_PARALLEL" else sum(of_actors))
    return max(found)


def check_loads(given: Problem, space: Space, candidates: list[Candidate]) -> int:
    """Compare the bound of each candidate with its loads; return how many met them exactly."""
    tables = build_tables(given)
    engine, bounds = make_engine("compiled", tables), Bounds(tables)
    met = 0
    for candidate, found in zip(candidates, MappingBound(tables, space).of(candidates), strict=True):
        design = space.to_point(candidate)
        estimate = engine.estimate(design)
        if estimate.deadlock is None:
            load = load_of(space, given, candidate, estimate)
            assert load <= found <= max(load, bounds.of_point(prepare(tables, design)).critical_path)
            met += found == load > 0
    return met


@pytest.mark.parametrize("policy", ["ROUND_ROBIN", "FULL_PARALLEL"])
@pytest.mark.parametrize("mode", ["sequential", "parallel"])
@pytest.mark.parametrize("clocks", [(), CLOCKS])
def test_loads_of_a_mapping_are_those_of_its_run(policy: Policy, mode: str, clocks: tuple[Fraction, ...]) -> None:
    """Small trees on a CPU and a GPU: all mappings, at all clocks."""
    met = 0
    for seed in range(6):
        given = plain(problem_of(seed, clock=500, given_host=seed % 2 == 0))
        if mode == "parallel":  # there the accounts tell the length of transfers only where nobody waits for a link
            given = shared_links(given, shared=False)
        given = replace(given, clocks=tuple(("cpu", clock) for clock in clocks))
        topology = given.trace.topology
        options = SpaceOptions(
            policies=(policy,), capacities=((20,) * len(topology.buffers),), transfers=mode,  # type: ignore[arg-type]
            clocks=(ClockDomain(units=("cpu",), clocks_mhz=clocks),) if clocks else (),
        )  # fmt: skip
        space = build_space(topology, BOX, options)
        candidates = list(space.candidates())[:60]
        met += check_loads(given, space, candidates)
    assert met > 30


def test_loads_of_a_mapping_are_those_of_its_run_on_any_platform() -> None:
    """Feedback, fan-out with readers on several units, links in one and two directions, several GPUs."""
    met = links = 0
    rng = np.random.default_rng(3)
    for seed in range(150):
        case = without_order(with_room(random_case(random.Random(seed), Shape(max_firings=60, hosts=seed % 2 == 0))))
        platform = replace(case.problem.platform, dynamic_network=False)
        case = replace(
            case, point=replace(case.point, transfers="sequential"), problem=replace(case.problem, platform=platform)
        )
        space = space_of(case, "ROUND_ROBIN")
        hosts = sum(key[4] == "host" for key in case.problem.weights.transfers)
        derived = hosts < 4 * len(case.problem.trace.topology.buffers)  # two kinds of unit, two sides
        if space is None or case.problem.missing_weights == "zero" or (derived and len(platform.links) > 1):
            continue
        candidates = [Candidate(assignment=space.random_assignment(rng)) for _ in range(6)]
        try:
            met += check_loads(case.problem, space, candidates)
        except DseError:
            continue
        links += any(server.shared for server in link_servers(platform))
    assert met > 120
    assert links > 20


# -- paths: one token goes round ---------------------------------------------------------------------------------------


def ring(names: str, rounds: int, *, actions: str = "xy") -> Trace:
    """Actors of which each waits for the one before it; two actions take turns, in another rhythm for each actor."""
    edges = [(f"{a}.o", b) for a, b in zip(names, names[1:] + names[0], strict=True)]
    firings = {n: "".join(actions[(r // (1 + i)) % len(actions)] for r in range(rounds)) for i, n in enumerate(names)}
    return network(edges, firings, initial={edges[-1]: 1})


def varied(trace: Trace, rng: random.Random, *, pairs: bool, mhz: int | None = None) -> WeightTable:
    """Weights that are all different and above 0, the transfers by token too."""
    frequency = None if mhz is None else Fraction(mhz)

    def cost(most: int = 90) -> Cost:
        cycles = Fraction(rng.randint(1, most))
        return Cost(mean_cycles=cycles, per_token_cycles=Fraction(rng.randint(1, 9)), frequency_mhz=frequency)

    base = weights(trace, dict.fromkeys("abcdef", 1))
    scheduling = {}
    for actor in trace.topology.actors:
        for kind in ("cpu", "gpu"):
            for x in actor.actions:
                scheduling[actor.name, "", x.name, kind] = cost(20)
                for q in actor.actions if pairs else ():
                    scheduling[actor.name, q.name, x.name, kind] = cost(20)
    return replace(
        base, compute={key: cost() for key in base.compute}, transfers={key: cost() for key in base.transfers},
        scheduling=scheduling, has_scheduling=True,
    )  # fmt: skip


def all_of(space: Space) -> list[Candidate]:
    return list(space.candidates())


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_mapping_of_a_ring_takes_as_long_as_its_path(mode: str, shared: bool, seed: int) -> None:
    trace = ring("abcd"[: 2 + seed], 7)
    given = problem(trace, varied(trace, random.Random(seed), pairs=False), heterogeneous(shared=shared))
    capacities = ((4,) * len(trace.topology.buffers),)
    options = SpaceOptions(capacities=capacities, partitions=(1, 3), transfers=mode)  # type: ignore[arg-type]
    space = build_space(trace.topology, given.platform, options)
    engine, bound = make_engine("compiled", given), MappingBound(build_tables(given), space)
    for candidate, found in zip(all_of(space), bound.of(all_of(space)), strict=True):
        assert found == engine.estimate(space.to_point(candidate)).makespan


@pytest.mark.parametrize("latencies", [(900,), (900, 700)])
def test_the_path_of_a_ring_takes_host_prices_from_its_link(latencies: tuple[int, ...]) -> None:
    """No host price is given. Of two links, to a GPU each, the path knows the cheaper one only."""
    trace = ring("abc", 5)
    table = varied(trace, random.Random(2), pairs=False, mhz=1000)
    table = replace(table, transfers={key: cost for key, cost in table.transfers.items() if key[4] != "host"})
    gpus = tuple(Unit(name=f"gpu{i}", kind="gpu") for i in range(len(latencies)))
    links = tuple(
        Link(name=gpu.name, between=("cpu", gpu.name), latency_ns=Fraction(ns))
        for gpu, ns in zip(gpus, latencies, strict=True)
    )
    box = Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=3), *gpus), links=links)
    space = build_space(trace.topology, box, SpaceOptions(capacities=((4,) * 3,), pins=(("a", "cpu"), ("b", "cpu"))))
    given = problem(trace, table, box)
    engine, bound = make_engine("compiled", given), MappingBound(build_tables(given), space)
    for candidate, found in zip(all_of(space), bound.of(all_of(space)), strict=True):
        dear = space.unit_of_slot[candidate.assignment[2]] == 1  # the first GPU
        more = 4 * 5 * (latencies[0] - min(latencies)) * 1000 if dear else 0  # b to c and c to a, write and read
        assert found == engine.estimate(space.to_point(candidate)).makespan - more


def test_the_path_of_a_ring_follows_the_chosen_clock() -> None:
    trace = ring("abc", 9)
    table = varied(trace, random.Random(8), pairs=False, mhz=1000)
    given = replace(problem(trace, table, heterogeneous()), clocks=tuple(("cpu", clock) for clock in CLOCKS))
    domain = ClockDomain(units=("cpu",), clocks_mhz=CLOCKS)
    space = build_space(
        trace.topology, given.platform, SpaceOptions(capacities=((4,) * 3,), partitions=(1, 2), clocks=(domain,))
    )
    engine, bound = make_engine("compiled", given), MappingBound(build_tables(given), space)
    for candidate, found in zip(all_of(space), bound.of(all_of(space)), strict=True):
        assert found == engine.estimate(space.to_point(candidate)).makespan


def test_a_path_knows_the_predecessor_where_an_actor_is_alone() -> None:
    """Scheduling after itself is made the cheaper one, so that the path has it and the run of actors apart too."""
    trace = ring("abc", 8)
    table = varied(trace, random.Random(5), pairs=True)
    cheap = {key: replace(c, mean_cycles=c.mean_cycles + (0 if key[1] else 20)) for key, c in table.scheduling.items()}
    given = problem(trace, replace(table, scheduling=cheap))
    space = build_space(trace.topology, CPU, SpaceOptions(capacities=((4,) * 3,)))
    (found,) = MappingBound(build_tables(given), space).of([Candidate(assignment=(0, 1, 2))])
    assert found == make_engine("compiled", given).estimate(space.to_point(Candidate(assignment=(0, 1, 2)))).makespan


@pytest.mark.parametrize(
    ("mode", "first", "left"),
    [("sequential", True, 5), ("sequential", False, 9 + 5), ("parallel", True, 5), ("parallel", False, 5)],
)
def test_a_path_leaves_a_firing_by_its_write(mode: str, first: bool, left: int) -> None:
    """a writes to b and, before or after that, 9 ticks long to the quick sink c; the path goes round by b."""
    round_trip = [("a.o", "b"), ("b.o", "a")]
    ends = [round_trip[0], ("a.p", "c"), round_trip[1]] if first else [("a.p", "c"), *round_trip]
    trace = network(ends, {"a": "x" * 6, "b": "x" * 6, "c": "x" * 6}, initial={("b.o", "a"): 1})
    table = weights(trace, {"a": 11, "b": 13, "c": 1}, read=3, write=5)
    dear = {key: Cost(mean_cycles=Fraction(9)) for key in table.transfers if key[2] == "c" and key[6] == "write"}
    given = problem(trace, replace(table, transfers=table.transfers | dear))
    options = SpaceOptions(capacities=((9,) * 3,), partitions=(3, 3), transfers=mode)  # type: ignore[arg-type]
    space = build_space(trace.topology, CPU, options)
    apart = Candidate(assignment=(0, 1, 2))
    (found,) = MappingBound(build_tables(given), space).of([apart])
    assert found == make_engine("compiled", given).estimate(space.to_point(apart)).makespan
    assert found == 6 * (3 + 11 + left + 3 + 13 + 5)


def test_a_path_counts_the_best_share_of_a_block() -> None:
    """f fires once in blocks of 1 to 3, s and k fire once: scheduling and writes of a block are not claimed."""
    trace = network([("s.o", "f"), ("f.o", "k")], {"s": "x", "f": "x", "k": "x"})
    table = weights(trace, {"s": 10, "f": 0, "k": 30}, read=8, write=5, simd={("f", "x"): [40, 50, 60]})
    table = replace(table, simd={key: cost for key, cost in table.simd.items() if key[2] == "cpu"})
    space = build_space(trace.topology, CPU, SpaceOptions(capacities=((4,) * 2,), partitions=(3, 3)))
    apart = Candidate(assignment=(0, 1, 2))
    found = MappingBound(build_tables(problem(trace, table)), space).of([apart])
    assert found == [(10 + 5) + (8 // 3 + 60 // 3) + (8 + 30)]
    one = replace(table, simd={("f", "x", "cpu"): SimdCost(block_cycles=(Fraction(40),))})
    assert MappingBound(build_tables(problem(trace, one)), space).of([apart]) == [(10 + 5) + (8 + 40) + (8 + 30)]


# -- what exact methods reason with ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_parts_of_a_placement_are_those_of_a_run(seed: int) -> None:
    """Each edge of a chain, each pair of units, in one slot and apart: what writer and reader account."""
    trace = network([("a.o", "b")], {"a": "xyxxy", "b": "xyyxx"})
    two = Platform(
        name="two",
        units=(Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu"), Unit(name="npu", kind="gpu")),
        links=(Link(name="l", between=("cpu", "gpu")), Link(name="m", between=("npu", "cpu"), shared=True)),
    )
    given = problem(trace, varied(trace, random.Random(seed), pairs=False), two)
    space = build_space(trace.topology, two, SpaceOptions(capacities=((9,),)))
    bound = MappingBound(build_tables(given), space)
    (edge,) = bound.placement(17).edges
    assert bound.placement(17).least == 17
    assert bound.placement(17).additive
    engine = make_engine("compiled", given)
    seen = set()
    for candidate in space.candidates():
        u, v = (space.unit_of_slot[slot] for slot in candidate.assignment)
        writer, reader = engine.estimate(space.to_point(candidate)).actors
        assert bound.unit_loads[0][u] == writer.scheduling + writer.processing
        assert bound.unit_loads[1][v] == reader.scheduling + reader.processing
        if candidate.assignment[0] == candidate.assignment[1]:
            assert (edge.write_same[u], edge.read_same[v]) == (writer.writing, reader.reading)
        else:
            assert (edge.write_apart[u][v], edge.read_apart[v][u]) == (writer.writing, reader.reading)
        seen.add((u, v, candidate.assignment[0] == candidate.assignment[1]))
    assert len(seen) == 3 * 3 + 1


def test_side_by_side_and_parallel_transfers_are_not_claimed_to_add_up() -> None:
    trace = network([("a.o", "b")], {"a": "x", "b": "x"})
    given = problem(trace, weights(trace, {"a": 1, "b": 1}, read=1, write=1))
    parallel = SpaceOptions(capacities=((9,),), transfers="parallel")
    mixed = SpaceOptions(capacities=((9,),), policies=("ROUND_ROBIN", "FULL_PARALLEL"))
    of = [
        MappingBound(build_tables(given), build_space(trace.topology, CPU, o)).placement(0) for o in (parallel, mixed)
    ]
    assert (of[0].edges, of[0].additive) == ((), True)
    assert (len(of[1].edges), of[1].additive) == (1, False)


# -- what an exploration shows -----------------------------------------------------------------------------------------


def shown(given: Problem, space: Space) -> dict[str, int]:
    """The bounds of a space by the beginning of their reasons, the highest first."""
    setting = cast(Setting, SimpleNamespace(tables=build_tables(given)))
    bounds = space_bounds(setting, space, MappingBound(setting.tables, space))
    return {bound.reason.partition(",")[0]: bound.makespan for bound in bounds}


def optimum(given: Problem, space: Space) -> int:
    engine = make_engine("compiled", given)
    return min(engine.estimate(space.to_point(candidate)).makespan for candidate in space.candidates())


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_the_work_bound_of_a_space_is_met_where_the_work_divides(cores: int) -> None:
    trace = network([], {"a": "xx", "b": "xx", "c": "xx", "d": "xx", "e": "xx", "f": "xx"})
    given = problem(trace, weights(trace, dict.fromkeys("abcdef", 7)))
    box = replace(CPU, units=(replace(CPU.units[0], cores=cores),))
    space = build_space(trace.topology, box, SpaceOptions(capacities=((),)))
    bounds = shown(replace(given, platform=box), space)
    on = "one core" if cores == 1 else f"{cores} cores"
    assert next(iter(bounds.items())) == (f"all the work evenly on {on}", 12 * 7 // cores)
    assert optimum(given, space) == 12 * 7 // cores


def test_the_heaviest_actor_of_a_space_is_met_where_it_is_all() -> None:
    trace = network([], {"a": "xxxxx", "b": "x"})
    given = problem(trace, weights(trace, {"a": 7, "b": 7}))
    space = build_space(trace.topology, CPU, SpaceOptions(capacities=((),)))
    bounds = shown(given, space)
    assert bounds["the heaviest actor"] == max(bounds.values()) == optimum(given, space) == 35


@pytest.mark.parametrize("pins", [(), (("a", "gpu"),), (("b", "cpu"),)])
def test_the_path_of_a_space_is_met_by_a_ring_where_it_may_be_cheap(pins: tuple[tuple[str, str], ...]) -> None:
    """b is cheap on the GPU only, a and c on the CPU only; a pin counts."""
    trace = ring("abc", 6)
    table = weights(trace, {"a": 4, "b": 5, "c": 6}, read=2, write=3)
    dear = {key: Cost(mean_cycles=Fraction(50)) for key in table.compute if (key[0] == "b") == (key[2] == "cpu")}
    given = problem(trace, replace(table, compute=table.compute | dear), heterogeneous(shared=False))
    space = build_space(trace.topology, given.platform, SpaceOptions(capacities=((4,) * 3,), pins=pins))
    bounds = shown(given, space)
    assert bounds["the critical path of the trace"] == max(bounds.values()) == optimum(given, space)


def test_a_space_of_full_parallel_has_a_core_for_each_actor() -> None:
    trace = network([], {"a": "xx", "b": "xx", "c": "xx", "d": "xx"})
    given = problem(trace, weights(trace, dict.fromkeys("abcd", 5)))
    box = replace(CPU, units=(replace(CPU.units[0], cores=2),))
    for policies, makespan in ((("ROUND_ROBIN",), 20), (("ROUND_ROBIN", "FULL_PARALLEL"), 10)):
        options = SpaceOptions(capacities=((),), policies=policies)  # type: ignore[arg-type]
        space = build_space(trace.topology, box, options)
        assert max(shown(replace(given, platform=box), space).values()) == makespan
        assert optimum(replace(given, platform=box), space) == makespan
