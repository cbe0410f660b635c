"""Estimates at the boundaries of the rules, by hand and for every engine: equal times, no time, just enough room."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import InfeasibleDesign
from dse.estimate.engine import ENGINES, make_engine
from dse.estimate.problem.ticks import TickConverter
from dse.model.platform import Link, Platform, Unit
from dse.model.weights import SimdCost
from tests.unit.estimate.networks import alone, cost, heterogeneous, network, partition, point, problem, weights
from tests.unit.estimate.test_hand_cases import run


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# -- phases of one instant ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "first"), [("ROUND_ROBIN", "a"), ("NON_PREEMPTIVE", "c"), ("DATA_DEMAND_DRIVEN", "a")]
)
def test_a_token_that_comes_when_a_core_gets_free_is_seen(engine: str, policy: str, first: str) -> None:
    """At 10 the token of s becomes visible and c ends: both are ready, and the policy decides."""
    trace = network([("s.o", "a")], {"s": "x", "a": "x", "c": "xx"})
    table = weights(trace, {"s": 10, "a": 3, "c": 10})
    design = point(trace, partition(trace, "a c", policy=policy), partition(trace, "s"))
    _, times = run(engine, trace, table, design)
    assert times["a"] == ([(10, 13)] if first == "a" else [(20, 23)])
    assert times["c"] == ([(0, 10), (13, 23)] if first == "a" else [(0, 10), (10, 20)])


def test_what_a_phase_brings_about_waits_for_the_next_round(engine: str) -> None:
    """All of s takes no time, but its token comes after the partitions have looked at 0: z is started before k."""
    trace = network([("s.o", "k")], {"s": "x", "k": "x", "z": "x"})
    table = weights(trace, {"s": 0, "k": 2, "z": 10})
    for order in ("k z", "z k"):
        _, times = run(engine, trace, table, point(trace, partition(trace, "s"), partition(trace, order)))
        assert times == {"s": [(0, 0)], "z": [(0, 10)], "k": [(10, 12)]}


def test_a_chain_without_costs_passes_in_the_rounds_of_one_instant(engine: str) -> None:
    """A ring of three with one token and capacity 1: each round one firing, all of them at 0, or at 7 with one cost."""
    trace = network(
        [("a.o", "b"), ("b.o", "c"), ("c.o", "a")], {"a": "xxx", "b": "xxx", "c": "xxx"}, initial={("c.o", "a"): 1}
    )
    for cycles in (0, 7):
        table = weights(trace, {"a": 0, "b": cycles, "c": 0})
        estimate, times = run(engine, trace, table, point(trace, *alone(trace), capacity=1))
        assert times["c"] == [(cycles * n, cycles * n) for n in (1, 2, 3)]
        assert estimate.makespan == 3 * cycles
        assert [b.max_tokens for b in estimate.buffers] == [1, 1, 1]


def test_of_two_firings_that_end_together_the_one_of_the_higher_actor_ended_last(engine: str) -> None:
    """On two cores a and b end at 10: then b follows itself, and a follows nobody."""
    trace = network([], {"a": "xx", "b": "xx"})
    costs = {("a", "", "x"): 2, ("a", "x", "x"): 1, ("b", "", "x"): 2, ("b", "x", "x"): 1}
    table = weights(trace, {"a": 8, "b": 8}, scheduling=costs)
    for order in ("a b", "b a"):
        _, times = run(engine, trace, table, point(trace, partition(trace, order, cores=2)))
        assert times == {"a": [(0, 10), (10, 20)], "b": [(0, 10), (10, 19)]}


def test_scheduling_is_that_of_an_action_after_another_not_the_other_way_round(engine: str) -> None:
    trace = network([], {"a": "xxyyx"})
    costs = {("", "x"): 2, ("", "y"): 40, ("x", "x"): 7, ("x", "y"): 3, ("y", "y"): 11, ("y", "x"): 5}
    table = weights(trace, {"a": 0}, scheduling={("a", q, x): c for (q, x), c in costs.items()})
    ends = [end for _, end in run(engine, trace, table, point(trace, *alone(trace)))[1]["a"]]
    assert ends == [2, 2 + 7, 9 + 3, 12 + 11, 23 + 5]


def test_the_same_holds_where_a_link_brings_one_of_them_to_its_end(engine: str) -> None:
    """b ends at 10 with its write over the link, a by itself: b is the higher actor."""
    trace = network([("b.o", "k")], {"a": "xx", "b": "xx", "k": "xx"})
    costs = {(name, q, "x"): c for name in "abk" for q, c in (("", 2), ("x", 1))}
    table = weights(trace, {"a": 8, "b": 3, "k": 0}, write=5, scheduling=costs)
    both = {(*key[:3], kind): c for key, c in table.scheduling.items() for kind in ("cpu", "gpu")}
    table = replace(table, scheduling=both)  # type: ignore[arg-type]
    design = point(trace, partition(trace, "k", unit="gpu"), partition(trace, "a b", cores=2))
    times = run(engine, trace, table, design, heterogeneous())[1]
    assert (times["a"], times["b"]) == ([(0, 10), (10, 20)], [(0, 10), (10, 19)])


# -- room -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "free"), [("reading", 11), ("processing", 18)])
@pytest.mark.parametrize("capacity", [3, 5, 6])
def test_a_capacity_equal_to_the_rate_lets_one_firing_in(engine: str, release: str, free: int, capacity: int) -> None:
    """s puts 3 tokens at once: with room for 3 (or 5) it starts when those before have left, with 6 at once."""
    trace = network([("s.o", "k")], {"s": "xx", "k": "xx"}, rates={("s.x", "out"): 3, ("k.x", "in"): 3})
    table = weights(trace, {"s": 5, "k": 7}, read=4, write=2)
    estimate, times = run(engine, trace, table, point(trace, *alone(trace), capacity=capacity, release=release))
    start = 7 if capacity == 6 else free
    assert times["s"] == [(0, 7), (start, start + 7)]
    second = max(18, start + 7)
    assert times["k"] == [(7, 18), (second, second + 11)]
    assert estimate.buffers[0].max_tokens == (6 if (capacity, release) == (6, "processing") else 3)
    assert estimate.buffers[0].write_blocked == start - 7
    assert estimate.buffers[0].write_blockings == (0 if capacity == 6 else 1)


def test_an_action_that_never_fires_wants_no_room(engine: str) -> None:
    """s could put 9 tokens at once and k take 8; neither does in this trace."""
    trace = network([("s.o", "k")], {"s": "xx", "k": "xx"})
    s, k = trace.topology.actors
    many = (replace(s, actions=(*s.actions, replace(s.actions[0], name="y", writes=(9,)))),
            replace(k, actions=(*k.actions, replace(k.actions[0], name="y", reads=(8,)))))  # fmt: skip
    trace = replace(trace, topology=replace(trace.topology, actors=many))
    table = weights(trace, {"s.x": 5, "k.x": 7})
    assert run(engine, trace, table, point(trace, *alone(trace), capacity=1))[1]["k"] == [(5, 12), (12, 19)]


@pytest.mark.parametrize("capacity", [0, -1])
def test_a_buffer_holds_at_least_one_token_even_if_none_comes(engine: str, capacity: int) -> None:
    trace = network([("s.o", "k")], {"s": "", "k": "", "z": "x"})
    with pytest.raises(InfeasibleDesign, match=r"needs? at least 1"):
        run(engine, trace, weights(trace, {"z": 5}), point(trace, *alone(trace), capacity=capacity))


def test_room_is_wanted_before_the_own_tokens_leave(engine: str) -> None:
    """An actor that feeds itself: with capacity 1 the token that it would take is in the way of the one it makes."""
    trace = network([("a.o", "a")], {"a": "xx"}, initial={("a.o", "a"): 1})
    table = weights(trace, {"a": 5})
    one, _ = run(engine, trace, table, point(trace, *alone(trace), capacity=1))
    assert one.deadlock is not None
    assert [(row.kind, row.have, row.need) for row in one.deadlock.rows] == [("space", 0, 1)]
    assert one.deadlock.remedy == (2,)
    two, times = run(engine, trace, table, point(trace, *alone(trace), capacity=2))
    assert (two.deadlock, times["a"]) == (None, [(0, 5), (5, 10)])


def test_a_buffer_to_itself_may_lack_tokens_and_room(engine: str) -> None:
    """One token is there, two are wanted, three would come to a buffer of three: tokens are told first."""
    trace = network(
        [("a.o", "a"), ("a.p", "k")], {"a": "x", "k": ""}, initial={("a.o", "a"): 1, ("a.p", "k"): 3},
        rates={("a.x", "in"): 2, ("a.x", "out"): 3},
    )  # fmt: skip
    estimate, _ = run(engine, trace, weights(trace, {"a": 5}), point(trace, *alone(trace), capacity=3))
    assert estimate.deadlock is not None
    assert [(row.buffer, row.kind, row.have, row.need) for row in estimate.deadlock.rows] == [
        (0, "tokens", 1, 2), (0, "space", 2, 3), (1, "space", 0, 3),
    ]  # fmt: skip
    assert estimate.deadlock.remedy is None  # room for the tokens does not bring the one that is missing


@pytest.mark.parametrize(("between", "busy"), [(("cpu", "gpu"), (0, 8)), (("gpu", "cpu"), (8, 0))])
def test_the_direction_of_a_buffer_that_has_neither_end_at_the_first_unit(
    engine: str, between: tuple[str, str], busy: tuple[int, int]
) -> None:
    """In a dynamic network tokens from the second CPU to the first are on the link of their reader.

    Of its two directions they take the first, unless they go to the unit that is named first.
    """
    trace = network([("s.o", "k")], {"s": "x", "k": "x"})
    table = weights(trace, {"s": 1, "k": 1}, read=3, write=5)
    units = (Unit(name="cpu", kind="cpu"), Unit(name="cpu2", kind="cpu"), Unit(name="gpu", kind="gpu"))
    link = Link(name="l", between=between, directions=2)
    box = Platform(name="box", units=units, links=(link,), dynamic_network=True)
    design = point(trace, partition(trace, "s", unit="cpu2"), partition(trace, "k"))
    estimate, _ = run(engine, trace, table, design, box)
    assert tuple(link.busy for link in estimate.links) == busy


def test_what_an_actor_waits_for_moves_from_input_to_input_to_output(engine: str) -> None:
    """k lacks p until 4, then q until 9, then room until 30, then a core until 36."""
    trace = network([("s.o", "k"), ("t.o", "k"), ("k.o", "r")], {"s": "x", "t": "x", "k": "x", "r": "x", "z": "x"},
                    initial={("k.o", "r"): 1})  # fmt: skip
    table = weights(trace, {"s": 4, "t": 9, "k": 1, "r": 30, "z": 36})
    r = partition(trace, "r")
    design = point(
        trace, partition(trace, "s"), partition(trace, "t"), r, partition(trace, "k z"), release="processing"
    )
    estimate, times = run(engine, trace, table, replace(design, capacities=(1, 1, 1)))
    assert times["k"] == [(36, 37)]
    account = estimate.actors[2]
    assert (account.blocked_reading, account.blocked_writing, account.idle) == (9, 21, 6)
    assert [(b.read_blockings, b.read_blocked, b.write_blockings, b.write_blocked) for b in estimate.buffers] == [
        (1, 4, 0, 0), (1, 5, 0, 0), (0, 0, 1, 21),
    ]  # fmt: skip


# -- policies ---------------------------------------------------------------------------------------------------------


def test_round_robin_goes_on_behind_the_last_chosen_one(engine: str) -> None:
    trace = network([], {"a": "xxx", "b": "x", "c": "xx"})
    table = weights(trace, {"a": 1, "b": 1, "c": 1})
    _, times = run(engine, trace, table, point(trace, partition(trace, "a b c", policy="ROUND_ROBIN")))
    assert times == {"a": [(0, 1), (3, 4), (5, 6)], "b": [(1, 2)], "c": [(2, 3), (4, 5)]}
    _, times = run(engine, trace, table, point(trace, partition(trace, "c a b", policy="ROUND_ROBIN", cores=2)))
    assert times == {"c": [(0, 1), (1, 2)], "a": [(0, 1), (2, 3), (3, 4)], "b": [(1, 2)]}


def test_non_preemptive_goes_on_from_the_current_one(engine: str) -> None:
    """b is current at 2: when it waits, c, the one behind it, comes before a."""
    trace = network([("s.o", "b")], {"a": "xx", "b": "xx", "c": "xx", "s": "xx"}, initial={("s.o", "b"): 1})
    table = weights(trace, {"a": 1, "b": 1, "c": 1, "s": 10})
    design = point(trace, partition(trace, "b c a"), partition(trace, "s"))
    _, times = run(engine, trace, table, design)
    assert times["b"] == [(0, 1), (10, 11)]
    assert times["c"] == [(1, 2), (2, 3)]
    assert times["a"] == [(3, 4), (4, 5)]


def test_data_demand_driven_takes_what_is_queued_then_goes_round(engine: str) -> None:
    """s feeds k and m (by two buffers each, queued once); m, chosen last, makes round robin go on behind it."""
    trace = network(
        [("s.o", "m"), ("s.p", "k"), ("s.q", "m")], {"s": "xx", "k": "xx", "m": "xx", "z": "xx"}
    )  # fmt: skip
    table = weights(trace, {"s": 1, "k": 1, "m": 1, "z": 1})
    _, times = run(engine, trace, table, point(trace, partition(trace, "s k m z", policy="DATA_DEMAND_DRIVEN")))
    # m first (buffer order), then k; m lacks input when it ends, so its ready source s is called, then s feeds again
    assert times["s"] == [(0, 1), (3, 4)]
    assert times["m"] == [(1, 2), (4, 5)]
    assert times["k"] == [(2, 3), (5, 6)]
    assert times["z"] == [(6, 7), (7, 8)]


def test_data_demand_driven_goes_round_from_behind_the_one_it_took_from_its_queue(engine: str) -> None:
    trace = network([("s.o", "m")], {"s": "x", "k": "xx", "m": "x", "z": "xx"})
    table = weights(trace, dict.fromkeys("skmz", 1))
    _, times = run(engine, trace, table, point(trace, partition(trace, "s k m z", policy="DATA_DEMAND_DRIVEN")))
    assert times == {"s": [(0, 1)], "m": [(1, 2)], "z": [(2, 3), (4, 5)], "k": [(3, 4), (5, 6)]}


def test_data_demand_driven_queues_an_actor_once(engine: str) -> None:
    """s feeds m by two buffers, for two firings: m is called once, and its second firing waits for its turn."""
    trace = network([("s.o", "m"), ("s.p", "m")], {"s": "x", "m": "xx", "z": "x"}, rates={("s.x", "out"): 2})
    table = weights(trace, dict.fromkeys("smz", 1))
    _, times = run(engine, trace, table, point(trace, partition(trace, "s m z", policy="DATA_DEMAND_DRIVEN")))
    assert times == {"s": [(0, 1)], "m": [(1, 2), (3, 4)], "z": [(2, 3)]}


def test_a_static_order_passes_over_the_finished_for_good(engine: str) -> None:
    trace = network([], {"a": "x", "b": "xxx", "c": "xx"})
    table = weights(trace, {"a": 1, "b": 1, "c": 1})
    design = point(trace, partition(trace, "a b c", policy="STATIC_ORDER", order="b a c a b"))
    _, times = run(engine, trace, table, design)
    assert times == {"b": [(0, 1), (3, 4), (4, 5)], "a": [(1, 2)], "c": [(2, 3), (5, 6)]}


def test_full_parallel_has_a_core_and_a_memory_for_each_actor(engine: str) -> None:
    costs = {("a", "", "x"): 5, ("a", "x", "x"): 1, ("b", "", "x"): 5, ("b", "x", "x"): 1}
    trace = network([], {"a": "xxx", "b": "xxx"})
    table = weights(trace, {"a": 2, "b": 2}, scheduling=costs)
    design = point(trace, partition(trace, "a b", policy="FULL_PARALLEL", cores=1))
    assert run(engine, trace, table, design)[1] == {name: [(0, 7), (7, 10), (10, 13)] for name in "ab"}


# -- SIMD blocks ------------------------------------------------------------------------------------------------------


def blocks(
    engine: str, firings: str, *, width: int, tokens: int, capacity: int = 64, rate: int = 1, filled: int = 0
) -> list[tuple[int, int]]:
    """The firings of an actor that has ``tokens`` at its start; a block of k takes 10 + k, nobody takes its output.

    Of the capacity of its output so much is ``filled`` from the start.
    """
    trace = network(
        [("s.o", "f"), ("f.o", "k")], {"s": "", "f": firings, "k": ""},
        initial={("s.o", "f"): tokens, ("f.o", "k"): filled}, rates={("f.x", "in"): rate, ("f.y", "in"): 0},
    )  # fmt: skip
    table = weights(trace, {"f": 1}, simd={("f", "x"): [11 + k for k in range(width)]})
    design = replace(point(trace, *alone(trace)), capacities=(64, capacity))
    return [time for time in run(engine, trace, table, design)[1]["f"] if time[0] >= 0]


def test_a_block_is_as_wide_as_width_tokens_room_and_run_allow(engine: str) -> None:
    assert blocks(engine, "xxxx", width=4, tokens=4) == [(0, 14)] * 4
    assert blocks(engine, "xxxx", width=5, tokens=4) == [(0, 14)] * 4
    assert blocks(engine, "xxxx", width=3, tokens=4) == [(0, 13)] * 3 + [(13, 24)]
    assert blocks(engine, "xxxx", width=1, tokens=4) == [(0, 11), (11, 22), (22, 33), (33, 44)]
    assert blocks(engine, "xxxx", width=4, tokens=3) == [(0, 13)] * 3
    assert blocks(engine, "xxxx", width=4, tokens=4, capacity=2) == [(0, 12)] * 2
    assert blocks(engine, "xxxx", width=4, tokens=4, capacity=5, filled=2) == [(0, 13)] * 3
    assert blocks(engine, "xxyx", width=4, tokens=3) == [(0, 12)] * 2 + [(12, 13), (13, 24)]
    assert blocks(engine, "xxxx", width=4, tokens=7, rate=3) == [(0, 12)] * 2  # one token is left over
    assert blocks(engine, "xxxx", width=4, tokens=6, rate=3) == [(0, 12)] * 2


def test_a_block_is_scheduled_and_moved_as_one(engine: str) -> None:
    """Blocks of 2: one scheduling (the second after x), one read of 2 tokens, one write of 4."""
    trace = network(
        [("s.o", "f"), ("f.o", "k")], {"s": "", "f": "xxxx", "k": ""}, initial={("s.o", "f"): 4},
        rates={("f.x", "out"): 2},
    )  # fmt: skip
    table = weights(trace, {"f": 1}, scheduling={("f", "", "x"): 9, ("f", "x", "x"): 4}, simd={("f", "x"): [10, 20]})
    moves = {key: cost(3, per_token=5) for key in table.transfers}
    estimate, times = run(engine, trace, replace(table, transfers=moves), point(trace, *alone(trace)))
    assert times["f"] == [(0, 9 + 13 + 20 + 23)] * 2 + [(65, 65 + 4 + 13 + 20 + 23)] * 2
    account = estimate.actors[1]
    assert (account.scheduling, account.reading, account.processing, account.writing) == (13, 26, 40, 46)
    assert account.firings == 4
    assert estimate.buffers[1].max_tokens == 8


def test_a_block_is_one_entry_of_a_static_order(engine: str) -> None:
    trace = network([], {"f": "xxxx", "z": "xx"})
    table = weights(trace, {"f": 1, "z": 1}, simd={("f", "x"): [10, 10]})
    _, times = run(engine, trace, table, point(trace, partition(trace, "f z", policy="STATIC_ORDER", order="f z")))
    assert times == {"f": [(0, 10)] * 2 + [(11, 21)] * 2, "z": [(10, 11), (21, 22)]}


def test_only_the_kind_of_unit_with_a_table_makes_blocks(engine: str) -> None:
    trace = network([], {"f": "xx"})
    table = weights(trace, {"f": 7})
    table = replace(table, simd={("f", "x", "gpu"): SimdCost(block_cycles=(Fraction(9), Fraction(10)))})
    for unit, times in (("cpu", [(0, 7), (7, 14)]), ("gpu", [(0, 10)] * 2)):
        assert run(engine, trace, table, point(trace, *alone(trace, f=unit)), heterogeneous())[1]["f"] == times


# -- links ------------------------------------------------------------------------------------------------------------


def test_requests_of_one_time_are_served_by_partition_actor_and_buffer(engine: str) -> None:
    """All ask at 5: t of the first partition, then s with both of its buffers in their order."""
    trace = network(
        [("s.o", "k"), ("s.p", "m"), ("t.o", "n")], {"s": "x", "t": "x", "k": "x", "m": "x", "n": "x"}
    )  # fmt: skip
    table = weights(trace, {"s": 5, "t": 5, "k": 0, "m": 0, "n": 0}, write=10)
    gpu = dict.fromkeys("kmn", "gpu")
    design = point(trace, *alone(trace, **gpu), transfers="parallel")
    first_s = run(engine, trace, table, design, heterogeneous())[1]
    assert (first_s["s"], first_s["t"]) == ([(0, 25)], [(0, 35)])
    turned = replace(design, partitions=tuple(reversed(design.partitions)))
    first_t = run(engine, trace, table, turned, heterogeneous())[1]
    assert (first_t["t"], first_t["s"]) == ([(0, 15)], [(0, 35)])


def test_a_transfer_without_length_asks_and_waits_like_any_other(engine: str) -> None:
    """At 15 s asks for its second write and k for its read, in another round of the same instant: s is first."""
    trace = network([("s.o", "k"), ("s.p", "m")], {"s": "x", "k": "x", "m": "x"})
    table = weights(trace, {"s": 5, "k": 1, "m": 1}, write=10)
    estimate, times = run(engine, trace, table, point(trace, *alone(trace, k="gpu", m="gpu")), heterogeneous())
    assert times == {"s": [(0, 25)], "k": [(15, 26)], "m": [(25, 26)]}
    assert (estimate.links[0].transfers, estimate.links[0].waiting, estimate.actors[1].link_waiting) == (4, 10, 10)


@pytest.mark.parametrize(("first", "waiting", "writing"), [("o", 10, 10), ("p", 0, 20)])
def test_of_two_parallel_writes_that_end_together_the_first_is_charged(
    engine: str, first: str, waiting: int, writing: int
) -> None:
    """At 25 ends the write over the link, which t held up from 5 to 15, and the one of 20 ticks beside it."""
    crossing, beside = ("s.o", "k"), ("s.p", "m")
    edges = [crossing, beside] if first == "o" else [beside, crossing]
    trace = network([*edges, ("t.o", "n")], {"t": "x", "s": "x", "k": "x", "m": "x", "n": "x"})
    table = weights(trace, dict.fromkeys("stkmn", 5), write=10)
    slow = {key: cost(20) for key in table.transfers if key[2] == "m" and key[6] == "write"}
    table = replace(table, transfers=table.transfers | slow)
    design = point(trace, *alone(trace, k="gpu", n="gpu"), transfers="parallel")
    estimate, times = run(engine, trace, table, design, heterogeneous())
    assert (times["t"], times["s"]) == ([(0, 15)], [(0, 25)])
    assert (estimate.actors[1].link_waiting, estimate.actors[1].writing) == (waiting, writing)


# -- limits and rounding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", [0, 1])
def test_a_limit_is_inclusive(engine: str, below: int) -> None:
    trace = network([("s.o", "k")], {"s": "xxx", "k": "xxx"})
    estimator = make_engine(engine, problem(trace, weights(trace, {"s": 100, "k": 120}, read=2, write=3)))
    design = point(trace, *alone(trace))
    whole = estimator.estimate(design)
    found = estimator.estimate_within(design, whole.makespan - below)
    assert found == (None if below else whole)
    assert estimator.estimates_within([design, design], whole.makespan - below) == [found, found]


def test_a_deadlock_is_within_no_limit(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "xx"})
    estimator = make_engine(engine, problem(trace, weights(trace, {"s": 1, "k": 1})))
    design = point(trace, *alone(trace))
    assert estimator.estimate(design).makespan == 2
    assert estimator.estimate_within(design, 1000) is None


@pytest.mark.parametrize(
    ("cycles", "mhz", "ticks"),
    [
        ("0.5", None, 1), ("0.49", None, 0), ("1.5", None, 2), ("2.5", None, 3), ("2.499", None, 2),
        ("1", "2000000", 1), ("3", "2000000", 2), ("1", "2000001", 0), ("1", "1000000", 1),
        ("1", "0.0000015", 500_000_000_000), ("1", "3", 333_333), ("2", "3", 666_667),
    ],
)  # fmt: skip
def test_ticks_are_rounded_half_up_and_so_are_hertz(cycles: str, mhz: str | None, ticks: int) -> None:
    """1.5 Hz are 2 Hz: there a cycle takes half a second."""
    assert TickConverter().ticks("weight", Fraction(cycles), None if mhz is None else Fraction(mhz)) == ticks


@pytest.mark.parametrize(
    ("fixed", "per_token", "tokens", "ticks"),
    [("0.3", "0.2", 1, 1), ("0.3", "0.1", 1, 0), ("0.25", "0.25", 5, 2), ("0.2", "0.1", 3, 1), ("0.2", "0.1", 2, 0),
     ("1/3", "1/6", 1, 1), ("1/3", "1/7", 1, 0), ("0", "0.5", 3, 2)],
)  # fmt: skip
def test_a_transfer_is_summed_before_it_is_rounded(fixed: str, per_token: str, tokens: int, ticks: int) -> None:
    price = TickConverter().transfer_ticks("weight", Fraction(fixed), Fraction(per_token), None)
    assert price.ticks(tokens) == ticks
