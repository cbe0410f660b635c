"""``dse why``: the critical path of a mapping, or of a program, and what it is made of."""

import argparse
from dataclasses import asdict

from dse.base.errors import OptionError
from dse.cli.problem_arguments import compiling_notice, print_warnings, problem_options, tell_execution
from dse.cli.streams import print_json, say
from dse.cli.timeline import tell_timeline
from dse.flows.options import EstimateOptions, parse_clocks
from dse.flows.timelines import write_estimated
from dse.flows.why import Why, WhyMapping, WhyOptions, WhyProgram, explain
from dse.model.critical_path import SegmentKind
from dse.report.algorithmic import program_text
from dse.report.bottleneck_text import path_text
from dse.report.timeline.write import require_timeline

DEADLOCK = 3


def run(args: argparse.Namespace) -> int:
    """Explain and print."""
    _check(args)
    estimate = EstimateOptions(
        problem=problem_options(args),
        mappings=(args.mapping,) if args.mapping is not None else (),
        buffers=args.buffers,
        clocks=tuple(parse_clocks(text) for text in args.clocks),
        release=args.release,
        transfers=args.transfers,
        samples=args.samples,
    )
    why = explain(WhyOptions(estimate=estimate, slack=args.slack, path=args.path), compiling_notice(quiet=args.quiet))
    if not args.quiet:
        tell_execution(why.setting.trace)
        print_warnings(why.warnings)
    if args.json:
        print_json(_document(why))
    else:
        _print(why, args.top, args.quiet)
    if args.timeline is not None:
        _write_timeline(args.timeline, why, args.quiet)
    return DEADLOCK if why.mapping is not None and why.mapping.deadlock else 0


def _check(args: argparse.Namespace) -> None:
    """Raise ``OptionError`` where options make no sense, before anything is read."""
    require_timeline(args.timeline)
    if args.timeline is not None and args.mapping is None:
        raise OptionError("a timeline is that of a mapping", expected="name one with --mapping")
    if args.top < 1:
        raise OptionError(f"--top is {args.top}", expected="at least 1 row")


def _write_timeline(path: str, why: Why, quiet: bool) -> None:
    assert why.mapping is not None, "a timeline is only asked for beside a mapping"
    write_estimated(path, why.setting.problem, [(why.mapping.mapping, why.mapping.point)])
    tell_timeline(path, quiet=quiet)


def _print(why: Why, top: int, quiet: bool) -> None:
    if not quiet and why.assumed:
        say(f"assumed: {'; '.join(why.assumed)}")
    if why.mapping is not None:
        if why.mapping.deadlock:
            say(f"{why.mapping.mapping}: deadlock", error=True)
            for line in why.mapping.deadlock:
                say(f"  {line}", error=True)
        print(path_text(why.mapping.bottlenecks, top))
    if why.program is not None:
        print(program_text(why.program.summary, why.program.record, top))
    for path in why.written if not quiet else ():
        say(f"wrote {path}")


def _document(why: Why) -> dict[str, object]:
    """Return the JSON object; times are ticks of ``unit``."""
    of = _mapping_document(why.mapping) if why.mapping is not None else {}
    program = _program_document(why.program) if why.program is not None else {}
    return {**of, **program, "assumed": list(why.assumed), "written": list(why.written)}


def _mapping_document(mapping: WhyMapping) -> dict[str, object]:
    found = mapping.bottlenecks
    kinds = [kind.name.lower() for kind in SegmentKind]

    return {
        "mapping": mapping.mapping,
        "critical_path": found.makespan,
        "unit": found.tick_unit,
        "deadlock": found.deadlock,
        "segments": found.segments,
        "kinds": dict(zip(kinds, found.kinds, strict=True)),
        "causes": [
            {"cause": share.cause.name.lower(), "times": share.times, "waited": share.waited} for share in found.causes
        ],
        **{
            name: [
                {
                    "name": share.name,
                    "partition": share.partition,
                    "firings": share.firings,
                    "ticks": share.total,
                    **dict(zip(kinds, share.ticks, strict=True)),
                }
                for share in shares
            ]
            for name, shares in (("actions", found.actions), ("actors", found.actors))
        },
        "fifos": [{**asdict(fifo), "cost": fifo.cost} for fifo in found.fifos],
        "links": [asdict(link) for link in found.links],
        "slack": [asdict(of) for of in found.slack],
        "slack_at_least": found.slack_at_least,
    }


def _program_document(program: WhyProgram) -> dict[str, object]:
    found = program.summary
    return {
        "mapping": None,
        "critical_path": found.length,
        "unit": found.tick_unit,
        "lower_bound_only": not found.accesses,
        "record_with": program.record or None,
        "work": found.work,
        "in_order": found.in_order,
        "unit_kind": found.unit_kind,
        "firings": found.firings,
        "actions": [asdict(action) for action in found.actions],
        "dependencies": [asdict(dependency) for dependency in found.dependencies],
    }
