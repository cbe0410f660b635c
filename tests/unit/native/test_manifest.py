"""What the manifest of a native program tells of its build."""

import json
from dataclasses import replace
from pathlib import Path

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.native.manifest import ManifestFacts, manifest_document, write_manifest
from dse.native.project import SourceUnit, check_folder
from dse.native.toolchain import Compiler, CompilerVersion

ROOT = Path(__file__).resolve().parents[3]
NETWORK = load_network(str(ROOT / "actors" / "pingpong" / "pingpong.xdf")).network
FACTS = ManifestFacts(
    network=NETWORK,
    compiler=Compiler(command=("g++", "-m64")),
    version=CompilerVersion(family="gcc", major=12, text="g++ 12.2"),
    options=BuildOptions(),
    sources={"a.cal": "12", "\udcff.cal": "13"},
    files={"src/network.cpp": "14"},
    natives=(("u.f", "f.cpp:f"),),
)


def test_what_was_built_by_what() -> None:
    document = manifest_document(FACTS)
    assert (document["name"], document["compiler"], document["compiler_version"]) == (
        "pingpong",
        "g++ -m64",
        "g++ 12.2",
    )
    assert (document["portable"], document["march_native"], document["timed"]) == (True, False, False)
    assert document["natives"] == {"u.f": "f.cpp:f"}
    flags = document["flags"]
    assert isinstance(flags, list)
    assert {"-O2", "-Wall", "-Wextra", "-Werror"} <= set(flags)
    assert "-march=native" not in flags


def test_flags_that_bind_it_to_a_machine_or_slow_it() -> None:
    options = BuildOptions(march_native=True, sanitize=("address", "undefined"), timed=True)
    document = manifest_document(replace(FACTS, options=options))
    assert (document["portable"], document["march_native"], document["timed"]) == (False, True, True)
    assert document["sanitize"] == ["address", "undefined"]
    assert isinstance(document["flags"], list)
    assert {"-march=native", "-fsanitize=address,undefined", "-DDSE_TIMED"} <= set(document["flags"])
    assert document["link_flags"] == ["-pthread", "-fsanitize=address,undefined"]


def test_portable_code_is_asked_of_a_compiler_that_makes_other() -> None:
    zig = Compiler(command=("c++",), zig=True)
    assert BuildOptions().portable_flags(zig) == ("-mcpu=baseline",)
    assert BuildOptions().portable_flags(FACTS.compiler) == ()
    assert BuildOptions(march_native=True).portable_flags(zig) == ()


def test_units_of_others_and_those_that_run_seldom() -> None:
    options = BuildOptions()
    assert options.flags_of(SourceUnit(path="a.cpp", text="")) == options.flags
    assert options.flags_of(SourceUnit(path="a.cpp", text="", cold=True))[-1] == "-Og"
    assert options.flags_of(SourceUnit(path="a.cpp", text="", foreign=True))[-1] == "-Wno-error"


def test_it_makes_a_folder_ours(tmp_path: Path) -> None:
    write_manifest(tmp_path, FACTS)
    assert check_folder(tmp_path) == {"src/network.cpp": "14"}
    assert len(json.loads((tmp_path / "manifest.json").read_text())["sources"]) == 2
