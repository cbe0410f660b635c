"""Texts of the editor before those on disk, changes, and who uses an actor."""

from pathlib import Path

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic
from dse.base.source import Span
from dse.formats.xdf import parse_xdf
from dse.lsp.board import Board
from dse.lsp.session import Session
from tests.unit.lsp.scene import ACTOR, NETWORK, OUTER, UNIT, Scene


def test_the_text_of_the_editor_counts(scene: Scene) -> None:
    assert scene.messages(scene.actor) == []
    scene.edit(scene.actor, ACTOR.replace("b[1]", "c[1]"))
    assert scene.messages(scene.actor) == ["Adder.cal: unknown variable 'c'"]
    scene.session.sync({})
    assert scene.messages(scene.actor) == []


def test_all_errors_come_at_once(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("t := a[0] + b[1];", "t := a[0] + ;").replace("idle (add)", "idle add"))
    assert len(scene.messages(scene.actor)) == 2


def test_a_unit_that_is_edited_changes_its_users(scene: Scene) -> None:
    assert scene.messages(scene.actor) == []
    scene.edit(scene.unit, UNIT.replace("COUNT", "NUMBER"))
    assert "Adder.cal: unknown variable 'COUNT'" in scene.messages(scene.actor)
    scene.edit(scene.unit, UNIT)
    assert not any("COUNT" in message for message in scene.messages(scene.network))
    scene.edit(scene.unit, UNIT.replace("COUNT", "NUMBER"))
    assert "Adder.cal: unknown variable 'COUNT'" in scene.messages(scene.network)


def test_a_file_that_changes_on_disk_is_read_again(scene: Scene) -> None:
    assert scene.messages(scene.actor) == []
    scene.unit.write_text(UNIT.replace("COUNT", "MANY"))
    scene.session.sync({})
    assert "Adder.cal: unknown variable 'COUNT'" in scene.messages(scene.actor)


def test_a_network_is_checked_with_the_edited_actor(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("int Out", "int Sum").replace("Out:", "Sum:"))
    assert any("has no output port 'Out'" in message for message in scene.messages(scene.network))


def test_arguments_are_reported_where_the_network_now_is(scene: Scene) -> None:
    scene.actor.write_text(ACTOR.replace("int(size=8) gain", "int gain[2]").replace("v * gain", "v * gain[0]"))
    three = "".join('<Expr kind="Literal" literal-kind="Integer" value="1"/>' for _ in range(3))
    given = NETWORK.replace('<Expr kind="Var" name="K"/>', f'<Expr kind="List">{three}</Expr>')
    scene.edit(scene.network, given)
    first = scene.session.check(str(scene.network))[str(scene.network)]
    scene.edit(scene.network, given.replace("<Instance", "\n\n<Instance"))
    second = scene.session.check(str(scene.network))[str(scene.network)]
    lines = [next(d.span.line for d in found if "the value given" in d.message) for found in (first, second)]
    assert lines[1] == lines[0] + 2


def test_the_encoding_that_an_edited_text_declares_does_not_count() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><XDF name="\u20ac\u00e9"/>'
    network = parse_xdf("net.xdf", Gatherer(), text)
    assert network is not None
    assert network.name == "\u20ac\u00e9"


def test_the_networks_of_an_actor_are_found_and_checked(scene: Scene) -> None:
    workspace = scene.session.workspace
    scene.outer.write_text(OUTER.replace("net", "other.Adder"))  # of the same name, in another package
    assert workspace.users_of(str(scene.actor)) == (str(scene.network),)
    scene.edit(scene.actor, ACTOR.replace("int Out", "int Sum").replace("Out:", "Sum:"))
    found = scene.session.check_users(str(scene.actor), slow=False)
    assert any("has no output port 'Out'" in d.message for d in found[str(scene.network)])
    scene.edit(scene.network, NETWORK.replace("lib.Adder", "lib.Other"))
    assert workspace.users_of(str(scene.actor)) == ()


INNER = NETWORK.replace('<Expr kind="Literal" literal-kind="Integer" value="3"/>', "").replace("Variable", "Param")
"""The network as one that needs an argument."""


def test_a_network_within_others_is_checked_in_them(scene: Scene) -> None:
    given = '<Class name="net"/><Parameter name="K"><Expr kind="Literal" literal-kind="Integer" value="3"/></Parameter>'
    scene.outer.write_text(OUTER.replace('<Class name="net"/>', given))
    scene.session.sync({str(scene.network): INNER, str(scene.actor): ACTOR.replace("int Out", "int Sum")})
    assert scene.messages(scene.network) == []
    for changed in (scene.network, scene.actor):
        found = scene.session.check_users(str(changed), slow=False)
        assert any("has no output port 'Out'" in d.message for d in found[str(scene.network)])


def test_ports_of_a_network_are_others_to_connect(scene: Scene) -> None:
    assert [m for m in scene.messages(scene.network) if "Result" in m] == []


def test_only_folders_of_the_workspace_are_searched(scene: Scene) -> None:
    session = Session()
    assert session.workspace.users_of(str(scene.actor)) == ()
    session.workspace.folders = (str(scene.folder / "lib"),)
    assert session.workspace.users_of(str(scene.actor)) == ()


def test_source_paths_are_searched_first(scene: Scene, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "lib").mkdir(parents=True)
    (other / "lib/Adder.cal").write_text(ACTOR.replace("Adds pairs", "Another"))
    session = Session((str(other),))
    assert session.workspace.class_file(str(scene.network), "lib.Adder") == str(other / "lib/Adder.cal")


def finding(text: str, line: int = 1) -> Diagnostic:
    return Diagnostic(message=text, span=Span("/f", line, 1, line, 2))


def test_a_file_has_the_findings_of_all_who_looked_at_it() -> None:
    board = Board()
    assert board.put(("/f", "own"), {"/f": (finding("b", 2),)}) == ["/f"]
    assert board.put(("/n", "own"), {"/f": (finding("a"), finding("b", 2)), "/n": (finding("c"),)}) == ["/f", "/n"]
    assert [d.message for d in board.of("/f")] == ["a", "b"]
    assert board.put(("/f", "own"), {"/f": (finding("b", 2),)}) == []
    assert board.put(("/f", "own"), {}) == ["/f"]
    assert set(board.drop("/n")) == {"/f", "/n"}
    assert board.of("/f") == ()
