import pytest

from dse.formats.device_yaml import load_device
from dse.frontend.c.lower import kernels_of
from dse.gpu.kernel.tiling import tiled
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import Kernel, KernelFeatures
from dse.passes.analyses.parallel_loops import parallelise

MACHINE = load_device("jetson-tk1").trace_machine("test")
HEAD = "#define N 128\nvoid f(float A[N][N], float B[N][N], float C[N][N])\n{\n"


def analysed(body: str, block: tuple[int, int, int] | None = None) -> tuple[Kernel, KernelFeatures]:
    (found,) = kernels_of("k.c", f"{HEAD}{body}\n}}\n", {})
    kernel = parallelise(found)
    return kernel, kernel_features(kernel, kernel, MACHINE, block=block)


PRODUCT = """
for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
            C[i][j] += A[i][k] * B[k][j];
"""


def test_a_product_is_read_from_tiles() -> None:
    kernel, features = analysed(PRODUCT)
    found = tiled(kernel, features)
    assert found is not None
    assert found.shared is not None
    assert found.shared.tile_arrays == ("A[i][k]", "B[k][j]")
    assert (found.shared.tiles, found.shared.loads, found.shared.bytes_per_block) == (4, 8, 8192)
    assert (found.shared.reads.constant, found.shared.reads.coalesced) == (128, 128)
    assert found.memory_instructions == 0
    assert found.mix == features.mix


def test_tiles_need_a_square_block() -> None:
    assert tiled(*analysed(PRODUCT, (32, 8, 1))) is None


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) C[i][j] = A[i][j] + B[j][i];",
        "for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) C[i][0] += A[i][k] * B[0][k];",
        "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < 8; k++) C[i][j] += A[i][k];",
    ],
    ids=["no loop in a thread", "one dimension", "fewer trips than a tile"],
)
def test_what_cannot_be_tiled(body: str) -> None:
    assert tiled(*analysed(body)) is None


@pytest.mark.parametrize(("n", "tiles"), [(31, None), (32, 1), (64, 2)])
def test_a_loop_as_long_as_the_block_is_one_tile(n: int, tiles: int | None) -> None:
    (found,) = kernels_of("k.c", f"{HEAD}{PRODUCT}\n}}\n", {"N": str(n)})
    kernel = parallelise(found)
    changed = tiled(kernel, kernel_features(kernel, kernel, MACHINE, compiled=False))
    assert (changed.shared.tiles if changed is not None and changed.shared is not None else None) == tiles
