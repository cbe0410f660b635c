"""Networks in several threads: what does not depend on time does the same as in one; the rest does what is legal.

Mappings are drawn: any number of partitions, every policy, several cores. FIFOs have the sizes of the run in Python.
"""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dse.formats.xcf_write import write_xcf
from dse.model.design_point import DesignPoint, Partition, Policy
from dse.native.build import BuildOptions
from dse.run.execution import RunResult, run_network
from dse.run.instance import capacities
from dse.run.options import RunOptions
from dse.run.record import topology_of
from dse.run.replay import replay_run
from tests.native.same.batches import CASES, Batch, batch
from tests.native.same.comparing import PLAIN, THREAD, Built, built, compiler, sanitizes

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
DYNAMIC: tuple[Policy, ...] = ("NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL")
BUILDS = [pytest.param(PLAIN, id="plain"), pytest.param(THREAD, id="sanitized")]
MAPPINGS = 4 + CASES // 20


def partitions(rng: random.Random, actors: int, policies: tuple[Policy, ...]) -> Iterator[Partition]:
    """Some partitions that hold all actors."""
    order = rng.sample(range(actors), actors)
    count = rng.randint(1, min(5, actors))
    cuts = [0, *sorted(rng.sample(range(1, actors), count - 1)), actors]
    for k, (first, end) in enumerate(itertools.pairwise(cuts)):
        policy, held = rng.choice(policies), tuple(order[first:end])
        several = policy in ("ROUND_ROBIN", "NON_PREEMPTIVE", "DATA_DEMAND_DRIVEN")
        cores = rng.choice((1, 1, 2, 3)) if several else len(held) if policy == "FULL_PARALLEL" else 1
        listed = tuple(rng.choices(held, k=3)) + held if policy == "STATIC_ORDER" else ()
        yield Partition(name=f"p{k}", actors=held, unit=f"p{k}", policy=policy, cores=cores, static_order=listed)


def mapping(of: Batch, seed: int, fifo: int, folder: Path, policies: tuple[Policy, ...] = DYNAMIC) -> Path:
    """Write a random mapping."""
    rng = random.Random(seed)
    path = folder / f"{seed}.xcf"
    held = tuple(partitions(rng, len(of.network.instances), policies))
    point = DesignPoint(partitions=held, capacities=capacities(of.network, fifo))
    write_xcf(point, topology_of(of.network), str(path))
    return path


def options_of(of: Batch, fifo: int) -> RunOptions:
    return RunOptions(input=str(of.input), fifo_tokens=fifo, hash_channels=True)


def program_of(of: Batch, build: BuildOptions) -> Built:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")
    return built(of.network, build)


def finished(result: RunResult | str) -> RunResult:
    assert isinstance(result, RunResult), result
    return result


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    return batch(range(20, 22 + CASES // 20), tmp_path_factory.mktemp("untimed"), timed=(False,), small=True)


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    return batch(range(30, 32 + CASES // 20), tmp_path_factory.mktemp("timed"), timed=(True,), reading=False)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(MAPPINGS))
def test_what_does_not_depend_on_time_does_the_same(
    seed: int, build: BuildOptions, untimed: Batch, tmp_path: Path
) -> None:
    fifo = (512, 1, 4, 32)[seed % 4]
    python = run_network(untimed.network, options_of(untimed, fifo))
    native = finished(program_of(untimed, build).run(options_of(untimed, fifo), mapping(untimed, seed, fifo, tmp_path)))
    assert native.why == python.why
    for actor, ours, theirs in zip(untimed.network.instances, python.trace.firings, native.trace.firings, strict=True):
        assert np.array_equal(ours, theirs), actor.name
    assert native.channels == python.channels
    assert native.waits == python.waits
    assert native.deadlock == python.deadlock
    assert sorted(native.stdout.splitlines()) == sorted(python.stdout.splitlines())


@pytest.mark.parametrize("seed", range(2))
def test_a_static_order_gets_only_as_far_as_its_list_allows(seed: int, untimed: Batch, tmp_path: Path) -> None:
    python = run_network(untimed.network, options_of(untimed, 64))
    path = mapping(untimed, 100 + seed, 64, tmp_path, ("STATIC_ORDER", "ROUND_ROBIN"))
    native = finished(program_of(untimed, PLAIN).run(options_of(untimed, 64), path))
    for actor, ours, theirs in zip(untimed.network.instances, python.trace.firings, native.trace.firings, strict=True):
        assert np.array_equal(ours[: len(theirs)], theirs), actor.name


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(MAPPINGS))
def test_what_depends_on_time_does_what_is_legal(seed: int, build: BuildOptions, timed: Batch, tmp_path: Path) -> None:
    fifo = (512, 4)[seed % 2]
    options = options_of(timed, fifo)
    native = finished(program_of(timed, build).run(options, mapping(timed, seed, fifo, tmp_path)))
    replay = replay_run(timed.network, native.trace.firings, options)
    assert [str(i) for i in replay.illegal] == []
    assert replay.channels == native.channels
    assert sorted(replay.stdout.splitlines()) == sorted(native.stdout.splitlines())
