"""C kernels: preprocessing, lowering to the IR, and errors with their place."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.base.errors import DseError, FormatError, OptionError, SourceError
from dse.frontend.c.lower import kernels_of, read_kernels
from dse.frontend.c.preprocess import integer_value, preprocess
from dse.model.kernel import Kernel
from dse.program.ir import Assign, Binary, Cast, Conditional, Const, Declare, ForEach, If, Index, While
from dse.program.types import FLOAT32, FLOAT64, IntType


def lower(text: str, **defines: object) -> tuple[Kernel, ...]:
    return kernels_of("k.c", text, {n: str(v) for n, v in defines.items()})


def only(text: str, **defines: object) -> Kernel:
    (kernel,) = lower(text, **defines)
    return kernel


def body_of(text: str, **defines: object) -> tuple[object, ...]:
    (loop,) = only(text, **defines).body
    assert isinstance(loop, ForEach)
    return loop.body


def test_a_nest_becomes_loops_with_inclusive_bounds() -> None:
    kernel = only(
        "void f(float a[N][M]) { for (int i = 0; i < N; i++) for (int j = M; j > 2; j -= 3) a[i][j-1] = 1; }",
        N=10,
        M=20,
    )
    (outer,) = kernel.body
    assert isinstance(outer, ForEach)
    (inner,) = outer.body
    assert isinstance(inner, ForEach)
    assert [(x.value if isinstance(x, Const) else x) for x in (outer.low, outer.high, inner.low, inner.high)] == [
        0,
        9,
        20,
        3,
    ]
    assert (outer.step, inner.step) == (1, -3)
    assert kernel.sizes == (("N", 10), ("M", 20))
    assert [(a.name, a.dims, a.element) for a in kernel.arrays] == [("a", (10, 20), FLOAT32)]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("int j = 0; j < 4; j++", (0, 3, 1)),
        ("int j = 0; j <= 4; ++j", (0, 4, 1)),
        ("int j = 0; 4 > j; j += 1", (0, 3, 1)),
        ("int j = 0; 4 >= j; j = j + 1", (0, 4, 1)),
        ("int j = 0; j != 4; j = 1 + j", (0, 3, 1)),
        ("int j = 0; 4 != j; j += 1", (0, 3, 1)),
        ("int j = 0; j < 9; j += 3", (0, 8, 3)),
        ("int j = 9; j > 4; j--", (9, 5, -1)),
        ("int j = 9; j >= 4; j -= 2", (9, 4, -2)),
        ("int j = 9; 4 < j; j = j - 2", (9, 5, -2)),
        ("int j = 9; 4 <= j; --j", (9, 4, -1)),
        ("int j = 9; j != 4; j--", (9, 5, -1)),
        ("int j = 0; j < 4 * 2; j -= -1", (0, 7, 1)),
    ],
)
def test_headers_of_counting_loops(header: str, expected: tuple[int, int, int]) -> None:
    kernel = only(
        "void f(float a[16]) { for (int i = 0; i < 4; i++) for (HEADER) a[j] = i; }".replace("HEADER", header)
    )
    (outer,) = kernel.body
    assert isinstance(outer, ForEach)
    (loop,) = outer.body
    assert isinstance(loop, ForEach)
    assert isinstance(loop.low, Const)
    assert isinstance(loop.high, Const)
    assert (loop.low.value, loop.high.value, loop.step) == expected


@pytest.mark.parametrize(
    "loop",
    [
        "for (j = 0; j < 4; j++) { a[i] += 1; j++; }",
        "for (j = 0; j < m; j++) { a[i] += 1; m--; }",
        "for (j = 0; a[j] > 0; j++) a[i] += 1;",
        "for (j = 0; j * 2 < 4; j++) a[i] += 1;",
        "for (j = 1; j < 4; j *= 2) a[i] += 1;",
        "for (; j < 4; j++) a[i] += 1;",
        "for (float x = 0; x < 4; x++) a[i] += 1;",
    ],
)
def test_other_loops_are_whiles(loop: str) -> None:
    text = f"void f(float a[16]) {{ for (int i = 0; i < 4; i++) {{ int j = 0, m = 5; {loop} }} }}"
    assert any(isinstance(s, While) for s in body_of(text))


def test_sizes_are_the_plain_numbers_that_others_are_computed_from() -> None:
    text = "#define N 8\n#define TWICE (2 * N)\nvoid f(int a[TWICE]) { for (int i = 0; i < TWICE; ++i) a[i] = i; }"
    assert only(text).sizes == (("N", 8),)
    assert only(text, N=16).arrays[0].dims == (32,)


def test_given_defines_win_and_steer_conditionals() -> None:
    text = """#ifndef N
