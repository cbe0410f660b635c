"""``dse lsp``: the language server, started by an editor."""

import argparse
import sys

from dse.base.errors import OptionError
from dse.cli.signals import note_kept


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


def run(args: argparse.Namespace) -> int:
    """Serve until the editor ends it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise OptionError(
            "'dse lsp' speaks with an editor, not with a terminal", expected="docs/editor.md says how to set one up"
        )
    from dse.lsp.start import serve  # imported late: --help must not pay for it

    note_kept("the editor keeps its texts")
    serve(tuple(args.source_path))
    return 0
