"""Nominal weights: operations counted in small programs by hand, and what filling in missing weights does."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.model.platform import Platform, Unit
from dse.model.rounds import loop_key
from dse.model.weights import Cost, SimdCost, WeightTable
from dse.passes.analyses.nominal import CPU_CYCLES, GPU_CYCLES, fill_missing, nominal_weights
from dse.passes.analyses.operations import ASSUMED_TRIPS, OperationCounter
from dse.program.ir import ForEach, While
from dse.program.network import Network

ACTOR = """
package p;
actor A() int(size=32) I ==> int(size=32) O:
  @native function magic(int x) --> int end
  int state := 0;
  int table[16] := [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0];
  uint(size=8) N = 4;
  function twice(int x) --> int : x * 2 end
  {BODY}
end
"""
XDF = """<XDF name="top">
  <Instance id="a"><Class name="p.A"/></Instance>
  <Instance id="b"><Class name="p.A"/></Instance>
  <Connection src="a" src-port="O" dst="b" dst-port="I"/>
  <Connection src="b" src-port="O" dst="a" dst-port="I"/>
</XDF>
"""


def network(folder: Path, body: str) -> Network:
    (folder / "p").mkdir()
    (folder / "p" / "A.cal").write_text(ACTOR.replace("{BODY}", body))
    (folder / "top.xdf").write_text(XDF)
    return load_network(str(folder / "top.xdf")).network


def counts(folder: Path, statements: str, declarations: str = "") -> dict[str, Fraction]:
    body = f"x: action I:[v] ==> O:[v] {declarations} do {statements} end"
    actor = network(folder, body).instances[0].actor
    found = OperationCounter(actor).body(actor.actions[0]).counts
    return {operation: count for operation, count in found.items() if count}


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("state := v + 1;", {"integer": 1, "store": 1}),
        ("state := state * v;", {"load": 1, "multiply": 1, "store": 1}),
        ("state := v / 3 - v mod 5;", {"divide": 2, "integer": 1, "store": 1}),
        ("table[v] := table[v + 1];", {"load": 1, "integer": 1, "store": 1}),
        ("state := twice(v);", {"call": 1, "multiply": 1, "store": 1}),
        ("state := magic(v);", {"native": 1, "store": 1}),
        ("println(1);", {"print": 1}),
        ("if v > 0 then state := 1; else state := v + 2; end", {"integer": Fraction(3, 2), "branch": 1, "store": 1}),
        ("foreach int i in 0 .. 3 do state := i; end", {"integer": 8, "branch": 4, "store": 4}),
        ("foreach int i in 1 .. N do state := i; end", {"integer": 8, "branch": 4, "store": 4}),
        ("foreach int i in 3 .. 0 do state := i; end", {}),
    ],
)
def test_operations_by_hand(tmp_path: Path, statements: str, expected: dict[str, Fraction]) -> None:
    assert counts(tmp_path, statements) == expected


def test_inner_bounds_are_taken_at_the_middle_of_the_outer_loop(tmp_path: Path) -> None:
    loops = "foreach int i in 0 .. 8 do foreach int j in 0 .. i do state := j; end end"
    assert counts(tmp_path, loops)["store"] == 9 * 5


def test_unknown_bounds_are_assumed_and_reported(tmp_path: Path) -> None:
    body = (
        "x: action I:[v] ==> O:[v] do foreach int i in 0 .. v do state := i; end while state > 0 do state := 0; end end"
    )
    table = nominal_weights(network(tmp_path, body))
    loop = ASSUMED_TRIPS * (2 + 1 + 1)
    loop_while = ASSUMED_TRIPS * (4 + 1 + 1 + 1)
    assert table.compute["a", "x", "cpu"].mean_cycles == loop + loop_while
    assert ("assumed", f"{ASSUMED_TRIPS} iterations of 2 loops whose bounds are no constants") in table.manifest


def test_rounds_of_a_run_go_before_assumed_ones(tmp_path: Path) -> None:
    """``a`` ran as the run says, of ``b`` nothing is known; a while tests once more than it runs."""
    body = (
        "x: action I:[v] ==> O:[v] do foreach int i in 0 .. v do state := i; end while state > 0 do state := 0; end end"
    )
    found = network(tmp_path, body)
    loop, repeated = found.instances[0].actor.actions[0].body
    assert isinstance(loop, ForEach)
    assert isinstance(repeated, While)
    of_run = {loop_key(loop): Fraction(5, 2), loop_key(repeated): Fraction(3)}
    table = nominal_weights(found, rounds=(of_run, {}))
    by_hand = Fraction(5, 2) * (2 + 1 + 1) + 3 * 1 + 4 * (4 + 1 + 1)
    assert table.compute["a", "x", "cpu"].mean_cycles == by_hand
    assert table.compute["b", "x", "cpu"].mean_cycles == ASSUMED_TRIPS * (2 + 1 + 1 + 4 + 1 + 1 + 1)


FSM = """
  x: action I:[v] ==> guard v > 0 end
  y: action I:[v] ==> end
  z: action ==> O:[1] end
  schedule fsm one: one(x) --> two; one(y) --> one; two(z) --> one; end
  priority x > y; end
