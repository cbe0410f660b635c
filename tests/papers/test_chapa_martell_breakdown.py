"""The linear performance breakdown of Chapa Martell 2014: its terms by hand, a truth recovered, kernels that run."""

from dataclasses import replace
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.base.errors import DseError, FormatError, OptionError
from dse.flows.breakdown import BreakdownOptions, Profile, answer_lines, break_down
from dse.formats.device_yaml import load_device
from dse.frontend.opencl.counting import count_kernel
from dse.frontend.opencl.host import read_host
from dse.frontend.opencl.nest import loop_nest
from dse.frontend.opencl.parse import parse_opencl
from dse.gpu.breakdown.factors import factors, groups_per_unit
from dse.gpu.breakdown.fit import fit
from dse.model.breakdown import Factors, KernelCounts, MeasuredTile

KERNELS = Path(__file__).resolve().parents[2] / "configs" / "gpu-kernels"
OPERATIONS = 2e9
TRUTH = (2e-10, 2.5e-4, 6e-6)


def sgmm_at(tile: int, reading: Any = "as_printed") -> Factors:
    """The terms of the product of 1000 x 1000 matrices on 5 compute units, with three tiles of floats a work-group."""
    counts = KernelCounts(
        kernel="sgmm", dims=2, operations=0, global_to_local=0, local_to_private=0, private_to_local=0,
        global_to_private=0, private_to_global=0, local_bytes=3 * 4 * tile * tile,
    )  # fmt: skip
    measured = MeasuredTile(tile=tile, local_size=None, ms=1.0)
    return factors(counts, measured, 1000, load_device("a8-3870"), reading, total=OPERATIONS)


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        (1, (1, 1000000, 40, 1000000, 80000, 1000, 25000)),
        (4, (1, 62500, 40, 62500, 1.28e6, 62.5, 1562.5)),
        (8, (1, 15625, 40, 15625, 5.12e6, 15.625, 390.625)),
        (16, (4, 3969, 160, 15876, 2.01562e7, 15.625, 24.80625)),
    ],
)
def test_terms_by_hand(tile: int, expected: tuple[float, ...]) -> None:
    found = sgmm_at(tile)
    whole = (found.wavefronts_per_group, found.groups, found.wavefronts_at_once, found.wavefronts)
    assert whole == expected[:4]
    assert found.terms == pytest.approx(expected[4:], rel=1e-6)


def test_the_other_readings() -> None:
    assert sgmm_at(16, "prose").put == OPERATIONS / 40
    assert sgmm_at(16, "rounds").put == pytest.approx(OPERATIONS * 15876 / 160)


def synthetic() -> tuple[list[Factors], list[MeasuredTile]]:
    terms = [sgmm_at(tile) for tile in range(1, 17)]
    times = [sum(a * x for a, x in zip(TRUTH, one.terms, strict=True)) for one in terms]
    return terms, [MeasuredTile(tile=f.tile, local_size=None, ms=1e3 * t) for f, t in zip(terms, times, strict=True)]


def test_truth_is_recovered() -> None:
    terms, measured = synthetic()
    found = fit(terms, measured, "as_printed")
    assert [c.value for c in found.coefficients] == pytest.approx(TRUTH, rel=1e-6)
    shares = [[100 * part / sum(found.parts[row]) for part in found.parts[row]] for row in (0, 15)]
    assert [round(share, 2) for share in shares[0]] == [0.0, 62.5, 37.5]
    assert [round(share, 2) for share in shares[1]] == [49.85, 48.31, 1.84]
    assert round(100 * found.correlation, 2) == 99.95
    assert found.condition > 100
    bent = fit(terms, measured, "as_printed", knots=True)
    assert bent.error < 1e-6
    assert {c.knot for c in bent.coefficients if c.term == "PUT"} >= {None, terms[8].put, terms[11].put, terms[13].put}


