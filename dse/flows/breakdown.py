"""``dse gpu breakdown`` as a function: an OpenCL kernel, measured over tile widths, split into computing and moving."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dse.base.errors import OptionError
from dse.base.numbers import integer_from
from dse.formats.device_yaml import load_device
from dse.formats.mapping_csv import read_text
from dse.formats.tiles_csv import read_tiles
from dse.frontend.opencl.counting import count_kernel
from dse.frontend.opencl.parse import KernelArgument, OpenClFile, arguments_of, parse_opencl
from dse.gpu.breakdown.factors import factors
from dse.gpu.breakdown.fit import fit
from dse.measure.opencl import Argument, KernelRun, measure_tiles
from dse.model.breakdown import Breakdown, Factors, KernelCounts, MeasuredTile, Reading
from dse.model.device import Device

READINGS: tuple[Reading, ...] = ("as_printed", "prose", "rounds")
_HOST_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d+)[uUlL]*\)?[ \t]*(?://.*|/\*.*)?$", re.M)
_HOST_CONSTANT = re.compile(r"\b(?:int|unsigned|size_t|long|cl_u?int|cl_u?long)\s+(\w+)\s*=\s*(\d+)[uUlL]*\s*;")
_MOST_SIZE = 1 << 24
_MOST_VALUE = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Tile widths to run here, and how often each."""

    tiles: tuple[int, ...]
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownOptions:
    """``measured``: a CSV file; ``profile`` instead: the kernel is run here. ``size``: N, or the macro that is.

    ``host``: a C file whose macros and constants count like ``defines``, which win. ``operations``: floating-point
    operations of the whole kernel, None: as counted.
    """

    path: str
    device: str
    measured: str | None = None
    profile: Profile | None = None
    kernel: str | None = None
    host: str | None = None
    defines: tuple[tuple[str, str], ...] = ()
    tile_macro: str = "TILE"
    size: str = "N"
    operations: float | None = None
    knots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenDown:
    """``counts``, ``factors``: by tile, the latter in the reading of each of ``fits``."""

    device: Device
    size: int
    measured: tuple[MeasuredTile, ...]
    counts: tuple[KernelCounts, ...]
    factors: tuple[tuple[Factors, ...], ...]
    fits: tuple[Breakdown, ...]
    ran_on: str | None = None


def break_down(options: BreakdownOptions) -> BrokenDown:
    """Return the breakdown of a kernel in all readings.

    Raises:
        FormatError, SourceError: a file is wrong. OptionError: a value is missing or does not fit.
        ExecutionError: the kernel cannot be run here.
    """
    device, text = load_device(options.device), read_text(options.path)
    defines = {**({} if options.host is None else host_constants(read_text(options.host))), **dict(options.defines)}
    size = _size(options.size, defines)
    ran_on = None
    if options.profile is not None:
        measured, ran_on = _profiled(options, text, defines, size)
    else:
        if options.measured is None:
            raise OptionError("no measured times are given", expected="--measured FILE.csv, or --profile 1,2,4,8")
        measured = read_tiles(options.measured)
    counts = tuple(_counted(options, text, defines, tile.tile)[1] for tile in measured)
    pairs = tuple(zip(counts, measured, strict=True))
    terms = tuple(
        tuple(factors(c, m, size, device, reading, total=options.operations) for c, m in pairs) for reading in READINGS
    )
    fits = tuple(fit(of, measured, r, knots=options.knots) for of, r in zip(terms, READINGS, strict=True))
    return BrokenDown(
        device=device, size=size, measured=measured, counts=counts, factors=terms, fits=fits, ran_on=ran_on
    )


def host_constants(text: str) -> dict[str, str]:
    """Return the macros and constants of a host program that are whole numbers."""
    return dict([*_HOST_CONSTANT.findall(text), *_HOST_MACRO.findall(text)])


def _size(given: str, defines: Mapping[str, str]) -> int:
    value = integer_from(defines.get(given, given), least=1, most=_MOST_SIZE)
    if value is None:
        raise OptionError(
            f"the size '{given[:40]}' is not known",
            expected=f"--define {given[:40]}=1024, a --host file that says it, or --size with a number to {_MOST_SIZE}",
        )
    return value


def _counted(
    options: BreakdownOptions, text: str, defines: Mapping[str, str], tile: int
) -> tuple[OpenClFile, KernelCounts]:
    found = parse_opencl(options.path, text, {**defines, options.tile_macro: str(tile)})
    values = {name: int(value) for name, value in defines.items() if re.fullmatch(r"-?\d{1,18}", value)}
    return found, count_kernel(found, options.kernel, {**values, options.tile_macro: tile})


def _profiled(
    options: BreakdownOptions, text: str, defines: Mapping[str, str], size: int
) -> tuple[tuple[MeasuredTile, ...], str]:
    assert options.profile is not None, "only asked for with a profile"
    found, counts = _counted(options, text, defines, options.profile.tiles[0])
    arguments = tuple(_argument(one, counts.kernel, defines) for one in arguments_of(found, counts.kernel))
    run = KernelRun(
        source=text,
        kernel=counts.kernel,
        arguments=arguments,
        macros={name: value for name, value in defines.items() if name not in {a.name for a in arguments}},
        tile_macro=options.tile_macro,
        size=size,
        dims=counts.dims,
    )
    return measure_tiles(run, options.profile.tiles, options.profile.repeats)


def _argument(given: KernelArgument, kernel: str, defines: Mapping[str, str]) -> Argument:
    """Return an argument with its value. Raises ``OptionError`` for an integer that has none."""
    if given.element_bytes is not None:
        return Argument(name=given.name, element_bytes=given.element_bytes)
    value = integer_from(defines.get(given.name, ""), least=-_MOST_VALUE, most=_MOST_VALUE)
    if value is None:
        raise OptionError(
            f"argument '{given.name}' of '{kernel}' has no whole number", expected=f"--define {given.name}=VALUE"
        )
    return Argument(name=given.name, element_bytes=None, value=value)


def answer_lines(found: BrokenDown, fit_of: Breakdown) -> Sequence[str]:
    """Return in words what the split says: what a kernel spends its time on, and what another tile brings."""
    first, best = found.measured[0], min(found.measured, key=lambda tile: tile.ms)
    index = found.measured.index(best)
    lines = [_spent(first, fit_of.parts[0])]
    if best is not first:
        lines += [_spent(best, fit_of.parts[index])]
        gain = first.ms / best.ms
        lines.append(f"tile {best.tile} is the quickest that was measured, {gain:.2f}x as fast as tile {first.tile}")
    return lines


def _spent(tile: MeasuredTile, parts: tuple[float, float, float]) -> str:
    total = sum(parts) or 1.0
    compute = parts[0] / total
    verdict = "bound by computing" if compute > 0.5 else "bound by memory"
    shares = f"computing {100 * compute:.1f} %, global to shared {100 * parts[1] / total:.1f} %"
    return f"at tile {tile.tile} it is {verdict}: {shares}, shared to private {100 * parts[2] / total:.1f} %"
