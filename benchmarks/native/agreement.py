"""Estimates against clocks: the figures 11, 12, 14 and 15 of the paper on the cores of this machine.

    python -m benchmarks.native.agreement [--only NAME,...] [--out DIR] [--runs N]

It wants the machine for itself: nothing else may run meanwhile. Inputs are made by the ``make_input.py`` of the
applications; a network of the public corpora is measured where ``DSE_CORPORA`` names their folder and the stream is
there. Each job leaves ``measured.json``, pictures and all runs in a folder of its own; a table is printed at the end.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dse.flows.measure import measure_mappings
from dse.flows.measure_files import measured_document, write_measured
from dse.flows.measure_journal import FolderJournal
from dse.flows.measure_options import MeasureOptions
from dse.flows.measure_points import MeasureSettings
from dse.flows.profile import ProfileSettings
from dse.run.options import PLAIN_RUN, RunOptions

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ((4096, 2240, 90), (2048, 1536, 90), (4096, 2240, 50), (2048, 1536, 50))
IMAGES += ((1920, 1080, 55), (1280, 720, 65), (640, 480, 80), (512, 512, 75))
"""Table 1 of the paper: width, height, quality."""
PAIRS = ((150, 250), (150, 200), (100, 250), (100, 200))
"""Inputs of figure 14: lengths of query and reference."""
PUBLIC = (
    ("mpeg4-sp", "RVC/src/org/sc29/wg11/mpeg4/part2/sp/Top_mpeg4_part2_SP_decoder.xdf", "bits.bin", 50),
    ("orc-jpeg", "JPEG/src/jpeg/decoder/Top_Decoder.xdf", "foreman_qcif_5f.mjpg", 100),
)
"""Networks of orc-apps: name, network, stream, times that it is read."""
ONE_CORE = """<?xml version="1.0"?>
<Configuration network="all"><Partitioning><Partition id="P0" scheduling="NON_PREEMPTIVE">
{instances}
</Partition></Partitioning></Configuration>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One measurement. ``inputs``: arguments of ``make_input.py`` by file name; or files that exist."""

    name: str
    network: Path
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()
    files: tuple[Path, ...] = ()
    sample: int | None = None
    actors: tuple[str, ...] = ()
    buffers: tuple[int, ...] = ()
    run: RunOptions = field(default_factory=lambda: PLAIN_RUN)


def jobs() -> list[Job]:
    """Return all jobs whose files are there."""
    jpeg, waterman = (ROOT / "actors" / name / f"{name}.xdf" for name in ("jpeg", "smith_waterman"))
    sampling = ("--sampling", "4:2:0")

    def image(width: int, height: int, quality: int) -> tuple[str, tuple[str, ...]]:
        options = ("--width", str(width), "--height", str(height), "--quality", str(quality), *sampling)
        return f"{width}x{height}-q{quality}.jpg", options

    def pair(query: int, reference: int) -> tuple[str, tuple[str, ...]]:
        return f"{query}_{reference}.txt", ("--query", str(query), "--reference", str(reference))

    found = [
        Job(name="jpeg-mappings", network=jpeg, made=(image(2048, 2048, 75),), sample=64, buffers=(512, 1024)),
        Job(
            name="jpeg-images",
            network=jpeg,
            made=tuple(image(*size) for size in IMAGES),
            actors=("source", "parser", "huffman", "dequant", "idct2d", "display"),
            buffers=(512, 1024),
        ),
        Job(name="sw-mappings", network=waterman, made=(pair(1500, 1800),), sample=100, buffers=(256, 1024)),
        Job(
            name="sw-inputs",
            network=waterman,
            made=tuple(pair(*lengths) for lengths in PAIRS),
            actors=(
                *("source", "splitter", "controller", "boundary", "pe0", "pe1", "pe2", "pe3"),
                *("collector", "aligner", "printer"),
            ),
            buffers=(256, 1024),
        ),
    ]
    corpora = os.environ.get("DSE_CORPORA")
    if corpora is not None:
        streams = Path(os.environ.get("DSE_REFERENCE_DATA", str(ROOT.parent / "shared"))) / "streams"
        found += [
            Job(
                name=name,
                network=Path(corpora) / "orc-apps" / network,
                files=(streams / stream,),
                sample=60,
                buffers=(512,),
                run=replace(PLAIN_RUN, loops=loops),
            )
            for name, network, stream, loops in PUBLIC
        ]
    return [job for job in found if job.network.is_file() and all(file.is_file() for file in job.files)]


def measure(job: Job, out: Path, rounds: int) -> dict[str, Any]:
    """Make the inputs of a job, measure it, write its results and return their document."""
    folder = out / job.name
    folder.mkdir(parents=True, exist_ok=True)
    inputs = [str(file) for file in job.files]
    for name, options in job.made:
        path = folder / name
        if not path.is_file():
            maker = job.network.with_name("make_input.py")
            subprocess.run([sys.executable, str(maker), *options, "-o", str(path)], check=True)
        inputs.append(str(path))
    mappings: tuple[str, ...] = ()
    if job.actors:
        mapping = folder / "one-core.xcf"
        instances = "\n".join(f'<Instance id="{actor}"/>' for actor in job.actors)
        mapping.write_text(ONE_CORE.format(instances=instances))
        mappings = (str(mapping),)
    options = MeasureOptions(
        program=str(job.network),
        inputs=tuple(inputs),
        run=job.run,
        mappings=mappings,
        sample=job.sample,
        buffers=job.buffers,
        profile=ProfileSettings(runs=5, calibrate=0 if job.actors else 3),
        settings=MeasureSettings(rounds=rounds),
    )
    journal = FolderJournal(lambda _network: folder)
    measured = measure_mappings(options, journal=journal)
    write_measured(measured, folder)
    journal.remove()
    return measured_document(measured)


def rows(name: str, document: dict[str, Any]) -> Iterable[str]:
    """Yield the lines of the table for each state of the machine."""
    for state in document["states"]:
        first = state["by_first"] if name.endswith(("images", "inputs")) else None
        mean = state["mean_divergence"] if first is None else first["mean"]
        most = state["max_divergence"] if first is None else first["max"]
        noise, least, still = state["noise"] or {}, state["least_of_runs"], state["least_of_runs_noise"] or {}
        cells = (
            name,
            state["state"],
            str(state["candidates"]),
            _number(state["spearman"]),
            _number(state["kendall"]),
            f"{_percent(state['regret'])}, {_percent(state['regret_of_ten'])}",
            f"{_percent(mean)}, {_percent(most)}",
            f"{_percent(state['relative_error']['mean'])}, {_percent(state['relative_error']['max'])}",
            f"{_number(noise.get('spearman'))}; {_percent(noise.get('max_divergence'))}",
            f"{_number(state['heaviest_load']['spearman'])}; {_percent(state['heaviest_load']['regret'])}",
            f"{_number(least['spearman'])} ({_number(still.get('spearman'))})",
            f"{_percent(least['regret'])}, {_percent(least['regret_of_ten'])}",
            f"{_percent(least['mean_divergence'])}, {_percent(least['max_divergence'])}",
        )
        yield f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


HEAD = (
    "| job | cores | scored | Spearman | Kendall | regret, of ten | divergence mean, max | error mean, max"
    " | noise | heaviest load | fastest runs: Spearman (noise) | regret, of ten | divergence mean, max |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimates against clocks.")
    parser.add_argument("--only", default="", help="names of jobs, with commas")
    parser.add_argument("--out", type=Path, default=Path("dse-out") / "agreement")
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    wanted = [job for job in jobs() if not args.only or job.name in args.only.split(",")]
    lines = [HEAD, "|" + "---|" * 13]
    for job in wanted:
        started = time.monotonic()
        document = measure(job, args.out, args.runs)
        lines += rows(job.name, document)
        print(f"{job.name}: {time.monotonic() - started:.0f} s, {document['runs']} runs", flush=True)
        print(json.dumps({key: document[key] for key in ("closure_error", "warnings", "wrong", "skipped")}), flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