def test_intervals_hold_the_truth_of_noisy_times() -> None:
    terms, measured = synthetic()
    rng = np.random.default_rng(1)
    held = np.zeros(3)
    for _ in range(200):
        noisy = [MeasuredTile(tile=m.tile, local_size=None, ms=max(1e-3, m.ms + rng.normal(0, 0.2))) for m in measured]
        found = fit(terms, noisy, "as_printed")
        assert all(c.value >= 0 for c in found.coefficients)
        held += [c.least <= true <= c.most for c, true in zip(found.coefficients, TRUTH, strict=True)]
    assert (held / 200 > 0.9).all()
    assert (held / 200 < 0.999).any()


def test_what_misleads_does_not_go_below_zero() -> None:
    terms, measured = synthetic()
    falling = [MeasuredTile(tile=m.tile, local_size=None, ms=100.0 - m.tile) for m in measured]
    assert all(c.value >= 0 for c in fit(terms, falling, "as_printed").coefficients)


@pytest.mark.parametrize("knots", [False, True])
def test_a_term_that_no_tile_has_says_nothing(knots: bool) -> None:
    terms, measured = synthetic()
    found = fit([replace(one, put=0.0) for one in terms], measured, "as_printed", knots=knots)
    put, *_ = found.coefficients
    assert (put.value, put.least, put.most) == (0.0, 0.0, inf)
    assert all(part[0] == 0.0 for part in found.parts)


def test_repeats_weigh() -> None:
    """A wrong time that is the mean of few runs matters less than one of many: w in equation 4.8."""
    terms, measured = synthetic()

    def error_with(repeats: int) -> float:
        wrong = MeasuredTile(tile=16, local_size=None, ms=1.2 * measured[-1].ms, repeats=repeats)
        found = fit(terms, [*measured[:-1], wrong], "as_printed")
        return abs(found.coefficients[0].value / TRUTH[0] - 1)

    assert error_with(1) < error_with(1000)


def test_a_group_that_does_not_fit() -> None:
    found = parse_opencl("k.cl", "__kernel void k() { __local float t[9000]; t[0] = 0.0f; }", {})
    with pytest.raises(OptionError, match="needs 36,000 bytes of local memory"):
        groups_per_unit(count_kernel(found, None, {}), load_device("a8-3870"))


def counts_of(name: str, **defines: int) -> KernelCounts:
    path = KERNELS / f"{name}.cl"
    texts = {key: str(value) for key, value in defines.items()}
    return count_kernel(parse_opencl(str(path), path.read_text(), texts), None, defines)


def test_moves_of_a_tiled_product() -> None:
    """By hand: N / TILE tiles of two elements each, 2 N reads of tiles, N products and sums, one result."""
    found = counts_of("sgmm", N=1024, TILE=16)
    assert (found.dims, found.operations, found.local_bytes) == (2, 2048, 2 * 16 * 16 * 4)
    moves = (found.global_to_local, found.local_to_private, found.global_to_private, found.private_to_global)
    assert moves == (2 * 1024 // 16, 2 * 1024, 0, 1)


def test_moves_of_a_reduction() -> None:
    found = counts_of("reduction", N=4096, TILE=64)
    stages = 6
    assert (found.dims, found.operations, found.global_to_local, found.private_to_local) == (1, stages, 1, stages)
    assert found.local_to_private == 2 * stages + 1


def test_moves_of_an_fft() -> None:
    found = counts_of("fft", N=4096, TILE=64)
    assert (found.local_bytes, found.global_to_local, found.private_to_global) == (64 * 8, 1, 1)
    assert (found.local_to_private, found.private_to_local) == (2 * 6 + 1, 6)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 0.0f;", "how often this loop runs is not known"),
        ("while (a[0] > 0) a[0] = 0.0f;", "how often this is executed is not known"),
        ("for (;;) a[0] = 0.0f;", "this loop has no variable with a beginning, an end and a step"),
        ("for (int i = 0; i < 8; i += 0) a[i] = 0.0f;", "this loop runs more than 1,000,000 rounds"),
        ("a[0] = ;", "this is no OpenCL C"),
    ],
)
def test_what_cannot_be_counted(body: str, message: str) -> None:
    with pytest.raises(DseError, match=message):
        count_kernel(parse_opencl("k.cl", f"kernel void k(global float *a, int n) {{ {body} }}", {}), None, {})


