"""The memory pipeline: the figures of Hu, Liu and Dong. Some printed digits are misprints; those are computed."""

import dataclasses

import pytest

from dse.base.errors import FormatError, ModelNotApplicable
from dse.formats.device_yaml import load_device
from dse.gpu.models.memory_pipeline import (
    MODEL,
    MemoryPipeline,
    PipelineInputs,
    ReadCycle,
    pipeline_time,
    read_cycle_s,
)
from dse.model.kernel import ByClass, InstructionMix
from tests.papers.test_cgpredict_equations import gemm

M2050 = load_device("tesla-m2050")
MEASURED: ReadCycle = "measured"


def test_read_cycle_section_4() -> None:
    assert read_cycle_s(M2050) * 1e9 == pytest.approx(1.294, rel=1e-3)
    assert read_cycle_s(M2050, MEASURED) * 1e9 == pytest.approx(1.3304, rel=1e-4)


def test_table_1() -> None:
    measured = (1.32 + 1.34 + 1.34 + 1.33) / 4
    assert measured == 1.3325
    assert (measured - read_cycle_s(M2050) * 1e9) / measured == pytest.approx(0.029, abs=5e-4)


def test_table_2() -> None:
    """Two cases of 64 blocks: 256 threads with 15 transactions a request, 512 threads with 10; 100 requests a warp."""
    case_1 = PipelineInputs(transactions=15, requests=100, warps=64 * 256 / 32)
    case_2 = PipelineInputs(transactions=10, requests=100, warps=64 * 512 / 32)
    difference = pipeline_time(case_2, M2050, MEASURED).cycles - pipeline_time(case_1, M2050, MEASURED).cycles
    assert difference == pytest.approx(391680)
    assert (difference - 381162) / 381162 == pytest.approx(0.028, abs=5e-4)


@pytest.mark.parametrize(
    ("requests", "printed_s"), [(5, 0.040272), (17, 0.136926), (16, 0.128871)], ids=["init", "flux", "time_step"]
)
def test_table_4_cfd(requests: int, printed_s: float) -> None:
    """The kernels of CFD at 193K: coalesced requests, 1000 launches."""
    inputs = PipelineInputs(transactions=1, requests=requests, warps=6054, launches=1000)
    assert pipeline_time(inputs, M2050, MEASURED).time_s == pytest.approx(printed_s, rel=1e-4)


@pytest.mark.parametrize(
    ("size", "printed_s"),
    [((1024, 512, 4), 0.305169), ((512, 512, 8), 0.414159), ((512, 512, 4), 0.305169 / 2)],  # printed: 0.162558
)
def test_table_5_stencil(size: tuple[int, int, int], printed_s: float) -> None:
    nx, ny, nz = size
    inputs = PipelineInputs(transactions=1, requests=6 * (nz - 2) + 2, warps=nx * ny / 32, launches=1000)
    assert pipeline_time(inputs, M2050, MEASURED).time_s == pytest.approx(printed_s, rel=1e-4)


def test_throughput_falls_with_transactions() -> None:
    one = pipeline_time(PipelineInputs(transactions=1, requests=1, warps=1), M2050)
    many = pipeline_time(PipelineInputs(transactions=32, requests=1, warps=1), M2050)
    assert one.throughput_hz == pytest.approx(1 / 1.2937e-9, rel=1e-3)
    assert one.throughput_hz / many.throughput_hz == pytest.approx(32)


STREAM = dataclasses.replace(
    gemm(1024), per_warp=ByClass(coalesced=3), mix=InstructionMix(loads=2, stores=1, add=1), transactions=1.0
)


def test_a_memory_bound_kernel_from_features() -> None:
    cost = MODEL.predict(STREAM, M2050)
    assert cost.time_s == pytest.approx(read_cycle_s(M2050) * 3 * 1024 * 1024 / 32)
    assert cost.parallelism is None
    assert MemoryPipeline(launches=10).predict(STREAM, M2050).time_s == pytest.approx(10 * cost.time_s)
    assert MemoryPipeline(read_cycle="measured").predict(STREAM, M2050).time_s > cost.time_s


def test_compute_bound_kernels_are_refused_with_the_reason() -> None:
    heavy = dataclasses.replace(STREAM, mix=InstructionMix(loads=2, stores=1, fma=5000))
    with pytest.raises(ModelNotApplicable, match="it is compute-bound: 5000 instructions to 3 requests a warp"):
        MODEL.predict(heavy, M2050)
    with pytest.raises(ModelNotApplicable, match="no global memory instruction"):
        MODEL.predict(dataclasses.replace(STREAM, per_warp=ByClass()), M2050)


def test_constants_that_a_device_lacks() -> None:
    with pytest.raises(FormatError, match=r"no dram\.t_ras_cycles, which memory_pipeline needs"):
        MODEL.predict(STREAM, load_device("jetson-tk1"))
    with pytest.raises(FormatError, match=r"no dram\.read_cycles"):
        read_cycle_s(load_device("h200"), MEASURED)
