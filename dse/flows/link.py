"""The journey of ``dse gpu link``: the link between processor and GPU is measured, and becomes part of a platform."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from dse.base.cores import usable_cores
from dse.base.errors import ExecutionError, OptionError
from dse.base.escaping import shown
from dse.flows.build import device_build
from dse.flows.cuda_request import CudaRequest
from dse.flows.program import unheard
from dse.flows.static_mapping import GPU
from dse.formats.platform_yaml import load_platform, write_platform
from dse.measure.link import LinkFigures, LinkPlan, measure_link
from dse.measure.link_program import build_link_program
from dse.measure.machine import cpu_model
from dse.measure.profile_weights import exact
from dse.model.platform import Link, Platform, Unit
from dse.native.toolchain import find_compiler

_TRIPS, _TOKENS = 20_000, 1_000_000
_TRIPS_EMULATED, _TOKENS_EMULATED = 200, 4_000
_MOST_FIFOS = 256
_MOST_CAPACITY = 1 << 20
_LEAST_CAPACITY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """What to measure. ``fifos``: at once, at most; ``capacity_tokens``: of each; ``platform``: a file or a name.

    ``output``: the platform file to write, None: none. ``compiler`` None: ``$CXX``, else the first that is found.
    """

    cuda: CudaRequest = field(default_factory=CudaRequest)
    fifos: int = 8
    capacity_tokens: int = 512
    platform: str | None = None
    output: str | None = None
    compiler: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLink:
    """What was found, and the platform that has it."""

    figures: LinkFigures
    link: Link
    platform: Platform


def measure_link_here(options: LinkOptions, stage: Callable[[str], None] = unheard) -> MeasuredLink:
    """Measure the link of this machine, and write the platform file if one is wanted.

    Raises:
        OptionError: a number is impossible, or the platform has no GPU. FormatError: its file is wrong.
        BuildError: a compiler is missing or fails. ExecutionError: there is no card, or the file cannot be written.
    """
    _check(options)
    given = None if options.platform is None else load_platform(options.platform)
    if given is not None:
        _ends(given)
    device, _ = device_build(options.cuda)
    compiler = find_compiler(options.compiler)
    with tempfile.TemporaryDirectory(prefix="dse-link-") as folder:
        stage("building the program that measures the link")
        program = build_link_program(compiler, device, Path(folder))
        figures = measure_link(program.measure, _plan(options), stage)
    platform = given or _here(figures)
    between = _ends(platform)
    name = _name(platform, between)
    link = figures.link(name, between, len(usable_cores()))
    others = tuple(one for one in platform.links if one.name != name)
    platform = replace(platform, links=(*others, link))
    if options.output is not None:
        _write(platform, options.output)
    return MeasuredLink(figures=figures, link=link, platform=platform)


def _check(options: LinkOptions) -> None:
    if not 1 <= options.fifos <= _MOST_FIFOS:
        raise OptionError(f"--fifos is {options.fifos}", expected=f"1 to {_MOST_FIFOS}")
    if not _LEAST_CAPACITY <= options.capacity_tokens <= _MOST_CAPACITY:
        raise OptionError(
            f"--fifo-size is {options.capacity_tokens}", expected=f"{_LEAST_CAPACITY} to {_MOST_CAPACITY} tokens"
        )
    if options.output is not None:
        if not options.output.endswith((".yaml", ".yml")):
            raise OptionError(f"'{shown(options.output)}' is no name of a platform file", expected="-o FILE.yaml")
        if Path(options.output).is_dir() or not Path(options.output).resolve().parent.is_dir():
            raise OptionError(
                f"'{shown(options.output)}' cannot be a file", expected="-o FILE.yaml in a folder that is there"
            )


def _plan(options: LinkOptions) -> LinkPlan:
    fifos = sorted({1 << k for k in range(options.fifos.bit_length())} | {options.fifos})
    emulated = options.cuda.emulated
    return LinkPlan(
        capacity_tokens=options.capacity_tokens,
        fifos=tuple(fifos),
        trips=_TRIPS_EMULATED if emulated else _TRIPS,
        tokens=_TOKENS_EMULATED if emulated else _TOKENS,
    )


def _ends(platform: Platform) -> tuple[str, str]:
    """Return the first CPU and the first GPU of a platform. Raises ``OptionError`` where one is missing."""
    cpu, gpu = (next((u.name for u in platform.units if u.kind == kind), None) for kind in ("cpu", "gpu"))
    if cpu is None or gpu is None:
        raise OptionError(
            f"the platform {shown(platform.name)} has no {'GPU' if cpu is not None else 'CPU'}",
            expected="one with both, or leave out --platform",
        )
    return cpu, gpu


def _name(platform: Platform, between: tuple[str, str]) -> str:
    """Return the name of the link between two units, one that no other link has where there is none yet."""
    found = next((link.name for link in platform.links if set(link.between) == set(between)), None)
    names = {link.name for link in platform.links}
    return found or next(name for name in chain(("host",), (f"host_{k}" for k in count(2))) if name not in names)


def _here(figures: LinkFigures) -> Platform:
    """Return this machine with its GPU."""
    cpu = Unit(name="cpu", kind="cpu", cores=len(usable_cores()), source=f"{cpu_model()}, its cores as counted")
    gpu = replace(GPU, clock_mhz=exact(round(figures.clock_mhz, 1)), source=f"{figures.card}, its clock as measured")
    return Platform(name="this machine", units=(cpu, gpu))


def _write(platform: Platform, path: str) -> None:
    try:
        write_platform(platform, path)
    except OSError as error:
        raise ExecutionError(
            f"cannot write '{shown(path)}': {error.strerror or error}", expected="choose another with -o"
        ) from error
