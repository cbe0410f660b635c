"""Identical units and cores: equivalent mappings are one point, and what that saves is counted."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from dse.estimate.engine import make_engine
from dse.explore.methods.registry import METHODS
from dse.explore.space.build import build_space
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.model.platform import Link, Platform, Unit
from dse.model.problem import Problem
from tests.unit.explore.fakes import chain
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import run, space_of

TWINS = Platform(
    name="twins",
    units=(
        Unit(name="a", kind="cpu", cores=2), Unit(name="b", kind="cpu", cores=2),
        Unit(name="g", kind="gpu", partition="P0G"), Unit(name="h", kind="gpu", partition="P1G"),
    ),
    links=tuple(
        Link(name=f"{c}{g}", between=(c, g), latency_ns=Fraction(3), bandwidth_gb_s=Fraction(1))
        for c in "ab"
        for g in "gh"
    ),
)  # fmt: skip


def every_placement(space: Space) -> list[tuple[int, ...]]:
    slots = range(len(space.unit_of_slot))
    return [p for p in itertools.product(slots, repeat=space.n_actors) if space.canonical(p) is not None]


def space_on(platform: Platform, n: int, **options: object) -> Space:
    topology = chain(n)
    chosen = SpaceOptions(**{"capacities": ((8,) * len(topology.buffers),), **options})  # type: ignore[arg-type]
    return build_space(topology, platform, chosen)


@pytest.mark.parametrize("options", [{}, {"partitions": (2, 3)}, {"pins": (("a0", "b"),)}])
def test_each_class_of_equivalent_placements_is_one_mapping(options: dict[str, object]) -> None:
    space = space_on(TWINS, 4, **options)
    raw = every_placement(space)
    assert len(raw) == space.placements
    assert {space.canonical(p) for p in raw} == set(space.assignments())
    assert len(set(space.assignments())) == space.mappings < space.placements


def test_units_that_differ_or_are_linked_differently_are_no_twins() -> None:
    assert space_on(TWINS, 3).alike == (0, 0, 2, 2)
    assert space_on(TWINS, 3, pins=(("a0", "b"),)).alike == (0, 1, 2, 2)
    slow = replace(TWINS.links[0], latency_ns=Fraction(9))
    assert space_on(replace(TWINS, links=(slow, *TWINS.links[1:])), 3).alike == (0, 1, 2, 3)
    fast = replace(TWINS.units[1], clock_mhz=Fraction(3000))
    assert space_on(replace(TWINS, units=(TWINS.units[0], fast, *TWINS.units[2:])), 3).alike == (0, 1, 2, 2)


def on_twins(seed: int) -> tuple[Problem, Space]:
    problem = replace(problem_of(seed, clock=500, given_host=True, n_actors=4, n_firings=20), platform=TWINS)
    return problem, space_of(problem)


@pytest.mark.parametrize("seed", range(3))
def test_equivalent_placements_have_one_makespan(seed: int) -> None:
    problem, space = on_twins(seed)
    told_apart = Space(
        units=space.units, allowed=space.allowed, least=space.least, most=space.most, options=space.options
    )
    assert told_apart.mappings > space.mappings
    engine = make_engine("compiled", problem)

    def makespan(assignment: tuple[int, ...]) -> int:
        return engine.estimate(told_apart.to_point(Candidate(assignment=assignment))).makespan

    for assignment in told_apart.assignments():
        representative = space.canonical(assignment)
        assert representative is not None
        assert makespan(assignment) == makespan(representative)


@pytest.mark.parametrize("name", METHODS.names())
def test_every_method_works_with_twins(name: str) -> None:
    problem, space = on_twins(1)
    found = run(name, problem, space, evaluations=80)
    valid = {space.to_point(c).digest() for c in space.candidates()}
    assert {e.digest for e in found.evaluations} <= valid
