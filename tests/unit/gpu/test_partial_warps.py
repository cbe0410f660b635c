"""Blocks that are no multiple of 32 threads: warps, their accesses and lines, and the cycles, by brute force.

A warp never holds threads of two blocks: the last warp of a block of 48 threads has 16 lanes.
"""

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from dse.formats.device_yaml import load_device
from dse.frontend.c.lower import kernels_of
from dse.gpu.kernel.counting import count_work, sampled_warps
from dse.gpu.kernel.plan import plan_of
from dse.gpu.models.cgpredict import MODEL, occupancy
from dse.gpu.models.memory_pipeline import inputs_of
from dse.gpu.trace.execute import batch_slots
from dse.model.kernel import Kernel, TraceMachine
from dse.passes.analyses.parallel_loops import parallelise
from tests.unit.gpu.kernel_support import features, kernel

LANES, LINE_BYTES, BATCH = 32, 64, 2048
TRACED = 2 * BATCH // LANES
"""Warps of the two batches that a trace has."""
STRIDE = 3
LINEAR = "void f(float a[4 * N], float b[N]) { for (int i = 0; i < N; i++) b[i] = a[3 * i]; }"
PLANE = """
void f(float a[N][N], float b[N][N]) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) b[i][j] = a[j][i]; }"""
BORDER = "void f(float a[N], float b[N]) { for (int i = 3; i < N; i++) b[i] = a[i]; }"
UNEVEN = """
void f(float a[N][N], float b[N]) {
  for (int i = 0; i < N; i++) { float s = 0; for (int k = 0; k <= i; k++) s += a[i][k]; b[i] = s; } }"""
BLOCKS_1D = [(1, 1, 1), (16, 1, 1), (31, 1, 1), (33, 1, 1), (48, 1, 1), (100, 1, 1), (200, 1, 1)]
BLOCKS_2D = [(5, 5, 1), (16, 3, 1), (33, 1, 1), (7, 9, 1), (31, 2, 1)]

Thread = tuple[int, ...]


