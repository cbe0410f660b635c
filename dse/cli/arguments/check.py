"""The arguments of ``dse check``."""

import argparse

from dse.cli.native_arguments import add_native_binding


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse check``."""
    parser.epilog = (
        "example: dse check actors/jpeg/jpeg.xdf\n"
        "         dse check --all actors --json\n"
        "         dse check --print-ir Idct2d actors/jpeg/jpeg.xdf\n"
        "         dse check --gpu actors/jpeg/jpeg.xdf"
    )
    parser.add_argument("file", nargs="?", help="network (.xdf) or actor (.cal)")
    parser.add_argument("--all", metavar="DIR", dest="folder", help="check every .cal and .xdf file below DIR")
    parser.add_argument(
        "--source-path",
        metavar="DIR",
        action="append",
        default=[],
        help="folder that holds the package tree of the classes; may be repeated; searched first",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="unconnected ports, unknown arguments and missing arguments are errors",
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="leave out instances of missing classes and broken connections with a warning",
    )
    parser.add_argument(
        "--print-ir",
        metavar="ACTOR",
        help="print the typed IR of an actor: an instance or a class of the network, or the actor of the .cal file",
    )
    parser.add_argument(
        "--explicit",
        action="store_true",
        help="with --print-ir: as the backends see the actor, every conversion, check, copy and choice written out",
    )
    parser.add_argument(
        "--gpu",
        action="store_true",
        help="tell of each actor of the network whether it can run on a GPU, or why not, and of each of its actions "
        "whether several threads can fire it at once (SIMD), or why not",
    )
    add_native_binding(parser, python=True, prefix="with the binding of a run, it is not warned of: ")
    parser.set_defaults(parser_error=parser.error)
