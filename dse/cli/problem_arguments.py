"""Arguments that verbs share which set up a problem: program, input, weights, platform, engine."""

import argparse
import sys
from collections.abc import Callable, Iterable

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic, OptionError
from dse.cli.progress import RunLine
from dse.cli.run_arguments import run_options
from dse.cli.streams import say
from dse.cli.timing import note_stage
from dse.flows.execution import EXECUTIONS
from dse.flows.options import NOMINAL, GraphOptions, ProblemOptions, ScalingFiles, parse_processor
from dse.flows.setting import SLOW_STAGES
from dse.flows.trace import execution_of
from dse.model.trace import Trace


def graph_options(args: argparse.Namespace) -> GraphOptions:
    """Return the options of graphs that the arguments give. Raises ``OptionError``."""
    processors = tuple(parse_processor(text) for text in args.processor)
    return GraphOptions(iterations=args.iterations, processors=processors, graph=args.graph)


def problem_options(args: argparse.Namespace) -> ProblemOptions:
    """Return the options that the arguments give. Raises ``OptionError``."""
    return ProblemOptions(
        program=args.program,
        input=args.input,
        source_paths=tuple(args.source_path),
        weights=_weights(args.weights),
        missing_weights=args.missing_weights,
        platform=args.platform,
        engine=args.engine,
        run=run_options(args),
        graph=graph_options(args),
    )


def _weights(given: list[str]) -> tuple[str, ...]:
    """Return what is named as weights. Raises ``OptionError`` for nominal ones beside others."""
    if NOMINAL in given and len(given) > 1:
        raise OptionError(
            "nominal weights stand alone",
            expected="leave out the others, or fill what they lack with --missing-weights nominal; a folder of this"
            " name is ./nominal",
        )
    return tuple(given)


def compiling_notice(*, quiet: bool) -> Callable[[str], None]:
    """Return a listener to stages that says on standard error what takes a while, and how a run goes on."""
    line = RunLine()

    def told(stage: str) -> None:
        note_stage(stage)
        if quiet:
            return
        line.show(stage)
        if stage in SLOW_STAGES:
            say(stage, error=True)

    return told


def tell_execution(trace: Trace) -> None:
    """Say on standard error what ran the network of a trace, where that is known."""
    execution = execution_of(trace)
    if execution is not None:
        say(f"the network was {EXECUTIONS[execution]}", error=True)


def print_warnings(warnings: Iterable[Diagnostic], shown: int = 5) -> None:
    """Print the first warnings, and how many more there are."""
    found = tuple(warnings)
    for warning in found[:shown]:
        print(render(warning), file=sys.stderr)
    if len(found) > shown:
        print(f"{len(found) - shown} more warnings: see `dse check`", file=sys.stderr)


def scaling_files(args: argparse.Namespace) -> ScalingFiles | None:
    """Return the files of a scaling model. Raises ``OptionError`` for one without the other."""
    if args.scaling is None and args.counters is None:
        return None
    if args.scaling is None or args.counters is None:
        raise OptionError("--scaling and --counters need each other", expected="--scaling MODEL --counters FILE.csv")
    return ScalingFiles(model=args.scaling, counters=args.counters)
