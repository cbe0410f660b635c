"""Ticks, choice of prices and links, and everything that is wrong with a problem or a design point."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import DseError, FormatError, InfeasibleDesign
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.prepare import Prepared, prepare
from dse.model.design_point import DesignPoint
from dse.model.platform import Link, Platform
from dse.model.problem import Problem
from dse.model.trace import Trace
from dse.model.weights import SimdCost, WeightTable
from tests.unit.estimate.networks import CPU, alone, cost, heterogeneous, network, partition, point, problem, weights

CHAIN = network([("s.o", "f"), ("f.o", "k")], {"s": "xxx", "f": "xxx", "k": "xxx"})
TABLE = weights(CHAIN, {"s": 100, "f": 110, "k": 120}, read=2, write=3)


def ready(trace: Trace, table: WeightTable, design: DesignPoint, platform: Platform = CPU) -> Prepared:
    return prepare(build_tables(problem(trace, table, platform)), design)


def messages(error: pytest.ExceptionInfo[DseError]) -> list[str]:
    return [diagnostic.message for diagnostic in error.value.diagnostics]


# -- ticks ----


def one_actor(**given: object) -> int:
    trace = network([], {"a": "x"})
    table = WeightTable(name="w", compute={("a", "x", "cpu"): cost(**given)}, has_scheduling=False)  # type: ignore[arg-type]
    return make_engine("reference", problem(trace, table)).estimate(point(trace, partition(trace, "a"))).makespan


@pytest.mark.parametrize(
    ("cycles", "mhz", "ticks"),
    [
        (1_000_000, 3700, 270_270_270),
        (1, 3000, 333),
        (1, 2000, 500),
        ("0.5", 1_000_000, 1),
        ("0.49", 1_000_000, 0),
        ("2.5", None, 3),
        ("2.4", None, 2),
        (1, "0.0000005", 1_000_000_000_000),
    ],
)
def test_cycles_become_ticks_once_and_halves_go_up(cycles: object, mhz: object, ticks: int) -> None:
    assert one_actor(cycles=cycles, mhz=mhz) == ticks


def test_a_transfer_is_rounded_after_its_parts_are_summed() -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "x"}, rates={("s.x", "out"): 3, ("k.x", "in"): 3})
    table = weights(trace, {"s": 0, "k": 0})
    key = ("s", "o", "k", "i0", "local", "cpu", "write")
    table = replace(table, transfers={**table.transfers, key: cost("0.4", per_token="0.4")})
    estimate = make_engine("reference", problem(trace, table)).estimate(point(trace, partition(trace, "s k")))
    assert estimate.actors[0].writing == 2  # 1.6, not 0 + 3 * 0


def test_a_mixture_of_clocks_and_none_names_the_fewer() -> None:
    compute = {**TABLE.compute, ("f", "x", "cpu"): cost(110, mhz=2900)}
    with pytest.raises(FormatError) as error:
        build_tables(problem(CHAIN, replace(TABLE, compute=compute)))
    assert messages(error) == ["the compute weight of action f.x on cpu has a clock while other weights have none"]


def test_zero_costs_mix_with_everything() -> None:
    table = weights(CHAIN, {"s": 0, "f": 0, "k": 0})
    table = replace(table, compute={**table.compute, ("f", "x", "cpu"): cost(1, mhz=1)})
    assert build_tables(problem(CHAIN, table)).tick_unit == "ps"


def test_wrong_costs_are_named() -> None:
    compute = {**TABLE.compute, ("f", "x", "cpu"): cost(-1), ("s", "x", "cpu"): cost(1, mhz=0)}
    with pytest.raises(FormatError) as error:
        build_tables(problem(CHAIN, replace(TABLE, compute=compute)))
    assert messages(error) == [
        "the compute weight of action s.x on cpu has a clock of 0 MHz",
        "the compute weight of action f.x on cpu is negative",
    ]


# -- missing weights ----


def test_all_missing_weights_are_listed_at_once() -> None:
    table = WeightTable(name="empty", compute={("s", "x", "cpu"): cost(1)})
    with pytest.raises(FormatError) as error:
        ready(CHAIN, table, point(CHAIN, partition(CHAIN, "s f"), partition(CHAIN, "k")))
    assert messages(error) == [
        "no scheduling weight of action s.x on cpu",
        "no scheduling weight of action s.x after x on cpu",
        "no compute weight of action f.x on cpu",
        "no scheduling weight of action f.x on cpu",
        "no scheduling weight of action f.x after x on cpu",
        "no compute weight of action k.x on cpu",
        "no scheduling weight of action k.x on cpu",
        "no scheduling weight of action k.x after x on cpu",
        "no read weight of buffer s.o->f.i0 as local FIFO on cpu",
        "no read weight of buffer f.o->k.i0 as cpu_cpu FIFO on cpu",
        "no write weight of buffer s.o->f.i0 as local FIFO on cpu",
        "no write weight of buffer f.o->k.i0 as cpu_cpu FIFO on cpu",
    ]


def test_only_what_a_point_needs_has_to_be_there() -> None:
    cpu_only = replace(
        TABLE,
        compute={key: c for key, c in TABLE.compute.items() if key[2] == "cpu"},
        transfers={key: c for key, c in TABLE.transfers.items() if key[4] == "local"},
    )
    ready(CHAIN, cpu_only, point(CHAIN, partition(CHAIN, "s f k")), heterogeneous())
    with pytest.raises(FormatError):
        ready(CHAIN, cpu_only, point(CHAIN, *alone(CHAIN)), heterogeneous())


def test_missing_weights_are_zero_if_the_problem_says_so() -> None:
    lenient = Problem(trace=CHAIN, weights=WeightTable(name="empty"), platform=CPU, missing_weights="zero")
    assert make_engine("reference", lenient).estimate(point(CHAIN, *alone(CHAIN))).makespan == 0


def test_an_actor_with_a_core_to_itself_needs_scheduling_after_none_for_its_first_action_only() -> None:
    trace = network([], {"a": "xyy", "b": "x"})
    given = {("a", "", "x"): 1, ("a", "x", "y"): 1, ("a", "y", "y"): 1, ("b", "", "x"): 1}
    table = weights(trace, {"a": 1, "b": 1}, scheduling=given)
    ready(trace, table, point(trace, *alone(trace)))
    with pytest.raises(FormatError) as error:
        ready(trace, table, point(trace, partition(trace, "a b")))
    assert messages(error) == ["no scheduling weight of action a.y on cpu"]


# -- FIFO kinds, prices, links ----


def kinds(prepared: Prepared) -> list[str]:
    return list(prepared.fifo_kind)


def test_fifo_kinds() -> None:
    platform = heterogeneous()
    assert kinds(ready(CHAIN, TABLE, point(CHAIN, partition(CHAIN, "s f"), partition(CHAIN, "k")))) == [
        "local",
        "cpu_cpu",
    ]
    on_gpu = point(CHAIN, partition(CHAIN, "s"), partition(CHAIN, "f", unit="gpu"), partition(CHAIN, "k", unit="gpu"))
    assert kinds(ready(CHAIN, TABLE, on_gpu, platform)) == ["host", "cuda"]


def test_a_reader_across_makes_all_readers_of_the_port_host() -> None:
    trace = network([("s.o", "a"), ("s.o", "b"), ("s.p", "a")], {"s": "x", "a": "x", "b": "x"})
    table = weights(trace, {"s": 1, "a": 1, "b": 1})
    prepared = ready(trace, table, point(trace, *alone(trace, b="gpu")), heterogeneous())
    assert kinds(prepared) == ["host", "host", "cpu_cpu"]
    assert prepared.server_of == (0, 0, -1)


def test_the_dynamic_network_makes_host_whatever_could_cross() -> None:
    design = point(CHAIN, *alone(CHAIN))
    assert kinds(ready(CHAIN, TABLE, design, heterogeneous(dynamic=True))) == ["host", "host"]
    fixed = replace(heterogeneous(dynamic=True), gpu_capable=("k",))
    assert kinds(ready(CHAIN, TABLE, design, fixed)) == ["cpu_cpu", "host"]


def test_host_prices_are_those_of_the_unit_that_pays() -> None:
    host = {
        (*ends, "host", unit, side): cost(cycles)
        for ends in (("s", "o", "f", "i0"), ("f", "o", "k", "i0"))
        for unit, side, cycles in (
            ("cpu", "write", 1),
            ("gpu", "write", 10),
            ("cpu", "read", 100),
            ("gpu", "read", 1000),
        )
    }
    table = replace(weights(CHAIN, {"s": 0, "f": 0, "k": 0}), transfers=host)  # type: ignore[arg-type]
    engine = make_engine("reference", problem(CHAIN, table, heterogeneous(shared=False)))
    s, f, k = engine.estimate(point(CHAIN, *alone(CHAIN, f="gpu"))).actors
    assert [s.writing, f.reading, f.writing, k.reading] == [3, 3000, 30, 300]


def test_host_prices_are_derived_from_the_link_where_they_are_not_given() -> None:
    compute = {(actor, "x", kind): cost(1, mhz=1_000_000) for actor in "sfk" for kind in ("cpu", "gpu")}
    link = Link(name="l", between=("gpu", "cpu"), latency_ns=Fraction(900), bandwidth_gb_s=Fraction(12))
    table = WeightTable(name="w", compute=compute, has_scheduling=False, has_transfers=False)  # type: ignore[arg-type]
    platform = replace(heterogeneous(), links=(link,))
    estimate = make_engine("reference", problem(CHAIN, table, platform)).estimate(point(CHAIN, *alone(CHAIN, f="gpu")))
    # 4 bytes at 12 GB/s are 333.3 ps, on top of 900 ns, for each write and each read
    assert estimate.tick_unit == "ps"
    assert [estimate.actors[a].writing for a in (0, 1)] == [3 * 900_333] * 2
    assert [estimate.actors[a].reading for a in (1, 2)] == [3 * 900_333] * 2


def test_a_link_that_says_nothing_derives_nothing() -> None:
    table = replace(TABLE, transfers={})
    with pytest.raises(FormatError) as error:
        ready(CHAIN, table, point(CHAIN, *alone(CHAIN, k="gpu")), heterogeneous())
    assert "no write weight of buffer f.o->k.i0 as host FIFO on cpu" in messages(error)


def test_an_impossible_link_is_an_error() -> None:
    clocked = {key: cost(1, mhz=1) for key in TABLE.compute}
    link = Link(name="l", between=("cpu", "gpu"), bandwidth_gb_s=Fraction(0))
    table = replace(TABLE, compute=clocked, transfers={})
    with pytest.raises(FormatError, match="link 'l'"):
        build_tables(problem(CHAIN, table, replace(heterogeneous(), links=(link,))))


# -- design points that do not fit or cannot run ----


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    design = point(CHAIN, partition(CHAIN, "s f", unit="cpuu"), replace(partition(CHAIN, "f"), cores=0, policy="RR"))  # type: ignore[arg-type]
    with pytest.raises(FormatError) as error:
        ready(CHAIN, TABLE, replace(design, capacities=(1,)))
    assert messages(error) == [
        "partition 'cpuu:s f' is on unit 'cpuu', which platform 'cpu-only' lacks; did you mean 'cpu'?",
        "partition 'cpu:f' has policy 'RR'; known: NON_PREEMPTIVE, ROUND_ROBIN, DATA_DEMAND_DRIVEN, FULL_PARALLEL, "
        "STATIC_ORDER",
        "partition 'cpu:f' has 0 cores",
        "actor 'f' is in several partitions: cpuu:s f, cpu:f",
        "actor 'k' is in no partition",
        "1 capacities for 2 buffers",
    ]


def test_an_actor_on_a_gpu_has_to_be_capable() -> None:
    platform = replace(heterogeneous(), gpu_capable=("s",))
    with pytest.raises(InfeasibleDesign) as error:
        ready(CHAIN, TABLE, point(CHAIN, *alone(CHAIN, s="gpu", f="gpu")), platform)
    assert messages(error) == ["actor 'f' is on GPU 'gpu' but is not GPU-capable"]


def test_a_capacity_below_a_rate_names_buffer_action_and_what_would_do() -> None:
    trace = network([("s.o", "k")], {"s": "xxx", "k": "x"}, rates={("k.x", "in"): 3}, initial={("s.o", "k"): 1})
    table = weights(trace, {"s": 1, "k": 1})
    with pytest.raises(InfeasibleDesign) as error:
        ready(trace, table, point(trace, *alone(trace), capacity=2))
    assert messages(error) == ["buffer s.o->k.i0 has capacity 2; action k.x reads 3 at once: it needs at least 3"]
    ready(trace, table, point(trace, *alone(trace), capacity=3))


def test_initial_tokens_need_room() -> None:
    trace = network([("s.o", "k")], {"s": "x", "k": "x"}, initial={("s.o", "k"): 4})
    with pytest.raises(InfeasibleDesign) as error:
        ready(trace, weights(trace, {"s": 1, "k": 1}), point(trace, *alone(trace), capacity=3))
    assert messages(error) == ["buffer s.o->k.i0 has capacity 3; its 4 initial tokens need at least 4"]


def test_static_orders_are_checked() -> None:
    first = partition(CHAIN, "s f", policy="STATIC_ORDER", order="s k", cores=2)
    with pytest.raises(InfeasibleDesign) as error:
        ready(CHAIN, TABLE, point(CHAIN, first, partition(CHAIN, "k")))
    assert messages(error) == [
        "the static order of partition 'cpu:s f' names actor 'k' of another partition",
        "the static order of partition 'cpu:s f' leaves out actor 'f'",
        "partition 'cpu:s f' is STATIC_ORDER on 2 cores; it takes 1",
    ]


def test_the_block_table_is_the_price_of_one_firing_too() -> None:
    trace = network([], {"a": "x"})
    table = weights(trace, {"a": 5})
    table = replace(table, simd={("a", "x", "cpu"): SimdCost(block_cycles=(Fraction(9),))})
    assert make_engine("reference", problem(trace, table)).estimate(point(trace, *alone(trace))).makespan == 9
