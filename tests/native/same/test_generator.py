"""What the generator promises of its networks, in Python alone: they load, end, do not fail, and wait as they say."""

from functools import partial
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.program.verify.actors import verify
from dse.program.verify.findings import assert_none
from dse.run import execution
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from dse.run.schedule import StopRules
from tests.property.native_networks import random_network

SEEDS = range(12)


def loaded(seed: int, folder: Path, *, timed: bool) -> Network:
    network = load_network(str(random_network(seed, timed=timed, small_fifos=seed % 3 == 0).write(folder))).network
    for instance in network.instances:
        assert_none(verify(instance.actor), instance.name)
    return network


def run_in_bursts(network: Network, burst: int, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    with monkeypatch.context() as patch:
        patch.setattr(execution, "StopRules", partial(StopRules, burst_firings=burst))
        return run_network(network, RunOptions(max_firings=50_000, hash_channels=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_timed_networks_end_by_themselves(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.write_bytes(bytes(range(256)))
    result = run_network(loaded(seed, tmp_path, timed=True), RunOptions(input=str(source), max_firings=50_000))
    assert result.why == "quiescent"
    assert result.n_firings > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_untimed_networks_do_the_same_under_any_schedule(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = loaded(seed, tmp_path, timed=False)
    first, *others = [run_in_bursts(network, burst, monkeypatch) for burst in (4096, 1, 3)]
    assert first.why == "quiescent"
    for other in others:
        assert other.trace.digest == first.trace.digest
        assert other.channels == first.channels
        assert other.waits == first.waits


def test_what_is_drawn_covers_the_language() -> None:
    texts = [a.text for s in range(150) for timed in (False, True) for a in random_network(s, timed=timed).actors]
    whole = "\n".join(texts)
    wanted = ["size=512", "size=1)", "half", "double", "String", "bool", "List(type", "foreach", "while", "elsif"]
    wanted += ["schedule fsm", "schedule regexp", "priority", "repeat", "@schedule_outputs", "initialize", "guard"]
    wanted += ["@native", "function", "procedure", " div ", " mod ", "<<", ">>", "||", "&&", "not (", "~(", "(#", "-("]
    wanted += ["println", "source_readNBytes", "class_", " : for int", "large[90][100]"]
    assert [w for w in wanted if w not in whole] == []
