"""The model ``hierarchy``: what a warp asks for, counted by hand, and what each part of the device makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from dse.formats.device_yaml import load_device
from dse.gpu.kernel.plan import plan_of
from dse.gpu.models.cgpredict import MODEL as CGPREDICT
from dse.gpu.models.hierarchy import (
    MODEL,
    Demand,
    Rates,
    bypassing_l1,
    compiled_with,
    demand_of,
    part_cycles,
    residence,
    total_cycles,
)
from dse.gpu.trace import execute
from dse.gpu.trace.features import in_other_blocks, kernel_features, light_features
from dse.gpu.trace.warp_work import warp_work
from dse.model.device import Device
from dse.model.kernel import KernelFeatures, TraceMachine, WarpAccess, WarpWork
from tests.unit.gpu.kernel_support import kernel

GTX = load_device("gtx1080ti")
GEMM = """
void gemm(float a, float A[N][N], float B[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) C[i][j] += a * A[i][k] * B[k][j];
}"""
SCATTER = """
void scatter(float A[N][N], float B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) B[j][i] = A[i][j];
}"""
COPY = "void copy(REAL A[N], REAL B[N]) { for (int i = 0; i < N; i++) B[i] = A[i] BY; }"


def work(text: str, n: int, block: tuple[int, int, int], control: np.ndarray | None = None) -> WarpWork:
    plan = plan_of(kernel(text, N=n))
    return warp_work(plan, block, np.zeros((max(1, plan.n_controls), 3)) if control is None else control)


def features(text: str, n: int, block: tuple[int, int, int]) -> KernelFeatures:
    one = kernel(text, N=n)
    return kernel_features(one, one, TraceMachine(), block=block, with_warp_work=True, compiled=False)


def copy(real: str, by: str = "") -> str:
    return COPY.replace("REAL", real).replace("BY", by)


def of(found: WarpWork, array: str, *, store: bool = False) -> WarpAccess:
    (access,) = (a for a in found.accesses if a.array == array and a.is_store == store)
    return access


def test_lines_and_sectors_of_a_product() -> None:
    """A row of threads reads one element of A and a line of B; the sum in a register is stored in each round."""
    found = work(GEMM, 256, (32, 8, 1))
    a, b, c = of(found, "A"), of(found, "B"), of(found, "C", store=True)
    assert (a.lines, a.sectors, a.executions) == (1, 1, 256)
    assert (b.lines, b.sectors, b.executions) == (1, 4, 256)
    assert (c.lines, c.whole, c.partial, c.lone, c.executions, c.kept) == (1, 4, 0, 0, 256, True)
    assert (found.waits, found.streams, found.fp32) == (256, 0, 512)
    narrow = work(GEMM, 256, (4, 64, 1))  # a warp is eight rows of four
    assert (of(narrow, "A").lines, of(narrow, "B").sectors) == (8, 1)
    assert (of(narrow, "C", store=True).partial, of(narrow, "C", store=True).whole) == (8, 0)
    square = work(GEMM, 256, (8, 32, 1))  # rows of eight: whole sectors, each alone in its line
    assert (of(square, "C", store=True).lone, of(square, "C", store=True).whole) == (4, 0)


def test_a_scattered_store_has_parts_of_sectors_and_a_shifted_one_two() -> None:
    assert of(work(SCATTER, 256, (32, 8, 1)), "B", store=True).partial == 32
    shifted = "void f(float A[N + 1], float B[N]) { for (int i = 0; i < N; i++) A[i + 1] = B[i]; }"
    store = of(work(shifted, 1024, (256, 1, 1)), "A", store=True)
    assert (store.lines, store.sectors, store.whole) == (2, 5, 3)
    assert (store.partial, store.lone) == (2, 0)


def test_loads_wait_for_stores_between_them_and_stream_without() -> None:
    two = "void f(float a[N], float b[N], float c[N]) { for (int i = 0; i < N; i++) { a[i] += b[i]; c[i] += b[i]; } }"
    assert work(two, 1024, (256, 1, 1)).waits == 2
    sum_ = """
