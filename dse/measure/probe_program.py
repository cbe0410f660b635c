"""The probe: a small native program that measures the machine. Built once, kept like any other program.

Its source is ``probe/probe.cpp``, which moves tokens through the FIFOs of the runtime.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.base.caches import digest_of
from dse.base.errors import ExecutionError
from dse.measure.counter import CounterFacts
from dse.measure.samples import CounterKind
from dse.native.build import BuildOptions, build_program
from dse.native.cache import FileCache
from dse.native.process import run_program
from dse.native.project import Project, SourceUnit, runtime_headers, write_sources
from dse.native.toolchain import Compiler

_SOURCE = Path(__file__).parent / "probe" / "probe.cpp"
_SECONDS = 60.0
"""Longer than any measurement of the probe takes on a machine that does nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCost:
    """What a block of tokens takes at both ends of a FIFO, in counts."""

    writing: float
    reading: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingCase:
    """A FIFO between two cores. ``work``: counts that the writer computes between two blocks, so the reader waits."""

    cores: tuple[int, int]
    capacity_tokens: int
    block_tokens: int
    token_bytes: int
    work: int = 0


class Probe:
    """Measures the machine by a program that is at hand."""

    def __init__(self, app: Path) -> None:
        self._app = app

    def counter(self) -> CounterFacts:
        """Return what is measured of the counter."""
        told = self._ask("counter")
        return CounterFacts(
            kind=CounterKind(told["kind"]), hz=float(told["hz"]), step=float(told["step"]), cost=float(told["cost"])
        )

    def round_trip_ns(self, cores: tuple[int, int]) -> float:
        """Return the round trip of a cache line between two cores, in nanoseconds."""
        return float(self._ask("round-trip", *cores)["round_trip_ns"])

    def crossing(self, case: CrossingCase) -> BlockCost:
        """Return what moving a block takes at each end, the readings of the counter included."""
        told = self._ask("crossing", *case.cores, case.capacity_tokens, case.block_tokens, case.token_bytes, case.work)
        return BlockCost(writing=float(told["writing"]), reading=float(told["reading"]))

    def _ask(self, *words: str | int) -> dict[str, Any]:
        ended = run_program([self._app, *map(str, words)], time_limit_s=_SECONDS)
        try:
            told = json.loads(ended.output)
        except ValueError as error:
            said = (ended.errors.strip().splitlines() or ["it said nothing"])[-1]
            raise ExecutionError(
                f"the probe of the machine failed: {said}", expected="it needs threads that can be bound to cores"
            ) from error
        assert isinstance(told, dict), "the probe tells objects"
        return told


def build_probe(compiler: Compiler, scratch: Path) -> Probe:
    """Return the probe, built in the folder ``scratch`` if no earlier build is kept.

    Raises:
        BuildError: the compiler fails. OSError: the disk is full.
    """
    options, text, cache = BuildOptions(), _SOURCE.read_text(encoding="utf-8"), FileCache("programs")
    headers = runtime_headers()
    key = digest_of(compiler.identity, *options.flags, text, *(part for header in headers for part in header))
    kept = cache.get(key)
    if kept is not None:
        return Probe(kept)
    project = Project(name="probe", units=(SourceUnit(path="src/probe.cpp", text=text),), headers=headers)
    write_sources(project, scratch, {})
    app = scratch / "app"
    build_program(project, scratch, app, compiler, options)
    return Probe(cache.put(key, app))
