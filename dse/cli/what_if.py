"""``dse what-if``: what a mapping would gain if an action, an actor, a FIFO or a link were better."""

import argparse

from dse.base.escaping import shown
from dse.cli.problem_arguments import compiling_notice, print_warnings, problem_options, tell_execution
from dse.cli.streams import print_json, say
from dse.flows.options import EstimateOptions, parse_partitions
from dse.flows.trace import execution_of
from dse.flows.what_if import Asked, WhatIfOptions, ask_what_if
from dse.formats.mapping_text import MappingTexts, mapping_text
from dse.report.quantities import time_text, wrapped
from dse.report.ranking import render
from dse.report.what_if import (
    Names,
    curve_table,
    searched_json,
    searched_table,
    searched_words,
    what_if_json,
    what_if_lines,
    what_if_tables,
    whole,
)


def run(args: argparse.Namespace) -> int:
    """Simulate the changes and print what they save."""
    options = WhatIfOptions(
        estimate=EstimateOptions(
            problem=problem_options(args),
            mappings=() if args.mapping is None else (args.mapping,),
            buffers=args.buffers,
            samples=args.samples,
        ),
        curves=tuple(args.curve),
        workers=args.workers,
        search=args.search,
        partitions=None if args.partitions is None else parse_partitions(args.partitions),
        seed=args.seed,
    )
    asked = ask_what_if(options, compiling_notice(quiet=args.quiet))
    if not args.quiet:
        tell_execution(asked.estimated.setting.trace)
        print_warnings(asked.estimated.warnings)
    if args.json:
        print_json(as_document(asked))
    else:
        _print(asked, args.quiet)
    return 0


def _names(asked: Asked) -> Names:
    setting = asked.estimated.setting
    return Names(topology=setting.trace.topology, platform=setting.platform, capacities=asked.mapping.point.capacities)


def _texts(asked: Asked) -> MappingTexts:
    setting = asked.estimated.setting
    capacities = asked.mapping.point.capacities
    return MappingTexts(topology=setting.trace.topology, platform=setting.platform, capacities=capacities)


def as_document(asked: Asked) -> dict[str, object]:
    """Return the JSON document."""
    setting = asked.estimated.setting
    return {
        "network": setting.trace.topology.name,
        "mapping": mapping_text(asked.mapping.point, setting.trace.topology, setting.platform),
        **what_if_json(asked.found, _names(asked)),
        **({} if asked.searched is None else {"searched": searched_json(asked.searched, _names(asked), _texts(asked))}),
        "assumed": list(asked.estimated.assumed),
        "execution": execution_of(setting.trace),
    }


def _print(asked: Asked, quiet: bool) -> None:
    """Print the tables, then the sentences, then the curves."""
    found, names, setting = asked.found, _names(asked), asked.estimated.setting
    if not quiet:
        if asked.estimated.assumed:
            say(f"assumed: {'; '.join(asked.estimated.assumed)}")
        mapping = mapping_text(asked.mapping.point, setting.trace.topology, setting.platform)
        print(wrapped(shown(f"mapping: {mapping}")))
        makespan = time_text(whole(found.makespan), found.unit)
        print(f"makespan: {makespan}; simulated again {found.simulations:,} times\n")
    for table in what_if_tables(found, names):
        print(render(table) + "\n")
    for line in what_if_lines(found, names):
        print(wrapped(shown(line)))
    if asked.searched is not None:
        again = asked.searched
        print("\n" + render(searched_table(again, names, _texts(asked))))
        print(wrapped(searched_words(again)))
    for curve in found.curves:
        print("\n" + render(curve_table(curve, found)))