void f(float a[N], float b[N][N]) {
  for (int i = 0; i < N; i++) {
    float s = 0;
    for (int k = 0; k < N; k++) s += b[k][i];
    a[i] = s;
  }
}"""
    found = work(sum_, 64, (64, 1, 1))
    assert (found.waits, found.streams) == (0, 64)
    far = "void f(int at[N], float a[N], float b[N]) { for (int i = 0; i < N; i++) a[i] = b[at[i]]; }"
    assert work(far, 1024, (256, 1, 1)).waits == 2


def test_loops_that_data_end_wait_for_their_loads_and_test_their_condition() -> None:
    """A counted loop over a row of a sparse matrix streams; a search and a walk along a chain cannot look ahead."""
    sparse = """
void f(int row[N + 1], int column[N], float a[N], float x[N], float y[N]) {
  for (int i = 0; i < N; i++) {
    float s = 0;
    for (int k = row[i]; k < row[i + 1]; k++) s += a[k] * x[column[k]];
    y[i] = s;
  }
}"""
    control = np.array([[1.0, 10.0, 0.0]])
    found = work(sparse, 1024, (256, 1, 1), control)
    assert (found.waits, found.streams) == (1, 20)  # the bounds; a and column, then x behind column
    search = (
        "void f(int a[N], int b[N]) { for (int i = 0; i < N; i++) { int k = 0; while (TEST) k = STEP; b[i] = k; } }"
    )
    while_ = search.replace("TEST", "a[k] != i").replace("STEP", "k + 1")
    assert work(while_, 1024, (256, 1, 1), control).waits == 10
    assert work(while_, 1024, (256, 1, 1), control).integer > 10 * 3
    chain = search.replace("while (TEST)", "for (int j = 0; j < 10; j++)").replace("STEP", "a[k]")
    assert (work(chain, 1024, (256, 1, 1)).waits, work(chain, 1024, (256, 1, 1)).streams) == (10, 0)


def test_the_mean_of_a_triangle_and_of_idle_warps() -> None:
    triangle = (
        "void f(float a[N][N], float b[N]) { for (int i = 0; i < N; i++) for (int k = i; k < N; k++) b[i] += a[k][i]; }"
    )
    assert of(work(triangle, 1024, (32, 1, 1)), "a").executions == pytest.approx(512, rel=0.1)
    narrow = "void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }"
    assert work(narrow, 8, (64, 1, 1)).active == 0.5


def test_units_of_arithmetic() -> None:
    assert work(copy("float", "* 2.0f"), 1024, (256, 1, 1)).fp32 == 1
    double = work(copy("double", "/ 3.0"), 1024, (256, 1, 1))
    assert (double.fp32, double.special) == (0, 1)
    assert double.fp64 > 1
    assert work(copy("float", "+ sinf(2.0f)").replace("sinf(2.0f)", "sinf(A[i])"), 1024, (256, 1, 1)).special == 1


def test_double_and_division_cost_what_their_units_are_slower() -> None:
    """The same kernel as float and as double on a board with one double unit for 32 float units."""
    chain = "* 1.5f " * 64
    single = demand_of(features(copy("float", chain), 1 << 16, (256, 1, 1)), GTX)
    double = demand_of(features(copy("double", chain.replace("f", "")), 1 << 16, (256, 1, 1)), GTX)
    assert double.unit == "double units"
    assert double.issue_cycles > 20 * single.issue_cycles


def test_a_product_of_floats_is_not_fused_into_a_sum_of_doubles() -> None:
    """It is a product of its own, converted, and a sum of doubles; so is one that is cast."""
    text = "void f(float A[N], float B[N], double C[N]) { for (int i = 0; i < N; i++) C[i] += EXPRESSION; }"
    units = {}
    for name, expression in (("mixed", "A[i] * B[i]"), ("cast", "(double)A[i] * B[i]"), ("double", "C[i] * C[i]")):
        found = work(text.replace("EXPRESSION", expression), 256, (32, 1, 1))
        units[name] = found.fp32, found.fp64
    assert units == {"mixed": (1, 2), "cast": (0, 3), "double": (0, 1)}  # cast: two conversions, one fma
    found = work(COPY.replace("REAL", "double").replace("BY", "+ 0.5f"), 256, (32, 1, 1))
    assert (found.fp32, found.fp64) == (0, 1)  # a literal is converted by the compiler


def test_functions_of_one_instruction_are_no_special_ones() -> None:
    for function, special, fp32 in (("fabsf(A[i])", 0, 1), ("fminf(A[i], 2.0f)", 0, 1), ("expf(A[i])", 1, 20)):
        text = f"void f(float A[N]) {{ for (int i = 0; i < N; i++) A[i] = {function}; }}"
        found = work(text, 256, (32, 1, 1))
        assert (found.special, found.fp32) == (special, fp32)


@pytest.mark.parametrize("some", [32, 1024, 40_000])
def test_what_few_warps_do_costs_as_much_as_few_do(some: int) -> None:
    """Behind a condition on the index of the thread, however few of all warps meet it."""
    n = 1 << 16
    text = f"void f(float A[N], float B[N]) {{ for (int i = 0; i < N; i++) if (i < {some}) B[i] = A[i]; }}"
    found = work(text, n, (256, 1, 1))
    for access in found.accesses:
        assert access.executions * n == pytest.approx(some)
        assert (access.lines, access.sectors) == (pytest.approx(1), pytest.approx(4))
    assert found.waits * n == pytest.approx(some)
    demand = demand_of(features(text, n, (256, 1, 1)), GTX)
    assert demand.dram_bytes == pytest.approx(8 * some)


def test_more_multiprocessors_make_few_blocks_no_slower() -> None:
    """Beyond those that fill L2: 16 blocks on as many and more."""
    found = features(SCATTER, 64, (32, 8, 1))
    times = [MODEL.predict(found, replace(GTX, sms=sms)).time_s for sms in (16, 28, 84)]
    assert times[0] >= times[1] >= times[2]


def test_occupancy_and_waves() -> None:
    found = features(GEMM, 64, (32, 32, 1))
    room = residence(replace(found, blocks=1000), GTX)
    assert room.blocks == 2
    demand = demand_of(replace(found, blocks=57), GTX)  # 28 multiprocessors hold two blocks each: 56
    assert (demand.waves, demand.resident_blocks) == (2, 2)
    assert demand_of(replace(found, blocks=56), GTX).waves == 1
    assert residence(found, replace(GTX, registers_per_sm=32 * 1024)).blocks == 1


def test_a_copy_is_bound_by_bandwidth() -> None:
    """Full occupancy is no lack of parallelism: 128 MB take what 484 GB/s at 80 % give."""
    cost = MODEL.predict(features(copy("float"), 1 << 24, (256, 1, 1)), GTX)
    assert cost.bottleneck == "memory"
    assert "DRAM bandwidth" in cost.reason
    assert cost.time_s == pytest.approx(2 * 4 * (1 << 24) / (484.4e9 * 0.8), rel=0.25)


def test_latency_at_full_occupancy_is_no_lack_of_parallelism() -> None:
    """More warps are not to be had then. CGPredict on an H200: no limit of bandwidth binds it either."""
    full = features(copy("float"), 1 << 22, (256, 1, 1))
    assert CGPREDICT.predict(full, load_device("h200")).bottleneck == "memory"
    slow = replace(GTX, latency_memory_cycles=20_000)
    assert "most time goes to latency" in MODEL.predict(full, slow).reason
    assert MODEL.predict(full, slow).bottleneck == "memory"
    few = features(copy("float"), 1 << 10, (256, 1, 1))
    assert {m.predict(few, GTX).bottleneck for m in (MODEL, CGPREDICT)} == {"parallelism"}


def test_parts_and_their_soft_maximum() -> None:
    rates = Rates.of(GTX)
    empty = Demand(
        **dict.fromkeys(
            ("load_lines", "load_sectors", "store_lines", "shared_cycles", "whole_sectors", "partial_sectors"), 0.0
        ),
        lone_sectors=0.0, waits=0.0, near_cycles=0.0,
        line_waits=0.0, gap_cycles=0.0, dram_bytes=0.0, issue_cycles=0.0, drain_cycles=5.0,
        blocks=1, resident_blocks=1, resident_warps=1, waves=1, limit="", unit="",
    )  # fmt: skip
    assert total_cycles(empty, rates) == 5
    both = replace(empty, issue_cycles=3 * rates.latency_memory_cycles, waits=4.0)
    assert part_cycles(both, rates)[3:] == (4 * rates.latency_memory_cycles, 3 * rates.latency_memory_cycles)
    assert total_cycles(both, rates) == pytest.approx(5 + 5 * rates.latency_memory_cycles)


def test_what_is_read_and_written_goes_both_ways() -> None:
    """A stream in place is read and written: as many bytes as a copy, twice those of the array."""
    stream = "void f(float a[N], float b[N]) { for (int i = 0; i < N; i++) a[i] = BY; }"
    copied, in_place = (features(stream.replace("BY", by), 1 << 22, (256, 1, 1)) for by in ("b[i]", "a[i] * 2"))
    assert demand_of(copied, GTX).dram_bytes == demand_of(in_place, GTX).dram_bytes == 2 * 4 * (1 << 22)


ROWS = """
void f(float A[N][N], float y[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) y[i] += A[BY];
}"""


@pytest.mark.parametrize(("index", "share"), [("i / 2", 0.5), ("i % N", 1.0), ("(i ^ 1)", 1.0)])
def test_an_address_that_is_no_affine_form_touches_what_its_executions_do(index: str, share: float) -> None:
    text = f"void k(float A[N], float B[N]) {{ for (int i = 0; i < N; i++) B[i] = A[{index}]; }}"
    for n in (1 << 20, 1 << 24):
        found = demand_of(features(text, n, (256, 1, 1)), GTX).dram_bytes
        assert found == pytest.approx(4 * n * (1 + share), rel=0.02)


def test_loads_wait_for_the_cache_that_has_their_data() -> None:
    """A thread that walks along a row finds seven of eight elements in L2, where loads bypass L1; else in L1."""
    by_row, by_column = (features(ROWS.replace("BY", by), 2048, (128, 1, 1)) for by in ("i][j", "j][i"))
    pascal, far = demand_of(by_row, GTX), demand_of(by_column, GTX)
    assert pascal.waits == pytest.approx(2048 / 8, rel=0.02)
    assert pascal.near_cycles == pytest.approx(2048 * 7 / 8 * (GTX.latency_l2_cycles or 0), rel=0.02)
    assert (far.waits, far.near_cycles) == (pytest.approx(2048, rel=0.02), pytest.approx(0, abs=2048))
    turing = load_device("rtx2070s")
    assert demand_of(by_row, turing).near_cycles < 0.3 * pascal.near_cycles
    small = replace(turing, l1_bytes=1024)  # the lines of four warps are 16 KB
    assert demand_of(by_row, small).near_cycles > 3 * demand_of(by_row, turing).near_cycles


def test_repeated_launches_find_their_data_in_l2() -> None:
    small = features(copy("float"), 1 << 16, (256, 1, 1))
    assert demand_of(small, GTX, launches=500).dram_bytes < 0.01 * demand_of(small, GTX).dram_bytes


def test_the_busiest_multiprocessor_decides() -> None:
    found = features(GEMM, 64, (32, 32, 1))
    even, odd = (demand_of(replace(found, blocks=n), GTX) for n in (28, 29))
    assert odd.load_lines == pytest.approx(2 * even.load_lines)


def test_rows_of_blocks_drift_apart_and_read_what_they_could_share_again() -> None:
    """Flat blocks: each row of them reads all of B; square ones share it, and a small product stays in L2."""
    work_of = {n: kernel(GEMM, N=n) for n in (256, 4096)}
    flat, square = (demand_of(light_features(work_of[4096], b), GTX).dram_bytes for b in ((512, 1, 1), (16, 32, 1)))
    assert flat > 10 * square
    assert flat == pytest.approx(4096 * 4096 * 4096 * 4, rel=0.1)
    assert demand_of(light_features(work_of[256], (512, 1, 1)), GTX).dram_bytes < 5 * 256 * 256 * 4


def test_rows_of_blocks_in_step_share_what_they_read_meanwhile() -> None:
    """Of 2048 columns a tenth of the rounds fits in L2, so that flat blocks read little more than square ones."""
    work_of = {n: kernel(GEMM, N=n) for n in (1024, 4096)}
    ratio = {}
    for n, work in work_of.items():
        flat, square = (demand_of(light_features(work, b), GTX).dram_bytes for b in ((512, 1, 1), (16, 32, 1)))
        ratio[n] = flat / square
    assert ratio[1024] < 3
    assert ratio[4096] > 10


def test_lines_of_a_load_leave_one_after_the_other() -> None:
    by_row = features(GEMM.replace("B[k][j]", "A[j][k]").replace("float B[N][N], ", ""), 256, (32, 8, 1))
    by_column = features(GEMM, 256, (32, 8, 1))
    assert demand_of(by_row, GTX).line_waits > 10 * demand_of(by_column, GTX).line_waits


def test_gaps_between_blocks_hold_up_a_multiprocessor_and_not_the_memory() -> None:
    asked, rates = demand_of(light_features(kernel(GEMM, N=1024), (32, 32, 1)), GTX), Rates.of(GTX)
    assert asked.gap_cycles > 0
    busy = replace(asked, dram_bytes=1e12)
    ratio = total_cycles(busy, rates) / total_cycles(replace(busy, gap_cycles=0.0), rates)
    assert ratio == pytest.approx(1, abs=1e-4)


def test_loads_that_bypass_l1_pay_for_sectors_and_find_nothing_there() -> None:
    turing = load_device("rtx2070s")
    without = bypassing_l1(turing)
    assert (without.l1_bytes, without.load_sector_cycles) == (None, 1.0)
    assert without.load_line_cycles == turing.load_line_cycles
    assert compiled_with(turing, "cg") == without
    assert compiled_with(turing, "ca") == compiled_with(turing, None) == turing


def test_lines_that_do_not_live_until_their_next_use_come_again() -> None:
    """Each thread walks along a row of its own, 32 bytes of which are one sector: as in SYRK with flat blocks."""
    work = kernel(GEMM.replace("B[k][j]", "A[j][k]").replace("float B[N][N], ", ""), N=2048)
    flat, square = (demand_of(light_features(work, b), GTX).dram_bytes for b in ((128, 1, 1), (16, 16, 1)))
    assert flat > 20 * square


def test_a_missing_constant_is_named() -> None:
    bare = Device(name="bare", sms=1, clock_mhz=1000, threads_per_sm=2048, blocks_per_sm=16)
    with pytest.raises(Exception, match=r"no limits\.registers_per_sm, which hierarchy needs"):
        MODEL.predict(features(copy("float"), 1024, (256, 1, 1)), bare)


def test_tiles_cost_bank_conflicts_and_their_sum_is_stored_once() -> None:
    tiled = """
