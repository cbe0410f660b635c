"""CGPredict from C source: the printed estimates of tables 4, 5 and 6 that follow from the text of the paper.

The rows that do not (docs/gpu.md says why) are computed by ``benchmarks/cgpredict_paper.py`` and are no target.
"""

from pathlib import Path

import pytest

from dse.flows.gpu import KernelOptions, ModelOptions, PredictedKernel, Prediction, PredictOptions, predict

KERNELS = Path(__file__).parent / "kernels"


def run(
    file: str, n: int, trace: int | None = None, *, advice: bool = False, block: tuple[int, int, int] | None = None
) -> Prediction:
    kernels = KernelOptions(path=str(KERNELS / file), defines=(("N", str(n)),), trace_size=trace, block=block)
    return predict(PredictOptions(kernels=kernels, model=ModelOptions(name="cgpredict"), advice=advice))


def only(prediction: Prediction) -> PredictedKernel:
    (kernel,) = prediction.kernels
    return kernel


def milliseconds(prediction: Prediction, kernels: int | None = None) -> float:
    return 1e3 * sum(k.cost.time_s for k in prediction.kernels[:kernels])


def test_gemm_1024() -> None:
    prediction = run("gemm.c", 1024)
    kernel = only(prediction)
    warp = kernel.cost.parallelism
    assert warp is not None
    assert (kernel.features.dram.constant, kernel.features.dram.coalesced) == (1 / 64, 1 / 16)
    assert kernel.features.total_instructions == 10 * 1024
    assert warp.mem_l_cycles == pytest.approx(167.594, abs=5e-4)
    assert warp.departure_delay_cycles == pytest.approx(3.0781, abs=5e-5)
    assert warp.mwp == pytest.approx(54.45, rel=5e-4)
    assert warp.cwp == 64
    assert milliseconds(prediction) == pytest.approx(242.53, rel=5e-4)


def test_gemm_traced_at_the_work_size_is_another_figure() -> None:
    """The spec of the two sizes: a trace at the work size gives 249.07 ms."""
    assert milliseconds(run("gemm.c", 1024, 1024)) == pytest.approx(249.07, rel=5e-4)


def test_syrk_1024() -> None:
    prediction = run("syrk.c", 1024)
    kernel = only(prediction)
    warp = kernel.cost.parallelism
    assert warp is not None
    assert (kernel.features.dram.constant, kernel.features.dram.uncoalesced) == (1 / 64, 3 / 64)
    assert warp.mem_l_cycles == pytest.approx(197.594, abs=5e-4)
    assert warp.departure_delay_cycles == pytest.approx(33.0781, abs=5e-5)
    assert warp.mwp == pytest.approx(5.97, abs=5e-3)
    assert warp.cwp == 64
    assert milliseconds(prediction) == pytest.approx(2605.45, rel=5e-4)
    assert kernel.cost.bottleneck == "memory"


def test_syr2k_1024() -> None:
    assert milliseconds(run("syr2k.c", 1024)) == pytest.approx(5204.73, rel=5e-4)


def test_3mm_2048() -> None:
    prediction = run("3mm.c", 2048)
    assert len(prediction.kernels) == 3
    assert milliseconds(prediction) == pytest.approx(5819.73, rel=5e-4)


def test_2mm_4096_counts_one_product() -> None:
    assert milliseconds(run("2mm.c", 4096), 1) == pytest.approx(15518.11, rel=5e-4)


def test_2dconv_4096() -> None:
    assert milliseconds(run("2dconv.c", 4096, 512)) == pytest.approx(28.01, rel=0.03)


@pytest.mark.parametrize(
    ("file", "n", "tiles", "printed_ms"),
    [
        ("gemm_tiled.c", 1024, 2, 105.75),
        ("mm_tiled.c", 4096, 2, 6748.05),
        ("syrk_tiled.c", 1024, 2, 713.42),
        pytest.param("syr2k_tiled.c", 1024, 4, 1445.48, marks=pytest.mark.slow),
    ],
)
def test_shared_memory(file: str, n: int, tiles: int, printed_ms: float) -> None:
    prediction = run(file, n)
    shared = only(prediction).features.shared
    assert shared is not None
    assert (len(shared.tile_arrays), shared.bytes_per_block, shared.tiles) == (tiles, tiles * 4096, n / 32)
    assert milliseconds(prediction) == pytest.approx(printed_ms, rel=0.02)


def test_syrk_transposed() -> None:
    assert milliseconds(run("syrk_transposed.c", 1024)) == pytest.approx(237.53, rel=0.03)


def test_advice_on_syrk_is_the_transposed_kernel() -> None:
    """The advice changes the kernel itself; its time is that of the C source with the transposed copy."""
    prediction = run("syrk.c", 1024, advice=True)
    advice = only(prediction).advice
    transposed = next(a for a in advice if a.kind == "transpose" and a.cost.shared_cycles == 0)
    assert transposed.cost.time_s == pytest.approx(run("syrk_transposed.c", 1024).time_s, rel=1e-12)
    assert transposed.cost.time_s * 1e3 == pytest.approx(237.53, rel=0.03)
    assert transposed.gain == pytest.approx(11, rel=0.05)
    assert "A[j][k]" in transposed.text
    tiled = next(a for a in advice if a.kind == "tile")
    assert tiled.cost.time_s == pytest.approx(run("syrk_tiled.c", 1024).time_s, rel=0.02)


def test_advice_on_gemm_is_tiling() -> None:
    """Table 6: shared memory, 105.75 ms; nothing is uncoalesced, so nothing is to be transposed."""
    advice = only(run("gemm.c", 1024, advice=True)).advice
    assert [a.kind for a in advice].count("transpose") == 0
    tiled = next(a for a in advice if a.kind == "tile")
    assert tiled.cost.time_s * 1e3 == pytest.approx(105.75, rel=0.02)


OTHERS = ("3dconv.c", "atax.c", "bicg.c", "corr.c", "covar.c", "fdtd2d.c", "gesummv.c", "gramschm.c", "mvt.c")


@pytest.mark.slow
@pytest.mark.parametrize("file", OTHERS)
def test_other_kernels_and_sizes_work(file: str) -> None:
    """The other kernels of table 4 give a figure, at a size that is no power of two."""
    prediction = run(file, 70 if file == "3dconv.c" else 200)
    assert all(k.cost.time_s > 0 for k in prediction.kernels)
