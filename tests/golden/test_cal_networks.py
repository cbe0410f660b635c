"""The acceptance networks of cal.md section 4, executed by the interpreter, against the golden records."""

from pathlib import Path

import pytest

from tests.golden.acceptance import NETWORKS, Acceptance, Missing, corpus, run_case


def _marked(case: Acceptance) -> object:
    return pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else [])


@pytest.mark.parametrize("case", [_marked(c) for c in NETWORKS])
def test_network_gives_the_golden_record(case: Acceptance, tmp_path: Path) -> None:
    try:
        _, found = run_case(case, corpus(), tmp_path)
    except Missing as missing:
        pytest.skip(str(missing))
    assert not found, "\n".join(found[:10])
