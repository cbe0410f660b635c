"""The arguments of ``dse why``."""

import argparse

from dse.cli.arguments.estimate import add_point_arguments
from dse.cli.arguments.problem import add_mapping_argument, add_problem_arguments
from dse.cli.arguments.timeline import add_timeline_argument
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse why``."""
    parser.epilog = (
        "examples: dse why actors/jpeg/jpeg.xdf --mapping dse-out/jpeg/best-01.xcf\n"
        '          dse why actors/pingpong/pingpong.xdf --mapping "P0:PingPong P1:*" --slack slack.csv\n'
        "          dse why actors/pingpong/pingpong.xdf\n\n"
        "The critical path is the chain of steps, without a gap, that makes a mapping take as long as it does.\n"
        "Without --mapping it is that of the program's own dependencies, whatever it runs on. docs/why.md tells more.\n"
        "exit code 3 when the mapping deadlocks"
    )
    add_problem_arguments(parser, program="TRACE|NETWORK.xdf")
    add_mapping_argument(parser, default="the program itself, on any number of cores")
    add_point_arguments(parser)
    parser.add_argument(
        "--top",
        metavar="N",
        type=option_integer,
        default=10,
        help="rows of each table, the largest first (default: 10)",
    )
    parser.add_argument("--slack", metavar="F.csv", help="write the slack of every firing (.csv or .parquet)")
    add_timeline_argument(parser, "every firing of the mapping, with the path")
    parser.add_argument("--path", metavar="F.csv", help="write every segment of the path (.csv or .parquet)")
