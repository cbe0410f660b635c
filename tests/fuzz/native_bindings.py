"""Natives bound to C++ by chance: hostile names, files and symbols become C++ as they stand, or an error in words."""

import contextlib
import random
from pathlib import Path

from dse.base.diagnostics import render
from dse.base.errors import DseError
from dse.frontend.network.elaborate import load_network
from dse.native.emission import EmissionOptions, emit
from dse.native.natives import user_natives
from dse.native.project import write_sources
from tests.fuzz.behaviour import Hang, bounded, fault_text, is_live
from tests.fuzz.hostile import NAMES

_UNIT = """package my; unit U :
@native function twice(int(size=32) x) --> int(size=32) end
@native procedure say(String text, uint(size=8) list[4]) end end"""
_ACTOR = """import my.U.*; actor A () ==> : int(size=32) n := 0; uint(size=8) list[4];
action ==> guard n < 3 do n := twice(n) + 1; say("x", list); end end"""
_KEYS = ("my.U.twice", "my.U.twice", "my.U.say", "my.U.no", "twice", ".", "my..U.twice", "my.U.")
_FILES = (
    "mine.cpp",
    "mine.cpp",
    "sub/mine.cc",
    "no.cpp",
    "mine.h",
    ".cpp",
    '"mine.cpp',
    "$a;b.cpp",
    "x" * 300 + ".cpp",
)
_SYMBOLS = ("twice", "my::twice", "::f", "f::", "f;}", "f(", "f//", "operator+", "é", "", "int", "f\n#include <x>")
_TEXTS = (b"int twice(int x) { return x; }\n", b"", b"\xff\xfe\0", b"#include __FILE__\n", b"// \xe2\x80\xae\n" * 99)


def attack(rng: random.Random, folder: Path) -> str | None:
    """Bind one or two natives, and write the project; return what went wrong."""
    texts = [_binding(rng, folder) for _ in range(rng.choice((1, 1, 2)))]
    _write_network(folder)
    with contextlib.chdir(folder):
        try:
            with bounded(10):
                bound = user_natives(texts)
                made = emit(load_network("Top.xdf").network, EmissionOptions(overrides=bound))
                write_sources(made.project, folder / "out", {})
        except DseError as error:
            live = next((c for d in error.diagnostics for c in render(d) if is_live(c)), None)
            return None if live is None else f"{texts}\nsays {live!r} as it is"
        except (Exception, Hang) as fault:
            return f"{texts}: {fault_text(fault)}"
    places = [(folder / "out" / path).resolve() for path in made.project.files()]
    outside = [place for place in places if not place.is_relative_to((folder / "out").resolve())]
    return f"{texts}\nwrites {outside}" if outside else None


def _binding(rng: random.Random, folder: Path) -> str:
    """Return a binding; its file is there, if it can be."""
    name = rng.choice(_FILES) if rng.random() < 0.8 else rng.choice(NAMES) + ".cpp"
    with contextlib.suppress(OSError, ValueError):  # names that cannot be those of files
        place = (folder / name).resolve()
        if place.is_relative_to(folder.resolve()):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(rng.choice(_TEXTS))
    symbol = rng.choice(_SYMBOLS) if rng.random() < 0.8 else rng.choice(NAMES)
    return f"{rng.choice(_KEYS)}={name}:{symbol}"


def _write_network(folder: Path) -> None:
    (folder / "my").mkdir(exist_ok=True)
    (folder / "my" / "U.cal").write_text(_UNIT)
    (folder / "A.cal").write_text(_ACTOR)
    (folder / "Top.xdf").write_text('<XDF name="Top"><Instance id="a"><Class name="A"/></Instance></XDF>')
