"""Trace, warps, cache and counts of kernels whose figures follow by hand from the rules of the GPU models page."""

import pytest

from dse.base.errors import ModelNotApplicable, OptionError
from dse.gpu.trace import execute
from dse.model.kernel import ByClass
from tests.examples import in_full, seldom
from tests.unit.gpu.kernel_support import features, kernel, kernels

GEMM = """
void gemm(float alpha, float A[N][N], float B[N][N], float C[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
}
"""
COPY = "void copy(float a[N], float b[N]) { for (int i = 0; i < N; i++) b[i] = a[i]; }"
STRIDED = "void strided(float a[N][16], float b[N]) { for (int i = 0; i < N; i++) b[i] = a[i][0]; }"
TRIANGLE = """
void triangle(float a[N][N], float b[N]) {
  for (int i = 0; i < N; i++) {
    float s = 0;
    for (int j = 0; j <= i; j++) s += a[j][i];
    b[i] = s;
  }
}
"""


def test_gemm_as_worked() -> None:
    found = features(GEMM, 1024, 128)
    assert found.dram == ByClass(constant=1 / 64, coalesced=1 / 16)
    assert found.per_warp == ByClass(constant=1024, coalesced=1024)
    assert found.total_instructions == 10 * 1024
    assert (found.blocks, found.block_threads, found.trace_batches) == (1024, 1024, 2)
    assert found.dependences == ()
    assert [(i.text, i.access) for i in found.instructions] == [("A[i][k]", "constant"), ("B[k][j]", "coalesced")]


def test_syrk_as_worked() -> None:
    found = features(GEMM.replace("B[k][j]", "A[j][k]"), 128)
    assert (found.dram.constant, found.dram.uncoalesced) == (1 / 64, 3 / 64)
    assert found.instructions[1].max_stride == 128


def test_product_without_factor_has_nine_instructions() -> None:
    assert features(GEMM.replace("alpha * ", ""), 64).total_instructions == 9 * 64


def test_promotion_can_be_turned_off() -> None:
    """The target's load and store come after the operands, and its address counts for each."""
    found = features(GEMM, 64, promote=False)
    assert [(i.text, i.is_store) for i in found.instructions] == [
        ("A[i][k]", False),
        ("B[k][j]", False),
        ("C[i][j]", False),
        ("C[i][j]", True),
    ]
    assert found.total_instructions == (10 + 2 + 4) * 64


