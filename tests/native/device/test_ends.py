"""How runs with an emulated GPU end: by faults, deadlocks, idle firings as in Python; by what a card lacks; misuse."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from dse.formats.platform_yaml import read_platform
from dse.formats.xcf_write import XcfDialect, write_xcf
from dse.frontend.network.elaborate import load_network
from dse.model.design_point import DesignPoint, Partition
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from dse.run.record import topology_of
from tests.native.device.mixed import PLAIN, on_gpu, write_mapping
from tests.native.same.comparing import Built, Outcome, built, compiler, outcome, trace_differences

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
TRIAL = Path(__file__).parent / "trial" / "Trial.xdf"
WORK = 1


@pytest.fixture(scope="module")
def network() -> Network:
    roots = (str(Path(__file__).parents[3] / "actors"),)
    return load_network(str(TRIAL), source_paths=roots).network


@pytest.fixture(scope="module")
def trial(network: Network) -> Built:
    return built(network, PLAIN)


def both(of: Built, letters: str, folder: Path, **more: int) -> tuple[Outcome, Outcome]:
    """Return what Python, and the program with ``work`` on the GPU, give for an input."""
    source = folder / "letters"
    source.write_text(letters)
    options = RunOptions(input=str(source), hash_channels=True, **more)
    path = write_mapping(of.network, on_gpu(of.network, [WORK]), folder / "gpu.xcf")
    return outcome(lambda: run_network(of.network, options)), of.run(options, path)


@pytest.mark.parametrize("letters", ["abc", "abzab", "al", "z"])
def test_faults_have_the_same_words_and_places(letters: str, trial: Built, tmp_path: Path) -> None:
    python, native = both(trial, letters, tmp_path)
    assert isinstance(python, str) == (letters != "abc")
    if isinstance(python, str):
        assert native == python
    else:
        assert isinstance(native, RunResult)
        assert native.stdout == python.stdout == "97\n98\n99\n"


@pytest.mark.parametrize("letters", ["aooob", "wab", "apqap", "p"])
def test_strays_wide_numbers_and_waits_are_the_same(letters: str, trial: Built, tmp_path: Path) -> None:
    python, native = both(trial, letters, tmp_path)
    assert isinstance(python, RunResult)
    assert isinstance(native, RunResult)
    assert trace_differences(python, native) == []
    assert native.stdout == python.stdout
    assert [w.message for w in native.warnings] == [w.message for w in python.warnings]
    assert (native.waits, native.channels) == (python.waits, python.channels)


def test_firings_that_move_nothing_end_the_run_at_last(trial: Built, tmp_path: Path) -> None:
    python, native = both(trial, "abi", tmp_path, idle_firings=2000)
    assert isinstance(python, RunResult)
    assert isinstance(native, RunResult)
    assert python.why == native.why == "livelock"
    assert native.stdout == python.stdout


CARDS = {
    "DSE_EMULATED_GPUS=0": "there is none that CUDA can use: said by the emulation (cudaErrorNoDevice)",
    "DSE_EMULATED_MEMORY=1000": "GPU: there is too little pinned memory",
    "DSE_EMULATED_BLOCKS=0": "needs 1 groups of threads at once with 4 threads each, and 'emulated GPU' has room for 0",
    "DSE_EMULATED_FAILURE=cudaFuncGetAttributes": "has compute capability 7.5, for which the program was not built",
    "DSE_EMULATED_FAILURE=cudaLaunchCooperativeKernel": "the kernel cannot be started: said by the emulation",
    "DSE_EMULATED_FAILURE=cudaStreamQuery": "GPU: the kernel failed: said by the emulation (cudaErrorLaunchFailure)",
}


@pytest.mark.parametrize("setting", CARDS)
def test_what_a_card_lacks_is_said(setting: str, trial: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(*setting.split("="))
    _, native = both(trial, "abc", tmp_path)
    assert isinstance(native, str)
    assert CARDS[setting] in native


def test_a_card_whose_kernels_the_system_ends_is_told(
    trial: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSE_EMULATED_TIME_LIMIT", "1")
    (tmp_path / "letters").write_text("abc")
    path = write_mapping(trial.network, on_gpu(trial.network, [WORK]), tmp_path / "gpu.xcf")
    call = [trial.app, "--mapping", str(path), "-i", str(tmp_path / "letters")]
    said = subprocess.run(call, capture_output=True, text=True, check=True).stderr
    assert "warning: the system ends kernels of 'emulated GPU' that run long, and a longer run may fail" in said
    monkeypatch.setenv("DSE_EMULATED_FAILURE", "cudaStreamQuery")
    failed = subprocess.run(call, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "that run long: use a card that serves no screen" in failed.stderr


def test_without_a_card_a_mapping_to_processors_runs(
    trial: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSE_EMULATED_GPUS", "0")
    source = tmp_path / "letters"
    source.write_text("abc")
    path = write_mapping(trial.network, on_gpu(trial.network, []), tmp_path / "cpu.xcf")
    native = trial.run(RunOptions(input=str(source)), path)
    assert isinstance(native, RunResult)
    assert native.stdout == "97\n98\n99\n"


@pytest.mark.parametrize(
    ("chosen", "policy", "said"),
    [
        (
            [0],
            "FULL_PARALLEL",
            r"actor 'bytes' of partition 'PG' cannot run on a GPU: it calls the native 'source_readByte'",
        ),
        ([2], "FULL_PARALLEL", r"actor 'show' of partition 'PG' cannot run on a GPU: it prints"),
        ([1], "DATA_DEMAND_DRIVEN", r"the policy DATA_DEMAND_DRIVEN is none that a partition on a GPU has"),
    ],
)
def test_mappings_that_a_gpu_cannot_follow(
    chosen: list[int], policy: str, said: str, trial: Built, tmp_path: Path
) -> None:
    path = write_mapping(trial.network, on_gpu(trial.network, chosen, policy), tmp_path / "m.xcf")
    native = trial.run(RunOptions(input=str(tmp_path / "none")), path)
    assert isinstance(native, str)
    assert re.search(said, native), native


def test_the_firings_of_a_kernel_are_not_bounded(trial: Built, tmp_path: Path) -> None:
    _, native = both(trial, "abc", tmp_path, max_firings=3)
    assert isinstance(native, str)
    assert "the firings of a run with a partition on a GPU cannot be bounded" in native


DIALECTS: tuple[XcfDialect, ...] = ("exelixi", "turnus", "streamblocks", "art")
WITHOUT_OUR_WORDS = {
    "exelixi": (True, '<Partition id="PG" scheduling="FULL_PARALLEL"><Instance id="work"/></Partition>'),
    "turnus": (True, '<Partition id="PG" scheduling="FULL_PARALLEL" pe="1"><Instance id="work"/></Partition>'),
    "streamblocks": (False, '<partition id="1" pe="x86_64" code-generator="sw"><instance id="work"/></partition>'),
    "art": (False, '<Partition id="1"><Instance id="work"/></Partition>'),
}
"""By dialect: whether the partition of ``work`` is on the GPU as other tools write it, and how they do."""


def placed(trial: Built, path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether a mapping has ``work`` on the GPU: by what the program says, and by whether it needs a card."""
    said = subprocess.run(
        [trial.app, "--mapping", str(path), "--show-mapping"], capture_output=True, text=True, check=True
    )
    partitions = json.loads(said.stdout)["partitions"]
    on_card = {actor for p in partitions if p.get("unit") == "gpu" for actor in p["actors"]}
    source = folder / "letters"
    source.write_text("abc")
    runs = [trial.run(RunOptions(input=str(source)), path)]
    monkeypatch.setenv("DSE_EMULATED_GPUS", "0")
    runs.append(trial.run(RunOptions(input=str(source)), path))
    assert [isinstance(run, RunResult) and run.stdout for run in runs] == [
        "97\n98\n99\n",
        not on_card and runs[0].stdout,
    ]
    return on_card == {"work"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_mappings_that_we_write_in_each_dialect_are_understood(
    dialect: XcfDialect, trial: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = read_platform(str(Path(__file__).parents[3] / "configs" / "platforms" / "server-h200.yaml"))
    parts = (
        Partition(name="P0", actors=(0, 2), unit="cpu"),
        Partition(name="PG", actors=(WORK,), unit="gpu", policy="FULL_PARALLEL"),
    )
    point = DesignPoint(partitions=parts, capacities=(512, 512))
    path = tmp_path / "m.xcf"
    write_xcf(point, topology_of(trial.network), str(path), platform=platform, dialect=dialect)
    assert placed(trial, path, tmp_path, monkeypatch)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mapping_of_other_tools_is_on_the_gpu_where_its_dialect_has_a_name_for_it(
    dialect: XcfDialect, trial: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, partition = WITHOUT_OUR_WORDS[dialect]
    rest = partition.replace("PG", "P0").replace('id="1"', 'id="0"').replace('id="work"/>', 'id="bytes"/>')
    other = '<instance id="show"/></p' if "<instance" in rest else '<Instance id="show"/></P'
    rest = rest.replace("</p", other).replace("</P", other)
    head = '<network id="Trial"/>' if dialect == "streamblocks" else ""
    root, group = ("configuration", "partitioning") if head else ("Configuration", "Partitioning")
    path = tmp_path / "m.xcf"
    path.write_text(f"<{root}>{head}<{group}>{rest}{partition}</{group}></{root}>")
    assert placed(trial, path, tmp_path, monkeypatch) == expected
