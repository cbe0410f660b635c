"""Clocks in the space, in what searches ask for, in bounds and in estimates."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dse.base.errors import FormatError
from dse.estimate.bounds.lower_bounds import Bounds
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.mapping_bound import MappingBound, fastest_rows
from dse.explore.methods.registry import METHODS
from dse.explore.moves.moves import Position, candidate_of, position_of, random_candidate, reset, settings_of
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.formats.study_file import point_to_json
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from tests.unit.explore.fakes import chain, context
from tests.unit.explore.points import point_from_json
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import context_of, run, space_of
from tests.unit.explore.test_actor_symmetry import BROADCAST, spaces
from tests.unit.explore.test_actor_symmetry import problem_of as branched
from tests.unit.explore.test_methods import searched
from tests.unit.explore.test_symmetry import TWINS, space_on

FAST, SLOW, SLOWER = Fraction(2000), Fraction(1000), Fraction(500)


def domain(*units: str, clocks: tuple[Fraction, ...] = (FAST, SLOW)) -> ClockDomain:
    return ClockDomain(units=units, clocks_mhz=clocks)


CPU_AND_GPU = (domain("cpu", clocks=(FAST, SLOW, SLOWER)), domain("gpu"))


def clocked_problem(seed: int, domains: tuple[ClockDomain, ...] = CPU_AND_GPU, **wishes: int) -> Problem:
    """A random tree on three cores and a GPU, whose weights are for 500 MHz."""
    problem = problem_of(seed, clock=500, given_host=True, **wishes)
    clocks = tuple((unit, clock) for d in domains for unit in d.units for clock in d.clocks_mhz)
    return replace(problem, clocks=clocks)


def brute_force(space: Space) -> set[Candidate]:
    """The canonical candidates of all placements with all levels, those of units that are not used included."""
    levels = itertools.product(*(range(len(d.clocks_mhz)) for d in space.options.clocks))
    slots = itertools.product(range(len(space.unit_of_slot)), repeat=space.n_actors)
    raw = itertools.product(slots, levels, range(len(space.options.policies)), range(len(space.options.capacities)))
    found = (space.candidate(s, policy=p, capacity=c, clocks=chosen) for s, chosen, p, c in raw)
    return {candidate for candidate in found if candidate is not None}


DOMAINS = [
    (domain("a"), domain("b")),
    (domain("a", clocks=(FAST, SLOW, SLOWER)), domain("b")),
    (domain("a", "b"), domain("g")),
    (domain("a", "g"), domain("b", "h")),
    (domain("h"),),
    (domain("a"), domain("b"), domain("g"), domain("h")),
]


@pytest.mark.parametrize("domains", DOMAINS)
@pytest.mark.parametrize("options", [{}, {"partitions": (2, 3), "policies": ("NON_PREEMPTIVE", "ROUND_ROBIN")}])
def test_the_space_holds_each_point_once(domains: tuple[ClockDomain, ...], options: dict[str, object]) -> None:
    space = space_on(TWINS, 3, clocks=domains, **options)
    listed = list(space.candidates())
    assert len(listed) == len(set(listed)) == space.size
    assert set(listed) == brute_force(space)
    digests = {space.to_point(candidate).digest() for candidate in listed}
    assert len(digests) == space.size
    used = [{p.unit: p.clock_mhz for p in space.to_point(candidate).partitions} for candidate in listed]
    chosen = {unit for d in domains for unit in d.units}
    assert all((clock is not None) == (unit in chosen) for units in used for unit, clock in units.items())


def test_policies_of_each_partition_share_the_clock_of_their_unit() -> None:
    space = space_on(
        TWINS, 3, clocks=(domain("a"),), policy_per_partition=True, policies=("NON_PREEMPTIVE", "ROUND_ROBIN")
    )
    points = [space.to_point(candidate) for candidate in space.candidates()]
    assert len({point.digest() for point in points}) == space.size
    assert all(len({p.clock_mhz for p in point.partitions if p.unit == "a"}) <= 1 for point in points)


def test_twins_need_the_same_clocks_to_choose_from() -> None:
    assert space_on(TWINS, 3).alike == (0, 0, 2, 2)
    assert space_on(TWINS, 3, clocks=(domain("a"), domain("b"))).alike == (0, 0, 2, 2)
    assert space_on(TWINS, 3, clocks=(domain("a", "b"),)).alike == (0, 0, 2, 2)
    assert space_on(TWINS, 3, clocks=(domain("a"),)).alike == (0, 1, 2, 2)
    assert space_on(TWINS, 3, clocks=(domain("a"), domain("b", clocks=(FAST,)))).alike == (0, 1, 2, 2)
    assert space_on(TWINS, 3, clocks=(domain("a", "g"), domain("b", "h"))).alike == (0, 1, 2, 3)


def test_exchanging_twins_with_their_clocks_changes_no_estimate() -> None:
    domains = (domain("a"), domain("b"), domain("g"), domain("h"))
    problem = replace(problem_of(3, clock=500, given_host=True, n_actors=2, n_firings=5), platform=TWINS)
    problem = replace(problem, clocks=tuple((d.units[0], clock) for d in domains for clock in d.clocks_mhz))
    merged = space_of(problem, clocks=domains)
    apart = Space(
        units=merged.units, allowed=merged.allowed, least=merged.least, most=merged.most, options=merged.options
    )
    engine = make_engine("compiled", problem)

    def makespan(candidate: Candidate) -> int:
        return engine.estimate(apart.to_point(candidate)).makespan

    candidates = list(apart.candidates())
    assert len(candidates) > merged.size
    for candidate in candidates:
        twin = merged.candidate(candidate.assignment, clocks=candidate.clocks)
        assert twin is not None
        assert makespan(candidate) == makespan(twin)


def test_merging_identical_actors_keeps_the_clocks() -> None:
    box = Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu")))
    problem = branched(BROADCAST, {0: 5, 4: 7}, platform=box)
    weights = problem.weights
    problem = replace(
        problem,
        weights=replace(
            weights,
            compute={key: replace(cost, frequency_mhz=SLOWER) for key, cost in weights.compute.items()},
            transfers={key: replace(cost, frequency_mhz=SLOWER) for key, cost in weights.transfers.items()},
        ),
        clocks=tuple((unit, clock) for d in CPU_AND_GPU for unit in d.units for clock in d.clocks_mhz),
    )
    plain, merged = spaces(problem, clocks=CPU_AND_GPU)
    assert len(set(merged.candidates())) == merged.size < plain.size
    engine = make_engine("compiled", problem)
    makespan = {c: engine.estimate(plain.to_point(c)).makespan for c in plain.candidates()}
    seen = set()
    for candidate, ticks in makespan.items():
        alike = merged.candidate(candidate.assignment, clocks=candidate.clocks)
        assert alike is not None
        assert makespan[alike] == ticks
        seen.add(alike)
    assert seen == set(merged.candidates())


def test_random_points_are_uniform() -> None:
    platform = Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu")))
    topology = chain(2)
    space = build_space(topology, platform, SpaceOptions(capacities=((8,),), clocks=CPU_AND_GPU))
    drawing = context(space)
    drawing = replace(drawing, rng=np.random.default_rng(1))
    counts = dict.fromkeys(space.candidates(), 0)
    for _ in range(200 * space.size):
        counts[random_candidate(drawing)] += 1
    assert len(counts) == space.size
    assert 120 < min(counts.values()) <= max(counts.values()) < 280


def test_steps_change_one_clock_of_a_unit_in_use() -> None:
    space = space_on(TWINS, 2, clocks=(domain("a", clocks=(FAST, SLOW, SLOWER)), domain("g")))
    on_cpu = position_of(Candidate(assignment=(0, 0)))
    assert [step.candidate.clocks for step in reset(space, on_cpu)] == [(1, 0), (2, 0)]
    on_both = Position(slots=(0, 4), clocks=(2, 0))
    assert {step.candidate.clocks for step in reset(space, on_both)} == {(), (1, 0), (2, 1)}
    unused = candidate_of(space, Position(slots=(0, 0), clocks=(0, 1)))
    assert unused == Candidate(assignment=(0, 0))


def test_constructed_mappings_come_with_every_clock_unless_they_are_too_many() -> None:
    few = space_on(TWINS, 2, clocks=(domain("a"), domain("g")))
    assert {c.clocks for c in settings_of(few, [Candidate(assignment=(0, 4))])} == {(), (0, 1), (1, 0), (1, 1)}
    clocks = tuple(Fraction(n) for n in range(20, 0, -1))
    many = space_on(TWINS, 2, clocks=(domain("a", clocks=clocks), domain("g", clocks=clocks[:5])))
    found = {c.clocks for c in settings_of(many, [Candidate(assignment=(0, 4))])}
    assert found == {(), *((n, min(n, 4)) for n in range(1, 20))}


# Estimates and bounds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES.names())
def test_cycles_take_the_time_of_the_chosen_clock_and_transfers_their_own(engine: str) -> None:
    problem = clocked_problem(2, n_actors=3, n_firings=9)
    space = space_of(problem, clocks=CPU_AND_GPU)
    for candidate in list(space.candidates())[:60]:
        point = space.to_point(candidate)
        plain = replace(point, partitions=tuple(replace(p, clock_mhz=None) for p in point.partitions))
        runner = make_engine(engine, problem)
        clocked, own = runner.estimate(point), runner.estimate(plain)
        for p, fast, slow in zip(point.partitions, clocked.partitions, own.partitions, strict=True):
            assert p.clock_mhz is not None
            times = p.clock_mhz / 500  # whole cycles at 500 MHz are whole ticks at all of these clocks
            assert fast.scheduling * times <= slow.scheduling or p.unit == "gpu"
            assert fast.processing * times == slow.processing or p.unit == "gpu"
            assert (fast.reading, fast.writing) == (slow.reading, slow.writing) or p.unit == "gpu"


def test_a_clock_equal_to_that_of_the_weights_changes_nothing() -> None:
    domains = (domain("cpu", clocks=(SLOWER,)), domain("gpu", clocks=(SLOWER,)))
    problem = clocked_problem(4, domains)
    space = space_of(problem, clocks=domains)
    engine = make_engine("compiled", problem)
    for candidate in space.candidates():
        point = space.to_point(candidate)
        plain = replace(point, partitions=tuple(replace(p, clock_mhz=None) for p in point.partitions))
        assert engine.estimate(point) == engine.estimate(plain)
        assert point.digest() != plain.digest()


def test_a_point_whose_clocks_do_not_fit_is_refused() -> None:
    problem = clocked_problem(1, n_actors=2)
    space = space_of(problem, clocks=CPU_AND_GPU)
    apart = next(p for p in map(space.to_point, space.candidates()) if {q.unit for q in p.partitions} == {"cpu"})
    engine = make_engine("compiled", problem)
    other = replace(apart, partitions=tuple(replace(p, clock_mhz=Fraction(3)) for p in apart.partitions))
    with pytest.raises(FormatError, match="at 3 MHz, which the problem lacks"):
        engine.estimate(other)
    split = next(p for p in map(space.to_point, space.candidates()) if [q.unit for q in p.partitions] == ["cpu", "cpu"])
    mixed = replace(split, partitions=(split.partitions[0], replace(split.partitions[1], clock_mhz=None)))
    with pytest.raises(FormatError, match="another clock than a partition before it"):
        engine.estimate(mixed)
    with pytest.raises(FormatError, match="the weights have none"):
        build_tables(replace(problem_of(1, clock=None, given_host=True), clocks=(("cpu", FAST),)))


@pytest.mark.parametrize("transfers", ["sequential", "parallel"])
def test_no_bound_exceeds_a_makespan(transfers: str) -> None:
    for seed in range(4):
        problem = clocked_problem(seed)
        space = space_of(problem, clocks=CPU_AND_GPU, transfers=transfers)
        tables, engine = build_tables(problem), make_engine("compiled", problem)
        candidates = list(space.candidates())
        row_of = fastest_rows(tables, space)
        rows = [sorted({row_of[u] for u in units}) for units in space.allowed]
        every = Bounds(tables).of_any_point(cores=space.most, rows=rows).makespan
        assert every <= min(engine.estimate(space.to_point(c)).makespan for c in candidates)
        bound = MappingBound(tables, space)
        slower = 0
        for candidate, least in zip(candidates, bound.of(candidates), strict=True):
            assert least <= engine.estimate(space.to_point(candidate)).makespan
            slower += least > bound.of([replace(candidate, clocks=())])[0]
        assert slower > 0


# Searches -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_asks_for_points_of_the_space_only(name: str) -> None:
    units = (
        Unit(name="cpu", kind="cpu", cores=2), Unit(name="twin", kind="cpu", cores=2),
        Unit(name="gpu", kind="gpu", partition="PG"),
    )  # fmt: skip
    space = build_space(
        chain(5), Platform(name="box", units=units),
        SpaceOptions(
            capacities=((8,) * 4,), partitions=(2, 4), policies=("NON_PREEMPTIVE", "ROUND_ROBIN"),
            clocks=(domain("cpu"), domain("twin"), domain("gpu", clocks=(FAST, SLOW, SLOWER))),
        ),
    )  # fmt: skip
    valid = {space.to_point(c).digest() for c in space.candidates()}
    found = searched(name, space).evaluations
    asked = [e.digest for e in found]
    assert set(asked) <= valid
    assert len(asked) == len(set(asked))
    assert len({p.clock_mhz for e in found for p in e.point.partitions}) > 1


@pytest.mark.parametrize("name", ["exhaustive", "branch-and-bound", "integer-program", "portfolio"])
@pytest.mark.parametrize("seed", range(2))
def test_exact_methods_find_the_optimum(name: str, seed: int) -> None:
    problem = clocked_problem(seed, n_actors=3 + seed, n_firings=30)
    space = space_of(problem, clocks=CPU_AND_GPU)
    engine = make_engine("compiled", problem)
    optimum = min(engine.estimate(space.to_point(c)).makespan for c in space.candidates())
    found = run(name, problem, space)
    assert found.method.proven <= optimum
    if found.method.exact:
        assert found.best == optimum
        known = len(found.evaluations) + found.method.pruned
        assert known >= space.size  # the points that branch and bound began with may be counted twice
        assert known == space.size or name in ("branch-and-bound", "portfolio")
    assert found.method.exact or name == "integer-program"


@pytest.mark.parametrize("name", ["local-search", "tabu", "annealing", "nsga2", "pareto-search", "random"])
def test_searches_reach_every_clock(name: str) -> None:
    problem = clocked_problem(5, n_actors=2, n_firings=8)
    space = space_of(problem, clocks=CPU_AND_GPU)
    found = run(name, problem, space, evaluations=space.size)
    seen = {(p.unit, p.clock_mhz) for e in found.evaluations for p in e.point.partitions}
    assert seen == set(problem.clocks)


def test_loads_of_a_method_are_those_of_the_fastest_clock() -> None:
    problem = clocked_problem(5, n_actors=3, n_firings=8)
    slow_only = tuple(replace(d, clocks_mhz=d.clocks_mhz[-1:]) for d in CPU_AND_GPU)
    fast = context_of(problem, space_of(problem, clocks=CPU_AND_GPU)).loads
    slow = context_of(problem, space_of(problem, clocks=slow_only)).loads
    assert all(f < s for f_row, s_row in zip(fast, slow, strict=True) for f, s in zip(f_row, s_row, strict=True))


def test_points_survive_json() -> None:
    clocks = (Fraction("852.5"), Fraction("99999.999999"), Fraction(1200))
    space = space_on(TWINS, 2, clocks=(domain("a", clocks=clocks),))
    topology = chain(2)
    points: list[DesignPoint] = [space.to_point(c) for c in space.candidates()]
    assert [point_from_json(point_to_json(p, topology), topology).digest() for p in points] == [
        p.digest() for p in points
    ]
