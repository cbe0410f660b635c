"""What `make setup` compiles for predictions."""

from dse.gpu.trace.warm import warm
from dse.gpu.trace.warps import advance, begin, enter, issue, issue_rows, iterate, split, step


def test_warming_compiles_what_traces_share() -> None:
    warm()
    for function in (issue, issue_rows, begin, advance, split, enter, iterate, step):
        assert function.signatures  # type: ignore[attr-defined]
