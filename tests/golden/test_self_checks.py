"""Networks of the public corpus that check themselves: they print whether their results are right."""

import pytest

from dse.frontend.network.elaborate import load_network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.golden.acceptance import Missing, corpus

CASES = [
    # It shifts by (32 - 200) mod 32, which is -8: masked to 24, its own check counts no error.
    ("CALHStone/src/motion/Motion", "main_result := 0\n"),
    # Its tables of codes are read as uint through one name and written as int through another.
    (
        "Research/src/fr/irisa/mpeg4/part2/sp/Top_decoder_internal",
        "".join(f"Frame {k}: OK\n" for k in range(1, 10)),
    ),
]


@pytest.mark.parametrize(("path", "printed"), CASES)
def test_a_network_that_checks_itself_finds_no_fault(path: str, printed: str) -> None:
    try:
        root = corpus()
    except Missing as missing:
        pytest.skip(str(missing))
    network = load_network(str(root / f"{path}.xdf")).network
    assert run_network(network, RunOptions()).stdout == printed
