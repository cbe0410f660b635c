"""A chain of 16 actors on 1, 2, 4 and 16 threads: how far more partitions than cores slow a run down.

usage: python -m benchmarks.native.partitions [--policy N] [--fifo N] [--tokens N] [--work N] [--rounds N]

The policy is its place in the enumeration of run_types.hpp (0: non-preemptive, 1: round robin). With --work 30 a firing
takes about 20 ns. The goal: 16 partitions on 2 idle cores within 1.5 times of one.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("policy", 0), ("fifo", 512), ("tokens", 200_000), ("work", 30), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    compiler = shutil.which("g++") or shutil.which("clang++") or sys.exit("no g++ and no clang++")
    times: dict[int, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "partitions"
        flags = ["-std=c++20", "-O2", "-pthread", f"-I{RUNTIME}"]
        subprocess.run([compiler, *flags, str(HERE / "partitions.cpp"), "-o", str(program)], check=True)
        numbers = (options.policy, options.fifo, options.tokens, options.work, options.rounds)
        text = subprocess.run([program, *map(str, numbers)], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        partitions, ns = line.split()
        times[int(partitions)].append(int(ns) / 1e6)
    print(f"{'partitions':>10} {'median, ms':>10} {'ratio':>6} {'least, ms':>10} {'ratio':>6}")
    for partitions, found in times.items():
        median, least = statistics.median(found), min(found)
        ratios = median / statistics.median(times[1]), least / min(times[1])
        print(f"{partitions:10} {median:10.1f} {ratios[0]:6.2f} {least:10.1f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
