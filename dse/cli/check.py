"""``dse check``: parse, elaborate and type-check a network, an actor, or a whole tree of files."""

import argparse
import sys
from collections.abc import Iterable

from dse.base.diagnostics import render_all
from dse.base.errors import Diagnostic
from dse.base.escaping import cells, shown
from dse.base.source import NO_SPAN
from dse.cli.native_arguments import native_binding
from dse.cli.streams import print_json, progress_line, say
from dse.cli.timing import note_stage
from dse.flows.check import check_file, check_tree
from dse.flows.check_report import CheckOptions, CheckReport, FileCheck
from dse.flows.gpu_actors import GpuAction, GpuActor, gpu_actors
from dse.flows.print_ir import actor_text
from dse.passes.analyses.loop_sharing import LoopSharing


def run(args: argparse.Namespace) -> int:
    """Check, print what was found, return 1 if there is an error."""
    _refuse_mixtures(args)
    options = _options(args)
    note_stage("reading and checking")
    if args.folder is not None:
        report = _check_tree(args, options)
        show = _print_tree
    else:
        report = check_file(args.file, options)
        show = _print_file
    note_stage("printing")
    if args.print_ir is not None:
        _print_ir(args, report, options)
    elif args.gpu:
        _print_gpu(args, report, options)
    elif args.json:
        print_json(as_document(report))
    else:
        show(report, args.quiet)
    return 1 if report.errors else 0


def _refuse_mixtures(args: argparse.Namespace) -> None:
    """End the program where options do not go together."""
    if (args.file is None) == (args.folder is None):
        args.parser_error("give one file, or --all DIR")
    if args.print_ir is not None and args.folder is not None:
        args.parser_error("--print-ir takes an actor of one file, not of --all DIR")
    if args.explicit and args.print_ir is None:
        args.parser_error("--explicit goes with --print-ir ACTOR")
    if args.gpu and (args.folder is not None or args.print_ir is not None):
        args.parser_error("--gpu takes one network, and goes neither with --all DIR nor with --print-ir ACTOR")


def _options(args: argparse.Namespace) -> CheckOptions:
    return CheckOptions(
        source_paths=tuple(args.source_path),
        strict=args.strict,
        partial=args.partial,
        natives=tuple(native_binding(text)[0] for text in args.native),
    )


def _check_tree(args: argparse.Namespace, options: CheckOptions) -> CheckReport:
    """Check a tree, with a line that tells how far it is where somebody may read it."""
    progress = None if args.quiet or args.json or not sys.stderr.isatty() else _show_progress
    report = check_tree(args.folder, options, progress=progress)
    if progress is not None:
        progress_line("")
    return report


def _print_ir(args: argparse.Namespace, report: CheckReport, options: CheckOptions) -> None:
    """Print the text of an actor in place of the line that sums up; only what was found if there is an error."""
    text = None if report.errors else actor_text(args.file, args.print_ir, options, explicit=args.explicit)
    if args.json:
        print_json(as_document(report) | {"ir": text})
    elif text is None:
        _print_file(report, args.quiet)
    else:
        _print_diagnostics(() if args.quiet else report.diagnostics)
        print(text, end="")


def _print_gpu(args: argparse.Namespace, report: CheckReport, options: CheckOptions) -> None:
    """Print a line for each actor in place of the line that sums up; only what was found if there is an error."""
    actors = () if report.errors else gpu_actors(args.file, options)
    if args.json:
        print_json(as_document(report) | {"gpu": [_gpu_row(actor) for actor in actors]})
    elif report.errors:
        _print_file(report, args.quiet)
    else:
        _print_diagnostics(() if args.quiet else report.diagnostics)
        width = max((cells(shown(actor.name)) for actor in actors), default=0)
        for actor in actors:
            said = "yes" if actor.able else f"no: {_because(actor)}"
            say(f"{_padded(actor.name, width)}  {said}")
            _print_actions(actor)


def _print_actions(actor: GpuActor) -> None:
    """Print below an actor how its actions fire."""
    width = max((cells(shown(action.name)) for action in actor.actions), default=0)
    for action in actor.actions:
        said = "SIMD" if action.simd else f"one by one: {_because(action)}"
        say(f"    {_padded(action.name, width)}  {said}")
        _print_loops(action.loops)
    for routine in actor.routines:
        say(f"    {shown(routine.name)}()")
        _print_loops(routine.loops)


def _print_loops(loops: Iterable[LoopSharing]) -> None:
    """Print what is done with loops, and with lists that are written as expressions."""
    for loop in loops:
        shared = "shared out" if loop.able else f"by one thread: {_because(loop)}"
        say(f"        {_kind(loop)} {shown(loop.names)} ({loop.place.line})  {shared}")


