"""An index that runs beside a loop, and a ``while`` that counts, cost what the same loop written as a ``for`` does."""

from dataclasses import replace

import pytest

from dse.formats.device_yaml import load_device
from dse.gpu.kernel.plan import Access, Loop, Store, WhileLoop, plan_of, sub_nodes
from dse.gpu.kernel.running_indices import with_running_indices
from dse.gpu.models.hierarchy import MODEL
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import KernelFeatures, TraceMachine, WarpAccess
from tests.unit.gpu.kernel_support import kernel

HEADER = "void f(float y[N], float z[8*N], int at[N]) { for (int i = 0; i < N; i++) { float s = 0; BODY y[i] = s; } }"
ALONG = "for (int k = 0; k < 100; k++) s += z[k];"
ACROSS = "for (int k = 0; k < 8; k++) s += z[i + k * N];"
N = 4096


def of_body(body: str, n: int = N) -> KernelFeatures:
    """Return the features of a body."""
    work, trace = (kernel(HEADER.replace("BODY", body), N=size) for size in (n, 256))
    return kernel_features(work, trace, TraceMachine(), with_warp_work=True)


def accesses(body: str) -> list[WarpAccess]:
    """Return the accesses of a body without strides along loops that do not move them."""
    work = of_body(body).warp_work
    assert work is not None
    assert all(a.strides is not None for a in work.accesses)
    return [replace(a, strides=tuple(s for s in a.strides or () if s.bytes)) for a in work.accesses]


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("int k = 0; while (k < 100) { s += z[k]; k++; }", ALONG),
        ("int k = 0; while (100 > k) { s += z[k]; k += 1; }", ALONG),
        ("int k = 0; while (k <= 99) { k++; s += z[k - 1]; }", ALONG),
        ("int k = 0; while (k != 100) { s += z[k]; k++; }", ALONG),
        ("int k = 99; while (k >= 0) { s += z[k]; k--; }", "for (int k = 99; k >= 0; k--) s += z[k];"),
        ("int j = 0; for (int k = 0; k < 100; k++) { s += z[j]; j++; }", ALONG),
        (
            "int j = 9; int k = 0; while (k < 100) { s += z[j]; j += 2; k++; }",
            "for (int k = 0; k < 100; k++) s += z[2 * k + 9];",
        ),
        ("int j = i; for (int k = 0; k < 8; k++) { s += z[j]; j += N; }", ACROSS),
        ("int j = i; while (j < 8 * N) { s += z[j]; j += N; }", ACROSS),
        ("for (int j = i; j < 8 * N; j += N) s += z[j];", ACROSS),
        (
            "int j = i; for (int a = 0; a < 2; a++) for (int b = 0; b < 4; b++) { s += z[j]; j += N; }",
            "for (int a = 0; a < 2; a++) for (int b = 0; b < 4; b++) s += z[i + (4 * a + b) * N];",
        ),
        ("int j = 2 * i; j += 1; s += z[j];", "s += z[2 * i + 1];"),
    ],
)
def test_what_is_touched_is_the_same(body: str, same: str) -> None:
    assert accesses(body) == accesses(same)


@pytest.mark.parametrize(
    "body",
    [
        "int k = at[i]; for (int j = 0; j < 9; j++) { s += z[k]; k = at[k]; }",  # read from memory
        "int k = 0; for (int j = 0; j < 9; j++) { s += z[k]; if (at[j] > 3) k++; }",  # not in each round
        "int k = 0; for (int j = 0; j < 9; j++) { s += z[k]; k += j; }",  # another step in each
        "unsigned char k = 0; for (int j = 0; j < 999; j++) { s += z[k]; k++; }",  # it wraps
    ],
)
def test_what_does_not_run_evenly_is_left(body: str) -> None:
    plan = plan_of(kernel(HEADER.replace("BODY", body), N=N))
    found = with_running_indices(plan.nodes, plan)
    loads = [n for n in sub_nodes(found) if isinstance(n, Access) and n.array.source_name == "z"]
    assert [n.indices for n in loads] == [
        n.indices for n in sub_nodes(plan.nodes) if isinstance(n, Access) and n.array.source_name == "z"
    ]
    assert all(n.is_instruction for n in sub_nodes(found) if isinstance(n, Store))


@pytest.mark.parametrize(
    ("body", "counted"),
    [
        ("int k = 0; while (k < N) { s += z[k]; k++; }", True),
        ("int k = at[i]; while (k < 50) { s += z[k]; k++; }", True),  # from what memory holds
        ("int k = 0; while (k < at[i]) { s += z[k]; k++; }", False),
        ("int k = 0; while (k < 50) { s += z[k]; k--; }", False),
        ("int k = 0; while (k != 50) { s += z[k]; k += 2; }", False),
        ("int k = 0; int n = 50; while (k < n) { s += z[k]; k++; n--; }", False),
    ],
)
def test_whiles_that_count(body: str, counted: bool) -> None:
    plan = plan_of(kernel(HEADER.replace("BODY", body), N=N))
    found = list(sub_nodes(with_running_indices(plan.nodes, plan)))
    assert any(isinstance(n, WhileLoop) for n in sub_nodes(plan.nodes))
    assert any(isinstance(n, Loop) for n in found) is counted
    assert any(isinstance(n, WhileLoop) for n in found) is not counted


def test_a_while_takes_about_as_long_as_its_for() -> None:
    device = load_device("jetson-tk1")
    times = [
        MODEL.predict(of_body(body, 1 << 18), device).time_s
        for body in (ALONG, "int k = 0; while (k < 100) { s += z[k]; k++; }")
    ]
    assert times[0] < times[1] < 1.3 * times[0]  # one addition more in each round
