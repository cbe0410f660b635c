"""docs/gpu-truth.md: predicted times of GPU kernels beside those that three real cards took.

usage: python -m benchmarks.gpu_truth [--check] [--ours MEASURED.csv --device D]

Reads ``data/gpu-measured/polybench.csv`` of DSE_REFERENCE_DATA (default: ``shared`` beside the checkout), which is not
part of the project, and writes the page. ``--check`` prints it instead. It takes some minutes of one core. ``--ours``
is what ``python -m benchmarks.gpu_card`` has measured, on the card of the device file ``--device``: the H100 whose
times lie beside that benchmark, if nothing is said.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.gpu_truth import ours
from benchmarks.gpu_truth.judge import Cell, judged, random_block, together
from benchmarks.gpu_truth.predictors import NAMES, ORDER_ONLY, Card, all_predictions, may_fit
from dse.flows.measured_kernels import SHORT_S, KernelShelf, largest_sizes
from dse.formats.device_yaml import load_device
from dse.formats.measured_csv import MeasuredTime, read_measured_csv
from dse.gpu.models.hierarchy import bypassing_l1

ROOT = Path(__file__).parents[2]
PAGE, TEXT = ROOT / "docs" / "gpu-truth.md", Path(__file__).with_name("page.md")
LEAST_BLOCKS, LEAST_FEW, LEAST_SIZE = 20, 4, 512
SILENT = 0.5
"""A predictor that says nothing of more rows of a cell than this has no such cell."""
CellKey = tuple[str, int]
Orders = dict[CellKey, dict[tuple[int, int], float]]
"""Measured times by block, of each kernel and size."""


def cards(path: Path) -> list[Card]:
    """Return the cards of the file, each with the rows that a kernel of ours stands for."""
    rows, shelf = read_measured_csv(str(path)), KernelShelf()
    return [_card(gpu, [row for row in rows if row.gpu == gpu], shelf) for gpu in sorted({row.gpu for row in rows})]


def _card(gpu: str, own: list[MeasuredTime], shelf: KernelShelf) -> Card:
    """Return a card with its rows of the largest sizes and of all from ``LEAST_SIZE`` on."""
    largest = set(map(id, largest_sizes(own)))
    wanted = [row for row in own if id(row) in largest or row.n >= LEAST_SIZE]
    kept = [one for row in wanted if (one := shelf.prepared(row)) is not None]
    fitted = np.array([may_fit(one, id(one.row) in largest) for one in kept])
    # nvcc compiled all of them with -Xptxas -dlcm=cg (tests/cuda_l1_cache.mk there)
    return Card(gpu=gpu, device=bypassing_l1(load_device(gpu)), rows=tuple(kept), fitted_to=fitted)


def cells_of(card: Card, chosen: list[int], least: int) -> dict[CellKey, list[int]]:
    """Return the rows of each kernel and size with enough blocks."""
    cells: dict[CellKey, list[int]] = {}
    for k in chosen:
        cells.setdefault((card.rows[k].name, card.rows[k].row.n), []).append(k)
    return {key: rows for key, rows in cells.items() if len(rows) >= least}


def table(
    card: Card,
    cells: dict[CellKey, list[int]],
    said: dict[str, np.ndarray],
    others: dict[str, Orders],
) -> list[str]:
    """Return one row a predictor over some cells."""
    measured = card.measured_s
    lines = [
        "| | cells, rows | error, median | error, mean | Spearman | regret, median | regret, mean | of three, mean |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in NAMES:
        found = [
            judged(said[name][rows], measured[rows], times=name != ORDER_ONLY) for rows in covered(cells, said[name])
        ]
        lines.append(line(name, found))
    lines.append(line("a block by chance", [random_block(measured[rows]) for rows in cells.values()]))
    for gpu, orders in others.items():
        found = [cell for (name, n), rows in cells.items() if (cell := _as_there(card, rows, nearest(orders, name, n)))]
        if found:
            lines.append(line(f"the order that {gpu} measured", found))
    return lines


def _as_there(card: Card, rows: list[int], order: dict[tuple[int, int], float]) -> Cell | None:
    """Return what the order of another card is worth for some rows, None where it has too few of the blocks."""
    both = [k for k in rows if card.rows[k].row.block in order]
    if len(both) < LEAST_FEW:
        return None
    there = np.array([order[card.rows[k].row.block] for k in both])
    return judged(there, card.measured_s[both], times=False)


def covered(cells: dict[CellKey, list[int]], said: np.ndarray) -> list[list[int]]:
    """Return the rows of each cell that a predictor says something of, where that are most of them."""
    known = [[k for k in rows if np.isfinite(said[k])] for rows in cells.values()]
    return [some for some, rows in zip(known, cells.values(), strict=True) if len(some) > SILENT * len(rows)]


def line(name: str, cells: list[Cell]) -> str:
    """Return a row of a table; empty cells where nothing is known."""
    if not cells:
        return f"| {name} | 0 | | | | | | |"
    all_ = together(cells)
    percents = (all_.median_error, all_.mean_error, all_.correlation, all_.regret_median, all_.regret_mean)
    texts = [percent(v) for v in percents]
    texts[2] = f"{all_.correlation:.3f}"
    return f"| {name} | {all_.cells}, {all_.rows:,} | {' | '.join(texts)} | {percent(all_.regret_of_three)} |"


def percent(share: float) -> str:
    """Return a share as per cent, empty for none."""
    return "" if np.isnan(share) else f"{100 * share:.1f} %"


def orders_of(card: Card) -> Orders:
    """Return the measured times by block, of each kernel and size."""
    found: Orders = {}
    for row in card.rows:
        found.setdefault((row.name, row.row.n), {})[row.row.block] = row.row.median_ms
    return found


def nearest(orders: Orders, name: str, n: int) -> dict[tuple[int, int], float]:
    """Return the times at the size nearest to ``n``, by ratio."""
    sizes = [size for kernel, size in orders if kernel == name]
    return orders[name, min(sizes, key=lambda size: abs(np.log(size / n)))] if sizes else {}


def by_kernel(card: Card, cells: dict[CellKey, list[int]], said: dict[str, np.ndarray]) -> list[str]:
    """Return one row a kernel and size, without and with calibration."""
    lines = [
        "| kernel, n | blocks | error | Spearman | regret | error, calibrated | Spearman | regret |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (name, n), rows in sorted(cells.items()):
        texts = []
        for predictor in NAMES[:2]:
            cell = judged(said[predictor][rows], card.measured_s[rows])
            texts += [percent(cell.median_error), f"{cell.correlation:.2f}", percent(cell.regret)]
        lines.append(f"| {name}, {n} | {len(rows)} | {' | '.join(texts)} |")
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text of a card, and its rows in the table of the goals."""

    lines: list[str]
    goals: list[str]


