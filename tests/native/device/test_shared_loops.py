"""Loops whose rounds several threads of an emulated GPU do: the same as by one, and really so.

Blocks with as many lanes as the emulation has, in groups of one block and of several; the round that one thread would
have met first is what goes wrong.
"""

import random
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.run.execution import RunResult
from tests.native.device.mixed import ADDRESS, PLAIN, THREAD
from tests.native.device.test_same import ACTORS, differences_of, finished
from tests.native.device.test_simd import WORK, both, shaped
from tests.native.same.batches import CASES
from tests.native.same.comparing import Built, built, compiler, sanitizes

pytestmark = [
    pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler"),
    pytest.mark.skipif(not CASES, reason="DSE_NATIVE_CASES is not set: make test-full does"),
]
HERE = Path(__file__).parent
SHAPES = ((1, 1), (1, 2), (1, 7), (2, 3))
"""Blocks of a group, and threads of a block."""


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
@pytest.mark.parametrize("letters", ["azDa", "bM", "OD", "0D1", "DM"])
def test_the_first_round_that_fails_is_told(letters: str, shape: tuple[int, int], loops: Built, tmp_path: Path) -> None:
    python, native = both(loops, letters, tmp_path, *shaped(*shape))
    assert isinstance(python, str)
    assert native == python
