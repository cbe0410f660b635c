"""Sizes of open arrays: the greatest subscript that the loops, conditions, assignments and conversions let through."""

import pytest

from dse.base.errors import ModelNotApplicable, SourceError
from dse.frontend.c.lower import kernels_of
from dse.frontend.c.variable_ranges import RangeWalk, State
from dse.model.kernel import Kernel
from dse.program.ir import Assign, Stmt
from tests.unit.gpu.kernel_support import features, kernel

KERNEL = "void f(int n, float *p, unsigned char c[16], short h[16], int q[16], float out[16], float x)\n"
KERNEL += "{ for (int i = 0; i < 16; i++) { BODY } }"
OPEN = "void f(float *a, float *b) { for (int i = 0; i < N; i++) { BODY } }"


def lowered(body: str) -> Kernel:
    (found,) = kernels_of("k.c", KERNEL.replace("BODY", body), {})
    return found


@pytest.mark.parametrize(
    ("body", "size"),
    [
        # a variable that its loop assigns has more values than its first
        ("int j = 0; while (j < 4) { out[i] += p[j]; j = j + 1; }", 4),
        ("int j = 0; while (j < 4) { out[i] += p[j]; j += 1; }", 4),
        ("int j = 0; while (j <= 4) { out[i] += p[j]; j++; }", 5),
        ("int j = 0; while (4 > j) { j++; out[i] += p[j]; }", 5),
        ("int j = 0; while (j < 10) { out[i] += p[j]; j += 3; }", 10),
        ("int j = 9; while (j >= 0) { out[i] += p[j]; j -= 2; }", 10),
        ("int j = 9; while (j > 0) { j = j - 1; out[i] += p[j]; }", 9),
        ("int j = 64; while (j > 1) { j = j / 2; out[i] += p[j]; }", 33),
        ("int j = 0; do { out[i] += p[j]; j++; } while (j < 4);", 4),
        ("int j = 7; do { out[i] += p[j]; j++; } while (j < 4);", 8),
        ("int j; for (j = 0; j < 6;) { out[i] += p[j]; j = j + 1; }", 6),
        ("int j = 0; while (j < 4 && out[i] > 0) { out[i] += p[j]; j++; }", 4),
        ("int j = 0; while (!(j >= 4)) { out[i] += p[j]; j++; }", 4),
        ("int j = 0; while (j != 40 && j < 50) { out[i] += p[j]; j++; }", 50),
        ("int j = 0, k = 0; while (j < 4) { k = 0; while (k < 3) { out[i] += p[4 * k + j]; k++; } j++; }", 12),
        ("int j = 0; for (int k = 0; k < 5; k++) { out[i] += p[j % 7]; j += 2; }", 7),
        ("int last = 0; for (int k = 0; k < 5; k++) { out[i] += p[last]; last = k; }", 5),
        ("for (int k = 0; k <= i; k++) out[i] += p[k];", 16),
        ("for (int k = i; k >= 0; k--) out[i] += p[k];", 16),
        ("for (int k = 20; k >= i; k--) out[i] += p[k];", 21),
        ("for (int k = 5; k < 5; k++) out[i] += p[9];", 1),
        ("for (int k = 5; k <= 5; k++) out[i] += p[9];", 10),
        # so has one that a branch assigns
        ("int j = 3; if (x > 0) j = 8; out[i] = p[j];", 9),
        ("int j = 3; if (x > 0) j = 8; else j = 1; out[i] = p[j];", 9),
        ("int j = 9; j = 2; out[i] = p[j];", 3),
        ("int j = i; if (j > 5) j = 5; out[i] = p[j];", 6),
        ("if (i < 15) out[i] = p[i + 1]; else out[i] = p[i];", 16),
        ("out[i] = i < 15 ? p[i + 1] : p[0];", 16),
        ("if (i == 3) out[i] = p[i];", 4),
        ("if (i != 15) out[i] = p[i];", 15),
        ("if (i + 4 < 10) out[i] = p[i];", 6),
        ("if (i > 20) out[i] = p[100]; out[i] = p[i];", 16),
        # a conversion wraps
        ("out[i] = p[(unsigned char)(0 - i)];", 256),
        ("out[i] = p[(unsigned char)i];", 16),
        ("out[i] = p[(unsigned char)(300 + i) + 1];", 257),
        ("out[i] = p[(unsigned char)x];", 256),
        ("out[i] = p[(signed char)(i * 100) + 128];", 256),
        ("out[i] = p[(unsigned short)(i - 1)];", 65536),
        ("out[i] = p[(int)(char)i];", 16),
        ("unsigned char j = 0 - i; out[i] = p[j];", 256),
        ("unsigned j = i; out[i] = p[j];", 16),
        ("out[i] = p[(i + 1u) * 2u];", 33),
        # what is read from memory has a type too
        ("out[i] = p[c[i]];", 256),
        ("out[i] = p[h[i] & 7];", 8),
        ("out[i] = p[q[i] & 7];", 8),
        ("out[i] = p[q[i] % 8];", 8),
    ],
)
def test_the_greatest_subscript_is_the_size(body: str, size: int) -> None:
    assert lowered(body).array("p").dims == (size,)


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("int j = 0; while (x > 0) { out[i] += p[j]; j = j + 1; }", "p[j]"),
        ("int j = 0; while (j < q[i]) { out[i] += p[j]; j++; }", "p[j]"),
        ("int j = 0; while (j != 40) { out[i] += p[j]; j++; }", "p[j]"),
        ("int j; if (x > 0) j = q[i]; else j = 0; out[i] = p[j];", "p[j]"),
        ("out[i] = p[(int)x];", "p[(int)x]"),
        ("out[i] = p[(unsigned)(0 - i)];", "p[(unsigned)(0 - i)]"),
        ("out[i] = p[q[i]];", "p[q[i]]"),
        ("unsigned j = 0 - i; p[j] = 0;", "p[j]"),
    ],
)
def test_a_subscript_that_may_be_any_number_is_refused_once(body: str, at: str) -> None:
    with pytest.raises(SourceError) as caught:
        lowered(body)
    (found,) = caught.value.diagnostics
    assert "the size of p is not given and this subscript does not tell it" in found.message
    assert (found.span.line, found.span.column) == (2, (KERNEL.replace("BODY", body)).split("\n")[1].index(at) + 1)


