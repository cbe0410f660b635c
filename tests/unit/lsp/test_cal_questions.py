"""Definition, hover, outline and completion in CAL files, whole and broken."""

import pytest

from tests.unit.lsp.scene import ACTOR, UNIT, Scene


@pytest.mark.parametrize(
    ("marked", "declared"),
    [
        ("import lib.T|ools.*;", ["lib/Tools.cal:2 Tools"]),
        ("import lib.Tools.tw|ice;", ["lib/Tools.cal:5 twice"]),
        ("size=COU|NT) table", ["lib/Tools.cal:4 COUNT"]),
        ("v * ga|in", ["lib/Adder.cal:8 gain"]),
        ("w + tab|le[0]", ["lib/Adder.cal:12 table"]),
        ("int w = |v", ["lib/Adder.cal:14 v"]),
        ("\t\tw| + table", ["lib/Adder.cal:15 w"]),
        ("action I|n:[a", ["lib/Adder.cal:8 In"]),
        ("==> Ou|t:[sum", ["lib/Adder.cal:8 Out"]),
        ("guard a|[0]", ["lib/Adder.cal:19 a"]),
        ("+ b|[1]", ["lib/Adder.cal:19 b"]),
        ("|t := a", ["lib/Adder.cal:21 t"]),
        ("+ t + |i;", ["lib/Adder.cal:24 i"]),
        ("twice(sum|)]", ["lib/Adder.cal:11 sum"]),
        ("Out:[sum, |twice", ["lib/Tools.cal:5 twice"]),
        ("lo|g(sum)", ["lib/Tools.cal:6 log"]),
        ("Out:[sca|led", ["lib/Adder.cal:14 scaled"]),
        ("(ad|d) --> idle", ["lib/Adder.cal:19 add.pair", "lib/Adder.cal:30 add.none"]),
        ("add.no|ne;", ["lib/Adder.cal:30 add.none"]),
        ("--> id|le;", ["lib/Adder.cal:33 idle"]),
        ("actor Ad|der", ["lib/Adder.cal:8 Adder"]),
        ("int(size=16) su|m := 0", ["lib/Adder.cal:11 sum"]),
        ("fore|ach int i", []),
        ("// The s|um so far", []),
    ],
)
def test_definition(scene: Scene, marked: str, declared: list[str]) -> None:
    assert scene.definition(scene.actor, marked) == declared


@pytest.mark.parametrize(
    ("marked", "known"),
    [
        ("twice(su|m)]", ["int(size=16) sum := 0", "*variable*", "-32768 .. 32767", "The sum so far"]),
        ("size=COU|NT)", ["int COUNT = 4", "*constant*", "value `4`", "declared in `lib.Tools`", "How many"]),
        ("action I|n:[a", ["*input port*", "0 .. 255; kept in 8 bits", "4 by `add.pair`"]),
        ("guard a|[0]", ["*token*", "2 elements of uint(size=3)"]),
        ("+ t + |i;", ["*loop variable*", "runs over 0 .. 3"]),
        ("add.pai|r:", ["add.pair: action In:[a, b] repeat 2 ==> Out:[sum, twice(sum)]", "reads 4 of `In`"]),
        ("add.pai|r:", ["writes 2 to `Out`; guarded; in state idle"]),
        ("actor Ad|der", ["actor Adder (int(size=8) gain) uint(size=3) In ==> int Out", "2 actions, 1 states", "Adds"]),
        ("Out:[sca|led", ["function scaled(int v) --> int\n", "*function*"]),
        ("lo|g(sum)", ["@native procedure log(int x)\n", "*native procedure*"]),
        ("--> id|le;", ["*state*", "tries, in this order: `add.pair` to `idle`, `add.none` to `idle`"]),
        ("(ad|d) -->", ["add.pair: action", "---", "add.none: action"]),
    ],
)
def test_hover(scene: Scene, marked: str, known: list[str]) -> None:
    text = scene.hover(scene.actor, marked)
    assert [words for words in known if words not in text] == [], text


def test_the_outline_has_all_members(scene: Scene) -> None:
    assert scene.outline(scene.actor) == [
        "actor Adder [actor]",
        "  parameter gain [int(size=8)]",
        "  input port In [uint(size=3)]",
        "  output port Out [int(size=32)]",
        "  variable sum [int(size=16)]",
        "  constant table [List(type: int(size=32), size=4)]",
        "  function scaled [function]",
        "  action add.pair [reads 4 of In; writes 2 to Out; guarded; in state idle]",
        "  action add.none [reads nothing; writes 1 to Out; in state idle]",
        "  state idle [state]",
    ]
    assert [line.split(" [")[0] for line in scene.outline(scene.unit)] == [
        "unit Tools",
        "  constant COUNT",
        "  function twice",
        "  native procedure log",
    ]


