"""No output replaces what is read, or another output."""

import argparse
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.main import main
from dse.cli.places import refuse_clashes

CAMERA = Path(__file__).resolve().parents[2] / "graphs" / "camera.xml"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trace", "g.xml", "-o", "./g.xml"], "-o would replace './g.xml', which is read"),
        (["why", "g.xml", "--mapping", "P0:*", "--slack", "s.csv", "--path", "s.csv"], "--slack and --path both write"),
        (["explore", "g.xml", "--out", "o", "--timeline", "o/ranking.json"], "--out writes 'o/ranking.json' itself"),
        (["estimate", "g.xml", "--timeline", "link.json"], "--timeline would replace 'link.json', which is read"),
    ],
)
def test_clashes_are_refused(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.xml").write_bytes(CAMERA.read_bytes())
    (tmp_path / "link.json").symlink_to("g.xml")
    (tmp_path / "o").mkdir()
    assert main(arguments) == OptionError.exit_code
    assert said in capsys.readouterr().err
    assert (tmp_path / "g.xml").read_bytes() == CAMERA.read_bytes()


def test_a_graph_has_no_sources_and_a_timeline_may_be_among_results_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", str(CAMERA), "--source-path", str(tmp_path)]) == OptionError.exit_code
    assert "has no sources to be found" in capsys.readouterr().err
    out = tmp_path / "o"
    options = ["--budget", "2", "--engine", "reference", "--quiet"]
    assert main(["explore", str(CAMERA), "--out", str(out), "--timeline", str(out / "t.json"), *options]) == 0
    assert (out / "t.json").is_file()
    assert main(["explore", str(CAMERA), "--out", str(out), "--timeline", str(tmp_path / "no" / "t.json")]) == 2
    assert "for the timeline" in capsys.readouterr().err


def test_what_names_no_file_does_not_clash() -> None:
    refuse_clashes(argparse.Namespace(output="/dev/null", write="/dev/null"))
    refuse_clashes(argparse.Namespace(program="\0", mapping=["P0:*"], output="\0", timeline="x" * 5000, out=None))
