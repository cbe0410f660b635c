"""Every engine equals the reference in every integer, on random networks, traces, weights, platforms and points.

The number of seeded cases is 1 000, and half as many where tokens flow; ``DSE_CASES`` (``make test-full``) asks for
more.
"""

import dataclasses
import random

import pytest

from dse.base.errors import DseError
from dse.estimate.compiled.layout import MANY_CORES
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.tables import ProblemTables
from dse.model.estimate import Estimate
from tests.examples import WHOLE
from tests.property.estimation_cases import N_CASES, Case, Shape, random_case, with_clocks, with_deviations

N_CHUNKS = 8
SHAPES = (Shape(), Shape(max_actors=12, max_firings=250, max_rate=4))
FOUND_LATE = (4693, 5339, 6770, 7165, 7259, 9130, 18220, 18970)
"""Seeds above 2 000 that once showed a fault: a step held for a firing that a link had ended at the same instant; the
last: an occupancy looked at before the tokens that leave in the same phase had left."""
FLOWING = (
    Shape(max_firings=200, flowing=True, mixed=True),
    Shape(max_actors=12, max_firings=400, max_rate=4, flowing=True, mixed=True),
    Shape(max_actors=8, max_firings=300, flowing=True, hosts=True),
    Shape(max_actors=8, max_firings=300, flowing=True, hosts=True, mixed=True),
)
"""Of the cases of ``SHAPES`` half deadlock, most of them early. Of these nearly all complete, with little room."""
WIDE = Shape(max_actors=40, max_firings=500, flowing=True, mixed=True)


def outcome(engine: str, case: Case, tables: ProblemTables | None = None) -> object:
    """Every field of the estimate as plain values, or the error. ``tables``: those of the problem, if made before."""
    try:
        estimate = make_engine(engine, tables or case.problem).estimate(case.point, firing_times=True)
    except DseError as error:
        return type(error), error.diagnostics
    assert estimate.firing_times is not None
    times = [(t.start.tolist(), t.end.tolist()) for t in estimate.firing_times]
    fields = {f.name: getattr(estimate, f.name) for f in dataclasses.fields(estimate) if f.name != "firing_times"}
    return fields | {"times": times}


def both(engine: str, case: Case) -> tuple[object, object]:
    """What an engine and the reference make of a case, whose tables are made once."""
    try:
        tables = build_tables(case.problem)
    except DseError:  # what each engine says too
        tables = None
    return outcome(engine, case, tables), outcome("reference", case, tables)


@pytest.mark.parametrize("engine", [name for name in ENGINES.names() if name != "reference"])
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_engine_equals_reference(engine: str, chunk: int) -> None:
    deadlocks = 0
    for seed in range(chunk, N_CASES, N_CHUNKS):
        case = random_case(random.Random(seed), SHAPES[seed % 5 == 4])
        found, expected = both(engine, case)
        assert found == expected, f"seed {seed}"
        deadlocks += isinstance(expected, dict) and expected["deadlock"] is not None
    assert 0 < deadlocks < N_CASES // N_CHUNKS


def flowing_case(seed: int) -> Case:
    """A case that seldom deadlocks, every third with chosen clocks."""
    case = random_case(random.Random(seed), FLOWING[seed % len(FLOWING)])
    return with_clocks(random.Random(seed), case) if seed % 3 == 0 else case


