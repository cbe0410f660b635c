"""The argument ``--timeline`` of the verbs that estimate or run mappings."""

import argparse


def add_timeline_argument(parser: argparse.ArgumentParser, of: str) -> None:
    """Add ``--timeline``; ``of``: what the file shows, in words."""
    parser.add_argument(
        "--timeline",
        metavar="T",
        help=f"write {of}, for ui.perfetto.dev, into T.json or T.pftrace (the same, smaller; docs/timelines.md)",
    )