#define N 4
#endif
#if defined(BIG) && N > 2
#define T double
#else
#define T float
#endif
void f(T a[N]) { for (int i = 0; i < N; i++) a[i] = 0; }"""
    assert only(text).arrays[0].element == FLOAT32
    assert only(text, BIG=1, N=6).arrays[0].element == FLOAT64
    assert only(text, BIG=1, N=2).arrays[0].element == FLOAT32


def test_function_macros_and_columns_of_what_they_hide() -> None:
    text = "#define AT(m, x, y) m[(x)][(y)]\nvoid f(float a[4][4]) { for (int i = 0; i < 4; i++) AT(a, i, 0) = bad; }"
    with pytest.raises(SourceError) as caught:
        lower(text)
    (found,) = caught.value.diagnostics
    assert (found.span.line, found.span.column) == (2, text.split("\n")[1].index("bad") + 1)


def test_polybench_headers_are_known() -> None:
    text = """#include <polybench.h>
#define _PB_N POLYBENCH_LOOP_BOUND(N,n)
static void kernel_scale(int n, DATA_TYPE POLYBENCH_2D(A,N,N,n,n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++) for (j = 0; j < _PB_N; j++) A[i][j] *= SCALAR_VAL(2.0);
#pragma endscop
}
int main(int argc, char **argv) { POLYBENCH_2D_ARRAY_DECL(A, double, N, N, n, n); for (;;) printf("%s", argv[0]); }
"""
    kernel = only(text, N=16, DATA_TYPE="float")
    assert (kernel.function, kernel.arrays[0].dims) == ("kernel_scale", (16, 16))


def test_open_arrays_get_the_size_that_their_subscripts_need() -> None:
    kernel = only(
        "void f(float *a, float b[][4]) { for (int i = 0; i < 10; i++) for (int j = 0; j < 4; j++)"
        " a[i * 4 + j] = b[i + 2][j]; }"
    )
    assert [a.dims for a in kernel.arrays] == [(40,), (12, 4)]


def test_scalars_conditions_and_while() -> None:
    first, second, third = body_of("""
