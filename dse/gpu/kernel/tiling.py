"""Tiling a kernel into shared memory, at the level of its features (CGPredict, sections 3.6 and 4.3).

A tile is as large as the block. Every load of the innermost loop is served from a tile: its warp instructions become
shared reads of the same access class (the class decides the bank conflicts), and each array costs one tile load a tile.
"""

from collections.abc import Iterator
from dataclasses import replace

from dse.gpu.kernel.transpose import index_expressions, mentions
from dse.model.kernel import ByClass, Kernel, KernelFeatures, MemoryInstruction, SharedMemory
from dse.program.ir import ForEach, If, Index, Stmt, While


def tiled(kernel: Kernel, features: KernelFeatures) -> KernelFeatures | None:
    """Return the features of the tiled kernel; None where tiling does not help or the form of the kernel forbids it.

    Wanted: two parallel loops, a square block, and loads in one innermost loop that lack the variable of one parallel
    loop (so that the threads of a block share them) and use the variable of the innermost loop.
    """
    width, height, depth = features.block
    if features.shared is not None or len(kernel.parallel) != 2 or width != height or depth != 1:
        return None
    inner = _only_innermost(kernel.body)
    loads = [m for m in features.instructions if not m.is_store and m.storage == "global"]
    if inner is None or not loads or not _shared_by_threads(kernel, inner):
        return None
    trips = max(m.per_warp for m in loads)
    in_loop = [m for m in loads if m.per_warp == trips]
    if trips < width or len(in_loop) != len(_moving(inner)):
        return None
    tiles = trips / width
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
    misses, executions = _sums(left)
    return replace(
        features,
        shared=shared,
        per_warp=_by_class(left),
        dram=ByClass(**{k: misses[k] / executions[k] if executions[k] else 0.0 for k in misses}),
        instructions=tuple(left),
        cache_accesses=sum(m.accesses for m in left),
        cache_misses=sum(m.misses for m in left),
    )


def _by_class(instructions: list[MemoryInstruction]) -> ByClass:
    counts = {"constant": 0.0, "coalesced": 0.0, "uncoalesced": 0.0}
    for m in instructions:
        counts[m.access] += m.per_warp
    return ByClass(**counts)


def _sums(instructions: list[MemoryInstruction]) -> tuple[dict[str, int], dict[str, int]]:
    misses = {"constant": 0, "coalesced": 0, "uncoalesced": 0}
    executions = dict(misses)
    for m in instructions:
        misses[m.access] += m.misses
        executions[m.access] += m.warp_executions
    return misses, executions


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
    return any(mentions(i, name) for i in index.indices)
