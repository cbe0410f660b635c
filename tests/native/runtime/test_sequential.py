"""The sequential engine makes the firings of the Python execution, one by one, and ends for the same reason."""

from collections.abc import Iterator
from functools import cache

import pytest

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.diagnose import Wait
from dse.run.execution import RunOptions, RunResult, run_network
from tests.native.runtime.programs import HERE, fan, output_of
from tests.native.same.batches import CASES

KINDS = ("tokens", "guard", "room", "unconnected")
FILES = {"fan": "Fan.xdf", "idle": "Idle.xdf"}


@cache
def network_of(name: str) -> Network:
    return load_network(str(HERE / "network" / "fan" / FILES[name])).network


def facts(network: Network, result: RunResult) -> Iterator[str]:
    """Yield the lines that run_fan.cpp prints."""
    yield f"why {result.why}"
    for counts, ids in zip(result.actions, result.trace.firings, strict=True):
        yield words("actions", counts)
        yield words("trace", ids.tolist())
    for channel in result.channels:
        yield words("channel", (channel.tokens, channel.left, channel.digest))
    for wait in result.waits:
        yield words("wait", wait_numbers(network, wait))
    if result.deadlock is not None:
        stuck = result.deadlock
        fifo = [network.connection_name(c) for c in network.connections].index(stuck.fifo)
        yield words("deadlock", (fifo, stuck.capacity_tokens, stuck.needed_tokens, *numbers(network, stuck.actors)))
    yield words("tail", result.idle_tail if result.why == "livelock" else ())


@cache
def facts_in_python(name: str, fifo_tokens: int, max_firings: int) -> list[str]:
    """Return what the program must print, by the Python execution."""
    network = network_of(name)
    options = RunOptions(fifo_tokens=fifo_tokens, max_firings=max_firings or None, hash_channels=True)
    return list(facts(network, run_network(network, options)))


def words(name: str, values: object) -> str:
    return " ".join((name, *map(str, values)))  # type: ignore[call-overload]


def numbers(network: Network, names: tuple[str, ...]) -> list[int]:
    return [[i.name for i in network.instances].index(name) for name in names]


def wait_numbers(network: Network, wait: Wait) -> list[int]:
    (index,) = numbers(network, (wait.actor,))
    actor = network.instances[index].actor
    action = [a.name for a in actor.actions].index(wait.action)
    ports = [p.name for p in (actor.outputs if wait.kind == "room" else actor.inputs)]
    port = ports.index(wait.port) if wait.port else -1
    return [index, action, KINDS.index(wait.kind), port, wait.have, wait.need, *numbers(network, wait.peers)]


@pytest.mark.parametrize("variant", ["plain", "address"] if CASES else ["plain"])
@pytest.mark.parametrize(
    ("name", "fifo_tokens", "max_firings"),
    [
        ("fan", 64, 0),
        ("fan", 1, 0),
        ("fan", 4096, 0),
        ("fan", 100_000, 0),
        ("idle", 64, 0),
        ("idle", 3, 200_000),
        ("idle", 64, 1),
        ("fan", 64, 20_000),
        ("fan", 1000, 4097),
    ],
)
def test_equals_the_python_execution(variant: str, name: str, fifo_tokens: int, max_firings: int) -> None:
    printed = output_of(fan(variant), name, str(fifo_tokens), str(max_firings))
    assert printed.splitlines() == facts_in_python(name, fifo_tokens, max_firings)
