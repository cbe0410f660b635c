"""docs/gpu-blind.md: predicted times beside those that NeuSight's authors measured on seven cards, a blind test.

usage: python -m benchmarks.gpu_blind NEUSIGHT HUB [--check]

NEUSIGHT is a checkout of github.com/sitar-lab/NeuSight, HUB one of github.com/AutoTuningAssociation/benchmark_hub.
Nothing of them is part of the project: their measured times are read, the page is written. ``--check`` prints it
instead. It takes half a minute of one core.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.gpu_blind.convolution import CACHE, judged_blocks
from dse.flows.kernels import KernelSource
from dse.flows.measured_kernels import rank_correlation
from dse.formats.device_yaml import load_device
from dse.gpu.models.hierarchy import Rates, demand_of, total_cycles
from dse.gpu.trace.features import light_features
from dse.model.device import Device
from dse.model.kernel import KernelFeatures

ROOT = Path(__file__).parents[2]
PAGE, TEXT = ROOT / "docs" / "gpu-blind.md", Path(__file__).with_name("page.md")
KERNELS = Path(__file__).parent / "kernels"
DATA = Path("scripts/asplos/data/dataset/test")
MOST_ELEMENTS = 1 << 30
"""Larger arrays have more than 4 GB, and the subscripts of C would need 64 bits."""
OPERATIONS = {
    **{name: f"binary_{name}" for name in ("add", "mul", "div", "pow")},
    **{f"{name}u": f"unary_{name}" for name in ("add", "mul", "div", "pow")},
    "relu": "relu",
    "tanh": "hyperbolic",
}
KINDS = {"elem": "elementwise", "softmax": "softmax of rows", "ln": "layer norm of rows"}
FAMILIES = {
    "P100": "gtx1080ti",
    "P4": "gtx1080ti",
    "V100": "rtx2070s",
    "T4": "rtx2070s",
    "L4": "a100",
    "A100": "a100",
}
"""The device file of which a card takes what its data sheet does not say: the one of its own or the nearest family."""
WORDS = 4
"""Bytes of an element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A measured time; ``moved``: arrays that are read and written."""

    kind: str
    card: str
    function: str
    rows: int
    columns: int
    width: int
    measured_s: float

    @property
    def moved_bytes(self) -> int:
        """Return the bytes that must go to and from DRAM: each operand and the result once."""
        return (3 if self.function.startswith("binary") else 2) * self.rows * self.columns * WORDS


def rows_of(folder: Path) -> Iterator[Row]:
    """Yield the rows that a kernel of ours stands for."""
    for kind in KINDS:
        with (folder / DATA / f"{kind}.csv").open(newline="", encoding="utf-8") as file:
            for entry in csv.DictReader(file):
                function = OPERATIONS.get(entry["OPName"], "") if kind == "elem" else _of_rows(kind, entry)
                row = Row(
                    kind=kind,
                    card=entry["Device"],
                    function=function,
                    rows=int(entry["B"]),
                    columns=int(entry["H"]),
                    width=int(entry["Block x"]) * int(entry["Block y"]),
                    measured_s=float(entry["Latency"]) * 1e-3,
                )
                if function and row.rows * row.columns <= MOST_ELEMENTS:
                    yield row


def _of_rows(kind: str, entry: dict[str, str]) -> str:
    """Return our function for a kernel on rows, empty for one that gives a row to a warp or has too short rows."""
    width = int(entry["Block x"]) * int(entry["Block y"])
    if "warp_forward" in entry["Kernel Name"] or int(entry["H"]) < width:
        return ""
    return {"softmax": "softmax", "ln": "layer_norm"}[kind]


def device_of(folder: Path, card: str) -> Device:
    """Return a card: its data sheet as the folder has it, the rest from the device file of its family."""
    path = folder / DATA / "device_configs" / f"{card.replace(' ', '_')}.json"
    sheet = json.loads(path.read_text(encoding="utf-8"))
    family = load_device(next(base for name, base in FAMILIES.items() if name in card))
    same = "A100" in card  # the share of the bandwidth is known of this card alone
    return replace(
        family,
        name=card,
        sms=int(sheet["Num_Sm"]),
        clock_mhz=float(sheet["Freq"]),
        fp32_lanes=float(sheet["Core_Per_SM"]),
        l2_bytes=int(sheet["L2Cache"]) << 20,
        dram_bandwidth_gb_s=float(sheet["Mem_Bw"]),
        dram_efficiency=family.dram_efficiency if same else 0.8,
    )


class Shelf:
    """Features of our kernels, each looked at once."""

    def __init__(self) -> None:
        self._features: dict[tuple[str, int, int, int], KernelFeatures] = {}

    def features(self, row: Row) -> KernelFeatures:
        """Return the features of the kernel of a row in its blocks."""
        flat = row.kind == "elem"
        key = (row.function, *((row.rows * row.columns, 0, 0) if flat else (row.rows, row.columns, row.width)))
        if key not in self._features:
            names = (("N",), key[1:2]) if flat else (("ROWS", "COLUMNS", "WIDTH"), key[1:])
            defines = tuple((name, str(value)) for name, value in zip(*names, strict=True))
            source = KernelSource(str(KERNELS / ("elementwise.c" if flat else "rows.c")), defines, row.function)
            block = (256, 1, 1) if flat else (row.width, 1, 1)
            self._features[key] = light_features(source.work()[0], block)
        return self._features[key]


def predicted_s(features: KernelFeatures, device: Device) -> float:
    """Return the time of a launch on a card."""
    cycles = total_cycles(demand_of(features, device), Rates.of(device))
    return cycles / device.clock_hz + device.require("kernel_start_us", "the blind test") * 1e-6


def page(folder: Path) -> str:
    """Return the page."""
    rows, shelf = list(rows_of(folder)), Shelf()
    lines = [
        "| card | kernels | rows | error, median | error, mean | predicted by measured | Spearman | roofline, error |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for card in sorted({row.card for row in rows}):
        print(card, file=sys.stderr)
        device = device_of(folder, card)
        for kind, title in KINDS.items():
            own = [row for row in rows if (row.card, row.kind) == (card, kind)]
            lines.append(_line(card, title, own, [predicted_s(shelf.features(row), device) for row in own], device))
    return TEXT.read_text().replace("<!-- table -->\n", "\n".join(lines) + "\n")


def with_convolution(text: str, hub: Path) -> str:
    """Return the page with the blocks of the convolution."""
    ours, chance = judged_blocks(hub)
    lines = [
        "| | blocks | error, median | error, mean | Spearman | regret | best of three |",
        "|---|---:|---:|---:|---:|---:|---:|",
        f"| predicted | {ours.rows} | {100 * ours.median_error:.1f} % | {100 * ours.mean_error:.1f} % | "
        f"{ours.correlation:.3f} | {100 * ours.regret:.1f} % | {100 * ours.regret_of_three:.1f} % |",
        f"| a block by chance | {chance.rows} | | | 0.000 | {100 * chance.regret:.1f} % | "
        f"{100 * chance.regret_of_three:.1f} % |",
    ]
    return text.replace("<!-- convolution -->\n", "\n".join(lines) + "\n")


def _line(card: str, title: str, own: list[Row], predicted: list[float], device: Device) -> str:
    """Return a row of the table."""
    ratios = np.array(predicted) / [row.measured_s for row in own]
    rate = device.require("dram_bandwidth_gb_s", "the roofline") * 1e9
    roofline = np.array([row.moved_bytes / rate / row.measured_s for row in own])
    order = rank_correlation(predicted, [row.measured_s for row in own])
    errors = [f"{100 * found:.1f} %" for found in (np.median(np.abs(ratios - 1)), np.mean(np.abs(ratios - 1)))]
    return (
        f"| {card} | {title} | {len(own):,} | {errors[0]} | {errors[1]} | {np.median(ratios):.2f} | {order:.3f} | "
        f"{100 * np.median(np.abs(roofline - 1)):.1f} % |"
    )


def main() -> int:
    """Write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("neusight", type=Path, help="a checkout of github.com/sitar-lab/NeuSight")
    parser.add_argument("hub", type=Path, help="a checkout of github.com/AutoTuningAssociation/benchmark_hub")
    parser.add_argument("--check", action="store_true", help="print the page")
    args = parser.parse_args()
    for path in (args.neusight / DATA / "elem.csv", args.hub / CACHE):
        if not path.is_file():
            print(f"{path} is missing; give checkouts of sitar-lab/NeuSight and of the hub", file=sys.stderr)
            return 1
    text = with_convolution(page(args.neusight), args.hub)
    if args.check:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
