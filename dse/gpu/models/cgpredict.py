"""CGPredict: the time of a kernel from its memory behaviour and its warp parallelism.

Source: S. Wang, G. Zhong, T. Mitra, "CGPredict: Embedded GPU Performance Estimation from Single-Threaded Applications",
ACM TECS 16(5s), article 146, 2017; numbers in parentheses are its equations. It builds on S. Hong, H. Kim, ISCA 2009.
The printed text has misprints; what is done where it cannot be meant:

* (16) is printed without its brackets and with MWP for MWP - 1; the form of Hong and Kim is used, batch over all of it.
* (17) is printed with batch over its second term only; batch goes over both.
* Kernels with shared memory tiles follow ``(mem_cycles + comp_cycles) * batch``, the only form that gives table 5.
* Several multiprocessors are an extension: the blocks are spread over all of them, ``batch`` is at least 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dse.gpu.models.residence import Residence, least_residence, too_large
from dse.gpu.models.seam import refuse
from dse.model.device import Device
from dse.model.kernel import ACCESS_CLASSES, AccessClass, ByClass, KernelFeatures
from dse.model.kernel_cost import Applicability, Bottleneck, ClassCost, KernelCost, ParallelismCost

_NAME = "cgpredict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy(Residence):
    """What one multiprocessor holds: ``blocks`` B and ``warps`` N; ``batch`` of (15), real."""

    warps: int
    batch: float
    full: bool = False
    """Whether the multiprocessor holds as many warps as it ever can: more parallelism is not to be had."""


def class_latency(kind: AccessClass, dram: float, device: Device) -> float:
    """Return mem_l of a class: cycles of a warp memory instruction with ``dram`` DRAM transactions; (1), (2), (4)."""
    l2, beyond = device.require("latency_l2_cycles", _NAME), device.require("latency_dram_cycles", _NAME)
    if kind == "constant":
        return l2 + dram * beyond  # (4)
    if dram <= 1:
        per_warp = device.require_classes("transactions", _NAME).of(kind)
        return l2 + (per_warp - 1) * device.require("delay_l2_cycles", _NAME)  # (1)
    return l2 + beyond + (dram - 1) * device.require("delay_dram_cycles", _NAME)  # (2)


def class_delay(kind: AccessClass, dram: float, device: Device) -> float:
    """Return dep_del of a class: cycles between two warp memory instructions; (3), (5)."""
    l2 = device.require_classes("transactions", _NAME).of(kind) * device.require("delay_l2_cycles", _NAME)
    beyond = dram * device.require("delay_dram_cycles", _NAME)
    return l2 + beyond if kind == "constant" else max(l2, beyond)  # (5), (3)


def class_costs(per_warp: ByClass, dram: ByClass, device: Device) -> tuple[ClassCost, ...]:
    """Return the cost of each class that occurs. ``per_warp``: n_M of one warp; ``dram``: d_M."""
    return tuple(
        ClassCost(
            kind=kind,
            instructions=per_warp.of(kind),
            dram_transactions=dram.of(kind),
            mem_l_cycles=class_latency(kind, dram.of(kind), device),
            departure_delay_cycles=class_delay(kind, dram.of(kind), device),
        )
        for kind in ACCESS_CLASSES
        if per_warp.of(kind) > 0
    )


def occupancy(features: KernelFeatures, device: Device) -> Occupancy:
    """Return B, N and batch (15). Blocks per multiprocessor: the CUDA occupancy rules without registers."""
    threads = features.block_threads
    held = int(device.require("threads_per_sm", _NAME)) // threads
    own = ((held, "threads a multiprocessor"), (features.blocks, "blocks of the kernel"))
    room = least_residence(features, device, _NAME, own)
    warps = room.blocks * -(-threads // device.warp)
    batch = features.blocks / (room.blocks * device.sms) if room.blocks else 0.0
    batch = batch if device.sms == 1 else max(1.0, batch)
    full = warps >= int(device.require("threads_per_sm", _NAME)) // device.warp
    return Occupancy(blocks=room.blocks, limit=room.limit, warps=warps, batch=batch, full=full)


def parallelism(
    mem_l: float,
    delay: float,
    mem_cycles: float,
    comp_cycles: float,
    *,
    instructions: float,
    room: Occupancy,
    hz: float,
) -> ParallelismCost:
    """Return MWP, CWP and the time of a kernel without shared memory; (13), (14), (16) to (18).

    ``instructions``: no_mem_insts. Without any the time is that of the instructions, comp_cycles * N * batch.
    """
    n = float(room.warps)
    mwp = min(mem_l / delay, n) if instructions else n  # (13)
    cwp = min((mem_cycles + comp_cycles) / comp_cycles, n) if comp_cycles else n  # (14)
    if not instructions:
        equation, cycles = "no memory instructions", comp_cycles * n
    elif cwp >= mwp:
        equation, cycles = "(16)", mem_cycles * n / mwp + comp_cycles / instructions * (mwp - 1)
    else:
        equation, cycles = "(17)", mem_l + comp_cycles * n
    cycles *= room.batch
    return ParallelismCost(
        mem_l_cycles=mem_l,
        departure_delay_cycles=delay,
        mem_cycles=mem_cycles,
        comp_cycles=comp_cycles,
        mwp=mwp,
        cwp=cwp,
        cycles=cycles,
        time_s=cycles / hz,  # (18)
        equation=equation,
    )


def mean_of(costs: Iterable[tuple[float, float]]) -> float:
    """Return the mean of (value, weight) pairs, 0 without weight; (7), (8)."""
    pairs = list(costs)
    weight = sum(n for _, n in pairs)
    return sum(value * n for value, n in pairs) / weight if weight else 0.0


def bottleneck_of(cost: ParallelismCost, room: Occupancy) -> tuple[Bottleneck, str]:
    """Return what bounds a kernel, by MWP and CWP (section 2.3), and the reason in words."""
    figures = f"MWP {cost.mwp:.2f}, CWP {cost.cwp:.2f}, {room.warps} resident warps"
    if cost.equation == "no memory instructions":
        return "compute", "no memory instructions"
    if cost.mwp >= room.warps and cost.cwp >= room.warps:
        if room.full:
            return "memory", f"{figures}: all that a multiprocessor holds, and each of them waits for memory"
        return "parallelism", f"{figures}: too few warps to hide the latency (limited by {room.limit})"
    if cost.cwp >= cost.mwp:
        return "memory", f"{figures}: the memory serves fewer warps at once than could compute meanwhile"
    return "compute", f"{figures}: more warps can wait for memory than compute meanwhile"


class CgPredict:
    """The model behind the seam."""

    name = _NAME
    paper = "Wang, Zhong, Mitra, ACM TECS 16(5s) 146, 2017, equations (1) to (25)"
    constants: tuple[str, ...] = (
        *("inst_cycle", "latency_l2_cycles", "latency_dram_cycles", "delay_l2_cycles", "delay_dram_cycles"),
        *("transactions", "l2_bytes", "l2_line_bytes", "l2_ways", "threads_per_sm", "blocks_per_sm"),
    )

    def applies(self, features: KernelFeatures, device: Device) -> Applicability:
        """Return whether one block fits on a multiprocessor; everything else is covered."""
        crowded = too_large(features, device, occupancy(features, device))
        if crowded:
            return Applicability(applies=False, reason=crowded)
        if features.mix.total <= 0:
            return Applicability(applies=False, reason="it executes no instruction")
        return Applicability(applies=True)

    def predict(self, features: KernelFeatures, device: Device) -> KernelCost:
        """Return the predicted cost of a kernel."""
        refuse(self, features, device)
        room = occupancy(features, device)
        instructions = features.memory_instructions
        comp_cycles = device.require("inst_cycle", _NAME) * features.total_instructions  # (12)
        classes = class_costs(features.per_warp, features.dram, device)
        delay = mean_of((c.departure_delay_cycles, c.instructions) for c in classes)  # (8)
        base = _Parts(
            mem_l=mean_of((c.mem_l_cycles, c.instructions) for c in classes),  # (7)
            delay=delay,
            mem_cycles=sum(c.mem_cycles for c in classes),  # (6)
            comp_cycles=comp_cycles,
        )
        cost, shared = _cost(features, device, room, base)
        bottleneck, reason = bottleneck_of(cost, room) if features.shared is None else _bound_of_tiles(cost, shared)
        sync = features.shared.sync_instructions if features.shared is not None else 0.0
        return KernelCost(
            model=self.name,
            kernel=features.kernel,
            device=device.name,
            time_s=cost.time_s,
            cycles=cost.cycles,
            bottleneck=bottleneck,
            reason=reason,
            parallelism=cost,
            classes=classes,
            resident_blocks=room.blocks,
            resident_warps=room.warps,
            blocks=features.blocks,
            batch=room.batch,
            sync_cycles=delay * (cost.mwp - 1) * sync * room.blocks * room.batch,  # (23)
            shared_cycles=shared.reads,
            shared_load_cycles=shared.loads,
            l2_miss_rate=features.miss_rate,
            baseline=_baseline(features, device, room, comp_cycles) if instructions else None,
            notes=_notes(features, device, room),
            warp_wait_cycles=cost.mem_cycles,
        )


MODEL = CgPredict()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The cycles of a kernel before warp parallelism, of one warp."""

    mem_l: float
    delay: float
    mem_cycles: float
    comp_cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """The cycles of the tiles: ``loads`` into shared memory (19), ``reads`` from it (20)."""

    loads: float = 0.0
    reads: float = 0.0


