"""Arguments that verbs share which set up a problem: program, input, weights, platform, engine."""

import argparse

from dse.cli.arguments.running import add_run_arguments
from dse.cli.option_types import option_integer


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
    graphs = parser.add_argument_group("graphs of other tools (SDF3, TGFF, PREESM; docs/other-tools.md)")
    graphs.add_argument(
        "--iterations",
        metavar="N",
        type=option_integer,
        help="iterations of the graph (default: 100, or about 10,000 firings)",
    )
    graphs.add_argument("--graph", metavar="NAME", help="one of several graphs in a file (default: all of them)")
    graphs.add_argument(
        "--processor",
        metavar="[KIND=]TYPE",
        action="append",
        default=[],
        help="type of processor whose times the CPU cores have; gpu=TYPE: the GPU (default: the file's default)",
    )


def add_timing_arguments(parser: argparse.ArgumentParser, *, of_mapping: bool = False) -> None:
    """Add how tokens move; ``of_mapping``: a mapping file may say it, and None stands for that."""
    options = (
        ("--transfers", ("sequential", "parallel"), "how the transfers of a firing go"),
        ("--release", ("reading", "processing"), "when input space becomes free"),
    )
    for name, choices, meaning in options:
        default, word = (None, "that of the mapping, else ") if of_mapping else (choices[0], "")
        help_text = f"{meaning} (default: {word}{choices[0]})"
        parser.add_argument(name, choices=choices, default=default, help=help_text)


def add_mapping_argument(parser: argparse.ArgumentParser, *, default: str, many: bool = False) -> None:
    """Add ``--mapping``; ``default``: what happens without it, in words."""
    if many:
        help_text = f'mappings: .xcf files, a .csv file of many, or texts "P0:a,b P1:c" (default: {default})'
        parser.add_argument("--mapping", "--map", metavar="M", nargs="+", action="extend", default=[], help=help_text)
    else:
        help_text = f'an .xcf file, or a text "P0:a,b P1:c" (default: {default})'
        parser.add_argument("--mapping", "--map", metavar="M", help=help_text)


def add_scaling_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model by which a GPU follows its clock."""
    parser.add_argument(
        "--scaling",
        metavar="MODEL.json",
        help="GPU times and power at other clocks follow this model ('dse gpu scaling train') of its card",
    )
    parser.add_argument(
        "--counters", metavar="FILE.csv", help="with --scaling: the counters of each action, ACTOR.ACTION, on the GPU"
    )
