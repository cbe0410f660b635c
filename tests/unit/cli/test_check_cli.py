"""``dse check --print-ir``: the text of the actors that a name means."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.program.text.printer import print_actor, print_explicit
from dse.program.text.reader import read_actor, read_explicit

ACTORS = Path(__file__).resolve().parents[3] / "actors"
PINGPONG = ACTORS / "pingpong"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["check", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["Merger", "pingpong.Merger"])
def test_an_instance_or_class_of_a_network_prints_as_text_that_reads_back(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "--print-ir", name, PINGPONG / "pingpong.xdf")
    actor = read_actor(text)
    assert actor.name == "pingpong.Merger"
    assert print_actor(actor) == text


def test_an_actor_file_prints_its_actor_with_the_defaults_of_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--print-ir", "CopyTokens", PINGPONG / "CopyTokens.cal")
    assert "  constant name: str = " in text
    assert read_actor(text).name == "pingpong.CopyTokens"


def test_a_class_with_several_actors_prints_each_below_its_instances(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--print-ir", "CopyTokens", PINGPONG / "pingpong.xdf")
    first, second = text.split("\n\n")
    assert first.startswith("// CopyTokensA\nactor pingpong.CopyTokens")
    assert second.startswith("// CopyTokensB\nactor pingpong.CopyTokens")
    assert 'constant name: str = "B"' in second
    one = printed(capsys, "--print-ir", "CopyTokensB", PINGPONG / "pingpong.xdf")
    assert second == "// CopyTokensB\n" + one


def test_an_explicit_actor_reads_back_and_belongs_to_its_wiring(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--print-ir", "Merger", "--explicit", PINGPONG / "pingpong.xdf")
    explicit = read_explicit(text)
    assert explicit.actor.name == "pingpong.Merger"
    assert print_explicit(explicit) == text
    alone = printed(capsys, "--print-ir", "CopyTokens", "--explicit", PINGPONG / "CopyTokens.cal")
    assert read_explicit(alone).wiring.fan_outs == (1,) * len(read_explicit(alone).actor.outputs)


def test_json_has_the_text_under_a_key_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    network = PINGPONG / "pingpong.xdf"
    text = printed(capsys, "--print-ir", "Merger", network)
    document = json.loads(printed(capsys, "--json", "--print-ir", "Merger", network))
    plain = json.loads(printed(capsys, "--json", network))
    assert document == plain | {"ir": text}


def test_a_wrong_file_has_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "A.cal"
    wrong.write_text("actor A() ==> : int x := y; end")
    assert main(["check", "--json", "--print-ir", "A", str(wrong)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ir"] is None
    assert document["errors"]


def test_gpu_tells_of_each_actor_whether_it_can_run_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--gpu", str(ACTORS / "jpeg" / "jpeg.xdf")]) == 0
    printed_lines = capsys.readouterr().out.splitlines()
    lines = [line.split(None, 1) for line in printed_lines if not line.startswith(" ")]
    actions = [line.split(None, 1) for line in printed_lines if line.startswith(" ") and not line.endswith("()")]
    assert [name for name, said in actions if said == "SIMD"] == ["transform"]
    scale = next(said for name, said in actions if name == "scale")
    assert scale.startswith("one by one: it changes 'inMcu' (")
    assert "Dequant.cal:74)" in scale
    assert [name for name, said in lines if said == "yes"] == ["parser", "huffman", "dequant", "idct2d"]
    reasons = {name: said for name, said in lines if said != "yes"}
    assert reasons["source"].startswith("no: it calls the native 'source_readNBytes' (")
    assert "Source.cal:17)" in reasons["source"]


def test_gpu_as_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, "--gpu", "--json", PINGPONG / "pingpong.xdf"))["gpu"]
    assert [(r["actor"], r["able"], r["reason"]) for r in rows[:3]] == [
        ("Prod", True, None),
        ("PingPong", False, "it prints"),
        ("CopyTokensA", False, "'name' is a text"),
    ]
    assert (rows[1]["file"], rows[1]["line"]) == (str(PINGPONG / "PingPong.cal"), 10)
    assert [(a["action"], a["simd"], a["reason"]) for a in rows[0]["actions"]] == [
        ("produce", False, "it changes 'cnt'")
    ]
    assert rows[1]["actions"] == []


@pytest.mark.parametrize("more", [("--all", "."), ("--print-ir", "Prod")])
def test_gpu_goes_with_nothing_else(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    file = () if more[0] == "--all" else (str(PINGPONG / "pingpong.xdf"),)
    with pytest.raises(SystemExit):
        main(["check", "--gpu", *file, *more])
    assert "--gpu takes one network" in capsys.readouterr().err
