"""Lower bounds against estimates of random networks."""

import random
from dataclasses import replace

from hypothesis import given, settings

from dse.base.errors import DseError
from dse.estimate.bounds.lower_bounds import Bounds, Room
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import prepare
from dse.estimate.problem.tables import ProblemTables
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from tests.examples import WHOLE, examples
from tests.property.estimation_cases import MORE, Case, Shape, estimation_cases, random_case, with_clocks

EXAMPLES = settings(max_examples=examples(60), deadline=None)


def check_bounds(case: Case) -> bool:
    """Check all bounds of a case, with its capacities and with more; return whether there was something to check."""
    tables = build_tables(case.problem)
    return sum(check_point(tables, case.point, more) for more in (0, 1, 50)) > 0


def check_point(tables: ProblemTables, given: DesignPoint, more: int) -> bool:
    """Check all bounds of the point with so many tokens more in each buffer, unless it deadlocks."""
    point = replace(given, capacities=tuple(c + more for c in given.capacities))
    estimate = make_engine("compiled", tables).estimate(point)
    if estimate.deadlock is not None:
        return False
    prepared = prepare(tables, point)
    bounds = Bounds(tables)
    own = bounds.of_point(prepared)
    room = Room(capacities=point.capacities, release=point.release)
    every = bounds.of_any_point(cores=sum(prepared.cores))
    for name in ("work", "heaviest_actor", "critical_path", "room", "pipeline", "one_core", "shared_link", "makespan"):
        assert getattr(own, name) <= estimate.makespan, name
    assert own.critical_path <= own.room
    tight = bounds.of_any_point(cores=sum(prepared.cores), transfers=point.transfers, room=room)
    assert max(tight.room, tight.filling) <= tight.makespan <= estimate.makespan
    assert tight.critical_path <= tight.room <= own.room
    assert own.pipeline >= own.work
    if max(prepared.cores) == 1 and not tables.block_width.any():
        assert own.one_core >= own.pipeline
    assert own.shared_link <= max((link.busy for link in estimate.links), default=0)
    assert every.makespan <= estimate.makespan
    assert every.critical_path <= own.critical_path
    assert every.heaviest_actor <= own.heaviest_actor
    sharper = bounds.of_any_point(cores=sum(prepared.cores), transfers=point.transfers)
    assert every.makespan <= sharper.makespan <= estimate.makespan
    return True


@given(case=estimation_cases())
@EXAMPLES
def test_no_bound_exceeds_a_makespan(case: Case) -> None:
    check_bounds(case)


def test_no_bound_exceeds_a_makespan_on_many_seeds() -> None:
    shapes = (Shape(max_firings=300), Shape(max_firings=300, flowing=True, mixed=True, hosts=True))
    checked = sum(check_bounds(random_case(random.Random(seed), shapes[seed % 2])) for seed in range(300 * MORE))
    assert checked > 150 * MORE


def test_no_bound_exceeds_a_makespan_under_chosen_clocks() -> None:
    checked = 0
    for seed in range(200 * MORE):
        case = with_clocks(random.Random(seed), random_case(random.Random(seed), Shape(max_firings=120)))
        if any(p.clock_mhz for p in case.point.partitions):
            checked += check_bounds(case)
    assert checked > 30 * MORE


def test_pipeline_and_shared_links_bound_some_makespans_best() -> None:
    pipelines = links = 0
    for seed in range(300):
        case = random_case(random.Random(seed), Shape(max_firings=300))
        tables = build_tables(case.problem)
        try:
            own = Bounds(tables).of_point(prepare(tables, case.point))
        except DseError:
            continue
        others = max(own.work, own.heaviest_actor, own.critical_path)
        pipelines += own.pipeline > others
        links += own.shared_link > others
    assert pipelines > 0
    assert links > 0


def without_resources(case: Case) -> Case:
    """The case with a core for each actor, no contention on links, no SIMD and no arrivals."""
    problem = Problem(
        trace=case.problem.trace,
        weights=replace(case.problem.weights, simd={}, arrival=None),
        platform=replace(
            case.problem.platform, links=tuple(replace(link, shared=False) for link in case.problem.platform.links)
        ),
        missing_weights=case.problem.missing_weights,
    )
    partitions = tuple(replace(p, policy="FULL_PARALLEL", static_order=()) for p in case.point.partitions)
    return Case(problem=problem, point=replace(case.point, partitions=partitions))


def test_a_path_is_the_makespan_where_nothing_but_tokens_and_room_holds_a_firing_up() -> None:
    shapes = (Shape(max_firings=400), Shape(max_actors=9, max_firings=400, max_rate=4, flowing=True, mixed=True))
    checked, waited, seeds = [0, 0], 0, 300 if WHOLE else 150
    for seed in range(seeds):
        case = without_resources(random_case(random.Random(seed), shapes[seed % 2]))
        tables = build_tables(case.problem)
        for i, capacities in enumerate((case.point.capacities, (1_000_000,) * len(case.point.capacities))):
            point = replace(case.point, capacities=capacities)
            estimate = make_engine("compiled", tables).estimate(point)
            if estimate.deadlock is None:
                own = Bounds(tables).of_point(prepare(tables, point))
                assert own.room == estimate.makespan
                assert i == 0 or own.critical_path == own.room
                waited += own.critical_path < own.room
                checked[i] += estimate.makespan > 0
    assert min(checked) > seeds // 2
    assert waited > seeds // 33
