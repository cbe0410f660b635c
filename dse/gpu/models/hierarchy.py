"""The memory hierarchy of a card, level by level: what a kernel asks of each part, and which parts limit its time.

Each part of the device serves what the warps ask of it at its own rate, and a warp waits for its own loads. The demand
(``demand_of``) is counted from the kernel alone and the facts of the device; the rates (``Rates``) price it:

* Load-store unit, of each multiprocessor: lines of 128 and sectors of 32 bytes of each warp access. That an access
  takes this unit as often as it has distinct lines or sectors is the memory structural stall of GCoM (Lee et al., ISCA
  2022). Shared memory takes it a cycle for each bank conflict.
* L2 cache, of the whole device: sectors that stores write, entirely or in part.
* DRAM: bytes through the caches against the bandwidth, as in the roofline (Williams et al., CACM 52(4), 2009); the
  bytes are distinct sectors of the blocks that are resident at once (a wave), again for each wave where L2 cannot keep
  them. The batches of misses that a wave has on its way at once are the idea of MDM (Wang et al., MICRO 2020).
* Latency: the loads of one warp that wait for each other, times the waves of resident blocks: the latency-bound leg of
  the occupancy roofline (Lemeire et al., PDP 2016; Volkov, UCB/EECS-2016-143).
* Issue slots and arithmetic units at their rates: as in PPT-GPU (Arafa et al., SC 2021) and the computational
  structural stalls of GCoM, for float, double and special functions apart.

The parts work at the same time. ``time = (sum t_i ** P) ** (1 / P)`` is between their maximum (perfect overlap) and
their sum (none). Multiprocessors run whole blocks, and the busiest one decides, which GCoM calls idle stalls; blocks
that are replaced drain. P, and the form of both, are ours. No equation here is copied: each is written for what can be
counted from the source, without a compiler or a simulator.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import attrgetter

from dse.gpu.models.residence import Residence, least_residence, too_large
from dse.gpu.models.seam import refuse
from dse.model.device import Device
from dse.model.kernel import LINE_BYTES, SECTOR_BYTES, KernelFeatures, Stride, WarpAccess, WarpWork
from dse.model.kernel_cost import Applicability, Bottleneck, KernelCost, PartCost

_NAME = "hierarchy"
LANES = 32
BURST_BYTES = 64
"""What DRAM moves for a single sector: a burst of GDDR5X and GDDR6. An assumption for other memories."""
REGISTERS = 32
"""Registers of a thread, where nobody compiled it: what small kernels of PolyBench have. An assumption."""
OVERLAP = 16.0
"""Loads of a loop without stores that are on their way at once: compilers unroll such loops. An assumption."""
P = 2.0
"""Of the soft maximum."""
DRAIN_CYCLES = 200.0
"""Of replacing a block while the others of its multiprocessor run, divided by their number squared. Fitted, our own."""
KEPT = 0.7
"""The share of L2 that keeps what is used again. An assumption."""
_EVENED_OUT = 4
"""Blocks of the busiest multiprocessor, in those that it holds at once, above which its share is the mean of all."""
STEEPNESS = 4.0
"""How sharply a cache that is too small starts to miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one launch asks of each part. The first four are of the busiest multiprocessor, the next of the device."""

    load_lines: float
    load_sectors: float
    store_lines: float
    shared_cycles: float
    whole_sectors: float
    partial_sectors: float
    lone_sectors: float
    waits: float
    """Latencies that the slowest chain of resident warps waits for, one after the other."""
    dram_bytes: float
    issue_cycles: float
    """Of the busiest multiprocessor, by its fullest unit."""
    drain_cycles: float
    blocks: int
    resident_blocks: int
    resident_warps: int
    waves: float
    limit: str
    """What limits the resident blocks, in words."""
    unit: str
    """The fullest unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The constants that price a demand, in cycles; the names are those of Device. ``bytes_per_cycle``: of the DRAM."""

    load_line_cycles: float
    load_sector_cycles: float
    store_line_cycles: float
    store_whole_cycles: float
    store_partial_cycles: float
    store_lone_cycles: float
    latency_memory_cycles: float
    dram_efficiency: float
    bytes_per_cycle: float

    @classmethod
    def of(cls, device: Device) -> "Rates":
        """Return those of a device. Raises ``FormatError`` for one that lacks a constant."""
        own = {name: device.require(name, _NAME) for name in RATES}
        return cls(**own, bytes_per_cycle=device.require("dram_bandwidth_gb_s", _NAME) * 1e9 / device.clock_hz)

    def in_device(self, device: Device) -> Device:
        """Return a device with these rates, its bandwidth apart."""
        return replace(device, **{name: getattr(self, name) for name in RATES})


RATES: tuple[str, ...] = tuple(f.name for f in fields(Rates) if f.name != "bytes_per_cycle")
"""The rates that are fields of ``Device``, by their names there."""


def part_cycles(demand: Demand, rates: Rates) -> tuple[float, float, float, float, float]:
    """Return the cycles of load-store unit, L2, DRAM, latency and issue, each as if it were alone."""
    return (
        demand.load_lines * rates.load_line_cycles
        + demand.load_sectors * rates.load_sector_cycles
        + demand.store_lines * rates.store_line_cycles
        + demand.shared_cycles,
        demand.whole_sectors * rates.store_whole_cycles
        + demand.partial_sectors * rates.store_partial_cycles
        + demand.lone_sectors * rates.store_lone_cycles,
        demand.dram_bytes / (rates.bytes_per_cycle * rates.dram_efficiency),
        demand.waits * rates.latency_memory_cycles,
        demand.issue_cycles,
    )


def total_cycles(demand: Demand, rates: Rates) -> float:
    """Return the cycles of a launch."""
    together = sum(cycles**P for cycles in part_cycles(demand, rates)) ** (1 / P)
    return float(together) + demand.drain_cycles


def residence(features: KernelFeatures, device: Device) -> Residence:
    """Return how many blocks fit: the occupancy rules of the CUDA C Programming Guide, with registers."""
    warps = _warps_of_a_block(features, device)
    threads = int(device.require("threads_per_sm", _NAME))
    registers = int(device.require("registers_per_sm", _NAME))
    own = (
        (threads // device.warp // warps, "threads a multiprocessor"),
        (registers // (REGISTERS * device.warp * warps), "registers"),
    )
    return least_residence(features, device, _NAME, own)


def _warps_of_a_block(features: KernelFeatures, device: Device) -> int:
    return -(-features.block_threads // device.warp)


def demand_of(features: KernelFeatures, device: Device, launches: int = 1) -> Demand:
    """Return what one of ``launches`` launches asks of the parts of a device."""
    work = features.warp_work
    assert work is not None, "the caller asks for the work of a warp"
    room, sms, blocks = residence(features, device), device.sms, features.blocks
    most = -(-blocks // sms)  # of the busiest multiprocessor
    uneven = most * sms / blocks if most <= _EVENED_OUT * room.blocks else 1.0
    warps = uneven * blocks * _warps_of_a_block(features, device) * work.active
    mine = warps / sms
    loads = [a for a in work.accesses if not a.is_store]
    stores = [a for a in work.accesses if a.is_store]
    waves = math.ceil(blocks / (room.blocks * sms))
    cycles, unit = _busiest_unit(work, device)
    return Demand(
        load_lines=mine * _sum(loads, attrgetter("lines")),
        load_sectors=mine * _sum(loads, attrgetter("sectors")),
        store_lines=mine * _sum(stores, attrgetter("lines")),
        shared_cycles=mine * work.shared_cycles,
        whole_sectors=warps * _sum(stores, attrgetter("whole")),
        partial_sectors=warps * _sum(stores, attrgetter("partial")),
        lone_sectors=warps * _sum(stores, attrgetter("lone")),
        waits=waves * _waits_of_a_warp(work, device),
        dram_bytes=_dram_bytes(features, work, device, min(blocks, room.blocks * sms), launches),
        issue_cycles=mine * cycles,
        # a cycle to start each block, and the gaps where one takes the place of another
        drain_cycles=most + (DRAIN_CYCLES * most / room.blocks**2 if blocks > room.blocks * sms else 0.0),
        blocks=blocks,
        resident_blocks=min(room.blocks, most),
        resident_warps=min(room.blocks, most) * _warps_of_a_block(features, device),
        waves=waves,
        limit=room.limit if most > room.blocks else "blocks of the kernel",
        unit=unit,
    )


def _sum(accesses: list[WarpAccess], count: Callable[[WarpAccess], float]) -> float:
    """Return what all executions of accesses by one warp touch together."""
    return sum(a.executions * count(a) for a in accesses)


def _waits_of_a_warp(work: WarpWork, device: Device) -> float:
    """Return the latencies of memory that one warp waits for, one after the other; local memory answers from L2."""
    found = work.waits + work.streams / OVERLAP
    if work.local_waits:
        latency = device.require("latency_l2_cycles", _NAME) / device.require("latency_memory_cycles", _NAME)
        found += work.local_waits * latency
    return found


def _busiest_unit(work: WarpWork, device: Device) -> tuple[float, str]:
    """Return the cycles of the unit of a multiprocessor that one warp's instructions take longest, and its name."""
    lanes = float(device.warp)
    units = (
        (work.instructions / device.require("issue_per_cycle", _NAME), "issue slots"),
        ((work.fp32 + work.integer) * lanes / device.require("fp32_lanes", _NAME), "float units"),
        (work.fp64 * lanes / device.require("fp64_lanes", _NAME), "double units"),
        (work.special * lanes / device.require("special_lanes", _NAME), "special function units"),
    )
    return max(units)


