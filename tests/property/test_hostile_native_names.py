"""No name of any input does anything in what native programs and measurements leave: C++, JSON, tables, pictures."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

from dse.native.toolchain import Compiler
from tests.examples import WHOLE
from tests.property.hostile_names import ANYWHERE, FILE_NAME, HOSTILE, World, live_in, make_world, page_of, unprintable
from tests.property.test_hostile_names import dse

pytestmark = pytest.mark.slow
NAMES = HOSTILE if WHOLE else HOSTILE[::3]
"""Those of the instances, each of which is compiled twice."""


@pytest.fixture
def world(tmp_path: Path, native_compiler: Compiler) -> World:
    """Return a world of hostile names; what it builds needs the compiler."""
    assert native_compiler
    return make_world(tmp_path / "world", NAMES, ANYWHERE, FILE_NAME)


def commands(world: World) -> dict[str, tuple[str, ...]]:
    """Return commands that succeed, in an order in which each finds what it needs."""
    n, o = world.network, world.out
    bench, engine = ("--runs", "2", "--json"), ("--engine", "compiled")
    return {
        "build": ("build", n, "-o", f"{o}b", "--jobs", "1", "--json"),
        "build-again": ("build", n, "-o", f"{o}b"),
        "run": ("run", n, "--execution", "native", "--json"),
        "profile": ("profile", n, "-o", f"{o}w", "--calibrate", "1", "--samples", *bench),
        "profile-in-words": ("profile", n, "-o", f"{o}w", "--calibrate", "0", "--runs", "1"),
        "measure": ("measure", n, "--sample", "2", "--weights", f"{o}w", "--out", f"{o}m", *engine, *bench),
        "measure-in-words": (
            "measure",
            n,
            "--sample",
            "1",
            "--weights",
            f"{o}w",
            "--out",
            f"{o}m",
            *engine,
            "--runs",
            "2",
        ),
    }


def test_names_are_only_names(world: World) -> None:
    before = {path for path in world.folder.parent.rglob("*") if not path.is_relative_to(world.folder)}
    printed = {}
    with contextlib.chdir(world.folder):
        for name, command in commands(world).items():
            code, output, error = printed[name] = dse(*command)
            assert code == 0, (name, output, error)
            assert not unprintable(output + error), (name, unprintable(output + error))
            if "--samples" in command:
                with np.load(f"{world.out}w/samples.npz") as arrays:
                    assert set(arrays) == set(NAMES)
            if "--json" in command:
                assert output.isascii()
                json.loads(output)
    assert list(json.loads(printed["run"][1])["actors"]) == list(NAMES)
    after = {path for path in world.folder.parent.rglob("*") if not path.is_relative_to(world.folder)}
    assert {path for path in after - before if "cache" not in str(path)} == set()
    built, measured = world.folder / f"{world.out}b", world.folder / f"{world.out}m"
    assert all(path.name.isascii() for path in built.rglob("*"))
    for path in (built / "manifest.json", measured / "measured.json"):
        text = path.read_text("utf-8")
        assert text.isascii()
        assert json.loads(text)
    for path in (*built.rglob("*.cpp"), built / "CMakeLists.txt", measured / "runs.tsv"):
        assert not unprintable(path.read_bytes().decode().replace("\t", "")), path
    for path in measured.glob("*.svg"):
        assert live_in(page_of(path.read_text("utf-8"))) == []