def test_values_make_loops_countable() -> None:
    text = "kernel void k(global float *a, int n) { for (int i = 0; i < n; i += 2) a[i] = a[i + 1] * 2.0f; }"
    found = count_kernel(parse_opencl("k.cl", text, {}), "k", {"n": 10})
    assert (found.operations, found.global_to_private, found.private_to_global) == (5, 5, 5)


def test_attributes_vectors_and_several_kernels() -> None:
    text = (
        "__attribute__((reqd_work_group_size(8, 1, 1))) __kernel void a(__global float4 *restrict x)"
        " { x[get_global_id(0)] = x[0] + x[1]; }\n"
        "__kernel void b(__constant float *y, __global float *z)"
        " { __local float p[4], q[2]; p[0] = y[0]; z[0] = q[1]; }\n"
    )
    found = parse_opencl("k.cl", text, {})
    assert found.kernels == ("a", "b")
    assert count_kernel(found, "a", {}).operations == 4
    of_b = count_kernel(found, "b", {})
    assert (of_b.global_to_local, of_b.local_to_private, of_b.private_to_global, of_b.local_bytes) == (1, 1, 1, 24)
    with pytest.raises(OptionError, match="there are several kernels"):
        count_kernel(found, None, {})
    with pytest.raises(OptionError, match="there is no kernel 'c'"):
        count_kernel(found, "c", {})


HOST = """
#include <CL/cl.h>
#define WIDTH 500
#define UNUSED (2 * WIDTH)
#define NAME "sgmm"
static const int n = 2 * WIDTH;
typedef struct { cl_mem a, b; } buffers;
int main(int argc, char **argv)
{
    cl_int err = 0;
    uint64_t changes = 3, same = 4 / 2 + 010;
    size_t global[2] = {n, WIDTH + n}, local[2] = {16, 16}, unknown[1] = {argc};
    err = clSetKernelArg(kernel, 3, sizeof(cl_int), &n);
    err |= clSetKernelArg(kernel, 4, sizeof(cl_int), (void *)&changes);
    err |= clSetKernelArg(kernel, 5, sizeof(cl_mem), &buffer);
    err |= clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
    for (int i = 0; i < 3; i++) changes = i;
    return err;
}
"""


def test_a_host_program_tells_sizes() -> None:
    """Values are those of names that have one; what is changed, or only known when it runs, has none."""
    found = read_host("host.c", HOST, {})
    assert found.values == {"WIDTH": 500, "UNUSED": 1000, "n": 1000, "same": 10}
    assert found.arguments == {3: 1000}
    assert found.global_size == (1000, 1500)
    assert read_host("host.c", HOST, {"WIDTH": "8"}).arguments == {3: 16}


@pytest.mark.parametrize("value", ["1 + " * 3000 + "1", "(" * 3000 + "1" + ")" * 3000])
def test_a_kernel_that_is_nested_too_deeply_is_refused(value: str) -> None:
    with pytest.raises(FormatError, match=r"k\.cl: error: this is nested too deeply"):
        parse_opencl("k.cl", f"__kernel void k(__global float *a) {{ a[0] = {value}; }}", {})


def test_a_variable_of_the_kernel_is_not_that_of_the_host(tmp_path: Path) -> None:
    text = (
        "__kernel void rows(__global const float *a, __global float *c) {\n"
        "  int row = get_global_id(0); float sum = 0;\n"
        "  for (int k = 0; k < N; k++) sum = sum + a[row * N + k];\n"
        "  c[row] = sum; }\n"
    )
    (tmp_path / "rows.cl").write_text(text)
    (tmp_path / "host.c").write_text("int main(void) { int k = 7, sum = 1, row = 3; return k + sum + row; }\n")
    alone, beside = (
        broken_down(tmp_path, str(tmp_path / "rows.cl"), host=host) for host in (None, str(tmp_path / "host.c"))
    )
    assert beside.predicted.why is None
    assert (beside.counts, beside.predicted) == (alone.counts, alone.predicted)


PASS = "clSetKernelArg(kernel, 2, sizeof n, &n);"
START = "clEnqueueNDRangeKernel(queue, kernel, 1, 0, size, 0, 0, 0, 0);"


