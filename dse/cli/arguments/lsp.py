"""The arguments of ``dse lsp``."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse lsp``."""
    parser.epilog = (
        "An editor starts this and speaks with it over standard input and output: docs/editor.md says how.\n"
        "example: dse lsp --source-path src"
    )
    parser.add_argument("--stdio", action="store_true", help="what it does anyway; some editors give it")
    parser.add_argument(
        "--source-path",
        metavar="DIR",
        action="append",
        default=[],
        help="folder that holds the package tree of the classes; may be repeated; searched first",
    )
