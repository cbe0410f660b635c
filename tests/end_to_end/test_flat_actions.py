"""What kernels are made of computes what the program computes: networks run with every action flattened."""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import ModelNotApplicable
from dse.frontend.network.elaborate import load_network
from dse.passes.rewrites.cost_view import cost_view
from dse.program.ir import Action, Actor
from dse.program.network import Network
from dse.run.execution import RunOptions, run_network

ACTORS = Path(__file__).resolve().parents[2] / "actors"
LISTS = """
actor A () ==> int(size=32) O :
  int T[3][4] := [[ i * 10 + j : for int j in 0 .. 3 ] : for int i in 0 .. 2];
  int rounds := 0;
  function sum(int row[4], int by) --> int : (row[0] + row[1] + row[2] + row[3]) * by end
  function norm(int x) --> int var int y := x * x : y + 1 end
  procedure turn(int from[4], int to[4], int by)
  begin foreach int i in 0 .. 3 do to[(i + by) & 3] := from[i] + norm(i); end by := by + 1; rounds := rounds + by; end
  go: action ==> O:[out] repeat 8
  guard rounds < 40
  var int row[4] := T[rounds mod 3], int other[4], int out[8] := [i : for int i in 0 .. 7], int by := 2
  do
    turn(row, other, by);
    turn(T[1], T[2], rounds & 1);
    T[0] := other;
    out := [x + y * sum(T[x], by) : for int x in 0 .. 1, for int y in 0 .. 3];
    row := [by, row[3], norm(by), rounds];
    out[1] := if norm(row[1]) > 5 then sum(row, 3) else row[2] end;
    while rounds > 35 and by < 5 do by := by + 1; rounds := rounds + 1; end
    out[2] := by;
  end
end
"""


def flat(actor: Actor) -> tuple[Actor, int]:
    """Return an actor with its actions flattened, as far as they can be, and how many were."""
    actions: list[Action] = []
    done = 0
    for action in actor.actions:
        try:
            found = cost_view(actor, replace(action, outputs=()))
        except ModelNotApplicable:
            actions.append(action)
            continue
        actions.append(replace(action, declarations=(), body=found.statements))
        done += 1
    return replace(actor, actions=tuple(actions)), done


def check(network: Network, read: str | None) -> int:
    """Compare the run of a network with that of its flattened actors; returns the number of flattened actions."""
    actors = {id(i.actor): flat(i.actor) for i in network.instances}
    instances = tuple(replace(i, actor=actors[id(i.actor)][0]) for i in network.instances)
    options = RunOptions(input=read, hash_channels=True)
    plain, flattened = run_network(network, options), run_network(replace(network, instances=instances), options)
    assert flattened.channels == plain.channels
    assert flattened.stdout == plain.stdout
    assert flattened.trace.digest == plain.trace.digest
    return sum(done for _, done in actors.values())


@pytest.mark.parametrize(
    ("name", "read", "least"),
    [("jpeg", "input.jpg", 60), ("smith_waterman", "input.txt", 30), ("matrix", None, 4), ("pingpong", None, 2)],
)
def test_flattened_networks_compute_the_same(name: str, read: str | None, least: int) -> None:
    network = load_network(str(ACTORS / name / f"{name}.xdf")).network
    assert check(network, str(ACTORS / name / read) if read else None) >= least


def test_flattened_lists_and_calls_compute_the_same(tmp_path: Path) -> None:
    (tmp_path / "A.cal").write_text(LISTS)
    (tmp_path / "B.cal").write_text(
        "actor B () int(size=32) I ==> : go: action I:[v] repeat 8 ==>"
        " do foreach int i in 0 .. 7 do println(v[i]); end end end\n"
    )
    (tmp_path / "top.xdf").write_text(
        '<XDF name="top"><Instance id="a"><Class name="A"/></Instance><Instance id="b"><Class name="B"/></Instance>'
        '<Connection src="a" src-port="O" dst="b" dst-port="I"/></XDF>'
    )
    assert check(load_network(str(tmp_path / "top.xdf")).network, None) == 1
