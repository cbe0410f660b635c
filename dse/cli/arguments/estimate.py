"""The arguments of ``dse estimate``."""

import argparse

from dse.cli.arguments.problem import (
    add_mapping_argument,
    add_problem_arguments,
    add_scaling_arguments,
    add_timing_arguments,
)
from dse.cli.arguments.robust import add_robust_arguments
from dse.cli.arguments.timeline import add_timeline_argument
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse estimate``."""
    parser.epilog = (
        "examples: dse estimate actors/jpeg/jpeg.xdf --mapping dse-out/jpeg/best-01.xcf\n"
        '          dse estimate actors/pingpong/pingpong.xdf --mapping "P0:PingPong P1:*"\n\n'
        "exit code 3 when every mapping deadlocks"
    )
    add_problem_arguments(parser, program="TRACE|NETWORK.xdf")
    add_scaling_arguments(parser)
    add_mapping_argument(parser, many=True, default="all actors on one core")
    add_point_arguments(parser)
    add_robust_arguments(parser)
    parser.add_argument("--seed", type=option_integer, help="with --robust: seed of the draws (default: 1)")
    parser.add_argument(
        "--accounts", action="store_true", help="print where the time of each actor and each FIFO went (--json has it)"
    )
    add_timeline_argument(parser, "every firing of the mappings")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a line for each mapping: .csv, which --mapping reads, or .parquet"
    )


def add_point_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that change given mappings, for verbs that estimate them."""
    parser.add_argument(
        "--samples",
        action="store_true",
        help="each firing at its own cost, as dse profile --samples kept it in the folder of --weights",
    )
    parser.add_argument("--buffers", metavar="N|X.bxdf", help="FIFO capacities in tokens, over those of the mapping")
    parser.add_argument(
        "--clocks",
        metavar="UNIT=MHZ",
        action="append",
        default=[],
        help="the clock of a unit (or of each of a kind), over that of the mapping and the weights; may be repeated",
    )
    add_timing_arguments(parser, of_mapping=True)