# DRAM -----------------------------------------------------------------------------------------------------------------


def _dram_bytes(features: KernelFeatures, work: WarpWork, device: Device, resident: int, launches: int) -> float:
    """Return the bytes that one launch moves between DRAM and L2. ``resident``: blocks of a wave on the device.

    Blocks that follow each other in x start together and share what they read. Those of other rows of the grid started
    at other times and are at other rounds of their loops, so that they share only what L2 keeps. Copies of the grid
    share nothing, and L2 is divided among them.
    """
    copies = features.copies
    l2, blocks, resident = device.require("l2_bytes", _NAME) / copies, features.blocks // copies, -(-resident // copies)
    shared = tuple(a for a in work.accesses if not a.private)
    marching = tuple(a for a in shared if any(s.axis == "loop" for s in a.strides or ()))
    standing = tuple(a for a in shared if a not in marching)
    cold = _touched(shared, _Box.of_grid(features))
    by_waves = blocks / resident * _touched(standing, _Box.of_wave(features, resident))
    in_row = _blocks_in_row(features, resident)
    by_rows = blocks / in_row * _touched(marching, _Box.of_wave(features, in_row))
    moved = cold + _missing(cold, l2) * max(0.0, by_waves + by_rows - cold) + _thrashed(features, work, resident, l2)
    moved *= _missing(cold, KEPT * l2) if launches > 1 else 1.0
    return copies * (moved + _of_local_memory(features, work, resident, l2))


