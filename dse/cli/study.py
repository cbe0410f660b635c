"""``dse study``: run a study file; show, compare and export the results of searches."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dse.base.errors import OptionError
from dse.cli.explore import search
from dse.cli.streams import print_json, say, terminal_width
from dse.cli.timing import note_stage
from dse.flows.studies import (
    SHOWN,
    Difference,
    Results,
    SharedRank,
    differences,
    evaluation_columns,
    read_results,
    results_json,
    shared_ranks,
)
from dse.flows.study_options import read_study_options
from dse.formats.mapping_text import CompleteTexts
from dse.formats.tables import csv_text, write_table
from dse.model.study import Evaluation
from dse.model.trace import Topology
from dse.report.mapping_table import MappingRow, console_for, mapping_table
from dse.report.quantities import time_text, wrapped
from dse.report.ranking import render
from dse.report.tables import NamesTable


def run(args: argparse.Namespace) -> int:
    """Do what is asked for."""
    _check(args)
    match args.action:
        case "run":
            return _run(args)
        case "show":
            return _show(_read(args.places[0]), json=args.json, quiet=args.quiet)
        case "compare":
            return _compare([_read(place) for place in args.places], json=args.json)
        case _:
            return _export(_read(args.places[0]), args.output)


def _read(place: str) -> Results:
    """Return the results at a place; as ``read_results``."""
    note_stage(f"reading {place}")
    found = read_results(place)
    note_stage("printing")
    return found


def _check(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` for what does not fit the action."""
    action, given = args.action, len(args.places)
    if action == "compare" and given < 2:
        raise OptionError(
            "there is nothing to compare one folder with", expected="name two folders of results, or more"
        )
    if action != "compare" and given > 1:
        raise OptionError(f"'{action}' takes one place, not {given}", expected="'compare' takes several")
    if args.output is not None and action != "export":
        raise OptionError(f"'{action}' does not write to a file", expected="leave out -o, or use 'export'")
    if args.json and action == "export":
        raise OptionError("'export' writes CSV or Parquet, no JSON", expected="leave out --json, or use 'show'")
    if action != "run":
        _refuse_options_of_run(args)


