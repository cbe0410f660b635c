"""The bytes that a kernel moves between L2 and DRAM, counted from the strides of its accesses.

What a launch reads are the distinct sectors of all its blocks; those that are resident at once (a wave) read theirs
again where L2 cannot keep them for the next wave. That a wave has its misses on their way together is the idea of MDM
(Wang et al., MICRO 2020). What it writes goes to DRAM once: L2 is written back, whole sectors or parts, and fetches
none of what a store covers.
"""

import math
from dataclasses import dataclass, replace

from dse.model.kernel import LANES, LINE_BYTES, SECTOR_BYTES, KernelFeatures, Stride, WarpAccess, WarpWork

BURST_BYTES = 64
"""What DRAM moves for a single sector: a burst of GDDR5X and GDDR6. An assumption for other memories."""
KEPT = 0.7
"""The share of L2 that keeps what is used again. An assumption."""
DRIFT = 0.1
"""How far apart the blocks of a wave are in their loops, as a share of all rounds.

An assumption, chosen with docs/gpu-truth.md in sight.
"""
STEEPNESS = 4.0
"""How sharply a cache that is too small starts to miss."""


def dram_bytes(features: KernelFeatures, work: WarpWork, l2_bytes: float, wave: int, launches: int) -> float:
    """Return the bytes that one launch moves between DRAM and L2. ``wave``: blocks that the device holds at once.

    Copies of the grid share nothing, and L2 is divided among them.
    """
    copies = features.copies
    l2, wave = l2_bytes / copies, -(-wave // copies)
    shared = tuple(a for a in work.accesses if not a.private)
    grid = _Box.of_grid(features)
    used = _touched(shared, grid)
    moved = sum(_touched(tuple(a for a in shared if a.is_store is stores), grid) for stores in (False, True))
    moved += missing(used, l2) * max(0.0, _of_waves(features, shared, wave, l2) - used)
    moved += _thrashed(features, work, wave, l2)
    moved *= missing(used, KEPT * l2) if launches > 1 else 1.0
    return copies * (moved + _of_local_memory(features, work, wave, l2))


def _of_waves(features: KernelFeatures, shared: tuple[WarpAccess, ...], wave: int, l2: float) -> float:
    """Return the distinct bytes of each wave, those of all waves together.

    Blocks that follow each other in x start together and share what they read. Those of other rows of the grid started
    at other times and are at other rounds of their loops, so that they share only what L2 keeps.
    """
    blocks, in_row = features.blocks // features.copies, _blocks_in_row(features, wave)
    marching = tuple(a for a in shared if any(s.axis == "loop" for s in a.strides or ()))
    standing = tuple(a for a in shared if a not in marching)
    by_waves = blocks / wave * _touched(standing, _Box.of_wave(features, wave))
    together = blocks / wave * _touched(marching, _Box.of_wave(features, wave))
    apart = blocks / in_row * _touched(marching, _Box.of_wave(features, in_row))
    return by_waves + together + _out_of_step(features, shared, wave, l2) * max(0.0, apart - together)


def _out_of_step(features: KernelFeatures, shared: tuple[WarpAccess, ...], wave: int, l2: float) -> float:
    """Return how far the rows of blocks of a wave miss in L2 what the other rows fetched, as a share.

    The first and the last of them are a share ``DRIFT`` of their rounds apart; what all of them touch meanwhile must
    fit.
    """
    return missing(_in_drift(shared, _Box.of_wave(features, wave), unit=SECTOR_BYTES), l2)


def _in_drift(accesses: tuple[WarpAccess, ...], box: "_Box", *, unit: int) -> float:
    """Return the distinct bytes that the threads of a box touch in a share ``DRIFT`` of their rounds."""
    return _touched(tuple(replace(a, strides=_drifted(a.strides)) for a in accesses), box, unit=unit)


def _drifted(strides: tuple[Stride, ...] | None) -> tuple[Stride, ...] | None:
    """Return strides with a share of the rounds: those of the outermost loop, then of the next."""
    if strides is None:
        return None
    left, found = DRIFT, []
    for stride in reversed(strides):
        if stride.axis == "loop":
            count = max(1.0, stride.count * left)
            left *= stride.count / count
            stride = replace(stride, count=count)
        found.append(stride)
    return tuple(reversed(found))


def _of_local_memory(features: KernelFeatures, work: WarpWork, resident: int, l2: float) -> float:
    """Return the bytes of the threads' own arrays that L2 does not hold. ``resident``: blocks, which reuse the same."""
    own = [a for a in work.accesses if a.private]
    size = features.block_threads * sum({a.array: a.array_bytes for a in own}.values())
    warps = features.threads / features.machine.warp_lanes
    sectors = sum(a.executions * a.sectors for a in own)
    return missing(float(size * resident), l2) * warps * sectors * SECTOR_BYTES


def _blocks_in_row(features: KernelFeatures, resident: int) -> int:
    """Return how many resident blocks stand beside each other in x."""
    return min(resident, -(-features.extents[0] // features.block[0])) if features.extents else 1


def missing(size: float, cache: float) -> float:
    """Return the share of uses that miss in a cache of which ``size`` bytes are in use: a smooth step at its size."""
    return 1 / (1 + (cache / size) ** STEEPNESS) if size > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Box:
    """Threads in x, y and z."""

    x: float
    y: float
    z: float

    @classmethod
    def of_grid(cls, features: KernelFeatures) -> "_Box":
        """Return all threads."""
        return cls(*(float(n) for n in (*features.extents, 1, 1, 1)[:3]))

    @classmethod
    def of_wave(cls, features: KernelFeatures, resident: int) -> "_Box":
        """Return the threads of some consecutive blocks, x first."""
        extents = (*features.extents, 1, 1, 1)[:3]
        sizes, left = [], float(resident)
        for extent, edge in zip(extents, features.block, strict=True):
            sizes.append(min(float(extent), max(1.0, left) * edge))
            left = max(1.0, left / max(1, -(-extent // edge)))
        return cls(*sizes)

    def count(self, stride: Stride) -> float:
        """Return the steps along an axis."""
        match stride.axis:
            case "x":
                return min(self.x, stride.count)
            case "y":
                return min(self.y, stride.count)
            case "z":
                return min(self.z, stride.count)
            case "loop":
                return stride.count


def _touched(accesses: tuple[WarpAccess, ...], box: _Box, *, at_once: bool = False, unit: int = SECTOR_BYTES) -> float:
    """Return the distinct bytes of all accesses of the threads in a box, in whole sectors.

    Accesses of an array with the same strides, as those of a stencil, touch the same. ``at_once``: in one round of all
    loops, in whole lines.
    """
    found: dict[tuple[str, tuple[Stride, ...] | None], float] = {}
    sizes: dict[str, float] = {}
    for access in accesses:
        key = access.array, None if access.strides is None else tuple(s for s in access.strides if s.bytes)
        found[key] = max(found.get(key, 0.0), _bytes_of(access, box, at_once=at_once, unit=unit))
        sizes[access.array] = float(access.array_bytes)
    by_array = dict.fromkeys(sizes, 0.0)
    for (array, _), size in found.items():
        by_array[array] += size
    return sum(min(size, sizes[array]) for array, size in by_array.items())


def _bytes_of(access: WarpAccess, box: _Box, *, at_once: bool, unit: int = SECTOR_BYTES) -> float:
    """Return the distinct bytes of an access: runs of neighbouring bytes, times the strides too long to join them."""
    if access.strides is None:
        return _bytes_at_most(access, box, at_once=at_once)
    unit = LINE_BYTES if at_once else unit
    run, pieces = float(access.element_bytes), 1.0
    moving = [s for s in access.strides if s.bytes and not (at_once and s.axis == "loop")]
    for stride in sorted(moving, key=lambda s: abs(s.bytes)):
        step, count = abs(stride.bytes), box.count(stride)
        if step <= max(run, unit) and pieces == 1.0:
            run += step * (count - 1)
        else:
            pieces *= count
    size = min(float(access.array_bytes), pieces * math.ceil(run / unit) * unit)
    return min(size, _bytes_at_most(access, box, at_once=at_once))


def _bytes_at_most(access: WarpAccess, box: _Box, *, at_once: bool) -> float:
    """Return the bytes of the sectors (or lines) of all executions, the most that an access touches of its array."""
    warps = max(1.0, box.x * box.y * box.z / LANES)
    each = access.lines * LINE_BYTES if at_once else access.executions * access.sectors * SECTOR_BYTES
    return min(float(access.array_bytes), warps * each)


def _thrashed(features: KernelFeatures, work: WarpWork, resident: int, l2: float) -> float:
    """Return the bytes that come again because lines do not live in L2 until the next round of a loop uses them.

    ``resident``: blocks on the device. Each row of them has lines of its own alive.
    """
    in_row = _blocks_in_row(features, resident)
    row = _Box.of_wave(features, in_row)
    apart = resident / in_row * _touched(work.accesses, row, at_once=True)
    share = missing(min(apart, _in_drift(work.accesses, _Box.of_wave(features, resident), unit=LINE_BYTES)), l2)
    extra = sum(_fetched_again(access, row) for access in work.accesses if not access.private)
    return share * features.blocks / features.copies / in_row * extra


def _fetched_again(access: WarpAccess, row: _Box) -> float:
    """Return the bytes that a row of blocks fetches again where each round of a loop finds its line gone."""
    inner = access.strides[0] if access.strides else None
    if inner is None or inner.axis != "loop" or not 0 < abs(inner.bytes) < SECTOR_BYTES:
        return 0.0
    lines = _bytes_of(access, row, at_once=True) / LINE_BYTES
    rounds = math.prod(s.count for s in access.strides or () if s.axis == "loop")
    return max(0.0, lines * rounds * BURST_BYTES - _bytes_of(access, row, at_once=False))
