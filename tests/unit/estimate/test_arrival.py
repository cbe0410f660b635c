"""Tokens between CPU cores that take time, with a pencil, for every engine. Times of firings are (start, end)."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import FormatError
from dse.estimate.engine import ENGINES, make_engine
from dse.model.estimate import DeadlockRow
from dse.model.trace import Trace
from dse.model.weights import Arrival, WeightTable, merge_weights
from tests.unit.estimate.networks import CPU, alone, cost, network, partition, point, problem, weights

PAIR = network([("s.o", "k")], {"s": "xxx", "k": "xxx"})


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def travelling(trace: Trace, cycles: object = 50, turn: int = 1, *, parts: int = 0, simd: int = 0) -> WeightTable:
    """Firings of ``s`` take 100 and of others 10, nothing else costs anything."""
    blocks = {("k", "x"): [10] * simd} if simd else None
    table = weights(trace, {a.name: 100 if a.name == "s" else 10 for a in trace.topology.actors}, simd=blocks)
    return replace(table, arrival=Arrival(cycles=Fraction(str(cycles)), turn_firings=turn, turn_parts=parts))


def times_of_k(engine: str, trace: Trace, table: WeightTable, capacity: int = 64) -> list[tuple[int, int]]:
    made = make_engine(engine, problem(trace, table, CPU))
    estimate = made.estimate(point(trace, *alone(trace), capacity=capacity), firing_times=True)
    assert estimate.firing_times is not None
    times = estimate.firing_times[1]
    return list(zip(times.start.tolist(), times.end.tolist(), strict=True))


def test_each_firing_publishes_where_a_turn_is_one_firing(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR)) == [(150, 160), (250, 260), (350, 360)]


def test_a_turn_publishes_at_its_end(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR, turn=64)) == [(350, 360), (360, 370), (370, 380)]


def test_a_long_turn_publishes_on_the_way(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR, turn=2)) == [(250, 260), (260, 270), (350, 360)]


def test_a_part_of_a_fifo_is_published_on_the_way(engine: str) -> None:
    quarter = travelling(PAIR, turn=64, parts=4)
    assert times_of_k(engine, PAIR, quarter, capacity=4) == [(150, 160), (250, 260), (350, 360)]
    assert times_of_k(engine, PAIR, quarter, capacity=3) == [(150, 160), (250, 260), (350, 360)]
    assert times_of_k(engine, PAIR, quarter, capacity=11) == [(250, 260), (260, 270), (350, 360)]
    assert times_of_k(engine, PAIR, quarter, capacity=12) == [(350, 360), (360, 370), (370, 380)]
    assert times_of_k(engine, PAIR, travelling(PAIR, turn=2, parts=1))[0] == (250, 260)


def test_parts_are_counted_in_the_largest_rate_of_either_end(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "xxxx", "k": "xxy"}, rates={("k.y", "in"): 2})
    halves = travelling(trace, turn=64, parts=2)
    assert times_of_k(engine, trace, halves, capacity=8) == [(250, 260), (260, 270), (450, 460)]


@pytest.mark.parametrize(("first", "starts"), [(4, [60, 110, 120]), (64, [80, 90, 100])])
def test_the_fifo_that_ends_at_an_actor_counts_as_well(engine: str, first: int, starts: list[int]) -> None:
    trace = network([("s.o", "m"), ("m.o", "k")], {"s": "", "m": "xxx", "k": "xxx"}, initial={("s.o", "m"): 3})
    made = make_engine(engine, problem(trace, travelling(trace, turn=64, parts=4), CPU))
    estimate = made.estimate(replace(point(trace, *alone(trace)), capacities=(first, 64)), firing_times=True)
    assert estimate.firing_times is not None
    assert estimate.firing_times[2].start.tolist() == starts


def test_one_look_after_the_other(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR, 150)) == [(250, 260), (400, 410), (550, 560)]
    assert times_of_k(engine, PAIR, travelling(PAIR, 350)) == [(450, 460), (800, 810), (810, 820)]


def test_tokens_on_their_way_hold_their_room(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR), capacity=1) == [(150, 160), (300, 310), (450, 460)]


def test_an_arrival_takes_a_tick_at_least(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR, "0.1"))[0] == (101, 111)


def test_a_block_takes_what_has_arrived(engine: str) -> None:
    assert times_of_k(engine, PAIR, travelling(PAIR, turn=2, simd=4)) == [(250, 260), (250, 260), (350, 360)]


def test_inside_a_partition_nothing_travels(engine: str) -> None:
    one = point(PAIR, partition(PAIR, "s k"))
    estimates = [
        make_engine(engine, problem(PAIR, table, CPU)).estimate(one)
        for table in (travelling(PAIR, turn=64), replace(travelling(PAIR), arrival=None))
    ]
    assert estimates[0] == estimates[1]


def test_the_turn_of_another_actor_ends_a_turn(engine: str) -> None:
    # On one core with s, f has its turn between two firings of s, whatever the length of a turn.
    trace = network([("s.o", "k"), ("s.p", "f")], {"s": "xx", "k": "xx", "f": "xx"})
    one = partition(trace, "s f", policy="ROUND_ROBIN")
    table = travelling(trace, turn=64)
    estimate = make_engine(engine, problem(trace, table, CPU)).estimate(
        point(trace, one, partition(trace, "k")), firing_times=True
    )
    assert estimate.firing_times is not None
    assert estimate.firing_times[0].start.tolist() == [0, 110]
    assert estimate.firing_times[1].start.tolist() == [150, 260]


def test_tokens_that_nobody_reads_do_not_lengthen_a_run(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "xx", "k": "x"})
    made = make_engine(engine, problem(trace, travelling(trace), CPU))
    design = point(trace, *alone(trace))
    assert made.estimate(design).makespan == 200
    within = made.estimate_within(design, 200)
    assert within is not None
    assert within.makespan == 200
    assert made.estimate_within(design, 199) is None


def test_a_deadlock_is_found_when_all_has_arrived(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "x"}, rates={("k.x", "in"): 2})
    estimate = make_engine(engine, problem(trace, travelling(trace), CPU)).estimate(point(trace, *alone(trace)))
    assert estimate.makespan == 150
    assert estimate.deadlock is not None
    assert estimate.deadlock.rows == (DeadlockRow(actor=1, action=0, buffer=0, kind="tokens", have=1, need=2),)
    assert (estimate.actors[0].finished, estimate.actors[1].blocked_reading) == (50, 150)


def test_initial_tokens_have_arrived(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "xx"}, initial={("s.o", "k"): 1})
    assert times_of_k(engine, trace, travelling(trace)) == [(0, 10), (150, 160)]


def test_the_arrival_has_a_clock_as_the_other_weights() -> None:
    table = travelling(PAIR)
    arrival = Arrival(cycles=Fraction(50), frequency_mhz=Fraction(1000))
    clocked = replace(table, compute=dict.fromkeys(table.compute, cost(100, mhz=1000)), arrival=arrival)
    assert times_of_k("reference", PAIR, clocked)[0] == (150_000, 250_000)
    with pytest.raises(FormatError, match="arrival between CPU cores"):
        make_engine("reference", problem(PAIR, replace(table, arrival=arrival), CPU))


def test_merged_weights_have_the_last_arrival() -> None:
    near, far = (replace(travelling(PAIR), arrival=Arrival(cycles=Fraction(n))) for n in (1, 2))
    none = replace(near, arrival=None)
    assert merge_weights(near, far, none).arrival == far.arrival
    assert merge_weights(none, none).arrival is None
