"""The arguments of ``dse run``."""

import argparse

from dse.cli.arguments.running import add_fifo_size, add_run_arguments
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse run``."""
    parser.epilog = "example: dse run actors/jpeg/jpeg.xdf -i actors/jpeg/input.jpg -o picture.png"
    parser.add_argument("network", help="network (.xdf)")
    files = parser.add_argument_group("files")
    files.add_argument(
        "-i", "--input", metavar="FILE", help="input, or a folder of inputs; default: the one that input.default names"
    )
    files.add_argument("-o", "--output", metavar="FILE", help="pictures (.yuv .png .pgm .ppm), or what a sink writes")
    files.add_argument("-w", "--write", metavar="FILE", help="what a writer writes (default: as -o)")
    files.add_argument("-y", "--reference", metavar="FILE", help="planar pictures or bytes that the output must equal")
    files.add_argument(
        "--tolerance", type=option_integer, default=0, metavar="N", help="difference of a sample that is accepted"
    )
    add_run_arguments(parser)
    add_fifo_size(parser)
    parser.add_argument("--why", action="store_true", help="say what each actor waits for at the end")
    parser.add_argument("--source-path", metavar="DIR", action="append", default=[], help="folder of classes")
    parser.add_argument("--strict", action="store_true", help="warnings about the network are errors")
