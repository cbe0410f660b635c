"""``dse profile`` and ``dse measure`` with ``--cuda emulated``: weights of a GPU, what becomes of them; bad input."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.platform_yaml import load_platform
from dse.formats.weights_folder import read_weights_folder
from dse.measure.machine import cpu_model
from dse.model.origins import origins_of
from dse.model.weights import WeightTable
from tests.native.same.batches import CASES
from tests.native.same.comparing import compiler

pytestmark = [pytest.mark.slow, pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")]
ACTORS = Path(__file__).parents[3] / "actors"
CHAIN = str(Path(__file__).parent / "trial" / "Chain.xdf")
PLATFORM = """\
name: here
units:
  cpu: {{kind: cpu, cores: 2, clock_mhz: 2000}}
  gpu: {{kind: gpu, clock_mhz: 2000, partition: PG}}
dynamic_network: {dynamic}
"""
NETWORK = (CHAIN, "--source-path", str(ACTORS))
MAPPING = "P0:bytes,show PG:work,twice"
EMULATED = ("--cuda", "emulated")
LINK = """\
name: there
units: {cpu: {kind: cpu, cores: 4}, card: {kind: gpu}}
links: {pcie: {between: [card, cpu], latency_ns: 700, bandwidth_gb_s: 2, shared: true, emulated: true}}
"""


@pytest.fixture(autouse=True, scope="module")
def _own_atomics() -> Iterator[None]:
    """Those of libcu++ take seconds to compile; another test has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dse.flows.build.libcuxx_folder", lambda: None)
        yield


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("input") / "letters"
    path.write_text("abcd" * 500)
    return str(path)


def profiled(folder: Path, letters: str, *more: str) -> WeightTable:
    cuda = ("--cuda", "emulated", "--runs", "3", "--calibrate", "0", "--quiet")
    assert main(["profile", *NETWORK, "-i", letters, *cuda, "-o", str(folder), *more]) == 0
    return read_weights_folder(str(folder))


