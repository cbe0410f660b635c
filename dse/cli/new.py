"""``dse new``: a small program of one's own, with a test."""

import argparse
from pathlib import Path

from dse.cli.example import print_copied
from dse.cli.streams import say
from dse.flows.examples import new_program


def run(args: argparse.Namespace) -> int:
    """Make the program, say what to do with it; return 0."""
    print_copied(new_program(args.name, Path(args.out)), json=args.json, quiet=args.quiet)
    if not args.json and not args.quiet:
        say(f"  python3 -m unittest {Path(args.out) / args.name}/test_{args.name}.py", error=True)
    return 0
