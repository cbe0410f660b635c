"""The memory pipeline: the time of a memory-bound kernel from its DRAM transactions alone.

Source: Z. Hu, G. Liu, W. Dong, "A Performance Prediction Model for Memory-intensive GPU Kernels", sections IV and V.
``rc = (t_RAS + t_RP) / (p * f_mem)``; a request of ``tpr`` transactions takes ``rc_syn = rc * tpr``; the throughput is
``1 / rc_syn``; ``time = rc * tpr * w * m_inst * launches``. There is no computation, no cache and no occupancy in it.

Two values of rc are at hand. The printed 1.294 ns follows from the DRAM's timing and is the default; the printed tables
II, IV and V were computed with the measured 1.53 cycles of the core clock (``measured``).
"""

from dataclasses import dataclass
from typing import Literal

from dse.gpu.models.seam import refuse
from dse.model.device import Device
from dse.model.kernel import KernelFeatures
from dse.model.kernel_cost import Applicability, KernelCost

ReadCycle = Literal["timing", "measured"]
"""Where rc comes from: the timing of the DRAM, or a measurement in cycles of the core clock."""
_NAME = "memory_pipeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineInputs:
    """The inputs of the model. ``transactions``: tpr of a request; ``requests``: m_inst of a warp; ``warps``: w."""

    transactions: float
    requests: float
    warps: float
    launches: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineTime:
    """``read_cycle_s``: rc. ``throughput_hz``: requests a second. ``cycles``: of the core clock."""

    read_cycle_s: float
    throughput_hz: float
    time_s: float
    cycles: float


def read_cycle_s(device: Device, read_cycle: ReadCycle = "timing") -> float:
    """Return rc, the seconds per DRAM transaction of the whole device (section IV.A). Raises ``FormatError``."""
    if read_cycle == "measured":
        return device.require("dram_read_cycles", _NAME) / device.clock_hz
    cycles = device.require("dram_t_ras_cycles", _NAME) + device.require("dram_t_rp_cycles", _NAME)
    frequency_hz = device.require("dram_clock_mhz", _NAME) * 1e6
    return cycles / (device.require("dram_partitions", _NAME) * frequency_hz)


def pipeline_time(inputs: PipelineInputs, device: Device, read_cycle: ReadCycle = "timing") -> PipelineTime:
    """Return the time of a memory-bound kernel (section V) from inputs given by hand or from features."""
    rc = read_cycle_s(device, read_cycle)
    time_s = rc * inputs.transactions * inputs.warps * inputs.requests * inputs.launches
    return PipelineTime(
        read_cycle_s=rc,
        throughput_hz=1 / (rc * inputs.transactions),
        time_s=time_s,
        cycles=time_s * device.clock_hz,
    )


def inputs_of(features: KernelFeatures, device: Device, launches: int = 1) -> PipelineInputs:
    """Return the inputs of the model from the analysis of a kernel: every warp of every block is launched."""
    warps_per_block = -(-features.block_threads // device.warp)
    return PipelineInputs(
        transactions=features.transactions,
        requests=features.memory_instructions,
        warps=features.blocks * warps_per_block,
        launches=launches,
    )


@dataclass(frozen=True, slots=True)
class MemoryPipeline:
    """The model behind the seam."""

    read_cycle: ReadCycle = "timing"
    launches: int = 1

    @property
    def name(self) -> str:
        """The name in the registry."""
        return _NAME

    @property
    def paper(self) -> str:
        """Where the equations stand."""
        return "Hu, Liu, Dong, A Performance Prediction Model for Memory-intensive GPU Kernels, sections IV and V"

    @property
    def constants(self) -> tuple[str, ...]:
        """The fields of ``Device`` that it cannot do without."""
        if self.read_cycle == "measured":
            return ("dram_read_cycles",)
        return ("dram_t_ras_cycles", "dram_t_rp_cycles", "dram_clock_mhz", "dram_partitions")

    def applies(self, features: KernelFeatures, device: Device) -> Applicability:
        """Return whether the kernel is memory-bound.

        The test: the warps of all blocks issue their instructions in less time than the pipeline serves their requests.
        Kernels with shared memory tiles are refused, their reads are not global.
        """
        if features.shared is not None:
            return Applicability(applies=False, reason="it uses shared memory; the model knows global memory only")
        if not features.memory_instructions:
            return Applicability(applies=False, reason="it has no global memory instruction")
        inputs = inputs_of(features, device)
        memory_s = pipeline_time(inputs, device, self.read_cycle).time_s
        issue = device.require("inst_cycle", f"the test of {_NAME} for memory-bound kernels")
        compute_s = issue * features.mix.compute * inputs.warps / device.sms / device.clock_hz
        if compute_s > memory_s:
            reason = (
                f"it is compute-bound: {features.mix.compute:.6g} instructions to {features.memory_instructions:.6g} "
                f"requests a warp; its instructions alone take {compute_s * 1e3:.4g} ms, "
                f"its memory requests {memory_s * 1e3:.4g} ms"
            )
            return Applicability(applies=False, reason=reason)
        return Applicability(applies=True)

    def predict(self, features: KernelFeatures, device: Device) -> KernelCost:
        """Return the predicted cost of a memory-bound kernel."""
        refuse(self, features, device)
        inputs = inputs_of(features, device, self.launches)
        time = pipeline_time(inputs, device, self.read_cycle)
        origin = "DRAM timing" if self.read_cycle == "timing" else "a measurement"
        return KernelCost(
            model=_NAME,
            kernel=features.kernel,
            device=device.name,
            time_s=time.time_s,
            cycles=time.cycles,
            bottleneck="memory",
            reason=(
                f"{inputs.requests:.6g} requests a warp of {inputs.transactions:.4g} transactions, {inputs.warps:.0f} "
                f"warps, {time.read_cycle_s * 1e9:.4g} ns a transaction (rc from {origin})"
            ),
            blocks=features.blocks,
            l2_miss_rate=features.miss_rate,
            notes=(*features.notes, "no cache, no computation, no occupancy in this model"),
        )


MODEL = MemoryPipeline()