def _refuse_options_of_run(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` where a search is configured and there is none."""
    for_run = {"--out": args.out, "--resume": args.resume, "--cluster": args.cluster, "--trust": args.trust}
    wrong = next((option for option, value in for_run.items() if value), None)
    if wrong is not None:
        raise OptionError(f"'{args.action}' does not search: {wrong} means nothing", expected=f"leave out {wrong}")


def _run(args: argparse.Namespace) -> int:
    """Search as a study file says."""
    place = Path(args.places[0])
    if place.is_dir():
        raise OptionError(f"'{place}' is a folder, not a study file", expected="name the study.yaml in it")
    options = replace(
        read_study_options(str(place), trust=args.trust),
        out=Path(args.out) if args.out is not None else None,
        resume=args.resume,
        workers=args.workers,
        cluster=args.cluster,
    )
    return search(options, quiet=args.quiet, json=args.json)


def _show(results: Results, *, json: bool, quiet: bool) -> int:
    if json:
        print_json(results_json(results))
        return 0
    rows = [
        MappingRow(cells=(str(rank), _time(e), _to_first(results.best, e)), point=e.point)
        for rank, e in enumerate(results.ranking[:SHOWN], start=1)
    ]
    _print_table(("#", "makespan", "to best"), rows, results.topology)
    if not quiet:
        print()
        for line in (_counts(results), *_bound(results), *_assumed(results), *_made(results)):
            say(wrapped(line))
    return 0


def _time(evaluation: Evaluation) -> str:
    return time_text(evaluation.makespan, evaluation.tick_unit)


def _counts(results: Results) -> str:
    """Return in words how much was evaluated, and how it ended."""
    stored = results.stored.evaluations
    parts = [f"{len(stored):,} mappings estimated"]
    cut, dead = sum(e.cut for e in stored), sum(e.deadlock for e in stored)
    parts += [f"{cut:,} of them stopped early"] if cut else []
    parts += [f"{dead:,} deadlock"] if dead else []
    if results.ranked is None:
        parts.append("no ranking was written: the search was interrupted, `dse explore` continues it with --resume")
    else:
        ends = {"complete": "the search is complete", "interrupted": "the search was interrupted"}
        parts.append(ends.get(results.ranked.stop, f"the budget of {results.ranked.stop} ended the search"))
    return ", ".join(parts)


def _bound(results: Results) -> list[str]:
    found, best = results.ranked, results.best
    if found is None or best is None:
        return []
    return [f"lower bound: {time_text(found.lower_bound, best.tick_unit)}, {found.lower_bound_reason}"]


def _assumed(results: Results) -> list[str]:
    found = results.ranked
    return [] if found is None or not found.assumed else [f"assumed: {'; '.join(found.assumed)}"]


def _made(results: Results) -> list[str]:
    """Return what the study says of where it came from, without digests of the sources."""
    shown = ("program", "tool", "weights", "platform", "firings", "method", "seed", "budget", "policies", "clocks")
    manifest = results.stored.manifest
    return [f"{key}: {manifest[key]}" for key in shown if key in manifest]


def _compare(several: list[Results], *, json: bool) -> int:
    first = several[0]
    ranks = shared_ranks(several)
    changes = [differences(first, other) for other in several[1:]]
    if json:
        print_json(_comparison_json(several, changes, ranks))
        return 0
    print(render(_summaries(several)))
    for other, of in zip(several[1:], changes, strict=True):
        print()
        say(f"{other.folder} differs from {first.folder} in {'nothing that is known' if not of else 'this:'}")
        for key, before, after in of:
            say(wrapped(f"  {key}: {before or 'absent'} -> {after or 'absent'}"))
    print()
    say(f"the best mappings of {first.folder}, and their ranks in all:")
    heads = [f"#{number}" for number in range(1, len(several) + 1)]
    rows = [MappingRow(cells=_ranks(row), point=row.evaluation.point) for row in ranks]
    _print_table(heads, rows, several[0].topology)
    return 0


def _ranks(row: SharedRank) -> tuple[str, ...]:
    return tuple("-" if rank is None else str(rank) for rank in row.ranks)


def _print_table(heads: Sequence[str], rows: Sequence[MappingRow], topology: Topology) -> None:
    """Print a table of mappings, complete ones: the results do not tell what the platform was."""
    width = terminal_width()
    table, note = mapping_table(heads, rows, CompleteTexts(topology=topology), width=width, whole="--json")
    print(render(table, console=console_for(table, width)))
    if note:
        print(wrapped(note, width))


def _comparison_json(
    several: Sequence[Results], changes: Sequence[Sequence[Difference]], ranks: Sequence[SharedRank]
) -> dict[str, object]:
    found = [
        {"folder": other.folder, "differences": [{"key": k, "first": a, "this": b} for k, a, b in of]}
        for other, of in zip(several[1:], changes, strict=True)
    ]
    documents = [results_json(results) for results in several]
    return {"results": documents, "differences": found, "ranks": [list(row.ranks) for row in ranks]}


def _summaries(several: list[Results]) -> NamesTable:
    table = NamesTable()
    table.add_column("#", justify="right")
    for head in ("best", "to the first", "mappings", "bound"):
        table.add_column(head, justify="right", no_wrap=True)
    for head in ("method", "seed", "folder"):
        table.add_column(head, overflow="fold")
    for number, results in enumerate(several, start=1):
        best, found, manifest = results.best, results.ranked, results.stored.manifest
        table.add_row(
            str(number),
            "none" if best is None else _time(best),
            _to_first(several[0].best, best),
            f"{len(results.stored.evaluations):,}",
            "" if found is None or best is None else time_text(found.lower_bound, best.tick_unit),
            manifest.get("method", "") if found is None else found.method,
            manifest.get("seed", ""),
            results.folder,
        )
    return table


def _to_first(first: Evaluation | None, best: Evaluation | None) -> str:
    """Return how much longer a mapping takes than another one, where both have one unit of time."""
    if first is None or best is None or not first.makespan or first.tick_unit != best.tick_unit:
        return ""
    return f"{100 * (best.makespan / first.makespan - 1):+.1f} %"


def _export(results: Results, output: str | None) -> int:
    columns = evaluation_columns(results)
    if output is None:
        sys.stdout.write(csv_text(columns))
    else:
        write_table(output, columns)
        say(f"{len(results.stored.evaluations):,} evaluations written to {output}")
    return 0