@pytest.mark.parametrize("engine", [name for name in ENGINES.names() if name != "reference"])
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_engine_equals_reference_where_tokens_flow(engine: str, chunk: int) -> None:
    deadlocks = 0
    for seed in range(chunk, N_CASES // 2, N_CHUNKS):
        case = flowing_case(seed)
        found, expected = both(engine, case)
        assert found == expected, f"seed {seed}"
        assert isinstance(expected, dict)
        deadlocks += expected["deadlock"] is not None
    assert deadlocks < N_CASES // 2 // N_CHUNKS // 10


@pytest.mark.parametrize("seed", FOUND_LATE)
def test_faults_found_late_stay_mended(seed: int) -> None:
    case = random_case(random.Random(seed), SHAPES[seed % 5 == 4])
    found, expected = both("compiled", case)
    assert found == expected


@pytest.mark.parametrize("engine", [name for name in ENGINES.names() if name != "reference"])
def test_engine_equals_reference_under_chosen_clocks(engine: str) -> None:
    clocked = 0
    for seed in range(N_CASES // 5):
        case = with_clocks(random.Random(seed), random_case(random.Random(seed), SHAPES[seed % 5 == 4]))
        if any(p.clock_mhz for p in case.point.partitions):
            clocked += 1
            found, expected = both(engine, case)
            assert found == expected, f"seed {seed}"
    assert clocked > N_CASES // 20


@pytest.mark.parametrize("engine", [name for name in ENGINES.names() if name != "reference"])
def test_engine_equals_reference_where_firings_have_their_own_costs(engine: str) -> None:
    moved = 0
    for seed in range(N_CASES // 5):
        plain = random_case(random.Random(seed), (*SHAPES, *FLOWING)[seed % 6])
        case = with_deviations(random.Random(seed), plain)
        found, expected = both(engine, case)
        assert found == expected, f"seed {seed}"
        moved += expected != outcome(engine, plain)
    assert moved > N_CASES // 10


def wide_case(seed: int) -> Case | None:
    """A case with so many cores that what is due is looked for by eight; None: a link rules that out."""
    case = random_case(random.Random(seed), WIDE)
    if case.problem.platform.links:
        return None
    partitions = [
        p if p.policy == "STATIC_ORDER" else dataclasses.replace(p, cores=p.cores + MANY_CORES)
        for p in case.point.partitions
    ]
    return Case(problem=case.problem, point=dataclasses.replace(case.point, partitions=tuple(partitions)))


@pytest.mark.parametrize("engine", [name for name in ENGINES.names() if name != "reference"])
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_engine_equals_reference_on_many_cores(engine: str, chunk: int) -> None:
    compared = 0
    for seed in range(chunk, N_CASES // 5, N_CHUNKS):
        case = wide_case(seed)
        if case is not None:
            compared += 1
            found, expected = both(engine, case)
            assert found == expected, f"seed {seed}"
    assert compared > N_CASES // 5 // N_CHUNKS // 4


def test_without_times_the_rest_is_the_same() -> None:
    case = random_case(random.Random(7))
    engine = make_engine("compiled", case.problem)
    with_times = engine.estimate(case.point, firing_times=True)
    assert dataclasses.replace(with_times, firing_times=None) == engine.estimate(case.point)


@pytest.mark.parametrize("engine", ENGINES.names())
def test_limit_keeps_what_completes_in_time(engine: str) -> None:
    kept = stopped = 0
    seeds = range(0, 200, 1 if WHOLE else 2)
    for seed in seeds:
        case = random_case(random.Random(seed), SHAPES[seed % 5 == 4]) if seed < 100 else flowing_case(seed)
        try:
            tables = build_tables(case.problem)
            whole = make_engine("compiled", tables).estimate(case.point)
        except DseError:
            continue
        runner = make_engine(engine, tables)
        near = max(0, whole.makespan - random.Random(seed).randint(2, 20))
        edges = (whole.makespan, whole.makespan + 1, whole.makespan - 1)
        for limit in (*edges, near, whole.makespan // 2, 0, -2, 2**62, 2**70):
            expected = whole if whole.deadlock is None and whole.makespan <= limit else None
            assert runner.estimate_within(case.point, limit) == expected, f"seed {seed}, limit {limit}"
            kept += expected is not None
            stopped += expected is None
    assert kept > len(seeds) // 2 < stopped


def _unexplained(estimate: Estimate) -> Estimate:
    """Return an estimate without what would end its deadlock."""
    if estimate.deadlock is None:
        return estimate
    return dataclasses.replace(estimate, deadlock=dataclasses.replace(estimate.deadlock, remedy=None, sought=False))


def test_several_points_at_once_are_the_same_as_one_by_one() -> None:
    case = random_case(random.Random(7))
    points = [
        dataclasses.replace(case.point, release=release, capacities=tuple(c + more for c in case.point.capacities))
        for release in ("reading", "processing")
        for more in (0, 1, 5)
    ]
    for name in ENGINES.names():
        engine = make_engine(name, case.problem)
        assert engine.estimates(points) == [_unexplained(engine.estimate(point)) for point in points]
        assert engine.estimates([]) == []
