"""The program that measures the link to a GPU: tokens through FIFOs in pinned memory, one end on each side.

Its sources are ``probe/link.cpp`` and ``probe/link.cu``; the FIFOs and their ends are those of the runtime. Built once
for a compiler, kept like any other program.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dse.base.caches import digest_of
from dse.base.errors import ExecutionError
from dse.measure.gpu_times import GpuClock, TimeSum, clock_of, sum_of
from dse.native.build import BuildOptions, build_program
from dse.native.cache import FileCache
from dse.native.cuda import DeviceBuild
from dse.native.process import run_program
from dse.native.project import Project, SourceUnit, emulation_headers, runtime_headers, write_sources
from dse.native.toolchain import Compiler

_PROBE = Path(__file__).parent / "probe"
_SHARED = "link.hpp"
_SECONDS = 300.0
"""The program gives up by itself sooner, case by case."""

Way = Literal["to-gpu", "from-gpu", "both", "echo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCase:
    """Blocks of tokens through FIFOs across the link. ``fifos``: each way; ``echo``: a block there and back."""

    way: Way
    fifos: int = 1
    capacity_tokens: int
    block_tokens: int
    token_bytes: int
    blocks: int

    @property
    def word(self) -> str:
        """The case as the program takes it."""
        numbers = (self.fifos, self.capacity_tokens, self.block_tokens, self.token_bytes, self.blocks)
        return ",".join([self.way, *map(str, numbers)])

    @property
    def block_bytes(self) -> int:
        """The bytes of a block."""
        return self.block_tokens * self.token_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnds:
    """What moving a block took at each end, in ns, readings taken out; None where the case has no such end."""

    cpu_writes: float | None
    gpu_reads: float | None
    gpu_writes: float | None
    cpu_reads: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """A case with what it took. ``all_ns``: from the first block to the last; ``ends``: a block, in the mean."""

    case: LinkCase
    all_ns: int
    ends: LinkEnds
    clock: GpuClock


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRun:
    """What one run of the program told. ``card``: in words, as ``GpuTimes.card``."""

    card: str
    emulated: bool
    rows: tuple[LinkRow, ...]


class LinkProgram:
    """Measures the link by a program that is at hand."""

    def __init__(self, app: Path) -> None:
        self._app = app

    def measure(self, cases: Sequence[LinkCase]) -> LinkRun:
        """Measure at least one case. Raises ``ExecutionError`` where there is no card, or tokens do not arrive."""
        ended = run_program([self._app, *(case.word for case in cases)], time_limit_s=_SECONDS)
        try:
            told = json.loads(ended.output)
        except ValueError as error:
            said = (ended.errors.strip().splitlines() or [f"it ended with code {ended.code}"])[-1]
            raise ExecutionError(
                f"the link to the GPU cannot be measured: {said.removeprefix('error: ')}",
                expected="run it where there is a GPU; --cuda emulated rehearses it without one",
            ) from error
        try:
            return _run(told, cases)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ExecutionError(f"what the program tells of the link is not understood: {error!r}") from error


def _run(told: dict[str, Any], cases: Sequence[LinkCase]) -> LinkRun:
    return LinkRun(
        card=f"{told['name']}, compute capability {told['major']}.{told['minor']}",
        emulated=bool(told["emulated"]),
        rows=tuple(_row(case, one) for case, one in zip(cases, told["cases"], strict=True)),
    )


def _row(case: LinkCase, told: dict[str, Any]) -> LinkRow:
    if not told["right"]:
        raise ExecutionError(
            f"tokens that crossed the link ({case.word}) are not those that were sent",
            expected="the machine, its driver or dse is at fault: nothing that it measures is to be trusted",
        )
    clock = clock_of(told["clocks"])
    assert clock is not None, "every case has a block on the GPU"
    reading = min(float(one["reading"]) for one in told["clocks"])
    of_cpu = (float(told["counter_mhz"]), float(told["counter_reading"]))
    return LinkRow(
        case=case,
        all_ns=int(told["ns"]),
        ends=LinkEnds(
            cpu_writes=_mean_ns(told["cpu_writes"], *of_cpu),
            gpu_reads=_mean_ns(told["gpu_reads"], clock.mhz, reading),
            gpu_writes=_mean_ns(told["gpu_writes"], clock.mhz, reading),
            cpu_reads=_mean_ns(told["cpu_reads"], *of_cpu),
        ),
        clock=clock,
    )


def _mean_ns(told: Sequence[Sequence[float]], mhz: float, reading: float) -> float | None:
    """Return the mean of durations that are counts of a counter, in ns, without the reading in each."""
    total = sum(map(sum_of, told), TimeSum())
    return total.without(reading) / total.count * 1e3 / mhz if total.count else None


def build_link_program(compiler: Compiler, device: DeviceBuild, scratch: Path) -> LinkProgram:
    """Return the program, built in the folder ``scratch`` if no earlier build is kept.

    Raises:
        BuildError: a compiler fails. OSError: the disk is full.
    """
    options, cache = BuildOptions(device=device), FileCache("programs")
    texts = {name: (_PROBE / name).read_text(encoding="utf-8") for name in ("link.cpp", "link.cu", _SHARED)}
    headers = (*runtime_headers(), (f"probe/{_SHARED}", texts[_SHARED]))
    parts = (*texts.values(), *(part for header in headers for part in header))
    key = digest_of(compiler.identity, *options.flags, *device.words, *parts)
    kept = cache.get(key)
    if kept is not None:
        return LinkProgram(kept)
    project = Project(
        name="link",
        units=(
            SourceUnit(path="src/link.cpp", text=texts["link.cpp"], cold=device.nvcc is None),
            SourceUnit(path="src/link.cu", text=texts["link.cu"], device=True),
        ),
        headers=headers,
        others=emulation_headers() if device.nvcc is None else (),
    )
    write_sources(project, scratch, {})
    app = scratch / "app"
    build_program(project, scratch, app, compiler, options)
    return LinkProgram(cache.put(key, app))
