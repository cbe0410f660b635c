"""Native programs beside Python: firings a second, the cost of tracing, a large picture from end to end.

    python -m benchmarks.native.speed [--rounds N] [--only TEXT]

The networks are those of orc-apps (``DSE_CORPORA``), their inputs those of ``DSE_REFERENCE_DATA``/streams, read again
and again (``-l``); one whose files are missing is left out, and named. A round runs Python, the program, and the
program with its trace, the next round backwards. Medians over the rounds are shown; ratios are medians of those of the
rounds. Rates are firings by processor time (user and system), so that they say the same where others work. A native
program is its whole process, Python is the run alone. Building is in no figure.

The large picture is traced and estimated by ``dse estimate`` with nominal weights on two cores: seconds of the clock
and of the processor, and the resident memory of all its processes together, at its highest.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.native.execution import document_of_run, program_arguments
from dse.program.network import Network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.golden.acceptance import REFERENCE_DATA, Missing, corpus
from tests.native.same.comparing import built

ROOT = Path(__file__).resolve().parents[2]
TWO_CORES = """<?xml version="1.0"?>
<Configuration network="jpeg"><Partitioning>
<Partition id="P0" scheduling="NON_PREEMPTIVE">
<Instance id="source"/><Instance id="parser"/><Instance id="huffman"/></Partition>
<Partition id="P1" scheduling="NON_PREEMPTIVE">
<Instance id="dequant"/><Instance id="idct2d"/><Instance id="display"/></Partition>
</Partitioning></Configuration>
"""
_SAMPLING_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A network of orc-apps with its stream, and how often each execution reads it."""

    name: str
    path: str
    stream: str
    python_loops: int
    native_loops: int


