"""Rounds that are known before a kernel is executed: exact where bounds are, and never more than are made."""

import pytest

from dse.gpu.kernel.least_rounds import least_rounds
from dse.gpu.kernel.plan import plan_of
from dse.gpu.trace import execute
from dse.gpu.trace.execute import execute_briefly
from dse.model.kernel import TraceMachine
from tests.unit.gpu.kernel_support import kernel
from tests.unit.gpu.test_features import COPY, GEMM, MIXED, TRIANGLE, WALK

ROWS = """void rows(float a[N][N], float b[N], int m) {{
  for (int i = 0; i < N; i++) {{ float s = 0; {body} b[i] = s; }} }}"""
ONE_BY_ONE = ROWS.format(body="for (int k = 0; k < 3000; k++) { if (a[i][k % N] > s) s += 1; }")
"""A loop that Python executes one thread after the other."""


@pytest.mark.parametrize(
    ("text", "rounds"),
    [
        (GEMM, 16),
        (COPY, 0),
        (TRIANGLE, 0),
        (WALK, 0),
        (MIXED, 0),
        (ROWS.format(body="for (int k = N; k > 0; k -= 3) s += a[i][k - 1];"), 6),
        (ROWS.format(body="for (int k = 0; k < 5; k++) for (int l = 2; l <= N; l++) s += a[k][l - 1];"), 5 + 5 * 15),
        (ROWS.format(body="for (int k = 0; k < 5; k++) for (int l = 0; l < k; l++) s += a[k][l];"), 5),
        (ROWS.format(body="for (int k = 9; k < 5; k++) s += a[i][k];"), 0),
        (ROWS.format(body="if (a[i][0] > 0) { for (int k = 0; k < 9; k++) s += a[i][k]; }"), 0),
        (
            ROWS.format(
                body="if (a[i][0] > 0) { for (int k = 0; k < 9; k++) s += a[i][k]; }"
                " else { for (int k = 0; k < 4; k++) s -= a[i][k]; }"
            ),
            4,
        ),
        (ONE_BY_ONE, 3000),
    ],
)
def test_rounds_are_known_and_made(text: str, rounds: int) -> None:
    plan = plan_of(kernel(text, N=16))
    assert least_rounds(plan) == rounds
    assert execute.execute(plan, (32, 1, 1), TraceMachine(), batches=1, compiled=False).steps >= rounds


def test_what_python_cannot_end_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same trace as Python's, which is made where its end is not known to be so far."""
    plan, machine = plan_of(kernel(ONE_BY_ONE, N=16)), TraceMachine()
    expected = execute.execute(plan, (32, 1, 1), machine, compiled=False)
    made = list[bool]()
    whole = execute.execute

    def noted(*arguments: object, compiled: bool = True, **more: object) -> execute.TraceResult:
        made.append(compiled)
        return whole(*arguments, compiled=compiled, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(execute, "execute", noted)
    monkeypatch.setattr(execute, "BRIEF_STATEMENTS", 16 * 8 * 1000)
    found = execute_briefly(plan, (32, 1, 1), machine)
    assert made == [True]
    assert (found.steps, found.control.tolist()) == (expected.steps, expected.control.tolist())
    assert found.executions.tolist() == expected.executions.tolist()
    monkeypatch.setattr(execute, "BRIEF_STATEMENTS", 16 * 8 * 10_000)
    execute_briefly(plan, (32, 1, 1), machine)
    assert made == [True, False]
