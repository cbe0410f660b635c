"""Faults of programs, and how they end: the same message at the same place in both executions."""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.native.same.batches import CASES
from tests.native.same.comparing import Built, built, compiler, outcome
from tests.property.native_faults import FAULTS, write_faults

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
DRAWN = range(max(8, CASES // 10))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Built:
    path, _ = write_faults(tmp_path_factory.mktemp("faults"), DRAWN)
    return built(load_network(str(path)).network)


def alone(network: Network, index: int) -> Network:
    """The network with one instance, and what reads from it: nothing else runs before the fault."""
    kept = [index, *(c.target for c in network.connections if c.source == index)]
    connections = tuple(
        replace(c, source=kept.index(c.source), target=kept.index(c.target))
        for c in network.connections
        if c.source == index
    )
    return replace(network, instances=tuple(network.instances[k] for k in kept), connections=connections)


@pytest.mark.parametrize(
    "number", range(len(FAULTS) + len(DRAWN)), ids=lambda k: FAULTS[k].name if k < len(FAULTS) else f"drawn{k}"
)
def test_a_fault_is_told_alike(number: int, faulty: Built, tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.write_bytes(bytes([number]))
    options = RunOptions(input=str(source))
    python = outcome(lambda: run_network(alone(faulty.network, number), options))
    native = faulty.run(options)
    if isinstance(python, RunResult) and isinstance(native, RunResult):
        assert (native.why, native.exit_code) == (python.why, python.exit_code)
        assert native.actions[number] == python.actions[0]
    else:
        assert native == python


def test_most_of_them_are_faults(faulty: Built, tmp_path: Path) -> None:
    source = tmp_path / "input"
    ended = []
    for number in range(len(FAULTS)):
        source.write_bytes(bytes([number]))
        ended.append(outcome(lambda n=number: run_network(alone(faulty.network, n), RunOptions(input=str(source)))))  # type: ignore[misc]
    assert [FAULTS[k].name for k, o in enumerate(ended) if isinstance(o, RunResult)] == ["exit_code"]
