"""The arguments of ``dse estimate``."""

import argparse

from dse.cli.arguments.problem import add_mapping_argument, add_problem_arguments


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse estimate``."""
    parser.epilog = (
        "examples: dse estimate actors/jpeg/jpeg.xdf --mapping dse-out/jpeg/best-01.xcf\n"
        '          dse estimate actors/pingpong/pingpong.xdf --mapping "P0:PingPong P1:*"\n\n'
        "exit code 3 when every mapping deadlocks"
    )
    add_problem_arguments(parser, program="TRACE|NETWORK.xdf")
    add_mapping_argument(parser, many=True, default="all actors on one core")
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
    parser.add_argument("--transfers", choices=("sequential", "parallel"), help="how the transfers of a firing go")
    parser.add_argument("--release", choices=("reading", "processing"), help="when input space becomes free")
    parser.add_argument(
        "--accounts", action="store_true", help="print where the time of each actor and each FIFO went (--json has it)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a line for each mapping: .csv, which --mapping reads, or .parquet"
    )
