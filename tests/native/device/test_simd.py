"""Actions that several threads of an emulated GPU fire at once: the same as one firing behind the other, and really so.

Groups of one block and of several, with one lane and with as many as the emulation has; what one thread would have met
first is what goes wrong.
"""

import os
import random
import subprocess
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.native.device.mixed import ADDRESS, PLAIN, THREAD, able, on_gpu, random_parts, write_mapping
from tests.native.device.test_same import ACTORS, differences_of, finished, of_actors, program_of
from tests.native.same.batches import CASES, Batch, batch
from tests.native.same.comparing import Built, Outcome, built, compiler, outcome, sanitizes, trace_differences
from tests.native.same.test_partitions import untimed_differences

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
TRIAL = Path(__file__).parent / "trial"
SEVERAL = Path(__file__).parent / "several" / "Several.xdf"
WORK = 1
SHAPES = ((1, 1), (1, 4), (1, 7), (3, 2), (2, 1))
"""Blocks of a group, and threads of a block."""
BUILDS = [pytest.param(b, id=name) for b, name in ((THREAD, "thread"), (PLAIN, "plain"), (ADDRESS, "address"))]
FULL_ONLY = pytest.mark.skipif(not CASES, reason="DSE_NATIVE_CASES is not set: make test-full does")
KINDS = ("host", "special")
MAPPINGS = 4 + CASES // 10


def shaped(blocks: int, threads: int, fifos: str = "host") -> tuple[str, ...]:
    return ("--gpu-blocks", str(blocks), "--gpu-threads", str(threads), "--fifos", fifos)


@pytest.mark.parametrize(
    ("name", "fifo", "simd"),
    [
        ("jpeg", 4096, {"idct2d"}),
        pytest.param("smith_waterman", 256, {"splitter"}, marks=FULL_ONLY),
        pytest.param("matrix", 40000, {"first", "rectify"}, marks=FULL_ONLY),
    ],
)
def test_applications_fire_several_at_once(name: str, fifo: int, simd: set[str], tmp_path: Path) -> None:
    network = of_actors(name)
    of, source = built(network, PLAIN), next(iter(sorted((ACTORS / name).glob("input.[jt]*"))), None)
    options = RunOptions(input=None if source is None else str(source), fifo_tokens=fifo, hash_channels=True)
    python = run_network(network, options)
    path = write_mapping(network, on_gpu(network, able(network)), tmp_path / "gpu.xcf", fifo)
    for k, (blocks, threads) in enumerate(SHAPES):
        native = finished(of.run(options, path, *shaped(blocks, threads, ("host", "special")[k % 2])))
        assert differences_of(network, native, python) == [], (blocks, threads)
        made = {i.name for i, count in zip(network.instances, native.batched, strict=True) if count}
        assert made >= simd if blocks * threads > 1 else not made, (blocks, threads)


@pytest.fixture(scope="module")
def several() -> Built:
    roots = (str(ACTORS), str(TRIAL))
    build = THREAD if sanitizes(THREAD) else PLAIN
    return built(load_network(str(SEVERAL), source_paths=roots).network, build)


def both(of: Built, letters: str, folder: Path, *arguments: str) -> tuple[Outcome, Outcome]:
    """Return what Python, and the program with ``work`` on the GPU, give for an input."""
    source = folder / "letters"
    source.write_text(letters)
    options = RunOptions(input=str(source), hash_channels=True)
    path = write_mapping(of.network, on_gpu(of.network, [WORK]), folder / "gpu.xcf")
    return outcome(lambda: run_network(of.network, options)), of.run(options, path, *arguments)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_guards_of_many_tokens_end_a_batch_where_they_would_end_a_row(
    shape: tuple[int, int], several: Built, tmp_path: Path
) -> None:
    rng = random.Random(3)
    letters = "".join(rng.choice(("a" * 40, "b", "AB" * 9, "C")) for _ in range(60))
    python, native = both(several, letters, tmp_path, *shaped(*shape))
    assert isinstance(python, RunResult)
    assert isinstance(native, RunResult)
    assert trace_differences(python, native) == []
    assert (native.stdout, native.waits, native.channels) == (python.stdout, python.waits, python.channels)
    assert (native.batched[WORK] > 200) == (shape != (1, 1))
    assert native.batched[WORK] <= sum(python.actions[WORK])


@pytest.mark.parametrize("shape", [(1, 7), (3, 2)])
@pytest.mark.parametrize("letters", ["ABABABDAMADE", "ABMABDAAAAA", "AAAAAAAAAEDM", "aaaaABDDDDDDDDDDDDDM", "ZZZZM"])
def test_the_first_firing_that_fails_is_told(
    letters: str, shape: tuple[int, int], several: Built, tmp_path: Path
) -> None:
    python, native = both(several, letters, tmp_path, *shaped(*shape))
    assert isinstance(python, str)
    assert native == python


