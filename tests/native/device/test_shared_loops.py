"""Loops whose rounds several threads of an emulated GPU do: the same as by one, and really so.

Blocks with as many lanes as the emulation has, in groups of one block and of several; the round that one thread would
have met first is what goes wrong.
"""

import random
import tempfile
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from dse.flows.gpu_actors import GpuRoutine, abilities_of
from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.native.device.loops.drawn import write_network
from tests.native.device.mixed import ADDRESS, PLAIN, THREAD, able, on_gpu, write_mapping
from tests.native.device.test_same import ACTORS, differences_of, finished
from tests.native.device.test_simd import WORK, both, shaped
from tests.native.same.batches import CASES
from tests.native.same.comparing import Built, built, compiler, sanitizes
from tests.native.shared import written_once

pytestmark = [
    pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler"),
    pytest.mark.skipif(not CASES, reason="DSE_NATIVE_CASES is not set: make test-full does"),
]
HERE = Path(__file__).parent
SHAPES = ((1, 1), (1, 2), (1, 7), (2, 3))
"""Blocks of a group, and threads of a block."""
LETTERS = 40
"""Firings of each random actor."""
LEAST_ROUNDS = 48
"""That threads share in each firing of a random actor: it begins with two lists of 48, two elements a round at most."""


@pytest.fixture(scope="module", params=[THREAD, ADDRESS, PLAIN], ids=["thread", "address", "plain"])
def build(request: pytest.FixtureRequest) -> BuildOptions:
    found: BuildOptions = request.param
    if found is not PLAIN and not sanitizes(found):
        pytest.skip("the compiler has no such sanitizer")
    return found


@pytest.fixture(scope="module", params=["Loops", "Lists"])
def loops(request: pytest.FixtureRequest, build: BuildOptions) -> Built:
    """Loops that are statements of actions; and lists that are expressions, and loops in routines."""
    roots = (str(ACTORS), str(HERE / "trial"))
    return built(load_network(str(HERE / "loops" / f"{request.param}.xdf"), source_paths=roots).network, build)


@pytest.mark.parametrize("shape", SHAPES)
def test_rounds_by_several_threads_are_those_of_one(shape: tuple[int, int], loops: Built, tmp_path: Path) -> None:
    letters = "".join(random.Random(5).choice(("a", "b", "k", "z", "q", "0", "7", "123456", "O")) for _ in range(50))
    python, native = both(loops, letters, tmp_path, *shaped(*shape))
    assert isinstance(python, RunResult)
    made = finished(native)
    assert differences_of(loops.network, made, python) == []
    assert [w.message for w in made.warnings] == [w.message for w in python.warnings]
    rounds = made.shared_rounds[WORK]
    assert rounds > 4000 if shape != (1, 1) else rounds == 0


@pytest.mark.parametrize("shape", [(1, 7), (2, 3)])
@pytest.mark.parametrize("letters", ["azDa", "bM", "OD", "0D1", "DM", "zB"])
def test_the_first_round_that_fails_is_told(letters: str, shape: tuple[int, int], loops: Built, tmp_path: Path) -> None:
    python, native = both(loops, letters, tmp_path, *shaped(*shape))
    assert isinstance(python, str)
    assert native == python


@pytest.fixture(scope="module")
def drawn(build: BuildOptions) -> Built:
    path = written_once("shared-loops", partial(write_network, CASES, 3 + CASES // 30))
    return built(load_network(str(path), source_paths=(str(ACTORS), str(HERE / "trial"))).network, build)


@pytest.mark.parametrize("seed", range(3))
def test_random_loops_and_lists(seed: int, drawn: Built, tmp_path: Path) -> None:
    rng = random.Random(seed)
    (tmp_path / "letters").write_bytes(bytes(rng.randrange(256) for _ in range(LETTERS)))
    network, options = drawn.network, RunOptions(input=str(tmp_path / "letters"), hash_channels=True)
    path = write_mapping(network, on_gpu(network, able(network)), tmp_path / "gpu.xcf")
    made = finished(drawn.run(options, path, *shaped(rng.randint(1, 2), rng.randint(2, 7))))
    assert differences_of(network, made, run_network(network, options)) == []
    abilities = abilities_of(network)
    for k in able(network):  # an actor that keeps nothing may fire several times at once: each by one thread
        assert not made.batched[k] or abilities[k].actions[0].simd
        assert made.shared_rounds[k] >= (LETTERS - made.batched[k]) * LEAST_ROUNDS, network.instances[k].name
    assert sum(made.batched) < LETTERS * len(able(network)), "no actor of them fires one by one"


def test_random_loops_are_shared_out_and_not() -> None:
    of = defaultdict[tuple[bool, bool], set[str]](set)
    with tempfile.TemporaryDirectory() as folder:
        path = write_network(7, 12, Path(folder))
        network = load_network(str(path), source_paths=(str(ACTORS), str(HERE / "trial"))).network
        for actor in abilities_of(network):
            for part in (*actor.actions, *actor.routines):
                for loop in part.loops:
                    of[isinstance(part, GpuRoutine), loop.generator is not None].add(loop.reason)
    assert {key for key, reasons in of.items() if "" in reasons} == set(product((False, True), repeat=2))
    assert sum(map(len, of.values())) > 6, of
