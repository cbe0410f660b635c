"""The test program of this folder, and its readers as a process that is fed many documents: see ``readers.hpp``."""

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

from dse.model.trace import Topology
from dse.native.build import BuildOptions
from tests.native import shared

SOURCE = Path(__file__).with_name("program.cpp")
_WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
FLAGS = ("-std=c++20", "-O0", "-g1", *_WARNINGS, "-pthread")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DREADERS=1")
PLAIN = ("-DREADERS=0",)


def compiled() -> Path:
    """Return the program under sanitizers, compiled unless it was before; for tests and fuzzers with a compiler."""
    return _compiled(SANITIZERS, BuildOptions(sanitize=("address", "undefined")))


def plain() -> Path:
    """Return the program without sanitizers and without the readers."""
    return _compiled(PLAIN, BuildOptions())


def _compiled(flags: tuple[str, ...], build: BuildOptions) -> Path:
    shared.needs_compiler()
    return shared.compiled(SOURCE, *FLAGS, *flags, objects=shared.runtime_objects(build))


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
