"""The cost of a firing: one thread, threads that share loops, blocks of firings; what must hold on every device."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import FormatError, OptionError
from dse.formats.device_yaml import builtin_devices, load_device
from dse.gpu.actors.firing import (
    MOST_FIRINGS,
    FiringModel,
    LaunchShape,
    default_shape,
    fitted_block,
    lone_prices,
    of_firings,
)
from dse.gpu.models.hierarchy import demand_of
from dse.model.kernel import Kernel, ParallelLoop
from dse.program.ir import Actor, Variable
from dse.program.types import INT32
from tests.examples import examples
from tests.unit.gpu.actor_support import actor
from tests.unit.gpu.kernel_support import features

SERIAL = "x: action I:[v] ==> O:[w] var int w := v * 3 do end"
SCALED = """
  x: action I:[v] repeat 64 ==> O:[w] repeat 64
  var int(size=32) w[64]
  do foreach int i in 0 .. 63 do w[i] := 5 * v[i]; end end
"""
PRODUCT = """
  x: action I:[v] repeat {N2} ==> O:[w] repeat {N2}
  var int(size=32) w[{N2}], int s
  do
    foreach int i in 0 .. {N} - 1 do foreach int j in 0 .. {N} - 1 do
      s := 0;
      foreach int k in 0 .. {N} - 1 do s := s + v[{N} * i + k] * v[{N} * k + j]; end
      w[{N} * i + j] := s;
    end end
  end
