"""What the loads of a warp wait for: the memory, or the cache that has their data.

Loads of a warp that wait for each other (``WarpWork.waits``) take the latency of where their data are. CGPredict's
equations (1) and (2) tell L2 from DRAM so, by the transactions of an instruction that miss; here the share of misses of
an access is the bytes that it moves from DRAM by those that its warps ask for. A line of 128 bytes that the next rounds
of a loop use again is in L1 as long as there is room for the lines of all resident warps of a multiprocessor. The
slowest access of a round decides.
"""

from dataclasses import dataclass, replace

from dse.gpu.models.dram import dram_bytes, missing
from dse.model.device import Device
from dse.model.kernel import LINE_BYTES, SECTOR_BYTES, KernelFeatures, WarpAccess, WarpWork

_USER = "hierarchy"
OVERLAP = 16.0
"""Loads of a loop without stores that are on their way at once: compilers unroll such loops. An assumption."""
_OFTEN = 0.5
"""Accesses that are executed less often than this share of the most frequent one stand outside its loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What one warp waits for, one load after the other: latencies of the memory, and cycles of caches."""

    of_memory: float
    of_caches_cycles: float
    of_lines: float = 0.0
    """Lines that leave behind the first one of their load."""
    loads: float = 0.0
    """Loads that wait for each other, wherever their data are."""


def waiting_of(features: KernelFeatures, work: WarpWork, device: Device, *, wave: int, launches: int) -> Waiting:
    """Return what a warp waits for. ``wave``: blocks that the device holds at once.

    Raises ``FormatError`` for a constant that the device lacks.
    """
    rounds = work.waits + work.streams / OVERLAP
    l2 = device.require("latency_l2_cycles", _USER)
    local_cycles = work.local_waits * l2
    loads = [a for a in work.accesses if not a.is_store and not a.private]
    if not loads or not rounds:
        return Waiting(of_memory=rounds, of_caches_cycles=local_cycles, loads=rounds + work.local_waits)
    times = _Latencies.of(device)
    kept = _kept_in_l1(features, loads, device, wave)
    often = _OFTEN * max(a.executions for a in loads)
    found = [_shares(features, work, a, device, kept, wave, launches) for a in loads if a.executions >= often]
    far, near = max(found, key=lambda shares: times.mean_cycles(*shares))
    cycles = times.mean_cycles(far, near) - far * times.memory
    return Waiting(
        of_memory=rounds * far,
        of_caches_cycles=rounds * cycles + local_cycles,
        loads=rounds + work.local_waits,
        of_lines=max(0.0, sum(a.executions * a.lines for a in loads) - rounds),
    )


@dataclass(frozen=True, slots=True)
class _Latencies:
    """In cycles, of each place where data may be."""

    memory: float
    l2: float
    l1: float

    @classmethod
    def of(cls, device: Device) -> "_Latencies":
        l2 = device.require("latency_l2_cycles", _USER)
        return cls(device.require("latency_memory_cycles", _USER), l2, device.latency_l1_cycles or l2)

    def mean_cycles(self, far: float, near: float) -> float:
        """Return the mean latency of loads of which shares are answered by the memory and by L1, the rest by L2."""
        return far * self.memory + near * self.l1 + (1 - far - near) * self.l2


def _shares(
    features: KernelFeatures,
    work: WarpWork,
    access: WarpAccess,
    device: Device,
    kept: float,
    wave: int,
    launches: int,
) -> tuple[float, float]:
    """Return the shares of an access that the memory and L1 answer; ``kept``: of the lines that L1 keeps."""
    near = kept * _same_line(access)
    warps = features.blocks * -(-features.block_threads // device.warp) * work.active
    asked = warps * access.executions * access.sectors * SECTOR_BYTES
    moved = dram_bytes(features, replace(work, accesses=(access,)), device.require("l2_bytes", _USER), wave, launches)
    return min(moved / asked if asked else 1.0, 1 - near), near


def _same_line(access: WarpAccess) -> float:
    """Return how often a round of the innermost loop stays in the line of the round before, as a share."""
    inner = access.strides[0] if access.strides else None
    return max(0.0, 1 - abs(inner.bytes) / LINE_BYTES) if inner is not None and inner.axis == "loop" else 0.0


def _kept_in_l1(features: KernelFeatures, loads: list[WarpAccess], device: Device, wave: int) -> float:
    """Return the share of lines that live in L1 until the next round; none where loads bypass it."""
    if not device.l1_bytes or device.latency_l1_cycles is None:
        return 0.0
    warps = -(-wave // device.sms) * -(-features.block_threads // device.warp)
    return 1 - missing(warps * LINE_BYTES * sum(a.lines for a in loads), device.l1_bytes)
