"""Arguments of the verbs that build a program to measure it."""

import argparse

from dse.cli.option_types import option_real


def add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of verbs that build a program to measure it."""
    parser.add_argument("--compiler", metavar="CXX", help="C++ compiler (default: $CXX, g++, clang++, zig)")
    parser.add_argument("--march-native", action="store_true", help="use all instructions of this machine")
    parser.add_argument(
        "--time-limit",
        type=option_real,
        metavar="S",
        help="end a run of the program after S seconds (default: at least a minute, 100 times the runs before it)",
    )
    parser.add_argument(
        "--source-path", metavar="DIR", action="append", default=[], help="folder of classes; may be repeated"
    )
