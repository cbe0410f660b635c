"""``benchmarks.gpu_card`` where there is no card: its program compiles, and what it would say reaches the page."""

import csv
import re
from pathlib import Path

import pytest

from benchmarks.gpu_card.__main__ import compile_command, main, parse
from benchmarks.gpu_truth import ours
from benchmarks.gpu_truth.__main__ import TEXT, merged
from dse.base.errors import BuildError
from dse.cli.main import main as dse
from dse.flows.measured_kernels import KernelShelf
from dse.formats.device_yaml import load_device
from dse.formats.measured_csv import read_measured_csv
from dse.gpu.models.hierarchy import MODEL, bypassing_l1
from dse.native.cuda import find_nvcc
from dse.native.toolchain import call_tool
from tests.native.same.batches import CASES

CARD = "card,NVIDIA GeForce GTX 1080 Ti,61,28,1582\n"
ROWS = [("GEMM", "gemm_kernel", 512, x, y) for x, y in ((32, 1), (32, 8), (16, 16), (8, 8))]


def synthetic() -> str:
    """What the program would say on a card that takes a tenth longer than the model says."""
    device, shelf, lines = bypassing_l1(load_device("gtx1080ti")), KernelShelf(), [CARD]
    for benchmark, kernel, n, x, y in ROWS:
        row = f"{benchmark},{kernel},{n},{x},{y},5"
        one = shelf.prepared(read_measured(row))
        assert one is not None
        ms = 1.1e3 * MODEL.predict(one.features, device).time_s
        lines.append(f"row,{row},{ms * 0.9:.6g},{ms:.6g},{ms * 1.2:.6g}\n")
    lines.append("constant,latency_cycles.l2,216.5,pointer chase in a quarter of L2, past L1\n")
    return "".join(lines)


def read_measured(row: str) -> object:
    """Return the row as the reader of measured times makes it."""
    path = Path("row.csv")
    path.write_text(f"gpu,benchmark,kernel,n,block_x,block_y,repeats,median_ms\ngtx1080-ti,{row},1\n")
    return read_measured_csv(str(path))[0]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_it_says_reaches_the_files_and_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "said.txt").write_text(synthetic())
    assert main(["-o", "out", "--read", "said.txt"]) == 0
    assert "NVIDIA GeForce GTX 1080 Ti: 4 rows, 1 constants in out" in capsys.readouterr().out
    constants = list(csv.reader(Path("out/constants.csv").read_text().splitlines()))
    assert constants[1:] == [
        ["sms", "28", "NVIDIA GeForce GTX 1080 Ti"],
        ["clock_mhz", "1582", "NVIDIA GeForce GTX 1080 Ti"],
        ["latency_cycles.l2", "216.5", "pointer chase in a quarter of L2, past L1"],
    ]
    rows = read_measured_csv("out/measured.csv")
    assert [(r.gpu, r.benchmark, r.kernel, r.n, *r.block) for r in rows] == [("gtx1080-ti", *row) for row in ROWS]
    lines = ours.section("out/measured.csv", load_device("gtx1080-ti"))
    assert lines[2].startswith("| GEMM gemm_kernel, 512 | 4 | ")
    assert lines[2].endswith("| 9.1 % | 1.00 | 0.0 % |")
    assert "9.1 %" in merged(TEXT.read_text(), lines)


def test_calibrate_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "said.txt").write_text(synthetic())
    assert main(["-o", "out", "--read", "said.txt"]) == 0
    assert dse(["gpu", "calibrate", "gtx1080ti", "out/measured.csv", "--quiet"]) == 0
    assert "gtx1080ti: 4 times of 1 kernels" in capsys.readouterr().out


def test_the_page_has_the_card_that_was_measured() -> None:
    lines = ours.section(str(ours.KEPT), load_device(ours.KEPT_DEVICE))[2:]
    assert len(lines) == len({(row.benchmark, row.kernel, row.n) for row in read_measured_csv(str(ours.KEPT))})
    page = (Path(__file__).parents[3] / "docs" / "gpu-truth.md").read_text()
    assert "\n".join(lines) in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the output is not whole"),
        (CARD, "the output is not whole"),
        (CARD + "row,GEMM,gemm_kernel,512,32,8,5,1,2\n", "line 2 of the output .* it has 8 cells"),
        (CARD + "row,GEMM,gemm_kernel,512,32,8,5,3,2,1\n", "its times are in no order"),
        (CARD + "row,GEMM,gemm_kernel,512,32,0,5,1,2,3\n", "'0' is not above 0"),
        (CARD + "row,GEMM,gemm_kernel,512,32,8,5,1,2,nan\n", "'nan' is no time or clock"),
        (CARD + "constant,latency_cycles.l2,nan,pointer chase\n", "line 2 of the output .* 'nan' is no constant"),
        ("card,,61,28,1582\n", "the card has no name"),
        (CARD + "kernel: an illegal memory access\n", "it begins with none of card, row, constant"),
    ],
)
def test_output_that_is_wrong(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)
    (tmp_path / "said.txt").write_text(text)
    assert main(["-o", "out", "--read", "said.txt"]) == 1
    assert capsys.readouterr().err
    assert not Path("out/measured.csv").exists()


@pytest.mark.parametrize(
    ("card", "gpu"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", "gtx1080-ti"),
        ("GeForce RTX 2070 SUPER", "rtx2070-super"),
        ("Tesla C2075", "c2075"),
        ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"),
        ("NVIDIA Tesla", "nvidia-tesla"),
    ],
)
def test_names_of_cards(card: str, gpu: str) -> None:
    assert parse(f"card,{card},75,8,1500\nrow,A,k,8,8,8,1,1,1,1\n").gpu == gpu


@pytest.mark.skipif(not CASES, reason="compiles for several architectures: make test-full does")
def test_it_compiles(tmp_path: Path) -> None:
    """Without a warning, for every architecture that this nvcc knows."""
    try:
        found = find_nvcc()
    except BuildError as error:
        pytest.skip(str(error))
    known = re.findall(r"compute_(\d+)", call_tool((found.path, "--list-gpu-arch")).text)
    said = call_tool(tuple(compile_command(found, ",".join(known), tmp_path / "card")), time_limit_s=600)
    assert said.code == 0, said.text
    assert (tmp_path / "card").is_file()