void f(float A[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      __shared__ float T[32][32];
      T[i % 32][j % 32] = A[i][j];
      __syncthreads();
      for (int k = 0; k < 32; k++) C[i][j] += T[READ];
    }
}"""
    row = work(tiled.replace("READ", "i % 32][k"), 64, (32, 32, 1))
    column = work(tiled.replace("READ", "j % 32][k"), 64, (32, 32, 1))
    assert row.shared_cycles == 1 + 32
    assert column.shared_cycles == 1 + 32 * 32
    assert of(row, "C", store=True).executions == pytest.approx(1)


SORTED = """
void f(float a[N], float b[N]) {
  for (int i = 0; i < N; i++) {
    float t[SIZE];
    for (int k = 0; k < SIZE; k++) t[k] = a[i] * k;
    float s = 0;
    for (int k = 0; k < SIZE; k++) s += t[AT];
    b[i] = s;
  }
}"""


def sorted_in(size: int, at: str) -> KernelFeatures:
    one = kernel(SORTED.replace("SIZE", str(size)).replace("AT", at), N=1 << 16)
    small = kernel(SORTED.replace("SIZE", str(size)).replace("AT", at), N=1024)
    return kernel_features(one, small, TraceMachine(), block=(256, 1, 1), with_warp_work=True, compiled=False)


def test_an_array_of_a_thread_is_in_registers_only_if_its_subscripts_are_known_and_it_is_small() -> None:
    for found in (sorted_in(16, "k"), sorted_in(16, "15 - k")):
        assert [i.array for i in found.instructions] == ["a", "b"]
        assert MODEL.predict(found, GTX).time_s < 1e-5
    for size, at in ((16, "(k * k) % 16"), (128, "k")):
        found = sorted_in(size, at)
        assert {i.array: i.access for i in found.instructions} == {"a": "coalesced", "t": "coalesced", "b": "coalesced"}
        assert found.warp_work is not None
        (load,) = (a for a in found.warp_work.accesses if a.private and not a.is_store)
        assert (load.array_bytes, load.lines, load.executions) == (4 * size, 1, size)
        assert found.warp_work.local_waits == size
        assert any(note.startswith(f"in local memory, {4 * size} bytes a thread: t") for note in found.notes)
        assert found.dependences == ()


def test_local_memory_costs_more_the_more_of_it_there_is() -> None:
    """2 KB a thread are more than L2 has for all resident threads; 16 bytes are not."""
    small, large = (sorted_in(size, "(k * k) % 4") for size in (4, 512))
    of_small, of_large = (demand_of(f, GTX).dram_bytes for f in (small, large))
    assert of_small < 3 * (1 << 16) * 4
    assert of_large > (1 << 16) * 512 * 4


def test_other_blocks_need_no_trace() -> None:
    """What the model says of a kernel in other blocks is the same with a trace in them and without."""
    other = (16, 16, 1)
    steered = "void f(int a[N], float b[N]) { for (int i = 0; i < N; i++) if (a[i] > N / 9) b[i] = 1; }"
    for text, own, other in ((GEMM, (32, 8, 1), (16, 16, 1)), (steered, (256, 1, 1), (64, 1, 1))):
        of_text, found = kernel(text, N=1024), features(text, 1024, own)
        assert found.data_decide == (text == steered)
        moved = in_other_blocks(found, of_text, of_text, other)
        assert moved is not None
        assert MODEL.predict(moved, GTX).time_s == MODEL.predict(features(text, 1024, other), GTX).time_s
        assert MODEL.predict(moved, GTX).time_s != MODEL.predict(found, GTX).time_s


def test_a_trace_tells_where_what_steers_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "void f(int a[N], float b[N]) { for (int i = 0; i < N; i++) { int k = a[i]; while (k > 0) k -= 1; b[i] = k; } }"
    )
    found, of_text = features(text, 256, (256, 1, 1)), kernel(text, N=256)
    assert in_other_blocks(found, of_text, of_text, (64, 1, 1)) is not None
    monkeypatch.setattr(execute, "LEAST_STEPS", 1)
    monkeypatch.setattr(execute, "BRIEF_STATEMENTS", 1)
    monkeypatch.setattr(execute, "BRIEF_STEPS", 1)
    assert in_other_blocks(found, of_text, of_text, (64, 1, 1)) is None
