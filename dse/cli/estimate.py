"""``dse estimate``: the makespan of given mappings and where the time goes."""

import argparse
import os
from collections.abc import Sequence

from rich.table import Table

from dse.base.errors import OptionError
from dse.cli.problem_arguments import (
    compiling_notice,
    print_warnings,
    problem_options,
    scaling_files,
    tell_execution,
)
from dse.cli.streams import print_json, say, terminal_width
from dse.cli.timeline import tell_timeline
from dse.flows.estimate import Estimated, MappingEstimate, estimate_columns, estimate_mappings
from dse.flows.mappings import looks_like_mapping
from dse.flows.options import EstimateOptions, parse_clocks
from dse.flows.robust import RobustOptions, rank_estimated, robust_options
from dse.flows.timelines import write_estimated
from dse.flows.trace import execution_of
from dse.formats.mapping_text import MappingTexts
from dse.formats.study_file import clock_json
from dse.formats.tables import write_table
from dse.model.estimate import Deadlock, DeadlockRow
from dse.model.trace import Topology
from dse.model.uncertainty import Robust
from dse.report.accounts import accounts_json, accounts_text
from dse.report.mapping_cells import lines_of
from dse.report.mapping_table import MappingRow, console_for, mapping_table
from dse.report.quantities import percent_text, time_text, wrapped
from dse.report.ranking import render
from dse.report.robust import named_robust_table, robust_json, robust_lines, robust_row_json
from dse.report.timeline.write import require_timeline
from dse.report.why import CORE_CATEGORIES, reason_lines

DEADLOCK = 3
_HEADS = ("makespan", "busiest", "sched", "read", "compute", "write", "link", "free")


def run(args: argparse.Namespace) -> int:
    """Estimate and print one row a mapping."""
    require_timeline(args.timeline)
    options = EstimateOptions(
        problem=problem_options(args),
        mappings=tuple(args.mapping),
        buffers=args.buffers,
        clocks=tuple(parse_clocks(text) for text in args.clocks),
        scaling=scaling_files(args),
        release=args.release,
        transfers=args.transfers,
        samples=args.samples,
    )
    asked = _robust_options(args)
    estimated = estimate_mappings(options, compiling_notice(quiet=args.quiet))
    ranked = None if asked is None else rank_estimated(estimated, options.problem.weights, asked, args.engine)
    if not args.quiet:
        tell_execution(estimated.setting.trace)
        print_warnings(estimated.warnings)
    if args.json:
        print_json([{**as_document(m, estimated), **_ranked_document(m, ranked)} for m in estimated.mappings])
    else:
        _print(estimated, args.quiet)
        _print_ranked(ranked)
        if args.accounts:
            _print_accounts(estimated)
    _write(args, estimated)
    return DEADLOCK if estimated.all_deadlock else 0


def _write(args: argparse.Namespace, estimated: Estimated) -> None:
    """Write the files that are asked for."""
    if args.output is not None:
        write_table(args.output, estimate_columns(estimated))
        if not args.quiet:
            say(f"{len(estimated.mappings):,} mappings written to {args.output}", error=args.json)
    if args.timeline is not None:
        points = [(mapping.mapping, mapping.point) for mapping in estimated.mappings]
        write_estimated(args.timeline, estimated.setting.problem, points)
        tell_timeline(args.timeline, quiet=args.quiet)


_Ranked = tuple[tuple[MappingEstimate, ...], Robust]
"""The mappings that complete, and their ranking under drawn weights."""


def _robust_options(args: argparse.Namespace) -> RobustOptions | None:
    """Return how mappings are to be ranked under drawn weights, None: not at all. Raises ``OptionError``."""
    if args.robust is None:
        if args.error or args.draws is not None:
            raise OptionError("errors and draws are for a ranking under uncertain weights", expected="add --robust")
        if args.seed is not None:
            raise OptionError("--seed is that of draws, and nothing is drawn", expected="add --robust")
        return None
    seed = 1 if args.seed is None else args.seed
    return robust_options(args.robust, args.error, args.draws, seed, os.cpu_count() or 1)


def _ranked_document(mapping: MappingEstimate, ranked: _Ranked | None) -> dict[str, object]:
    """Return what draws say of a mapping, as a part of its document."""
    alive, robust = ranked or ((), None)
    place = next((p for p, m in enumerate(alive) if m is mapping), None)
    if robust is None or place is None:
        return {}
    place, row = next((p, r) for p, r in enumerate(robust.rows) if r.index == place)
    return {"robust": {**robust_json(robust), "rank": place + 1, **robust_row_json(row)}}


def _print_ranked(ranked: _Ranked | None) -> None:
    """Print the ranking under drawn weights, where there is one."""
    if ranked is None:
        return
    alive, robust = ranked
    print("\n" + render(named_robust_table([m.mapping for m in alive], robust)))
    for line in robust_lines(robust):
        print(wrapped(line))


