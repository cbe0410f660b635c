"""The cost view of actions: what it executes is what the action does as often as it does it, its values may differ."""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import ModelNotApplicable
from dse.frontend.network.elaborate import load_network
from dse.passes.rewrites.cost_view import CostView, cost_view, folded
from dse.program.ir import Actor, Assign, Binary, Call, Const, Declare, ForEach, Load
from dse.program.network import Network
from dse.program.types import INT32
from dse.program.walk import expressions_of, sub_expressions, sub_statements
from dse.run.execution import RunOptions, run_network

ACTOR = """
actor A () ==> int(size=32) O :
  int s := 0; int count := 0;
  int table[3] = [5, 6, 7];
  function twice(int x) --> int var int y := x * 2 : y end
  function low(int(size=8) x) --> int : x end
  function short(int x) --> int(size=8) : x end
  procedure add(int n, int by) begin s := s + n * by; n := 0; end
  procedure again(int n) begin again(n - 1); end
  go: action ==> O:[s] guard count < 9
  var int l[2] := [count + 1, 2]
  do count := count + 1; BODY end
end
"""
SINK = "actor B () int(size=32) I ==> : go: action I:[v] ==> do println(v); end end\n"
TOP = (
    '<XDF name="top"><Instance id="a"><Class name="A"/></Instance><Instance id="b"><Class name="B"/></Instance>'
    '<Connection src="a" src-port="O" dst="b" dst-port="I"/></XDF>'
)


def network_of(folder: Path, body: str) -> tuple[Network, Actor]:
    """The network whose actor does something, and the actor."""
    (folder / "A.cal").write_text(ACTOR.replace("BODY", body))
    (folder / "B.cal").write_text(SINK)
    (folder / "top.xdf").write_text(TOP)
    network = load_network(str(folder / "top.xdf")).network
    return network, next(i.actor for i in network.instances if i.name == "a")


def printed(folder: Path, body: str) -> tuple[str, ...]:
    """What the program prints, and what it prints when the action is its cost view."""
    network, actor = network_of(folder, body)
    (action,) = actor.actions
    found = cost_view(actor, replace(action, outputs=()))
    viewed = replace(actor, actions=(replace(action, declarations=(), body=found.statements),))
    instances = tuple(replace(i, actor=viewed) if i.name == "a" else i for i in network.instances)
    return tuple(run_network(n, RunOptions()).stdout for n in (network, replace(network, instances=instances)))


def view(folder: Path, body: str) -> CostView:
    _, actor = network_of(folder, body)
    return cost_view(actor, actor.actions[0])


@pytest.mark.parametrize(
    "body",
    [
        "s := s + twice(count);",
        "s := twice(twice(twice(count)));",
        "add(twice(count), 3);",
        "add(s, 2); add(7, count);",
        "foreach int i in 0 .. 1 do l[i] := l[1 - i] + table[i]; s := s + l[i]; end",
        "if twice(s) > 4 then s := 1; else s := s + l[1]; end",
        "s := s + (if count > 4 then twice(count) else 1 end);",
        "while s < 20 do s := s + count + 1; end",
        "l := [x + count : for int x in 3 .. 4]; s := l[0] * l[1];",
    ],
)
def test_most_programs_compute_the_same(tmp_path: Path, body: str) -> None:
    plain, viewed = printed(tmp_path, body)
    assert plain == viewed
    assert plain.count("\n") > 1


@pytest.mark.parametrize(
    "body",
    [
        "l := [3, 4]; s := s + l[0];",
        "s := s + low(300);",
        "s := s + short(count * 100);",
        "l := [l[1] + count, l[0]]; s := s + l[1];",
    ],
)
def test_what_is_not_kept_is_what_the_view_says(tmp_path: Path, body: str) -> None:
    plain, viewed = printed(tmp_path, body)
    assert plain != viewed


def test_a_call_inside_a_call_happens_once(tmp_path: Path) -> None:
    found = view(tmp_path, "s := twice(twice(count));")
    computed = [s for s in sub_statements(found.statements) if isinstance(s, Assign) and s.name.startswith("y")]
    assert len(computed) == 2
    assert not any(
        isinstance(p, Call)
        for s in sub_statements(found.statements)
        for e in expressions_of(s)
        for p in sub_expressions(e)
    )


def test_names_of_calls_are_fresh(tmp_path: Path) -> None:
    found = view(tmp_path, "add(s + 1, 2); add(s + 2, 2);")
    names = [s.variable.name for s in sub_statements(found.statements) if isinstance(s, Declare | ForEach)]
    assert len(names) == len(set(names))
    assert set(found.locals) >= {s.variable.name for s in found.statements if isinstance(s, Declare)}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("again(3);", "again is recursive"),
        ("println(s);", "it prints"),
        ("while twice(s) < 9 do s := s + 1; end", "the condition of a while calls a function"),
    ],
)
def test_what_cannot_be_said(tmp_path: Path, body: str, why: str) -> None:
    with pytest.raises(ModelNotApplicable, match=why):
        view(tmp_path, body)


def test_what_is_folded() -> None:
    two, three = Const(2, INT32), Const(3, INT32)
    assert folded(Binary("*", two, Binary("-", three, two, INT32), INT32)) == 2
    assert folded(Binary(">>", three, Const(1, INT32), INT32)) == 1
    assert folded(Binary("-", Binary("<<", two, three, INT32), two, INT32)) is None
    assert folded(Binary("&", three, two, INT32)) is None
    assert folded(Load("x", INT32)) is None
