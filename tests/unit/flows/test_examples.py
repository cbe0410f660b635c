"""Copies of the applications: what is in them, what is never changed, and what a new program does."""

import io
import re
import sys
import unittest
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.main import VERBS, build_parser, main
from dse.flows.check import check_file
from dse.flows.examples import copy_examples, example_names, example_of, examples, new_program
from dse.frontend.network.elaborate import load_network

ACTORS = Path(__file__).resolve().parents[3] / "actors"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()  # classes are searched upwards only to here
    monkeypatch.chdir(tmp_path)


def test_every_application_is_an_example_and_says_what_it_is() -> None:
    found = examples()
    assert [example.name for example in found] == sorted(p.parent.name for p in ACTORS.glob("*/README.md"))
    assert all(example.actors > 1 and len(example.about) > 15 for example in found)


def test_each_example_is_a_whole_program_on_its_own() -> None:
    for name in example_names():
        copied = copy_examples((name,), Path(name))
        assert copied.networks == (f"{name}/actors/{name}/{name}.xdf",)
        network = load_network(copied.networks[0]).network
        assert set(network.sources) <= set(copied.written), "a class comes from outside of the copy"
        assert not list(Path(name).rglob("__pycache__"))


def test_files_that_are_equal_are_kept_and_others_stop_the_copy() -> None:
    first = copy_examples(("jpeg",))
    again = copy_examples(("jpeg", "smith_waterman"))
    assert again.kept == first.written
    assert all("jpeg" not in path for path in again.written)
    assert Path("actors/jpeg/input.jpg").read_bytes() == (ACTORS / "jpeg" / "input.jpg").read_bytes()
    changed = Path("actors/jpeg/Parser.cal")
    changed.write_text("mine")
    with pytest.raises(OptionError, match=r"Parser\.cal' is there, and is another"):
        copy_examples(("matrix", "jpeg"))
    assert changed.read_text() == "mine"
    assert not Path("actors/matrix").exists()


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    Path("actors/pingpong").mkdir(parents=True)
    Path("actors/pingpong/Prod.cal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError):
        copy_examples(("pingpong",))
    assert not (tmp_path / "elsewhere").exists()


def test_the_paths_of_every_help_are_those_of_an_example() -> None:
    paths = set()
    for verb in VERBS:
        parsers = build_parser(verb)._subparsers
        assert parsers is not None
        shown = parsers._group_actions[0].choices[verb].epilog  # type: ignore[index]
        paths |= set(re.findall(r"\bactors/[\w./-]+", shown))
    assert "actors/jpeg/jpeg.xdf" in paths
    copy_examples(example_names())
    assert [path for path in sorted(paths) if not Path(path).exists()] == []


def test_what_is_missing_of_the_help_is_named() -> None:
    assert example_of("actors/jpeg/jpeg.xdf") == "jpeg"
    assert example_of("./actors/matrix") == "matrix"
    assert example_of("actors") == "--all"
    assert example_of("actors/other/other.xdf") is None
    assert example_of("elsewhere/jpeg/jpeg.xdf") is None
    copy_examples(("jpeg",))
    assert example_of("actors/jpeg/jpeg.xdf") is None


def test_a_new_program_runs_explores_and_passes_its_test(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["new", "echo_2"]) == 0
    report = check_file("echo_2/echo_2.xdf")
    assert not report.errors
    assert not report.warnings
    texts = "".join(path.read_text() for path in Path("echo_2").rglob("*") if path.is_file())
    assert "starter" not in texts.lower()
    assert main(["explore", "echo_2/echo_2.xdf", "--weights", "nominal", "--engine", "reference", "--out", "o"]) == 0
    assert "P0:source" in capsys.readouterr().out
    monkeypatch.syspath_prepend("echo_2")
    assert passes_its_test()
    Path("echo_2/expected/stdout.txt").write_text("block 0: another\n")
    assert not passes_its_test()


def passes_its_test() -> bool:
    """Whether the test of the new program passes, in this process."""
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName("test_echo_2")
        assert suite.countTestCases() == 1
        return unittest.TextTestRunner(io.StringIO()).run(suite).wasSuccessful()
    finally:
        sys.modules.pop("test_echo_2", None)


@pytest.mark.parametrize("name", ["", "a/b", "..", "2nd", "guard", "dse", "ä", "a" * 80])
def test_names_that_are_no_package(name: str) -> None:
    with pytest.raises(OptionError):
        new_program(name)
