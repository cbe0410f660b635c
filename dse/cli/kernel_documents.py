"""JSON documents of ``dse gpu``: stable keys, units in the names."""

from dataclasses import asdict
from typing import Any

from dse.flows.calibrate import CalibratedDevice
from dse.flows.gpu import PredictedKernel, Prediction
from dse.gpu.advise.choose import Choice, total_s
from dse.gpu.models.memory_pipeline import PipelineInputs, PipelineTime
from dse.model.device import DEVICE_KEYS, Device, constant_value
from dse.model.fpga import Fpga
from dse.model.kernel import ByClass, MemoryInstruction
from dse.model.kernel_cost import ParallelismCost


def prediction_document(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction. ``mwp``, ``cwp`` and ``bottleneck`` of a file are those of its longest kernel."""
    longest = prediction.longest.cost
    return {
        "file": prediction.path,
        "device": prediction.device.name,
        "model": prediction.model,
        "time_s": prediction.time_s,
        "mwp": longest.parallelism.mwp if longest.parallelism else None,
        "cwp": longest.parallelism.cwp if longest.parallelism else None,
        "bottleneck": longest.bottleneck,
        "instructions": [
            {"kernel": k.cost.kernel, **_instruction(m)} for k in prediction.kernels for m in k.features.instructions
        ],
        "kernels": [_kernel(k) for k in prediction.kernels],
        "sensitivity": [{"sizes": dict(p.sizes), "time_s": p.time_s} for p in prediction.sensitivity],
        "assumed": [{"constant": o.key, "source": o.source} for o in prediction.assumed],
        "seconds": round(sum(k.seconds for k in prediction.kernels), 3),
    }


def _kernel(kernel: PredictedKernel) -> dict[str, Any]:
    features, cost = kernel.features, kernel.cost
    return {
        "name": cost.kernel,
        "function": features.function,
        "line": features.span.line,
        "time_s": cost.time_s,
        "cycles": cost.cycles,
        **_parallelism(cost.parallelism),
        "bottleneck": cost.bottleneck,
        "reason": cost.reason,
        "block": list(features.block),
        "blocks": cost.blocks,
        "extents": list(features.extents),
        "trace_extents": list(features.trace_extents),
        "sizes": dict(features.sizes),
        "trace_sizes": dict(features.trace_sizes),
        "resident_blocks": cost.resident_blocks,
        "resident_warps": cost.resident_warps,
        "batch": cost.batch,
        "instructions_per_thread": features.total_instructions,
        "memory_instructions_per_warp": features.memory_instructions,
        "l2_miss_rate": cost.l2_miss_rate,
        "classes": [
            {
                "class": c.kind,
                "instructions": c.instructions,
                "dram_transactions": c.dram_transactions,
                "mem_l_cycles": c.mem_l_cycles,
                "departure_delay_cycles": c.departure_delay_cycles,
            }
            for c in cost.classes
        ],
        "parts": [{"part": p.part, "time_s": p.time_s} for p in cost.parts],
        "shared": _shared(kernel),
        "baseline": None if cost.baseline is None else {"time_s": cost.baseline.time_s, **_parallelism(cost.baseline)},
        "how_parallel": features.how_parallel,
        "launches": features.launches,
        "instructions": [_instruction(m) for m in features.instructions],
        "advice": [
            {
                "kind": a.kind,
                "line": a.span.line,
                "text": a.text,
                "time_s": a.cost.time_s,
                "gain": a.gain,
                "block": list(a.block),
            }
            for a in kernel.advice
        ],
        "notes": list(cost.notes),
    }


def _shared(kernel: PredictedKernel) -> dict[str, Any] | None:
    shared, cost = kernel.features.shared, kernel.cost
    if shared is None:
        return None
    return {
        "tile_arrays": list(shared.tile_arrays),
        "bytes_per_block": shared.bytes_per_block,
        "tiles": shared.tiles,
        "reads": _by_class(shared.reads),
        "load_cycles": cost.shared_load_cycles,
        "read_cycles": cost.shared_cycles,
        "sync_cycles": cost.sync_cycles,
        "sync_s": cost.sync_cycles * cost.time_s / cost.cycles,
    }


def _parallelism(cost: ParallelismCost | None) -> dict[str, Any]:
    if cost is None:
        return {"mwp": None, "cwp": None}
    return {
        "mwp": cost.mwp,
        "cwp": cost.cwp,
        "mem_l_cycles": cost.mem_l_cycles,
        "departure_delay_cycles": cost.departure_delay_cycles,
        "mem_cycles": cost.mem_cycles,
        "comp_cycles": cost.comp_cycles,
        "equation": cost.equation,
    }


def _instruction(m: MemoryInstruction) -> dict[str, Any]:
    return {
        "line": m.span.line,
        "column": m.span.column,
        "text": m.text,
        "array": m.array,
        "store": m.is_store,
        "storage": m.storage,
        "class": m.access,
        "max_stride": m.max_stride,
        "miss_rate": m.miss_rate,
        "dram_transactions": m.misses / m.warp_executions if m.warp_executions else 0.0,
        "per_warp": m.per_warp,
    }


def _by_class(counts: ByClass) -> dict[str, float]:
    return {"coalesced": counts.coalesced, "uncoalesced": counts.uncoalesced, "constant": counts.constant}


def device_document(device: Device) -> dict[str, Any]:
    """Return a device: each constant under its key in a device file, with its source."""
    return {
        "name": device.name,
        "constants": [
            {"constant": o.key, "value": constant_value(device, o.key), "assumed": o.assumed, "source": o.source}
            for o in device.origins
        ],
    }


def fpga_document(fpga: Fpga) -> dict[str, Any]:
    """Return an FPGA: each constant under its key in the file, with its source."""
    return {
        "name": fpga.name,
        "constants": [
            {"constant": o.key, "value": o.value, "assumed": o.assumed, "source": o.source} for o in fpga.constants
        ],
    }


def calibration_document(found: CalibratedDevice) -> dict[str, Any]:
    """Return a calibration: each rate with its interval, each program as a fit to the others prices it."""
    return {
        "device": found.device.name,
        "samples": found.calibration.samples,
        "kernels": found.calibration.kernels,
        "median_error": found.calibration.error,
        "rates": [
            {
                "constant": DEVICE_KEYS[rate.name],
                "value": rate.value,
                "least": rate.least,
                "most": rate.most,
                "at_bound": rate.at_bound,
                "before": rate.before,
            }
            for rate in found.calibration.fitted
        ],
        "judged": [
            {
                "benchmark": one.family,
                "rows": one.rows,
                "median_error_of_device_file": one.error_before,
                "median_error": one.error_after,
                "rank_correlation": one.correlation,
            }
            for one in found.judged
        ],
        "left_out": [{"why": why, "rows": count} for why, count in found.left_out],
    }


def hand_document(device: Device, inputs: PipelineInputs, answer: PipelineTime) -> dict[str, Any]:
    """Return the answer of the memory pipeline to inputs given by hand."""
    return {
        "device": device.name,
        "model": "memory_pipeline",
        "time_s": answer.time_s,
        "cycles": answer.cycles,
        "mwp": None,
        "cwp": None,
        "bottleneck": "memory",
        "instructions": [],
        "kernels": [],
        "requests_per_warp": inputs.requests,
        "transactions_per_request": inputs.transactions,
        "warps": inputs.warps,
        "launches": inputs.launches,
        "read_cycle_ns": answer.read_cycle_s * 1e9,
        "requests_per_s": answer.throughput_hz,
    }


def choice_document(choice: Choice, *, with_host: bool) -> dict[str, Any]:
    """Return a choice of accelerator, the quickest candidate first."""
    return {
        "winner": choice.winner.name,
        "margin": choice.margin,
        "reason": choice.reason,
        "with_host": with_host,
        "candidates": [
            {
                "name": c.name,
                "kind": c.kind,
                "time_s": total_s(c, with_host),
                "kernels_s": c.time_s,
                "host_s": c.host_s,
                "from": c.origin,
                "bottlenecks": [k.bottleneck for k in c.costs],
                "designs": [asdict(e) for e in c.estimates],
            }
            for c in choice.ranking
        ],
    }
