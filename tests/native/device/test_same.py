"""Networks with actors on an emulated GPU do the same as in Python: outputs, traces actor by actor, tokens, waits.

The device code is what a compiler of CUDA gets. Mappings of JPEG, of the 16 that the paper has (all of them in ``make
test-full``); random networks of actors that can run on a GPU, in random mappings with both kinds of FIFOs; a sample of
both under sanitizers.
"""

import itertools
import random
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from dse.run.replay import replay_run
from tests.native.device.mixed import ADDRESS, PLAIN, THREAD, able, on_gpu, random_parts, write_mapping
from tests.native.same.batches import CASES, Batch, batch
from tests.native.same.comparing import Built, built, compiler, sanitizes, trace_differences
from tests.native.same.test_partitions import untimed_differences

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
ACTORS = Path(__file__).parents[3] / "actors"
MORE = [pytest.param(PLAIN, id="plain"), pytest.param(ADDRESS, id="address")]
BUILDS = [pytest.param(THREAD, id="thread"), *(MORE if CASES else [])]
MAPPINGS = 8 + CASES // 10


def of_actors(name: str) -> Network:
    return load_network(str(ACTORS / name / f"{name}.xdf")).network


def finished(result: RunResult | str) -> RunResult:
    assert isinstance(result, RunResult), result
    return result


def program_of(network: Network, build: BuildOptions) -> Built:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")
    return built(network, build)


def differences_of(network: Network, native: RunResult, python: RunResult) -> list[str]:
    found = trace_differences(python, native)
    found += ["standard output"] * (python.stdout != native.stdout)
    found += [f"channel {a.name}" for a, b in zip(python.channels, native.channels, strict=True) if a != b]
    return found + [f"why: {native.why}"] * (native.why != python.why) + ["waits"] * (python.waits != native.waits)


def test_mappings_of_jpeg(tmp_path: Path) -> None:
    network = of_actors("jpeg")
    of, source = built(network, PLAIN), ACTORS / "jpeg" / "input.jpg"
    options = RunOptions(input=str(source), output=str(tmp_path / "python.yuv"), hash_channels=True)
    python = run_network(network, options)
    candidates = able(network)
    assert len(candidates) == 4
    choices = [c for c in itertools.product((False, True), repeat=4) if CASES or sum(c) in (0, 1, 4)]
    for number, choice in enumerate(choices):
        chosen = [actor for actor, taken in zip(candidates, choice, strict=True) if taken]
        path = write_mapping(network, on_gpu(network, chosen), tmp_path / f"{number}.xcf")
        picture = tmp_path / f"{number}.yuv"
        again = RunOptions(input=str(source), output=str(picture), hash_channels=True)
        assert differences_of(network, finished(of.run(again, path)), python) == [], chosen
        assert picture.read_bytes() == (tmp_path / "python.yuv").read_bytes(), chosen


@pytest.fixture(scope="module")
def drawn() -> Batch:
    """Random networks of actors that can run on a GPU, of both kinds."""
    return batch(range(40, 42 + CASES // 20), timed=(False, True), small=True, reading=False, silent=True)


def check_mapping(of: Batch, program: Built, seed: int, folder: Path) -> None:
    """Run a random mapping: what does not depend on time is the same, the rest is legal."""
    rng, fifo = random.Random(seed), (512, 1, 4, 32)[seed % 4]
    options = RunOptions(input=str(of.input), fifo_tokens=fifo, hash_channels=True)
    path = write_mapping(of.network, random_parts(of.network, rng), folder / f"{seed}.xcf", fifo)
    native = finished(program.run(options, path))
    assert native.why == "quiescent"
    assert untimed_differences(of, run_network(of.network, options), native) == []
    replay = replay_run(of.network, native.trace.firings, options)
    assert [str(i) for i in replay.illegal] == []
    assert replay.channels == native.channels


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(MAPPINGS))
def test_random_mappings_of_random_networks(seed: int, build: BuildOptions, drawn: Batch, tmp_path: Path) -> None:
    check_mapping(drawn, program_of(drawn.network, build), seed, tmp_path)