def _kind(loop: LoopSharing) -> str:
    return "loop" if loop.generator is None else "list"


def _padded(name: str, width: int) -> str:
    return shown(name) + " " * (width - cells(shown(name)))


def _because(found: GpuActor | GpuAction | LoopSharing) -> str:
    """Return a reason with its place."""
    return f"{found.reason} ({found.span.path}:{found.span.line})" if found.span is not NO_SPAN else found.reason


def _gpu_row(actor: GpuActor) -> dict[str, object]:
    place = actor.span if actor.reason else None
    return {
        "actor": actor.name,
        "class": actor.class_name,
        "able": actor.able,
        "reason": actor.reason or None,
        "file": None if place is None else place.path,
        "line": None if place is None else place.line,
        "actions": [_action_row(action) for action in actor.actions],
        "routines": [{"routine": one.name, "loops": [_loop_row(loop) for loop in one.loops]} for one in actor.routines],
    }


def _action_row(action: GpuAction) -> dict[str, object]:
    return {
        "action": action.name,
        "simd": action.simd,
        "reason": action.reason or None,
        "file": None if action.simd else action.span.path,
        "line": None if action.simd else action.span.line,
        "loops": [_loop_row(loop) for loop in action.loops],
    }


def _loop_row(loop: LoopSharing) -> dict[str, object]:
    return {
        "loop": loop.names,
        "kind": _kind(loop),
        "at": loop.place.line,
        "shared": loop.able,
        "reason": loop.reason or None,
        "file": None if loop.able else loop.span.path,
        "line": None if loop.able else loop.span.line,
    }


def as_document(report: CheckReport) -> dict[str, object]:
    """Return the JSON document: ``files``, ``networks``, ``errors[]``, ``warnings[]``, ``tops[]``."""
    return {
        "files": len(report.checks),
        "networks": sum(top.ok for top in report.tops),
        "errors": _places(report.errors),
        "warnings": _places(report.warnings),
        "tops": [
            {
                "file": top.path,
                "ok": top.ok,
                "reason": reason(top),
                "actors": top.actors,
                "classes": top.classes,
                "connections": top.connections,
            }
            for top in report.tops
        ],
    }


def reason(check: FileCheck) -> str | None:
    """Return the first error of a file in one line, or None when it is correct."""
    if check.ok:
        return None
    first = check.errors[0]
    more = f" (and {len(check.errors) - 1} more)" if len(check.errors) > 1 else ""
    return f"{first.span.path}:{first.span.line}: {first.message}{more}"


def _places(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """Return diagnostics with their places; a finding without a place has an empty file and line 0."""
    return [
        {
            "file": "" if d.span is NO_SPAN else d.span.path,
            "line": d.span.line,
            "column": d.span.column,
            "message": d.message,
            "expected": d.expected,
        }
        for d in diagnostics
    ]


def _print_file(report: CheckReport, quiet: bool) -> None:
    """Print all findings with their source lines, then one line that sums up."""
    _print_diagnostics(report.errors if quiet else report.diagnostics)
    check = report.checks[0]
    found = _count(len(report.errors), "error") + ", " + _count(len(report.warnings), "warning")
    if not check.ok:
        say(f"{check.path}: {found}")
    elif check.kind in ("top", "network"):
        size = f"{_count(check.actors, 'actor')} ({check.classes} distinct), {_count(check.connections, 'connection')}"
        say(f"{check.path}: ok, {size}, {_count(len(report.warnings), 'warning')}")
    else:
        say(f"{check.path}: ok, {_count(len(report.warnings), 'warning')}")


def _print_tree(report: CheckReport, quiet: bool) -> None:
    """Print the errors with their source lines, one line for each top network, then one line that sums up.

    Warnings are counted only: a tree has thousands of unconnected ports.
    """
    _print_diagnostics(report.errors)
    for top in () if quiet else report.tops:
        if top.ok:
            say(f"ok    {top.path}: {_count(top.actors, 'actor')}, {_count(top.connections, 'connection')}")
        else:
            say(f"error {top.path}: {reason(top)}")
    elaborated = sum(top.ok for top in report.tops)
    files = _count(len(report.checks), "file")
    found = f"{_count(len(report.errors), 'error')}, {_count(len(report.warnings), 'warning')}"
    print(f"{files}, {elaborated} of {_count(len(report.tops), 'top network')} elaborated, {found}")


def _print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    for text in render_all(diagnostics):
        print(text, file=sys.stderr)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _show_progress(done: int, total: int, path: str) -> None:
    """Rewrite one line of the terminal."""
    progress_line(f"{done}/{total} {path[-60:]}")
