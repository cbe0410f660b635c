"""Arguments that verbs share which set up a problem: program, input, weights, platform, engine."""

import argparse
import sys
from collections.abc import Callable, Iterable

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic, OptionError
from dse.cli.option_types import option_integer
from dse.cli.progress import RunLine
from dse.cli.run_arguments import add_run_arguments, run_options
from dse.cli.streams import say
from dse.flows.execution import EXECUTIONS
from dse.flows.options import NOMINAL, GraphOptions, ProblemOptions, parse_processor
from dse.flows.setting import SLOW_STAGES
from dse.flows.trace import execution_of
from dse.model.trace import Trace


def add_problem_arguments(parser: argparse.ArgumentParser, *, program: str) -> None:
    """Add the arguments; ``program`` says what the first one may be."""
    parser.add_argument("program", metavar=program, help="the program")
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        help="input, or a folder of inputs (default: what input.default beside it names)",
    )
    parser.add_argument(
        "--weights",
        metavar="W",
        action="append",
        default=[],
        help="weight folder or file; may be repeated; or nominal: counted from the program",
    )
    parser.add_argument(
        "--missing-weights",
        choices=("error", "zero", "nominal"),
        default="error",
        help="what an absent weight means (default: an error that names all of them)",
    )
    parser.add_argument(
        "--platform", metavar="P", help="platform file, or the name of a built-in one (default: default)"
    )
    parser.add_argument("--engine", default="compiled", help="compiled (default) or reference: equal numbers")
    parser.add_argument(
        "--source-path",
        metavar="DIR",
        action="append",
        default=[],
        help="folder that holds the package tree of the classes; may be repeated",
    )
    add_run_arguments(parser)
    add_graph_arguments(parser)


def add_graph_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how a static graph of another tool becomes a program."""
    graphs = parser.add_argument_group("graphs of other tools (SDF3; docs/other-tools.md)")
    graphs.add_argument(
        "--iterations",
        metavar="N",
        type=option_integer,
        help="iterations of the graph (default: 100, or about 10,000 firings)",
    )
    graphs.add_argument(
        "--processor",
        metavar="[KIND=]TYPE",
        action="append",
        default=[],
        help="type of processor whose times the CPU cores have; gpu=TYPE: the GPU (default: the file's default)",
    )


def graph_options(args: argparse.Namespace) -> GraphOptions:
    """Return the options of graphs that the arguments give. Raises ``OptionError``."""
    return GraphOptions(iterations=args.iterations, processors=tuple(parse_processor(text) for text in args.processor))


def problem_options(args: argparse.Namespace) -> ProblemOptions:
    """Return the options that the arguments give. Raises ``OptionError`` for an empty one, as of an unset variable."""
    for name in ("program", "input", "platform"):
        refuse_empty(name, getattr(args, name))
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


def refuse_empty(name: str, value: str | None) -> None:
    """Raise ``OptionError`` for a value that is there and empty."""
    if value is not None and not value.strip():
        raise OptionError(f"the {name} that is given is empty", expected="give a name, or leave it out")


def compiling_notice(*, quiet: bool) -> Callable[[str], None]:
    """Return a listener to stages that says on standard error what takes a while, and how a run goes on."""
    line = RunLine()

    def told(stage: str) -> None:
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
