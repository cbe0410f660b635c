"""What ``dse gpu predict`` makes of PolyBench/C as it is published: a table for docs/gpu-polybench.md.

usage: python -m benchmarks.polybench FOLDER [--device D] [--only NAME]

FOLDER: a checkout of PolyBench/C 4.2.1, which is not part of the project; ``utilities/benchmark_list`` names programs.
Each is predicted in a process of its own; *core*: seconds of a processor that this takes, start and advice included.
"""

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Told:
    """What the command said of a program. ``text``: its JSON, or its errors; ``core_s``: seconds of a processor."""

    name: str
    refused: bool
    text: str
    core_s: float


def told_of(folder: Path, path: str, device: str) -> Told:
    """Return what the command says of a program of the folder."""
    words = [sys.executable, "-m", "dse", "gpu", "predict", str(folder / path), "--device", device, "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    core_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    refused = done.returncode != 0
    return Told(Path(path).stem, refused, done.stderr if refused else done.stdout, core_s)


def row(told: Told) -> str:
    """Return the row of a program."""
    if told.refused:
        why = told.text.strip().splitlines()[0].split("error: ", 1)[-1]
        return f"| {told.name} | refused | | {told.core_s:.1f} | {why} |"
    document = json.loads(told.text)
    kernels = document["kernels"]
    longest = max(kernels, key=lambda k: k["launches"] * k["time_s"])
    launches = sum(k["launches"] for k in kernels)
    why = longest["reason"].split(";")[0].removeprefix("the most time goes to ")
    return f"| {told.name} | {1e3 * document['time_s']:.4g} ms | {launches:,} | {told.core_s:.1f} | {why} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="gtx1080ti")
    parser.add_argument("--only", default="", metavar="NAME", help="programs whose path has this in it")
    args = parser.parse_args()
    programs = (args.folder / "utilities" / "benchmark_list").read_text().split()
    print("| program | time | launches | core, s | of the longest kernel, or why not |\n|---|---:|---:|---:|---|")
    for path in (p for p in programs if args.only in p):
        print(row(told_of(args.folder, path, args.device)), flush=True)


if __name__ == "__main__":
    main()