def test_a_copy_misses_once_a_line() -> None:
    found = features(COPY, 4096)
    assert found.dram == ByClass(coalesced=2.0)
    assert (found.cache_misses, found.cache_accesses) == (4096 * 4 * 2 // 64, 4096 * 4 * 2 // 64)
    assert found.trace_batches == 2
    assert found.transactions == 1


def test_a_line_for_each_lane() -> None:
    found = features(STRIDED, 2048)
    load, store = found.instructions
    assert (load.access, load.max_stride, load.accesses, load.misses) == ("uncoalesced", 16, 2048, 2048)
    assert (store.access, store.accesses) == ("coalesced", 128)
    assert found.transactions == pytest.approx((16 + 1) / 2)


def test_only_existing_warps_count() -> None:
    """100 threads are four warps, the last of four lanes, though a block has eight."""
    assert features(COPY, 100).instructions[0].warp_executions == 4


def test_doubles_take_twice_the_lines() -> None:
    found = features(COPY.replace("float", "double"), 1024)
    assert found.instructions[0].access == "coalesced"
    assert found.dram.coalesced == 4


def test_the_longest_lane_of_a_warp_counts() -> None:
    """Warp w of a triangle runs 32 (w + 1) iterations; the mean over 32 warps is 528."""
    found = features(TRIANGLE, 1024)
    assert found.per_warp.total == pytest.approx(528 + 1, rel=0.01)
    assert found.instructions[0].warp_executions == sum(32 * (w + 1) for w in range(32))


def test_data_dependent_loops_take_their_mean_from_the_trace() -> None:
    text = """
    void walk(int next[N], int steps[N], float out[N], const float w[N]) {
      for (int i = 0; i < N; i++) {
        int at = i; float s = 0;
        for (int k = 0; k < steps[i] % 8; k++) { s += w[at]; at = next[at]; }
        if (s > 2) out[i] = s; else out[i] = -s;
      }
    }"""
    found = features(text, 4096, 512)
    assert any("mean number of iterations of the loop in line 5" in note for note in found.notes)
    loads = next(i for i in found.instructions if i.text.startswith("w["))
    assert 6 <= loads.per_warp <= 7
    assert loads.warp_executions > 0


def test_races_are_found_where_threads_meet() -> None:
    shift = "void shift(float a[N]) { for (int i = 0; i < N - 1; i++) a[i] = a[i + 1]; }"
    (found,) = features(shift, 256).dependences
    assert (found.array, found.kind) == ("a", "write-read")
    scatter = "void scatter(float a[N]) { for (int i = 0; i < N; i++) a[i / 2] = 1; }"
    (found,) = features(scatter, 256).dependences
    assert found.kind == "write-write"
    total = "void total(float a[N], float b[N], float s) { for (int i = 0; i < N; i++) { s += a[i]; b[i] = s; } }"
    (found,) = features(total, 256).dependences
    assert found.array == "s"


def test_parallel_loops_are_found_and_explained() -> None:
    found = kernel(GEMM, N=64)
    assert [p.variable.source_name for p in found.parallel] == ["j", "i"]
    assert "i and j occur in the subscripts of every written array (C); x is j" in found.how_parallel
    one = kernel(
        "void f(float a[N][N], float s[N]) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)"
        " s[i] += a[i][j]; }",
        N=64,
    )
    assert [p.variable.source_name for p in one.parallel] == ["i"]
    assert "j is not" in one.how_parallel
    none = kernel("void f(float a[N]) { for (int i = 1; i < N; i++) a[0] += a[i]; }", N=64)
    assert none.parallel == ()


def test_pragmas_and_options_name_loops() -> None:
    marked = GEMM.replace("  for (int i", "  #pragma dse parallel(j)\n  for (int i", 1)
    assert [p.variable.source_name for p in kernel(marked, N=32).parallel] == ["j"]
    collapsed = GEMM.replace("  for (int i", "  #pragma omp parallel for collapse(2)\n  for (int i", 1)
    assert [p.variable.source_name for p in kernel(collapsed, N=32).parallel] == ["j", "i"]
    with pytest.raises(OptionError, match="q is no loop"):
        kernel(GEMM.replace("  for (int i", "  #pragma dse parallel(q)\n  for (int i", 1), N=32)


def test_each_outermost_loop_is_a_kernel() -> None:
    found = kernels(COPY + COPY.replace("copy", "again"), N=64)
    assert [k.name for k in found] == ["copy", "again"]


def test_tiles_named_in_the_source_of_a_plain_kernel() -> None:
    """Naming A and B as tiles stands for tiling by the block's width: two tiles at a time, N / 32 times."""
    found = features("#pragma dse tile(A, B)\n" + GEMM, 1024, 128).shared
    assert found is not None
    assert (found.bytes_per_block, found.tiles, found.loads) == (8192, 32, 64)
    assert found.reads == ByClass(constant=1024, coalesced=1024)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "void f(float a[N]) { for (int i = 0; i < N; i++) { float x = 1; while (x > 0) x += 1; a[i] = x; } }",
            "does not end within",
        ),
        ("void f(float a[N]) { for (int i = 0; i < N; i++) while (1) a[i] += 1; }", "a loop of f never ends"),
        ("void f(float a[N]) { for (int i = 0; i < N; i++) a[i + 1] = 0; }", "outside its bounds"),
        ("void f(float a[N]) { for (int i = N; i < N; i++) a[i] = 0; }", "runs no iteration"),
    ],
)
def test_kernels_that_cannot_be_traced(text: str, message: str) -> None:
    with pytest.raises(ModelNotApplicable, match=message) as caught:
        features(text, 64, max_steps=1000)
    assert caught.value.diagnostics[0].span.line == 1


