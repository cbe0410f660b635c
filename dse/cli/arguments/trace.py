"""The arguments of ``dse trace``."""

import argparse

from dse.cli.arguments.problem import add_graph_arguments
from dse.cli.arguments.running import add_fifo_size, add_run_arguments


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse trace``."""
    parser.epilog = (
        "examples: dse trace actors/jpeg/jpeg.xdf -i actors/jpeg/input.jpg -o jpeg.trace\n"
        "          dse trace --info jpeg.trace\n"
        "          dse trace --import turnus.tracez --net turnus.net -o jpeg.trace\n"
        "          dse trace --export turnus.tracez jpeg.trace\n"
        "          dse trace --export jpeg.dot jpeg.trace"
    )
    parser.add_argument(
        "program", nargs="?", metavar="NETWORK.xdf|T", help="network to run, a trace, or a graph of another tool"
    )
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        help="input, or a folder of inputs (default: what input.default beside it names)",
    )
    parser.add_argument("-o", "--output", metavar="T", help="trace file to write")
    parser.add_argument("--accesses", action="store_true", help="record accesses of state variables and guards too")
    other = parser.add_argument_group("other traces")
    other.add_argument("--info", metavar="T", help="say what is in a trace")
    other.add_argument(
        "--import", dest="import_", metavar="F", help="read a trace of TURNUS, or a graph of another tool"
    )
    other.add_argument(
        "--export",
        metavar="F",
        help="write the trace for TURNUS, its .net file beside it; F.xml: as a graph of SDF3, F.dot: for Graphviz",
    )
    other.add_argument(
        "--weights",
        metavar="W",
        action="append",
        default=[],
        help="execution times for --export F.xml; may be repeated",
    )
    other.add_argument("--write-weights", metavar="DIR", help="write the times of a graph, or --profile, as weights")
    other.add_argument("--profile", metavar="F.xml", help="profile of StreamBlocks, of the same network and input")
    other.add_argument("--net", metavar="F.net", help="network model of --import or --export (default: beside it)")
    other.add_argument("--no-dependencies", action="store_true", help="export the steps only")
    add_run_arguments(parser)
    add_graph_arguments(parser)
    add_fifo_size(parser)
    parser.add_argument(
        "--source-path", metavar="DIR", action="append", default=[], help="folder of classes; may be repeated"
    )