def _wait(row: DeadlockRow, topology: Topology) -> dict[str, object]:
    """Return the JSON object of what one actor of a deadlock waits for."""
    return {
        "actor": topology.actors[row.actor].name,
        "action": topology.actors[row.actor].actions[row.action].name,
        "fifo": topology.buffer_name(row.buffer),
        "for": row.kind,
        "have": row.have,
        "need": row.need,
    }


def _remedy(deadlock: Deadlock, capacities: Sequence[int], topology: Topology) -> dict[str, int] | None:
    """Return the sizes that end a deadlock, of the FIFOs whose size they change; None where none do."""
    if deadlock.remedy is None:
        return None
    changed = enumerate(zip(deadlock.remedy, capacities, strict=True))
    return {topology.buffer_name(b): tokens for b, (tokens, before) in changed if tokens != before}


def as_document(mapping: MappingEstimate, estimated: Estimated) -> dict[str, object]:
    """Return the JSON object of one mapping; times are ticks of ``unit``."""
    estimate, topology = mapping.estimate, estimated.setting.trace.topology
    dead = estimate.deadlock
    return {
        "mapping": mapping.mapping,
        "makespan": None if dead else estimate.makespan,
        "unit": estimate.tick_unit,
        "deadlock": dead is not None,
        "bottleneck": None if mapping.reasons.busiest is None else mapping.reasons.busiest.partition,
        "partitions": [
            {
                "name": p.name,
                "unit": point.unit,
                **clock_json(point),
                "cores": p.cores,
                "actors": [topology.actors[a].name for a in point.actors],
                **dict(zip(CORE_CATEGORIES, p.ticks, strict=True)),
            }
            for p, point in zip(mapping.reasons.partitions, mapping.point.partitions, strict=True)
        ],
        **accounts_json(mapping.accounts),
        "waits": [] if dead is None else [_wait(row, topology) for row in dead.rows],
        "remedy_tokens": None if dead is None else _remedy(dead, mapping.point.capacities, topology),
        "assumed": list(estimated.assumed),
        "execution": execution_of(estimated.setting.trace),
    }


def _print(estimated: Estimated, quiet: bool) -> None:
    """Print the table, then deadlocks in words, then what one mapping suffers from."""
    if not quiet and estimated.assumed:
        say(f"assumed: {'; '.join(estimated.assumed)}")
    width = terminal_width()
    table, note = _table(estimated, width)
    print(render(table, console=console_for(table, width)))
    if note:
        print(wrapped(note, width))
    for mapping in estimated.mappings:
        if mapping.deadlock:
            say(f"{mapping.mapping}: deadlock", error=True)
            for line in mapping.deadlock:
                say(f"  {line}", error=True)
    if len(estimated.mappings) == 1 and not quiet and not estimated.all_deadlock:
        only = estimated.mappings[0]
        print("\nmapping: " + "\n".join(lines_of(_texts(estimated).of(only.point), width)))
        print("\n".join(map(wrapped, reason_lines(only.reasons, only.estimate))))


def _print_accounts(estimated: Estimated) -> None:
    """Print the times of actors and FIFOs of each mapping."""
    for mapping in estimated.mappings:
        print()
        if len(estimated.mappings) > 1:
            say(f"{mapping.mapping}{' until its deadlock' if mapping.deadlock else ''}:")
        print(accounts_text(mapping.accounts))


def _texts(estimated: Estimated) -> MappingTexts:
    return MappingTexts(topology=estimated.setting.trace.topology, platform=estimated.setting.platform)


def _table(estimated: Estimated, width: int) -> tuple[Table, str]:
    """Return a line for each mapping, and what is to be said below."""
    rows = [_row(mapping) for mapping in estimated.mappings]
    return mapping_table(_HEADS, rows, _texts(estimated), width=width, whole="--json", keep=2)


def _row(mapping: MappingEstimate) -> MappingRow:
    busiest, estimate = mapping.reasons.busiest, mapping.estimate
    totals = [sum(p.ticks[c] for p in mapping.reasons.partitions) for c in range(len(CORE_CATEGORIES))]
    return MappingRow(
        cells=(
            "deadlock" if mapping.deadlock else time_text(estimate.makespan, estimate.tick_unit),
            "" if busiest is None else f"{busiest.partition} {percent_text(busiest.busy, busiest.core_time)}",
            *(_whole_percent(ticks, sum(totals)) for ticks in totals),
        ),
        point=mapping.point,
        name=mapping.mapping,
        textual=looks_like_mapping(mapping.mapping),
    )


def _whole_percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole) if whole else 0} %"
