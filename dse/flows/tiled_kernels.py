"""Kernels with a macro for the width of their tiles: what they do at a tile, and what a model predicts there.

An OpenCL kernel is counted in its own tree and priced as a loop nest; a loop nest in C gives both by its features.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from dse.base.errors import DseError, OptionError
from dse.base.numbers import integer_from
from dse.flows.gpu import KernelOptions, ModelOptions, PredictOptions, predict
from dse.flows.kernels import TRACE_SIZE_2D, Block, KernelSource
from dse.frontend.opencl.counting import count_kernel
from dse.frontend.opencl.nest import loop_nest, loop_variables
from dse.frontend.opencl.parse import KernelArgument, OpenClFile, arguments_of, parse_opencl
from dse.model.breakdown import KernelCounts, MeasuredTile, PredictedTile, TilePredictions
from dse.model.kernel import LANES, KernelFeatures, MemoryInstruction, TraceMachine

_MOST_SIZE = 1 << 24
_MOST_VALUE = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TiledOptions:
    """A kernel file and its values. ``size``: N, or the macro that is; ``arguments``: of a kernel, by number."""

    path: str
    text: str
    kernel: str | None
    defines: tuple[tuple[str, str], ...]
    tile_macro: str
    size: str
    arguments: tuple[tuple[int, int], ...] = ()


class TiledKernel(Protocol):
    """A kernel of which tiles are measured."""

    @property
    def size(self) -> int:
        """N. Raises ``OptionError`` where nobody says it."""
        ...

    def counts(self, tile: MeasuredTile) -> KernelCounts:
        """Return what a work-item does at a tile. Raises ``DseError`` where that is not known."""
        ...

    def nest(self, tile: MeasuredTile) -> KernelOptions:
        """Return the kernel at a tile as a model reads it. Raises ``DseError`` where there is no such nest."""
        ...


def _size_of(options: TiledOptions, more: Callable[[], Mapping[str, int]]) -> int:
    """Return N; what the file says, ``more``, is asked for only where nobody else tells."""
    given = dict(options.defines).get(options.size, options.size)
    if not given.isdigit():
        given = str(more().get(given, given))
    value = integer_from(given, least=1, most=_MOST_SIZE)
    if value is None:
        name = options.size[:40]
        raise OptionError(
            f"the size '{name}' is not known",
            expected=f"--define {name}=1024, a --host file that says it, or --size with a number to {_MOST_SIZE}",
        )
    return value


def _square(tile: MeasuredTile, dims: int) -> Block:
    """Return the block of a work-group. Raises ``OptionError`` where it is no square of the tile."""
    if tile.local_size not in (None, tile.tile**dims):
        raise OptionError(
            f"the work-group of tile {tile.tile} has {tile.local_size} work-items",
            expected="the tile in each dimension",
        )
    return (tile.tile, tile.tile if dims > 1 else 1, 1)


def _trace_size(tile: int) -> int:
    """Return a size at which tiles come out even."""
    return tile * max(1, TRACE_SIZE_2D // tile)


@dataclass(frozen=True)
class OpenClKernel:
    """A kernel of a file of OpenCL C."""

    options: TiledOptions

    @cached_property
    def _values(self) -> dict[str, int]:
        """Values of names that are whole numbers."""
        known = {n: int(v) for n, v in self.options.defines if re.fullmatch(r"-?\d{1,18}", v)}
        by_number = dict(self.options.arguments)
        names = [argument.name for argument in self.arguments()]
        told = {name: by_number[k] for k, name in enumerate(names) if k in by_number}
        return told | known

    @cached_property
    def size(self) -> int:
        """N: of a macro that is given, or of the file."""
        return _size_of(self.options, lambda: {**self._parsed(1).constants, **self._values})

    def _parsed(self, tile: int) -> OpenClFile:
        defines = {**dict(self.options.defines), self.options.tile_macro: str(tile)}
        return parse_opencl(self.options.path, self.options.text, defines)

    def arguments(self) -> tuple[KernelArgument, ...]:
        """Return the arguments of the kernel."""
        file = self._parsed(1)
        return arguments_of(file, file.function(self.options.kernel).decl.name)

    def argument_value(self, name: str) -> int | None:
        """Return the value of an argument that is an integer, None where nobody says it."""
        return integer_from(str(self._values.get(name, "")), least=-_MOST_VALUE, most=_MOST_VALUE)

    def counts(self, tile: MeasuredTile) -> KernelCounts:
        """Return what a work-item does at a tile."""
        values = {**self._values, self.options.tile_macro: tile.tile}
        return count_kernel(self._parsed(tile.tile), self.options.kernel, values)

    def nest(self, tile: MeasuredTile) -> KernelOptions:
        """Return the kernel as a loop nest with work-groups of a tile."""
        found, options = self.counts(tile), self.options
        names = {argument.name for argument in self.arguments() if argument.element_bytes is None}
        given = {name: value for name, value in self._values.items() if name in names}
        size = options.size if options.size in dict(options.defines) else str(self.size)
        text = loop_nest(options.path, options.text, found.kernel, found.dims, options.tile_macro, size, given)
        defines = {**dict(options.defines), options.tile_macro: str(tile.tile)}
        words = set(re.findall(r"[A-Za-z_]\w*", text))
        return KernelOptions(
            path=options.path,
            text=text,
            function=found.kernel,
            defines=tuple((n, v) for n, v in defines.items() if n in words and n not in names),
            block=_square(tile, found.dims),
            trace_size=_trace_size(tile.tile),
            parallel=loop_variables(found.dims),
        )


@dataclass(frozen=True)
class NestKernel:
    """A loop nest of a C file; its threads are the work-items."""

    options: TiledOptions
    _sources: dict[int, KernelSource] = field(default_factory=dict)

    @cached_property
    def size(self) -> int:
        """N: of a macro that is given, or of the file."""
        return _size_of(self.options, lambda: dict(self._source(1).sizes()))

    def _source(self, tile: int) -> KernelSource:
        if tile not in self._sources:
            self._sources[tile] = self._read(tile)
        return self._sources[tile]

    def _read(self, tile: int) -> KernelSource:
        options = self._at(tile)
        source = KernelSource(options.path, options.defines, options.function, text=options.text)
        if len(source.work()) != 1:
            names = ", ".join(dict.fromkeys(kernel.name for kernel in source.work()))
            raise OptionError(
                f"'{options.path}' has several kernels: {names}", expected="--kernel FUNCTION with one nest"
            )
        return source

    def _at(self, tile: int) -> KernelOptions:
        words = set(re.findall(r"[A-Za-z_]\w*", self.options.text))
        defines = {**dict(self.options.defines), self.options.tile_macro: str(tile)}
        return KernelOptions(
            path=self.options.path,
            text=self.options.text,
            function=self.options.kernel,
            defines=tuple((name, value) for name, value in defines.items() if name in words),
        )

    def counts(self, tile: MeasuredTile) -> KernelCounts:
        """Return what a thread does at a tile, by the analysis that models use."""
        source, options = self._source(tile.tile), self.nest(tile)
        (work,) = source.work()
        (trace,) = source.traced(_trace_size(tile.tile))
        return _counts_of(source.features(work, trace, options.block, TraceMachine()))

    def nest(self, tile: MeasuredTile) -> KernelOptions:
        """Return the nest with blocks of a tile."""
        (work,) = self._source(tile.tile).work()
        block = _square(tile, min(2, len(work.parallel)))
        return replace(self._at(tile.tile), block=block, trace_size=_trace_size(tile.tile))


def _counts_of(features: KernelFeatures) -> KernelCounts:
    """Return what a thread does: the instructions of its innermost loop, in elements and operations."""

    def moved(wanted: Callable[[MemoryInstruction], bool]) -> int:
        return round(sum(one.per_warp for one in features.instructions if wanted(one)))

    mix = features.mix
    loaded = moved(lambda one: one.tile_load)
    return KernelCounts(
        kernel=features.kernel,
        dims=min(2, len(features.extents)),
        operations=round(mix.add + mix.mul + 2 * mix.fma),
        global_to_local=loaded,
        local_to_private=moved(lambda one: one.storage == "shared" and not one.is_store),
        private_to_local=max(0, moved(lambda one: one.storage == "shared" and one.is_store) - loaded),
        global_to_private=moved(lambda one: one.storage == "global" and not one.is_store and not one.tile_load),
        private_to_global=moved(lambda one: one.storage == "global" and one.is_store),
        local_bytes=0 if features.shared is None else features.shared.bytes_per_block,
        notes=features.notes,
    )


def predict_tiles(
    kernel: TiledKernel, counts: Sequence[KernelCounts], tiles: Sequence[MeasuredTile], device: str, model: str
) -> TilePredictions:
    """Return what a model predicts at each tile. Raises ``OptionError`` for an unknown model."""
    chosen = ModelOptions(name=model)
    chosen.load()
    found: list[PredictedTile | None] = []
    why: str | None = None
    for tile in tiles:
        try:
            given = predict(PredictOptions(kernels=kernel.nest(tile), device=device, model=chosen, advice=False))
        except DseError as error:
            found.append(None)
            why = why or _reason(error)
            continue
        cost = given.longest.cost
        found.append(
            PredictedTile(tile=tile.tile, ms=1e3 * given.time_s, bottleneck=cost.bottleneck, reason=cost.reason)
        )
    untiled = any(found) and not any(one.local_bytes for one in counts)
    tiled_ms, change = _tiled(kernel, tiles[0], device, chosen) if untiled else (None, "")
    return TilePredictions(model=model, tiles=tuple(found), why=why, tiled_ms=tiled_ms, change=change)


def _tiled(kernel: TiledKernel, tile: MeasuredTile, device: str, model: ModelOptions) -> tuple[float | None, str]:
    """Return the time of a kernel without tiles once it had some, and what to change; None where none help."""
    wide = replace(tile, tile=LANES, local_size=None)
    try:
        given = predict(PredictOptions(kernels=kernel.nest(wide), device=device, model=model))
    except DseError:
        return None, ""  # why is told where tiles that were measured have no answer either
    best = next((one for one in given.longest.advice if one.kind == "tile"), None)
    return (None, "") if best is None else (1e3 * best.cost.time_s, best.text)


def _reason(error: DseError) -> str:
    """Return what an error says first, with its line."""
    first = error.first_error
    return f"{first.message} (line {first.span.line})" if first.span.line else first.message
