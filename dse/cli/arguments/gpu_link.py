"""The arguments of ``dse gpu link``."""

import argparse

from dse.base.cuda_kinds import CUDA_KINDS, CUDA_NVCC
from dse.cli.arguments.cuda import add_cuda_arch
from dse.cli.option_types import option_integer


def configure_link(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse gpu link``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples: dse gpu link -o here.yaml\n"
        "          dse gpu link --platform desktop-gtx1660s --fifos 16 -o desktop.yaml\n"
        "          dse gpu link --cuda emulated"
    )
    parser.add_argument(
        "--cuda",
        choices=CUDA_KINDS,
        default=CUDA_NVCC,
        help="by what the program is built: nvcc (default); emulated: a rehearsal without a card",
    )
    add_cuda_arch(parser)
    parser.add_argument("--fifos", type=option_integer, default=8, metavar="N", help="FIFOs at once, up to (default 8)")
    parser.add_argument(
        "--fifo-size", type=option_integer, default=512, metavar="N", help="tokens of each FIFO (default 512)"
    )
    parser.add_argument(
        "--platform", metavar="P", help="platform whose link it is (default: this machine and its first GPU)"
    )
    parser.add_argument("-o", "--output", metavar="FILE.yaml", help="write the platform with the link as measured")
    parser.add_argument("--compiler", metavar="CXX", help="C++ compiler (default: $CXX, else g++, clang++, ziglang)")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="print results only")
    parser.add_argument("--limit", metavar="NAME=N", action="append", default=argparse.SUPPRESS, help="raise a limit")
