"""What-if changes mean the same to both engines, and what is left out as sure to change nothing changes nothing."""

import random
from dataclasses import replace
from fractions import Fraction

from dse.analyse.what_if import Laboratory, cramped, single_changes
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.changes import changed, refined
from dse.model.changes import Change, Faster, Room
from dse.model.estimate import Estimate
from tests.property.estimation_cases import Case, Shape, random_case, with_deviations

SHAPES = (
    Shape(max_firings=200, flowing=True),
    Shape(max_firings=200, flowing=True, mixed=True),
    Shape(max_actors=8, max_firings=150, flowing=True, hosts=True),
)
CASES = 60


def cases() -> list[Case]:
    """Cases that complete, every fourth with costs of single firings."""
    found = []
    for seed in range(CASES):
        case = random_case(random.Random(seed), SHAPES[seed % len(SHAPES)])
        case = with_deviations(random.Random(seed), case) if seed % 4 == 0 else case
        if make_engine("compiled", case.problem).estimate(case.point).deadlock is None:
            found.append(case)
    return found


def plain(estimate: Estimate) -> object:
    """What two estimates are compared by."""
    return estimate.makespan, tuple(estimate.actors), tuple(estimate.buffers), estimate.links, estimate.deadlock is None


def test_engines_agree_under_every_change() -> None:
    tried: set[type[Change]] = set()
    for number, case in enumerate(cases()):
        tables = build_tables(case.problem)
        compiled, reference = (make_engine(name, case.problem) for name in ("compiled", "reference"))
        laboratory = Laboratory(compiled, tables, case.point, 1)
        changes = list(single_changes(laboratory))
        for change in random.Random(number).sample(changes, min(4, len(changes))):
            new_tables, point = changed(laboratory.tables, case.point, (change,))
            expected = reference.with_tables(new_tables).estimates([point])[0]
            assert plain(compiled.with_tables(new_tables).estimates([point])[0]) == plain(expected), (
                f"{number}: {change}"
            )
            tried.add(type(change))
    assert len(tried) == 5


def test_smaller_ticks_make_a_makespan_so_many_times_as_long() -> None:
    scales = set()
    for case in cases():
        tables = build_tables(case.problem)
        fine, scale = refined(tables)
        engine = make_engine("compiled", case.problem)
        before, after = engine.estimate(case.point), engine.with_tables(fine).estimate(case.point)
        assert after.makespan == scale * before.makespan
        assert [a.idle for a in after.actors] == [scale * a.idle for a in before.actors]
        assert fine.arrival == scale * tables.arrival
        scales.add(scale)
    assert scales == {1, 1000}


def test_more_room_changes_nothing_where_it_is_not_tried() -> None:
    left_out = 0
    for case in cases():
        engine = make_engine("compiled", case.problem)
        laboratory = Laboratory(engine, build_tables(case.problem), case.point, 1)
        for buffer in range(len(case.point.capacities)):
            if not cramped(laboratory, buffer):
                point = changed(laboratory.tables, case.point, (Room(buffer=buffer, tokens=10**6),))[1]
                more = laboratory.makespans([(Room(buffer=buffer, tokens=10**6),)])
                assert plain(engine.estimate(point)) == plain(engine.estimate(case.point))
                assert more == [laboratory.makespan]
                left_out += 1
    assert left_out > CASES


def test_a_speed_of_all_costs_is_that_of_the_makespan() -> None:
    """Everything three times as fast takes a third; also of firings with costs of their own."""
    for case in cases()[::3]:
        tables = build_tables(case.problem)
        thrice = replace(
            tables,
            compute=tables.compute * 3,
            block_ticks=tables.block_ticks * 3,
            deviations=tables.deviations * 3,
        )
        faster, _ = changed(thrice, case.point, _all_faster(case))
        engine = make_engine("compiled", case.problem)
        known = tables.compute >= 0
        assert (faster.compute[known] == tables.compute[known]).all()
        assert engine.with_tables(faster).estimate(case.point).makespan == engine.estimate(case.point).makespan


def _all_faster(case: Case) -> list[Change]:
    return [Faster(actor=a, speed=Fraction(3)) for a in range(len(case.problem.trace.topology.actors))]
