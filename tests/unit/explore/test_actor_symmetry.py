"""Identical actors on networks that people draw: what is merged, what is not, how it is counted."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.methods.registry import METHODS
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.merged import MergedSpace, merged_space
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, FifoKind, UnitKind, WeightTable
from tests.examples import seldom
from tests.unit.explore.searches import run

Edges = list[tuple[int, int]]
BROADCAST: Edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
"""Source, three workers, join."""
BRANCHES: Edges = [(0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (4, 5)]
"""Source, two branches of two workers, join."""
CHAINS: Edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
"""Two chains of three."""
PRICES: tuple[tuple[FifoKind, UnitKind], ...] = (
    ("local", "cpu"), ("cpu_cpu", "cpu"), ("cuda", "gpu"), ("host", "cpu"), ("host", "gpu"),
)  # fmt: skip
CORES = Platform(name="p", units=(Unit(name="c", kind="cpu", cores=3),))


def problem_of(edges: Edges, load: dict[int, int], *, write: int = 0, platform: Platform = CORES) -> Problem:
    """Return a network of one-token rates; ``load``: cycles of actors, 10 elsewhere; each write costs ``write``."""
    n = max(map(max, edges)) + 1
    ins, outs = Counter(t for _, t in edges), Counter(s for s, _ in edges)
    actors = tuple(
        TraceActor(
            name=f"a{a}", class_name="A", inputs=tuple(f"i{k}" for k in range(ins[a])),
            outputs=tuple(f"o{k}" for k in range(outs[a])),
            actions=(TraceAction(name="x", reads=(1,) * ins[a], writes=(1,) * outs[a]),),
        )
        for a in range(n)
    )  # fmt: skip
    buffers = tuple(
        TraceBuffer(
            source=s, source_port=[e for e in edges if e[0] == s].index((s, t)), target=t,
            target_port=[e for e in edges if e[1] == t].index((s, t)), token_bytes=4, token_bits=32,
        )
        for s, t in edges
    )  # fmt: skip
    table = WeightTable(name="w", has_scheduling=False)
    for a, actor in enumerate(actors):
        for kind in ("cpu", "gpu"):
            table.compute[actor.name, "x", kind] = Cost(mean_cycles=Fraction(load.get(a, 10)))
    for b in buffers:
        ends = (actors[b.source].name, f"o{b.source_port}", actors[b.target].name, f"i{b.target_port}")
        for fifo, unit in PRICES:
            table.transfers[*ends, fifo, unit, "read"] = Cost(mean_cycles=Fraction(2))
            table.transfers[*ends, fifo, unit, "write"] = Cost(mean_cycles=Fraction(write))
    trace = make_trace(Topology(name="net", actors=actors, buffers=buffers), [np.zeros(8, np.uint8)] * n)
    return Problem(trace=trace, weights=table, platform=platform)


def spaces(problem: Problem, **options: object) -> tuple[Space, Space]:
    """Return the space with identical actors told apart, and merged."""
    chosen = SpaceOptions(**{"capacities": ((4,) * len(problem.trace.topology.buffers),), **options})  # type: ignore[arg-type]
    plain = build_space(problem.trace.topology, problem.platform, chosen)
    return plain, merged_space(plain, build_tables(problem))


def test_workers_of_a_broadcast_whose_writes_are_free_are_alike() -> None:
    plain, merged = spaces(problem_of(BROADCAST, {0: 5, 4: 7}))
    assert merged.symmetry is not None
    assert merged.symmetry.alike == ((1, 2, 3),)
    assert (plain.mappings, merged.told_apart, merged.mappings) == (41, 41, 16)
    assert merged.canonical((0, 1, 2, 1, 0)) == merged.canonical((0, 1, 1, 2, 0)) == merged.canonical((0, 2, 1, 1, 0))


def test_workers_whose_tokens_arrive_one_after_the_other_are_not() -> None:
    problem = problem_of(BROADCAST, {}, write=3)
    assert spaces(problem)[1].symmetry is None
    merged = spaces(problem, transfers="parallel")[1]
    assert merged.symmetry is not None
    assert merged.symmetry.alike == ((1, 2, 3),)


def test_branches_are_exchanged_as_a_whole() -> None:
    plain, merged = spaces(problem_of(BRANCHES, {0: 5, 5: 7, 2: 20, 4: 20}))
    assert merged.symmetry is not None
    assert merged.symmetry.alike == ()
    assert merged.symmetry.families == (((1, 2), (3, 4)),)
    assert merged.canonical((0, 1, 1, 2, 2, 0)) == (0, 1, 1, 2, 2, 0)
    assert merged.canonical((0, 1, 2, 0, 0, 0)) == merged.canonical((0, 0, 0, 1, 2, 0))
    assert plain.mappings > merged.mappings == len(list(merged.assignments()))


def test_chains_are_exchanged_even_where_writes_cost() -> None:
    plain, merged = spaces(problem_of(CHAINS, {1: 20, 4: 20}, write=3))
    assert merged.symmetry is not None
    assert merged.symmetry.families == (((0, 1, 2), (3, 4, 5)),)
    assert merged.canonical((0, 1, 1, 2, 2, 2)) == merged.canonical((0, 0, 0, 1, 2, 2))
    # In one partition with half of the other chain, the order in the partition tells them apart.
    assert merged.canonical((0, 0, 1, 1, 2, 2)) != merged.canonical((0, 1, 1, 2, 2, 0))
    assert merged.mappings < plain.mappings


def test_an_actor_between_twins_counts_where_it_shares_a_partition() -> None:
    edges: Edges = [(0, 1), (0, 3), (1, 4), (3, 4), (0, 2), (2, 4)]
    problem = problem_of(edges, {2: 50})
    merged = spaces(problem)[1]
    assert merged.symmetry is not None
    assert merged.symmetry.families == (((1,), (3,)),)
    assert merged.canonical((0, 1, 2, 0, 0)) == merged.canonical((0, 0, 1, 2, 0))
    assert merged.canonical((0, 1, 1, 2, 0)) != merged.canonical((0, 1, 2, 2, 0))
    pinned = spaces(replace(problem, platform=replace(CORES, units=(*CORES.units, Unit(name="d", kind="cpu")))),
                    pins=(("a2", "d"), ("a1", "c"), ("a3", "c")))[1]  # fmt: skip
    assert pinned.symmetry is not None
    assert pinned.symmetry.alike == ((1, 3),)
    parallel = spaces(problem, policies=("FULL_PARALLEL",))[1]
    assert parallel.symmetry is not None
    assert parallel.symmetry.alike == ((1, 3),)


@pytest.mark.parametrize("change", ["load", "pin", "capacity", "firing", "link"])
def test_near_misses_are_told_apart(change: str) -> None:
    problem = problem_of(BROADCAST, {3: 11} if change == "load" else {})
    pins = (("a3", "c"),) if change == "pin" else ()
    capacities = ((4, 4, 5, 4, 4, 4),) if change == "capacity" else ((4,) * 6,)
    units = (*CORES.units, Unit(name="d", kind="cpu", cores=2))
    platform = replace(CORES, units=units)
    if change == "link":
        platform = replace(platform, units=(*units, Unit(name="g", kind="gpu")),
                           links=(Link(name="l", between=("c", "g"), shared=True),))  # fmt: skip
    if change == "firing":
        firings = [np.zeros(8 + (a == 3), np.uint8) for a in range(5)]
        problem = replace(problem, trace=make_trace(problem.trace.topology, firings))
    problem = replace(problem, platform=platform)
    merged = spaces(problem, pins=pins, capacities=capacities)[1]
    if change == "link":
        assert merged.symmetry is None
    else:
        assert merged.symmetry is not None
        assert merged.symmetry.alike == ((1, 2),)


@pytest.mark.parametrize("workers", [4, 6])
@pytest.mark.parametrize("cores", [2, 3, 5])
@pytest.mark.parametrize("options", [{}, {"partitions": (2, 3)}, {"policies": ("ROUND_ROBIN", "NON_PREEMPTIVE")}])
def test_the_formula_counts_what_is_enumerated(workers: int, cores: int, options: dict[str, object]) -> None:
    """Two classes of workers, each on every core or (with another unit) on some."""
    half = workers // 2
    edges = [(0, 1 + w) for w in range(workers)] + [(1 + w, 1 + workers) for w in range(workers)]
    units = (Unit(name="c", kind="cpu", cores=cores), Unit(name="d", kind="cpu", cores=2, memory_bytes=1))
    problem = problem_of(edges, dict.fromkeys(range(1, 1 + half), 20), platform=Platform(name="p", units=units))
    pins = (("a0", "d"), *((f"a{w}", "c") for w in range(1, 1 + half)))
    _, merged = spaces(problem, pins=pins, **options)
    assert isinstance(merged, MergedSpace)
    forms = list(merged.assignments())
    assert merged.mappings == len(forms) == len(set(forms))
    assert merged.size == len(list(merged.candidates()))


def test_large_classes_are_counted_without_enumeration() -> None:
    workers = 30
    edges = [(0, 1 + w) for w in range(workers)] + [(1 + w, 1 + workers) for w in range(workers)]
    platform = Platform(name="p", units=(Unit(name="c", kind="cpu", cores=2),))
    plain, merged = spaces(problem_of(edges, {0: 5}, platform=platform))
    assert plain.mappings == 2 ** (workers + 1)
    # Source and join together: 0 to 30 workers elsewhere. Apart: 0 to 30 workers with the source.
    assert merged.mappings == 2 * (workers + 1)
    assert len(list(merged.assignments())) == merged.mappings


def optimum(problem: Problem, space: Space) -> int:
    engine = make_engine("compiled", problem)
    return min(engine.estimate(space.to_point(c)).makespan for c in space.candidates())


@pytest.mark.parametrize(
    ("edges", "load"), [(BROADCAST, {0: 5, 4: 7}), (BRANCHES, {2: 20, 4: 20}), (CHAINS, {1: 20, 4: 20})]
)
def test_nothing_better_is_lost(edges: Edges, load: dict[int, int]) -> None:
    problem = problem_of(edges, load)
    plain, merged = spaces(problem)
    best = optimum(problem, plain)
    assert optimum(problem, merged) == best
    for name in ("exhaustive", "branch-and-bound", "portfolio"):
        found = run(name, problem, merged)
        assert found.best == best
        assert found.outcome.stop == "complete"


@pytest.mark.parametrize("name", METHODS.names())
@pytest.mark.parametrize("edges", [BROADCAST, *seldom(BRANCHES)])
def test_every_method_asks_for_canonical_points_only(name: str, edges: Edges) -> None:
    problem = problem_of(edges, {0: 5})
    _, merged = spaces(problem)
    valid = {merged.to_point(c).digest() for c in merged.candidates()}
    assert len(valid) == merged.size
    found = run(name, problem, merged, evaluations=60)
    assert {e.digest for e in found.evaluations} <= valid


def test_every_exchange_of_many_pairs_of_branches_is_found() -> None:
    """Six pairs are more exchanges than are tried at once; they are tried pair by pair."""
    edges: Edges = []
    for pair in range(6):
        first = 1 + 4 * pair
        edges += [(0, first), (first, first + 1), (0, first + 2), (first + 2, first + 3)]
    problem = problem_of(edges, {1 + 4 * p + k: 10 + p + 7 * (k % 2) for p in range(6) for k in range(4)})
    plain, merged = spaces(problem)
    assert merged.symmetry is not None
    assert len(merged.symmetry.families) == len(merged.symmetry.rounds) == 6
    rng = np.random.default_rng(2)
    for _ in range(20):
        slots = plain.random_assignment(rng)
        form = merged.canonical(slots)
        assert form is not None
        assert merged.canonical(form) == form
        engine = make_engine("compiled", problem)
        assert len({engine.estimate(plain.to_point(Candidate(assignment=a))).makespan for a in (slots, form)}) == 1


def test_detection_does_not_depend_on_names() -> None:
    problem = problem_of(BROADCAST, {})
    found = spaces(problem)[1].symmetry
    for order in itertools.islice(itertools.permutations("vwxyz"), 3):
        topology = problem.trace.topology
        renamed = tuple(replace(a, class_name=name) for a, name in zip(topology.actors, order, strict=True))
        trace = make_trace(replace(topology, actors=renamed), problem.trace.firings)
        assert spaces(replace(problem, trace=trace))[1].symmetry == found


def with_frequency(problem: Problem) -> Problem:
    """Return a problem whose weights are counted at 100 MHz, with clocks for both of its units."""
    table = problem.weights
    for costs in (table.compute, table.transfers):
        for key, cost in costs.items():  # type: ignore[attr-defined]
            costs[key] = replace(cost, frequency_mhz=Fraction(100))  # type: ignore[index]
    clocks = tuple((unit, Fraction(mhz)) for unit in "cd" for mhz in (100, 70))
    return replace(problem, clocks=clocks)


def test_clocks_stay_with_their_units() -> None:
    """Two units that differ, each with a clock: exchanges of workers move no clock."""
    units = (Unit(name="c", kind="cpu", cores=2), Unit(name="d", kind="cpu", memory_bytes=1))
    problem = with_frequency(problem_of(BROADCAST, {0: 5, 4: 7}, platform=Platform(name="p", units=units)))
    domains = tuple(ClockDomain(units=(u,), clocks_mhz=(Fraction(100), Fraction(70))) for u in "cd")
    plain, merged = spaces(problem, clocks=domains)
    assert isinstance(merged, MergedSpace)
    points = list(merged.candidates())
    assert len(set(points)) == len(points) == merged.size < plain.size
    engine = make_engine("compiled", problem)
    for candidate in itertools.islice(plain.candidates(), 0, None, 5):
        form = merged.candidate(candidate.assignment, clocks=candidate.clocks)
        assert form in points
        there = engine.estimate(merged.to_point(form)).makespan
        assert there == engine.estimate(plain.to_point(candidate)).makespan


def test_clocks_of_identical_units_leave_actors_told_apart() -> None:
    units = (Unit(name="c", kind="cpu"), Unit(name="d", kind="cpu"))
    problem = with_frequency(problem_of(BROADCAST, {}, platform=Platform(name="p", units=units)))
    domains = tuple(ClockDomain(units=(u,), clocks_mhz=(Fraction(100), Fraction(70))) for u in "cd")
    plain, merged = spaces(problem, clocks=domains)
    assert merged is plain
