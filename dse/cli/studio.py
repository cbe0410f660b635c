"""``dse studio``: the live page of a network, served to the browser of this machine."""

import argparse
import sys
from functools import partial
from pathlib import Path

from dse.base.errors import OptionError
from dse.cli.browser import open_page
from dse.cli.problem_arguments import compiling_notice, print_warnings, problem_options, tell_execution
from dse.cli.signals import note_kept
from dse.cli.streams import print_json, say
from dse.studio.start import Opened, StudioOptions, serve

_MOST_PORT = 65_535


def run(args: argparse.Namespace) -> int:
    """Serve until an interrupt."""
    if not 0 <= args.port <= _MOST_PORT:
        raise OptionError(f"there is no port {args.port}", expected=f"1 to {_MOST_PORT}, or leave out --port")
    options = StudioOptions(
        problem=problem_options(args),
        mapping=args.mapping,
        port=args.port,
        out=Path(args.out) if args.out is not None else None,
        trust=args.trust,
    )
    serve(options, partial(_opened, args), compiling_notice(quiet=args.quiet))
    return 0


def _opened(args: argparse.Namespace, page: Opened) -> None:
    """Tell where the page is, and open it."""
    note_kept(f"what was done on the page is kept in {page.folder}")
    if args.json:
        print_json({"address": page.address, "folder": str(page.folder), "notes": list(page.notes)})
    else:
        if not args.quiet:
            tell_execution(page.setting.trace)
            print_warnings(page.setting.warnings)
            for note in page.notes:
                say(note)
        say(f"the page: {page.address}")
        if not args.quiet:
            say("Ctrl-C ends it")
    sys.stdout.flush()  # who reads it through a pipe waits for the address
    if not args.no_browser and not open_page(page.address, page.folder):
        say("no browser was found here: open the address in one", error=True)
