"""Hostile programs that name files: none may be read or changed but those that the user gave."""

import contextlib
import os
import random
from pathlib import Path

from dse.base.errors import DseError
from dse.frontend.network.elaborate import load_network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.fuzz.behaviour import Hang, bounded, fault_text

SECRET = b"SECRET"
_PRINTED_SECRET = " ".join(map(str, SECRET))
_UNITS = {
    "system/io/AccessFile.cal": """package system.io; unit AccessFile :
        @native function openFile(String n) --> int end
        @native procedure readBytes(int d, uint(size=8) b[64], int n) end
        @native procedure writeByte(int d, int(size=8) b) end
        @native procedure seek(int d, int(size=32) p) end
        @native function closeFile(int d) --> int end end""",
    "intf/channel/File.cal": """package intf.channel; unit File :
        @native function open(String n, String mode) --> int end
        @native function readByte(int d) --> int end
        @native procedure writeByte(int d, int(size=8) b) end
        @native procedure close(int d) end end""",
}
_OPERATIONS = {
    "read": ("system.io.AccessFile", 'f := openFile("{}"); readBytes(f, b, 64); z := closeFile(f);'),
    "write": ("system.io.AccessFile", 'f := openFile("{}"); writeByte(f, 88); z := closeFile(f);'),
    "update": ("system.io.AccessFile", 'f := openFile("{}"); readBytes(f, b, 6); writeByte(f, 89);'),
    "channel read": (
        "intf.channel.File",
        'f := open("{}", "r"); foreach int k in 0 .. 9 do b[k] := readByte(f); end close(f);',
    ),
    "channel write": ("intf.channel.File", 'f := open("{}", "w"); writeByte(f, 88); close(f);'),
    "writer": ("", 'f := writer_open("{}"); writer_writeNTokens(f, b, 4);'),
    "source": ("", 'f := source_open("{}"); source_readNBytesFd(f, b, 6);'),
    "folder": ("", "foreach int k in 0 .. 5 do b[k] := native_source_produce(0); end"),
}
_DECLARED = """@native function writer_open(String n) --> int end
    @native procedure writer_writeNTokens(int d, uint(size=8) b[64], int n) end
    @native function source_open(String n) --> int end
    @native procedure source_readNBytesFd(int d, uint(size=8) b[64], int n) end
    @native function native_source_produce(int k) --> int end"""


def attack(rng: random.Random, folder: Path) -> str | None:
    """Run a program that opens a few files by hostile names; return what it saw or changed that is not its own."""
    home, outside = folder / "home" / "net", folder / "outside"
    _lay_out(rng, home, outside)
    names = _names(folder, home, outside)
    program, told = _program(rng, names)
    (home / "A.cal").write_text(program)
    (home / "Top.xdf").write_text('<XDF name="Top"><Instance id="a"><Class name="A"/></Instance></XDF>')
    options = RunOptions(input=_input(rng, home), write=_written(rng, folder))
    before = _contents(folder / "home") | _contents(outside)
    with contextlib.chdir(folder):
        printed: list[str] = []
        try:
            with bounded(10):
                run_network(load_network("home/net/Top.xdf").network, options, echo=printed.append)
        except DseError:
            pass
        except (Exception, Hang) as fault:
            return f"{told}: {fault_text(fault)}"
    if _PRINTED_SECRET in "".join(printed):
        return f"{told}: a file outside was read"
    after = _contents(folder / "home") | _contents(outside)
    changed = [str(path) for path in before | after if before.get(path) != after.get(path)]
    return f"{told}: changed {changed}" if changed else None


def _lay_out(rng: random.Random, home: Path, outside: Path) -> None:
    for path, text in _UNITS.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET * 12)
    (outside / "input_0.in").write_bytes(" ".join(map(str, SECRET * 12)).encode())
    (home / "own").write_bytes(b"own data")
    (home / "data").mkdir()
    (home / "data" / "own").write_bytes(b"more data")
    (home / "link").symlink_to(outside / "secret")
    (home / "near").symlink_to("../../outside/secret")
    (home / "chain").symlink_to("near")
    (home / "folder").symlink_to(outside)
    (home / "loop").symlink_to("loop")
    os.mkfifo(home / "pipe")
    if rng.random() < 0.5:
        (home / "data" / "input_0.in").symlink_to(outside / "input_0.in")
    files = home.parents[1] / "dse-out" / "Top" / "files"
    files.mkdir(parents=True)
    if rng.random() < 0.5:
        (files / "evil").symlink_to(outside / "secret")
        (files / "way").symlink_to(outside)
        os.link(outside / "secret", files / "hard")
        os.mkfifo(files / "tube")


def _names(folder: Path, home: Path, outside: Path) -> list[str]:
    plain = ["own", "data/own", "./own", "data/../own", "new", "data/new", "a/b/new", "", ".", "data", "own/x", "loop"]
    links = ["link", "near", "chain", "folder/secret", "folder/new", "folder/../outside/secret", "pipe"]
    copies = ["evil", "way/secret", "way/new", "hard", "tube"]
    outer = ["../../outside/secret", "../../outside/new", "data/../../../outside/secret", "../new", ".."]
    whole = [str(outside / "secret"), str(outside / "new"), f"/{outside}/secret", str(home / "own"), str(home / "new")]
    system = ["/dev/zero", "/dev/null", "/dev/stdin", f"/proc/self/root{outside}/secret"]
    system += [f"/proc/self/cwd/{folder.name}/../outside/secret", "/", "~/x", "x" * 300, "a\\0b", "\u20ac"]
    return plain + links + copies + outer + whole + system


def _program(rng: random.Random, names: list[str]) -> tuple[str, str]:
    """Return an actor that does a few operations, and them in words."""
    chosen = [(rng.choice(list(_OPERATIONS)), rng.choice(names)) for _ in range(rng.randint(1, 4))]
    unit = next((_OPERATIONS[what][0] for what, _ in chosen if _OPERATIONS[what][0]), "")
    chosen = [(what, name) for what, name in chosen if _OPERATIONS[what][0] in ("", unit)]
    steps = []
    for k, (what, name) in enumerate(chosen):
        show = 'foreach int k in 0 .. 63 do print(b[k]); print(" "); end'
        guard = f"guard n = {k} var int f, int z, uint(size=8) b[64]"
        steps.append(f"action ==> {guard} do n := {k + 1}; {_OPERATIONS[what][1].format(name)} {show} end")
    head = f"import {unit}.*; " if unit else ""
    return f"{head}actor A () ==> : int n := 0; {_DECLARED} {' '.join(steps)} end", str(chosen)


def _input(rng: random.Random, home: Path) -> str | None:
    return rng.choice((None, str(home / "own"), str(home / "data")))


def _written(rng: random.Random, folder: Path) -> str | None:
    (folder / "out").mkdir()
    return rng.choice((None, str(folder / "out"), str(folder / "out" / "w.bin")))


def _contents(folder: Path) -> dict[Path, bytes | str]:
    """Return every file below a folder with what is in it; links as they are."""
    found: dict[Path, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path] = str(path.readlink())
        else:
            found[path] = path.read_bytes() if path.is_file() else "folder"
    return found
