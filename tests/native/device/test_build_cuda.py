"""``dse build --cuda`` as a user calls it: with an emulated GPU, without nvcc, with options that make no sense."""

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.flows.static_mapping import fixed_mapping
from dse.frontend.network.elaborate import load_network
from tests.native.device.test_ends import TRIAL
from tests.native.same.comparing import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
MAPPING = """<Configuration><Partitioning>
<Partition id="P0"><Instance id="bytes"/><Instance id="show"/></Partition>
<Partition id="{id}" {more}><Instance id="work"/></Partition>
</Partitioning></Configuration>
"""


def build(folder: Path, *more: str) -> int:
    roots = ("--source-path", str(Path(__file__).parents[3] / "actors"))
    return main(["build", str(TRIAL), "-o", str(folder), *roots, *more])


def run(app: Path, folder: Path, identity: str, more: str = 'scheduling="FULL_PARALLEL"', *arguments: str) -> str:
    """Return what a program says with a mapping; all of it, with its exit code."""
    (folder / "letters").write_text("abc")
    (folder / "m.xcf").write_text(MAPPING.format(id=identity, more=more))
    command = [app, "--mapping", folder / "m.xcf", "-i", folder / "letters", "--quiet", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}{done.returncode}"


def test_a_program_with_an_emulated_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path / "made", "--cuda", "emulated", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cuda"] == "the C++ compiler, for an emulated GPU"
    assert document["kernels"] == []
    assert json.loads((tmp_path / "made" / "manifest.json").read_text())["cuda"] == {"emulated": True}
    app = tmp_path / "made" / "app"
    for identity, more in (("PG", ""), ("x", 'pe="GPU"'), ("y", 'xmlns:d="urn:dse:design-point:1" d:unit="gpu"')):
        assert run(app, tmp_path, identity, more) == "97\n98\n99\n0", identity
        shown = run(app, tmp_path, identity, more, "--show-mapping")
        assert '"unit": "gpu"' in shown or '"unit":"gpu"' in shown
    assert run(app, tmp_path, "PG", "", "--fifos", "special") == "97\n98\n99\n0"
    assert "there are no FIFOs 'other'" in run(app, tmp_path, "PG", "", "--fifos", "other")


