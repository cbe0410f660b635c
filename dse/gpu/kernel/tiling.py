"""Tiling a kernel into shared memory, at the level of its features (CGPredict, sections 3.6 and 4.3).

A tile is as large as the block. Every load of the innermost loop is served from a tile: its warp instructions become
shared reads of the same access class (the class decides the bank conflicts), and each array costs one tile load a tile.
"""

from collections.abc import Iterator
from dataclasses import replace

from dse.gpu.kernel.transpose import index_expressions
from dse.model.kernel import (
    ACCESS_CLASSES,
    LANES,
    SECTOR_BYTES,
    ByClass,
    Kernel,
    KernelFeatures,
    MemoryInstruction,
    SharedMemory,
    WarpWork,
)
from dse.program.ir import ForEach, If, Index, Stmt, While
from dse.program.walk import reads_any


def tiled(kernel: Kernel, features: KernelFeatures) -> KernelFeatures | None:
    """Return the features of the tiled kernel; None where tiling does not help or the form of the kernel forbids it.

    Wanted: two parallel loops, a square block, and loads in one innermost loop that lack the variable of one parallel
    loop (so that the threads of a block share them) and use the variable of the innermost loop.
    """
    in_loop = _served_by_tiles(kernel, features)
    if in_loop is None:
        return None
    width, height, _ = features.block
    tiles = in_loop[0].per_warp / width
    arrays = tuple(dict.fromkeys(m.text for m in in_loop))
    shared = SharedMemory(
        tile_arrays=arrays,
        bytes_per_block=len(arrays) * width * height * features.element_bytes,
        tiles=tiles,
        loads=len(arrays) * tiles,
        reads=_by_class(in_loop),
        sync_instructions=2 * tiles,
    )
    left = [m for m in features.instructions if m not in in_loop]
    return replace(
        features,
        shared=shared,
        per_warp=_by_class(left),
        dram=_misses_of(left),
        instructions=tuple(left),
        cache_accesses=sum(m.accesses for m in left),
        cache_misses=sum(m.misses for m in left),
        warp_work=None if features.warp_work is None else _tiled_work(features.warp_work, width, shared),
    )


def staged(features: KernelFeatures, text: str) -> KernelFeatures:
    """Return the features of a kernel that turns a square of an array around in a tile of its block.

    ``features``: those of the kernel whose access is in order; ``text``: the access. Each thread writes an element of
    the tile and reads another one behind a barrier. The tile has a column to spare, so that no banks conflict.
    """
    width, height, _ = features.block
    work = features.warp_work
    if work is not None:
        work = replace(work, shared_cycles=work.shared_cycles + 2, integer=work.integer + 2, waits=work.waits + 1)
    shared = SharedMemory(
        tile_arrays=(text,),
        bytes_per_block=(width + 1) * height * features.element_bytes,
        tiles=1,
        loads=0,
        reads=ByClass(coalesced=2),
        sync_instructions=1,
    )
    return replace(features, shared=shared, warp_work=work)


def _tiled_work(work: WarpWork, width: int, shared: SharedMemory) -> WarpWork:
    """Return the work of a warp whose innermost loads come from tiles of ``width`` by ``width``.

    A warp loads one element a thread of each tile, a row after the other; its sum stays in a register, since no tile
    can be the same memory. It waits for the loads of each tile and at the barriers around them.
    """
    in_loop = [a for a in work.accesses if not a.is_store]
    trips = max((a.executions for a in in_loop), default=0.0)
    inner = [a for a in in_loop if a.executions == trips]
    rows = LANES / min(width, LANES)
    loads = tuple(
        replace(
            access,
            executions=access.executions / width,
            lines=rows,
            sectors=rows * max(1.0, min(width, LANES) * access.element_bytes / SECTOR_BYTES),
        )
        for access in inner
    )
    others = tuple(a for a in work.accesses if a.executions != trips)
    return replace(
        work,
        accesses=(*loads, *others),
        waits=max(0.0, work.waits - trips) + 2 * shared.tiles,
        shared_cycles=shared.reads.constant + shared.reads.coalesced + LANES * shared.reads.uncoalesced,
    )


def _served_by_tiles(kernel: Kernel, features: KernelFeatures) -> list[MemoryInstruction] | None:
    """Return the loads of the innermost loop, None where the kernel is not of the form that tiles."""
    width, height, depth = features.block
    inner = _only_innermost(kernel.body)
    if features.shared is not None or len(kernel.parallel) != 2 or width != height or depth != 1:
        return None
    if inner is None or not _shared_by_threads(kernel, inner):
        return None
    in_loop = _most_executed(features)
    return in_loop if in_loop and in_loop[0].per_warp >= width and len(in_loop) == len(_moving(inner)) else None


def _most_executed(features: KernelFeatures) -> list[MemoryInstruction]:
    """Return the loads that a warp executes most often: those of the innermost loop."""
    loads = [m for m in features.instructions if not m.is_store and m.storage == "global"]
    trips = max((m.per_warp for m in loads), default=0.0)
    return [m for m in loads if m.per_warp == trips]


def _by_class(instructions: list[MemoryInstruction]) -> ByClass:
    counts = dict.fromkeys(ACCESS_CLASSES, 0.0)
    for m in instructions:
        counts[m.access] += m.per_warp
    return ByClass(**counts)


def _misses_of(instructions: list[MemoryInstruction]) -> ByClass:
    """Return the mean misses of a warp's instruction of each class."""
    misses = dict.fromkeys(ACCESS_CLASSES, 0)
    executions = dict.fromkeys(ACCESS_CLASSES, 0)
    for m in instructions:
        misses[m.access] += m.misses
        executions[m.access] += m.warp_executions
    return ByClass(**{k: misses[k] / executions[k] if executions[k] else 0.0 for k in ACCESS_CLASSES})


def _only_innermost(body: tuple[Stmt, ...]) -> ForEach | None:
    """Return the innermost loop when there is just one and no branch inside it."""
    loops = list(_innermost(body))
    return loops[0] if len(loops) == 1 and not any(isinstance(s, If | While) for s in loops[0].body) else None


def _innermost(body: tuple[Stmt, ...]) -> Iterator[ForEach]:
    for statement in body:
        match statement:
            case ForEach():
                below = list(_innermost(statement.body))
                yield from below or [statement]
            case If(then=then, otherwise=otherwise):
                yield from _innermost(then)
                yield from _innermost(otherwise)
            case While(body=inner):
                yield from _innermost(inner)
            case _:
                pass


def _shared_by_threads(kernel: Kernel, inner: ForEach) -> bool:
    """Whether every load that moves with the loop lacks the variable of a parallel loop."""
    threads = [loop.variable.name for loop in kernel.parallel]
    return not any(all(_has(index, name) for name in threads) for index in _moving(inner))


def _moving(inner: ForEach) -> list[Index]:
    """Return the element reads that move with the loop; the others are accumulators, kept in registers."""
    return [index for index in index_expressions(inner.body) if _has(index, inner.variable.name)]


def _has(index: Index, name: str) -> bool:
    return reads_any(index.indices, {name})