"""


def test_scheduling_counts_the_tests_before_a_firing(tmp_path: Path) -> None:
    table = nominal_weights(network(tmp_path, FSM))
    guard = CPU_CYCLES["integer"] + CPU_CYCLES["branch"]
    of_a = {key[1:3]: cost.mean_cycles for key, cost in table.scheduling.items() if key[0] == "a"}
    assert of_a["", "x"] == 6 + 6 + guard
    assert of_a["", "y"] == 6 + 6 + guard + 6
    assert of_a["", "z"] == 6
    assert set(table.scheduling) == {(i, "", x, "cpu") for i in "ab" for x in "xyz"}  # each is in one state only


def test_scheduling_depends_on_the_previous_action_where_states_differ(tmp_path: Path) -> None:
    fsm = FSM.replace("two(z) --> one;", "two(z) --> one; two(y) --> two;")
    table = nominal_weights(network(tmp_path, fsm))
    of_a = {key[1:3]: cost.mean_cycles for key, cost in table.scheduling.items() if key[0] == "a"}
    assert of_a["", "y"] == (of_a["x", "y"] + of_a["z", "y"]) / 2
    assert of_a["x", "y"] < of_a["z", "y"]


def test_entries_of_a_platform_with_a_gpu(tmp_path: Path) -> None:
    net = network(tmp_path, FSM)
    units = (
        Unit(name="cpu", kind="cpu", clock_mhz=Fraction(2900)),
        Unit(name="gpu", kind="gpu", clock_mhz=Fraction(1800)),
    )
    table = nominal_weights(net, Platform(name="p", units=units))
    assert {key[2] for key in table.compute} == {"cpu", "gpu"}
    assert table.compute["a", "x", "gpu"].frequency_mhz == 1800
    assert table.compute["a", "x", "cpu"].frequency_mhz == 2900
    assert {key[4] for key in table.transfers} == {"local", "cpu_cpu", "cuda"}
    assert len(table.transfers) == 2 * 3 * 2
    assert {cost.origin for cost in (*table.compute.values(), *table.transfers.values())} == {"nominal"}
    assert all(GPU_CYCLES[operation] >= cycles for operation, cycles in CPU_CYCLES.items())


def test_a_unit_without_a_clock_gives_raw_cycles(tmp_path: Path) -> None:
    units = (Unit(name="cpu", kind="cpu", clock_mhz=Fraction(2900)), Unit(name="gpu", kind="gpu"))
    table = nominal_weights(network(tmp_path, FSM), Platform(name="p", units=units))
    assert {cost.frequency_mhz for cost in table.compute.values()} == {None}


def cost(cycles: int, clock: Fraction | None = None) -> Cost:
    return Cost(mean_cycles=Fraction(cycles), frequency_mhz=clock)


NOMINAL = WeightTable(
    name="n",
    compute={("a", "x", "cpu"): cost(1, Fraction(1000)), ("a", "y", "cpu"): cost(2, Fraction(1000))},
    scheduling={("a", "", "x", "cpu"): cost(3), ("a", "", "y", "cpu"): cost(4), ("a", "x", "y", "cpu"): cost(5)},
    transfers={("a", "O", "b", "I", "local", "cpu", "read"): cost(6)},
)


def test_filling_in_keeps_what_is_given(tmp_path: Path) -> None:
    given = WeightTable(name="g", compute={("a", "x", "cpu"): cost(9)}, has_transfers=False)
    table, n = fill_missing(given, NOMINAL, "nominal")
    assert table.compute == {("a", "x", "cpu"): cost(9), ("a", "y", "cpu"): cost(2)}  # no clock, as the given ones
    assert table.scheduling == NOMINAL.scheduling
    assert table.transfers == {}  # no communication file: costs nothing, is not missing
    assert n == 4


def test_filling_in_zeros_and_simd(tmp_path: Path) -> None:
    given = WeightTable(
        name="g",
        simd={("a", "x", "cpu"): SimdCost(block_cycles=(Fraction(1),))},
        scheduling={("a", "", "y", "cpu"): cost(7)},
        transfers=NOMINAL.transfers,
    )
    table, n = fill_missing(given, NOMINAL, "zero")
    assert {key: (c.mean_cycles, c.origin) for key, c in table.compute.items()} == {("a", "y", "cpu"): (0, "zero")}
    assert set(table.scheduling) == {("a", "", "x", "cpu"), ("a", "", "y", "cpu")}
    assert n == 2
    assert fill_missing(replace(NOMINAL, has_transfers=False), NOMINAL, "nominal")[1] == 0