def _cost(features: KernelFeatures, device: Device, room: Occupancy, base: _Parts) -> tuple[ParallelismCost, _Shared]:
    """Return the time, with shared memory where the kernel has tiles, and the cycles that the tiles take."""
    n_memory, hz = features.memory_instructions, device.clock_hz
    if features.shared is None:
        parts = (base.mem_l, base.delay, base.mem_cycles, base.comp_cycles)
        return parallelism(*parts, instructions=n_memory, room=room, hz=hz), _Shared()
    conflicts = device.require_classes("bank_conflicts", _NAME)
    shared = _Shared(
        loads=features.shared.loads * device.require("shared_load_cycles", _NAME),  # (19)
        reads=device.require("latency_shared_cycles", _NAME)
        * sum(conflicts.of(kind) * features.shared.reads.of(kind) for kind in ACCESS_CLASSES),  # (20)
    )
    mem_cycles, comp_cycles = base.mem_cycles + shared.loads, base.comp_cycles + shared.reads  # (21), (22)
    n = float(room.warps)
    cycles = (mem_cycles + comp_cycles) * room.batch
    return ParallelismCost(
        mem_l_cycles=base.mem_l,
        departure_delay_cycles=base.delay,
        mem_cycles=mem_cycles,
        comp_cycles=comp_cycles,
        mwp=min(base.mem_l / base.delay, n) if n_memory else n,
        cwp=min((mem_cycles + comp_cycles) / comp_cycles, n),
        cycles=cycles,
        time_s=cycles / hz,
        equation="shared memory: (mem_cycles + comp_cycles) * batch",
    ), shared