def test_without_nvcc_the_program_is_for_processors_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "nvcc" else real(name))
    monkeypatch.setattr("dse.native.cuda._package_folder", lambda _name: None)
    assert build(tmp_path / "made", "--cuda") == 0
    said = capsys.readouterr().err
    assert "there is no nvcc: neither on the path nor in the wheels of NVIDIA: the program has no device code" in said
    assert "pip install 'dse[cuda]'" in said
    refused = run(tmp_path / "made" / "app", tmp_path, "PG")
    assert "partition 'PG' is on a GPU, which this program cannot use" in refused
    assert "build the program with 'dse build --cuda'" in refused
    assert run(tmp_path / "made" / "app", tmp_path, "P1") == "97\n98\n99\n0"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cuda", "--cuda-arch", "70"), "'70' is no architecture of a GPU that dse builds for"),
        (("--cuda-arch", "75"), "--cuda-arch is for --cuda with nvcc, which is not there"),
        (("--cuda", "emulated", "--cuda-arch", "75"), "--cuda-arch is for --cuda with nvcc, which is not there"),
    ],
)
def test_options_that_make_no_sense(
    options: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(tmp_path / "made", *options) == 2
    assert said in capsys.readouterr().err


STATIC = """<Configuration><Partitioning>
<Partition id="P0"><Instance id="bytes"/><Instance id="show"/></Partition>
<Partition id="PG"><Instance id="work"/><Instance id="twice"/></Partition>
</Partitioning></Configuration>
"""


HOST_ONLY = STATIC.replace('<Instance id="show"/>', "").replace(
    '<Instance id="work"/>', '<Instance id="work"/><Instance id="show"/>'
)


def chain(folder: Path, *more: str) -> int:
    roots = ("--source-path", str(Path(__file__).parents[3] / "actors"))
    return main(["build", str(TRIAL.with_name("Chain.xdf")), "-o", str(folder), *roots, *more])


def test_a_program_for_one_mapping_alone(tmp_path: Path) -> None:
    """Its FIFO between two actors on the GPU lies there, as the runs of both kinds of programs say of their memory."""
    fixed, letters = tmp_path / "fixed.xcf", tmp_path / "letters"
    fixed.write_text(STATIC)
    letters.write_text("abc")
    assert chain(tmp_path / "made", "--cuda", "emulated", "--static", str(fixed)) == 0
    network, device = ((tmp_path / "made" / "src" / name).read_text() for name in ("network.cpp", "device.cu"))
    assert '"fixed.xcf"' in network
    assert "class Twice" in device

    def said(*arguments: str | Path) -> str:
        command = [tmp_path / "made" / "app", "-i", letters, "--quiet", *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        return f"{done.stdout}{done.stderr}{done.returncode}"

    assert said() == "97\n97\n98\n97\n99\n99\n0"
    assert '"unit": "gpu"' in said("--show-mapping")
    assert said("--mapping", fixed) == said()
    refused = "this program was built for the mapping 'fixed.xcf' alone, and "
    moved = tmp_path / "moved.xcf"
    for change, why in (
        (('<Instance id="twice"/>', ""), "'twice' is on a GPU there, on a CPU here"),
        (('<Partition id="PG">', '<Partition id="PG" scheduling="ROUND_ROBIN">'), "of 'work' has another policy"),
        (('<Instance id="work"/><Instance id="twice"/>', '<Instance id="twice"/><Instance id="work"/>'), "order"),
    ):
        text = STATIC.replace(*change)
        more = '<Instance id="twice"/>' if "twice" not in text else ""
        moved.write_text(text.replace('<Instance id="show"/>', f'<Instance id="show"/>{more}'))
        answer = said("--mapping", moved)
        assert refused in answer, answer
        assert why in answer, answer
        assert answer.endswith("2")
    assert "whose FIFOs inside a side need no pinned memory" in said("--fifos", "pinned")
    assert "this program is for one mapping alone, and its FIFOs inside the GPU are special" in said("--fifos", "host")
    assert said("--fifos", "special") == said()


def fixed_text(path: Path) -> str:
    roots = (str(Path(__file__).parents[3] / "actors"),)
    network = load_network(str(TRIAL.with_name("Chain.xdf")), source_paths=roots).network
    return fixed_mapping(network, str(path), has_device_code=False).text


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_a_mapping_in_another_encoding(encoding: str, tmp_path: Path) -> None:
    """The program holds what the file says, not its bytes."""
    fixed = tmp_path / "fixed.xcf"
    text = f'<?xml version="1.0" encoding="{encoding}"?><!-- \xe4 -->{STATIC.replace("PG", "P1")}'
    fixed.write_text(text, encoding=encoding)
    network = load_network(
        str(TRIAL.with_name("Chain.xdf")), source_paths=(str(Path(__file__).parents[3] / "actors"),)
    ).network
    assert fixed_mapping(network, str(fixed), has_device_code=False).text == STATIC.replace("PG", "P1").strip()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_mapping_from_a_pipe_is_read_once(tmp_path: Path) -> None:
    """A shell's ``<(command)`` gives what it has to whoever reads first."""
    pipe = tmp_path / "fixed.xcf"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(STATIC.replace("PG", "P1"),), daemon=True)
    writer.start()
    network = load_network(
        str(TRIAL.with_name("Chain.xdf")), source_paths=(str(Path(__file__).parents[3] / "actors"),)
    ).network
    assert '"work"' in fixed_mapping(network, str(pipe), has_device_code=False).text
    writer.join()


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (STATIC, (), "has actors on a GPU, and the program has no device code"),
        (STATIC.replace("PG", "P1").replace('<Instance id="work"/>', ""), (), "work"),
        (
            HOST_ONLY,
            ("--cuda", "emulated"),
            "actor 'show' cannot run on a GPU: it prints",
        ),
        ("<Configuration>", (), "XML"),
    ],
)
def test_mappings_that_no_program_can_be_built_for(
    text: str, more: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fixed.xcf").write_text(text)
    assert chain(tmp_path / "made", *more, "--static", str(tmp_path / "fixed.xcf")) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "made" / "app").exists()