CASES = (
    Case(
        name="JPEG",
        path="JPEG/src/jpeg/decoder/Top_Decoder.xdf",
        stream="foreman_qcif_5f.mjpg",
        python_loops=10,
        native_loops=300,
    ),
    Case(
        name="MPEG-4 SP",
        path="RVC/src/org/sc29/wg11/mpeg4/part2/sp/Top_mpeg4_part2_SP_decoder.xdf",
        stream="bits.bin",
        python_loops=10,
        native_loops=300,
    ),
    Case(
        name="AVC",
        path="RVC/src/org/sc29/wg11/mpeg4/part10/cbp/Top_mpeg4_part10_CBP_decoder.xdf",
        stream="b1n.264",
        python_loops=1,
        native_loops=20,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Firings a second of one round."""

    python: float
    native: float
    traced: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EndToEnd:
    """What one ``dse estimate`` took. ``seconds`` by the clock, ``cpu_seconds`` of the processor."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def _cpu_seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def rates_of(case: Case, rounds: int) -> list[Rates]:
    """Return the rates of each round. Raises ``Missing``."""
    path, stream = corpus() / case.path, REFERENCE_DATA / "streams" / case.stream
    if not path.is_file() or not stream.is_file():
        raise Missing(f"{case.path} or {case.stream} is not on this machine")
    network = load_network(str(path)).network
    app = built(network, BuildOptions()).app
    with tempfile.TemporaryDirectory(prefix="dse-speed-") as folder:
        options = RunOptions(input=str(stream), files=str(Path(folder, "files")))
        plain = replace(options, loops=case.native_loops)
        _native_rate(network, app, options, Path(folder), traced=True)
        works: dict[str, Callable[[], float]] = {
            "python": lambda: _python_rate(network, replace(options, loops=case.python_loops)),
            "native": lambda: _native_rate(network, app, plain, Path(folder), traced=False),
            "traced": lambda: _native_rate(network, app, plain, Path(folder), traced=True),
        }
        return [_round(works, backwards=k % 2 == 1) for k in range(rounds)]


def _round(works: dict[str, Callable[[], float]], *, backwards: bool) -> Rates:
    names = list(works)
    found = {name: works[name]() for name in (reversed(names) if backwards else names)}
    return Rates(python=found["python"], native=found["native"], traced=found["traced"])


def _python_rate(network: Network, options: RunOptions) -> float:
    started = _cpu_seconds(resource.RUSAGE_SELF)
    firings = run_network(network, options).n_firings
    return firings / (_cpu_seconds(resource.RUSAGE_SELF) - started)


def _native_rate(network: Network, app: Path, options: RunOptions, folder: Path, *, traced: bool) -> float:
    trace = ("--trace", folder / "trace") if traced else ()
    started = _cpu_seconds(resource.RUSAGE_CHILDREN)
    document, _ = document_of_run((app, *program_arguments(network, options), *trace), folder)
    return int(document["firings"]) / (_cpu_seconds(resource.RUSAGE_CHILDREN) - started)


def estimated(width: int, height: int, rounds: int) -> list[EndToEnd]:
    """Trace and estimate a picture of this size by our JPEG decoder; it is built, and all is warm, before."""
    jpeg = ROOT / "actors" / "jpeg"
    with tempfile.TemporaryDirectory(prefix="dse-speed-") as folder:
        picture, mapping = Path(folder, "large.jpg"), Path(folder, "two.xcf")
        mapping.write_text(TWO_CORES, encoding="utf-8")
        size = ("--width", str(width), "--height", str(height), "--quality", "90", "--sampling", "4:2:0")
        subprocess.run([sys.executable, str(jpeg / "make_input.py"), *size, "-o", str(picture)], check=True)
        command = [sys.executable, "-m", "dse", "estimate", str(jpeg / "jpeg.xdf"), "--weights", "nominal", "--quiet"]
        command += ["--execution", "native", "--mapping", str(mapping), "--files", str(Path(folder, "files")), "-i"]
        _watched([*command, str(jpeg / "input.jpg")])
        return [_watched([*command, str(picture)]) for _ in range(rounds)]


def _watched(command: list[str]) -> EndToEnd:
    """Run a command in a session of its own, and look every few milliseconds what its processes hold."""
    cpu_seconds, started, peak = _cpu_seconds(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, _resident_bytes(process.pid))
            time.sleep(_SAMPLING_SECONDS)
    if process.returncode != 0:
        raise SystemExit(f"dse estimate ended with {process.returncode}: {' '.join(command)}")
    return EndToEnd(
        seconds=time.perf_counter() - started,
        cpu_seconds=_cpu_seconds(resource.RUSAGE_CHILDREN) - cpu_seconds,
        peak_bytes=peak,
    )


def _resident_bytes(session: int) -> int:
    """Return the resident memory of all processes of a session (Linux; fields 6 and 24 of proc(5) stat)."""
    pages = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            pages += int(fields[21])
    return pages * os.sysconf("SC_PAGESIZE")


def row(name: str, found: list[Rates]) -> str:
    """Return the line of a network: rates in millions of firings a second, their ratio, what tracing adds."""
    python, native = (statistics.median(getattr(r, key) for r in found) / 1e6 for key in ("python", "native"))
    ratio = statistics.median(r.native / r.python for r in found)
    tracing = statistics.median(r.native / r.traced - 1 for r in found)
    return f"| {name} | {python:.2f} | {native:.1f} | {ratio:.0f} | {100 * tracing:.0f} % |"


def large_row(rounds: int) -> str:
    """Return a line about the large picture."""
    found = estimated(4096, 2240, rounds)
    seconds = statistics.median(e.seconds for e in found)
    cpu_seconds = statistics.median(e.cpu_seconds for e in found)
    peak_gb = max(e.peak_bytes for e in found) / 1e9
    return f"\n4096x2240 traced and estimated: {seconds:.1f} s, {cpu_seconds:.1f} s of processor, {peak_gb:.2f} GB"


def main() -> None:
    parser = argparse.ArgumentParser(description="Native programs beside Python.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="names that hold it; the picture is named 'large'")
    args = parser.parse_args()
    print("| network | Python, M firings/s | native | ratio | tracing |\n|---|---|---|---|---|", flush=True)
    for case in CASES:
        if args.only.lower() in case.name.lower():
            try:
                print(row(case.name, rates_of(case, args.rounds)), flush=True)
            except Missing as missing:
                print(f"{case.name} is left out: {missing}", file=sys.stderr)
    if args.only.lower() in "large":
        print(large_row(args.rounds))


if __name__ == "__main__":
    main()
