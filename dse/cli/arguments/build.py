"""The arguments of ``dse build``."""

import argparse

from dse.cli.arguments.cuda import add_cuda
from dse.cli.native_arguments import add_native_binding
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse build``."""
    parser.epilog = (
        "example: dse build actors/jpeg/jpeg.xdf -o jpeg-native && jpeg-native/app -i actors/jpeg/input.jpg -o p.png"
    )
    parser.add_argument("network", help="network (.xdf)")
    parser.add_argument("-o", "--out", metavar="DIR", required=True, help="folder for the sources and the program")
    parser.add_argument(
        "--march-native",
        action="store_true",
        help="use all instructions of this machine (default: a program that runs on others of its kind too)",
    )
    parser.add_argument(
        "--sanitize",
        metavar="KINDS",
        default="",
        help="find faults of native code while the program runs: address,undefined or thread",
    )
    parser.add_argument("--compiler", metavar="CXX", help="C++ compiler (default: $CXX, else g++, clang++, ziglang)")
    add_cuda(
        parser, "with the actors that can run on a GPU, compiled by nvcc, or for a GPU that is emulated (for tests)"
    )
    parser.add_argument(
        "--static",
        metavar="X.xcf",
        help="a program for this mapping alone, with special FIFOs inside the GPU (default: any mapping, at its start)",
    )
    add_native_binding(parser, python=False)
    parser.add_argument("--jobs", type=option_integer, metavar="N", help="compilers at once (default: one a core)")
    parser.add_argument("--source-path", metavar="DIR", action="append", default=[], help="folder of classes")
    parser.add_argument("--strict", action="store_true", help="warnings about the network are errors")
