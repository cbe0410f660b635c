"""The arguments of ``dse trace``."""

import argparse

from dse.cli.arguments.running import add_fifo_size, add_run_arguments


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse trace``."""
    parser.epilog = (
        "examples: dse trace actors/jpeg/jpeg.xdf -i actors/jpeg/input.jpg -o jpeg.trace\n"
        "          dse trace --info jpeg.trace\n"
        "          dse trace --import turnus.tracez --net turnus.net -o jpeg.trace\n"
        "          dse trace --export turnus.tracez jpeg.trace"
    )
    parser.add_argument("program", nargs="?", metavar="NETWORK.xdf|T", help="network to run, or a trace")
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
    other.add_argument("--import", dest="import_", metavar="F.trace[z]", help="read a trace of TURNUS")
    other.add_argument("--export", metavar="F.trace[z]", help="write the trace for TURNUS, its .net file beside it")
    other.add_argument("--net", metavar="F.net", help="network model of --import or --export (default: beside it)")
    other.add_argument("--no-dependencies", action="store_true", help="export the steps only")
    add_run_arguments(parser)
    add_fifo_size(parser)
    parser.add_argument(
        "--source-path", metavar="DIR", action="append", default=[], help="folder of classes; may be repeated"
    )