@pytest.mark.parametrize(
    "text",
    [
        "int n = 64; scanf(format, &n); " + PASS,
        "int n = 64, m = 3; clSetKernelArg(other, 2, sizeof m, &m); " + PASS,
        "int n = 64; clSetKernelArg(other, 2, sizeof buffer, &buffer); " + PASS,
        "int k = 1; while (k < 8) { int n = k; k = 2 * k; " + PASS + " }",
        "int n = 1 << -1; " + PASS,
        "int n = 1 << 64; " + PASS,
        "size_t size[1] = {64}; size[0] = rounded(); " + START,
        "size_t size[1] = {64}, other[1] = {8}; clEnqueueNDRangeKernel(q, k, 1, 0, other, 0, 0, 0, 0); " + START,
    ],
)
def test_what_a_host_program_does_not_say_for_sure_is_not_known(text: str) -> None:
    found = read_host("host.c", f"int main(void) {{ {text} }}", {})
    assert (found.arguments, found.global_size) == ({}, ())


def test_a_parameter_of_a_host_program_is_not_the_variable_of_that_name() -> None:
    found = read_host("host.c", f"void run(int n) {{ {PASS} }} int main(void) {{ int n = 64; run(32); }}", {})
    assert found.arguments == {}


@pytest.mark.parametrize(
    "text",
    [
        "int main( { }",
        "class Host { int n; };",
        "int x = " + "(" * 3000 + "1;",
        "int x = " + "1 + " * 3000 + "1;",
    ],
)
def test_a_host_program_that_is_no_c(text: str) -> None:
    with pytest.raises(DseError, match=r"host\.c"):
        read_host("host.c", text, {})


def broken_down(tmp_path: Path, path: str, *, device: str = "gtx1080ti", n: int = 256, **more: Any) -> Any:
    (tmp_path / "t.csv").write_text("tile,ms\n4,25.26\n8,7.274\n16,4.086\n")
    defines = (("N", str(n)),)
    return break_down(
        BreakdownOptions(path=path, device=device, measured=str(tmp_path / "t.csv"), defines=defines, **more)
    )


def test_a_nest_in_c_is_counted_and_predicted_as_the_kernel_is(tmp_path: Path) -> None:
    """The tiled product in C and in OpenCL: the same moves, one product more by alpha, and predictions that agree."""
    product = Path(__file__).parent / "kernels" / "gemm_tiled.c"
    (tmp_path / "nest.c").write_text(product.read_text().replace("#define TILE 32", ""))
    nest, kernel = (broken_down(tmp_path, str(path), n=64) for path in (tmp_path / "nest.c", KERNELS / "sgmm.cl"))
    assert [c.operations for c in nest.counts] == [3 * 64] * 3
    for of_c, of_cl in zip(nest.counts, kernel.counts, strict=True):
        assert (of_c.global_to_local, of_c.local_to_private, of_c.local_bytes, of_c.dims) == (
            of_cl.global_to_local, of_cl.local_to_private, of_cl.local_bytes, of_cl.dims
        )  # fmt: skip
    of_c, of_cl = ([tile.ms for tile in one.predicted.tiles] for one in (nest, kernel))
    assert of_c == pytest.approx(of_cl, rel=0.4)
    assert of_c == sorted(of_c, reverse=True)
    assert any("by hierarchy tile 16 is the quickest" in line for line in answer_lines(kernel, kernel.fits[0]))


def test_what_a_tile_would_bring_to_a_kernel_without(tmp_path: Path) -> None:
    found = broken_down(tmp_path, str(Path(__file__).parent / "kernels" / "gemm.c"))
    known = [tile.ms for tile in found.predicted.tiles]
    assert found.predicted.tiled_ms < min(known)
    assert "tile A[i][k] and B[k][j] into shared memory" in answer_lines(found, found.fits[0])[-1]