@pytest.mark.parametrize(
    "body",
    [
        "int j = 0; while (j < 4) { b[i] += a[j]; j = j + 1; }",
        "b[i] += a[(unsigned char)(0 - i)];",
        "int j = 3; do { b[i] += a[j]; j--; } while (j >= 0);",
    ],
)
def test_such_kernels_are_traced(body: str) -> None:
    """The two that were refused as out of bounds, and one of their kind."""
    found = features(OPEN.replace("BODY", body), 64)
    assert found.instructions[0].warp_executions > 0


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("int j = 0; while (j < 4) { b[i] += a[j - 1]; j = j + 1; }", "a[j - 1]"),
        ("b[i] += a[(signed char)(200 + i)];", "a[(signed char)(200 + i)]"),
        ("b[i + 1] = a[i];", "b[i + 1]"),
    ],
)
def test_what_is_outside_is_still_refused_at_its_place(body: str, at: str) -> None:
    text = OPEN.replace("float *b", "float b[N]").replace("BODY", body)
    with pytest.raises(ModelNotApplicable, match="outside its bounds") as caught:
        features(text, 64)
    assert caught.value.diagnostics[0].span.column == text.index(at) + 1


def test_ranges_at_a_place() -> None:
    """Before the last statement, the loop's variable is where its condition lets it leave."""
    seen: list[State] = []

    def look(statement: Stmt, state: State) -> None:
        if isinstance(statement, Assign) and statement.name == "out":
            seen.append(state)

    body = "int j = 0; while (j < 9) j += 4; out[i] = j;"
    found = kernel(KERNEL.replace("float *p", "float p[9]").replace("BODY", body))
    RangeWalk(found).run(look)
    (state,) = seen
    assert state["j"] == (9, 12)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i < 4", (0, 3)),
        ("i <= 4", (0, 4)),
        ("i > 4", (5, 15)),
        ("i >= 4", (4, 15)),
        ("i == 4", (4, 4)),
        ("i != 0", (1, 15)),
        ("i != 15", (0, 14)),
        ("i != 4", (0, 15)),
        ("4 < i", (5, 15)),
        ("4 >= i", (0, 4)),
        ("i - 3 > 4", (8, 15)),
        ("!(i < 4)", (4, 15)),
        ("!(i > 4)", (0, 4)),
        ("i > 2 && i < 7", (3, 6)),
        ("i < 2 || i > 9", (0, 15)),
        ("i < 2 || i < 4", (0, 3)),
        ("!(i < 2 || i > 9)", (2, 9)),
        ("i", (1, 15)),
        ("i > q[i]", (0, 15)),
        ("i > c[i]", (1, 15)),
        ("2 * i < 4", (0, 15)),
    ],
)
def test_a_condition_narrows(condition: str, expected: tuple[int, int]) -> None:
    seen: list[State] = []
    text = (
        KERNEL.replace("float *p", "float p[9]").replace("int n,", "").replace("BODY", f"if ({condition}) out[i] = 1;")
    )
    (found,) = kernels_of("k.c", text, {})
    RangeWalk(found).run(lambda statement, state: seen.append(state) if isinstance(statement, Assign) else None)
    assert seen[-1]["i"] == expected


def test_counting_wraps_what_is_converted_and_stored() -> None:
    """Of 256 threads those with i = 0 and i > 246 have (unsigned char)(0 - i) < 10; warps 0 and 7 hold them."""
    text = """void f(float a[N], float b[N]) {
      for (int i = 0; i < N; i++) { DECLARED if (j < 10) b[i] = a[i]; } }"""
    for declaration in ("int j = (unsigned char)(0 - i);", "unsigned char j = 0 - i;"):
        assert features(text.replace("DECLARED", declaration), 256).per_warp.total == 2 * 2 / 8
