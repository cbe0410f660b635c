"""Tokens per second of a FIFO between two threads, beside rigtorp's SPSCQueue in the same run.

usage: python -m benchmarks.native.fifo FOLDER [--cores A,B] [--rounds N] [--tokens N] [--capacity N]

FOLDER holds rigtorp/SPSCQueue.h (https://github.com/rigtorp/SPSCQueue, folder include), which is not kept here. Rounds
are short and take turns, so that both meet the same state of the machine; shown are the median and the best tenth.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "dse" / "native" / "runtime"


def build(folder: Path, rigtorp: Path) -> Path:
    compiler = shutil.which("g++") or shutil.which("clang++") or sys.exit("no g++ and no clang++")
    program = folder / "fifo"
    flags = ["-std=c++20", "-O2", "-pthread", f"-I{RUNTIME}", "-isystem", str(rigtorp)]
    subprocess.run([compiler, *flags, str(HERE / "fifo.cpp"), "-o", str(program)], check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=1 << 13)
    parser.add_argument("--capacity", type=int, default=512)
    options = parser.parse_args()
    rates: dict[tuple[str, int], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name), options.folder)
        numbers = (options.capacity, options.tokens, options.rounds, *options.cores.split(","))
        text = subprocess.run([program, *map(str, numbers)], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        queue, block, rate = line.split()
        rates[queue, int(block)].append(float(rate))
    base = {k: f(rates["rigtorp", 1]) for k, f in STATISTICS.items()}
    print(f"{'queue':8} {'block':>5} " + " ".join(f"{k + ', M/s':>16} {'ratio':>6}" for k in STATISTICS))
    for (queue, block), found in rates.items():
        cells = [f"{f(found) / 1e6:16.1f} {f(found) / base[k]:6.2f}" for k, f in STATISTICS.items()]
        print(f"{queue:8} {block:5} " + " ".join(cells))


def best_tenth(rates: list[float]) -> float:
    """Return the median of the best tenth: rounds that nobody disturbed, where the machine is shared."""
    return statistics.median(sorted(rates)[-max(1, len(rates) // 10) :])


STATISTICS = {"median": statistics.median, "best tenth": best_tenth}

if __name__ == "__main__":
    main()
