"""Source roots: projects and their references, the guess without a project, the order of the search."""

from pathlib import Path

import pytest

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.flows.check import CheckOptions, check_file
from dse.frontend.network.projects import SourceRoots, find_source_roots, is_class_name, refuse_absent


def project(
    folder: Path, name: str, sources: list[str], references: list[str], in_project_file: tuple[str, ...] = ()
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    entries = [f'<classpathentry kind="src" path="{path}"/>' for path in sources]
    entries += [f'<classpathentry kind="src" path="/{path}"/>' for path in references]
    entries.append('<classpathentry kind="output" path="bin"/>')
    (folder / ".classpath").write_text("<classpath>" + "".join(entries) + "</classpath>")
    referenced = "".join(f"<project>{other}</project>" for other in in_project_file)
    (folder / ".project").write_text(
        f"<projectDescription><name>{name}</name><projects>{referenced}</projects></projectDescription>"
    )
    for path in sources:
        (folder / path).mkdir(parents=True, exist_ok=True)


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def roots_of(path: Path | str, *source_paths: str) -> SourceRoots:
    gather = Gatherer()
    roots = find_source_roots(str(path), source_paths, gather)
    assert gather.diagnostics == []
    return roots


def test_a_project_gives_its_source_folders_and_those_it_references(tmp_path: Path) -> None:
    project(tmp_path / "App", "App", ["src", "Testbeds"], ["System"], ("Common",))
    project(tmp_path / "System", "System", ["src"], ["App", "Deep"])
    project(tmp_path / "renamed", "Common", ["actors"], [])
    project(tmp_path / "Deep", "Deep", ["src"], [])
    xdf = touch(tmp_path / "App/src/a/b/Top.xdf")
    roots = roots_of(xdf)
    expected = ["App/src", "App/Testbeds", "renamed/actors", "System/src", "Deep/src", "App/src/a/b"]
    assert roots.folders == tuple(str(tmp_path / folder) for folder in expected)
    assert roots.project == str(tmp_path / "App")
    assert roots.missing_projects == ()


def test_a_missing_project_is_named_in_the_advice(tmp_path: Path) -> None:
    project(tmp_path / "App", "App", ["src"], ["Gone"])
    roots = roots_of(touch(tmp_path / "App/src/Top.xdf"))
    assert roots.missing_projects == ("Gone",)
    assert "Gone" in roots.describe()


def test_without_classpath_the_folder_src_or_the_project_itself(tmp_path: Path) -> None:
    (tmp_path / "A").mkdir()
    (tmp_path / "A/.project").write_text("<projectDescription><name>A</name></projectDescription>")
    top = touch(tmp_path / "A/Top.xdf")
    assert roots_of(top).folders == (str(tmp_path / "A"),)
    (tmp_path / "A/src").mkdir()
    assert roots_of(top).folders == (str(tmp_path / "A/src"), str(tmp_path / "A"))


def test_a_malformed_project_file_is_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / ".project").write_text("<projectDescription>\n<name>")
    (tmp_path / ".classpath").write_text("<other/>")
    gather = Gatherer()
    find_source_roots(str(touch(tmp_path / "Top.xdf")), (), gather)
    assert {d.span.path for d in gather.errors} == {str(tmp_path / ".project"), str(tmp_path / ".classpath")}


def test_without_a_project_the_folders_above_up_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    xdf = touch(tmp_path / "repo/actors/jpeg/jpeg.xdf")
    roots = roots_of(xdf)
    assert roots.project is None
    assert roots.folders == tuple(str(tmp_path / f) for f in ("repo/actors/jpeg", "repo/actors", "repo"))
    parser = touch(tmp_path / "repo/actors/jpeg/Parser.cal")
    assert roots.find("jpeg.Parser") == str(parser)
    assert roots.find("Parser") == str(parser)
    assert roots.find("actors.jpeg.Parser") == str(parser)
    assert roots.find("jpeg.Other") is None


def test_the_nearest_root_and_the_actor_before_the_network_win(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    xdf = touch(tmp_path / "a/a/Top.xdf")
    touch(tmp_path / "a/C.cal")
    near = touch(tmp_path / "a/a/a/C.xdf")
    assert roots_of(xdf).find("a.C") == str(near)
    actor = touch(tmp_path / "a/a/a/C.cal")
    assert roots_of(xdf).find("a.C") == str(actor)


def test_given_source_paths_come_first(tmp_path: Path) -> None:
    project(tmp_path / "App", "App", ["src"], [])
    touch(tmp_path / "App/src/C.cal")
    other = touch(tmp_path / "mine/C.cal")
    roots = roots_of(touch(tmp_path / "App/src/Top.xdf"), str(tmp_path / "mine"))
    assert roots.folders[0] == str(tmp_path / "mine")
    assert roots.find("C") == str(other)


def test_source_paths_that_are_no_folders(tmp_path: Path) -> None:
    file = touch(tmp_path / "C.cal")
    refuse_absent([str(tmp_path)])
    for path, message in ((file, "is no folder"), (tmp_path / "none", "does not exist")):
        with pytest.raises(OptionError, match=message):
            refuse_absent([str(tmp_path), str(path)])
        with pytest.raises(OptionError, match=message):
            check_file(str(file), CheckOptions(source_paths=(str(path),)))


def test_roots_are_written_like_the_path_of_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    touch(tmp_path / "nets/Top.xdf")
    touch(tmp_path / "nets/C.cal")
    monkeypatch.chdir(tmp_path)
    assert roots_of("nets/Top.xdf").folders == ("nets", ".")
    assert roots_of("nets/Top.xdf").find("nets.C") == "nets/C.cal"
    monkeypatch.chdir(tmp_path / "nets")
    assert roots_of("Top.xdf").folders == (".", "..")
    assert roots_of("Top.xdf").find("C") == "C.cal"
    assert roots_of("Top.xdf").find("nets.D") is None


@pytest.mark.parametrize(
    ("name", "good"), [("a.b.C", True), ("C_1", True), ("../x", False), ("a..b", False), ("", False)]
)
def test_class_names(name: str, good: bool) -> None:
    assert is_class_name(name) is good


def test_a_name_that_is_too_long_for_a_file_is_that_of_none(tmp_path: Path) -> None:
    assert SourceRoots(folders=(str(tmp_path),)).find("x" * 300) is None
