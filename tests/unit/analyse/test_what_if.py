"""What changes give, on networks where that can be worked out by hand."""

from fractions import Fraction

import pytest

from dse.analyse.critical_path import critical_path
from dse.analyse.promises import path_promises
from dse.analyse.what_if import CurveRequest, Laboratory, Promise, what_if
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.changes import Change, Faster, FreeLink, FreeTransfers, Room, Uncontended
from dse.model.design_point import DesignPoint
from dse.model.problem import Problem
from dse.model.trace import Trace
from dse.model.what_if import Tried, WhatIf
from tests.unit.estimate.networks import alone, heterogeneous, network, partition, point, problem, weights

CHAIN = network([("a.o", "b"), ("b.o", "c")], {"a": "xxx", "b": "yyy", "c": "zzz"})
A, B, C = range(3)
TWICE = Fraction(2)


def laboratory(of: Problem, at: DesignPoint, workers: int = 1, engine: str = "compiled") -> Laboratory:
    return Laboratory(make_engine(engine, of), build_tables(of), at, workers)


def chain(trace: Trace = CHAIN) -> Problem:
    """What a, b, c compute takes 10, 30 and 20 cycles, three times each; each on a core of its own: 120 cycles."""
    return problem(trace, weights(trace, {"a": 10, "b": 30, "c": 20}))


def outcomes(tried: tuple[Tried, ...]) -> dict[tuple[Change, ...], Fraction | None]:
    return {of.changes: of.makespan for of in tried}


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_single_changes_and_pairs_are_simulated_again(engine: str) -> None:
    found = what_if(laboratory(chain(), point(CHAIN, *alone(CHAIN)), engine=engine))
    assert (found.makespan, found.unit) == (120, "cycles")
    singles = {changes[0]: makespan for changes, makespan in outcomes(found.singles).items()}
    assert singles[Faster(actor=A, speed=TWICE)] == 115
    assert singles[Faster(actor=B, speed=TWICE)] == 85  # c is then the slowest: its firings follow each other
    assert singles[Faster(actor=B)] == 70
    assert singles[Faster(actor=B, speed=Fraction(11, 10))] == Fraction("111.819")  # not rounded to whole cycles
    assert len(singles) == 9  # no FIFO is short of room, no transfer takes time
    assert [t.changes[0] for t in found.pool] == [Faster(actor=a, speed=TWICE) for a in (B, C, A)]
    pairs = outcomes(found.pairs)
    assert pairs[Faster(actor=B, speed=TWICE), Faster(actor=C, speed=TWICE)] == 65
    assert pairs[Faster(actor=B, speed=TWICE), Faster(actor=A, speed=TWICE)] == 80
    assert found.memory is None
    assert found.untouched == (0, 1)
    assert found.simulations == 9 + 3


def test_actions_of_an_actor_are_tried_alone_and_never_paired_with_it() -> None:
    trace = network([("a.o", "b")], {"a": "xwx", "b": "yyy"})
    found = what_if(laboratory(problem(trace, weights(trace, {"a": 10, "b": 5})), point(trace, *alone(trace))))
    singles = {changes[0]: makespan for changes, makespan in outcomes(found.singles).items()}
    assert singles[Faster(actor=0, speed=TWICE)] == 20
    assert singles[Faster(actor=0, action=1, speed=TWICE)] == 25  # x fires twice, w once
    assert singles[Faster(actor=0, action=0, speed=TWICE)] == 30
    both = {frozenset((a.action, b.action)) for a, b in outcomes(found.pairs) if a.actor == b.actor == 0}  # type: ignore[union-attr]
    assert both == {frozenset((0, 1))}


def test_more_room_is_no_more_than_is_needed() -> None:
    trace = network([("a.o", "b")], {"a": "xxxy", "b": "zzzz"})
    of = problem(trace, weights(trace, {"a.x": 10, "a.y": 50, "b": 20}))
    found = what_if(
        laboratory(of, point(trace, *alone(trace), capacity=1)), curves=[CurveRequest(name="a.o->b.i0", buffer=0)]
    )
    assert found.makespan == 120
    assert {m for (change,), m in outcomes(found.singles).items() if isinstance(change, Room)} == {100}
    assert found.memory == Tried(changes=(Room(buffer=0, tokens=2),), makespan=Fraction(100))
    assert [(p.tokens, p.makespan) for p in found.curves[0].points] == [(1, 120), (2, 100), (4, 100)]


def test_transfers_and_links_cost_nothing_where_that_is_asked() -> None:
    trace = network([("a.o", "c"), ("b.o", "d")], {"a": "xx", "b": "xx", "c": "yy", "d": "yy"})
    table = weights(trace, {"a": 1, "b": 1, "c": 1, "d": 1}, read=10, write=10)
    of = problem(trace, table, heterogeneous(shared=True))
    at = point(trace, *alone(trace, c="gpu", d="gpu")[:2], partition(trace, "c d", unit="gpu"))
    singles = {changes[0]: m for changes, m in outcomes(what_if(laboratory(of, at)).singles).items()}
    base, free = laboratory(of, at).makespan, singles[FreeLink(link=0)]
    assert free == 5  # one firing of a, then four on the GPU
    alone_free = singles[FreeTransfers(buffer=0)]
    uncontended = singles[Uncontended(link=0)]
    assert alone_free is not None
    assert uncontended is not None
    assert free < alone_free < base
    assert free < uncontended < base


def test_a_curve_goes_from_slower_to_infinitely_fast() -> None:
    found = what_if(laboratory(chain(), point(CHAIN, *alone(CHAIN))), curves=[CurveRequest(name="b", actor=B)])
    points = {p.speed: p.makespan for p in found.curves[0].points}
    assert points[Fraction(1, 2)] == 210
    assert points[Fraction(1)] == 120
    assert points[TWICE] == 85
    assert points[None] == 70


def test_threads_change_nothing_and_the_path_is_asked() -> None:
    at = point(CHAIN, *alone(CHAIN))

    def promise(change: Change) -> Fraction | None:
        return Fraction(75) if change == Faster(actor=B, speed=TWICE) else None

    found: list[WhatIf] = [what_if(laboratory(chain(), at, workers), promise=promise) for workers in (1, 3)]
    assert found[0] == found[1]
    assert [t.promised for t in found[0].singles if t.promised is not None] == [75]


def test_the_path_promises_what_is_spent_on_it_and_is_wrong_where_another_is_as_long() -> None:
    at = point(CHAIN, *alone(CHAIN))
    promise = promises(chain(), at)
    found = what_if(laboratory(chain(), at), promise=promise)
    told = {t.changes[0]: (t.promised, t.makespan) for t in found.singles}
    assert told[Faster(actor=B, speed=TWICE)] == (75, 85)  # c is on no path before, and then on the longest
    assert told[Faster(actor=A, speed=TWICE)] == (115, 115)
    assert told[Faster(actor=C)] == (100, 100)
    trace = network([("a.o", "b")], {"a": "xxxy", "b": "zzzz"})
    of = problem(trace, weights(trace, {"a.x": 10, "a.y": 50, "b": 20}))
    crowded = promises(of, point(trace, *alone(trace), capacity=1))
    assert crowded(Room(buffer=0, tokens=2)) == 110  # 100 when simulated: a wait that is not on the path goes too
    assert crowded(Faster(actor=0, action=1)) == 70
    assert crowded(FreeTransfers(buffer=0)) == 120


def promises(of: Problem, at: DesignPoint) -> Promise:
    path = critical_path(of, at, make_engine("compiled", of).estimate(at))
    return path_promises(path, of.trace, of.platform)
