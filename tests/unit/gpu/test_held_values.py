"""Loads of what a thread has in a register are left out; a store, a barrier or another round ends that."""

import pytest

from dse.gpu.kernel.held_values import without_held_loads
from dse.gpu.kernel.plan import Access, plan_of, sub_nodes
from tests.unit.gpu.kernel_support import kernel

HEADER = "void f(float a[N], float b[N], float c[N], int at[N]) { for (int i = 0; i < N; i++) { BODY } }"


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("a[i] = b[i] * b[i];", ["b"]),
        ("a[i] -= b[i]; a[i] /= c[i];", ["b", "a", "c"]),
        ("a[i] = b[i]; c[i] = b[i];", ["b", "b"]),  # a and b may overlap
        ("a[i] = b[i]; c[i] = b[i + 1];", ["b", "b"]),
        ("int k = i; float s = b[k]; k = i + 1; a[i] = s + b[k];", ["b", "b"]),
        ("if (i > 3) a[i] = b[i]; a[i] = b[i];", ["b", "b"]),
        ("float s = b[i]; if (i > 3) s += b[i]; else s += c[i]; a[i] = s + b[i] + c[i];", ["b", "c", "c"]),
        ("float s = 0; for (int k = 0; k < 4; k++) s += b[k] * b[k]; a[i] = s;", ["b"]),
    ],
)
def test_loads_that_are_left(body: str, loads: list[str]) -> None:
    work = kernel(HEADER.replace("BODY", body), N=1024)
    left = [n for n in sub_nodes(without_held_loads(plan_of(work).nodes)) if isinstance(n, Access)]
    assert [n.array.source_name for n in left if not n.is_store and n.site >= 0] == loads
