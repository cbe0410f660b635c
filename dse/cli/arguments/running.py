"""Arguments of all verbs that run a network: how long it goes on, and which files it may touch, what natives are."""

import argparse

from dse.cli.native_arguments import add_native_binding
from dse.cli.option_types import option_integer
from dse.run.options import EXECUTION_MODES, FIFO_TOKENS


def add_run_arguments(parser: argparse.ArgumentParser, *, prefix: str = "") -> None:
    """Add the arguments; ``prefix`` goes before each line of help."""
    group = parser.add_argument_group("the run of the network")
    group.add_argument(
        "-l",
        "--loops",
        type=option_integer,
        default=1,
        metavar="N",
        help=f"{prefix}times the input is read, where the source of the network asks for it (default 1)",
    )
    group.add_argument("-f", "--frames", type=option_integer, metavar="N", help=f"{prefix}stop after N pictures")
    group.add_argument("--max-firings", type=option_integer, metavar="N", help=f"{prefix}stop after N firings")
    group.add_argument(
        "--max-memory",
        metavar="SIZE",
        help=f"{prefix}memory that the run may take, such as 500M or 4G (default: four fifths of what is free)",
    )
    group.add_argument(
        "--execution",
        choices=EXECUTION_MODES,
        default="auto",
        help=f"{prefix}by a native program, in Python, or whichever is sooner (default: auto); results are the same",
    )
    group.add_argument(
        "--files",
        dest="files_folder",
        metavar="DIR",
        help=f"{prefix}folder for files that the program itself names and writes (default: dse-out/NETWORK/files)",
    )
    group.add_argument(
        "--allow-files",
        metavar="DIR",
        action="append",
        default=[],
        help=f"{prefix}folder below which the program may read and write any file; may be repeated",
    )
    add_native_binding(group, python=True, prefix=prefix)


def add_fifo_size(parser: argparse.ArgumentParser) -> None:
    """Add the capacity of the FIFOs of a run that is all that is wanted; an estimate has capacities of its own."""
    parser.add_argument(
        "-s",
        "--fifo-size",
        type=option_integer,
        default=FIFO_TOKENS,
        metavar="N",
        help="FIFO capacity in tokens (default 512)",
    )
