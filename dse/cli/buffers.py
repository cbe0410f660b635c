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
        "mapping": None if sizing.own is None else _own(sized, sizing.own),
        "curve": [figures(one) for one in sizing.curve],
        "estimations": sizing.estimations,
        "assumed": list(sized.assumed),
        "execution": execution_of(sized.setting.trace),
    }


def _own(sized: SizedBuffers, own: Sizing) -> dict[str, object]:
    """Return the JSON of the sizes that the mapping came with."""
    return {
        "memory_bytes": own.memory_bytes,
        "makespan": None if own.deadlock else own.makespan,
        "deadlock": own.deadlock,
        "capacities_tokens": dict(zip(sized.names, own.capacities, strict=True)),
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
    for note in filter(None, (minimal_note(sizing), slower_note(sizing))):
        print(wrapped(note))


def minimal_note(sizing: BufferSizing) -> str:
    """Return what ``minimal`` promises, and which method found less where both are known; empty for the others."""
    saved = sizing.minimal.memory_bytes - sizing.chosen.memory_bytes
    promise = "minimal: no single FIFO can be lowered without a deadlock"
    if saved > 0:
        return f"{promise}, but other sizes together may need less: those of {sizing.method} need {saved:,} B less"
    return f"{promise}; other sizes together may need less" if sizing.method == "minimal" else ""


def slower_note(sizing: BufferSizing) -> str:
    """Return that larger FIFOs are slower, where some smaller ones that were tried are quicker; else nothing."""
    best, largest, own = sizing.curve[-1], sizing.maximal, sizing.own
    if best.makespan >= largest.makespan:
        return ""
    which = "the mapping's own sizes" if own is not None and best.capacities == own.capacities else "smaller sizes"
    text = time_text(best.makespan, sizing.tick_unit)
    return (
        f"larger FIFOs are slower here: {which} ({best.memory_bytes:,} B) take {text}, the maximal ones "
        f"{100 * (largest.makespan / best.makespan - 1):.1f} % longer; room changes which firing comes first on a core"
    )


def _fifo_table(sized: SizedBuffers) -> Table:
    """Return one row a FIFO with its minimal, chosen and maximal tokens, those of the mapping, and the totals."""
    sizing = sized.sizing
    columns: dict[str, Sizing] = {"minimal": sizing.minimal, sizing.method: sizing.chosen, "maximal": sizing.maximal}
    if sizing.own is not None:
        columns["mapping"] = sizing.own
    table = NamesTable()
    table.add_column("FIFO", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for b, name in enumerate(sized.names):
        table.add_row(name, *(f"{column.capacities[b]:,}" for column in columns.values()))
    table.add_section()
    table.add_row("memory", *(f"{column.memory_bytes:,} B" for column in columns.values()))
    table.add_row("makespan", *(_makespan(column, sizing) for column in columns.values()))
    return table


def _makespan(one: Sizing, sizing: BufferSizing) -> str:
    return "deadlock" if one.deadlock else time_text(one.makespan, sizing.tick_unit)


def _curve_table(sized: SizedBuffers) -> Table:
    table = NamesTable()
    curve, quickest = sized.sizing.curve, sized.sizing.quickest_known
    known, whole = "maximal sizes" if quickest is sized.sizing.maximal else "the mapping", quickest.makespan
    for name in ("memory", "makespan", f"to {known}"):
        table.add_column(name, justify="right", no_wrap=True)
    step = max(1, -(-len(curve) // CURVE_SHOWN))
    for one in (*curve[:-1:step], *curve[-1:]):
        gap = "" if whole == 0 else f"{100 * (one.makespan / whole - 1):+.1f} %"
        table.add_row(f"{one.memory_bytes:,} B", time_text(one.makespan, sized.sizing.tick_unit), gap)
    return table