@pytest.mark.parametrize(
    ("loop", "ends"),
    [
        ("while (s < 3) s += 1;", True),
        ("for (int k = 0; n > 3; k++) { s += k; n -= 1; }", True),
        *in_full(("while (a[0] > n) { a[0] -= 1; s += 1; }", True)),
        ("a[i] = 9; while (a[i] > 1) a[i] -= 1;", True),
        *in_full(
            ("a[i] = 9; while (a[i] > n) { a[i] -= 1; s += 1; }", True),
            ("float r[4]; r[0] = 9; while (r[0] > 1) r[0] -= 1; s = r[0];", True),
        ),
        ("while (n > 1) { for (int k = 9; k > 0; k--) s += 1; n = 0; }", True),
        ("while (n < 1) s += 1;", True),
        ("while (n > 1) s += 1;", False),
        ("while (n > 1) { int m = n; m -= 1; s += m; }", False),
    ],
)
def test_loops_that_cannot_end(loop: str, ends: bool) -> None:
    inside = f"float s = 0; int n = 5; {loop} b[i] = s;"
    text = "void f(float a[N], float b[N]) { for (int i = 0; i < N; i++) { " + inside + " } }"
    for compiled in (False, True):
        if ends:
            features(text, 64, max_steps=1000, compiled=compiled)
            continue
        with pytest.raises(
            ModelNotApplicable, match="a loop of f never ends: nothing in it changes what its condition"
        ):
            features(text, 64, max_steps=1000, compiled=compiled)


def test_an_endless_loop_of_many_threads_ends_as_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.gpu.trace.execute.MAX_THREAD_STEPS", 64 * 64 * 10)
    text = (
        "void f(float a[N][N]) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {"
        " int k = 1; while (k) { a[i][j] += 1; k = k; } } }"
    )
    with pytest.raises(ModelNotApplicable, match="does not end within 20 loop iterations"):  # 2048 of 4096 threads
        features(text, 64)


def test_impossible_blocks() -> None:
    with pytest.raises(OptionError, match="not possible"):
        features(COPY, 64, block=(2048, 1, 1))
    with pytest.raises(OptionError, match="has more"):
        features(COPY, 64, block=(32, 32, 1))


def test_blocked_loops_are_put_together() -> None:
    """A product tiled in C, with the tile arrays named, is the tiled kernel of table 5."""
    blocked = """
    #pragma dse tile(A, B)
    void gemm(float alpha, float A[N][N], float B[N][N], float C[N][N]) {
      for (int ii = 0; ii < N; ii += 32)
        for (int jj = 0; jj < N; jj += 32)
          for (int kk = 0; kk < N; kk += 32)
            for (int i = ii; i < ii + 32; i++)
              for (int j = jj; j < jj + 32; j++)
                for (int k = kk; k < kk + 32; k++)
                  C[i][j] += alpha * A[i][k] * B[k][j];
    }"""
    found = features(blocked, 1024, 128)
    assert found.extents == (1024, 1024)
    assert found.shared == features("#pragma dse tile(A, B)\n" + GEMM, 1024, 128).shared


WALK = """
void walk(int next[N], int steps[N], float out[N], const float w[N]) {
  for (int i = 0; i < N; i++) {
    int at = i; float s = 0;
    for (int k = 0; k < steps[i] % 8; k++) { s += w[at]; at = next[at] * 3 / 5; }
    if (next[i] > 100 && s > 2) out[i] = s; else out[i] = -s;
  }
}"""


