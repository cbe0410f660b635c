"""How long a thread that has nothing to do pauses before it looks again."""

import pytest

from tests.native.runtime.programs import built, output_of


def test_a_thread_without_peers_looks_often() -> None:
    assert output_of(built("run_patience.cpp"), "alone") == "1\n"


def test_beside_threads_that_have_work_it_looks_seldom_until_one_has_none() -> None:
    assert output_of(built("run_patience.cpp"), "beside_workers") == "1 128 1\n"


@pytest.mark.parametrize("variant", ["plain", "thread"])
def test_a_peer_that_runs_out_of_work_calls_it(variant: str) -> None:
    program = built("run_patience.cpp", variant)
    assert output_of(program, "called") in ("1\n", "0\n")  # 0: the system took its core from it, so it yields


def test_it_knows_for_how_long_it_has_waited() -> None:
    assert output_of(built("run_patience.cpp"), "waited") == "1\n"
