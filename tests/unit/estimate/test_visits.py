"""Visits of a scheduler to actors with FIFOs to other cores, with a pencil, for every engine; times: (start, end)."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.changes import refined
from dse.model.design_point import Partition
from dse.model.trace import Trace
from dse.model.weights import Arrival, EntryKey, Visits, WeightTable
from tests.unit.estimate.networks import CPU, alone, network, point, problem, weights

PAIR = network([("s.o", "k")], {"s": "xxx", "k": "xxx"})
FORK = network([("s.o", "k"), ("s.o", "q"), ("k.o", "m")], {"s": "xxx", "k": "xxx", "q": "", "m": "xxx"})
"""``q`` gets what ``k`` gets and never fires."""
SIDE = network([("s.o", "k"), ("s.o", "m"), ("g.o", "r")], {"s": "xxx", "k": "xxx", "g": "x", "m": "xxx", "r": "x"})
TOGETHER = (Partition(name="a", actors=(0,), unit="cpu"), Partition(name="b", actors=(1, 2, 3), unit="cpu"))
READ: EntryKey = ("s", "o", "k", "i0", "read")
WRITE: EntryKey = ("s", "o", "k", "i0", "write")


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def visited(trace: Trace, ticks: dict[str, int], visits: Visits, *, turn: int = 64, parts: int = 0) -> WeightTable:
    """Weights in which only computing takes time, and tokens arrive after 50."""
    arrival = Arrival(cycles=Fraction(50), turn_firings=turn, turn_parts=parts, visits=visits)
    return replace(weights(trace, ticks), arrival=arrival)


def times(
    engine: str, trace: Trace, table: WeightTable, *partitions: Partition, capacity: int = 64
) -> list[list[tuple[int, int]]]:
    made = make_engine(engine, problem(trace, table, CPU))
    estimate = made.estimate(point(trace, *(partitions or alone(trace)), capacity=capacity), firing_times=True)
    assert estimate.firing_times is not None
    return [list(zip(t.start.tolist(), t.end.tolist(), strict=True)) for t in estimate.firing_times]


def test_room_comes_back_when_the_reader_has_published_and_it_has_arrived(engine: str) -> None:
    table = visited(PAIR, {"s": 100, "k": 10}, Visits())
    assert times(engine, PAIR, table, capacity=1) == [
        [(0, 100), (210, 310), (420, 520)],
        [(150, 160), (360, 370), (570, 580)],
    ]


def test_an_entry_is_paid_once_a_visit(engine: str) -> None:
    table = visited(PAIR, {"s": 100, "k": 10}, Visits(entries={READ: Fraction(7), WRITE: Fraction(5)}))
    assert times(engine, PAIR, table) == [
        [(0, 105), (105, 205), (205, 305)],
        [(355, 372), (372, 382), (382, 392)],
    ]


def test_a_visit_pays_the_largest_entry_of_the_ends_that_it_moves_tokens_on(engine: str) -> None:
    """Reading alone would take 7, writing 9: the lines come side by side."""
    trace = network([("s.o", "k"), ("k.o", "m")], {"s": "xxx", "k": "xxx", "m": "xxx"})
    entries = {READ: Fraction(7), ("k", "o", "m", "i0", "write"): Fraction(9)}
    table = visited(trace, {"s": 10, "k": 100, "m": 10}, Visits(entries=entries))
    assert times(engine, trace, table)[1] == [(80, 189), (189, 289), (289, 389)]


def test_a_visit_has_the_firings_of_a_turn_at_most(engine: str) -> None:
    table = visited(PAIR, {"s": 100, "k": 10}, Visits(look_cycles=Fraction(3), entries={WRITE: Fraction(5)}), turn=2)
    assert times(engine, PAIR, table)[0] == [(0, 105), (105, 205), (205, 310)]


def test_a_core_that_waited_wakes(engine: str) -> None:
    table = visited(PAIR, {"s": 100, "k": 10}, Visits(wake_cycles=Fraction(11)), turn=1)
    assert times(engine, PAIR, table)[1] == [(150, 160), (250, 271), (350, 371)]


def test_a_visit_does_not_know_of_what_comes_meanwhile(engine: str) -> None:
    """The first token is seen at 60, the others at 110, while the first visit is at work."""
    visits = Visits(look_cycles=Fraction(3), wake_cycles=Fraction(11), entries={READ: Fraction(7)})
    table = visited(PAIR, {"s": 10, "k": 100}, visits, parts=4)
    assert times(engine, PAIR, table, capacity=4)[1] == [(60, 167), (167, 274), (274, 374)]


def test_others_are_looked_at_before_a_visit_begins_anew(engine: str) -> None:
    """Behind its first visit ``k`` is ready, but ``m`` comes first, with a look at ``q`` on the way."""
    visits = Visits(look_cycles=Fraction(3), entries={READ: Fraction(7)})
    table = visited(FORK, {"s": 10, "k": 100, "m": 20, "q": 0}, visits, parts=4)
    found = times(engine, FORK, table, *TOGETHER, capacity=4)
    assert found[1] == [(60, 167), (190, 297), (297, 397)]
    assert found[3] == [(167, 190), (397, 420), (420, 440)]


def test_an_actor_looks_at_all_others_on_the_way_to_itself(engine: str) -> None:
    table = visited(FORK, {"s": 10, "k": 100, "m": 20, "q": 0}, Visits(look_cycles=Fraction(3)), parts=4)
    with_q, rest = Partition(name="b", actors=(1, 2), unit="cpu"), Partition(name="c", actors=(3,), unit="cpu")
    assert times(engine, FORK, table, TOGETHER[0], with_q, rest, capacity=4)[1] == [(60, 160), (160, 263), (263, 363)]


@pytest.mark.parametrize(("glance", "begin"), [(None, 30), (2, 2), (0, 0)])
def test_a_call_of_who_only_writes_to_other_cores_is_a_glance(engine: str, glance: int | None, begin: int) -> None:
    """From ``k`` to ``m`` the core passes ``g``, which is not called in vain for tokens of others."""
    visits = Visits(look_cycles=Fraction(30), glance_cycles=None if glance is None else Fraction(glance))
    table = visited(SIDE, {"s": 10, "k": 100, "g": 5, "m": 20, "r": 1}, visits, turn=1)
    here, there = (Partition(name=name, actors=of, unit="cpu") for name, of in (("a", (0, 4)), ("b", (1, 2, 3))))
    assert times(engine, SIDE, table, here, there)[3] == [(60, 80), (380, 400 + begin), (400 + begin, 420 + begin)]


@pytest.mark.parametrize("policy", ["ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL"])
def test_under_other_policies_each_firing_is_a_visit(engine: str, policy: str) -> None:
    table = visited(PAIR, {"s": 100, "k": 10}, Visits(entries={READ: Fraction(7), WRITE: Fraction(5)}))
    partitions = [replace(partition, policy=policy) for partition in alone(PAIR)]
    assert times(engine, PAIR, table, *partitions)[0] == [(0, 105), (105, 210), (210, 315)]


def test_finer_ticks_are_finer_for_visits() -> None:
    visits = Visits(
        look_cycles=Fraction(3), glance_cycles=Fraction(2), wake_cycles=Fraction(11), entries={READ: Fraction(7)}
    )
    tables = build_tables(problem(PAIR, visited(PAIR, {"s": 100, "k": 10}, visits), CPU))
    fine, scale = refined(tables)
    assert tables.visits is not None
    assert fine.visits is not None
    assert scale > 1
    assert (fine.visits.look, fine.visits.glance, fine.visits.wake) == (3 * scale, 2 * scale, 11 * scale)
    assert fine.visits.entries.tolist() == [[7 * scale], [0]]
