"""The memory hierarchy of a card, level by level: what a kernel asks of each part, and which parts limit its time.

Each part of the device serves what the warps ask of it at its own rate, and a warp waits for its own loads. The demand
(``demand_of``) is counted from the kernel alone and the facts of the device; the rates (``Rates``) price it:

* Load-store unit, of each multiprocessor: lines of 128 and sectors of 32 bytes of each warp access. That an access
  takes this unit as often as it has distinct lines or sectors is the memory structural stall of GCoM (Lee et al., ISCA
  2022). Shared memory takes it a cycle for each bank conflict.
* L2 cache, of the whole device: sectors that stores write, entirely or in part.
* DRAM: bytes through the caches against the bandwidth, as in the roofline (Williams et al., CACM 52(4), 2009), counted
  in ``dse.gpu.models.dram``.
* Latency: the loads of one warp that wait for each other, times the waves of resident blocks: the latency-bound leg of
  the occupancy roofline (Lemeire et al., PDP 2016; Volkov, UCB/EECS-2016-143); which cache answers them is found in
  ``dse.gpu.models.waiting``.
* Issue slots and arithmetic units at their rates: as in PPT-GPU (Arafa et al., SC 2021) and the computational
  structural stalls of GCoM, for float, double and special functions apart.

The parts work at the same time. ``time = (sum t_i ** P) ** (1 / P)`` is between their maximum (perfect overlap) and
their sum (none). Multiprocessors run whole blocks, and the busiest one decides, which GCoM calls idle stalls. While it
replaces a block its load-store unit has less to do, and others go on using L2 and DRAM. P, and the form of both, are
ours. No equation here is copied: each is written for what can be counted from the source, without a compiler or a
simulator.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Literal, TypeAlias

from dse.base.errors import OptionError
from dse.gpu.models.dram import dram_bytes
from dse.gpu.models.residence import Residence, least_residence, too_large
from dse.gpu.models.seam import refuse
from dse.gpu.models.waiting import waiting_of
from dse.model.device import Device
from dse.model.kernel import KernelFeatures, WarpAccess, WarpWork
from dse.model.kernel_cost import Applicability, Bottleneck, KernelCost, PartCost

_NAME = "hierarchy"
REGISTERS = 32
"""Registers of a thread, where nobody compiled it: what small kernels of PolyBench have. An assumption."""
P = 2.0
"""Of the soft maximum."""
DRAIN_CYCLES = 200.0
"""Of replacing a block while the others of its multiprocessor run, divided by their number squared. Fitted, our own."""
FILLING = 16
"""Multiprocessors whose stores fill L2; fewer cannot. An assumption, chosen with docs/gpu-truth.md in sight."""
_EVENED_OUT = 4
"""Blocks of the busiest multiprocessor, in those that it holds at once, above which its share is the mean of all."""


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
    """Latencies of the memory that the slowest chain of resident warps waits for, one after the other."""
    near_cycles: float
    """The same of the caches, in cycles."""
    line_waits: float
    """Lines behind the first one of their load that the same chain waits for."""
    dram_bytes: float
    gap_cycles: float
    """Of the busiest multiprocessor, while one block takes the place of another."""
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
    loads_in_turn: float = 0.0
    """Loads of the same chain that wait for each other, wherever their data are; told, not priced."""


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
    delay_l2_cycles: float
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


_OF_L1 = ("l1.bytes", "latency_cycles.l1")
SECTOR_OF_L2_CYCLES = 1.0
"""Of a sector between L2 and a multiprocessor, at 32 bytes a cycle: the rule of the device files."""


def bypassing_l1(device: Device) -> Device:
    """Return a device whose loads do not look into L1, as ``nvcc -Xptxas -dlcm=cg`` makes them.

    They bring sectors, not lines (CUDA C Programming Guide, compute capability 2.x), each from L2.
    """
    sector = max(device.require("load_sector_cycles", _NAME), SECTOR_OF_L2_CYCLES)
    origins = tuple(o for o in device.origins if o.key not in _OF_L1)
    return replace(device, l1_bytes=None, latency_l1_cycles=None, load_sector_cycles=sector, origins=origins)


GlobalLoads: TypeAlias = Literal["ca", "cg"]
"""What ``nvcc -Xptxas -dlcm`` says: loads of global memory look into all caches, or not into L1."""


def compiled_with(device: Device, loads: GlobalLoads | None) -> Device:
    """Return a device as it runs programs whose loads of global memory are compiled so; None: as its file has it.

    Raises OptionError where loads shall look into L1 and nobody knows how large it is.
    """
    if loads == "ca" and not (device.l1_bytes and device.latency_l1_cycles):
        raise OptionError(
            f"loads through L1 on {device.name}, whose device file has no l1.bytes and latency_cycles.l1",
            expected="give both in a device file of your own, or leave out --dlcm ca",
        )
    return bypassing_l1(device) if loads == "cg" else device


def part_cycles(demand: Demand, rates: Rates) -> tuple[float, float, float, float, float]:
    """Return the cycles of load-store unit, L2, DRAM, latency and issue, each as if it were alone."""
    return (
        demand.load_lines * rates.load_line_cycles
        + demand.load_sectors * rates.load_sector_cycles
        + demand.store_lines * rates.store_line_cycles
        + demand.shared_cycles
        + demand.gap_cycles,
        demand.whole_sectors * rates.store_whole_cycles
        + demand.partial_sectors * rates.store_partial_cycles
        + demand.lone_sectors * rates.store_lone_cycles,
        demand.dram_bytes / (rates.bytes_per_cycle * rates.dram_efficiency),
        demand.waits * rates.latency_memory_cycles + demand.near_cycles + demand.line_waits * rates.delay_l2_cycles,
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
    busy = min(blocks, sms)
    uneven = most * busy / blocks if most <= _EVENED_OUT * room.blocks else 1.0
    warps = uneven * blocks * _warps_of_a_block(features, device) * work.active
    mine = warps / busy
    to_l2 = warps * max(1.0, min(FILLING, sms) / busy)
    loads = [a for a in work.accesses if not a.is_store]
    stores = [a for a in work.accesses if a.is_store]
    waves = math.ceil(blocks / (room.blocks * sms))
    cycles, unit = _busiest_unit(work, device)
    wave, l2 = min(blocks, room.blocks * sms), device.require("l2_bytes", _NAME)
    waiting = waiting_of(features, work, device, wave=wave, launches=launches)
    return Demand(
        load_lines=mine * _sum(loads, attrgetter("lines")),
        load_sectors=mine * _sum(loads, attrgetter("sectors")),
        store_lines=mine * _sum(stores, attrgetter("lines")),
        shared_cycles=mine * work.shared_cycles,
        whole_sectors=to_l2 * _sum(stores, attrgetter("whole")),
        partial_sectors=to_l2 * _sum(stores, attrgetter("partial")),
        lone_sectors=to_l2 * _sum(stores, attrgetter("lone")),
        waits=waves * waiting.of_memory,
        near_cycles=waves * waiting.of_caches_cycles,
        line_waits=waves * waiting.of_lines,
        dram_bytes=dram_bytes(features, work, l2, wave, launches),
        issue_cycles=mine * cycles,
        gap_cycles=DRAIN_CYCLES * most / room.blocks**2 if blocks > room.blocks * sms else 0.0,
        drain_cycles=most,  # a cycle to start each block
        blocks=blocks,
        resident_blocks=min(room.blocks, most),
        resident_warps=min(room.blocks, most) * _warps_of_a_block(features, device),
        waves=waves,
        limit=room.limit if most > room.blocks else "blocks of the kernel",
        unit=unit,
        loads_in_turn=waves * waiting.loads,
    )


def _sum(accesses: list[WarpAccess], count: Callable[[WarpAccess], float]) -> float:
    """Return what all executions of accesses by one warp touch together."""
    return sum(a.executions * count(a) for a in accesses)


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


# The seam -------------------------------------------------------------------------------------------------------------


class Hierarchy:
    """The model behind the seam."""

    name = _NAME
    paper = "own, from GCoM (2022), MDM (2020), PPT-GPU (2021), the occupancy roofline (2016)"
    constants: tuple[str, ...] = (
        *RATES,
        *(
            "dram_bandwidth_gb_s",
            "l2_bytes",
            "latency_l2_cycles",
            "threads_per_sm",
            "blocks_per_sm",
            "registers_per_sm",
        ),
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
            warp_wait_cycles=parts[3] / demand.waves,
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
        f"{demand.loads_in_turn:.4g} loads that wait for each other",
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
