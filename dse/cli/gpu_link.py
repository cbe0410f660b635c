"""``dse gpu link``: what moving tokens between processor and GPU takes, measured here."""

import argparse
from dataclasses import asdict
from typing import Any

from rich.table import Table

from dse.base.errors import OptionError
from dse.cli.cuda_arguments import cuda_request
from dse.cli.progress import EVERY_STAGE, run_line
from dse.cli.streams import print_json, say
from dse.flows.link import LinkOptions, MeasuredLink, measure_link_here
from dse.measure.link import ENDS
from dse.measure.link_program import LinkRow
from dse.report.quantities import wrapped
from dse.report.ranking import render

_ENDS_SHOWN = {
    "cpu_writes": "CPU writes",
    "gpu_reads": "GPU reads",
    "gpu_writes": "GPU writes",
    "cpu_reads": "CPU reads",
}


def run_link(args: argparse.Namespace) -> int:
    """Measure, write and print."""
    cuda = cuda_request(args.cuda, args.cuda_arch, here=True)
    if cuda is None:
        raise OptionError("nothing says by what the program is built", expected="--cuda nvcc or --cuda emulated")
    options = LinkOptions(
        cuda=cuda,
        fifos=args.fifos,
        capacity_tokens=args.fifo_size,
        platform=args.platform,
        output=args.output,
        compiler=args.compiler,
    )
    with run_line(EVERY_STAGE) as line:
        found = measure_link_here(options, (lambda _: None) if args.quiet else line.show)
    if args.json:
        print_json(_document(found) | {"written": [args.output] if args.output else []})
        return 0
    _print(found)
    if args.output:
        say(f"wrote {args.output}")
    return 0


def _document(found: MeasuredLink) -> dict[str, Any]:
    """Return the JSON of a link; all times in ns."""
    figures, link = found.figures, found.link
    return {
        "card": figures.card,
        "emulated": figures.emulated,
        "round_trip_ns": figures.trip_ns,
        "latency_ns": float(link.latency_ns),
        "bandwidth_gb_s": None if link.bandwidth_gb_s is None else float(link.bandwidth_gb_s),
        "shared": link.shared,
        "directions": link.directions,
        "ends": {end: {"fixed_ns": price.fixed, "ns_per_byte": price.each} for end, price in figures.ends},
        "slower_by_fifos": {str(n): times for n, times in figures.slower},
        "rate_kept_both_ways": figures.both,
        "gpu_clock_mhz": figures.clock_mhz,
        "clock_moved": figures.moved,
        "cases": [
            {**asdict(row.case), "all_ns": row.all_ns, "ns_of_a_block": asdict(row.ends), "mb_per_s": _rate(row)}
            for row in figures.rows
        ],
    }


def _rate(row: LinkRow) -> float:
    """Return the megabytes a second that all FIFOs of a case moved, both ways together."""
    ways = 2 if row.case.way in ("both", "echo") else 1
    return 1e3 * ways * row.case.fifos * row.case.blocks * row.case.block_bytes / max(row.all_ns, 1)


def _print(found: MeasuredLink) -> None:
    figures, link = found.figures, found.link
    say(f"{figures.card}: a token there and back takes {figures.trip_ns:.0f} ns")
    print(render(_sizes_table([row for row in figures.rows if row.case.way != "echo"])))
    for end, price in figures.ends:
        say(f"{_ENDS_SHOWN[end]}: {price.fixed:.0f} ns a block and {price.each:.3f} ns a byte")
    shared = "wait for each other" if link.shared else "do not wait for each other"
    slower = ", ".join(f"{n}: {times:.2f}" for n, times in figures.slower)
    say(wrapped(f"several FIFOs {shared}: all take so many times as long as one ({slower})"))
    say(f"both ways at once: each keeps {100 * figures.both:.0f} % of its rate, so {link.directions} direction(s)")
    rate = "nothing for its bytes" if link.bandwidth_gb_s is None else f"{float(link.bandwidth_gb_s):g} GB/s"
    say(f"link {link.name}: {float(link.latency_ns):g} ns, {rate}, {'shared' if link.shared else 'not shared'}")
    if figures.moved:
        say(f"warning: the clock of the GPU moved in {figures.moved} cases, also when they were repeated", error=True)
    if figures.emulated:
        say("warning: the GPU was emulated: these times say nothing of a card", error=True)


def _sizes_table(rows: list[LinkRow]) -> Table:
    """Return what a block takes at each end, in ns, and what all FIFOs moved."""
    table = Table(box=None, pad_edge=False)
    for name in ("way", "FIFOs", "token bytes", "block", *_ENDS_SHOWN.values(), "MB/s"):
        table.add_column(name, justify="left" if name == "way" else "right", no_wrap=True)
    for row in rows:
        case = row.case
        ends = (getattr(row.ends, end) for end in ENDS)
        cells = ("" if took is None else f"{took:.0f}" for took in ends)
        numbers = (case.fifos, case.token_bytes, case.block_tokens)
        table.add_row(case.way, *map(str, numbers), *cells, f"{_rate(row):.1f}")
    return table
