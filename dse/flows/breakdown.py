"""``dse gpu breakdown`` as a function: an OpenCL kernel, measured over tile widths, split into computing and moving."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.errors import OptionError
from dse.flows.tiled_kernels import NestKernel, OpenClKernel, TiledKernel, TiledOptions, predict_tiles
from dse.formats.device_yaml import load_device
from dse.formats.mapping_csv import read_text
from dse.formats.tiles_csv import read_tiles
from dse.frontend.opencl.host import HostProgram, read_host
from dse.frontend.opencl.parse import KernelArgument, declared_names, parse_opencl
from dse.gpu.breakdown.factors import factors
from dse.gpu.breakdown.fit import fit
from dse.gpu.default_device import DEFAULT_MODEL
from dse.measure.opencl import Argument, KernelRun, measure_tiles
from dse.model.breakdown import Breakdown, Factors, KernelCounts, MeasuredTile, Reading, TilePredictions
from dse.model.device import Device

READINGS: tuple[Reading, ...] = ("as_printed", "prose", "rounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Tile widths to run here, and how often each."""

    tiles: tuple[int, ...]
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownOptions:
    """``measured``: a CSV file; ``profile`` instead: the kernel is run here. ``size``: N, or the macro that is.

    ``path``: OpenCL C, or a loop nest in C whose threads are the work-items. ``host``: a C file whose macros, constants
    and arguments of the kernel count like ``defines``, which win. ``operations``: floating-point ones of the whole
    kernel, None: as counted. ``model``: what predicts, beside the split.
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
    model: str = DEFAULT_MODEL

    @property
    def is_nest(self) -> bool:
        """Whether the file is a loop nest in C."""
        return self.path.lower().endswith(".c")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenDown:
    """``counts``, ``factors``: by tile, the latter in the reading of each of ``fits``."""

    device: Device
    size: int
    measured: tuple[MeasuredTile, ...]
    counts: tuple[KernelCounts, ...]
    factors: tuple[tuple[Factors, ...], ...]
    fits: tuple[Breakdown, ...]
    predicted: TilePredictions
    ran_on: str | None = None


def break_down(options: BreakdownOptions) -> BrokenDown:
    """Return the breakdown of a kernel in all readings.

    Raises:
        FormatError, SourceError: a file is wrong. OptionError: a value is missing or does not fit.
        ExecutionError: the kernel cannot be run here.
    """
    device, text = load_device(options.device), read_text(options.path)
    host = None if options.host is None else read_host(options.host, read_text(options.host), dict(options.defines))
    kernel = _tiled_kernel(options, text, host)
    ran_on = None
    if options.profile is not None:
        measured, ran_on = _profiled(options, text, kernel)
    else:
        if options.measured is None:
            raise OptionError("no measured times are given", expected="--measured FILE.csv, or --profile 1,2,4,8")
        measured = read_tiles(options.measured)
    size = kernel.size
    counts = tuple(kernel.counts(tile) for tile in measured)
    pairs = tuple(zip(counts, measured, strict=True))
    terms = tuple(
        tuple(factors(c, m, size, device, reading, total=options.operations) for c, m in pairs) for reading in READINGS
    )
    fits = tuple(fit(of, measured, r, knots=options.knots) for of, r in zip(terms, READINGS, strict=True))
    return BrokenDown(
        device=device,
        size=size,
        measured=measured,
        counts=counts,
        factors=terms,
        fits=fits,
        ran_on=ran_on,
        predicted=predict_tiles(kernel, counts, measured, options.device, options.model),
    )


def _host_values(options: BreakdownOptions, text: str, host: HostProgram) -> dict[str, str]:
    """Return what the host program gives names, but for those that an OpenCL kernel declares itself."""
    own = set() if options.is_nest else set(declared_names(parse_opencl(options.path, text, {}).tree))
    return {name: str(value) for name, value in host.values.items() if name not in own}


def _tiled_kernel(options: BreakdownOptions, text: str, host: HostProgram | None) -> TiledKernel:
    """Return the kernel of the file, by what the file is."""
    defines = {**({} if host is None else _host_values(options, text, host)), **dict(options.defines)}
    if host is not None and host.global_size and options.size not in defines:
        defines[options.size] = str(host.global_size[0])
    chosen = TiledOptions(
        path=options.path,
        text=text,
        kernel=options.kernel,
        defines=tuple(defines.items()),
        tile_macro=options.tile_macro,
        size=options.size,
        arguments=() if host is None else tuple(host.arguments.items()),
    )
    return NestKernel(chosen) if options.is_nest else OpenClKernel(chosen)


def _profiled(options: BreakdownOptions, text: str, kernel: TiledKernel) -> tuple[tuple[MeasuredTile, ...], str]:
    assert options.profile is not None, "only asked for with a profile"
    if not isinstance(kernel, OpenClKernel):
        raise OptionError("--profile runs OpenCL kernels", expected="a file of OpenCL C, or --measured FILE.csv")
    arguments, values = kernel.arguments(), dict(kernel.options.defines)
    found = kernel.counts(MeasuredTile(tile=options.profile.tiles[0], local_size=None, ms=1.0))
    run = KernelRun(
        source=text,
        kernel=found.kernel,
        arguments=tuple(_argument(one, found.kernel, kernel) for one in arguments),
        macros={name: value for name, value in values.items() if name not in {a.name for a in arguments}},
        tile_macro=options.tile_macro,
        size=kernel.size,
        dims=found.dims,
    )
    return measure_tiles(run, options.profile.tiles, options.profile.repeats)


def _argument(given: KernelArgument, kernel: str, source: OpenClKernel) -> Argument:
    """Return an argument with its value. Raises ``OptionError`` for an integer that has none."""
    if given.element_bytes is not None:
        return Argument(name=given.name, element_bytes=given.element_bytes)
    value = source.argument_value(given.name)
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
    return [*lines, *_predicted_lines(found)]


def _predicted_lines(found: BrokenDown) -> list[str]:
    """Return what the model says of the same: what binds the kernel, and what a tile brings."""
    said = found.predicted
    known = [tile for tile in said.tiles if tile is not None]
    if not known:
        return [f"{said.model} predicts nothing here: {said.why}"]
    first, best = known[0], min(known, key=lambda tile: tile.ms)
    lines = [f"{said.model} predicts {best.ms:.4g} ms at tile {best.tile}, bound by {best.bottleneck}: {best.reason}"]
    if best is not first:
        gain = first.ms / best.ms
        lines.append(f"by {said.model} tile {best.tile} is the quickest, {gain:.2f}x as fast as tile {first.tile}")
    if said.tiled_ms is not None:
        lines.append(f"by {said.model} it would take {said.tiled_ms:.4g} ms with this: {said.change}")
    return lines


def _spent(tile: MeasuredTile, parts: tuple[float, float, float]) -> str:
    total = sum(parts) or 1.0
    compute = parts[0] / total
    verdict = "bound by computing" if compute > 0.5 else "bound by memory"
    shares = f"computing {100 * compute:.1f} %, global to shared {100 * parts[1] / total:.1f} %"
    return f"at tile {tile.tile} it is {verdict}: {shares}, shared to private {100 * parts[2] / total:.1f} %"