void f(float a[8], unsigned char b[8]) {
  for (int i = 0; i < 8; i++) {
    double t = (double)b[i];
    if (t > 1 && i) a[i] = i < 3 ? t : -t;
    while (t >= 1) t /= 2;
  }
}""")
    assert isinstance(first, Declare)
    assert isinstance(first.value, Cast)
    assert isinstance(second, If)
    assert isinstance(second.then[0], Assign)
    assert isinstance(second.then[0].value, Conditional)
    assert isinstance(third, While)


def test_a_compound_assignment_places_its_load_at_the_target() -> None:
    """The order of the memory instructions depends on it: operands first, then the target."""
    (compound,) = body_of("void f(float a[8], float b[8]) { for (int i = 0; i < 8; i++) a[i] += b[i]; }")
    (plain,) = body_of("void f(float a[8], float b[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] + b[i]; }")
    for statement, same in ((compound, True), (plain, False)):
        assert isinstance(statement, Assign)
        assert isinstance(statement.value, Binary)
        assert isinstance(statement.value.left, Index)
        assert (statement.value.left.span == statement.span) == same


def test_types_of_c() -> None:
    kernel = only(
        "typedef double real; void f(real a[2], unsigned short b[2], long long c[2], uint8_t d[2])"
        " { for (int i = 0; i < 2; i++) a[i] = b[i] + c[i] + d[i]; }"
    )
    assert [a.element for a in kernel.arrays] == [FLOAT64, IntType(16, False), IntType(64, True), IntType(8, False)]


def test_functions_of_one_return_are_put_in_place() -> None:
    (statement,) = body_of(
        "static float sq(float x) { return x * x; }\n"
        "void f(float a[4]) { for (int i = 0; i < 4; i++) a[i] = sq(a[i] + 1); }"
    )
    assert isinstance(statement, Assign)
    assert isinstance(statement.value, Binary)
    assert statement.value.op == "*"


def test_kernels_in_source_order() -> None:
    text = "void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 0; for (int i = 0; i < N; i++) a[i] = 1; }"
    assert [k.name for k in lower(text, N=4)] == ["f.1", "f.2"]


LOOP = "void f(int n, float a[8], float *p) { for (int i = 0; i < 8; i++) { %s } }"


@pytest.mark.parametrize(
    ("statement", "at", "message"),
    [
        ("goto end;", "goto", "goto is not supported"),
        ("switch (i) { default: a[i] = 1; }", "switch", "switch is not supported"),
        ("if (a[i] > 1) break;", "break", "break is not supported"),
        ("*(p + i) = 1;", "*", "pointer arithmetic"),
        ("a[i] = *p;", "*p", "pointer arithmetic"),
        ("a[i] = p[i++];", "i++", "++ inside an expression"),
        ("struct s { int x; } q; a[i] = 0;", "s {", "a struct is not supported"),
        ('printf("x");', "printf", "the call of printf"),
        ("a[i] = unknown(i);", "unknown", "the call of unknown"),
        ("a[i] = b;", "b;", "b is not declared"),
        ("a[i][0] = 1;", "a[i][0]", "2 subscripts on a"),
        ("for (int j = 0; j < n; j++) a[j] = 0;", "n; j", "the value of n is needed"),
        ("p[n * i] = 0;", "n * i", "the value of n is needed"),
        ("a[i] = a;", "a;", "the array a as a value"),
        ("int j; for (j = 0; j < 4; j++) a[i] += j; a[i] = j + 1;", "j + 1", "j is used after the loop"),
        ("int j = 1; while (1 < j) { for (j = 0; j < 4; j++) a[i] += j; }", "j)", "j is used after the loop"),
        ("int j = 1; do { for (j = 0; j < 4; j++) a[i] += j; } while (1 < j);", "j);", "j is used after the loop"),
        (
            "int j = 1; for (; 1 < j; a[i] = 0) { for (j = 0; j < 4; j++) a[i] += j; }",
            "j; a",
            "j is used after the loop",
        ),
    ],
)
def test_unsupported_c_is_an_error_at_its_place(statement: str, at: str, message: str) -> None:
    text = LOOP % statement
    with pytest.raises(SourceError) as caught:
        lower(text)
    found = caught.value.diagnostics[0]
    assert message in found.message
    assert found.expected
    start = text.index(statement)
    assert (found.span.line, found.span.column) == (1, start + statement.index(at) + 1)


def test_all_errors_of_a_file_are_reported_together() -> None:
    with pytest.raises(SourceError) as caught:
        lower(LOOP % "goto x; a[i] = b; *p = 1;")
    assert len(caught.value.diagnostics) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f(float a[4]) { for (int i = 0; i < 4; i++) a[i] = ; }", "syntax error"),
        ("void f(real a[4]) { for (int i = 0; i < 4; i++) a[i] = 0; }", "syntax error"),
        ("void f(float a[N]) { for (int i = 0; i < 4; i++) a[i] = 0; }", "the size of a is not known"),
        ("#if N\nvoid f(void) {}", "#if without #endif"),
        ("#error no size\nvoid f(void) {}", "#error no size"),
        ("void f(float a[1000000][1000000][1000]) { for (int i = 0; i < 4; i++) a[i][0][0] = 0; }", "would need"),
        ("void f(void) { }", "no loop nest"),
    ],
)
def test_errors_of_whole_files(text: str, message: str) -> None:
    with pytest.raises(DseError) as caught:
        lower(text)
    assert message in caught.value.diagnostics[0].message


def test_names_that_do_not_exist() -> None:
    text = LOOP % "a[i] = 0;"
    with pytest.raises(OptionError, match="no function g"):
        kernels_of("k.c", text, {}, function="g")
    with pytest.raises(OptionError, match="does not use SIZE"):
        kernels_of("k.c", text, {"SIZE": "3"})
    with pytest.raises(OptionError, match="no array z"):
        kernels_of("k.c", text, {}, tiles=("z",))
    with pytest.raises(FormatError, match="cannot read"):
        read_kernels("/nowhere/kernel.c")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * ( 3 + 4 )", 14),
        ("1 << 5 | 1", 33),
        ("! 0 && 2 > 1", 1),
        ("- 7 / 2", -3),
        ("- 7 % 3", -1),
        ("0x10", 16),
        ("1.5", None),
        ("x + 1", None),
        ("1 /", None),
        ("1 / 0", None),
        ("1024u", 1024),
        ("1 << - 62", 4),
        ("- 16 >> - 62", -4),
        ("1 << 64", None),
        ("6 & 3 ^ 1", 3),
        ("1 <= 1 == 1", None),
    ],
)
def test_integer_expressions_of_macros(text: str, value: int | None) -> None:
    assert integer_value(text.split()) == value


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("F(1, 2)", "2 - 1"),
        ("F(g(1, 2), 3)", "3 - g ( 1 , 2 )"),
        ("F(a[1, 2], {3, 4})", "{ 3 , 4 } - a [ 1 , 2 ]"),
        ("F(F(1, 2), 3)", "3 - 2 - 1"),
        ("F(1,\n2) + 3", "2 - 1 + 3"),
        ("F + 1", "F + 1"),
        ("F[1]", "F [ 1 ]"),
        ("F(1", "F ( 1"),
    ],
)
def test_uses_of_macros_with_parameters(use: str, words: str) -> None:
    found = preprocess("k.c", f"#define F(x, y) y - x\n{use}\n", {}, Gatherer()).text
    assert re.findall(r"\w+|\S", found) == words.split()


def test_lines_keep_their_numbers() -> None:
    text = "/* a\n b */ int x; // c\n#define F(a) \\\n  a\nint F(y);\n"
    found = preprocess("k.c", text, {}, Gatherer()).text.split("\n")
    assert [line.split() for line in found[:5]] == [[], ["int", "x", ";"], [], [], ["int", "y", ";"]]


MUTATED = """#define N 64
void f(float a[N], int b[N], float *p) {
  for (int i = 0; i < N; i++) {
    a[i] = (i < 3) ? 0x1.8p1f : 'x' * 2.0L;
    if (a[i]) ; else a[i] = !b[i] + ~b[i] - (b[i] >> 2);
    do { a[i] -= 1; } while (a[i] > 0);
    int t, u = 3; t = u = 4; a[i] += t;
    for (int k = 0; k < i; k++) a[i] += p[i * N + k];
  }
}
"""


@given(st.integers(0, len(MUTATED) - 1), st.integers(0, 6), st.text("()[]{};=+*<>,ij0\"'#&\\\n?:.", max_size=3))
def test_mutilated_sources_end_in_an_error_or_a_kernel(at: int, cut: int, put: str) -> None:
    with contextlib.suppress(DseError):
        lower(MUTATED[:at] + put + MUTATED[at + cut :])
