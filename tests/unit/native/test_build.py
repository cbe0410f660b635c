"""Building a small handwritten project: what is compiled, what is reused, and what is said when it fails."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.base.source import Span
from dse.native import build
from dse.native.build import BuildOptions, build_program, included_headers, missing_objects, object_key
from dse.native.project import Project, SourceUnit, check_folder, write_sources
from dse.native.toolchain import Compiler, RunningTools, find_compiler

pytestmark = pytest.mark.usefixtures("compiler")
HEADER = '#pragma once\n#include "dse/deep.hpp"\n'
PLAIN = BuildOptions(jobs=1)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    try:
        found = find_compiler()
    except BuildError as missing:
        pytest.skip(str(missing))
    if found.zig:
        pytest.skip("the first build by zig takes a minute")
    return found


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))


def project(value: str = "3", other: str = "int other() { return 4; }\n") -> Project:
    main = (
        '#include "dse/top.hpp"\n#include <cstdio>\nint other();\nint main() { std::printf("%d", deep() + other()); }\n'
    )
    deep = f"#pragma once\ninline int deep() {{ return {value}; }}\n"
    spans = tuple(Span("a.cal", 10 * k, 1, 10 * k, 2) for k in range(1, 4))
    return Project(
        name="tiny",
        units=(
            SourceUnit(path="src/network.cpp", text=main),
            SourceUnit(path="src/actors/other.cpp", text=other, spans=spans),
        ),
        headers=(("dse/deep.hpp", deep), ("dse/top.hpp", HEADER)),
    )


def built(made: Project, folder: Path, compiler: Compiler, options: BuildOptions = PLAIN) -> tuple[int, int, str]:
    write_sources(made, folder, {})
    counts = build_program(made, folder, folder / "app", compiler, options, log=folder / "build.log")
    said = subprocess.run([folder / "app"], capture_output=True, text=True, check=True).stdout
    return counts.compiled, counts.reused, said


def test_only_what_changed_is_compiled(tmp_path: Path, compiler: Compiler) -> None:
    assert built(project(), tmp_path / "a", compiler) == (2, 0, "7")
    assert built(project(), tmp_path / "b", compiler) == (0, 2, "7")
    assert built(project(other="int other() { return 5; }\n"), tmp_path / "a", compiler) == (1, 1, "8")
    assert built(project("30"), tmp_path / "a", compiler) == (1, 1, "34")
    assert missing_objects(project(), compiler, PLAIN) == []
    assert len(missing_objects(project("31"), compiler, PLAIN)) == 1


def test_flags_are_part_of_an_object(tmp_path: Path, compiler: Compiler) -> None:
    built(project(), tmp_path, compiler)
    for options in (BuildOptions(march_native=True), BuildOptions(timed=True), BuildOptions(sanitize=("undefined",))):
        assert len(missing_objects(project(), compiler, options)) == 2
    assert built(project(), tmp_path, compiler, BuildOptions(sanitize=("address", "undefined"))) == (2, 0, "7")


def test_a_damaged_cache_costs_time_only(tmp_path: Path, compiler: Compiler) -> None:
    built(project(), tmp_path / "a", compiler)
    for entry in (tmp_path / "cache" / "native" / "objects").iterdir():
        entry.write_bytes(b"")
    assert built(project(), tmp_path / "a", compiler) == (2, 0, "7")


def test_without_a_cache(tmp_path: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSE_CACHE", "")
    assert built(project(), tmp_path / "a", compiler) == (2, 0, "7")
    assert built(project(), tmp_path / "a", compiler) == (2, 0, "7")


def test_the_first_error_with_its_cal_line(tmp_path: Path, compiler: Compiler) -> None:
    with pytest.raises(BuildError) as caught:
        built(project(other="// first\nint other() { return missing; }\n"), tmp_path, compiler)
    finding = caught.value.diagnostics[0]
    assert "compiling src/actors/other.cpp" in finding.message
    assert "missing" in finding.message
    assert "(src/actors/other.cpp:2)" in finding.message
    assert finding.span.line == 20
    assert finding.expected == f"all that it said is in '{tmp_path / 'build.log'}'"
    assert "missing" in (tmp_path / "build.log").read_text()


def test_the_one_that_failed_is_told_whichever_is_waited_for(tmp_path: Path, compiler: Compiler) -> None:
    slow = "#include <regex>\n#include <map>\n" + "".join(f"int f{k}() {{ return {k}; }}\n" for k in range(2000))
    made = project(other="int other() { return missing; }\n")
    units = (*made.units, SourceUnit(path="src/slow.cpp", text=slow))
    with pytest.raises(BuildError, match=r"compiling src/actors/other\.cpp"):
        built(replace(made, units=units), tmp_path, compiler, BuildOptions(jobs=2))


def test_warnings_are_errors(tmp_path: Path, compiler: Compiler) -> None:
    with pytest.raises(BuildError, match="unused"):
        built(project(other="int other() { int unused_one = 3; return 4; }\n"), tmp_path, compiler)


def test_what_is_missing_at_linking(tmp_path: Path, compiler: Compiler) -> None:
    with pytest.raises(BuildError, match="the compiler failed, linking: undefined"):
        built(project(other="int another() { return 4; }\n"), tmp_path, compiler)


def failing(folder: Path, says: str, compiler: Compiler) -> Compiler:
    """A compiler that answers questions, and does as the lines of shell in ``says`` where it is to compile."""
    script = folder / "c++"
    asked = f'case "$*" in *-dM*|*--version*) exec {compiler.name} "$@";; esac'
    script.write_text(f"#!/bin/sh\n{asked}\n{says}\n")
    script.chmod(0o755)
    return Compiler(command=(str(script),))


@pytest.mark.parametrize(
    ("says", "message", "hint"),
    [
        ("kill -9 $$", "main.cpp: it was ended by SIGKILL", "--jobs 1"),
        (
            "echo 'g++: fatal error: Killed signal terminated program cc1plus'; echo compilation terminated.; exit 1",
            "main.cpp: g++: fatal error: Killed signal terminated program cc1plus (it ended with code 1)",
            "--jobs 1",
        ),
        ("exit 7", "main.cpp: it ended with code 7", ""),
        ("exit 0", "main.cpp: it ended as if all were well, but wrote nothing", ""),
        ("kill -XFSZ $$", "main.cpp: what it makes is larger than files may be", "ulimit -f"),
        (
            "echo 'ld: cannot find -lfoo'; echo 'collect2: error: ld returned 1 exit status'; exit 1",
            "main.cpp: ld: cannot find -lfoo (it ended with code 1)",
            "",
        ),
        (
            "echo 'undefined reference to `std::terminate()'; exit 1",
            "main.cpp: undefined reference to `std::terminate()",
            "such as g++",
        ),
    ],
)
def test_compilers_that_fail(tmp_path: Path, compiler: Compiler, says: str, message: str, hint: str) -> None:
    made = Project(name="tiny", units=(SourceUnit(path="main.cpp", text="int main() {}\n"),), headers=())
    write_sources(made, tmp_path, {})
    with pytest.raises(BuildError) as caught:
        build_program(made, tmp_path, tmp_path / "app", failing(tmp_path, says, compiler), PLAIN)
    finding = caught.value.diagnostics[0]
    assert finding.message == f"the compiler failed, compiling {message}"
    assert hint in finding.expected
    log = tmp_path / "cache" / "native" / "dse-build.log"
    assert "ulimit" in hint or (f"all that it said is in '{log}'" in finding.expected and log.exists())


def test_an_ended_build_compiles_nothing(tmp_path: Path, compiler: Compiler) -> None:
    tools = RunningTools()
    tools.end()
    write_sources(project(), tmp_path, {})
    with pytest.raises(BuildError, match="ended"):
        build_program(project(), tmp_path, tmp_path / "app", compiler, PLAIN, tools=tools)
    assert not (tmp_path / "app").exists()


def test_headers_of_headers() -> None:
    headers = {"dse/a.hpp": '#include "dse/b.hpp"', "dse/b.hpp": '#include "dse/a.hpp"', "dse/c.hpp": ""}
    assert included_headers('#include "dse/a.hpp"\n#include <vector>\n', headers) == ["dse/a.hpp", "dse/b.hpp"]
    assert check_folder(Path("no such folder")) == {}


def test_native_code_of_another_machine_is_not_reused(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    made, native = project(), BuildOptions(jobs=1, march_native=True)

    def keys(options: BuildOptions, target: str) -> list[str]:
        monkeypatch.setattr(build, "native_target", lambda _compiler: target)
        return [object_key(unit, dict(made.headers), compiler, options) for unit in made.units]

    assert set(keys(native, "avx")).isdisjoint(keys(native, "sse"))
    assert keys(PLAIN, "avx") == keys(PLAIN, "sse")
