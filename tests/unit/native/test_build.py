"""Building a small handwritten project: what is compiled, what is reused, and what is said when it fails."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.base.source import Span
from dse.native import build
from dse.native.build import BuildOptions, build_program, included_headers, missing_objects, object_key
from dse.native.emission import SHARED_UNITS
from dse.native.project import Project, SourceUnit, check_folder, runtime_headers, write_sources
from dse.native.toolchain import Compiler, RunningTools, find_compiler, is_gcc
from tests.examples import seldom

pytestmark = pytest.mark.usefixtures("compiler")
HEADER = '#pragma once\n#include "dse/deep.hpp"\n'
PLAIN = BuildOptions(jobs=1)
SANITIZED = BuildOptions(sanitize=("address", "undefined"))


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


@pytest.mark.parametrize("unit", SHARED_UNITS, ids=lambda unit: Path(unit.path).stem)
def test_what_knows_nothing_of_timing_is_compiled_once(compiler: Compiler, unit: SourceUnit) -> None:
    headers = dict(runtime_headers())
    read = (unit.text, *(headers[name] for name in included_headers(unit.text, headers)))
    assert any("DSE_TIMED" in text for text in read) is not unit.untimed
    keys = {object_key(unit, headers, compiler, replace(PLAIN, timed=timed)) for timed in (False, True)}
    assert len(keys) == (1 if unit.untimed else 2)


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


PRELUDE = '#include <vector>\n#include "dse/top.hpp"\n'


def with_actors(count: int, prelude: str = PRELUDE) -> Project:
    """A project with so many actors that have a prelude, and a sum of what they give."""
    text = PRELUDE + "int f%d();\nint f%d() { return std::vector<int>(%d, deep())[0]; }\n"
    actors = tuple(
        SourceUnit(path=f"src/actors/a{k}.cpp", text=text % (k, k, k + 1), prelude=prelude) for k in range(count)
    )
    names = [f"f{k}()" for k in range(count)]
    declared = "".join(f"int {name};\n" for name in names)
    main = f'#include <cstdio>\n{declared}int main() {{ std::printf("%d", {" + ".join(names)}); }}\n'
    made = project()
    return replace(made, units=(SourceUnit(path="src/network.cpp", text=main), *actors))


def kept_preludes(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "native" / "preludes").glob("*.gch"))


@pytest.mark.parametrize("options", [BuildOptions(jobs=3), *seldom(PLAIN, SANITIZED)])
def test_a_prelude_serves_all_folders_and_changes_no_object(
    tmp_path: Path, compiler: Compiler, options: BuildOptions
) -> None:
    if not is_gcc(compiler):
        pytest.skip("preludes are for g++")
    assert built(with_actors(4), tmp_path / "a", compiler, options) == (5, 0, "12")
    (kept,) = kept_preludes(tmp_path)
    made = kept.read_bytes()
    objects = {path.name: path.read_bytes() for path in kept.parents[1].glob("objects/*.o")}
    shutil.rmtree(kept.parents[1] / "objects")
    assert built(with_actors(5), tmp_path / "b", compiler, options) == (6, 0, "15")
    assert kept_preludes(tmp_path) == [kept]
    assert kept.read_bytes() == made, "it was not made again"
    shutil.rmtree(kept.parents[1] / "objects")
    assert built(with_actors(4, prelude=""), tmp_path / "c", compiler, options) == (5, 0, "12")
    plain = {path.name: path.read_bytes() for path in kept.parents[1].glob("objects/*.o")}
    assert plain.keys() == objects.keys()
    assert options.sanitize or plain == objects


def test_kept_preludes_are_used_until_one_fails(tmp_path: Path, compiler: Compiler) -> None:
    if not is_gcc(compiler):
        pytest.skip("preludes are for g++")
    calls, refuses = tmp_path / "calls", tmp_path / "refuses"
    unwilling = f'case "$*" in *-include*) test ! -e {refuses} || exit 1;; esac'
    wrapper = failing(tmp_path, f'echo "$*" >> {calls}; {unwilling}; exec {compiler.name} "$@"', compiler)
    built(with_actors(4), tmp_path / "a", wrapper)
    for folder, with_prelude in (("b", 6), ("c", 1)):
        shutil.rmtree(tmp_path / "cache" / "native" / "objects")
        calls.unlink()
        assert built(with_actors(6), tmp_path / folder, wrapper) == (7, 0, "18")
        made = [call for call in calls.read_text().splitlines() if " -c " in call]
        assert sum("-include" in call for call in made) == with_prelude
        assert sum("-include" not in call for call in made) == (1 if with_prelude == 6 else 7)
        refuses.touch()


def test_preludes_are_made_where_they_pay_and_depend_on_headers_and_flags(tmp_path: Path, compiler: Compiler) -> None:
    built(with_actors(3), tmp_path / "few", compiler)
    assert kept_preludes(tmp_path) == []
    if not is_gcc(compiler):
        pytest.skip("preludes are for g++")
    shutil.rmtree(tmp_path / "cache" / "native" / "objects")
    built(with_actors(4), tmp_path / "enough", compiler)
    deep = "#pragma once\ninline int deep() { return 9; }\n"
    other = replace(with_actors(4), headers=(("dse/deep.hpp", deep), ("dse/top.hpp", HEADER)))
    assert built(other, tmp_path / "enough", compiler) == (4, 1, "36")
    built(with_actors(4), tmp_path / "timed", compiler, BuildOptions(timed=True))
    assert len(kept_preludes(tmp_path)) == 3


@pytest.mark.parametrize("damaged", [b"", b"no prelude", None])
def test_a_prelude_that_cannot_be_used_costs_time_only(
    tmp_path: Path, compiler: Compiler, damaged: bytes | None
) -> None:
    if not is_gcc(compiler):
        pytest.skip("preludes are for g++")
    built(with_actors(4), tmp_path / "a", compiler)
    (kept,) = kept_preludes(tmp_path)
    assert kept.stat().st_nlink == 1, "the build that made it has ended"
    kept.write_bytes(kept.read_bytes()[:50_000] if damaged is None else damaged)
    assert built(with_actors(5), tmp_path / "b", compiler) == (2, 4, "15")


def test_what_is_wrong_with_a_prelude_is_told_where_it_is_included(tmp_path: Path, compiler: Compiler) -> None:
    made = with_actors(4)
    broken = replace(made, headers=(("dse/deep.hpp", "#pragma once\nint deep() {\n"), ("dse/top.hpp", HEADER)))
    with pytest.raises(BuildError, match=r"the compiler failed, compiling src/actors/a\d\.cpp: "):
        built(broken, tmp_path, compiler)
    assert kept_preludes(tmp_path) == []
