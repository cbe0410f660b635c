from pathlib import Path

from dse.flows.gpu import KernelOptions, PredictOptions, predict
from dse.frontend.c.lower import kernels_of
from dse.gpu.kernel.transpose import Transposition, index_expressions, transposed, transpositions
from dse.model.kernel import Kernel
from dse.passes.analyses.parallel_loops import parallelise
from dse.program.ir import Index
from dse.program.walk import reads_any


def kernel(body: str, arrays: str = "float A[64][32], float B[32][64], float C[64][64]") -> Kernel:
    (found,) = kernels_of("k.c", f"void f({arrays})\n{{\n{body}\n}}\n", {})
    return parallelise(found)


def reads(of: Kernel) -> list[Index]:
    return list(index_expressions(of.body))


SYRK = """
for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
        for (int k = 0; k < 32; k++)
            C[i][j] += A[i][k] * A[j][k];
"""


def test_only_the_access_a_row_apart_reads_the_copy() -> None:
    work = kernel(SYRK)
    (change,) = transpositions(work)
    assert (work.array(change.array).source_name, change.dimension, change.copied) == ("A", 0, True)
    turned = transposed(work, change)
    assert turned.array(f"{change.array}_t").dims == (32, 64)
    assert turned.array(change.array).dims == (64, 32)
    names = [r.name for r in reads(turned)]
    assert names.count(f"{change.array}_t") == 1
    assert names.count(change.array) == 1
    copy = next(r for r in reads(turned) if r.name == f"{change.array}_t")
    x = turned.parallel[0].variable.name
    assert [reads_any((i,), {x}) for i in copy.indices] == [False, True]


def test_the_copy_stands_behind_its_array_in_memory() -> None:
    work = kernel(SYRK)
    turned = transposed(work, transpositions(work)[0])
    assert [a.source_name for a in turned.arrays] == ["A", "A_t", "B", "C"]


def test_an_array_that_is_always_read_across_is_stored_transposed() -> None:
    work = kernel("for (int i = 0; i < 64; i++) { for (int k = 0; k < 32; k++) C[i][0] += A[i][k]; }")
    changes = transpositions(work)
    assert [(work.array(c.array).source_name, c.copied) for c in changes] == [("A", False), ("C", False)]
    turned = transposed(work, changes[0])
    assert (turned.arrays[0].source_name, turned.arrays[0].dims) == ("A_t", (32, 64))


def test_nothing_to_transpose() -> None:
    product = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) C[i][j] = A[i][3] + B[3][j];"
    assert transpositions(kernel(product)) == ()


def test_a_written_array_read_in_two_ways_gets_no_copy() -> None:
    """A copy would not see what the kernel writes."""
    both = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) C[i][j] = C[j][i] + 1;"
    assert transpositions(kernel(both)) == ()


def test_three_dimensions_swap_the_subscript_that_holds_x() -> None:
    arrays = "float A[8][64][16], float C[64][16]"
    work = kernel("for (int i = 0; i < 64; i++) for (int k = 0; k < 16; k++) C[i][k] = A[2][i][k];", arrays)
    assert transpositions(work) == ()  # x is k
    work = kernel(
        "for (int k = 0; k < 16; k++) for (int i = 0; i < 64; i++) C[i][k] = A[2][i][k];", arrays
    )  # x is i: both arrays are met a row apart
    changes = transpositions(work)
    assert [(work.array(c.array).source_name, c.dimension) for c in changes] == [("A", 1), ("C", 0)]
    assert transposed(work, changes[0]).arrays[0].dims == (8, 16, 64)


def test_a_transposition_twice_is_the_kernel_again() -> None:
    work = kernel("for (int k = 0; k < 32; k++) for (int i = 0; i < 64; i++) A[i][k] = 1;")
    (change,) = transpositions(work)
    once = transposed(work, change)
    assert transpositions(once) == ()
    assert isinstance(change, Transposition)


def test_a_transpose_is_tiled_and_keeps_its_layout(tmp_path: Path) -> None:
    """Storing the result of a transpose transposed would make it a copy; a loop that reads across keeps the advice."""
    plain = "void t(float a[N][N], float b[N][N]) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) BODY }"
    advice = {}
    for name, body in (("turn", "b[j][i] = a[i][j];"), ("sum", "for (int k = 0; k < N; k++) b[i][j] += a[j][k];")):
        path = tmp_path / f"{name}.c"
        path.write_text("#define N 256\n" + plain.replace("BODY", body))
        found = predict(PredictOptions(kernels=KernelOptions(path=str(path)), device="gtx1080ti"))
        advice[name] = {a.kind: a for a in found.kernels[0].advice}
    assert "transpose" not in advice["turn"]
    assert "turn 32 x 32 elements around in a shared memory tile: b[j][i]" in advice["turn"]["tile"].text
    assert 1.5 < advice["turn"]["tile"].gain < 5
    assert advice["sum"]["transpose"].text.startswith("store transposed a")
