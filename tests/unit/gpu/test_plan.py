"""The plan of a thread: its memory instructions, what stays in registers, its operations, what steers it."""

import pytest

from dse.gpu.kernel.instructions import OperationCount
from dse.gpu.kernel.plan import Operations, plan_of, sub_nodes
from dse.gpu.kernel.steering import needed_names
from tests.unit.gpu.kernel_support import features, kernel

NEST = "void f(float a[N][N], float b[N][N], float c[N], int p[N]) { for (int i = 0; i < N; i++) { BODY } }"


def operations(body: str) -> OperationCount:
    """The sum of the operations of a thread's pieces, each once."""
    total = OperationCount()
    for node in sub_nodes(plan_of(kernel(NEST.replace("BODY", body), N=64)).nodes):
        if isinstance(node, Operations):
            total = total + node.count
    return total


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("c[i] = 1;", OperationCount(stores=1)),
        ("c[i] = c[i] + 1;", OperationCount(loads=1, stores=1, add=1)),
        ("a[i][0] = b[0][i];", OperationCount(loads=1, stores=1, address=4)),
        ("c[i + 1 - 1] = 1;", OperationCount(stores=1, address=2)),
        ("c[i] = b[0][2 * i];", OperationCount(loads=1, stores=1, address=3)),
        ("c[i] = c[p[i]];", OperationCount(loads=2, stores=1)),
        ("c[i] = c[i] * 2 + 1;", OperationCount(loads=1, stores=1, fma=1)),
        ("c[i] = 1 - c[i] * 2;", OperationCount(loads=1, stores=1, fma=1)),
        ("c[i] = c[i] * 2 * 3;", OperationCount(loads=1, stores=1, mul=2)),
        ("c[i] = c[i] / 2 - 1;", OperationCount(loads=1, stores=1, other=1, add=1)),
        ("c[i] = sqrt(c[i]);", OperationCount(loads=1, stores=1, other=1)),
        ("p[i] = ~p[i] ^ 3;", OperationCount(loads=1, stores=1, other=2)),
        ("c[i] = -c[i];", OperationCount(loads=1, stores=1)),
        ("if (i < 3) c[i] = 1;", OperationCount(stores=1, other=1)),
        ("for (int k = 0; k < N; k++) c[i] += a[i][k];", OperationCount(loads=1, address=2, add=1, loop=2)),
        ("for (int k = 0; k < N; k++) c[i] += c[k];", OperationCount(loads=2, stores=1, add=1, loop=2)),
    ],
)
def test_operations_of_a_thread(body: str, expected: OperationCount) -> None:
    assert operations(body) == expected


@pytest.mark.parametrize(
    ("body", "in_registers"),
    [
        ("for (int k = 0; k < N; k++) c[i] += a[i][k];", ("c",)),
        ("for (int k = 0; k < N; k++) c[k] += a[i][k];", ()),
        ("for (int k = 0; k < N; k++) c[p[i]] += a[i][k];", ()),
        ("for (int k = 0; k < N; k++) c[i] += c[i + 1];", ()),
        ("for (int k = 0; k < N; k++) { c[i] += 1; c[i] += 2; }", ("c",)),
        ("int t = 0; for (int k = 0; k < N; k++) { c[t] += a[i][k]; t = t + 1; }", ()),
        ("for (int k = 0; k < N; k++) { int t = 2; c[t] += a[i][k]; }", ()),
        ("int k = 0; while (k < N) { c[i] += a[i][k]; k++; }", ("c",)),
        ("for (int k = 0; k < N; k++) { a[i][k] = 0; for (int l = 0; l < N; l++) b[i][k] += 1; }", ("b",)),
    ],
)
def test_elements_in_registers(body: str, in_registers: tuple[str, ...]) -> None:
    assert plan_of(kernel(NEST.replace("BODY", body), N=64)).promoted == in_registers
    assert plan_of(kernel(NEST.replace("BODY", body), N=64), promote=False).promoted == ()


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("c[i] = a[i][0];", {"i"}),
        ("c[p[i]] = 1;", {"i", "p"}),
        ("int t = p[i]; int u = t; c[u] = 1;", {"i", "p", "t", "u"}),
        ("float s = c[i]; if (s > 0) a[i][0] = 1;", {"i", "c", "s"}),
        ("p[p[i]] = 3; c[p[0]] = 1;", {"i", "p"}),
        ("int t = i + 1; int u = 3; p[u] = t; c[p[0]] = 1;", {"i", "p", "t", "u"}),
        ("int l[4]; int u = 2; l[u] = 5; c[i + l[0]] = 1;", {"i", "l", "u"}),
        ("int t = 5; while (t > 0) t = t - 1; c[i] = 0;", {"i", "t"}),
        ("int t = 5, u = 4; for (int k = t; k < u; k++) a[i][0] = 0;", {"i", "t", "u"}),
    ],
)
def test_names_that_steer(body: str, needed: set[str]) -> None:
    assert needed_names(plan_of(kernel(NEST.replace("BODY", body), N=64))) == needed


@pytest.mark.parametrize(("first", "idle"), [(0, 0), (1, 1), (31, 31), (32, 0), (33, 0)])
def test_borders_keep_the_number_of_the_thread(first: int, idle: int) -> None:
    found = kernel(f"void f(float a[N]) {{ for (int i = {first}; i < N; i++) a[i] = 0; }}", N=64)
    (loop,) = found.parallel
    assert (loop.low, loop.idle, loop.extent, loop.width) == (first, idle, 64 - first, 64 - first + idle)


def test_steps_of_threads_and_of_loops() -> None:
    text = "void f(float a[N], float b[N]) { for (int i = 0; i < N; i += 3) { float s = 0; LOOP b[i] = s; } }"
    for loop, trips in (("k = 0; k < N; k += 7", 15), ("k = N - 1; k >= 0; k -= 7", 15), ("k = 3; k != 9; k++", 6)):
        found = features(text.replace("LOOP", f"for (int {loop}) s += a[k];"), 100, block=(16, 1, 1), compiled=False)
        assert found.extents == (34,)
        load = next(i for i in found.instructions if i.text == "a[k]")
        assert (load.per_warp, load.warp_executions) == (trips, 3 * trips)


def test_a_loop_around_another_is_no_strip_of_one() -> None:
    """Only a loop with a step is the outer half of a blocked one."""
    text = "void f(float a[N][N]) { for (int i = 0; i < N; i++) for (int j = i; j <= i; j++) a[0][j] = 0; }"
    found = kernel(text, N=8)
    assert found.parallel == ()
