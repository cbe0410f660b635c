"""The arguments of ``dse new``."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse new``."""
    parser.epilog = "example: dse new my_filter && dse run my_filter/my_filter.xdf"
    parser.add_argument("name", metavar="NAME", help="name of the program, its package and its new folder")
    parser.add_argument("-o", "--out", metavar="DIR", default=".", help="folder in which NAME/ is made (default: here)")
