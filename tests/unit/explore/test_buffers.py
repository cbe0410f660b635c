"""Buffer sizes: minimal is minimal, maximal is as if unlimited, the others run within their tolerance."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dse.base.errors import DeadlockError, OptionError
from dse.cli.buffers import minimal_note, slower_note
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.problem.build import build_tables
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.weights import Cost, WeightTable
from dse.sizing.buffers import BufferSizing, size_buffers
from dse.sizing.methods import SIZING_METHODS, SizingMethod
from dse.sizing.write_blocking import WriteBlocking
from tests.examples import examples
from tests.property.estimation_cases import Case, Shape, estimation_cases, random_case

SMALL = Shape(max_actors=4, max_firings=40)


def pipeline(costs: tuple[int, ...], firings: int = 40) -> Problem:
    """Actors in a row, each on its own core; the second one makes a burst of 8 tokens every eighth firing."""
    n = len(costs)
    actors = []
    for a in range(n):
        reads, writes = (1,) * (a > 0), (1,) * (a < n - 1)
        actors.append(
            TraceActor(
                name=f"a{a}", class_name="A", inputs=("i",) * (a > 0), outputs=("o",) * (a < n - 1),
                actions=(TraceAction(name="x", reads=reads, writes=writes),),
            )
        )  # fmt: skip
    buffers = tuple(
        TraceBuffer(source=a, source_port=0, target=a + 1, target_port=0, token_bytes=4, token_bits=32)
        for a in range(n - 1)
    )
    trace = make_trace(Topology(name="row", actors=tuple(actors), buffers=buffers), [[0] * firings for _ in range(n)])
    weights = WeightTable(
        name="w", has_scheduling=False, has_transfers=False,
        compute={(f"a{a}", "x", "cpu"): Cost(mean_cycles=Fraction(c)) for a, c in enumerate(costs)},
    )  # fmt: skip
    return Problem(
        trace=trace, weights=weights, platform=Platform(name="p", units=(Unit(name="cpu", kind="cpu", cores=n),))
    )  # fmt: skip


def spread(problem: Problem, capacities: tuple[int, ...]) -> DesignPoint:
    partitions = tuple(
        Partition(name=f"P{a}", actors=(a,), unit="cpu") for a in range(len(problem.trace.topology.actors))
    )
    return DesignPoint(partitions=partitions, capacities=capacities)


def sized(case: Case, method: SizingMethod, tolerance: Fraction = Fraction(1, 20)) -> BufferSizing:
    engine = CompiledEngine(case.problem)
    try:
        return size_buffers(build_tables(case.problem), engine, case.point, method, tolerance)
    except DeadlockError:
        assume(False)
        raise


def by_time(case: Case) -> bool:
    """Whether SIMD blocks of a static order may make more room worse."""
    static = any(p.policy == "STATIC_ORDER" for p in case.point.partitions)
    return static and bool(build_tables(case.problem).block_width.any())


@pytest.mark.parametrize("method", [m for m in SIZING_METHODS if m != "throughput"])
@given(case=estimation_cases(SMALL))
@settings(max_examples=examples(25), deadline=None)
def test_sizes_run_within_the_tolerance(method: SizingMethod, case: Case) -> None:
    found = sized(case, method)
    engine = CompiledEngine(case.problem)
    estimate = engine.estimate(replace(case.point, capacities=found.chosen.capacities))
    assert estimate.deadlock is None
    assert estimate.makespan == found.chosen.makespan
    buffers = case.problem.trace.topology.buffers
    assert found.chosen.memory_bytes == sum(
        c * b.token_bytes for c, b in zip(found.chosen.capacities, buffers, strict=True)
    )
    if method in ("critical", "heavy", "top-down"):
        assert found.chosen.makespan <= found.maximal.makespan * (1 + found.tolerance)
    memories = [s.memory_bytes for s in found.curve]
    assert memories == sorted(set(memories))
    assert [s.makespan for s in found.curve] == sorted({s.makespan for s in found.curve}, reverse=True)


@given(case=estimation_cases(SMALL))
@settings(max_examples=examples(40), deadline=None)
def test_no_single_minimal_capacity_can_be_lowered(case: Case) -> None:
    found = sized(case, "minimal").chosen.capacities
    engine, least = CompiledEngine(case.problem), build_tables(case.problem).least_capacity
    for b, tokens in enumerate(found):
        if tokens > max(1, least[b]):
            lowered = (*found[:b], tokens - 1, *found[b + 1 :])
            assert engine.estimate(replace(case.point, capacities=lowered)).deadlock is not None


@given(case=estimation_cases(SMALL))
@settings(max_examples=examples(40), deadline=None)
def test_maximal_is_as_if_there_were_no_limit(case: Case) -> None:
    assume(not by_time(case))
    arrival = case.problem.weights.arrival
    # With parts of a FIFO its size says when tokens are published; with visits room takes time to come back.
    assume(arrival is None or not (arrival.turn_parts or arrival.visits))
    found = sized(case, "maximal").chosen
    unlimited = (10**6,) * len(case.problem.trace.topology.buffers)
    assert CompiledEngine(case.problem).estimate(replace(case.point, capacities=unlimited)).makespan == found.makespan


def test_other_sizes_may_need_less_than_minimal_ones_and_it_is_told() -> None:
    """A local minimum: here one FIFO larger lets another one be smaller by more, which top-down finds."""
    case = random_case(random.Random(111), SMALL)
    minimal = sized(case, "minimal")
    less = sized(case, "top-down", Fraction(1000))
    assert less.minimal == minimal.chosen
    assert less.chosen.memory_bytes == minimal.chosen.memory_bytes - 4
    assert minimal_note(minimal).endswith("; other sizes together may need less")
    assert minimal_note(less).endswith(": those of top-down need 4 B less")
    assert minimal_note(sized(case, "critical")) == ""


@pytest.mark.parametrize("method", ["critical", "heavy", "top-down"])
def test_the_tolerance_counts_from_the_quicker_of_own_and_maximal(method: SizingMethod) -> None:
    """A case in which larger FIFOs are slower: 60 cycles with minimal sizes, 58 with maximal ones, 56 between."""
    case = random_case(random.Random(63), SMALL)
    tables, engine = build_tables(case.problem), CompiledEngine(case.problem)
    without = size_buffers(tables, engine, case.point, "critical", Fraction(0))
    best = without.curve[-1]
    assert (without.own, best.makespan, without.maximal.makespan) == (None, 56, 58)
    point = replace(case.point, capacities=best.capacities)
    found = size_buffers(tables, engine, point, method, Fraction(0), with_own=True)
    assert found.own == found.quickest_known == best
    assert found.chosen.makespan <= 56
    assert found.maximal == without.maximal
    assert slower_note(found).startswith("larger FIFOs are slower here: ")
    assert method == "heavy" or "the mapping's own sizes (20 B) take 56 cycles" in slower_note(found)
    assert method == "heavy" or "the maximal ones 3.6 % longer" in slower_note(found)
    slow = size_buffers(tables, engine, replace(point, capacities=without.minimal.capacities), method, with_own=True)
    assert slow.quickest_known == slow.maximal


def test_own_sizes_that_deadlock_do_not_count() -> None:
    case = random_case(random.Random(111), SMALL)
    tables, engine = build_tables(case.problem), CompiledEngine(case.problem)
    least = tuple(max(1, n) for n in tables.least_capacity)
    point = replace(case.point, capacities=least)
    assert engine.estimate(point).deadlock is not None
    found = size_buffers(tables, engine, point, "critical", with_own=True)
    assert found.own is not None
    assert found.own.deadlock
    assert found.quickest_known == found.maximal


def test_the_cases_hold_something_to_size() -> None:
    """The random cases are worth the name: in some, minimal is below maximal and slower."""
    slower = 0
    for seed in range(60):
        case = random_case(random.Random(seed), SMALL)
        try:
            found = size_buffers(build_tables(case.problem), CompiledEngine(case.problem), case.point, "minimal")
        except DeadlockError:
            continue
        slower += found.minimal.makespan > found.maximal.makespan
    assert slower >= 5


def test_a_balanced_pipeline_needs_two_tokens_a_buffer() -> None:
    problem = pipeline((10, 10, 10))
    found = size_buffers(build_tables(problem), CompiledEngine(problem), spread(problem, (1, 1)), "critical")
    assert found.minimal.capacities == (1, 1)
    assert found.maximal.makespan == 420
    assert found.minimal.makespan == 420  # space is free once read, at the start of the reader's firing
    assert found.chosen.capacities == (1, 1)


def test_the_critical_chain_charges_the_buffer_in_front_of_the_slow_reader() -> None:
    problem = pipeline((1, 5, 20, 1))
    point = spread(problem, (1, 1, 1))
    estimate = CompiledEngine(problem).estimate(point, firing_times=True)
    charged = WriteBlocking(problem.trace).on_critical_chain(point, estimate)
    assert charged == (0, 0, 0)  # the slow actor never waits: its work is the chain
    heavy = tuple(b.write_blocked for b in estimate.buffers)
    assert heavy[1] > 0
    assert heavy[2] == 0


def test_a_burst_is_charged_to_the_buffer_that_cannot_take_it() -> None:
    """A source makes 8 tokens quickly, then rests; a slow reader could work through the rest with room for 8."""
    actors = (
        TraceActor(
            name="src", class_name="S", inputs=(), outputs=("o",),
            actions=(TraceAction(name="make", reads=(), writes=(1,)), TraceAction(name="rest", reads=(), writes=(0,))),
        ),
        TraceActor(
            name="snk", class_name="K", inputs=("i",), outputs=(),
            actions=(TraceAction(name="x", reads=(1,), writes=()),),
        ),
    )  # fmt: skip
    buffer = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
    order = ([0] * 8 + [1]) * 5
    trace = make_trace(Topology(name="burst", actors=actors, buffers=(buffer,)), [order, [0] * 40])
    compute = {("src", "make", "cpu"): 1, ("src", "rest", "cpu"): 72, ("snk", "x", "cpu"): 10}
    problem = Problem(
        trace=trace, platform=Platform(name="p", units=(Unit(name="cpu", kind="cpu", cores=2),)),
        weights=WeightTable(
            name="w", has_scheduling=False, has_transfers=False,
            compute={key: Cost(mean_cycles=Fraction(c)) for key, c in compute.items()},
        ),
    )  # fmt: skip
    tables, engine, point = build_tables(problem), CompiledEngine(problem), spread(problem, (1,))
    narrow = engine.estimate(point, firing_times=True)
    (charged,) = WriteBlocking(trace).on_critical_chain(point, narrow)
    assert charged == 5 * 9  # the last token of each burst waits 9 of the 10 ticks that the reader takes
    results = {m: size_buffers(tables, engine, point, m, Fraction(0)) for m in SIZING_METHODS}
    assert results["minimal"].chosen.capacities == (1,)
    assert narrow.makespan > results["maximal"].chosen.makespan
    least = next(
        c for c in range(1, 99)
        if engine.estimate(replace(point, capacities=(c,))).makespan == results["maximal"].chosen.makespan
    )  # fmt: skip
    assert {results[m].chosen.capacities for m in ("critical", "heavy", "top-down")} == {(least,)}


def test_a_run_without_tokens_has_no_sizes() -> None:
    problem = pipeline((1, 1))
    trace = make_trace(problem.trace.topology, [np.zeros(3, dtype=np.uint8), np.zeros(5, dtype=np.uint8)])
    starving = replace(problem, trace=trace)
    with pytest.raises(DeadlockError, match="tokens are missing"):
        size_buffers(build_tables(starving), CompiledEngine(starving), spread(starving, (1,)), "minimal")


def test_a_negative_tolerance_is_refused() -> None:
    problem = pipeline((1, 1))
    with pytest.raises(OptionError, match="below 0"):
        size_buffers(
            build_tables(problem), CompiledEngine(problem), spread(problem, (1,)), "heavy", Fraction(-1, 100)
        )  # fmt: skip
