"""What edits make of a design, undo and redo, and the journal that survives a kill."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import DseError, FormatError, OptionError
from dse.flows.capacities import search_capacities
from dse.flows.estimate import one_core
from dse.flows.setting import Setting
from dse.formats.mapping_text import mapping_text
from dse.studio.design import Design, scaled_weights
from dse.studio.edits import (
    Edit,
    Fix,
    Move,
    Replace,
    Resize,
    Scale,
    SetClock,
    SetCores,
    SetModes,
    SetPolicy,
    SetUnit,
    Surroundings,
    applied,
)
from dse.studio.estimation import Estimation, feasibility
from dse.studio.journal import JOURNAL
from dse.studio.messages import Pin, Redo, Undo
from dse.studio.session import Session
from tests.unit.studio.conftest import Watched


@pytest.fixture
def design(setting: Setting) -> Design:
    return Design(point=one_core(setting, search_capacities(setting).tokens))


def text_after(design: Design, around: Surroundings, *edits: Edit) -> str:
    for edit in edits:
        design = applied(edit, design, around)
    return mapping_text(design.point, around.topology, around.platform, capacities=(512,) * 5)


def test_actors_move_between_partitions(design: Design, around: Surroundings) -> None:
    out = Move(actor=1, unit="cpu")
    assert text_after(design, around, out) == "P0:Prod,CopyTokensA,CopyTokensB,Merger P1:PingPong"
    more = (out, Move(actor=4, partition="P1"), Move(actor=2, partition="P1"))
    assert text_after(design, around, *more) == "P0:Prod,CopyTokensB P1:PingPong,CopyTokensA,Merger"
    assert text_after(design, around, out, Move(actor=1, partition="P0")) == text_after(design, around)


def test_the_last_actor_takes_its_partition_along(design: Design, around: Surroundings) -> None:
    edits = (Move(actor=0, unit="cpu"), SetPolicy(policy="ROUND_ROBIN", partition="P1"), Move(actor=0, unit="cpu"))
    assert text_after(design, around, *edits) == "P0:PingPong,CopyTokensA,CopyTokensB,Merger P2:Prod"


def test_sizes_policies_cores_and_modes_change(design: Design, around: Surroundings) -> None:
    everyone = "Prod,PingPong,CopyTokensA,CopyTokensB,Merger"
    sizes = (Resize(tokens=4), Resize(tokens=9, fifo=3))
    assert text_after(design, around, *sizes) == f"P0:{everyone} buffers=4,4,4,9,4"
    assert text_after(design, around, SetPolicy(policy="FULL_PARALLEL")) == f"P0/full-parallel:{everyone}"
    assert text_after(design, around, SetCores(partition="P0", cores=3)) == f"P0*3:{everyone}"
    modes = SetModes(transfers="parallel")
    assert text_after(design, around, modes) == f"P0:{everyone} transfers=parallel"
    both = text_after(design, around, modes, SetModes(release="processing"))
    assert both == f"P0:{everyone} release=processing transfers=parallel"


def test_a_static_order_follows_moves(design: Design, around: Surroundings) -> None:
    edits = (Move(actor=1, unit="cpu"), SetPolicy(policy="STATIC_ORDER", partition="P1"), Move(actor=4, partition="P1"))
    assert text_after(design, around, *edits).endswith("P1/static-order:PingPong,Merger")


def test_a_unit_has_one_clock(design: Design, around: Surroundings) -> None:
    edits = (Move(actor=1, unit="cpu"), SetClock(unit="cpu", mhz=Fraction(1200)), Move(actor=2, unit="cpu"))
    assert text_after(design, around, *edits) == (
        "P0@cpu=1200:Prod,CopyTokensB,Merger P1@cpu=1200:PingPong P2@cpu=1200:CopyTokensA"
    )
    assert "@" not in text_after(design, around, *edits, SetClock(unit="cpu", mhz=None))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Move(actor=0, partition="P7"), "there is no partition 'P7'"),
        (Move(actor=0, unit="moon"), "has no unit 'moon'"),
        (SetUnit(partition="P0", unit="moon"), "has no unit 'moon'"),
        (SetCores(partition="P1", cores=2), "there is no partition 'P1'"),
        (SetClock(unit="moon", mhz=Fraction(1)), "has no unit 'moon'"),
        (Replace(mapping="P0:a"), "'a'"),
        (Replace(mapping="P0:Prod"), "PingPong"),
    ],
)
def test_what_is_not_there_is_an_error(design: Design, around: Surroundings, edit: Edit, message: str) -> None:
    with pytest.raises(DseError) as caught:
        applied(edit, design, around)
    assert message in str(caught.value)


def test_what_can_never_run_is_refused(setting: Setting, design: Design, around: Surroundings) -> None:
    session = Session(design, around)
    with pytest.raises(DseError):
        session.change(Move(actor=0, partition="P9"), feasibility(setting))
    starved = Replace(mapping="P0/static-order=Prod:*")
    with pytest.raises(DseError):
        session.change(starved, feasibility(setting))
    assert (session.design, session.revision, session.undoable) == (design, 0, 0)


def test_scaled_costs_change_estimates_exactly(setting: Setting, design: Design, around: Surroundings) -> None:
    estimation = Estimation(setting, "reference")
    plain = estimation.estimate(design, firing_times=False)
    free = applied(Scale(actor=4, factor=Fraction(0)), design, around)
    found = estimation.estimate(free, firing_times=False)
    assert plain.makespan - found.makespan == plain.actors[4].processing
    assert found.actors[4].processing == 0
    assert applied(Scale(actor=4, factor=Fraction(1)), free, around) == design


def test_scaling_leaves_other_costs(setting: Setting) -> None:
    topology, weights = setting.trace.topology, setting.problem.weights
    half = scaled_weights(weights, topology, {(0, 0): Fraction(1, 2)})
    name = topology.actors[0].name
    action = topology.actors[0].actions[0].name
    for key, cost in weights.compute.items():
        factor = Fraction(1, 2) if key[:2] == (name, action) else 1
        assert half.compute[key].mean_cycles == cost.mean_cycles * factor
    assert half.scheduling == weights.scheduling


def test_clocks_change_estimates(setting: Setting, design: Design, around: Surroundings) -> None:
    estimation = Estimation(setting, "reference")
    plain = sum(account.processing for account in estimation.estimate(design).actors)
    slow = applied(SetClock(unit="cpu", mhz=Fraction(1450)), design, around)
    assert sum(account.processing for account in estimation.estimate(slow).actors) == pytest.approx(2 * plain, rel=1e-3)


def test_undo_and_redo(design: Design, around: Surroundings) -> None:
    session = Session(design, around)

    def change(change: object) -> bool:
        return session.change(change, lambda _: None)  # type: ignore[arg-type]

    assert not change(Undo())
    assert change(Move(actor=1, unit="cpu"))
    moved = session.design
    assert session.compared == design
    assert change(Resize(tokens=3))
    assert change(Undo())
    assert session.design == moved
    assert change(Undo())
    assert (session.design, session.undoable, session.redoable) == (design, 0, 2)
    assert change(Redo())
    assert session.design == moved
    assert change(Fix(actor=0, fixed=True))
    assert session.redoable == 0
    assert not change(Redo())
    assert change(Pin(pinned=True))
    assert change(Resize(tokens=3))
    assert session.compared is not None
    assert session.compared.point == moved.point
    assert not change(Resize(tokens=3))
    assert session.revision == 8


def test_a_session_survives_a_kill(open_desk: Callable[[], Watched], tmp_path: Path) -> None:
    first = open_desk()
    first.say(type="move", actor=1, unit="cpu")
    first.say(type="scale", actor=0, factor="0.5")
    first.say(type="resize", tokens=3, fifo=0)
    first.say(type="undo")
    first.say(type="pin", pinned=True)
    design = first.desk.session.design
    second = open_desk()  # the first one was never closed
    assert second.desk.session.design == design
    assert (second.desk.session.undoable, second.desk.session.redoable) == (2, 1)
    assert second.desk.session.pinned == design


def test_a_line_that_a_kill_has_torn_is_dropped(open_desk: Callable[[], Watched], tmp_path: Path) -> None:
    open_desk().say(type="move", actor=1, unit="cpu")
    journal = tmp_path / JOURNAL
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"type": "mo')
    again = open_desk()
    assert again.desk.session.undoable == 1
    assert journal.read_bytes() == whole
    again.say(type="undo")
    assert open_desk().desk.session.redoable == 1


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"type": "save"}', b'{"type": "move", "actor": 99}', b"\xff"])
def test_a_damaged_line_is_told_with_its_number(open_desk: Callable[[], Watched], tmp_path: Path, line: bytes) -> None:
    open_desk()
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes() + line + b"\n")
    with pytest.raises(FormatError) as caught:
        open_desk()
    assert caught.value.diagnostics[0].span.line == 2


def test_a_journal_that_leads_nowhere_is_an_error(open_desk: Callable[[], Watched], tmp_path: Path) -> None:
    open_desk()
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes() + b'{"type": "move", "actor": 0, "partition": "P9"}\n')
    with pytest.raises(FormatError, match="does not lead to a design"):
        open_desk()


def test_a_journal_of_other_inputs_is_put_aside(open_desk: Callable[[], Watched], tmp_path: Path) -> None:
    open_desk().say(type="move", actor=1, unit="cpu")
    journal = tmp_path / JOURNAL
    header, rest = journal.read_text().split("\n", 1)
    other = json.loads(header)
    other["made for"]["trace"] = "0"
    journal.write_text(f"{json.dumps(other)}\n{rest}")
    assert open_desk().desk.session.undoable == 0
    assert (tmp_path / "studio-previous.jsonl").read_text().endswith(rest)


def test_two_servers_of_one_folder_notice_each_other(open_desk: Callable[[], Watched]) -> None:
    first, second = open_desk(), open_desk()
    assert first.say(type="resize", tokens=3) is None
    answer = second.say(type="resize", tokens=4)
    assert answer is not None
    assert "changed by another program" in answer["message"]
    assert set(second.desk.session.design.point.capacities) == {4}  # it goes on all the same


def test_a_folder_that_cannot_be_written_is_an_error(setting: Setting, tmp_path: Path) -> None:
    from dse.studio.journal import open_journal

    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot keep what happens on the page"):
        open_journal(tmp_path / "file" / "below", {}, "P0:*", setting.trace.topology)
