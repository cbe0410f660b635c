"""Every call of CUDA is looked at: the sources say so, and each that fails ends a run with words, a code, and no wait.

A card that lacks something, device code that fails and mappings that a GPU cannot follow are in ``test_ends.py``.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.measure import link_program
from dse.native.project import runtime_headers
from tests.native.device.mixed import PLAIN, on_gpu, write_mapping
from tests.native.device.test_ends import TRIAL, WORK
from tests.native.same.comparing import Built, built, compiler
from tests.native.shared import RUNTIME

CALL = re.compile(r"\bcuda[A-Z]\w*(?=\()")
LOOKED_AT = re.compile(r"(\bcheck\(|\btake\(|\bconst cudaError_t \w+ = )$")
UNDONE = re.compile(r"static_cast<void>\($")
WORDS = {"cudaGetErrorString", "cudaGetErrorName"}
"""What is called to tell of an error."""
RELEASES = {"cudaFree", "cudaFreeHost", "cudaStreamDestroy"}
"""What is called when all is over: what a run has computed counts, whatever they say."""
needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")


def sources() -> dict[str, str]:
    """Return all sources that may call CUDA, without their comments."""
    probe = Path(link_program.__file__).parent / "probe"
    texts = dict(runtime_headers()) | {path.name: path.read_text() for path in sorted(probe.iterdir())}
    return {name: re.sub(r"//.*", "", text) for name, text in texts.items()}


def calls() -> list[tuple[str, str, str]]:
    """Return (file, function of CUDA, what stands before it) of each call."""
    return [
        (name, match[0], text[: match.start()])
        for name, text in sources().items()
        for match in CALL.finditer(text)
        if match[0] not in WORDS
    ]


def test_every_call_of_cuda_is_looked_at() -> None:
    found = calls()
    assert len(found) >= 15
    unseen = [(name, call) for name, call, before in found if not LOOKED_AT.search(before)]
    assert {call for _, call in unseen} == RELEASES
    for name, call, before in found:
        if not LOOKED_AT.search(before):
            assert UNDONE.search(before), (name, call)
            assert before.rindex("~CudaGpu") > before.rindex("\n  explicit CudaGpu"), "in the destructor alone"


def test_the_emulation_can_let_every_call_fail() -> None:
    emulated = (RUNTIME / "emulation" / "cuda_runtime.h").read_text()
    assert all(f'"{call}"' in emulated for _, call, _ in calls())


@pytest.fixture(scope="module")
def trial() -> Built:
    roots = (str(Path(__file__).parents[3] / "actors"),)
    return built(load_network(str(TRIAL), source_paths=roots).network, PLAIN)


def ended(of: Built, folder: Path, setting: str) -> "subprocess.CompletedProcess[str]":
    """Run a mapping with an actor on an emulated card as a setting has it."""
    (folder / "letters").write_text("abc" * 20)
    path = write_mapping(of.network, on_gpu(of.network, [WORK]), folder / "gpu.xcf")
    key, _, value = setting.partition("=")
    command = [str(of.app), "--mapping", str(path), "-i", str(folder / "letters"), "--quiet"]
    environment = {**os.environ, key: value}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)


@needs_compiler
@pytest.mark.parametrize("call", sorted({call for _, call, _ in calls()}))
def test_a_call_that_fails_ends_the_run(call: str, trial: Built, tmp_path: Path) -> None:
    done = ended(trial, tmp_path, f"DSE_EMULATED_FAILURE={call}")
    if call in RELEASES:
        assert (done.returncode, len(done.stdout.split())) == (0, 60)
        return
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "said by the emulation" in done.stderr


@needs_compiler
def test_every_amount_of_memory_that_is_too_little_is_said(trial: Built, tmp_path: Path) -> None:
    said, limit = set[str](), 1000
    while (done := ended(trial, tmp_path, f"DSE_EMULATED_MEMORY={limit}")).returncode != 0:
        assert done.returncode == 1
        found = re.match(r"error: GPU: there is too little ([a-zGPU ]+): \d+ bytes more\n", done.stderr)
        assert found, done.stderr
        assert "use smaller FIFOs, or place fewer actors on the GPU" in done.stderr
        said.add(found[1])
        limit += limit // 4
    assert said == {"pinned memory", "memory of the GPU"}
    assert len(done.stdout.split()) == 60