@pytest.fixture(scope="module")
def weights(letters: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the set of the four static configurations."""
    folder = tmp_path_factory.mktemp("profile") / "weights"
    profiled(folder, letters)
    return folder


def platform_file(folder: Path, *, dynamic: bool = False) -> str:
    path = folder / "platform.yaml"
    path.write_text(PLATFORM.format(dynamic=str(dynamic).lower()))
    return str(path)


def test_the_set_is_that_of_the_paper(weights: Path) -> None:
    table = read_weights_folder(str(weights))
    parts = {p.name for p in weights.iterdir() if p.suffix in (".exdf", ".sxdf", ".cxdf")}
    of_each = {f"weights-{unit}{part}" for unit in ("CPU", "GPU") for part in (".exdf", ".sxdf", ".cxdf")}
    assert parts == of_each | {"weights-CPU-HostFifo.cxdf", "weights-GPU-HostFifo.cxdf"}
    assert origins_of(table) == {"emulated"}
    manifest = dict(table.manifest)
    assert manifest["how"].startswith("emulated on one core")
    assert manifest["gpu"] == "emulated GPU, compute capability 7.5"
    assert "all on the GPU, HostFifo" in manifest["gpu clock"]
    gpu = {key[:2]: cost for key, cost in table.compute.items() if key[2] == "gpu"}
    assert {("work", "plain"), ("twice", "reset"), ("twice", "first"), ("twice", "next")} == set(gpu)
    assert gpu["work", "plain"].count == 3 * 2000
    assert float(gpu["work", "plain"].frequency_mhz or 0) == pytest.approx(2000, rel=0.02)
    assert gpu["twice", "next"].count == 3 * 1000
    within = table.scheduling["twice", "first", "next", "gpu"].count
    assert within in range(1, 3 * 1000 + 1), "where a visit ends between the two, the choice is one after another actor"
    kinds = {(*key[:4], key[4], key[5], key[6]) for key in table.transfers}
    inside = ("work", "O", "twice", "I")
    assert {(*inside, kind, "gpu", side) for kind in ("cuda", "host") for side in ("read", "write")} <= kinds
    assert {(*inside, "host", "cpu", side) for side in ("read", "write")} <= kinds
    assert ("bytes", "O", "work", "I", "host", "gpu", "read") in kinds
    assert ("bytes", "O", "work", "I", "host", "gpu", "write") not in kinds


@pytest.mark.parametrize("dynamic", [False, True])
def test_estimates_and_searches_use_it(
    dynamic: bool, weights: Path, letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = (*NETWORK, "-i", letters, "--weights", str(weights), "--platform", platform_file(tmp_path, dynamic=dynamic))
    assert main(["estimate", *given, "--json", "--mapping", MAPPING, "P0:*"]) == 0
    on_gpu, on_cpu = json.loads(capsys.readouterr().out)
    assert 0 < on_cpu["makespan"] != on_gpu["makespan"] > 0
    out = ("--out", str(tmp_path / "o"))
    assert main(["explore", *given, *out, "--budget", "40"]) == 0
    said = capsys.readouterr()
    assert "weights of an emulated GPU, a rehearsal" in " ".join((said.out + said.err).split())


def test_a_mapping_is_profiled_as_it_is(letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = profiled(tmp_path / "dynamic", letters, "--mapping", MAPPING)
    manifest = dict(table.manifest)
    assert manifest["how"].startswith("emulated in one mapping with a GPU")
    assert "twice" in manifest["mapping"]
    assert {key[0] for key in table.compute if key[2] == "cpu"} == {"bytes", "show"}
    assert {key[0] for key in table.compute if key[2] == "gpu"} == {"work", "twice"}
    capsys.readouterr()
    given = (*NETWORK, "-i", letters, "--weights", str(tmp_path / "dynamic"))
    for dynamic in (False, True):
        platform = platform_file(tmp_path, dynamic=dynamic)
        assert main(["estimate", *given, "--platform", platform, "--json", "--mapping", MAPPING]) == 0
        assert json.loads(capsys.readouterr().out)[0]["makespan"] > 0
    assert main(["profile", *NETWORK, "-i", letters, "--cuda", "emulated", "-o", "x", "--mapping", "P0:*"]) == 2
    assert "the mapping has no actor on a GPU" in capsys.readouterr().err


def test_emulated_times_are_never_mixed_with_measured_ones(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("weights-GPU.exdf", "weights-CPU.exdf"):
        (tmp_path / name).write_text((weights / name).read_text().replace('origin="emulated"', 'origin="measured"'))
    assert main(["weights", "merge", str(weights), str(tmp_path / "weights-GPU.exdf"), "-o", str(tmp_path / "m")]) == 1
    said = capsys.readouterr().err
    assert "cannot be put together: times of an emulated GPU do not go with measured ones" in said
    assert not (tmp_path / "m").exists()
    (tmp_path / "weights-GPU.exdf").write_text((weights / "weights-GPU.exdf").read_text())
    assert main(["weights", "show", str(tmp_path)]) == 1
    assert "times of an emulated GPU" in capsys.readouterr().err


def test_weights_of_two_cards_are_not_put_together(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "weights-GPU.exdf").write_text((weights / "weights-GPU.exdf").read_text())
    (other / "manifest.yaml").write_text('gpu: "another card, compute capability 8.6"\n')
    assert main(["weights", "merge", str(weights), str(other), "-o", str(tmp_path / "m")]) == 1
    assert "they were measured on two GPUs: 'emulated GPU, compute capability 7.5'" in capsys.readouterr().err


def test_a_clock_that_moves_is_told(
    letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSE_EMULATED_CLOCK", "20")
    arguments = [
        "profile",
        *NETWORK,
        "-i",
        letters,
        "--cuda",
        "emulated",
        "--runs",
        "1",
        "--mapping",
        MAPPING,
        "--json",
    ]
    assert main([*arguments, "-o", str(tmp_path / "w")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "2 runs made again, 1 kept although it moved" in document["manifest"]["gpu clock"]
    assert any("the clock of the GPU moved by more than 1 % in 1 of 1 runs" in word for word in document["warnings"])


def test_without_a_card_nothing_is_measured(
    letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSE_EMULATED_GPUS", "0")
    assert main(["profile", *NETWORK, "-i", letters, "--cuda", "emulated", "-o", str(tmp_path / "w")]) == 1
    assert "there is none that CUDA can use" in capsys.readouterr().err
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("network", "more", "said"),
    [
        (str(ACTORS / "pingpong" / "pingpong.xdf"), ("--samples",), "on a GPU the cost of single firings is not kept"),
        (str(ACTORS / "pingpong" / "pingpong.xdf"), ("--cuda-arch", "75"), "--cuda-arch is for --cuda with nvcc"),
    ],
)
def test_options_that_make_no_sense(
    network: str, more: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profile", network, "--cuda", "emulated", "-o", str(tmp_path / "w"), *more]) == 2
    assert said in capsys.readouterr().err


# dse measure


def measured(letters: str, folder: Path, *more: str, mappings: tuple[str, ...] = ("P0:*", MAPPING)) -> int:
    """Measure mappings: on one core, and with a GPU."""
    few = ("--runs", "1", "--calibrate", "0", "--out", str(folder))
    return main(["measure", *NETWORK, "-i", letters, "--mapping", *mappings, *few, *more])


@pytest.mark.parametrize("more", [(), ("--dynamic",)])
def test_mappings_with_a_gpu_are_run_and_estimated(
    more: tuple[str, ...], weights: Path, letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link.yaml").write_text(LINK)
    link = ("--link", str(tmp_path / "link.yaml"), "--weights", str(weights))
    assert measured(letters, tmp_path / "out", *EMULATED, *link, *more, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert "the GPU was emulated: these times say nothing of a card" in document["warnings"]
    made = document["made"]
    assert made["gpu"] == "emulated, actions one by one"
    assert made["fifos"] == ("all as if they might cross" if more else "special inside the GPU")
    assert made["link"].startswith("pcie")
    assert {pair["name"] for state in document["states"] for pair in state["pairs"]} <= {"P0:*", MAPPING}
    assert (document["runs"], document["wrong"], document["skipped"]) == (2, [], [])


def test_measured_weights_do_not_stand_beside_times_of_an_emulated_gpu(
    weights: Path, letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "w"
    here.mkdir()
    for file in weights.glob("*.?xdf"):
        (here / file.name).write_text(file.read_text().replace('origin="emulated"', 'origin="measured"'))
    assert measured(letters, tmp_path, *EMULATED, "--weights", str(here)) == 2
    assert "the weights were measured, and the times that are to stand beside them are not" in capsys.readouterr().err
    assert measured(letters, tmp_path, "--weights", str(weights), mappings=("P0:*",)) == 2
    assert "the weights were emulated, and the times" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--dynamic",), "--dynamic is for mappings that use a GPU"),
        (("--link", "default"), "--link is for mappings that use a GPU"),
        ((*EMULATED, "--link", "big-little"), "has no link between a CPU and a GPU"),
        ((*EMULATED, "--timeline", "t.json"), "no timeline of firings on a GPU is measured"),
        (("--cuda-arch", "75"), "--cuda-arch is for --cuda with nvcc"),
    ],
)
def test_options_of_measure_that_make_no_sense(
    more: tuple[str, ...], said: str, letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured(letters, tmp_path, *more) == 2
    assert said in capsys.readouterr().err


def test_without_a_card_no_mapping_is_measured(
    letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSE_EMULATED_GPUS", "0")
    assert measured(letters, tmp_path / "out", *EMULATED) == 1
    assert "there is none that CUDA can use" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# dse explore


def test_a_search_runs_its_best_mappings_on_the_gpu(
    weights: Path, letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "platform.yaml"
    units = f'cpu: {{kind: cpu, cores: 2, source: "{cpu_model()}, here"}}, gpu: {{kind: gpu, partition: PG}}'
    here.write_text(f"name: here\nunits: {{{units}}}\ngpu_capable: [work, twice]\n")
    given = ("--weights", str(weights), "--platform", str(here), "--pin", "work=gpu")
    out = ("--out", str(tmp_path / "o"), "--budget", "20", "--json")
    command = ["explore", *NETWORK, "-i", letters, *given, *out, "--measure", "1"]
    assert main(command) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(note.startswith("not measured: the weights were emulated") for note in notes)
    assert main([*command, *EMULATED]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "the GPU was emulated: these times say nothing of a card" in document["notes"]
    assert document["ranking"][0]["measured"]["times"]
    assert "cuda: emulated" in (tmp_path / "o" / "study.yaml").read_text()
    assert main([*command[:-2], *EMULATED]) == 2
    assert "--cuda says what is measured and run here, and nothing is" in capsys.readouterr().err


@pytest.mark.skipif(not CASES, reason="DSE_NATIVE_CASES is not set: make test-full does")
def test_a_search_measures_the_gpu_and_refines_in_place(
    letters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", str(tmp_path / "o"), "--budget", "20", "--pin", "work=gpu", "--json")
    command = ["explore", *NETWORK, "-i", letters, *out]
    assert main([*command, *EMULATED, "--refine", "1"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["refinements"]
    assert "PG:" in only["mapping"]
    kept = read_weights_folder(str(tmp_path / "o" / "weights"))
    assert origins_of(kept) == {"emulated"}
    assert only["mapping"] in dict(kept.manifest)["measured in place"]
    platform = load_platform(str(tmp_path / "o" / "platform.yaml"))
    assert platform.has_gpu
    assert platform.gpu_capable == ("work", "twice")
    network, *roots = NETWORK
    assert main(["explore", network, *roots, "-i", letters, "--out", str(tmp_path / "o"), "--budget", "5"]) == 0
    assert not load_platform(str(tmp_path / "o" / "platform.yaml")).has_gpu, "without --cuda no GPU is searched"