def _of_local_memory(features: KernelFeatures, work: WarpWork, resident: int, l2: float) -> float:
    """Return the bytes of the threads' own arrays that L2 does not hold. ``resident``: blocks, which reuse the same."""
    own = [a for a in work.accesses if a.private]
    size = features.block_threads * sum({a.array: a.array_bytes for a in own}.values())
    warps = features.threads / LANES
    sectors = sum(a.executions * a.sectors for a in own)
    return _missing(float(size * resident), l2) * warps * sectors * SECTOR_BYTES


def _blocks_in_row(features: KernelFeatures, resident: int) -> int:
    """Return how many resident blocks stand beside each other in x."""
    return min(resident, -(-features.extents[0] // features.block[0])) if features.extents else 1


def _missing(size: float, cache: float) -> float:
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


def _touched(accesses: tuple[WarpAccess, ...], box: _Box, *, at_once: bool = False) -> float:
    """Return the distinct bytes of all accesses of the threads in a box, in whole sectors.

    Accesses of an array with the same strides, as those of a stencil, touch the same. ``at_once``: in one round of all
    loops, in whole lines.
    """
    found: dict[tuple[str, tuple[Stride, ...] | None], float] = {}
    sizes: dict[str, float] = {}
    for access in accesses:
        key = access.array, None if access.strides is None else tuple(s for s in access.strides if s.bytes)
        found[key] = max(found.get(key, 0.0), _bytes_of(access, box, at_once=at_once))
        sizes[access.array] = float(access.array_bytes)
    by_array = dict.fromkeys(sizes, 0.0)
    for (array, _), size in found.items():
        by_array[array] += size
    return sum(min(size, sizes[array]) for array, size in by_array.items())


def _bytes_of(access: WarpAccess, box: _Box, *, at_once: bool) -> float:
    """Return the distinct bytes of an access: runs of neighbouring bytes, times the strides too long to join them."""
    if access.strides is None:
        return float(access.array_bytes)
    unit = LINE_BYTES if at_once else SECTOR_BYTES
    run, pieces = float(access.element_bytes), 1.0
    moving = [s for s in access.strides if s.bytes and not (at_once and s.axis == "loop")]
    for stride in sorted(moving, key=lambda s: abs(s.bytes)):
        step, count = abs(stride.bytes), box.count(stride)
        if step <= max(run, unit) and pieces == 1.0:
            run += step * (count - 1)
        else:
            pieces *= count
    return min(float(access.array_bytes), pieces * math.ceil(run / unit) * unit)


def _thrashed(features: KernelFeatures, work: WarpWork, resident: int, l2: float) -> float:
    """Return the bytes that come again because lines do not live in L2 until the next round of a loop uses them.

    ``resident``: blocks on the device. Each row of them has lines of its own alive.
    """
    in_row = _blocks_in_row(features, resident)
    row = _Box.of_wave(features, in_row)
    missing = _missing(resident / in_row * _touched(work.accesses, row, at_once=True), l2)
    extra = sum(_fetched_again(access, row) for access in work.accesses if not access.private)
    return missing * features.blocks / features.copies / in_row * extra


def _fetched_again(access: WarpAccess, row: _Box) -> float:
    """Return the bytes that a row of blocks fetches again where each round of a loop finds its line gone."""
    inner = access.strides[0] if access.strides else None
    if inner is None or inner.axis != "loop" or not 0 < abs(inner.bytes) < SECTOR_BYTES:
        return 0.0
    lines = _bytes_of(access, row, at_once=True) / LINE_BYTES
    rounds = math.prod(s.count for s in access.strides or () if s.axis == "loop")
    return max(0.0, lines * rounds * BURST_BYTES - _bytes_of(access, row, at_once=False))


# The seam -------------------------------------------------------------------------------------------------------------


class Hierarchy:
    """The model behind the seam."""

    name = _NAME
    paper = "own, from GCoM (2022), MDM (2020), PPT-GPU (2021), the occupancy roofline (2016)"
    constants: tuple[str, ...] = (
        *RATES,
        *("dram_bandwidth_gb_s", "l2_bytes", "threads_per_sm", "blocks_per_sm", "registers_per_sm"),
        *("issue_per_cycle", "fp32_lanes", "fp64_lanes", "special_lanes", "kernel_start_us"),
    )

    def applies(self, features: KernelFeatures, device: Device) -> Applicability:
        """Return whether one block fits on a multiprocessor and the kernel has work for a warp."""
        crowded = too_large(features, device, residence(features, device))
        if crowded:
            return Applicability(applies=False, reason=crowded)
        if features.warp_work is None or features.warp_work.instructions <= 0:
            return Applicability(applies=False, reason="it executes no instruction")
        return Applicability(applies=True)

    def predict(self, features: KernelFeatures, device: Device) -> KernelCost:
        """Return the predicted cost of one launch of a kernel."""
        refuse(self, features, device)
        rates, demand = Rates.of(device), demand_of(features, device, features.launches)
        parts = part_cycles(demand, rates)
        start_s = device.require("kernel_start_us", _NAME) * 1e-6
        time_s = total_cycles(demand, rates) / device.clock_hz + start_s
        bottleneck, reason = _why(demand, parts, int(device.require("threads_per_sm", _NAME)) // device.warp)
        return KernelCost(
            model=self.name,
            kernel=features.kernel,
            device=device.name,
            time_s=time_s,
            cycles=time_s * device.clock_hz,
            bottleneck=bottleneck,
            reason=reason,
            resident_blocks=demand.resident_blocks,
            resident_warps=demand.resident_warps,
            blocks=features.blocks,
            batch=demand.waves,
            l2_miss_rate=features.miss_rate,
            parts=tuple(
                PartCost(part=part, time_s=cycles / device.clock_hz) for part, cycles in zip(_PARTS, parts, strict=True)
            ),
            notes=(*features.notes, f"{REGISTERS} registers a thread are assumed"),
            start_cycles=start_s * device.clock_hz,
            warp_wait_cycles=demand.waits / demand.waves * rates.latency_memory_cycles,
        )


MODEL = Hierarchy()
_PARTS = ("load-store units", "stores in L2", "DRAM bandwidth", "latency", "arithmetic and issue")
_KINDS: tuple[Bottleneck, ...] = ("memory", "memory", "memory", "parallelism", "compute")


def _why(demand: Demand, parts: tuple[float, ...], most_warps: int) -> tuple[Bottleneck, str]:
    """Return the part that takes longest, and what the others take of its time, in words.

    Latency is a lack of parallelism only where a multiprocessor could hold more warps, ``most_warps`` at most.
    """
    first = max(range(len(parts)), key=lambda k: parts[k])
    words = (
        "lines and sectors of its accesses",
        "sectors that it writes",
        f"{demand.dram_bytes / 1e6:.4g} MB",
        f"{demand.waits:.4g} loads that wait for each other",
        demand.unit,
    )
    others = ", ".join(
        f"{name} {100 * cycles / (parts[first] or 1.0):.0f} %"
        for k, (name, cycles) in enumerate(zip(_PARTS, parts, strict=True))
        if k != first and cycles > 0.005 * parts[first]
    )
    held = f"{demand.resident_warps} resident warps (limited by {demand.limit})"
    beside = f"; in proportion to it {others}" if others else ""
    full = demand.resident_warps >= most_warps
    kind = "memory" if full and _KINDS[first] == "parallelism" else _KINDS[first]
    return kind, f"the most time goes to {_PARTS[first]}: {words[first]}; {held}{beside}"
