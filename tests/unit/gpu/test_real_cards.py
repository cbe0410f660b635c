"""Measured times of a real card, where they are at hand: what docs/gpu-truth.md shows must not get worse unseen."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu_truth.judge import judged, random_block, together
from dse.flows.measured_kernels import KernelShelf, largest_sizes, sample_of
from dse.formats.device_yaml import load_device
from dse.formats.measured_csv import read_measured_csv
from dse.gpu.models.calibration import predicted_s
from dse.gpu.models.hierarchy import Rates, bypassing_l1

ROOT = Path(__file__).resolve().parents[3]
TIMES = Path(os.environ.get("DSE_REFERENCE_DATA", ROOT.parent / "shared")) / "data" / "gpu-measured" / "polybench.csv"
PROGRAMS = ("2DCONV", "GEMM", "SYRK")


def test_blocks_of_three_programs_by_the_data_sheet_of_a_card() -> None:
    """Without calibration: the order of the blocks, their times, and what the first choice costs."""
    if not TIMES.is_file():
        pytest.skip(f"{TIMES} is missing; set DSE_REFERENCE_DATA")
    rows = [r for r in read_measured_csv(str(TIMES)) if r.gpu == "rtx2070-super" and r.benchmark in PROGRAMS]
    device, shelf = bypassing_l1(load_device("rtx2070-super")), KernelShelf()
    prepared = [p for row in largest_sizes(rows, 1) if (p := shelf.prepared(row)) is not None]
    samples = [sample_of(p, device) for p in prepared]
    predicted = predicted_s(samples, Rates.of(device), device.clock_hz)
    measured = np.array([s.measured_s for s in samples])
    own = {name: np.array([s.family == name for s in samples]) for name in PROGRAMS}
    cells = [judged(predicted[chosen], measured[chosen]) for chosen in own.values()]
    assert [c.rows for c in cells] == [51, 51, 51]
    all_ = together(cells)
    assert all_.median_error < 0.2
    assert all_.correlation > 0.93
    assert max(c.correlation for c in cells) - min(c.correlation for c in cells) < 0.1
    assert all_.regret_mean < 0.03


def test_errors_order_and_regret_of_a_cell() -> None:
    cell = judged(np.array([1.0, 2.0, 8.0]), np.array([2.0, 1.0, 4.0]))
    assert (cell.rows, cell.median_error, cell.correlation) == (3, 1.0, 0.5)
    assert (cell.regret, cell.regret_of_three) == (1.0, 0.0)
    tied = judged(np.array([1.0, 1.0, 8.0]), np.array([2.0, 1.0, 4.0]), times=False)
    assert tied.regret == 0.5
    assert np.isnan(tied.median_error)


def test_a_block_by_chance() -> None:
    cell = random_block(np.array([1.0, 2.0, 3.0, 4.0]))
    assert cell.regret == pytest.approx(1.5)
    assert cell.regret_of_three == pytest.approx(0.25)  # three of four leave the best one out once
