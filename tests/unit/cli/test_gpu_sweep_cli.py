import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main

KERNELS = Path(__file__).resolve().parents[2] / "papers" / "kernels"
GEMM, SYRK = (str(KERNELS / f"{name}.c") for name in ("gemm", "syrk"))
STRIDED = str(Path(__file__).resolve().parents[3] / "configs" / "gpu-kernels" / "strided.c")
HAND = ("--models", "memory_pipeline", "--devices", "tesla-m2050")


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["gpu", "sweep", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_two_models_against_measured_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figure 9 of CGPredict: the error with its cache model is less than with the simple one, (24) and (25)."""
    (tmp_path / "m.csv").write_text("kernel,N,ms\ngemm,1024,249.16\nsyrk,1024,2762.5\n")
    words = ["--over", "N=1024", "--models", "cgpredict", "simple_cache", "--measured", str(tmp_path / "m.csv")]
    found = document(capsys, GEMM, SYRK, *words, "--plot", str(tmp_path), "-o", str(tmp_path / "t.csv"))
    errors = {(p["kernel"], p["model"]): p["error"] for p in found["points"] if p["values"] == ["1024"]}
    assert errors["gemm", "cgpredict"] == pytest.approx(1 - 242.53 / 249.16, abs=1e-3)
    assert errors["syrk", "cgpredict"] == pytest.approx(1 - 2605.45 / 2762.5, abs=1e-3)
    assert all(errors[kernel, "simple_cache"] > 2 * errors[kernel, "cgpredict"] for kernel in ("gemm", "syrk"))
    assert [Path(p).name for p in found["pictures"]] == ["time.svg", "error.svg"]
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert len(rows) == 4
    assert float(rows[0]["ms"]) == pytest.approx(242.53, rel=1e-3)
    again = ["gpu", "sweep", GEMM, *words[:2], "--measured", str(tmp_path / "t.csv")]
    assert main(again) == 2
    assert "lines 2 and 3 of" in capsys.readouterr().err  # of two models
    one_model = [",".join(row.values()) for row in rows if row["model"] == "cgpredict"]
    (tmp_path / "t.csv").write_text("\n".join([",".join(rows[0]), *one_model]))
    assert main(again) == 0
    assert "error" in capsys.readouterr().out


def test_warps_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figure 4 of Hu, Liu and Dong: time rises with warps, and its slope is rc times the transactions a request."""
    words = ["--requests", "1", "--over", "warps=512,1024,2048", "--over", "transactions=5,20"]
    found = document(capsys, *HAND, *words, "--plot", str(tmp_path))
    times = {tuple(p["values"]): p["time_s"] for p in found["points"]}
    for transactions in (5, 20):
        slope_s = (times["2048", str(transactions)] - times["512", str(transactions)]) / (2048 - 512)
        assert slope_s / transactions == pytest.approx(1.294e-9, rel=1e-3)
    assert [Path(p).name for p in found["pictures"]] == ["time.svg", "throughput.svg"]
    assert "warps 512" in (tmp_path / "throughput.svg").read_text()


def test_stride_of_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    """Figure 5 of Hu, Liu and Dong: a stride is as many transactions, and time goes as one over the throughput."""
    found = document(capsys, STRIDED, *HAND, "--define", "N=2048", "--over", "STRIDE=1,4,32")
    points = found["points"]
    assert [p["transactions"] for p in points] == [1, 4, 32]
    products = [p["time_s"] * p["requests_hz"] for p in points]
    assert products == pytest.approx([products[0]] * 3)


def test_blocks_are_bars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gpu", "sweep", "--define", "N=128", GEMM, "--over", "block=8x8,32x8", "--plot", str(tmp_path)]
    assert main([*words, "--devices", "gtx1080ti"]) == 0
    out = capsys.readouterr().out
    assert "8x8" in out
    assert "wrote" in out
    assert "<rect" in (tmp_path / "time.svg").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([GEMM, "--over", "N"], "--over 'N' is not understood"),
        ([GEMM, "--over", "N=64,64"], "--over N has 2 values, 1 of them different"),
        ([GEMM, "--over", "N=64", "--over", "N=65"], "--over N is given twice"),
        ([GEMM, *("--over", "N=64") * 3], "--over is given 3 times"),
        ([GEMM, "--over", "block=8by8"], "block '8by8' is not understood"),
        ([GEMM, "--over", "N=64", "--models", "simple"], "kernel cost model"),
        ([GEMM, "--over", "N=64", "--warps", "3"], "inputs by hand and a kernel"),
        (["--over", "N=64"], "no kernel is given"),
        ([*HAND, "--over", "N=64"], "no kernel is given, and N is no input by hand"),
        ([*HAND, "--over", "warps=64"], "no kernel is given, and requests is not given by hand"),
        ([*HAND, "--over", "warps=-1"], "--over warps is -1"),
        ([*HAND, "--over", "warps=x"], "--over warps has 'x'"),
        ([GEMM, "--over", "N=64", "--launches", "0"], "--launches is 0"),
        ([GEMM, "--over", "N=64", "--trace-size", "0"], "--trace-size is 0"),
        ([GEMM, "--over", "N=64", "--measured", "missing.csv"], "missing.csv"),
        ([GEMM, "--over", "N=" + ",".join(map(str, range(1, 202)))], "at most 200"),
    ],
)
def test_what_it_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpu", "sweep", *words]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("N,time\n64,1\n", "there is no column ms"),
        ("N,ms\n64,fast\n", "ms is 'fast'"),
        ("N,ms\n65,1\n", "no row of"),
        ("N,ms\n64,1,5\n", "more cells than the header"),
        ("N,ms\n64,1\n65,2\n64.0,3\n", "lines 2 and 4 of"),
        ("kernel,N,ms\ngemm,64,1\n,64,2\n", "lines 2 and 3 of"),
    ],
)
def test_measured_times_that_are_wrong(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.csv").write_text(text)
    assert main(["gpu", "sweep", GEMM, "--over", "N=64", "--measured", str(tmp_path / "m.csv")]) in (1, 2)
    assert message in capsys.readouterr().err
