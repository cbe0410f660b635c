"""Choice of accelerator (CGPredict, section 4.5): the GPU predictions against each other and against given times.

The time on an FPGA is given by the user or estimated (``dse.gpu.fpga``), that on a CPU is given.
"""

from dataclasses import dataclass
from typing import Literal

from dse.model.device import Device
from dse.model.fpga import FpgaEstimate
from dse.model.kernel import ByClass
from dse.model.kernel_cost import KernelCost

AcceleratorKind = Literal["gpu", "fpga", "cpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """A place that could run a program. ``time_s``: of its kernels; ``host_s``: starts and copies, None if unknown."""

    name: str
    kind: AcceleratorKind
    time_s: float
    origin: str
    costs: tuple[KernelCost, ...] = ()
    host_s: float | None = None
    estimates: tuple[FpgaEstimate, ...] = ()
    """Of an FPGA that was estimated: one a kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The accelerators, the quickest first. ``margin``: time of the second / time of the first; 1 without a second."""

    ranking: tuple[Accelerator, ...]
    margin: float
    reason: str

    @property
    def winner(self) -> Accelerator:
        """The quickest."""
        return self.ranking[0]


def host_seconds(device: Device, kernels: int, moved_bytes: int) -> float | None:
    """Return the time of starting kernels, waiting for the last and copying arrays; None without the constants."""
    if device.launch_us is None or device.synchronise_us is None or device.transfer_gb_s is None:
        return None
    copy_s = moved_bytes / (device.transfer_gb_s * 1e9) + 2 * (device.transfer_latency_us or 0.0) * 1e-6
    return (kernels * device.launch_us + device.synchronise_us) * 1e-6 + copy_s


def choose(accelerators: tuple[Accelerator, ...], *, with_host: bool = False) -> Choice:
    """Return the accelerators by time, ties in the given order. ``with_host``: starts and copies count."""
    assert accelerators, "there is nothing to choose from"
    ranking = tuple(sorted(accelerators, key=lambda c: total_s(c, with_host)))
    first, second = ranking[0], ranking[1] if len(ranking) > 1 else None
    if second is None:
        return Choice(ranking=ranking, margin=1.0, reason=f"{first.name} is the only candidate")
    margin = total_s(second, with_host) / total_s(first, with_host)
    return Choice(ranking=ranking, margin=margin, reason=_reason(first, second, with_host))


def total_s(accelerator: Accelerator, with_host: bool) -> float:
    """Return the time that counts."""
    return accelerator.time_s + (accelerator.host_s or 0.0 if with_host else 0.0)


def _reason(first: Accelerator, second: Accelerator, with_host: bool) -> str:
    parts = [f"on {one.name} {_why(one)}" for one in (first, second) if one.costs or one.estimates]
    if with_host and second.host_s:
        share = second.host_s / total_s(second, with_host)
        parts.append(f"{100 * share:.0f} % of the time of {second.name} is starting and copying")
    return "; ".join(parts) or f"{first.name} is given as quicker than {second.name}"


def _why(accelerator: Accelerator) -> str:
    """Return what dominates the kernel that takes longest: on a GPU the bottleneck and the accesses."""
    if accelerator.estimates:
        return max(accelerator.estimates, key=lambda e: e.time_s).limit
    cost = max(accelerator.costs, key=lambda c: c.time_s)
    counts = ByClass(**{c.kind: c.instructions for c in cost.classes})
    text = {"memory": "memory bounds", "compute": "instructions bound", "parallelism": "too few warps bound"}
    named = f" kernel '{cost.kernel}'" if len(accelerator.costs) > 1 else " the kernel"
    if not counts.total:
        return text[cost.bottleneck] + named
    far = counts.uncoalesced / counts.total
    accesses = (
        f"{100 * far:.0f} % of its accesses are uncoalesced" if far else "all its accesses are coalesced or constant"
    )
    return f"{text[cost.bottleneck]}{named}, {accesses}"
