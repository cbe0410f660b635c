"""The server as an editor meets it: one process, the real protocol over its pipes."""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from dse.lsp.server import Desk
from tests.unit.lsp.client import Client
from tests.unit.lsp.scene import ACTOR, NETWORK, Scene

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[Client, Scene]]:
    """Start a server on a scene, and end it."""
    scene = Scene(folder)
    client = Client(scene.folder)
    capabilities = client.initialize(scene.folder)["capabilities"]
    assert capabilities["hoverProvider"]
    yield client, scene
    assert client.end() == 0
    assert client.errors == b""
    client.kill()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Scene]]:
    with serving(tmp_path_factory.mktemp("workspace")) as both:
        yield both


def place(text: str, marked: str) -> tuple[int, int]:
    """Line and character, as an editor counts, of the ``|`` in a marked place."""
    before = text[: text.index(marked.replace("|", "")) + marked.index("|")]
    return before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2


def test_diagnostics_of_unsaved_text_and_of_the_network_that_uses_it(served: tuple[Client, Scene]) -> None:
    client, scene = served
    client.open(scene.actor)
    broken = ACTOR.replace("b[1]", "c[1]").replace("/*\n", "/* 😀\n")
    client.change(scene.actor, broken)
    (found,) = client.diagnostics(scene.actor, "unknown variable 'c'")
    line, character = place(broken, "+ |c[1]")
    assert found["range"]["start"] == {"line": line, "character": character}
    assert found["range"]["end"] == {"line": line, "character": character + 1}
    assert found["severity"] == 1
    client.change(scene.actor, ACTOR.replace("int Out", "int Sum").replace("Out:", "Sum:"), 3)
    client.diagnostics(scene.actor)
    client.diagnostics(scene.network, "has no output port 'Out'")
    client.change(scene.actor, ACTOR, 4)
    client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"].endswith("xdf"))
    assert scene.actor.read_text() == ACTOR


def test_requests(served: tuple[Client, Scene]) -> None:
    client, scene = served
    client.open(scene.network)
    line, character = place(NETWORK, 'src-port="Ou|t"')
    (target,) = client.ask("definition", scene.network, line, character)
    assert target["uri"] == scene.actor.as_uri()
    start = place(ACTOR, "==> int |Out:")
    assert (target["range"]["start"]["line"], target["range"]["start"]["character"]) == start
    hover = client.ask("hover", scene.network, line, character)
    assert "1 by `add.none`; 2 by `add.pair`" in hover["contents"]["value"]
    offered = client.ask("completion", scene.network, line, character)
    assert [item["label"] for item in offered] == ["Out"]
    symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": scene.actor.as_uri()}})
    names = [symbol["name"] for symbol in symbols[0]["children"]]
    assert names[:3] == ["gain", "In", "Out"]
    assert client.ask("hover", scene.network, 0, 0) is None


def test_a_text_in_no_file(served: tuple[Client, Scene]) -> None:
    client, _ = served
    uri = "untitled:Untitled-1"
    document = {"uri": uri, "languageId": "cal", "version": 1, "text": "actor A () ==> int O: action ==> O:[x] end end"}
    client.notify("textDocument/didOpen", {"textDocument": document})
    found = client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri)
    assert "unknown variable 'x'" in found["params"]["diagnostics"][0]["message"]
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_a_closed_file_has_no_diagnostics(served: tuple[Client, Scene]) -> None:
    client, scene = served
    client.open(scene.unit, "unit Tools: int COUNT = ; end")
    client.diagnostics(scene.unit, "expected an expression")
    client.notify("textDocument/didClose", {"textDocument": {"uri": scene.unit.as_uri()}})
    client.diagnostics(scene.unit)


def test_what_others_found_in_a_text_goes_when_it_is_closed(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, scene):
        client.open(scene.actor)
        client.ask("hover", scene.actor, 0, 0)  # the text is checked before this is answered
        client.open(scene.unit, "unit Tools: int COUNT = ; end")
        client.diagnostics(scene.unit, "expected an expression")
        client.diagnostics(scene.unit, "expected an expression")  # once more: the actor that uses it has met it too
        client.notify("textDocument/didClose", {"textDocument": {"uri": scene.unit.as_uri()}})
        client.diagnostics(scene.unit)


def test_a_file_changed_by_another_program(served: tuple[Client, Scene]) -> None:
    client, scene = served
    client.open(scene.actor)
    client.ask("hover", scene.actor, 0, 0)  # the text is checked before this is answered
    before = scene.unit.read_text()
    scene.unit.write_text(before.replace("twice", "doubled"))
    change = {"uri": scene.unit.as_uri(), "type": 2}
    client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
    client.diagnostics(scene.actor, "the unit 'lib.Tools' declares no 'twice'")
    scene.unit.write_text(before)
    os.utime(scene.unit, (1, 1))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
    client.diagnostics(scene.actor)


def test_other_xml_is_none_of_ours(served: tuple[Client, Scene]) -> None:
    client, scene = served
    other = scene.folder / "pom.xml"
    client.open(other, "unit A: int B = 1; end")
    assert client.ask("hover", other, 0, 2) is None
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": other.as_uri()}}) == []
    client.change(other, "unit A: int B = ; end")
    client.open(scene.unit, "unit Tools: int COUNT = ; end")
    client.diagnostics(scene.unit, "expected an expression")
    assert not client.kept("textDocument/publishDiagnostics", other)
    client.notify("textDocument/didClose", {"textDocument": {"uri": scene.unit.as_uri()}})


def test_what_is_left_to_check_when_the_editor_ends_is_left(tmp_path: Path) -> None:
    """The background check was asked for, and has not begun: it must not ask a thread that has ended."""
    file = tmp_path / "A.cal"
    published: list[object] = []
    workspace = SimpleNamespace(position_encoding=None, folders={})
    server = SimpleNamespace(workspace=workspace, text_document_publish_diagnostics=published.append)

    async def open_and_stop() -> None:
        desk = Desk(cast("LanguageServer", server), ())
        desk.open(file.as_uri(), "actor A () ==> : end", "cal")
        desk.stop()
        assert desk._checking is not None
        await desk._checking
        before = len(published)
        desk.open(file.as_uri(), "actor B () ==> : end", "cal")
        assert len(published) == before

    asyncio.run(open_and_stop())