def test_completion_knows_what_is_seen(scene: Scene) -> None:
    everywhere = {"Adder", "gain", "In", "Out", "sum", "table", "scaled", "add.pair", "add.none", "idle"}
    imported = {"COUNT", "twice", "log"}
    members = (everywhere | imported) - {"Adder"}
    assert scene.offered(scene.actor, "int(size=16) su|m :=") == members
    assert scene.offered(scene.actor, "sum + t + |i;") == members | {"a", "b", "t", "i"}
    assert scene.offered(scene.actor, "\t\tw| + table") == members | {"v", "w"}


@pytest.mark.parametrize(
    ("old", "new", "marked", "declared"),
    [
        ("log(sum);", "log(sum", "lo|g(sum", ["lib/Tools.cal:6 log"]),
        ("t := a[0] + b[1];", "t := a[0] + ;", "t := |a[0]", ["lib/Adder.cal:19 a"]),
        ("var int w = v * gain:", "var int w = v * :", "w + tab|le[0]", ["lib/Adder.cal:12 table"]),
        ("==> int Out:", "==> int Out", "guard a|[0]", ["lib/Adder.cal:19 a"]),
    ],
)
def test_a_broken_text_keeps_the_rest(scene: Scene, old: str, new: str, marked: str, declared: list[str]) -> None:
    scene.edit(scene.actor, ACTOR.replace(old, new))
    assert scene.messages(scene.actor)
    assert scene.definition(scene.actor, marked) == declared
    kinds = [line.split()[0] for line in scene.outline(scene.actor)]
    assert "action" in kinds


def test_a_hover_of_a_broken_text_shows_what_is_written(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("log(sum);", "log(sum"))
    text = scene.hover(scene.actor, "twice(su|m)]")
    assert "int(size=16) sum := 0" in text
    assert "32767" not in text


def test_nothing_is_answered_about_nothing(scene: Scene) -> None:
    scene.edit(scene.actor, "")
    path = str(scene.actor)
    assert scene.session.definition(path, 0) == ()
    assert scene.session.hover(path, 0) is None
    assert scene.session.outline(path) == ()
    missing = str(scene.folder / "lib/None.cal")
    assert scene.session.outline(missing) == ()
    assert scene.session.completion(missing, 0) == ()


def test_marks_of_a_name_or_comment_are_no_markup(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("The sum so far.", "<img src=x> [a](b) *c* `d`\u202e"))
    text = scene.hover(scene.actor, "twice(su|m)]")
    assert r"\<img src=x\> \[a\]\(b\) \*c\* \`d\`" in text
    assert "\u202e" not in text


def test_a_single_import_brings_one_name(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("import lib.Tools.*;\n", "").replace("COUNT", "4").replace("log(sum);", ""))
    offered = scene.offered(scene.actor, "int(size=16) su|m :=")
    assert "twice" in offered
    assert offered.isdisjoint({"COUNT", "log"})


def test_a_dotted_name_is_one_word(scene: Scene) -> None:
    scene.edit(scene.actor, ACTOR.replace("twice(sum)", "lib.Tools.twice(sum)"))
    assert scene.definition(scene.actor, "lib.To|ols.twice(sum)") == ["lib/Tools.cal:5 twice"]
    found = scene.session.hover(str(scene.actor), scene.at(scene.actor, "lib.Tools.tw|ice(sum)"))
    assert found is not None
    assert scene.text(scene.actor)[found.start : found.end] == "lib.Tools.twice"


def test_answers_are_those_of_the_text_as_it_is_now(scene: Scene) -> None:
    before = scene.outline(scene.actor)
    assert "value `4`" in scene.hover(scene.actor, "size=COU|NT)")
    scene.edit(scene.unit, UNIT.replace("COUNT = 4", "COUNT = 5"))
    assert "value `5`" in scene.hover(scene.actor, "size=COU|NT)")
    scene.edit(scene.actor, ACTOR.replace("int(size=16) sum := 0;", "int(size=16) sum := 0; int other;"))
    assert [line for line in scene.outline(scene.actor) if line not in before] == ["  variable other [int(size=32)]"]
