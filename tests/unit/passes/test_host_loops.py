"""Loops that the host runs around its kernels: what is launched, how often, and what is refused, and why."""

from pathlib import Path

import pytest

from dse.base.errors import ModelNotApplicable, OptionError
from dse.flows.gpu import KernelOptions, Prediction, PredictOptions, predict
from dse.flows.kernels import KernelSource

STENCIL = """
#define N 300
#define STEPS 40
void steps(float a[N][N], float b[N][N]) {
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) b[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];
  }
}"""
SOLVER = """
#define N 300
void solve(float L[N][N], float x[N], float b[N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}"""
FUSED = """
#define N 300
void bicg(float A[N][N], float s[N], float q[N], float p[N], float r[N]) {
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < N; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}"""
HISTOGRAM = """
#define N 5000
void count(int of[N], int bins[64]) { for (int i = 0; i < N; i++) bins[of[i] & 63] += 1; }"""
CHAIN = "#define N 300\nvoid f(float a[N]) { for (int i = 1; i < N; i++) a[i] = a[i - 1] * 0.5f; }"


def source(folder: Path, text: str, parallel: tuple[str, ...] = ()) -> KernelSource:
    path = folder / "k.c"
    path.write_text(text)
    return KernelSource(str(path), parallel=parallel)


def cut(found: KernelSource) -> list[tuple[tuple[str, ...], int]]:
    """The parallel loops of each kernel, x first, and its launches."""
    return [(tuple(p.variable.source_name for p in k.parallel), k.launches) for k in found.work()]


def predicted(folder: Path, text: str) -> Prediction:
    return predict(PredictOptions(kernels=KernelOptions(path=source(folder, text).path), device="gtx1080ti"))


def test_a_loop_over_time_launches_each_nest_in_it(tmp_path: Path) -> None:
    assert cut(source(tmp_path, STENCIL)) == [(("j", "i"), 40)] * 2
    whole = predicted(tmp_path, STENCIL)
    assert [k.cost.kernel for k in whole.kernels] == ["steps/1", "steps/2"]
    assert whole.time_s == pytest.approx(40 * sum(k.cost.time_s for k in whole.kernels))
    longer = predicted(tmp_path, STENCIL.replace("STEPS 40", "STEPS 80"))
    assert longer.time_s == pytest.approx(2 * whole.time_s)


def test_named_loops_are_found_below(tmp_path: Path) -> None:
    assert cut(source(tmp_path, STENCIL, ("j",))) == [(("j",), 40)] * 2
    with pytest.raises(OptionError, match="k is no loop"):
        source(tmp_path, STENCIL, ("k",)).work()


def test_rounds_that_need_each_other_are_launches_with_one_thread_and_a_reduction_between(tmp_path: Path) -> None:
    found = source(tmp_path, SOLVER).work()
    assert cut(source(tmp_path, SOLVER)) == [((), 300), (("j",), 300), ((), 300)]
    assert [k.one_thread for k in found] == [True, False, True]
    assert found[1].how_parallel.startswith("a reduction over j: a tree in each warp, and an atomic operation")
    assert found[1].parallel[0].extent == 150  # the middle round of the triangle
    assert predicted(tmp_path, SOLVER).time_s > 900 * 3e-6  # 900 launches


def test_a_loop_is_cut_where_that_is_legal_and_the_parallel_loop_brought_outside(tmp_path: Path) -> None:
    """As PolyBench fuses them, s would have to be summed by atomic operations and q by a tree, 300 times."""
    kernels = source(tmp_path, FUSED).work()
    assert cut(source(tmp_path, FUSED)) == [(("i",), 1), (("j",), 1), (("i",), 1)]
    assert ["brought outside" in k.how_parallel for k in kernels] == [False, True, False]


@pytest.mark.parametrize(
    "body",
    [
        "m[0] = fmaxf(m[0], a[i]);",
        "m[0] = fmin(a[i], m[0]);",
        "if (a[i] > m[0]) m[0] = a[i];",
        "m[0] = m[0] < a[i] ? a[i] : m[0];",
    ],
)
def test_the_greatest_or_least_is_a_reduction(tmp_path: Path, body: str) -> None:
    text = f"#define N 5000\nvoid f(float a[N], float b[N], float m[1]) {{ for (int i = 0; i < N; i++) {body} }}"
    (found,) = source(tmp_path, text).work()
    assert found.how_parallel.startswith("a reduction over i")
    assert (found.launches, found.parallel[0].extent) == (1, 5000)


@pytest.mark.parametrize("body", ["if (a[i] > b[i]) m[0] = a[i];", "m[0] = m[0] < a[i] ? b[i] : m[0];"])
def test_what_only_looks_like_the_greatest_is_none(tmp_path: Path, body: str) -> None:
    text = f"#define N 5000\nvoid f(float a[N], float b[N], float m[1]) {{ for (int i = 0; i < N; i++) {body} }}"
    with pytest.raises(ModelNotApplicable):
        source(tmp_path, text).work()


def test_a_histogram_is_atomic(tmp_path: Path) -> None:
    (found,) = source(tmp_path, HISTOGRAM).work()
    assert (len(found.atomic), found.launches, len(found.parallel)) == (1, 1, 1)
    assert any(
        note.startswith("summed by atomic operations: bins")
        for note in predicted(tmp_path, HISTOGRAM).kernels[0].cost.notes
    )


@pytest.mark.parametrize("parallel", [(), ("i",)])
def test_a_chain_is_refused_with_the_reason(tmp_path: Path, parallel: tuple[str, ...]) -> None:
    with pytest.raises(ModelNotApplicable, match="threads read elements of a that others write"):
        source(tmp_path, CHAIN, parallel).work()


def test_sizes_that_a_header_sets_together_are_given_together(tmp_path: Path) -> None:
    """As in PolyBench: the header has a data set for a macro that only it tests, and none if any size is given."""
    (tmp_path / "k.h").write_text(
        "#if !defined(N) && !defined(STEPS)\n#ifdef MINI\n#define N 100\n#define STEPS 3\n#else\n"
        "#define N 300\n#define STEPS 7\n#endif\n#endif\n"
    )
    text = STENCIL.replace("#define N 300\n#define STEPS 40", '#include "k.h"')
    text += "\nint main(void) { DECLARED_IN_A_HEADER(a, float[N]); return 0; }\n"
    assert cut(source(tmp_path, text)) == [(("j", "i"), 7)] * 2
    mini = KernelSource(str(tmp_path / "k.c"), (("MINI", "1"),))
    assert cut(mini) == [(("j", "i"), 3)] * 2
    assert [k.parallel[0].width for k in mini.traced(50)] == [49, 49]
