"""What a kernel cost model answers: a time and where it comes from; or why it does not apply."""

from dataclasses import dataclass
from typing import Literal

from dse.model.kernel import AccessClass

Bottleneck = Literal["memory", "compute", "parallelism"]
"""What bounds a kernel: memory transactions, instructions, or too few warps to hide either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicability:
    """Whether a model covers a kernel on a device; ``reason`` in words when it does not."""

    applies: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCost:
    """The warp memory instructions of one access class. ``dram_transactions``: d, per warp instruction, a mean."""

    kind: AccessClass
    instructions: float
    dram_transactions: float
    mem_l_cycles: float
    departure_delay_cycles: float

    @property
    def mem_cycles(self) -> float:
        """The cycles of this class in equation (6), of one warp."""
        return self.mem_l_cycles * self.instructions


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelismCost:
    """Warp parallelism and time that follow from a latency and a departure delay: equations (13) to (18)."""

    mem_l_cycles: float
    departure_delay_cycles: float
    mem_cycles: float
    comp_cycles: float
    mwp: float
    cwp: float
    cycles: float
    time_s: float
    equation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCost:
    """A part of the device and the time that the kernel would take if only that part limited it."""

    part: str
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCost:
    """The predicted cost of one kernel on one device.

    ``cgpredict`` fills everything but ``parts``; ``memory_pipeline`` and ``hierarchy`` have no MWP and CWP
    (``parallelism`` None). ``parts``: of ``hierarchy``, the time of each part of the device alone.
    ``resident_blocks`` and ``resident_warps``: B and N, of one SM. ``batch``: how often they are replaced, not rounded.
    ``sync_cycles``: the synchronisation cost of equation (23), reported and not part of ``time_s``. ``baseline``: what
    the simple cache model of equations (24) and (25) gives. ``start_cycles``: what of ``cycles`` is the start.
    ``warp_wait_cycles``: what one warp waits for its own loads over the whole kernel, if nothing else were there; None
    for a model that cannot tell, which so cannot price kernels of few threads.
    """

    model: str
    kernel: str
    device: str
    time_s: float
    cycles: float
    bottleneck: Bottleneck
    reason: str
    parallelism: ParallelismCost | None = None
    classes: tuple[ClassCost, ...] = ()
    resident_blocks: int = 0
    resident_warps: int = 0
    blocks: int = 0
    batch: float = 0.0
    sync_cycles: float = 0.0
    shared_cycles: float = 0.0
    shared_load_cycles: float = 0.0
    l2_miss_rate: float = 0.0
    baseline: ParallelismCost | None = None
    parts: tuple[PartCost, ...] = ()
    start_cycles: float = 0.0
    warp_wait_cycles: float | None = None
    notes: tuple[str, ...] = ()