MIXED = """
void mixed(double d[N], float out[N]) {
  for (int i = 0; i < N; i++) {
    unsigned char u = 0 - i; float x = 0;
    do { x += d[u % N]; u -= 77; } while (u > 60 && x < 3);
    if ((signed char)(200 + i) < -20 || exp(x) > 5) out[i / 2] = x;
  }
}"""


@pytest.mark.parametrize("text", [GEMM, COPY, STRIDED, WALK, *seldom(TRIANGLE, MIXED)])
def test_interpreted_threads_are_the_compiled_ones(text: str) -> None:
    assert features(text, 200, 64, compiled=False) == features(text, 200, 64, compiled=True)


def test_made_up_contents_that_steer_are_told_and_fit_their_type() -> None:
    text = """void f(unsigned char p[N], signed char q[N], float h[256], float g[128], float s[N], float out[N]) {
        for (int i = 0; i < N; i++) { if (s[i] > 0.5f) out[i] = h[p[i]] + g[q[i]]; } }"""
    (note,) = [n for n in features(text, 1024).notes if n.startswith("made up")]
    assert "values of p, q, s;" in note
    assert not [n for n in features(COPY, 64).notes if n.startswith("made up")]


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are compiled from now on."""
    found: list[str] = []
    monkeypatch.setattr(execute, "_compile", lambda source: found.append(source) or compiled(source))
    compiled = execute._interpreted  # so that nothing has to be compiled to see that it would be
    return found


def test_a_short_trace_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compilations(monkeypatch)
    features(GEMM, 1024, 128)
    assert found == []


def test_what_python_does_not_end_in_a_second_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = features(WALK, 64, compiled=False)
    found = compilations(monkeypatch)
    monkeypatch.setattr(execute, "MOST_INTERPRETED", 64 * 8 * 4)  # some of the 7 iterations
    assert features(WALK, 64) == expected
    assert len(found) == 1
    monkeypatch.setattr(execute, "MOST_INTERPRETED", 63)  # not a single one
    assert features(WALK, 64) == expected
    assert len(found) == 2


def test_threads_that_count_for_themselves_are_as_quick_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = features(TRIANGLE, 64, compiled=True)
    found = compilations(monkeypatch)
    monkeypatch.setattr(execute, "MOST_INTERPRETED", 63)  # no statement is for one thread after the other
    assert features(TRIANGLE, 64) == expected
    assert found == []
    monkeypatch.setattr(execute, "MOST_STEPS_OF_ROWS", 20)
    assert features(TRIANGLE, 64) == expected
    assert len(found) == 1


def test_an_end_that_compiled_code_shares_is_not_waited_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compilations(monkeypatch)
    endless = "int k = 1; while (k) { a[i] += 1; k = k; }"
    for text, message in (("a[i + 1] = 0;", "outside its bounds"), (endless, "within 1000 loop")):
        with pytest.raises(ModelNotApplicable, match=message):
            features("void f(float a[N]) { for (int i = 0; i < N; i++) { " + text + " } }", 64, max_steps=1000)
    assert found == []
    monkeypatch.setattr(execute, "BRIEF_STEPS", 900)
    with pytest.raises(ModelNotApplicable, match="within 1000 loop"):
        features("void f(float a[N]) { for (int i = 0; i < N; i++) { " + endless + " } }", 64, max_steps=1000)
    assert len(found) == 1


def test_numbers_that_python_refuses_are_left_to_compiled_code() -> None:
    """The sine of what is infinite is no number in C, and an error in Python."""
    text = """void f(float a[N], float b[N]) {
        for (int i = 0; i < N; i++) { double x = 1e308; x = x * 10; if (sin(x) > 0.5) b[i] = a[i]; } }"""
    assert features(text, 64) == features(text, 64, compiled=True)
    with pytest.raises(ModelNotApplicable, match="what is no number"):
        features(text, 64, compiled=False)
