"""``dse buffers`` as a function: FIFO sizes for one mapping."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic, OptionError
from dse.base.numbers import ANY_NUMBER, parse_decimal, shortened
from dse.base.registry import nearest_names
from dse.estimate.engine import make_engine
from dse.flows.capacities import Capacities, search_capacities
from dse.flows.clocks import clocked_setting, clocks_of_points
from dse.flows.estimate import no_cpu
from dse.flows.mappings import read_mapping
from dse.flows.options import ProblemOptions
from dse.flows.program import unheard
from dse.flows.setting import Setting, load_setting
from dse.formats.bxdf import write_bxdf
from dse.model.design_point import DesignPoint, Partition
from dse.sizing.buffers import DEFAULT_TOLERANCE, BufferSizing, size_buffers
from dse.sizing.methods import SIZING_METHODS, SizingMethod

UNSIZED = "the mapping says no FIFO sizes: its own are those of the network, else 512 tokens"
_QUOTIENT = re.compile(r"-?[0-9]{1,18}/0*[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferOptions:
    """What to size: a mapping, a file or a text (None: each actor on a core of its own), how, and where to write."""

    problem: ProblemOptions
    mapping: str | None = None
    method: SizingMethod = "critical"
    tolerance: Fraction = DEFAULT_TOLERANCE
    out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedBuffers:
    """The outcome of ``size_fifos``. ``names``: of the FIFOs, in the order of the capacities."""

    setting: Setting
    point: DesignPoint
    sizing: BufferSizing
    names: tuple[str, ...]
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


def size_fifos(options: BufferOptions, stage: Callable[[str], None] = unheard) -> SizedBuffers:
    """Size the FIFOs of a mapping and write them to a ``.bxdf`` file if asked.

    Raises:
        DeadlockError: no sizes help. FormatError, SourceError, OptionError: an input is wrong.
    """
    setting = load_setting(options.problem, stage)
    topology = setting.trace.topology
    if options.mapping is None:
        point = spread_point(setting)
        assumed: tuple[str, ...] = ("each actor on a CPU core of its own (no --mapping)",)
        warnings: tuple[Diagnostic, ...] = ()
    else:
        gather = Gatherer()
        given = read_mapping(
            options.mapping, topology, setting.platform, usual=lambda: search_capacities(setting).tokens, gather=gather
        )
        point, assumed = given.point, () if given.sized else (UNSIZED,)
        setting = clocked_setting(setting, clocks_of_points((point,), setting.platform))
        warnings = tuple(gather.warnings)
    stage("sizing the FIFOs")
    engine = make_engine(options.problem.engine, setting.tables)
    with_own = options.mapping is not None
    sizing = size_buffers(setting.tables, engine, point, options.method, options.tolerance, with_own=with_own)
    if options.out is not None:
        _write(sizing, setting, options.out)
    return SizedBuffers(
        setting=setting,
        point=point,
        sizing=sizing,
        names=tuple(topology.buffer_name(b) for b in range(len(topology.buffers))),
        assumed=(*setting.assumed, *assumed),
        warnings=(*setting.warnings, *warnings),
    )


def sized_capacities(method: SizingMethod, setting: Setting, engine: str) -> Capacities:
    """Return the sizes of ``--buffers minimal`` and the like: found with each actor on a core of its own.

    Whether a run completes does not depend on the mapping (static orders apart), so minimal sizes run in all mappings.
    """
    sizing = size_buffers(setting.tables, make_engine(engine, setting.tables), spread_point(setting), method)
    words = f"{method} FIFO sizes of each actor on a core of its own ({sizing.chosen.memory_bytes:,} bytes)"
    return Capacities(tokens=sizing.chosen.capacities, assumed=(words,))


def parse_sizing_method(text: str) -> SizingMethod:
    """Return the sizing method of that name. Raises ``OptionError``."""
    method = next((m for m in SIZING_METHODS if m == text), None)
    if method is None:
        raise OptionError(f"unknown way to size buffers '{text}'", expected=nearest_names(text, SIZING_METHODS))
    return method


def parse_tolerance(text: str) -> Fraction:
    """Return the tolerance of ``0.01`` or ``1%``. Raises ``OptionError``."""
    number, percent = text.removesuffix("%").strip(), text.endswith("%")
    value = Fraction(number) if _QUOTIENT.fullmatch(number) else parse_decimal(number)
    if value is None or not ANY_NUMBER.holds(value):
        raise OptionError(f"tolerance '{shortened(text)}' is not understood", expected="a share: 0.01, 1%")
    return value / 100 if percent else value


def spread_point(setting: Setting) -> DesignPoint:
    """Return the mapping that asks most of the buffers: each actor on a core of its own."""
    cpu = next((unit for unit in setting.platform.units if unit.kind == "cpu"), None)
    if cpu is None:
        raise no_cpu(setting.platform)
    topology = setting.trace.topology
    partitions = tuple(Partition(name=f"P{a}", actors=(a,), unit=cpu.name) for a in range(len(topology.actors)))
    return DesignPoint(partitions=partitions, capacities=tuple(max(1, n) for n in setting.tables.least_capacity))


def _write(sizing: BufferSizing, setting: Setting, out: str) -> None:
    try:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        write_bxdf(sizing.chosen.capacities, setting.trace.topology, out)
    except OSError as cause:
        raise OptionError(f"cannot write '{out}': {cause.strerror}", expected="choose another place with -o") from cause