def _bound_of_tiles(cost: ParallelismCost, shared: _Shared) -> tuple[Bottleneck, str]:
    """Return what most cycles of a kernel with tiles are for; MWP and CWP do not enter its time."""
    whole = cost.mem_cycles + cost.comp_cycles
    parts = (
        ("loads of tiles", shared.loads),
        ("other global memory", cost.mem_cycles - shared.loads),
        ("reads of tiles", shared.reads),
        ("instructions", cost.comp_cycles - shared.reads),
    )
    listed = ", ".join(f"{100 * cycles / whole:.0f} % {what}" for what, cycles in parts if cycles > 0)
    return ("memory" if cost.mem_cycles > cost.comp_cycles else "compute"), f"of the cycles of a warp {listed}"


def _baseline(features: KernelFeatures, device: Device, room: Occupancy, comp_cycles: float) -> ParallelismCost:
    """Return what the simple cache model gives: latencies weighted by the miss rate of L2; (24), (25)."""
    miss = features.miss_rate
    l2, dram = device.require("latency_l2_cycles", _NAME), device.require("latency_dram_cycles", _NAME)
    mem_l = l2 * (1 - miss) + dram * miss  # (24)
    delay = device.require("delay_l2_cycles", _NAME) * (1 - miss) + device.require("delay_dram_cycles", _NAME) * miss
    instructions = features.memory_instructions
    return parallelism(
        mem_l, delay, mem_l * instructions, comp_cycles, instructions=instructions, room=room, hz=device.clock_hz
    )


def _notes(features: KernelFeatures, device: Device, room: Occupancy) -> tuple[str, ...]:
    notes = list(features.notes)
    if device.sms > 1:
        notes.append(
            f"{device.sms} multiprocessors: an extension of the paper, which has one; "
            f"batch = max(1, {features.blocks} blocks / ({room.blocks} * {device.sms}))"
        )
    return tuple(notes)
