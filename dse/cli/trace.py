"""``dse trace``: record the trace of a run; inspect, import and export traces."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from dse.base.diagnostics import render
from dse.base.errors import OptionError
from dse.cli.problem_arguments import graph_options
from dse.cli.progress import run_line
from dse.cli.run_arguments import run_options
from dse.cli.streams import print_json, say
from dse.cli.timing import note_stage
from dse.flows.execution import RunListeners
from dse.flows.graphs import refuse_graph_options
from dse.flows.program import UNNAMED_OUTPUT, told_firings
from dse.flows.trace import (
    Exported,
    Recorded,
    execution_of,
    export,
    import_any,
    is_graph_file,
    left_out,
    open_recorded,
    record,
    write_graph_weights,
)
from dse.formats.trace_store import is_trace_store, write_trace
from dse.model.trace import Trace

_MOST_ACTIONS_SHOWN = 40


def run(args: argparse.Namespace) -> int:
    """Get a trace, write it where asked, say what is in it; return 0, or how its run ended."""
    _check(args)
    recorded = _source(args)
    note_stage("writing the trace")
    size = write_trace(recorded.trace, args.output) if args.output else None
    exported = None
    if args.export:
        net, steps_only = (args.net if not args.import_ else None), args.no_dependencies
        times = tuple(args.weights)
        exported = export(recorded, args.export, net, with_dependencies=not steps_only, weights=times)
    if args.write_weights:
        write_graph_weights(recorded, args.write_weights, args.profile)
    note_stage("printing")
    if args.json:
        print_json(as_document(recorded.trace, size or _stored_size(args, recorded.trace), exported))
    else:
        _print(recorded, args, size, exported)
    if not args.quiet:
        for warning in recorded.warnings:
            print(render(warning), file=sys.stderr)
    return recorded.exit_code


def _check_folder(path: str | None, option: str) -> None:
    """Raise ``OptionError`` where the folder of a file that will be written is missing."""
    folder = Path(path).parent if path else Path()
    if not folder.is_dir():
        raise OptionError(f"there is no folder '{folder}'", expected=f"make it, or choose another file with {option}")


def _check(args: argparse.Namespace) -> None:
    """Refuse combinations that mean nothing."""
    sources = [option for option in (args.program, args.info, args.import_) if option]
    if len(sources) != 1:
        problem = "no trace is named" if not sources else "more than one trace is named"
        expected = "give a network or a trace, or one of --info T and --import F.trace"
        raise OptionError(problem, expected=expected)
    _check_pairs(args)
    _check_folder(args.output, "-o")
    _check_folder(args.export, "--export")
    if args.output and Path(args.output).suffix.lower() == ".tracez":
        expected = f"--export {args.output} writes a trace of TURNUS"
        raise OptionError("-o writes the project's own format, which is not compressed", expected=expected)


def _check_pairs(args: argparse.Namespace) -> None:
    """Refuse options that have no effect without another one."""
    if args.profile and not args.write_weights:
        raise OptionError("--profile has no effect alone", expected="say where its weights go: --write-weights DIR")
    if args.net and not (args.import_ or args.export):
        raise OptionError("--net has no effect alone", expected="--net goes with --import or --export")


def _source(args: argparse.Namespace) -> Recorded:
    """Return the trace that the arguments name: recorded now, imported, or read."""
    if args.import_:
        note_stage("importing the trace")
        return import_any(args.import_, args.net, graph_options(args))
    if args.info:
        note_stage("reading the trace")
        return open_recorded(args.info, graph=graph_options(args))
    if is_trace_store(args.program) or is_graph_file(args.program):
        if args.input:
            raise OptionError("a trace takes no input: it is the record of a run", expected="leave out -i")
        return open_recorded(args.program, graph=graph_options(args))
    refuse_graph_options(graph_options(args))
    if not (args.output or args.export):
        raise OptionError("the trace would be lost", expected="say where to write it: -o T, or --export F.trace")
    options = replace(
        run_options(args),
        input=args.input,
        fifo_tokens=args.fifo_size,
        record_accesses=args.accesses,
        unnamed_output=UNNAMED_OUTPUT,
    )
    with run_line() as line:
        progress, stage = (None, None) if args.quiet else (told_firings(line.show), line.show)
        listeners = RunListeners(progress=progress, stage=stage)
        return record(args.program, options, source_paths=tuple(args.source_path), listeners=listeners)


def _stored_size(args: argparse.Namespace, trace: Trace) -> int:
    """Return the bytes of the file that a trace was read from, or else those of its columns in memory."""
    path = args.info or args.program
    if path and is_trace_store(path):
        return Path(path).stat().st_size
    return sum(ids.nbytes for ids in trace.firings) + sum(table.ids.nbytes for table in trace.accesses)


def as_document(trace: Trace, n_bytes: int, exported: Exported | None) -> dict[str, object]:
    """Return the JSON document: ``firings``, ``actors`` (firings of each action), ``bytes``, ``digest``."""
    return {
        "network": trace.topology.name,
        "firings": trace.n_firings,
        "actors": {
            actor.name: {action.name: n for action, n in zip(actor.actions, counts, strict=True)}
            for actor, counts in zip(trace.topology.actors, _counts(trace), strict=True)
        },
        "buffers": [trace.topology.buffer_name(i) for i in range(len(trace.topology.buffers))],
        "bytes": n_bytes,
        "digest": trace.digest,
        "accesses": bool(trace.accesses),
        "made_by": dict(trace.made_by),
        "execution": execution_of(trace),
        "exported": None if exported is None else list(exported.files),
        "dependencies": None if exported is None else exported.dependencies,
    }


def _counts(trace: Trace) -> list[list[int]]:
    """Return the firings of each action of each actor."""
    pairs = zip(trace.topology.actors, trace.firings, strict=True)
    return [np.bincount(ids, minlength=len(actor.actions)).tolist() for actor, ids in pairs]


def _print(recorded: Recorded, args: argparse.Namespace, size: int | None, exported: Exported | None) -> None:
    """Print what was written, and for ``--info`` what is in the trace."""
    trace, topology = recorded.trace, recorded.trace.topology
    numbers = ((trace.n_firings, "firing"), (len(topology.actors), "actor"), (len(topology.buffers), "FIFO"))
    firings, actors, fifos = (f"{number} {word}{'' if number == 1 else 's'}" for number, word in numbers)
    print(f"{firings} of {actors}, {fifos}")
    if said := left_out(trace):
        print(said)
    if size is not None:
        say(f"wrote {args.output}: {size} bytes, {size / max(1, trace.n_firings):.2f} a firing")
    if exported is not None:
        _print_exported(exported)
    if size is None and exported is None:
        _print_info(trace, _stored_size(args, trace))
    print(f"digest {trace.digest}")


def _print_exported(exported: Exported) -> None:
    """Print which files were written for other tools, and what they lack."""
    say(f"wrote {' and '.join(exported.files)}")
    for note in exported.notes:
        say(f"left out: {note}")
    if exported.dependencies is not None:
        found = ", ".join(f"{n} {kind}" for kind, n in exported.dependencies.items() if n)
        print(f"dependencies: {found or 'none'}")


def _print_info(trace: Trace, n_bytes: int) -> None:
    """Print the firings of each action, the most frequent first."""
    print(f"{n_bytes} bytes; accesses of variables {'recorded' if trace.accesses else 'not recorded'}")
    for key, value in trace.made_by:
        say(f"{key}: {value}")
    rows = [
        (n, f"{actor.name}.{action.name}")
        for actor, counts in zip(trace.topology.actors, _counts(trace), strict=True)
        for action, n in zip(actor.actions, counts, strict=True)
        if n
    ]
    rows.sort(key=lambda row: -row[0])
    for n, name in rows[:_MOST_ACTIONS_SHOWN]:
        say(f"{n:>12}  {name}")
    if len(rows) > _MOST_ACTIONS_SHOWN:
        print(f"{'':>12}  and {len(rows) - _MOST_ACTIONS_SHOWN} more actions")
