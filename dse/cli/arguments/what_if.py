"""The arguments of ``dse what-if``."""

import argparse
import os

from dse.cli.arguments.problem import add_mapping_argument, add_problem_arguments
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse what-if``."""
    parser.epilog = (
        "examples: dse what-if actors/jpeg/jpeg.xdf --mapping dse-out/jpeg/best-01.xcf\n"
        "          dse what-if actors/jpeg/jpeg.xdf --weights nominal --curve idct2d\n\n"
        "Every change is simulated again; docs/what-if.md tells which ones, and why a critical path is not enough.\n"
        "exit code 3 when the mapping deadlocks"
    )
    add_problem_arguments(parser, program="TRACE|NETWORK.xdf")
    add_mapping_argument(parser, default="all actors on one core")
    parser.add_argument("--buffers", metavar="N|X.bxdf", help="FIFO capacities in tokens, over those of the mapping")
    parser.add_argument(
        "--samples",
        action="store_true",
        help="each firing at its own cost, as dse profile --samples kept it in the folder of --weights",
    )
    parser.add_argument(
        "--curve",
        metavar="NAME",
        action="append",
        default=[],
        help="the makespan over the speed of an ACTOR or ACTOR.ACTION, or over the size of a FIFO A.out->B.in;"
        " may be repeated",
    )
    parser.add_argument(
        "--search",
        metavar="N",
        type=option_integer,
        help="before a mapping is chosen: estimate N mappings for the best one, and half as many for each of the"
        " improvements that promise most, from there",
    )
    parser.add_argument("--partitions", metavar="N|A-B", help="with --search: at most N, or A to B partitions")
    parser.add_argument("--seed", type=option_integer, default=1, help="with --search: seed (default: 1)")
    parser.add_argument(
        "--workers",
        metavar="N",
        type=option_integer,
        default=os.cpu_count() or 1,
        help="threads that simulate (default: all cores); no result depends on it",
    )
