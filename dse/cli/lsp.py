"""``dse lsp``: the language server, started by an editor."""

import argparse
import sys

from dse.base.errors import OptionError
from dse.cli.signals import note_kept
from dse.frontend.network.projects import refuse_absent
from dse.lsp.start import serve


def run(args: argparse.Namespace) -> int:
    """Serve until the editor ends it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise OptionError(
            "'dse lsp' speaks with an editor, not with a terminal", expected="docs/editor.md says how to set one up"
        )
    refuse_absent(args.source_path)
    note_kept("the editor keeps its texts")
    serve(tuple(args.source_path))
    return 0
