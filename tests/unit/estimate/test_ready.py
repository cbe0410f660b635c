"""Whether the kernel is compiled is told from the files of the compiler's cache; who waits for it is told."""

import hashlib
import importlib.metadata
import struct
import sys
from pathlib import Path

import pytest

import dse.estimate.compiled.ready as ready
from dse.base.kept_code import kept_name
from dse.cli.main import main
from dse.estimate.compiled.warm import warm
from dse.estimate.engine import needs_compiling

KERNELS = {
    "kernel": "simulate",
    "path_kernel": "bounds_of",
    "load_kernel": "sweep",
    "place_kernel": "fill",
    "walk_kernel": "walk",
    "dependency_kernel": "earliest",
    "waits_kernel": "earliest",
    "one_core_kernel": "one_core",
    "tree_kernel": "walk",
    "../token_kernel": "play",
}
PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")


def test_an_empty_cache_means_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not ready.is_compiled()
    assert needs_compiling("compiled")
    assert not needs_compiling("reference")


def test_what_the_compiler_wrote_counts() -> None:
    """Holds for the installed version of the compiler, whose files are not specified."""
    warm()
    assert ready.is_compiled()


@pytest.mark.parametrize("stamp", ["sha256", "mtime"])
@pytest.mark.parametrize("other", list(KERNELS))
@pytest.mark.parametrize("changed", ["source", "version", "nothing"])
def test_a_cache_of_another_kernel_or_compiler_does_not_count(
    changed: str, other: str, stamp: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer source is compiled again, and so is one that came with its old time, as from an archive."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = tmp_path / "compiled_0123"
    folder.mkdir()
    for module, function in KERNELS.items():
        source = (Path(ready.__file__).parent / f"{module}.py").resolve()
        text, time = source.read_bytes(), source.stat().st_mtime
        version = importlib.metadata.version("numba")
        if module == other:
            text, time = (text + b"#", time + 1) if changed == "source" else (text, time)
            version = "0.1.0" if changed == "version" else version
        mark = hashlib.sha256(text).digest() if stamp == "sha256" else struct.pack(">d", time)
        kept = kept_name(function, source, Path(ready.__file__).parents[2])
        index = folder / f"{source.stem}.{kept}-900.py{sys.version_info.major}{sys.version_info.minor}.nbi"
        index.write_bytes(b"\x80\x05" + version.encode() + b"..." + mark + b"...")
    assert ready.is_compiled() == (changed == "nothing")


EXPLORE = ("explore", "--weights", "nominal", "--budget", "2")


@pytest.mark.parametrize("verb", [[*EXPLORE, "--out"], ["estimate"], ["buffers"]])
def test_whoever_waits_for_the_compiler_is_told(
    verb: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled: list[bool] = []
    monkeypatch.setattr("dse.flows.setting.needs_compiling", lambda name: name == "compiled")
    monkeypatch.setattr("dse.flows.setting.compile_engine", lambda: compiled.append(True))
    argv = [verb[0], PINGPONG]
    assert main([EXPLORE[0], PINGPONG, *EXPLORE[1:], "--out", str(tmp_path), "--quiet"]) == 0
    told = capsys.readouterr().err
    assert told == ""  # asked to be quiet
    argv += [*verb[1:], str(tmp_path)] if verb[0] == "explore" else ["--mapping", str(tmp_path / "best-01.xcf")]
    assert main(argv) == 0
    told, ran = "compiling the engine, once for each version: up to a minute\n", "the network was run in Python\n"
    assert capsys.readouterr().err == told + ran
    assert len(compiled) == 2, "it is said, and not done: the next command would say it again"
    assert main([*argv, "--json"]) == 0
    assert capsys.readouterr().err == told + ran
    assert main([*argv, "--quiet"]) == 0
    assert len(compiled) == 4
    assert main([*argv, "--engine", "reference"]) == 0
    assert capsys.readouterr().err == ran
