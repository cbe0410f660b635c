"""``dse buffers``: FIFO sizes for one mapping, with the memory they take and the makespan they cost."""

import argparse

from rich.table import Table

from dse.cli.problem_arguments import (
    compiling_notice,
    print_warnings,
    problem_options,
    tell_execution,
)
from dse.cli.streams import print_json, say
from dse.flows.buffers import BufferOptions, SizedBuffers, parse_sizing_method, parse_tolerance, size_fifos
from dse.flows.trace import execution_of
from dse.report.quantities import time_text, wrapped
from dse.report.ranking import render
from dse.report.tables import NamesTable
from dse.sizing.buffers import BufferSizing, Sizing

CURVE_SHOWN = 12
"""At most so many points of the trade-off are printed, spread over it; ``--json`` has all."""


def run(args: argparse.Namespace) -> int:
    """Size the FIFOs and print the table."""
    options = BufferOptions(
        problem=problem_options(args),
        mapping=args.mapping,
        method=parse_sizing_method(args.method),
        tolerance=parse_tolerance(args.tolerance),
        out=args.out,
    )
    sized = size_fifos(options, compiling_notice(quiet=args.quiet))
    if not args.quiet:
        tell_execution(sized.setting.trace)
        print_warnings(sized.warnings)
    if args.json:
        print_json(as_document(sized))
    else:
        _print(sized, args.quiet)
        if args.out is not None and not args.quiet:
            print()
            say(f"written to {args.out}")
    return 0


def as_document(sized: SizedBuffers) -> dict[str, object]:
    """Return the JSON of a sizing; times are ticks of ``unit``."""
    sizing = sized.sizing

    def figures(one: Sizing) -> dict[str, object]:
        return {"memory_bytes": one.memory_bytes, "makespan": one.makespan}

    return {
        "network": sized.setting.trace.topology.name,
        "method": sizing.method,
        "tolerance": float(sizing.tolerance),
        "unit": sizing.tick_unit,
        **figures(sizing.chosen),
        "capacities_tokens": dict(zip(sized.names, sizing.chosen.capacities, strict=True)),
        "minimal": figures(sizing.minimal),
        "maximal": figures(sizing.maximal),
        "curve": [figures(one) for one in sizing.curve],
        "estimations": sizing.estimations,
        "assumed": list(sized.assumed),
        "execution": execution_of(sized.setting.trace),
    }


def _print(sized: SizedBuffers, quiet: bool) -> None:
    sizing = sized.sizing
    if not quiet and sized.assumed:
        say(f"assumed: {'; '.join(sized.assumed)}")
        print()
    print(render(_fifo_table(sized)))
    if quiet:
        return
    print("\nmemory against makespan, of everything that was tried:")
    print(render(_curve_table(sized)))
    print(f"\n{sizing.estimations} sizes estimated")
    if note := minimal_note(sizing):
        print(wrapped(note))


def minimal_note(sizing: BufferSizing) -> str:
    """Return what ``minimal`` promises, and which method found less where both are known; empty for the others."""
    saved = sizing.minimal.memory_bytes - sizing.chosen.memory_bytes
    promise = "minimal: no single FIFO can be lowered without a deadlock"
    if saved > 0:
        return f"{promise}, but other sizes together may need less: those of {sizing.method} need {saved:,} B less"
    return f"{promise}; other sizes together may need less" if sizing.method == "minimal" else ""


def _fifo_table(sized: SizedBuffers) -> Table:
    """Return one row a FIFO with its minimal, chosen and maximal tokens, and the totals."""
    sizing = sized.sizing
    columns: dict[str, Sizing] = {"minimal": sizing.minimal, sizing.method: sizing.chosen, "maximal": sizing.maximal}
    table = NamesTable()
    table.add_column("FIFO", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for b, name in enumerate(sized.names):
        table.add_row(name, *(f"{column.capacities[b]:,}" for column in columns.values()))
    table.add_section()
    table.add_row("memory", *(f"{column.memory_bytes:,} B" for column in columns.values()))
    table.add_row("makespan", *(time_text(column.makespan, sizing.tick_unit) for column in columns.values()))
    return table


def _curve_table(sized: SizedBuffers) -> Table:
    table = NamesTable()
    for name in ("memory", "makespan", "to maximal sizes"):
        table.add_column(name, justify="right", no_wrap=True)
    curve, whole = sized.sizing.curve, sized.sizing.maximal.makespan
    step = max(1, -(-len(curve) // CURVE_SHOWN))
    for one in (*curve[:-1:step], *curve[-1:]):
        gap = "" if whole == 0 else f"{100 * (one.makespan / whole - 1):+.1f} %"
        table.add_row(f"{one.memory_bytes:,} B", time_text(one.makespan, sized.sizing.tick_unit), gap)
    return table