GOALS = ((0.30, 0.88, np.inf, 0.10), (0.12, 0.93, 0.03, 0.05))
"""Error, Spearman, median and mean regret, without calibration and with it."""


def goal_line(card: Card, cells: dict[CellKey, list[int]], said: dict[str, np.ndarray], which: int) -> str:
    """Return what is reached of the goals; what misses is in bold."""
    found = together([judged(said[NAMES[which]][rows], card.measured_s[rows]) for rows in cells.values()])
    error, order, median, mean = GOALS[which]
    reached = (
        (percent(found.median_error), found.median_error < error),
        (f"{found.correlation:.3f}", found.correlation >= order),
        (percent(found.regret_median), found.regret_median < median),
        (percent(found.regret_mean), found.regret_mean < mean),
    )
    texts = [text if good else f"**{text}**" for text, good in reached]
    return f"| {card.gpu} | {('data sheets', 'calibrated')[which]} | {' | '.join(texts)} |"


def section(card: Card, others: dict[str, Orders]) -> Section:
    """Return the section of a card."""
    said = all_predictions(card)
    parts = _parts(card)
    main = parts[0][1]
    lines = [f"## {card.gpu}", ""]
    for title, cells in parts:
        if cells:
            lines += [f"**{title}**", "", *table(card, cells, said, others), ""]
    lines += ["**Each cell of the first table**", "", *by_kernel(card, main, said), ""]
    return Section(lines=lines, goals=[goal_line(card, main, said, which) for which in (0, 1)])


