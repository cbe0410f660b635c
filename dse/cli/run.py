"""``dse run``: execute a network on an input."""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic, OptionError
from dse.cli.progress import FiringLines, run_line
from dse.cli.run_arguments import run_options
from dse.cli.streams import READER_GONE, ReaderGone, print_json, program_output, say
from dse.flows.execution import EXECUTIONS, RunListeners
from dse.flows.run import RunReport, run_file
from dse.run.execution import RunResult
from dse.run.natives.screen import Comparison

_ENDINGS = {
    "quiescent": "no actor can fire any more",
    "livelock": "actors fire, but no token moves",
    "budget": "the firing budget is spent",
    "exit": "the program ended itself",
    "frames": "all pictures asked for were shown",
}


def run(args: argparse.Namespace) -> int:
    """Run the network; print what it prints; return 0, 1 (differs, failed) or 3 (deadlock)."""
    if args.tolerance and not args.reference:
        raise OptionError("--tolerance is for a comparison, and there is none", expected="give --reference FILE")
    options = replace(
        run_options(args),
        input=args.input,
        output=args.output,
        write=args.write,
        reference=args.reference,
        tolerance=args.tolerance,
        fifo_tokens=args.fifo_size,
    )
    files = any((options.output, options.write, options.reference))
    try:
        with run_line() as line:
            report = run_file(
                args.network,
                options,
                source_paths=tuple(args.source_path),
                strict=args.strict,
                listeners=RunListeners(
                    echo=None if args.json else program_output(needed=files),
                    progress=None if args.quiet else FiringLines(line),
                    stage=None if args.quiet else line.show,
                ),
            )
    except ReaderGone:
        return READER_GONE
    if args.json:
        print_json(as_document(report))
    sys.stdout.flush()
    _print_findings(report, quiet=args.quiet, why=args.why)
    return report.exit_code


def as_document(report: RunReport) -> dict[str, object]:
    """Return the JSON document: ``firings``, ``outputs``, ``digest`` (of the trace) and how the run ended."""
    result = report.result
    comparison, deadlock = result.comparison, result.deadlock
    return {
        "firings": result.n_firings,
        "outputs": list(result.outputs),
        "digest": result.trace.digest,
        "execution": result.execution,
        "ended": result.why,
        "exit_code": report.exit_code,
        "input": report.input,
        "stdout": result.stdout,
        "pictures": result.frames,
        "tokens": sum(c.tokens for c in result.channels),
        "tokens_left": result.tokens_left,
        "actors": {
            instance.name: {a.name: n for a, n in zip(instance.actor.actions, counts, strict=True)}
            for instance, counts in zip(report.network.instances, result.actions, strict=True)
        },
        "comparison": comparison
        and {
            "compared": comparison.compared,
            "equal": comparison.equal,
            "missing": comparison.missing,
            "max_difference": comparison.max_difference,
        },
        "deadlock": deadlock
        and {
            "actors": list(deadlock.actors),
            "fifo": deadlock.fifo,
            "capacity_tokens": deadlock.capacity_tokens,
            "needed_tokens": deadlock.needed_tokens,
        },
        "waits": [str(w) for w in result.waits],
        "warnings": [*(d.message for d in report.warnings), *(["nothing fired"] if _nothing_fired(result) else [])],
    }


def _print_findings(report: RunReport, *, quiet: bool, why: bool) -> None:
    """Print on standard error how the run ended and what is remarkable about it."""
    result = report.result
    if not quiet:
        _print_diagnostics(report.warnings)
    lines = [] if quiet else [*_ended(result), *_idle(result)]
    if result.exit_code:
        lines.append(f"the program ended with exit code {result.exit_code}")
    if result.comparison is not None:
        lines += _compared(result.comparison)
    if not quiet:
        lines += [*_left(result, why=why), *_waiting(result, why=why)]
    for line in (*lines, *_deadlocked(result)):
        say(line, error=True)


def _waiting(result: RunResult, *, why: bool) -> list[str]:
    """Return who waits for what, where that is asked for or needed, and not told already."""
    asked = (why or result.deadlock is not None) and not _nothing_fired(result)
    return [f"  {w}" for w in (*_firing_for_ever(result), *result.waits)] if asked else []


def _firing_for_ever(result: RunResult) -> list[str]:
    """Return which actors fire at the end of a run in which no token moves any more, and how often they did."""
    actors = result.trace.topology.actors
    idle = zip(actors, result.idle_tail, strict=True) if any(result.idle_tail) else ()
    return [f"{actor.name}: fires on, {times} times after the last token moved" for actor, times in idle if times]


def _nothing_fired(result: RunResult) -> bool:
    """Return whether no actor fired though the program did not end by itself."""
    return not (result.n_firings or result.exit_code or result.why != "quiescent")


def _idle(result: RunResult) -> list[str]:
    """Return a warning with the reasons where nothing fired, which nobody wants; nothing else."""
    if not _nothing_fired(result):
        return []
    waits = [f"  {w}" for w in result.waits]
    return [f"warning: nothing fired{': this is what the actors wait for' if waits else ''}", *waits]


def _print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        print(render(diagnostic), file=sys.stderr)


def _ended(result: RunResult) -> list[str]:
    """Return how a run ended and what it wrote."""
    wrote = (f"wrote {path}" for path in dict.fromkeys(result.outputs))
    return [f"{result.n_firings} firings, {EXECUTIONS[result.execution]}; {_ENDINGS[result.why]}", *wrote]


def _compared(found: Comparison) -> list[str]:
    """Return how the outputs differ from the reference."""
    lines = [f"{found.equal} of {found.compared} equal the reference; largest difference {found.max_difference}"]
    if found.missing:
        lines.append(f"the reference ends within {found.missing} of them: it is too short, or of another size")
    return lines


def _deadlocked(result: RunResult) -> list[str]:
    """Return who waits for whom, and what helps."""
    d = result.deadlock
    if d is None:
        return []
    return [
        f"deadlock: {', '.join(d.actors)} wait for each other; {d.fifo} is full with {d.capacity_tokens} tokens\n"
        f"  = its writer goes on when it holds {d.needed_tokens} tokens (-s {d.needed_tokens}, or bufferSize in the "
        "XDF); if the run then stops later, it needs more: try powers of two"
    ]


def _left(result: RunResult, *, why: bool) -> list[str]:
    """Return which FIFOs hold tokens at the end of a run."""
    if not result.tokens_left:
        return []
    lines = [f"{result.tokens_left} tokens were left in FIFOs:"]
    lines += [f"  {c.left} in {c.name}" for c in result.channels if c.left]
    if not why and result.deadlock is None:
        lines.append("--why says who waits for what")
    return lines
