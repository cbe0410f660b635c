"""How long timelines take to write, and how much memory: both formats side by side, on a synthetic pipeline.

Run as ``python -m benchmarks.timeline [--firings N ...] [--json]``. Each file is written by a process of its own, whose
memory is looked at when all times of firings are there, and at its peak: the difference is what writing takes.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.engine import pipeline
from dse.report.timeline.timeline import ActorTimes, Segments, Timeline
from dse.report.timeline.write import write_timelines

ACTORS, CORES, TICKS_PER_NS = 10, 4, 1000
FORMATS = ("json", "pftrace")


def synthetic(firings: int) -> Timeline:
    """A pipeline on some cores: each firing takes some ns, and reads what the stage before wrote some firings ago."""
    trace = pipeline(ACTORS, firings, 1)
    rng = np.random.default_rng(1)
    times = []
    for actor, ids in enumerate(trace.firings):
        long = ACTORS // CORES + 1
        start = (np.arange(len(ids), dtype=np.int64) * long + actor // CORES + 40 * actor) * 1_000_000
        end = start + rng.integers(200_000, 1_000_000, len(ids))
        core = np.broadcast_to(np.int32(actor % CORES), len(ids))
        phases = (start + 50, start + 100, end - 100)
        times.append(ActorTimes(start=start, end=end, taken=start + 100, given=end - 100, core=core, phases=phases))
    n = len(trace.firings[-1])
    path = Segments(
        track="critical path", start=times[-1].start, end=times[-1].end, name=np.zeros(n, dtype=np.int64),
        firing=np.arange(n), because=np.zeros(n, dtype=np.int64), names=("a9.x0 processing",), reasons=("the core",),
    )  # fmt: skip
    return Timeline(
        title="synthetic", topology=trace.topology, firings=trace.firings, times=tuple(times),
        cores=tuple(f"core {k}" for k in range(CORES)), ticks_per_ns=TICKS_PER_NS, path=path,
    )  # fmt: skip


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(ending: str, firings: int) -> dict[str, float | str]:
    timeline = synthetic(firings)
    before = peak_mb()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{ending}"
        started = time.perf_counter()
        write_timelines(str(path), [timeline])
        seconds = time.perf_counter() - started
        size = path.stat().st_size / 2**20
    return {
        "format": ending, "firings": timeline_firings(timeline), "seconds": round(seconds, 2),
        "file_mb": round(size, 1), "times_mb": round(before, 1), "writing_mb": round(peak_mb() - before, 1),
    }  # fmt: skip


def timeline_firings(timeline: Timeline) -> int:
    return sum(len(times.start) for times in timeline.times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--firings", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", choices=FORMATS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one, args.firings[0])))
        return
    rows = []
    for firings in args.firings:
        for ending in FORMATS:
            command = [sys.executable, "-m", "benchmarks.timeline", "--one", ending, "--firings", str(firings)]
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'format':8} {'firings':>12} {'seconds':>8} {'file MB':>9} {'times MB':>9} {'writing takes MB':>17}")
    for row in rows:
        cells = [row[key] for key in ("seconds", "file_mb", "times_mb", "writing_mb")]
        print(
            f"{row['format']:8} {row['firings']:12,} {cells[0]:8.1f} {cells[1]:9.1f} {cells[2]:9.1f} {cells[3]:17.1f}"
        )


if __name__ == "__main__":
    main()