def test_accesses_out_of_bounds_are_counted_in_all_lanes(several: Built, tmp_path: Path) -> None:
    python, native = both(several, "ooaooooobooooo" * 20, tmp_path, *shaped(2, 3))
    assert isinstance(python, RunResult)
    assert isinstance(native, RunResult)
    assert [w.message for w in native.warnings] == [w.message for w in python.warnings]
    assert native.warnings
    assert native.batched[WORK] > 0


def said_by(app: Path, *arguments: str, blocks: int) -> str:
    """Return what a program says on a card with so many blocks at once."""
    environment = {**os.environ, "DSE_EMULATED_BLOCKS": str(blocks)}
    return subprocess.run([app, *arguments], capture_output=True, text=True, check=False, env=environment).stderr


def test_blocks_that_a_card_has_no_room_for_are_fewer_and_it_is_said(several: Built, tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("abcabc" * 30)
    path = write_mapping(several.network, on_gpu(several.network, [WORK]), tmp_path / "gpu.xcf")
    arguments = ("--mapping", str(path), "-i", str(tmp_path / "letters"), "--gpu-threads", "2", "--gpu-blocks", "9")
    said = said_by(several.app, *arguments, blocks=3)
    assert "warning: the GPU has room for 3 blocks a group, not for 9" in said
    assert "by 3 x 2 threads of the GPU an actor" in said
    assert "has room for 0 of this kernel" in said_by(several.app, *arguments, blocks=0)


def test_options_of_a_gpu_that_have_nothing_to_do_are_told(several: Built, tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("abc")
    arguments = ("-i", str(tmp_path / "letters"), *shaped(2, 4, "special"))
    said = said_by(several.app, *arguments, blocks=9)
    for name in ("--gpu-blocks", "--gpu-threads", "--fifos special"):
        assert f"warning: no actor is on a GPU, where {name} would do something" in said
    assert "warning" not in said_by(several.app, *arguments, "--quiet", blocks=9)
    said = said_by(several.app, *arguments, "--fifos", "host", "--gpu-threads", "8", blocks=9)
    assert (said.count("--gpu-threads would"), said.count("--fifos special")) == (1, 0)
    mapping = write_mapping(several.network, on_gpu(several.network, [WORK]), tmp_path / "gpu.xcf")
    assert "would do something" not in said_by(several.app, "--mapping", str(mapping), *arguments, blocks=9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gpu-blocks", "0"), "the number of blocks on a GPU is 0, must be at least 1"),
        (("--gpu-blocks", "1025"), "the number of blocks on a GPU is 1025, must be at most 1024"),
        (("--gpu-threads", "-3"), "the number of threads of a block is -3, must be at least 1"),
        (("--gpu-threads", "1024"), "the number of threads of a block is 1024, must be at most 1023"),
        (("--gpu-threads", "many"), "invalid int value: 'many'"),
        (("--gpu-threads", "8"), "has room for 7 threads besides its leader on 'emulated GPU', not for 8"),
    ],
)
def test_numbers_that_make_no_sense(arguments: tuple[str, str], said: str, several: Built, tmp_path: Path) -> None:
    _, native = both(several, "abc", tmp_path, *arguments)
    assert isinstance(native, str)
    assert said in native


@pytest.fixture(scope="module")
def drawn() -> Batch:
    """Random networks most of whose actions leave nothing for the next firing."""
    return batch(range(40, 42 + CASES // 20), timed=(False, True), small=True, reading=False, apart=True)


def check_shape(of: Batch, program: Built, seed: int, folder: Path) -> int:
    """Run a random mapping in a random shape; return the firings that were made several at once."""
    rng, fifo = random.Random(seed), (512, 32, 100, 7)[seed % 4]
    options = RunOptions(input=str(of.input), fifo_tokens=fifo, hash_channels=True)
    path = write_mapping(of.network, random_parts(of.network, rng), folder / f"{seed}.xcf", fifo)
    native = finished(program.run(options, path, *shaped(rng.randint(1, 3), rng.randint(2, 5), rng.choice(KINDS))))
    assert native.why == "quiescent"
    assert untimed_differences(of, run_network(of.network, options), native) == []
    return sum(native.batched)


@FULL_ONLY
@pytest.mark.parametrize("build", BUILDS)
def test_random_networks_in_random_shapes(build: BuildOptions, drawn: Batch, tmp_path: Path) -> None:
    program = program_of(drawn.network, build)
    made = [check_shape(drawn, program, seed, tmp_path) for seed in range(MAPPINGS)]
    assert sum(made) >= 20, made
