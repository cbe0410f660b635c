"""Estimates that can be checked with a pencil, for every engine. Times of firings are (start, end)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dse.estimate.engine import ENGINES, make_engine
from dse.model.design_point import DesignPoint
from dse.model.estimate import DeadlockRow, Estimate
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable
from tests.unit.estimate.networks import CPU, alone, cost, heterogeneous, network, partition, point, problem, weights

CHAIN = network([("s.o", "f"), ("f.o", "k")], {"s": "xxx", "f": "xxx", "k": "xxx"})
CHAIN_WEIGHTS = weights(CHAIN, {"s": 100, "f": 110, "k": 120}, read=2, write=3)


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(
    engine: str, trace: Trace, table: WeightTable, design: DesignPoint, platform: Platform = CPU
) -> tuple[Estimate, dict[str, list[tuple[int, int]]]]:
    """The estimate and the firings of each actor by name."""
    estimate = make_engine(engine, problem(trace, table, platform)).estimate(design, firing_times=True)
    assert estimate.firing_times is not None
    times = {
        actor.name: list(zip(of.start.tolist(), of.end.tolist(), strict=True))
        for actor, of in zip(trace.topology.actors, estimate.firing_times, strict=True)
    }
    return estimate, times


def test_chain_with_one_partition_an_actor(engine: str) -> None:
    estimate, times = run(engine, CHAIN, CHAIN_WEIGHTS, point(CHAIN, *alone(CHAIN), transfers="parallel"))
    assert estimate.makespan == 584
    assert estimate.tick_unit == "cycles"
    assert times["s"][:2] == [(0, 103), (103, 206)]
    assert times["f"][0] == (103, 218)
    assert times["k"][0] == (218, 340)
    assert times["k"][2] == (462, 584)
    s, f, k = estimate.actors
    assert (s.processing, s.writing, s.finished) == (300, 9, 584 - 309)
    assert (f.blocked_reading, f.reading, f.processing, f.writing, f.idle) == (103, 6, 330, 9, 0)
    assert (k.blocked_reading, k.reading, k.processing) == (218, 6, 360)
    assert (estimate.buffers[1].read_blockings, estimate.buffers[1].read_blocked) == (1, 218)
    assert [b.max_tokens for b in estimate.buffers] == [1, 1]
    assert estimate.partitions[0].unoccupied == 584 - 309


def test_chain_in_one_round_robin_partition(engine: str) -> None:
    one = partition(CHAIN, "s f k", policy="ROUND_ROBIN")
    estimate, _ = run(engine, CHAIN, CHAIN_WEIGHTS, point(CHAIN, one, transfers="parallel"))
    assert estimate.makespan == 1020
    assert estimate.partitions[0].unoccupied == 0


def test_chain_with_release_after_processing_and_capacity_one(engine: str) -> None:
    design = point(CHAIN, *alone(CHAIN), capacity=1, release="processing", transfers="parallel")
    estimate, _ = run(engine, CHAIN, CHAIN_WEIGHTS, design)
    assert estimate.makespan == 814
    assert estimate.actors[0].blocked_writing > 0
    assert [b.max_tokens for b in estimate.buffers] == [1, 1]


FORK = network([("s.o", "a"), ("s.o", "b")], {"s": "x", "a": "x", "b": "x"})
JOIN = network([("a.o", "k"), ("b.o", "k")], {"a": "x", "b": "x", "k": "x"})


@pytest.mark.parametrize(("mode", "tokens_at", "end"), [("sequential", [13, 16], 16), ("parallel", [13, 13], 13)])
def test_a_write_to_a_port_with_two_readers_is_two_transfers(
    engine: str, mode: str, tokens_at: list[int], end: int
) -> None:
    table = weights(FORK, {"s": 10, "a": 1, "b": 1}, write=3)
    _, times = run(engine, FORK, table, point(FORK, *alone(FORK), transfers=mode))
    assert times["s"] == [(0, end)]
    assert [times["a"][0][0], times["b"][0][0]] == tokens_at


@pytest.mark.parametrize(("mode", "end"), [("sequential", 5 + 4 + 4 + 1), ("parallel", 5 + 4 + 1)])
def test_two_reads(engine: str, mode: str, end: int) -> None:
    table = weights(JOIN, {"a": 5, "b": 5, "k": 1}, read=4)
    estimate, _ = run(engine, JOIN, table, point(JOIN, *alone(JOIN), transfers=mode))
    assert estimate.makespan == end
    assert estimate.actors[2].reading == end - 6


TWO = network([], {"a": "xxx", "b": "xx"})


def test_non_preemptive_stays_and_round_robin_alternates(engine: str) -> None:
    table = weights(TWO, {"a": 10, "b": 1})
    _, stays = run(engine, TWO, table, point(TWO, partition(TWO, "a b", policy="NON_PREEMPTIVE")))
    assert stays == {"a": [(0, 10), (10, 20), (20, 30)], "b": [(30, 31), (31, 32)]}
    _, turns = run(engine, TWO, table, point(TWO, partition(TWO, "a b", policy="ROUND_ROBIN")))
    assert turns == {"a": [(0, 10), (11, 21), (22, 32)], "b": [(10, 11), (21, 22)]}
    _, other = run(engine, TWO, table, point(TWO, partition(TWO, "b a", policy="ROUND_ROBIN")))
    assert other["b"][0] == (0, 1)


def test_full_parallel_and_several_cores(engine: str) -> None:
    three = network([], {"a": "xx", "b": "x", "c": "x"})
    table = weights(three, {"a": 10, "b": 4, "c": 5})
    every, times = run(engine, three, table, point(three, partition(three, "a b c", policy="FULL_PARALLEL")))
    assert times == {"a": [(0, 10), (10, 20)], "b": [(0, 4)], "c": [(0, 5)]}
    assert every.partitions[0].cores == 3
    assert every.partitions[0].unoccupied == 3 * 20 - 29
    two, times = run(engine, three, table, point(three, partition(three, "a b c", cores=2)))
    assert times == {"a": [(0, 10), (10, 20)], "b": [(0, 4)], "c": [(4, 9)]}
    assert two.partitions[0].unoccupied == 2 * 20 - 29
    assert two.actors[2].idle == 4


def test_the_previous_action_is_that_of_the_core(engine: str) -> None:
    costs = {("a", "", "x"): 100, ("a", "x", "x"): 1, ("b", "", "x"): 50, ("b", "x", "x"): 2}
    table = weights(TWO, {"a": 0, "b": 0}, scheduling=costs)
    _, times = run(engine, TWO, table, point(TWO, partition(TWO, "a b")))
    assert times == {"a": [(0, 100), (100, 101), (101, 102)], "b": [(102, 152), (152, 154)]}
    _, times = run(engine, TWO, table, point(TWO, partition(TWO, "a b", policy="ROUND_ROBIN")))
    assert times["a"] == [(0, 100), (150, 250), (300, 400)]
    _, times = run(engine, TWO, table, point(TWO, partition(TWO, "a b", policy="FULL_PARALLEL")))
    assert times == {"a": [(0, 100), (100, 101), (101, 102)], "b": [(0, 50), (50, 52)]}
    # on two cores b ended last at 50 and 52; at 100 a ended last, so that a's second firing follows a's first
    _, times = run(engine, TWO, table, point(TWO, partition(TWO, "a b", cores=2)))
    assert times == {"a": [(0, 100), (100, 101), (101, 102)], "b": [(0, 50), (50, 52)]}


def test_static_order_waits_and_passes_over_the_finished(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "x", "i": "xxx"})
    table = weights(trace, {"s": 10, "k": 1, "i": 2})
    design = point(trace, partition(trace, "s"), partition(trace, "k i", policy="STATIC_ORDER", order="k i"))
    estimate, times = run(engine, trace, table, design)
    assert times["k"] == [(10, 11)]
    assert times["i"] == [(11, 13), (13, 15), (15, 17)]
    assert estimate.actors[2].idle == 11


def test_static_order_with_an_actor_that_repeats(engine: str) -> None:
    trace = network([], {"a": "xxxx", "b": "xx"})
    table = weights(trace, {"a": 1, "b": 10})
    design = point(trace, partition(trace, "a b", policy="STATIC_ORDER", order="a a b"))
    assert run(engine, trace, table, design)[1]["b"] == [(2, 12), (14, 24)]


def test_data_demand_driven_follows_the_data(engine: str) -> None:
    """After s its successor k comes first, though round robin would take i; k then lacks input and calls for s."""
    trace = network([("s.o", "k")], {"s": "xx", "i": "xx", "k": "xx"})
    table = weights(trace, {"s": 10, "i": 100, "k": 1})
    design = point(trace, partition(trace, "s i k", policy="DATA_DEMAND_DRIVEN"))
    _, times = run(engine, trace, table, design)
    assert times == {"s": [(0, 10), (11, 21)], "k": [(10, 11), (21, 22)], "i": [(22, 122), (122, 222)]}


def test_zero_costs_take_no_time_but_happen(engine: str) -> None:
    table = weights(CHAIN, {"s": 0, "f": 0, "k": 0})
    estimate, times = run(engine, CHAIN, table, point(CHAIN, *alone(CHAIN), capacity=1))
    assert estimate.makespan == 0
    assert times["k"] == [(0, 0)] * 3
    assert [b.max_tokens for b in estimate.buffers] == [1, 1]
    assert all(b.read_blockings == b.write_blockings == 0 for b in estimate.buffers)


def test_nothing_to_fire(engine: str) -> None:
    trace = network([("s.o", "k")], {"s": "", "k": ""})
    estimate, times = run(engine, trace, weights(trace, {}), point(trace, *alone(trace)))
    assert (estimate.makespan, estimate.deadlock, times) == (0, None, {"s": [], "k": []})


def test_simd_blocks(engine: str) -> None:
    """f finds 1 token, then 3 (of which the run allows 2), then 1 of another action, then the rest."""
    trace = network([("s.o", "f")], {"s": "x" * 6, "f": "xxxyxx"})
    table = weights(trace, {"s": 10, "f": 1}, read=1, simd={("f", "x"): [30, 31, 32, 33]})
    estimate, times = run(engine, trace, table, point(trace, *alone(trace)))
    # one token at 10: 1 + 30; three at 41, but the run has 2 left: one read of 1, 31; y 2; the last two together
    assert times["f"] == [(10, 41), (41, 73), (41, 73), (73, 75), (75, 107), (75, 107)]
    assert estimate.actors[1].firings == 6
    assert estimate.actors[1].reading == 4


def host_pair(trace: Trace) -> DesignPoint:
    return point(trace, *alone(trace, k="gpu", m="gpu"))


PAIRS = network([("s.o", "k"), ("t.o", "m")], {"s": "x", "t": "x", "k": "x", "m": "x"})
PAIR_WEIGHTS = weights(PAIRS, {"s": 5, "t": 5, "k": 1, "m": 1}, read=2, write=10)


def test_a_shared_link_serves_in_order_of_request(engine: str) -> None:
    estimate, times = run(engine, PAIRS, PAIR_WEIGHTS, host_pair(PAIRS), heterogeneous())
    # both ask at 5: s is first by partition, t waits to 15. k asks at 15 too, later than t did, and waits to 25
    assert times == {"s": [(0, 15)], "t": [(0, 25)], "k": [(15, 28)], "m": [(25, 30)]}
    assert [a.link_waiting for a in estimate.actors] == [0, 10, 10, 2]
    link = estimate.links[0]
    assert (link.name, link.busy, link.waiting, link.transfers) == ("pcie", 24, 22, 4)
    assert estimate.partitions[1].link_waiting == 10


def test_the_order_of_requests_is_that_of_the_partitions(engine: str) -> None:
    design = host_pair(PAIRS)
    turned = replace(design, partitions=tuple(reversed(design.partitions)))
    _, times = run(engine, PAIRS, PAIR_WEIGHTS, turned, heterogeneous())
    assert times == {"t": [(0, 15)], "s": [(0, 25)], "m": [(15, 28)], "k": [(25, 30)]}


def test_a_link_that_is_not_shared_only_counts(engine: str) -> None:
    estimate, times = run(engine, PAIRS, PAIR_WEIGHTS, host_pair(PAIRS), heterogeneous(shared=False))
    assert times == {"s": [(0, 15)], "t": [(0, 15)], "k": [(15, 18)], "m": [(15, 18)]}
    assert (estimate.links[0].busy, estimate.links[0].waiting, estimate.links[0].transfers) == (24, 0, 4)


def test_two_directions_do_not_wait_for_each_other(engine: str) -> None:
    trace = network([("s.o", "k"), ("t.o", "m")], {"s": "x", "t": "x", "k": "x", "m": "x"})
    table = weights(trace, {"s": 5, "t": 5, "k": 1, "m": 1}, read=2, write=10)
    design = point(trace, *alone(trace, k="gpu", t="gpu"))
    one, _ = run(engine, trace, table, design, heterogeneous())
    two, times = run(engine, trace, table, design, heterogeneous(directions=2))
    assert times == {"s": [(0, 15)], "t": [(0, 15)], "k": [(15, 18)], "m": [(15, 18)]}
    assert [(link.name, link.busy) for link in two.links] == [("pcie:cpu->gpu", 12), ("pcie:gpu->cpu", 12)]
    assert one.makespan == 30


@pytest.mark.parametrize(("mode", "waiting", "writing"), [("sequential", 0, 20), ("parallel", 10, 10)])
def test_waiting_for_the_link_by_transfer_mode(engine: str, mode: str, waiting: int, writing: int) -> None:
    """Both writes of s take the link; in parallel mode the second waits while the first is carried.

    The read of k, which costs nothing, asks at 15 and waits for the second write.
    """
    trace = network([("s.o", "k"), ("s.p", "m")], {"s": "x", "k": "x", "m": "x"})
    table = weights(trace, {"s": 5, "k": 1, "m": 1}, write=10)
    design = point(trace, *alone(trace, k="gpu", m="gpu"), transfers=mode)
    estimate, times = run(engine, trace, table, design, heterogeneous())
    assert times["s"] == [(0, 25)]
    assert (estimate.actors[0].link_waiting, estimate.actors[0].writing) == (waiting, writing)
    assert estimate.actors[1].link_waiting == 10
    assert estimate.links[0].waiting == waiting + 10


@pytest.mark.parametrize("release", ["reading", "processing"])
def test_room_is_looked_at_before_a_transfer_of_no_length_frees_it_at_the_same_instant(
    engine: str, release: str
) -> None:
    """At 10 w launches a token while the one it sent before is still there; r takes that one after a grant at 10."""
    trace = network([("w.o", "r"), ("x.o", "r")], {"w": "x", "x": "x", "r": "x"}, initial={("w.o", "r"): 1})
    table = weights(trace, {"w": 10, "x": 10, "r": 0})
    table = replace(table, transfers={**table.transfers, ("w", "o", "r", "i0", "cuda", "gpu", "write"): cost(5)})
    design = point(trace, *alone(trace, w="gpu", r="gpu"), release=release)
    estimate, times = run(engine, trace, table, design, heterogeneous())
    assert times == {"w": [(0, 15)], "x": [(0, 10)], "r": [(10, 10)]}
    assert estimate.links[0].transfers == 2
    assert [b.max_tokens for b in estimate.buffers] == [2, 1]


def test_what_leaves_at_the_instant_of_a_launch_goes_first(engine: str) -> None:
    """At 10 both w launches (and delivers at once) and r, whose write to k asks the link, lets its token leave."""
    trace = network([("w.o", "r"), ("r.o", "k")], {"w": "x", "r": "x", "k": "x"}, initial={("w.o", "r"): 1})
    table = weights(trace, {"w": 10, "r": 10, "k": 0})
    design = point(trace, *alone(trace, k="gpu"), release="processing")
    estimate, _ = run(engine, trace, table, design, heterogeneous())
    assert [b.max_tokens for b in estimate.buffers] == [1, 1]


def stuck(engine: str, trace: Trace, capacities: Sequence[int], platform: Platform = CPU) -> Estimate:
    table = weights(trace, {actor.name: 1 for actor in trace.topology.actors})
    design = replace(point(trace, *alone(trace)), capacities=tuple(capacities))
    return run(engine, trace, table, design, platform)[0]


def test_deadlock_for_lack_of_space_and_its_remedy(engine: str) -> None:
    """s fills o before it turns to p; k takes from both at once."""
    trace = network([("s.o", "k"), ("s.p", "k")], {"s": "aaabbb", "k": "xxx"})
    a, b = trace.topology.actors[0].actions
    topology = replace(
        trace.topology,
        actors=(
            replace(trace.topology.actors[0], actions=(replace(a, writes=(1, 0)), replace(b, writes=(0, 1)))),
            trace.topology.actors[1],
        ),
    )
    trace = replace(trace, topology=topology)
    estimate = stuck(engine, trace, [2, 3])
    assert estimate.deadlock is not None
    assert estimate.makespan == 2
    assert estimate.deadlock.rows == (
        DeadlockRow(actor=0, action=0, buffer=0, kind="space", have=0, need=1),
        DeadlockRow(actor=1, action=0, buffer=1, kind="tokens", have=0, need=1),
    )
    assert estimate.deadlock.remedy == (3, 3)
    assert estimate.actors[0].blocked_writing == 0
    assert stuck(engine, trace, [3, 3]).deadlock is None


def test_deadlock_for_lack_of_tokens_has_no_remedy(engine: str) -> None:
    estimate = stuck(engine, network([("s.o", "k")], {"s": "x", "k": "xx"}), [5])
    assert estimate.deadlock is not None
    assert estimate.deadlock.remedy is None
    assert estimate.actors[1].firings == 1
    assert estimate.actors[1].finished == 0


def test_initial_tokens_start_a_cycle(engine: str) -> None:
    trace = network([("a.o", "b"), ("b.o", "a")], {"a": "xx", "b": "xx"}, initial={("b.o", "a"): 1})
    estimate = stuck(engine, trace, [1, 1])
    assert estimate.deadlock is None
    assert estimate.makespan == 4
    assert estimate.buffers[1].max_tokens == 1


def test_tokens_left_over_are_no_deadlock(engine: str) -> None:
    estimate = stuck(engine, network([("s.o", "k")], {"s": "xxx", "k": "x"}), [5])
    assert estimate.deadlock is None
    assert estimate.buffers[0].max_tokens == 2
