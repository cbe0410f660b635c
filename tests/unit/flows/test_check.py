"""Checking of trees: reports, what is kept between runs and when it is dropped, the command's JSON."""

import json
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.main import main
from dse.flows import check as check_module
from dse.flows.check import check_file, check_tree
from dse.flows.check_report import CheckOptions, CheckReport

SOURCE = "package app;\nactor Source() ==> int O: action ==> O:[ 1 ] end end\n"
SINK = "package app;\nactor Sink() int I ==> : action I:[ x ] ==> end end\n"
TOP = """<XDF name="Top">
<Instance id="s"><Class name="app.Source"/></Instance>
<Instance id="t"><Class name="app.Sink"/></Instance>
<Connection src="s" src-port="O" dst="t" dst-port="I"/>
</XDF>
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two actors and a network, and an empty cache."""
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "work" / "app"
    (folder / "src" / "app").mkdir(parents=True)
    (folder / ".project").write_text("<projectDescription><name>app</name></projectDescription>")
    (folder / ".classpath").write_text('<classpath><classpathentry kind="src" path="src"/></classpath>')
    for name, text in (("Source.cal", SOURCE), ("Sink.cal", SINK), ("Top.xdf", TOP)):
        (folder / "src" / "app" / name).write_text(text)
    return folder


def checked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: CheckOptions | None = None
) -> tuple[CheckReport, int]:
    """Check a tree; return the report and how many files were really checked."""
    count = 0
    original = check_module._Checker.check

    def counting(self: object, path: str) -> object:
        nonlocal count
        count += 1
        return original(self, path)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(check_module._Checker, "check", counting)
        report = check_tree(str(folder), options or CheckOptions())
    return report, count


def test_a_tree_is_checked_file_by_file(tree: Path) -> None:
    report = check_tree(str(tree))
    assert [(Path(c.path).name, c.kind, c.ok) for c in report.checks] == [
        ("Sink.cal", "actor", True),
        ("Source.cal", "actor", True),
        ("Top.xdf", "top", True),
    ]
    (top,) = report.tops
    assert (top.actors, top.classes, top.connections) == (2, 2, 1)


def test_an_unchanged_project_is_not_checked_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, count = checked_again(tree, monkeypatch)
    assert count == 3
    assert checked_again(tree, monkeypatch) == (first, 0)
    assert checked_again(tree, monkeypatch, CheckOptions(strict=True))[1] == 3


def test_every_change_is_seen(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = tree / "src/app/Sink.cal"
    checked_again(tree, monkeypatch)
    sink.write_text(SINK.replace("int I", "bool I"))
    report, count = checked_again(tree, monkeypatch)
    assert count == 3
    assert [e.message for e in report.errors] == ["the types of the connected ports differ"]
    assert checked_again(tree, monkeypatch) == (report, 0)
    sink.unlink()
    report, count = checked_again(tree, monkeypatch)
    assert [e.message for e in report.errors] == ["class 'app.Sink' not found"]
    sink.write_text(SINK)
    assert checked_again(tree, monkeypatch)[0].errors == ()


def test_a_change_of_a_referenced_project_is_seen(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tree.parent / "Other"
    (other / "src/lib").mkdir(parents=True)
    (other / ".project").write_text("<projectDescription><name>Other</name></projectDescription>")
    unit = other / "src/lib/Numbers.cal"
    unit.write_text("package lib;\nunit Numbers: int one = 1; end\n")
    (tree / ".classpath").write_text(
        '<classpath><classpathentry kind="src" path="src"/><classpathentry kind="src" path="/Other"/></classpath>'
    )
    source = tree / "src/app/Source.cal"
    source.write_text(SOURCE.replace("actor", "import lib.Numbers.*;\nactor").replace("[ 1 ]", "[ one ]"))
    assert checked_again(tree, monkeypatch)[0].errors == ()
    assert checked_again(tree, monkeypatch)[1] == 0
    unit.write_text("package lib;\nunit Numbers: int two = 1; end\n")
    assert [e.message for e in checked_again(tree, monkeypatch)[0].errors] == ["unknown variable 'one'"]


def test_a_damaged_result_is_written_anew(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, _ = checked_again(tree, monkeypatch)
    (entry,) = (tmp_path / "cache" / "check").iterdir()
    for damage in ("", "{", "[]", '{"key": 1}', entry.read_text().replace("[", "{", 1)):
        entry.write_text(damage)
        assert checked_again(tree, monkeypatch) == (first, 3)
    assert checked_again(tree, monkeypatch) == (first, 0)


def test_without_a_cache_everything_is_checked(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DSE_CACHE", "")
    checked_again(tree, monkeypatch)
    assert checked_again(tree, monkeypatch)[1] == 3
    assert not (tmp_path / "cache").exists()


def test_partial_leaves_out_what_is_missing(tree: Path) -> None:
    (tree / "src/app/Sink.cal").unlink()
    top = str(tree / "src/app/Top.xdf")
    assert [e.message for e in check_file(top).errors] == ["class 'app.Sink' not found"]
    report = check_file(top, CheckOptions(partial=True))
    assert report.errors == ()
    assert [w.message for w in report.warnings] == ["class 'app.Sink' not found"]
    assert (report.checks[0].actors, report.checks[0].connections) == (1, 0)


def test_folders_and_files_are_not_mixed_up(tree: Path) -> None:
    for attempt in (lambda: check_file(str(tree)), lambda: check_tree(str(tree / ".project"))):
        with pytest.raises(OptionError):
            attempt()


def test_json_has_the_documented_keys(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree / "src/app/Top.xdf"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == 1
    assert document["errors"] == []
    (tree / "src/app/Sink.cal").write_text(SINK.replace("[ x ]", "[ x "))
    assert main(["check", "--all", str(tree), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == 3
    (error,) = document["errors"]
    assert error["file"].endswith("Sink.cal")
    assert (error["line"], error["column"]) == (2, 40)
    assert error["message"]
    assert document["tops"][0]["ok"] is False
