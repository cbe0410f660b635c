"""The test program of this folder, and its readers as a process that is fed many documents: see ``readers.hpp``."""

import fcntl
import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import dse
from dse.base.caches import cache_folder
from dse.model.trace import Topology
from dse.native.cache import digest_of

RUNTIME = Path(__file__).parents[3] / "dse" / "native" / "runtime"
SOURCE = Path(__file__).with_name("program.cpp")
_WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
FLAGS = ("-std=c++20", "-O0", "-g1", *_WARNINGS, "-pthread", f"-I{RUNTIME}", f'-DDSE_VERSION="{dse.__version__}"')
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PLAIN = ("-O1",)
COMPILER = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
NO_COMPILER = "there is no C++ compiler that has the sanitizers"


@cache
def compiled(flags: tuple[str, ...] = SANITIZERS) -> Path:
    """Return the program, compiled unless it was before; for tests and fuzzers that have a compiler.

    Workers of one run of the tests share it: the first one compiles, the others wait.
    """
    assert COMPILER is not None, NO_COMPILER
    folder = Path(os.environ.get("DSE_TEST_PROGRAMS") or cache_folder("native/tests") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / _digest(flags)
    with program.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            made = program.with_suffix(".part")
            done = _compiler(*flags, str(SOURCE), "-o", str(made))
            assert done.returncode == 0, done.stderr[:4000]
            made.replace(program)
    return program


def _digest(flags: Sequence[str]) -> str:
    """Return the digest of all that the program is made of."""
    named = _compiler("-MM", str(SOURCE)).stdout.replace("\\\n", " ").split()[1:]
    assert str(SOURCE) in named
    return digest_of(_compiler("--version").stdout, *FLAGS, *flags, *(Path(name).read_text() for name in named))


def _compiler(*arguments: str) -> "subprocess.CompletedProcess[str]":
    assert COMPILER is not None, NO_COMPILER
    return subprocess.run([COMPILER, *FLAGS, *arguments], capture_output=True, text=True, check=False)


class Readers:
    """A running process of the readers. ``command``: the program, and what starts it."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen([*command, "readers"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def close(self) -> int:
        """End the process; return its exit code, which is 0 unless it crashed."""
        self._requests.close()
        self._answers.close()
        return self._process.wait(10)

    def ask(self, *fields: str | bytes) -> Any:
        """Return the answer to a request. A process that is gone is an assertion error."""
        parts = [f.encode("utf-8", "surrogateescape") if isinstance(f, str) else f for f in fields]
        self._requests.write(struct.pack("<I", len(parts)) + b"".join(struct.pack("<I", len(p)) + p for p in parts))
        self._requests.flush()
        head = self._answers.read(4)
        assert len(head) == 4, f"the readers ended with {self._process.wait(10)}"
        return json.loads(self._answers.read(struct.unpack("<I", head)[0]))


def network_fields(topology: Topology) -> list[str]:
    """Return a network as fields of a request."""
    fields = [topology.name, str(len(topology.actors))]
    for actor in topology.actors:
        fields += [actor.name, str(len(actor.inputs)), *actor.inputs, str(len(actor.outputs)), *actor.outputs]
    fields.append(str(len(topology.buffers)))
    for b in topology.buffers:
        rates = [a.writes[b.source_port] for a in topology.actors[b.source].actions]
        rates += [a.reads[b.target_port] for a in topology.actors[b.target].actions]
        ends = (b.source, b.source_port, b.target, b.target_port, b.capacity or 0, max(rates, default=0))
        fields += map(str, ends)
    return fields