@pytest.mark.parametrize(
    ("name", "device", "why"),
    [
        ("fft", "gtx1080ti", "float2: models know no vector types (line 4)"),
        ("sgmm", "a8-3870", "device 'a8-3870' has no limits.threads_per_sm, which hierarchy needs"),
    ],
)
def test_no_prediction_is_said_with_the_reason(tmp_path: Path, name: str, device: str, why: str) -> None:
    found = broken_down(tmp_path, str(KERNELS / f"{name}.cl"), device=device)
    assert found.predicted.tiles == (None, None, None)
    assert answer_lines(found, found.fits[0])[-1] == f"hierarchy predicts nothing here: {why}"


def test_a_reduction_is_predicted(tmp_path: Path) -> None:
    found = broken_down(tmp_path, str(KERNELS / "reduction.cl"), device="gtx660")
    assert all(tile is not None for tile in found.predicted.tiles)


def test_arguments_and_indices_in_a_nest() -> None:
    text = "kernel void k(global float *a, int n)\n{ if (get_global_id(0) < n) a[get_group_id(0)] = n; }\n"
    found = loop_nest("k.cl", text, "k", 1, "TILE", "N", {"n": 7})
    assert "for (int item_of_dimension_0 = 0; item_of_dimension_0 < N; item_of_dimension_0++)" in found
    assert "if (item_of_dimension_0 < 7) a[(item_of_dimension_0 / TILE)] = 7;" in found
    assert found.count("\n") == text.count("\n")
    with pytest.raises(DseError, match="this is no index of a loop nest"):
        loop_nest("k.cl", text.replace("get_global_id(0)", "get_global_id(axis)"), "k", 1, "TILE", "N", {})
    with pytest.raises(DseError, match="the body of 'other' is not in this file"):
        loop_nest("k.cl", text, "other", 1, "TILE", "N", {})


def opencl() -> Any:
    """The package, where it and a device are there."""
    cl = pytest.importorskip("pyopencl", reason="pyopencl is not installed (pip install 'dse[opencl]')")
    try:
        found = any(platform.get_devices() for platform in cl.get_platforms())
    except cl.Error:
        found = False
    if not found:
        pytest.skip("OpenCL finds no device; PoCL is one")
    return cl


def test_profiled_here(tmp_path: Path) -> None:
    opencl()
    found = break_down(
        BreakdownOptions(
            path=str(KERNELS / "sgmm.cl"), device="pocl", profile=Profile(tiles=(1, 2, 4, 8), repeats=2),
            defines=(("N", "64"),),
        )
    )  # fmt: skip
    assert [tile.local_size for tile in found.measured] == [1, 4, 16, 64]
    assert all(tile.ms > 0 for tile in found.measured)
    assert found.ran_on


def test_kernels_compute_what_they_say() -> None:
    """Our own kernels on a device of OpenCL against numpy; in the FFT results are in the order of reversed bits."""
    cl = opencl()
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue, rng, tile, n = cl.CommandQueue(context), np.random.default_rng(1), 8, 32

    def run(name: str, items: tuple[int, ...], groups: tuple[int, ...], inputs: list[Any], out: Any) -> Any:
        program = cl.Program(context, (KERNELS / f"{name}.cl").read_text()).build([f"-DN={n}", f"-DTILE={tile}"])
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        given = [cl.Buffer(context, flags, hostbuf=one) for one in inputs]
        result = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, out.nbytes)
        getattr(program, name)(queue, items, groups, *given, result)
        cl.enqueue_copy(queue, out, result)
        return out

    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    np.testing.assert_allclose(run("sgmm", (n, n), (tile, tile), [a, b], np.empty_like(a)), a @ b, rtol=1e-4)
    values = rng.random(n, dtype=np.float32)
    sums = run("reduction", (n,), (tile,), [values], np.empty(n // tile, dtype=np.float32))
    np.testing.assert_allclose(sums, values.reshape(-1, tile).sum(axis=1), rtol=1e-5)
    signal = (rng.random(n) + 1j * rng.random(n)).astype(np.complex64)
    found = run("fft", (n,), (tile,), [signal], np.empty_like(signal)).reshape(-1, tile)
    order = [int(f"{k:0{ceil(np.log2(tile))}b}"[::-1], 2) for k in range(tile)]
    np.testing.assert_allclose(found[:, order], np.fft.fft(signal.reshape(-1, tile), axis=1), rtol=1e-4, atol=1e-4)
