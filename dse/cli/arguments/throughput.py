"""The arguments of ``dse throughput``."""

import argparse

from dse.cli.arguments.problem import add_problem_arguments
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse throughput``."""
    parser.epilog = (
        "examples: dse throughput graph.xml\n"
        "          dse throughput graph.xml --storage -o sizes.bxdf\n"
        '          dse throughput graph.xml --mapping "P0:a,b P1:c" dse-out/graph/best-*.xcf\n\n'
        "The steady state, not one run: the least time of an iteration that any mapping can reach, exactly, and the\n"
        "cycle that limits it. docs/throughput.md tells more. Exit code 3 when the graph deadlocks."
    )
    add_problem_arguments(parser, program="GRAPH|NETWORK.xdf|TRACE")
    parser.add_argument(
        "--mapping",
        "--map",
        metavar="M",
        nargs="+",
        action="extend",
        default=[],
        help='mappings whose steady state is found by simulation: .xcf files, a .csv file, or texts "P0:a,b P1:c"',
    )
    parser.add_argument(
        "--release",
        choices=("processing", "reading"),
        default="processing",
        help="when input space becomes free, where FIFOs have sizes (default: processing, at the end, as in SDF3)",
    )
    parser.add_argument(
        "--overlap", action="store_true", help="actors of one phase may overlap with themselves, as in SDF3"
    )
    parser.add_argument(
        "--storage",
        nargs="?",
        type=option_integer,
        const=400,
        metavar="N",
        help="sizes of the channels against throughput, the least memory first; proven for N sizes (default: 400)",
    )
    parser.add_argument(
        "--buffers", metavar="N|X.bxdf", help="sizes of the channels in tokens, over those of the graph or network"
    )
    parser.add_argument(
        "-o", "--out", metavar="X.bxdf", help="write the least sizes of the highest throughput, which --storage finds"
    )