"""


def product(folder: Path, n: int) -> Actor:
    return actor(folder, PRODUCT.replace("{N2}", str(n * n)).replace("{N}", str(n)))


def test_one_thread_waits_for_each_instruction(tmp_path: Path) -> None:
    """One multiplication and nothing else: the multiply of Volta scaled to the arithmetic latency of the device."""
    found = actor(tmp_path, SERIAL)
    device = load_device("jetson-tk1")
    cost = FiringModel(device).firing(found, found.actions[0])
    assert cost.cycles == cost.alone_cycles == Fraction(5, 4) * 11
    assert (cost.threads, cost.confidence, cost.reason) == (1, "low", "one thread: it has no loop")
    assert lone_prices(device)["load"] == 164


def test_threads_share_a_loop(tmp_path: Path) -> None:
    """64 threads on a Jetson TK1: two warps with a load and a store each; the chain of one warp is the longest.

    CGPredict: two coalesced accesses, d = (4 + 4 lines) / 4 warp instructions = 2, (2) gives 164 + 332 + 10 = 506 each.
    The hierarchy: one load waits, a store does not. Both: one multiplication.
    """
    found = actor(tmp_path, SCALED)
    for model, waits in (("cgpredict", 2 * 506), ("hierarchy", 496)):
        cost = FiringModel(load_device("jetson-tk1"), model=model).firing(found, found.actions[0])
        (loop,) = (p for p in cost.pieces if p.threads > 1)
        assert (loop.threads, cost.threads, cost.confidence) == (64, 64, "medium")
        assert loop.cycles == pytest.approx(waits + 11)
        assert cost.cycles < cost.alone_cycles


def test_a_model_that_does_not_know_what_a_warp_waits_for_prices_no_firing() -> None:
    with pytest.raises(OptionError, match="the model 'memory_pipeline' prices no firings"):
        FiringModel(load_device("tesla-m2050"), model="memory_pipeline")


def test_firings_beside_each_other_move_what_each_of_them_does(tmp_path: Path) -> None:
    """The same blocks as one grid and as 64 copies of a smaller one: copies share no data."""
    found = product(tmp_path, 16)
    model = FiringModel(load_device("gtx1660s"))
    (piece,) = (p for p in model.firing(found, found.actions[0]).pieces if p.features is not None)
    assert piece.features is not None
    of_one = demand_of(piece.features, model.device).dram_bytes
    of_all = replace(piece.features, blocks=64 * piece.features.blocks, copies=64)
    assert demand_of(of_all, model.device).dram_bytes == pytest.approx(64 * of_one, rel=0.01)


def test_firings_in_a_block_cost_no_more_than_one_by_one(tmp_path: Path) -> None:
    found = actor(tmp_path, SCALED)
    model = FiringModel(load_device("gtx1660s"))
    single = model.firing(found, found.actions[0])
    table = model.firing(found, found.actions[0], longest_run=300).simd_cycles
    assert len(table) == 300
    assert table[0] == single.cycles
    assert list(table) == sorted(table)
    assert all(cycles <= (k + 1) * single.cycles for k, cycles in enumerate(table))
    assert table[-1] < 20 * single.cycles
    assert model.firing(found, found.actions[0], longest_run=1).simd_cycles == ()
    assert len(model.firing(found, found.actions[0], longest_run=10**9).simd_cycles) == MOST_FIRINGS


def test_a_block_of_firings_is_not_larger_than_the_threads(tmp_path: Path) -> None:
    found = actor(tmp_path, SCALED)
    model = FiringModel(load_device("gtx1660s"), LaunchShape(blocks=2, threads=64))
    assert len(model.firing(found, found.actions[0], longest_run=300).simd_cycles) == 128


def test_an_actor_of_one_thread_has_no_parallel_loop(tmp_path: Path) -> None:
    found = actor(tmp_path, SCALED)
    cost = FiringModel(load_device("h200"), LaunchShape(blocks=1, threads=1)).firing(
        found, found.actions[0], longest_run=9
    )
    assert (cost.threads, cost.cycles, cost.simd_cycles) == (1, cost.alone_cycles, ())
    assert cost.reason.startswith("one thread: the actor is launched with one thread")


def test_more_threads_are_not_slower(tmp_path: Path) -> None:
    found = product(tmp_path, 64)
    device = load_device("gtx1660s")
    shapes = [LaunchShape(blocks=blocks, threads=256) for blocks in (1, 2, 8, 22, 88)]
    cycles = [FiringModel(device, shape).firing(found, found.actions[0]).cycles for shape in shapes]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] > 4 * cycles[-1]


def test_more_multiprocessors_make_a_large_product_quicker(tmp_path: Path) -> None:
    """Latency decides for small matrices, throughput for large ones: there the H200 must win, here it need not."""
    costs = {}
    for n in (16, 512):
        found = product(tmp_path / str(n), n)
        for name in ("jetson-tk1", "gtx1660s", "h200"):
            device = load_device(name)
            cost = FiringModel(device).firing(found, found.actions[0])
            costs[n, name] = float(cost.cycles) / device.clock_mhz
            assert cost.threads == min(n * n, device.sms * int(device.threads_per_sm or 0))
    assert costs[512, "h200"] < costs[512, "gtx1660s"] / 2 < costs[512, "jetson-tk1"] / 20
    assert costs[16, "h200"] > 0.8 * costs[16, "gtx1660s"]


def test_words_of_64_bits_without_a_sign(tmp_path: Path) -> None:
    """Above 2^63 a Python integer is no int64: literals and tables are the bits that stand for them."""
    text = """
  uint(size=64) BIT[2] = [0x8000000000000000, 0xFFF0000000000000];
  x: action I:[v] repeat 64 ==> O:[w] repeat 64
  var int w[64], uint(size=64) word
  do
    foreach int i in 0 .. 63 do
      word := v[i];
      word := (word << 40 | 0xFFF0000000000000) + BIT[i & 1];
      w[i] := if word > 0x8000000000000001 then word >> 32 else v[BIT[i & 1] >> 63] end;
    end
  end