def warps(widths: tuple[int, ...], block: tuple[int, ...]) -> Iterator[list[Thread]]:
    """The coordinates (x first) of the threads of each warp of a grid, those outside the grid left out."""
    shape = block[: len(widths)]
    grid = [range(-(-w // b)) for w, b in zip(widths, shape, strict=True)]
    for number in itertools.product(*reversed(grid)):  # the last varies fastest: x
        threads = [tuple(reversed(t)) for t in itertools.product(*(range(b) for b in reversed(shape)))]
        placed = [tuple(n * b + t for n, b, t in zip(reversed(number), shape, p, strict=True)) for p in threads]
        for first in range(0, len(placed), LANES):
            yield [t for t in placed[first : first + LANES] if all(c < w for c, w in zip(t, widths, strict=True))]


@dataclass
class Counted:
    executions: int = 0
    lines: int = 0
    stride: int = 0
    strides: int = 0


def counted(places: list[list[int]]) -> Counted:
    """What warps do that touch these elements of an array of floats at address 0; all in the first two batches."""
    found = Counted()
    for of_warp in places:
        if of_warp:
            stride = max((abs(b - a) for a, b in itertools.pairwise(of_warp)), default=0)
            found.executions += 1
            found.lines += len({p * 4 // LINE_BYTES for p in of_warp})
            found.stride = max(found.stride, stride)
            found.strides += min(max(stride, 1), LANES)
    return found


@pytest.mark.parametrize("block", BLOCKS_1D)
@pytest.mark.parametrize("n", [1, 47, 96, 250])
def test_warps_and_lines_of_one_dimension(block: tuple[int, int, int], n: int) -> None:
    found = features(LINEAR, n, block=block, compiled=False)
    load, store = found.instructions
    seen = list(warps((n,), block))[:TRACED]
    expected = counted([[STRIDE * i for (i,) in warp] for warp in seen])
    executions, lines, stride = load.warp_executions, load.accesses, load.max_stride
    assert (executions, lines, stride) == (expected.executions, expected.lines, expected.stride)
    plain = counted([[i for (i,) in warp] for warp in seen])
    assert store.warp_executions == plain.executions
    assert load.per_warp == store.per_warp == 1
    assert found.transactions == pytest.approx((expected.strides + plain.strides) / (2 * expected.executions))


@pytest.mark.parametrize("block", BLOCKS_2D)
@pytest.mark.parametrize("n", [11, 40])
def test_warps_and_lines_of_two_dimensions(block: tuple[int, int, int], n: int) -> None:
    found = features(PLANE, n, block=block, compiled=False)
    of_block = -(-block[0] * block[1] // LANES)
    seen = list(warps((n, n), block))[:TRACED]
    strides = 0.0
    for instruction, (by_x, by_y) in zip(found.instructions, ((n, 1), (1, n)), strict=True):
        expected = counted([[by_x * x + by_y * y for x, y in warp] for warp in seen])
        strides += expected.strides / expected.executions
        assert (instruction.warp_executions, instruction.max_stride) == (expected.executions, expected.stride)
        assert instruction.accesses == expected.lines
    assert found.transactions == pytest.approx(strides / 2)
    assert found.blocks == math.prod(-(-n // edge) for edge in block[:2])
    assert len(list(warps((n, n), block))) == found.blocks * of_block


@pytest.mark.parametrize(
    ("stride", "access"), [(0, "constant"), (1, "coalesced"), (2, "uncoalesced"), (3, "uncoalesced")]
)
def test_classes_and_misses_of_strides(stride: int, access: str) -> None:
    """Everything fits into the cache: each line of each array misses once, and arrays share no line."""
    n = 70
    found = features(LINEAR.replace("3 * i", f"{stride} * i"), n, block=(48, 1, 1), compiled=False)
    load, store = found.instructions
    assert (load.access, store.access) == (access, "coalesced")
    assert load.misses == load.distinct_lines == len({stride * i * 4 // LINE_BYTES for i in range(n)})
    assert store.misses == store.distinct_lines == -(-n * 4 // LINE_BYTES)
    assert found.cache_misses == load.misses + store.misses


@pytest.mark.parametrize("block", [(32, 1, 1), (20, 1, 1), (48, 1, 1)])
def test_idle_threads_before_a_border(block: tuple[int, int, int]) -> None:
    """Threads 0 to 2 have nothing to do, and their warp is counted only if another of its lanes has."""
    n = 50
    (load, _) = features(BORDER, n, block=block, compiled=False).instructions
    expected = counted([[i for (i,) in warp if i >= 3] for warp in warps((n,), block)])
    assert (load.warp_executions, load.accesses) == (expected.executions, expected.lines)
    tiny = features(BORDER, 5, block=(3, 1, 1), compiled=False).instructions[0]
    assert tiny.warp_executions == 1


@pytest.mark.parametrize("block", [(16, 1, 1), (33, 1, 1), (48, 1, 1), (100, 1, 1)])
def test_the_longest_lane_of_partial_warps_counts(block: tuple[int, int, int]) -> None:
    """A warp runs its loop as often as its last thread: the mean over the warps that have threads."""
    n = 230
    found = features(UNEVEN, n, block=block, compiled=False)
    last = [max(i for (i,) in warp) + 1 for warp in warps((n,), block) if warp]
    (load,) = [i for i in found.instructions if i.text.startswith("a")]
    assert load.per_warp == pytest.approx(sum(last) / len(last))
    assert load.warp_executions == sum(last)


@pytest.mark.parametrize("block", [*BLOCKS_1D, *BLOCKS_2D])
def test_slots_of_batches_and_sampled_lanes_are_the_warps(block: tuple[int, int, int]) -> None:
    n = 45
    of = kernel(PLANE if block[1] > 1 else LINEAR, N=n)
    expected = list(warps((n,) * len(of.parallel), block))
    assert list(slots_by_warp(of, block)) == expected
    sample = sampled_warps(of, block, LANES, len(expected))
    coordinates = np.stack([sample.values[p.variable.name] for p in of.parallel], axis=2)
    assert [[tuple(t) for t in c[a].tolist()] for c, a in zip(coordinates, sample.active, strict=True)] == expected


def slots_by_warp(of: Kernel, block: tuple[int, int, int]) -> Iterator[list[Thread]]:
    for batch in itertools.count():
        slots = batch_slots(of, block, TraceMachine(), batch)
        if slots is None:
            return
        coordinates, active = slots
        assert active.size <= BATCH
        for first in range(0, active.size, LANES):
            here = slice(first, first + LANES)
            yield [tuple(t) for t in coordinates.T[here][active[here]].tolist()]


def test_a_sample_of_warps_is_spread_over_the_grid() -> None:
    of = kernel(LINEAR, N=100_000)
    sample = sampled_warps(of, (48, 1, 1), LANES, 32)
    values, active = sample.values, sample.active
    assert active.shape == (32, LANES)
    assert set(active.sum(axis=1).tolist()) == {16, 32}
    first = np.sort(values["i"][:, 0])
    assert first[0] < 100_000 / 16
    assert first[-1] > 100_000 * 15 / 16
    assert np.all(np.diff(first) > 0)


@pytest.mark.parametrize("n", [1500, 3000, 4096])
def test_warps_without_work_at_the_end_of_the_grid_do_not_tilt_a_sample(n: int) -> None:
    """The rows of a triangle get shorter along the grid: the mean of a sample is that of all warps."""
    triangle = """
void f(float a[N][N], float b[N][N]) {
  for (int i = 0; i < N - 1; i++)
    for (int j = i + 1; j < N; j++) b[i][j] = a[j][i];
}"""
    plan = plan_of(parallelise(kernels_of("k.c", triangle, {"N": str(n)})[0], ["i"]), promote=False)
    nothing = np.zeros((max(1, plan.n_controls), 3))
    sampled, whole = (count_work(plan, (256, 1, 1), nothing, warps=warps).accesses for warps in (32, 10**6))
    assert sampled == pytest.approx(whole, rel=1e-3)
    assert sampled_warps(plan.kernel, (256, 1, 1), LANES, 32).share == -(-(n - 1) // 32) / (-(-(n - 1) // 256) * 8)


@pytest.mark.parametrize(("threads", "warps_of_block"), [(1, 1), (31, 1), (32, 1), (33, 2), (48, 2), (96, 3), (100, 4)])
def test_partial_warps_take_a_whole_one(threads: int, warps_of_block: int) -> None:
    """Resident warps and so the cycles: a block of 33 threads is two warps, as one of 64 is."""
    device = load_device("jetson-tk1")
    found = features(LINEAR, 9600, block=(threads, 1, 1), compiled=False)
    room = occupancy(found, device)
    assert room.blocks == min(16, 2048 // threads)
    assert room.warps == room.blocks * warps_of_block
    assert room.batch == -(-9600 // threads) / room.blocks
    assert inputs_of(found, device).warps == -(-9600 // threads) * warps_of_block
    cost = MODEL.predict(found, device)
    assert cost.parallelism is not None
    part = cost.parallelism
    n, memory = float(room.warps), found.memory_instructions
    assert part.mwp == min(part.mem_l_cycles / part.departure_delay_cycles, n)
    assert part.cwp == min((part.mem_cycles + part.comp_cycles) / part.comp_cycles, n)
    by_memory = part.mem_cycles * n / part.mwp + part.comp_cycles / memory * (part.mwp - 1)
    by_instructions = part.mem_l_cycles + part.comp_cycles * n
    expected = (by_memory if part.cwp >= part.mwp else by_instructions) * room.batch
    assert cost.cycles == pytest.approx(expected)


MANDELBROT = """
void f(int out[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float x = 0, y = 0, cx = -2.0f + 3.0f * j / N, cy = -1.5f + 3.0f * i / N;
      int n = 0;
      while (x * x + y * y < 4.0f && n < 20) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
      }
      out[i][j] = n;
    }
}"""


def test_rounds_that_data_end_are_those_of_the_whole_grid() -> None:
    """The first rows of a Mandelbrot set end at once. A warp goes round as often as its longest lane."""
    n = 128
    c = (-2 + 3 * np.arange(n) / n)[None, :] + 1j * (-1.5 + 3 * np.arange(n) / n)[:, None]
    z, rounds = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(20):
        alive = np.abs(z) < 2
        rounds[alive] += 1
        z[alive] = z[alive] ** 2 + c[alive]
    longest = rounds.reshape(n, n // 32, 32).max(axis=2).mean()
    notes = {features(MANDELBROT, n, trace, block=(32, 8, 1)).notes[0] for trace in (64, n)}
    (note,) = notes
    (mean,) = re.findall(r"iterations of the loop in line 7 \((.*)\)", note)
    assert float(mean) == pytest.approx(longest, rel=0.15)
