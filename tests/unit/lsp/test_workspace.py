"""Texts of the editor before those on disk, changes, and who uses an actor."""

from pathlib import Path

from dse.base.errors import Diagnostic
from dse.base.source import Span
from dse.lsp.board import Board
from dse.lsp.session import Session
from tests.unit.lsp.scene import ACTOR, NETWORK, UNIT, Scene


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


def test_a_file_that_changes_on_disk_is_read_again(scene: Scene) -> None:
    assert scene.messages(scene.actor) == []
    scene.unit.write_text(UNIT.replace("COUNT", "MANY"))
    scene.session.sync({})
    assert "Adder.cal: unknown variable 'COUNT'" in scene.messages(scene.actor)


def test_a_network_is_checked_with_the_edited_actor(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("int Out", "int Sum").replace("Out:", "Sum:"))
    assert any("has no output port 'Out'" in message for message in scene.messages(scene.network))


def test_arguments_are_reported_where_the_network_now_is(scene: Scene) -> None:
    broken = NETWORK.replace('"Integer" value="3"', '"String" value="x"')
    scene.edit(scene.network, broken)
    first = scene.session.check(str(scene.network))[str(scene.network)]
    scene.edit(scene.network, broken.replace("<Instance", "\n\n<Instance"))
    second = scene.session.check(str(scene.network))[str(scene.network)]
    lines = [next(d.span.line for d in found if "gain" in d.message) for found in (first, second)]
    assert lines[1] == lines[0] + 2


def test_the_networks_of_an_actor_are_found_and_checked(scene: Scene) -> None:
    workspace = scene.session.workspace
    assert workspace.users_of(str(scene.actor)) == (str(scene.network),)
    scene.edit(scene.actor, ACTOR.replace("int Out", "int Sum").replace("Out:", "Sum:"))
    found = scene.session.check_users(str(scene.actor), slow=False)
    assert any("has no output port 'Out'" in d.message for d in found[str(scene.network)])
    scene.edit(scene.network, NETWORK.replace("lib.Adder", "lib.Other"))
    assert workspace.users_of(str(scene.actor)) == ()


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
