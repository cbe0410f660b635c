"""The convolution of AutoTuningAssociation's benchmark hub on an A100: blocks without tiles beside measured times."""

import gzip
import json
from pathlib import Path

import numpy as np

from benchmarks.gpu_truth.judge import Cell, judged, random_block
from dse.flows.kernels import KernelSource
from dse.formats.device_yaml import load_device
from dse.gpu.models.hierarchy import Rates, demand_of, total_cycles
from dse.gpu.trace.features import light_features

CACHE = Path("cachefiles/convolution_milo/A100_T4.json.gz")
KERNEL = Path(__file__).parent / "kernels" / "convolution.c"


def judged_blocks(folder: Path) -> tuple[Cell, Cell]:
    """Return how the blocks are predicted whose threads make an element each, and what a block by chance costs.

    ``folder``: a checkout of the hub. Configurations with tiles in shared memory, with several elements a thread or
    with loads by another instruction are other kernels, and are left out.
    """
    device = load_device("a100")
    kernel, rates = KernelSource(str(KERNEL), (), "convolution").work()[0], Rates.of(device)
    predicted, measured = [], []
    for block, seconds in _blocks(folder / CACHE):
        cycles = total_cycles(demand_of(light_features(kernel, (*block, 1)), device), rates)
        predicted.append(cycles / device.clock_hz + device.require("kernel_start_us", "the blind test") * 1e-6)
        measured.append(seconds)
    return judged(np.array(predicted), np.array(measured)), random_block(np.array(measured))


def _blocks(path: Path) -> list[tuple[tuple[int, int], float]]:
    """Return the blocks of plain configurations and the medians of their times in seconds."""
    found = []
    for entry in json.loads(gzip.decompress(path.read_bytes()))["results"]:
        chosen = entry["configuration"]
        tiled = chosen["use_shmem"] or chosen["tile_size_x"] * chosen["tile_size_y"] > 1
        if not tiled and not chosen["read_only"] and entry["invalidity"] == "correct":
            block = (int(chosen["block_size_x"]), int(chosen["block_size_y"]))
            found.append((block, float(np.median(entry["times"]["runtimes"])) * 1e-3))
    return found
