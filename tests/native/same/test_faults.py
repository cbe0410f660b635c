"""Faults of programs, and how they end: the same message at the same place in both executions."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.native.same.batches import CASES
from tests.native.same.comparing import Built, built, compiler, outcome
from tests.native.shared import written_once
from tests.property.native_faults import FAULTS, write_faults

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
DRAWN = range(max(4, CASES // 10))
NOTHING = RunOptions(input=os.devnull)


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(str(written_once("faults", partial(write_faults, drawn=DRAWN)))).network


@pytest.fixture(scope="module")
def unborn(network: Network) -> frozenset[int]:
    """The random actors whose initial values fault, which ends every run of a program that has them."""
    drawn = range(len(FAULTS), len(FAULTS) + len(DRAWN))
    return frozenset(
        n for n in drawn if "the initial values of" in str(outcome(partial(run_network, alone(network, n), NOTHING)))
    )


@pytest.fixture(scope="module")
def faulty(network: Network, unborn: frozenset[int]) -> Built:
    """One program for all the others."""
    out = {instance_of(n) for n in unborn}
    return built(part(network, [k for k in range(len(network.instances)) if k not in out]))


def named(number: int) -> str:
    return FAULTS[number].name if number < len(FAULTS) else f"drawn{number}"


def instance_of(number: int) -> int:
    """The instance that has a fault."""
    return 0 if number < len(FAULTS) else 1 + number - len(FAULTS)


def alone(network: Network, number: int) -> Network:
    """The network without the random actors that have another number: nothing of them runs before the fault."""
    return part(network, [0, len(network.instances) - 1] if number < len(FAULTS) else [instance_of(number)])


def part(network: Network, kept: list[int]) -> Network:
    """The network with these instances only."""
    place = {k: position for position, k in enumerate(kept)}
    connections = tuple(
        replace(c, source=place[c.source], target=place[c.target])
        for c in network.connections
        if c.source in place and c.target in place
    )
    return replace(network, instances=tuple(network.instances[k] for k in kept), connections=connections)


def input_of(number: int, folder: Path) -> RunOptions:
    source = folder / "input"
    source.write_bytes(bytes([number]))
    return RunOptions(input=str(source))


@pytest.mark.parametrize("number", range(len(FAULTS) + len(DRAWN)), ids=named)
def test_a_fault_is_told_alike(
    number: int, network: Network, unborn: frozenset[int], faulty: Built, tmp_path: Path
) -> None:
    options = input_of(number, tmp_path)
    python = outcome(lambda: run_network(alone(network, number), options))
    native = (built(alone(network, number)) if number in unborn else faulty).run(options)
    if isinstance(python, RunResult) and isinstance(native, RunResult):
        assert (native.why, native.exit_code) == (python.why, python.exit_code)
    else:
        assert alike(native) == alike(python)


def alike(of: RunResult | str) -> str:
    """The text of an error without what is told otherwise: what binds a native."""
    assert isinstance(of, str), of
    return of.replace("C++ form", "Python counterpart").replace("FILE.cpp:SYMBOL", "MODULE:CALLABLE")


@pytest.mark.parametrize("number", [k for k, f in enumerate(FAULTS) if f.name != "exit_code"], ids=named)
def test_every_fault_is_one(number: int, tmp_path: Path) -> None:
    network = load_network(str(write_faults(tmp_path / "faults", range(0)))).network
    assert isinstance(outcome(lambda: run_network(network, input_of(number, tmp_path))), str)
