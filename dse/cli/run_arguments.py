"""Arguments of all verbs that run a network: how long it goes on, and which files it may touch, what natives are."""

import argparse

from dse.cli.native_arguments import native_binding
from dse.flows.options import parse_memory
from dse.run.options import RunOptions


def run_options(args: argparse.Namespace) -> RunOptions:
    """Return how the arguments ask a network to be run; input and outputs are not among them."""
    return RunOptions(
        loops=args.loops,
        frames=args.frames,
        max_firings=args.max_firings,
        max_memory_bytes=None if args.max_memory is None else parse_memory(args.max_memory),
        execution=args.execution,
        files=args.files_folder,
        allow_files=tuple(args.allow_files),
        natives=tuple(native_binding(text) for text in args.native),
    )
