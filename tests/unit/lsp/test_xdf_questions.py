"""Definition, hover, outline and completion in XDF files, whole and broken."""

import pytest

from tests.unit.lsp.scene import NETWORK, Scene


@pytest.mark.parametrize(
    ("marked", "declared"),
    [
        ('Class name="lib.A|dder"', ["lib/Adder.cal:8 Adder"]),
        ('Parameter name="ga|in"', ["lib/Adder.cal:8 gain"]),
        ('kind="Var" name="|K"', ["net.xdf:4 K"]),
        ('Connection src="o|ne"', ["net.xdf:5 one"]),
        ('src-port="Ou|t"', ["lib/Adder.cal:8 Out"]),
        ('dst-port="Res|ult"', ["net.xdf:3 Result"]),
        ('Connection s|rc="one"', []),
    ],
)
def test_definition(scene: Scene, marked: str, declared: list[str]) -> None:
    assert scene.definition(scene.network, marked) == declared


def test_a_network_may_be_a_class(scene: Scene) -> None:
    assert scene.definition(scene.outer, 'Class name="n|et"') == ["net.xdf:2 net"]
    assert scene.definition(scene.outer, 'src-port="Re|sult"') == ["net.xdf:3 Result"]
    assert scene.definition(scene.outer, 'dst-port="Re|sult"') == []
    assert "network" in scene.hover(scene.outer, 'Class name="n|et"')
    assert scene.offered(scene.outer, 'src-port="Re|sult"') == {"Result"}
    assert scene.offered(scene.outer, 'dst-port="Re|sult"') == set()


@pytest.mark.parametrize(
    ("marked", "known"),
    [
        ('Class name="lib.A|dder"', ["*actor*", "- in `In`: uint(size=3)", "4 by `add.pair`", "2 actions"]),
        ('Connection src="o|ne"', ["*instance* `one` of `lib.Adder`", "- out `Out`: int(size=32)"]),
        ('src-port="Ou|t"', ["*output port*", "1 by `add.none`; 2 by `add.pair`"]),
        ('Parameter name="ga|in"', ["*parameter*", "int(size=8) gain"]),
        ('kind="Var" name="|K"', ["*variable of the network* `K` = `3`"]),
        ('dst-port="Res|ult"', ["*output port of the network* `Result`, `int`"]),
    ],
)
def test_hover(scene: Scene, marked: str, known: list[str]) -> None:
    text = scene.hover(scene.network, marked)
    assert [words for words in known if words not in text] == [], text


def test_outline(scene: Scene) -> None:
    assert scene.outline(scene.network) == [
        "XDF net [network]",
        "  Port Result [Output]",
        "  Decl K [Variable]",
        "  Instance one [lib.Adder]",
        "  Connection one.Out -> Result []",
    ]


def test_completion(scene: Scene) -> None:
    assert scene.offered(scene.network, 'Class name="lib.A|dder"') == {"net", "outer"}
    assert scene.offered(scene.network, 'Connection src="o|ne"') == {"one"}
    assert scene.offered(scene.network, 'src-port="Ou|t"') == {"Out"}
    assert scene.offered(scene.network, 'dst-port="Res|ult"') == {"Result"}
    assert scene.offered(scene.network, 'Parameter name="ga|in"') == {"gain"}


@pytest.mark.parametrize("cut", ["</XDF>", '<Parameter name="gain">', "</Instance>", '"Var"', 'dst=""', "/>"])
def test_a_broken_text_keeps_the_rest(scene: Scene, cut: str) -> None:
    scene.edit(scene.network, NETWORK.replace(cut, "", 1))
    assert scene.messages(scene.network)
    assert scene.definition(scene.network, 'Class name="lib.A|dder"') == ["lib/Adder.cal:8 Adder"]
    assert scene.definition(scene.network, 'src-port="Ou|t"') == ["lib/Adder.cal:8 Out"]
    assert any("Instance one" in line for line in scene.outline(scene.network))


def test_every_entry_of_an_outline_has_a_name(scene: Scene) -> None:
    scene.edit(scene.network, '<XDF name=" "><Port name=" &#10; "/></XDF>')
    names = [line.split(" [")[0].split()[1:] for line in scene.outline(scene.network)]
    assert all(names), names
