"""GPU devices: the constants that the kernel cost models need, each with where it comes from.

A constant that is not known is None; a model that needs it says so by name (``Device.require``). Latencies and delays
are in cycles of the device's clock.
"""

from dataclasses import dataclass
from typing import Literal

from dse.base.errors import FormatError
from dse.base.source import NO_SPAN, Span
from dse.model.kernel import ACCESS_CLASSES, ByClass, TraceMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantOrigin:
    """Where a constant comes from. ``key``: as in the device file (``latency_cycles.l2``); ``source`` in words."""

    key: str
    source: str
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU. Constants that are None are unknown.

    Symbols of CGPredict (paper 000, table 3): ``inst_cycle``; ``latency_l2_cycles`` = mem_ld_L2,
    ``latency_dram_cycles`` = mem_ld_dram (on top of L2),
    ``latency_shared_cycles`` = mem_ld_smem, ``shared_load_cycles`` = smem_load_const,
    ``delay_l2_cycles`` = dd_L2, ``delay_dram_cycles`` = dd_dram, ``transactions`` = no_pw, ``bank_conflicts`` = X.
    Symbols of the memory pipeline (paper 001, section IV): ``dram_t_ras_cycles``, ``dram_t_rp_cycles``,
    ``dram_clock_mhz`` = f_mem, ``dram_partitions`` = p, ``dram_read_cycles`` = the measured read cycle per transaction
    in cycles of the core clock. ``latency_arithmetic_cycles``: from an instruction to one that needs its result, for a
    thread that runs alone. Host side: the costs of a kernel start, a synchronisation, a copy.

    Symbols of the model ``hierarchy`` (dse/gpu/models/hierarchy.py). Of one multiprocessor: ``issue_per_cycle`` warp
    instructions, ``fp32_lanes``, ``fp64_lanes`` and ``special_lanes`` results a cycle, ``load_line_cycles``,
    ``load_sector_cycles`` and ``store_line_cycles`` for a line of 128 or a sector of 32 bytes of a warp. Of the whole
    device: ``store_whole_cycles``, ``store_partial_cycles`` and ``store_lone_cycles`` for a sector in the L2 cache.
    ``latency_memory_cycles``: from a load to the use of its value while others are on their way.
    ``dram_efficiency``: the share of ``dram_bandwidth_gb_s`` that kernels reach. ``kernel_start_us``: what a kernel
    takes that does nothing.
    """

    name: str
    sms: int
    clock_mhz: float
    warp: int = 32
    inst_cycle: float | None = None
    latency_l2_cycles: float | None = None
    latency_dram_cycles: float | None = None
    latency_shared_cycles: float | None = None
    shared_load_cycles: float | None = None
    latency_arithmetic_cycles: float | None = None
    delay_l2_cycles: float | None = None
    delay_dram_cycles: float | None = None
    transactions: ByClass | None = None
    bank_conflicts: ByClass | None = None
    latency_l1_cycles: float | None = None
    l1_bytes: int | None = None
    """What loads of global memory find in a multiprocessor; None where they bypass it or nobody says."""
    l2_bytes: int | None = None
    l2_line_bytes: int | None = None
    l2_ways: int | None = None
    threads_per_sm: int | None = None
    blocks_per_sm: int | None = None
    threads_per_block: int | None = None
    shared_bytes: int | None = None
    memory_bytes: int | None = None
    dram_t_ras_cycles: float | None = None
    dram_t_rp_cycles: float | None = None
    dram_clock_mhz: float | None = None
    dram_partitions: int | None = None
    dram_read_cycles: float | None = None
    dram_bandwidth_gb_s: float | None = None
    dram_efficiency: float | None = None
    registers_per_sm: int | None = None
    issue_per_cycle: float | None = None
    fp32_lanes: float | None = None
    fp64_lanes: float | None = None
    special_lanes: float | None = None
    latency_memory_cycles: float | None = None
    load_line_cycles: float | None = None
    load_sector_cycles: float | None = None
    store_line_cycles: float | None = None
    store_whole_cycles: float | None = None
    store_partial_cycles: float | None = None
    store_lone_cycles: float | None = None
    kernel_start_us: float | None = None
    launch_us: float | None = None
    synchronise_us: float | None = None
    transfer_latency_us: float | None = None
    transfer_gb_s: float | None = None
    origins: tuple[ConstantOrigin, ...] = ()
    places: tuple[tuple[str, Span], ...] = ()
    """Where each section of the device file stands; the empty name is the file."""
    known_in: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For constants that are None here (by field) the built-in devices that have them."""

    def require(self, field: str, wanted_by: str) -> float:
        """Return a constant that ``wanted_by`` cannot do without. Raises ``FormatError`` naming its key and file."""
        value = getattr(self, field)
        if value is None:
            raise self.missing(field, wanted_by)
        return float(value)

    def require_classes(self, field: Literal["transactions", "bank_conflicts"], wanted_by: str) -> ByClass:
        """Return a constant of the access classes. Raises ``FormatError`` as ``require`` does."""
        value = self.transactions if field == "transactions" else self.bank_conflicts
        if value is None:
            raise self.missing(field, wanted_by)
        return value

    def missing(self, field: str, wanted_by: str) -> FormatError:
        """Return the error that says which constant of the device file is missing and who needs it."""
        key = DEVICE_KEYS[field]
        section = key.partition(".")[0]
        places = dict(self.places)
        span = places.get(section, places.get("", NO_SPAN))
        names = ", ".join(dict(self.known_in).get(field, ()))
        if places:
            expected = f"add {key} to the device file, with its source, or 'assumed: true'"
            expected += f"; built-in devices that have it: {names}" if names else ""
        else:
            other = f"another device (--device), such as {names}," if names else "another device (--device)"
            expected = f"{other} or a device file of your own that has {key}"
        return FormatError(f"device '{self.name}' has no {key}, which {wanted_by} needs", span=span, expected=expected)

    def trace_machine(self, wanted_by: str) -> TraceMachine:
        """Return what the trace analysis must know; a batch is what a multiprocessor holds. Raises ``FormatError``."""
        return TraceMachine(
            warp_lanes=self.warp,
            batch_threads=int(self.require("threads_per_sm", wanted_by)),
            line_bytes=int(self.require("l2_line_bytes", wanted_by)),
            cache_bytes=int(self.require("l2_bytes", wanted_by)),
            ways=int(self.require("l2_ways", wanted_by)),
        )

    @property
    def clock_hz(self) -> float:
        """The clock in hertz."""
        return self.clock_mhz * 1e6

    def assumed(self, fields: tuple[str, ...]) -> tuple[ConstantOrigin, ...]:
        """Return the origins of those of ``fields`` that are assumptions, in the order of the file."""
        keys = {DEVICE_KEYS[field] for field in fields}
        return tuple(origin for origin in self.origins if origin.assumed and origin.key in keys)


