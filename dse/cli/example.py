"""``dse example``: the applications to start from, listed and copied."""

import argparse
import shutil
import textwrap
from pathlib import Path

from dse.cli.streams import print_json, say
from dse.flows.examples import Copied, Example, copy_examples, example_names, examples

_WIDEST = 120


def run(args: argparse.Namespace) -> int:
    """List the applications, or copy some; return 0."""
    if args.all and args.names:
        args.parser_error("give names, or --all")
    names = example_names() if args.all else tuple(args.names)
    if names:
        print_copied(copy_examples(names, Path(args.out)), json=args.json, quiet=args.quiet)
    elif args.json:
        print_json({"examples": [_as_document(example) for example in examples()]})
    else:
        _print_list(examples(), quiet=args.quiet)
    return 0


def print_copied(copied: Copied, *, json: bool, quiet: bool) -> None:
    """Print what was written, and what to do with it: JSON has ``networks``, ``written`` and ``kept``."""
    if json:
        print_json({"networks": list(copied.networks), "written": list(copied.written), "kept": list(copied.kept)})
        return
    for network in copied.networks:
        say(network)
    if not quiet:
        kept = f", {len(copied.kept)} were there already" if copied.kept else ""
        say(f"{len(copied.written)} files written{kept}; try:", error=True)
        for network in copied.networks:
            say(f"  dse run {network}\n  dse explore {network}", error=True)


def _as_document(example: Example) -> dict[str, object]:
    return {
        "name": example.name,
        "about": example.about,
        "network": example.network,
        "actors": example.actors,
    }


def _print_list(found: tuple[Example, ...], *, quiet: bool) -> None:
    """Print a line for each application, wrapped to the terminal."""
    width = max(len(example.name) for example in found)
    for example in found:
        text = f"{example.about} ({example.actors} actors)"
        columns = min(shutil.get_terminal_size().columns, _WIDEST)
        for number, line in enumerate(textwrap.wrap(text, max(20, columns - width - 2))):
            say(f"{'' if number else example.name:{width}}  {line}")
    if not quiet:
        say("dse example NAME copies one to actors/NAME; dse new NAME makes a program of your own", error=True)
