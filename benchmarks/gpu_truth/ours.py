"""The section of docs/gpu-truth.md on a card of our own: what ``benchmarks.gpu_card`` measured."""

from pathlib import Path

import numpy as np

from benchmarks.gpu_truth.judge import judged
from dse.flows.measured_kernels import KernelShelf, Prepared
from dse.formats.measured_csv import read_measured_csv
from dse.gpu.models.hierarchy import MODEL, bypassing_l1
from dse.model.device import Device

KEPT = Path(__file__).parents[1] / "gpu_card" / "h100-80gb-hbm3" / "measured.csv"
"""Of an NVIDIA H100 80GB HBM3; ``constants.csv`` beside it."""
KEPT_DEVICE = "h100"
_LEAST_BLOCKS = 2


def section(path: str, device: Device) -> list[str]:
    """Return a row for each kernel and size that was measured.

    Raises ``DseError`` where the file is wrong, or of kernels that nothing is known of.
    """
    lines = ["| kernel, n | blocks | best block, measured ms | predicted ms | error | Spearman | regret |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    cells: dict[tuple[str, int], list[Prepared]] = {}
    shelf = KernelShelf()
    for row in read_measured_csv(path):
        one = shelf.prepared(row)
        if one is not None:
            cells.setdefault((one.name, row.n), []).append(one)
    own = bypassing_l1(device)
    return [*lines, *(_line(f"{name}, {n}", rows, own) for (name, n), rows in cells.items())]


def _line(name: str, rows: list[Prepared], device: Device) -> str:
    measured = np.array([row.launch_s for row in rows])
    predicted = np.array([MODEL.predict(row.features, device).time_s for row in rows])
    best = int(measured.argmin())
    where = f"{rows[best].block[0]}x{rows[best].block[1]}: {1e3 * measured[best]:.4g}"
    texts = [str(len(rows)), where, f"{1e3 * predicted[best]:.4g}"]
    cell = judged(predicted, measured)
    texts.append(f"{100 * cell.median_error:.1f} %")
    texts += [f"{cell.correlation:.2f}", f"{100 * cell.regret:.1f} %"] if len(rows) > _LEAST_BLOCKS else ["", ""]
    return f"| {name} | {' | '.join(texts)} |"
