"""Encoded points of the compiled engine, which remembers choices from point to point, against ``prepare`` by point."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import DseError
from dse.estimate.compiled import encode
from dse.estimate.compiled.encode import EncodedPoint, PointEncoder
from dse.estimate.compiled.place_kernel import PART_UNIT
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.estimate.problem.tables import ProblemTables
from dse.model.design_point import DesignPoint, Partition
from dse.model.problem import Problem
from tests.examples import seldom
from tests.property.estimation_cases import Shape, random_case, random_point, with_clocks

SEEDS = range(60)
POINTS = 20
SHAPE = Shape(max_actors=7, max_rate=2)


def tables_of(rng: random.Random, seed: int) -> ProblemTables:
    case = random_case(rng, SHAPE)
    problem = with_clocks(rng, case).problem if seed % 3 == 0 else case.problem
    if seed % 5 == 4:  # some actors lack weights somewhere
        compute = {key: cost for key, cost in problem.weights.compute.items() if rng.random() < 0.9}
        problem = replace(problem, weights=replace(problem.weights, compute=compute))
    return build_tables(problem)


def clocked(rng: random.Random, problem: Problem, point: DesignPoint) -> DesignPoint:
    """The point with a clock of the problem for some of its units."""
    clock_of = {unit: rng.choice([None, clock]) for unit, clock in problem.clocks}
    partitions = tuple(replace(p, clock_mhz=clock_of.get(p.unit)) for p in point.partitions)
    return replace(point, partitions=partitions)


SPOILERS: tuple[Callable[[random.Random, Partition], Partition], ...] = (
    lambda rng, p: replace(p, actors=p.actors[1:]),
    lambda rng, p: replace(p, actors=(*p.actors, rng.choice((-1, 0, 1, 99)))),
    lambda rng, p: replace(p, unit=rng.choice(("nowhere", "cpu", "gpu"))),
    lambda rng, p: replace(p, cores=0),
    lambda rng, p: replace(p, policy="FAIR"),  # type: ignore[arg-type]
    lambda rng, p: replace(p, policy="STATIC_ORDER", static_order=p.actors),
    lambda rng, p: replace(p, clock_mhz=Fraction(rng.choice((1, 900)))),
)


def spoiled(rng: random.Random, point: DesignPoint) -> DesignPoint:
    """The point with something wrong, or at least odd."""
    if rng.random() < 0.2:
        return replace(point, capacities=point.capacities[1:])
    if rng.random() < 0.2:
        return replace(point, capacities=tuple(rng.choice((n, n, 0)) for n in point.capacities))
    partitions = list(point.partitions)
    if rng.random() < 0.2:
        partitions[-1] = replace(partitions[-1], name=partitions[0].name)
    index = rng.randrange(len(partitions))
    partitions[index] = rng.choice(SPOILERS)(rng, partitions[index])
    return replace(point, partitions=tuple(partitions))


def points_of(rng: random.Random, tables: ProblemTables) -> list[DesignPoint]:
    points = [clocked(rng, tables.problem, random_point(rng, tables.problem, SHAPE)) for _ in range(POINTS)]
    points += [spoiled(rng, point) for point in points]
    rng.shuffle(points)
    return points


def content(encoded: EncodedPoint) -> object:
    """Everything that is packed; what a unit is called among the choices is not."""
    parts = [row[:PART_UNIT] for row in encoded.parts.tolist()]
    return encoded.point, parts, encoded.members.tolist(), encoded.orders.tolist(), encoded.choices.tolist()


def outcome(make: Callable[[], EncodedPoint]) -> object:
    try:
        return content(make())
    except DseError as error:
        return type(error), error.diagnostics


@pytest.mark.parametrize("seed", SEEDS)
def test_encoded_points_are_what_prepare_says_and_so_are_errors(seed: int) -> None:
    rng = random.Random(seed)
    tables = tables_of(rng, seed)
    encoder = PointEncoder(tables)
    points = points_of(rng, tables)
    for point in [*points, *points]:
        expected = outcome(lambda: PointEncoder(tables).of(prepare(tables, point)))  # noqa: B023
        assert outcome(lambda: encoder.encode(point)) == expected  # noqa: B023


@pytest.mark.parametrize("seed", SEEDS)
def test_a_known_point_is_not_prepared_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    tables = build_tables(replace(random_case(rng, SHAPE).problem, missing_weights="zero"))
    encoder = PointEncoder(tables)
    points = [random_point(rng, tables.problem, SHAPE) for _ in range(POINTS)]
    points = [p for p in points if all(part.policy != "STATIC_ORDER" for part in p.partitions)]
    for point in points:
        encoder.encode(point)
    monkeypatch.setattr(encode, "prepare", lambda *_: pytest.fail("prepared"))
    for point in points:
        encoder.encode(replace(point, release="processing"))


@pytest.mark.parametrize("seed", [*SEEDS[:15], *seldom(*SEEDS[15:30])])
def test_an_engine_estimates_the_next_point_as_a_new_one_would(seed: int) -> None:
    rng = random.Random(seed)
    tables = tables_of(rng, seed)
    engine = make_engine("compiled", tables)
    for point in points_of(rng, tables):
        try:
            expected = make_engine("reference", tables).estimate(point)
        except DseError as error:
            with pytest.raises(type(error)):
                engine.estimate(point)
        else:
            assert engine.estimate(point) == expected


def test_with_too_many_units_every_point_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    case = random_case(rng, Shape(max_actors=9))
    while not case.problem.trace.topology.buffers:
        case = random_case(rng, Shape(max_actors=9))
    expected = make_engine("compiled", case.problem).estimate(case.point)
    monkeypatch.setattr(encode, "MOST_KNOWN", 0)
    engine = make_engine("compiled", case.problem)
    assert [engine.estimate(case.point) for _ in range(2)] == [expected] * 2
