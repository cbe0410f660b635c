"""The example of the paper's figure 1: what it prints and how often it fires."""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.run.execution import RunOptions, run_network

FOLDER = Path(__file__).resolve().parents[2] / "actors" / "pingpong"
LOADED = load_network(str(FOLDER / "pingpong.xdf"))


def lines_of(actor: str, text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(actor)]


def test_network_is_that_of_the_figure() -> None:
    assert not LOADED.warnings
    assert [i.name for i in LOADED.network.instances] == ["Prod", "PingPong", "CopyTokensA", "CopyTokensB", "Merger"]


@pytest.mark.parametrize("fifo_tokens", [1, 512])
def test_every_actor_fires_four_times(fifo_tokens: int) -> None:
    result = run_network(LOADED.network, RunOptions(fifo_tokens=fifo_tokens))
    assert result.n_firings == 20
    assert result.actions == ((4,), (2, 2), (4,), (4,), (4,))
    assert result.tokens_left == 0
    expected = (FOLDER / "expected" / "stdout.txt").read_text()
    for actor in ("P", "Merger"):
        assert lines_of(actor, result.stdout) == lines_of(actor, expected)
