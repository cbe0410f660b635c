"""``dse gpu calibrate``: from a CSV file and C files of the user's own to a device file for ``dse gpu predict``."""

import json
from pathlib import Path

import pytest

from dse.base.source import NO_SPAN
from dse.cli.main import main
from dse.flows.measured_kernels import KernelShelf, largest_sizes, rank_correlation
from dse.formats.device_yaml import read_device
from dse.formats.measured_csv import MeasuredTime, read_measured_csv

HEADER = "gpu,benchmark,kernel,n,block_x,block_y,median_ms\n"
COPY = "void copy(float a[N], float b[N]) { for (int i = 0; i < N; i++) b[i] = a[i]; }"


def measured(folder: Path) -> str:
    """Write times of a product and of a copy."""
    (folder / "stream.c").write_text(COPY)
    rows = [f"RTX2070-Super,GEMM,gemm_kernel,1024,{x},{256 // x},{8 + x / 32}" for x in (16, 32, 64)]
    rows += [f"rtx2070s,stream,copy,{n},256,1,{n * 8 / 300e6}" for n in (1 << 22, 1 << 23)]
    rows += ["gtx1080-ti,GEMM,gemm_kernel,1024,32,8,5.0"]
    (folder / "times.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return str(folder / "times.csv")


def test_a_device_file_with_fitted_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.yaml"
    command = ["gpu", "calibrate", "rtx2070s", measured(tmp_path), "--kernels", str(tmp_path), "-o", str(out)]
    assert main(command) == 0
    text = capsys.readouterr().out
    for part in (
        "5 times of 2 kernels",
        "dram.efficiency",
        "to (95 %)",
        "which has not seen it",
        "of other GPUs",
        "wrote",
    ):
        assert part in text
    device = read_device(str(out))
    assert 300 / 448 < device.dram_efficiency < 0.89  # type: ignore[operator]
    origin = next(o for o in device.origins if o.key == "dram.efficiency")
    assert origin.source.startswith("fitted to 5 times of 2 kernels (times.csv), 95 % from")
    assert not origin.assumed
    assert main(["gpu", "predict", str(tmp_path / "stream.c"), "--define", "N=4194304", "--device", str(out)]) == 0
    assert "DRAM bandwidth" in capsys.readouterr().out


def test_programs_whose_loads_bypass_l1_make_a_device_without_it(tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    command = ["gpu", "calibrate", "rtx2070s", measured(tmp_path), "--kernels", str(tmp_path), "-o", str(out)]
    assert main([*command, "--dlcm", "cg"]) == 0
    without = read_device(str(out))
    assert (without.l1_bytes, without.latency_l1_cycles) == (None, None)
    assert "l1" not in {key for origin in without.origins for key in origin.key.split(".")}
    assert main(command) == 0
    assert read_device(str(out)).l1_bytes


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["gpu", "calibrate", "rtx2070s", measured(tmp_path), "--kernels", str(tmp_path), "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["benchmark"] for one in found["judged"]] == ["GEMM", "stream"]
    assert {"constant", "value", "least", "most", "at_bound", "before"} == set(found["rates"][0])
    assert found["left_out"] == [{"why": "of other GPUs", "rows": 1}]


def test_rows(tmp_path: Path) -> None:
    rows = read_measured_csv(measured(tmp_path))
    assert (len(rows), rows[0].block, rows[0].median_ms, rows[0].klaraptor_cycles) == (6, (16, 16), 8.5, None)
    assert rows[0].span.line == 2


def row(benchmark: str, kernel: str, n: int, block: tuple[int, int]) -> MeasuredTime:
    return MeasuredTime(gpu="", benchmark=benchmark, kernel=kernel, n=n, block=block, median_ms=1.0, span=NO_SPAN)


def test_threads_that_repeat_work_and_special_blocks() -> None:
    shelf = KernelShelf()
    twice = shelf.prepared(row("ATAX", "atax_kernel1", 64, (32, 2)))
    assert twice is not None
    assert (twice.repeats, twice.block, twice.features.blocks) == (True, (32, 2, 1), 2)
    assert shelf.prepared(row("CORR", "reduce_kernel", 64, (1, 32))).block == (32, 8, 1)  # type: ignore[union-attr]
    assert shelf.prepared(row("CORR", "reduce_kernel", 64, (1, 512))) is None
    assert shelf.prepared(row("FDTD_2D", "fdtd_step1_kernel", 64, (32, 8))).launch_s == pytest.approx(2e-6)  # type: ignore[union-attr]


def test_largest_sizes_and_ranks() -> None:
    rows = [row("GEMM", "gemm_kernel", n, (32, 8)) for n in (64, 128, 256)]
    assert [r.n for r in largest_sizes(rows)] == [128, 256]
    assert rank_correlation([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)
    assert rank_correlation([1, 1, 2], [5, 5, 9]) == pytest.approx(1)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) == 0