DEVICE_KEYS: dict[str, str] = {
    "sms": "sms",
    "clock_mhz": "clock_mhz",
    "warp": "limits.warp",
    "inst_cycle": "inst_cycle",
    "latency_l2_cycles": "latency_cycles.l2",
    "latency_dram_cycles": "latency_cycles.dram",
    "latency_shared_cycles": "latency_cycles.shared",
    "shared_load_cycles": "latency_cycles.shared_load",
    "latency_arithmetic_cycles": "latency_cycles.arithmetic",
    "delay_l2_cycles": "departure_delay_cycles.l2",
    "delay_dram_cycles": "departure_delay_cycles.dram",
    "transactions": "transactions_per_warp",
    "bank_conflicts": "bank_conflicts",
    "latency_l1_cycles": "latency_cycles.l1",
    "l1_bytes": "l1.bytes",
    "l2_bytes": "l2.bytes",
    "l2_line_bytes": "l2.line_bytes",
    "l2_ways": "l2.ways",
    "threads_per_sm": "limits.threads_per_sm",
    "blocks_per_sm": "limits.blocks_per_sm",
    "threads_per_block": "limits.threads_per_block",
    "shared_bytes": "limits.shared_bytes",
    "memory_bytes": "limits.memory_bytes",
    "dram_t_ras_cycles": "dram.t_ras_cycles",
    "dram_t_rp_cycles": "dram.t_rp_cycles",
    "dram_clock_mhz": "dram.clock_mhz",
    "dram_partitions": "dram.partitions",
    "dram_read_cycles": "dram.read_cycles",
    "dram_bandwidth_gb_s": "dram.bandwidth_gb_s",
    "dram_efficiency": "dram.efficiency",
    "registers_per_sm": "limits.registers_per_sm",
    "issue_per_cycle": "throughput.issue",
    "fp32_lanes": "throughput.fp32",
    "fp64_lanes": "throughput.fp64",
    "special_lanes": "throughput.special",
    "latency_memory_cycles": "latency_cycles.memory",
    "load_line_cycles": "load_store.load_line",
    "load_sector_cycles": "load_store.load_sector",
    "store_line_cycles": "load_store.store_line",
    "store_whole_cycles": "l2_store.whole",
    "store_partial_cycles": "l2_store.partial",
    "store_lone_cycles": "l2_store.lone",
    "kernel_start_us": "host.kernel_start_us",
    "launch_us": "host.launch_us",
    "synchronise_us": "host.synchronise_us",
    "transfer_latency_us": "host.transfer_latency_us",
    "transfer_gb_s": "host.transfer_gb_s",
}
"""Field of ``Device`` -> its key in a device file."""


def constant_value(device: Device, key: str) -> float | dict[str, float]:
    """Return the value of a constant by its key in a device file; those of the access classes together."""
    field = next(field for field, own in DEVICE_KEYS.items() if own == key)
    value = getattr(device, field)
    if isinstance(value, ByClass):
        return {kind: value.of(kind) for kind in ACCESS_CLASSES}
    return float(value)