"""
    found = actor(tmp_path, text)
    cost = FiringModel(load_device("gtx1660s")).firing(found, found.actions[0], longest_run=4)
    assert cost.threads == 64
    assert len(cost.simd_cycles) == 4


ONLY_SPLIT = {"a8-3870", "pocl"}
"""Devices whose measured kernels are split; nothing is known of the latencies that a prediction needs."""


@pytest.mark.parametrize("name", sorted({*builtin_devices()} - ONLY_SPLIT))
def test_every_device_has_what_is_needed(name: str, tmp_path: Path) -> None:
    device = load_device(name)
    found = actor(tmp_path, SCALED)
    model = FiringModel(device)
    assert model.shape == default_shape(device)
    assert model.firing(found, found.actions[0]).cycles > 0


@pytest.mark.parametrize(
    "field", ["latency_arithmetic_cycles", "launch_us", "transfer_gb_s", "transactions", "l2_ways"]
)
def test_a_missing_constant_is_named(field: str) -> None:
    with pytest.raises(FormatError, match=r"has no .*, which .* needs"):
        FiringModel(replace(load_device("h200"), **{field: None}))  # type: ignore[arg-type]


@settings(max_examples=examples(20), deadline=None)
@given(scale=st.integers(2, 8), clock=st.integers(100, 3000))
def test_slower_devices_are_not_quicker(scale: int, clock: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Longer latencies never make a firing cheaper, a higher clock never slower; the same again is the same."""
    found = actor(tmp_path_factory.getbasetemp() / "slower", SCALED)
    fast = replace(load_device("gtx1660s"), clock_mhz=float(clock))
    slow = replace(
        fast, latency_l2_cycles=190.0 * scale, latency_dram_cycles=310.0 * scale, latency_arithmetic_cycles=4.0 * scale
    )
    quick = FiringModel(fast).firing(found, found.actions[0])
    assert FiringModel(slow).firing(found, found.actions[0]).cycles >= quick.cycles
    faster = FiringModel(replace(fast, clock_mhz=fast.clock_mhz * scale)).firing(found, found.actions[0])
    assert faster.cycles / (fast.clock_mhz * scale) <= quick.cycles / fast.clock_mhz
    assert FiringModel(fast).firing(found, found.actions[0]) == quick


@pytest.mark.parametrize(("width", "x"), [(1, 32), (31, 32), (32, 32), (33, 64), (100, 128), (255, 256), (999, 256)])
def test_blocks_of_one_dimension_are_whole_warps(width: int, x: int) -> None:
    loop = ParallelLoop(variable=Variable("i", "i", INT32, "loop"), low=0, step=1, extent=width)
    kernel = Kernel(name="k", function="f", path="", arrays=(), scalars=(), parallel=(loop,), how_parallel="", body=())
    assert fitted_block(kernel, 256) == (x, 1, 1)


@pytest.mark.parametrize(
    ("firings", "block", "blocks"), [(1, 32, 1), (32, 32, 1), (33, 64, 1), (256, 256, 1), (257, 256, 2), (600, 256, 3)]
)
def test_firings_in_blocks_of_whole_warps(firings: int, block: int, blocks: int) -> None:
    of_one = features("void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 0; }", 64, compiled=False)
    found = of_firings(of_one, firings, 256)
    assert (found.extents, found.block, found.blocks) == ((firings,), (block, 1, 1), blocks)


@given(widths=st.lists(st.integers(1, 5000), min_size=1, max_size=2), threads=st.sampled_from([1, 32, 64, 256, 1024]))
def test_blocks_fit(widths: list[int], threads: int) -> None:
    loops = tuple(
        ParallelLoop(variable=Variable(f"i{k}", f"i{k}", INT32, "loop"), low=0, step=1, extent=width)
        for k, width in enumerate(widths)
    )
    kernel = Kernel(name="k", function="f", path="", arrays=(), scalars=(), parallel=loops, how_parallel="", body=())
    x, y, z = fitted_block(kernel, threads)
    assert 1 <= x * y * z <= max(threads, 32)
    assert x <= max(32, 2 * widths[0])
    assert y == 1 or y < 2 * widths[1]
