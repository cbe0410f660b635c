"""Putting a project into a folder: what is written, what is left alone, and what is never touched."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.native.project import (
    KIND,
    MANIFEST,
    Project,
    SourceUnit,
    check_folder,
    cmake_text,
    runtime_headers,
    write_sources,
)


def project(*units: tuple[str, str], name: str = "net") -> Project:
    sources = tuple(SourceUnit(path=path, text=text) for path, text in units)
    return Project(name=name, units=sources, headers=(("dse/a.hpp", "// a\n"),))


FIRST = project(("src/network.cpp", "// n\n"), ("src/actors/A.cpp", "// A\n"))


def written(folder: Path, made: Project) -> dict[str, str]:
    files = write_sources(made, folder, check_folder(folder))
    (folder / MANIFEST).write_text(json.dumps({"kind": KIND, "files": files}))
    return files


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    files = written(tmp_path, FIRST)
    assert sorted(files) == ["CMakeLists.txt", "runtime/dse/a.hpp", "src/actors/A.cpp", "src/network.cpp"]
    before = {p: (tmp_path / p).stat().st_mtime_ns for p in files}
    written(tmp_path, project(("src/network.cpp", "// new\n"), ("src/actors/B.cpp", "// B\n")))
    assert (tmp_path / "src/network.cpp").read_text() == "// new\n"
    assert (tmp_path / "src/actors/B.cpp").exists()
    assert not (tmp_path / "src/actors/A.cpp").exists()
    assert (tmp_path / "runtime/dse/a.hpp").stat().st_mtime_ns == before["runtime/dse/a.hpp"]


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    files = written(tmp_path, project(("src/natives/0_mine.cpp", "// \udce4\n")))
    assert (tmp_path / "src/natives/0_mine.cpp").read_bytes() == b"// \xe4\n"
    assert check_folder(tmp_path) == files


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(OptionError, match="holds something else"):
        check_folder(tmp_path)
    for text in ("", "[]", "{}", '{"kind": "other", "files": {}}', "[" * 100_000):
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(OptionError, match="holds something else"):
            check_folder(tmp_path)
    with pytest.raises(OptionError, match="is no folder"):
        check_folder(tmp_path / "own.txt")


def test_what_the_user_changed_or_added_stays(tmp_path: Path) -> None:
    written(tmp_path, FIRST)
    (tmp_path / "notes.txt").write_text("mine")
    written(tmp_path, project(("src/network.cpp", "// n\n")))
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "src/network.cpp").write_text("// edited\n")
    with pytest.raises(OptionError, match="was changed since dse wrote it"):
        check_folder(tmp_path)
    (tmp_path / "src/network.cpp").unlink()
    assert written(tmp_path, FIRST).keys() >= {"src/network.cpp"}
    assert (tmp_path / "src/network.cpp").read_text() == "// n\n"


def test_a_manifest_names_nothing_outside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "made", tmp_path / "victim"
    outside.write_text("mine")
    written(folder, FIRST)
    files = {"../victim": "0", str(outside): "0"}
    (folder / MANIFEST).write_text(json.dumps({"kind": KIND, "files": files}))
    assert check_folder(folder) == {}
    written(folder, FIRST)
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("name", ["net", "1net", "a b;c", "${X}", 'a"b', "ä"])
def test_cmake_gets_a_name_that_it_takes(name: str) -> None:
    line = next(x for x in cmake_text(project(name=name)).splitlines() if x.startswith("project("))
    word = line.removeprefix("project(").split()[0]
    assert word.isascii()
    assert word.replace("_", "").replace("-", "").isalnum()
    assert word[0].isalpha()


HOSTILE = 'src/natives/0_a b;c${X}$ENV{Y}"d\\e.cpp'


def test_cmake_gets_paths_as_they_are() -> None:
    units = (SourceUnit(path=HOSTILE, text=""), SourceUnit(path="src/a b;.cpp", text="", cold=True))
    text = cmake_text(Project(name="net", units=units, headers=()))
    assert '\n  "src/natives/0_a b;c\\${X}\\$ENV{Y}\\"d\\\\e.cpp"\n' in text
    assert 'set_source_files_properties("src/a b;.cpp" PROPERTIES' in text


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_reads_a_path_back(tmp_path: Path) -> None:
    text = cmake_text(Project(name="net", units=(SourceUnit(path=HOSTILE, text=""),), headers=()))
    word = next(line for line in text.splitlines() if "0_a" in line)
    (tmp_path / "show.cmake").write_text(f"set(X 1)\nfile(WRITE shown {word})\n")
    subprocess.run(["cmake", "-P", "show.cmake"], cwd=tmp_path, check=True)
    assert (tmp_path / "shown").read_text() == HOSTILE


def test_the_runtime_is_part_of_the_package() -> None:
    headers = dict(runtime_headers())
    assert "dse/actor.hpp" in headers
    assert all(path.startswith("dse/") for path in headers)
