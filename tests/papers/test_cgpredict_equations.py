"""CGPredict by hand: the equations and the printed results of tables 4 and 5, from the features that the paper states.

The same figures computed from C source are in ``test_cgpredict_kernels.py``.
"""

import dataclasses

import pytest

from dse.base.errors import FormatError, ModelNotApplicable
from dse.base.source import NO_SPAN
from dse.formats.device_yaml import load_device
from dse.gpu.models import KERNEL_COST_MODELS
from dse.gpu.models.cgpredict import MODEL, class_delay, class_latency
from dse.model.kernel import ByClass, InstructionMix, KernelFeatures, SharedMemory
from dse.model.kernel_cost import KernelCost

TK1 = load_device("jetson-tk1")


def features(
    n: int,
    *,
    dram: ByClass,
    per_warp: ByClass,
    instructions: float,
    block: tuple[int, int, int] = (32, 32, 1),
    misses: tuple[int, int] = (0, 1),
    shared: SharedMemory | None = None,
) -> KernelFeatures:
    """A kernel of n x n threads."""
    return KernelFeatures(
        kernel="k",
        function="k",
        path="k.c",
        span=NO_SPAN,
        how_parallel="given",
        block=block,
        extents=(n, n),
        trace_extents=(128, 128),
        sizes=(),
        trace_sizes=(),
        blocks=(n // block[0]) * (n // block[1]),
        trace_batches=2,
        element_bytes=4,
        dram=dram,
        per_warp=per_warp,
        mix=InstructionMix(add=instructions),
        instructions=(),
        transactions=1.0,
        cache_accesses=misses[1],
        cache_misses=misses[0],
        shared=shared,
    )


def gemm(n: int, per_k: int = 10) -> KernelFeatures:
    """GEMM-like: a constant and a coalesced load an iteration of k."""
    return features(
        n,
        dram=ByClass(constant=1 / 64, coalesced=1 / 16),
        per_warp=ByClass(constant=n, coalesced=n),
        instructions=per_k * n,
    )


SYRK = features(
    1024,
    dram=ByClass(constant=1 / 64, uncoalesced=3 / 64),
    per_warp=ByClass(constant=1024, uncoalesced=1024),
    instructions=10 * 1024,
)


def tiled(n: int, per_k: int, reads: ByClass) -> KernelFeatures:
    """Two tiles of 32 x 32; global memory is met only by the loads of tiles."""
    tiles = SharedMemory(
        tile_arrays=("A", "B"),
        bytes_per_block=8192,
        tiles=n / 32,
        loads=2 * n / 32,
        reads=reads,
        sync_instructions=2 * n / 32,
    )
    return features(n, dram=ByClass(), per_warp=ByClass(), instructions=per_k * n, shared=tiles)


def milliseconds(cost: KernelCost) -> float:
    return cost.time_s * 1e3


def test_equations_1_to_5() -> None:
    assert class_latency("coalesced", 0.4375, TK1) == 166
    assert class_delay("coalesced", 0.4375, TK1) == 4.375
    assert class_latency("uncoalesced", 32, TK1) == 806
    assert class_delay("uncoalesced", 32, TK1) == 320
    assert class_latency("constant", 1 / 64, TK1) == 169.1875
    assert class_delay("constant", 1 / 64, TK1) == 2.15625
    assert class_latency("uncoalesced", 1, TK1) == 164 + 31 * 2  # the last d of equation (1)
    assert class_latency("uncoalesced", 1.5, TK1) == 164 + 332 + 5
    assert class_delay("coalesced", 0.1, TK1) == 4


def test_gemm_1024_table_4() -> None:
    cost = MODEL.predict(gemm(1024), TK1)
    assert cost.parallelism is not None
    assert (cost.resident_blocks, cost.resident_warps, cost.batch) == (2, 64, 512)
    assert cost.parallelism.mem_l_cycles == pytest.approx(167.594, abs=5e-4)
    assert cost.parallelism.departure_delay_cycles == pytest.approx(3.0781, abs=5e-5)
    assert cost.parallelism.mwp == pytest.approx(54.45, rel=5e-4)
    assert cost.parallelism.cwp == 64
    assert cost.parallelism.equation == "(16)"
    assert milliseconds(cost) == pytest.approx(242.53, rel=5e-4)
    assert cost.bottleneck == "memory"


def test_syrk_1024_table_4() -> None:
    cost = MODEL.predict(SYRK, TK1)
    assert cost.parallelism is not None
    assert cost.parallelism.mem_l_cycles == pytest.approx(197.594, abs=5e-4)
    assert cost.parallelism.departure_delay_cycles == pytest.approx(33.0781, abs=5e-5)
    assert cost.parallelism.mwp == pytest.approx(5.97, abs=5e-3)
    assert cost.parallelism.cwp == 64
    assert milliseconds(cost) == pytest.approx(2605.45, rel=5e-4)


def test_3mm_2048_table_4() -> None:
    """Three products; each of 9 instructions an iteration (no alpha)."""
    assert 3 * milliseconds(MODEL.predict(gemm(2048, 9), TK1)) == pytest.approx(5819.73, rel=5e-4)


def test_shared_memory_table_5() -> None:
    reads = ByClass(constant=1024, coalesced=1024)
    assert milliseconds(MODEL.predict(tiled(1024, 10, reads), TK1)) == pytest.approx(105.75, rel=0.02)
    reads = ByClass(constant=4096, coalesced=4096)
    assert milliseconds(MODEL.predict(tiled(4096, 9, reads), TK1)) == pytest.approx(6748.05, rel=0.02)
    syrk = ByClass(constant=1024, uncoalesced=1024)
    assert milliseconds(MODEL.predict(tiled(1024, 10, syrk), TK1)) == pytest.approx(713.42, rel=0.02)


def test_shared_memory_limits_the_resident_blocks() -> None:
    base = tiled(1024, 10, ByClass(constant=1024, coalesced=1024))
    assert base.shared is not None
    wide = dataclasses.replace(base, shared=dataclasses.replace(base.shared, bytes_per_block=30000))
    assert MODEL.predict(wide, TK1).resident_blocks == 1
    too_wide = dataclasses.replace(base, shared=dataclasses.replace(base.shared, bytes_per_block=50000))
    with pytest.raises(ModelNotApplicable, match="no block fits on a multiprocessor \\(limited by shared memory\\)"):
        MODEL.predict(too_wide, TK1)


def test_synchronisation_is_reported_and_not_part_of_the_time() -> None:
    """(23), with a global memory instruction so that there is a departure delay."""
    base = tiled(1024, 10, ByClass(constant=1024, coalesced=1024))
    with_store = dataclasses.replace(base, per_warp=ByClass(coalesced=1), dram=ByClass(coalesced=2))
    cost = MODEL.predict(with_store, TK1)
    assert cost.parallelism is not None
    mem_l, delay = 164 + 332 + 10, 20
    assert cost.parallelism.mwp == pytest.approx(mem_l / delay)
    assert cost.sync_cycles == pytest.approx(delay * (mem_l / delay - 1) * 64 * 2 * 512)
    assert cost.cycles == pytest.approx((mem_l + 64 * 506 + 5120 + 67 * 2048) * 512)


def test_equation_17_when_computation_bounds() -> None:
    cost = MODEL.predict(
        features(1024, dram=ByClass(coalesced=1 / 16), per_warp=ByClass(coalesced=2), instructions=2000), TK1
    )
    assert cost.parallelism is not None
    assert cost.parallelism.mwp == pytest.approx(166 / 4)
    assert cost.parallelism.cwp == pytest.approx((2 * 166 + 1000) / 1000)
    assert cost.parallelism.equation == "(17)"
    assert cost.cycles == pytest.approx((166 + 1000 * 64) * 512)
    assert cost.bottleneck == "compute"


def test_no_memory_instructions() -> None:
    cost = MODEL.predict(features(1024, dram=ByClass(), per_warp=ByClass(), instructions=2000), TK1)
    assert cost.cycles == pytest.approx(1000 * 64 * 512)
    assert (cost.bottleneck, cost.baseline) == ("compute", None)


def test_the_simple_cache_baseline() -> None:
    """(24), (25) with a miss rate of 1/4."""
    base = dataclasses.replace(gemm(1024), cache_accesses=4, cache_misses=1)
    cost = MODEL.predict(base, TK1)
    assert cost.baseline is not None
    mem_l, delay = 164 * 0.75 + 332 * 0.25, 2 * 0.75 + 10 * 0.25
    assert cost.baseline.mem_l_cycles == pytest.approx(mem_l)
    assert cost.baseline.departure_delay_cycles == pytest.approx(delay)
    mwp = mem_l / delay
    assert cost.baseline.cycles == pytest.approx((mem_l * 2048 * 64 / mwp + 5120 / 2048 * (mwp - 1)) * 512)


def test_several_multiprocessors_share_the_blocks() -> None:
    four = dataclasses.replace(TK1, sms=4)
    assert MODEL.predict(gemm(1024), four).time_s == pytest.approx(MODEL.predict(gemm(1024), TK1).time_s / 4)
    many = dataclasses.replace(TK1, sms=4096)
    assert MODEL.predict(gemm(1024), many).batch == 1
    assert any("extension" in note for note in MODEL.predict(gemm(1024), four).notes)


def test_few_blocks_leave_few_warps() -> None:
    cost = MODEL.predict(gemm(32), TK1)
    assert (cost.resident_blocks, cost.resident_warps, cost.batch) == (1, 32, 1)
    assert cost.bottleneck == "parallelism"


def test_more_misses_never_make_a_kernel_quicker() -> None:
    times = [
        MODEL.predict(dataclasses.replace(SYRK, dram=ByClass(constant=1 / 64, uncoalesced=d)), TK1).time_s
        for d in (0, 1, 2, 8, 16, 32)
    ]
    assert times == sorted(times)


def test_what_the_model_does_not_cover_is_refused_with_the_reason() -> None:
    with pytest.raises(ModelNotApplicable, match="a block of 2048 threads; the device takes 1024"):
        MODEL.predict(dataclasses.replace(gemm(1024), block=(64, 32, 1)), TK1)
    with pytest.raises(FormatError, match=r"no departure_delay_cycles\.l2, which cgpredict needs"):
        MODEL.predict(gemm(1024), dataclasses.replace(TK1, delay_l2_cycles=None))


def test_the_registry_knows_all_models() -> None:
    assert KERNEL_COST_MODELS.names() == ("cgpredict", "hierarchy", "memory_pipeline")
    assert KERNEL_COST_MODELS.load("cgpredict") is MODEL