def _parts(card: Card) -> tuple[tuple[str, dict[CellKey, list[int]]], ...]:
    """Return the tables of a card by their titles, the first one that of the goals."""
    largest = set(map(id, largest_sizes([one.row for one in card.rows])))

    def chosen(*, one_loop: bool | None, repeats: bool = False, short: bool = False, large: bool = False) -> list[int]:
        return [
            k
            for k, r in enumerate(card.rows)
            if one_loop in (None, r.known.one_loop)
            and (r.repeats, r.launch_s < SHORT_S) == (repeats, short)
            and (id(r.row) in largest or not large)
        ]

    two, one, again = chosen(one_loop=False), chosen(one_loop=True), chosen(one_loop=True, repeats=True)
    main = cells_of(card, chosen(one_loop=False, large=True), LEAST_BLOCKS)
    return (
        (f"Two loops, the largest two sizes with {LEAST_BLOCKS} blocks or more", main),
        (f"Two loops, all sizes from {LEAST_SIZE} on", cells_of(card, two, LEAST_BLOCKS)),
        ("One loop, one row of threads in a block, all sizes", cells_of(card, one, LEAST_FEW)),
        ("One loop, blocks whose rows repeat the work", cells_of(card, again, LEAST_FEW)),
        ("Launches below 20 us", cells_of(card, chosen(one_loop=None, short=True), LEAST_FEW)),
    )


def page(path: Path, own: list[str]) -> str:
    """Return the page; ``own``: its table of what was measured by us."""
    all_cards = cards(path)
    orders = {card.gpu: orders_of(card) for card in all_cards}
    found = []
    for card in all_cards:
        print(f"{card.gpu}: {len(card.rows)} rows", file=sys.stderr)
        found.append(section(card, {gpu: order for gpu, order in orders.items() if gpu != card.gpu}))
    goals = ["| card | | error, median | Spearman | regret, median | regret, mean |", "|---|---|---:|---:|---:|---:|"]
    goals += [line for one in found for line in one.goals]
    text = merged(TEXT.read_text(), own).replace(
        "<!-- goals -->\n", "\n".join(["Missed goals are bold.", "", *goals]) + "\n"
    )
    return text.replace("<!-- cards -->\n", "\n".join(line for one in found for line in one.lines) + "\n")


def merged(text: str, own: list[str]) -> str:
    """Return the text of the page with the table of what was measured by us."""
    return text.replace("<!-- ours -->\n", "\n".join(own) + "\n")


def main() -> int:
    """Write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="print the page")
    parser.add_argument("--ours", metavar="MEASURED.csv", help="what benchmarks.gpu_card measured")
    parser.add_argument("--device", metavar="D", help="the device file of that card")
    args = parser.parse_args()
    if (args.ours is None) != (args.device is None):
        parser.error("--ours and --device go together")
    measured, device = (args.ours, args.device) if args.ours else (str(ours.KEPT), ours.KEPT_DEVICE)
    shared = Path(os.environ.get("DSE_REFERENCE_DATA", ROOT.parent / "shared"))
    data = shared / "data" / "gpu-measured" / "polybench.csv"
    if not data.is_file():
        print(f"{data} is missing; set DSE_REFERENCE_DATA", file=sys.stderr)
        return 1
    own = ours.section(measured, load_device(device))
    text = page(data, own)
    if args.check:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
