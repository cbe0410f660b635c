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
BUILDS = [pytest.param(THREAD, id="sanitized"), *([pytest.param(PLAIN, id="plain")] if CASES else [])]
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
def mixed() -> Batch:
    """Networks that do not depend on time beside such that do."""
    return batch(range(20, 22 + CASES // 20), timed=(False, True), small=True, reading=False)


def of_untimed(of: Batch) -> set[str]:
    """The instances of the networks that do not depend on time."""
    names = [p.name.lower() for p in of.parts if not p.timed]
    return {i.name for i in of.network.instances if i.name.partition("_")[0] in names}


def untimed_differences(of: Batch, python: RunResult, native: RunResult) -> list[str]:
    """What differs of the networks that do not depend on time."""
    names, own = of_untimed(of), {p.name.lower() for p in of.parts if not p.timed}
    found = [
        f"trace of {i.name}"
        for i, ours, theirs in zip(of.network.instances, python.trace.firings, native.trace.firings, strict=True)
        if i.name in names and not np.array_equal(ours, theirs)
    ]
    channels = zip(python.channels, native.channels, strict=True)
    found += [f"channel {a.name}" for a, b in channels if a.name.partition(".")[0] in names and a != b]
    waits = [[w for w in r.waits if w.actor in names] for r in (python, native)]
    printed = [sorted(t for t in r.stdout.split("\n") if t.partition("_")[0].lower() in own) for r in (python, native)]
    return found + ["waits"] * (waits[0] != waits[1]) + ["standard output"] * (printed[0] != printed[1])


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(MAPPINGS))
def test_threads_do_the_same_or_what_is_legal(seed: int, build: BuildOptions, mixed: Batch, tmp_path: Path) -> None:
    fifo = (512, 1, 4, 32)[seed % 4]
    options = options_of(mixed, fifo)
    native = finished(program_of(mixed, build).run(options, mapping(mixed, seed, fifo, tmp_path)))
    assert native.why == "quiescent"
    assert untimed_differences(mixed, run_network(mixed.network, options), native) == []
    replay = replay_run(mixed.network, native.trace.firings, options)
    assert [str(i) for i in replay.illegal] == []
    assert replay.channels == native.channels
    assert sorted(replay.stdout.split("\n")) == sorted(native.stdout.split("\n"))


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(2 if CASES else 1))
def test_a_static_order_gets_only_as_far_as_its_list_allows(
    seed: int, build: BuildOptions, mixed: Batch, tmp_path: Path
) -> None:
    options = options_of(mixed, 64)
    path = mapping(mixed, 100 + seed, 64, tmp_path, ("STATIC_ORDER", "ROUND_ROBIN"))
    native = finished(program_of(mixed, build).run(options, path))
    python, names = run_network(mixed.network, options), of_untimed(mixed)
    for i, ours, theirs in zip(mixed.network.instances, python.trace.firings, native.trace.firings, strict=True):
        assert i.name not in names or np.array_equal(ours[: len(theirs)], theirs), i.name
    assert [str(i) for i in replay_run(mixed.network, native.trace.firings, options).illegal] == []
