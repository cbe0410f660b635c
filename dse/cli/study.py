"""``dse study``: run a study file; show, compare and export the results of searches."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from dse.cli.explore import search
from dse.cli.option_types import option_integer
from dse.cli.problem_arguments import refuse_empty
from dse.flows.study_options import read_study_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse study``."""
    parser.epilog = "example: dse study run configs/studies/pingpong.yaml --out dse-out/again"
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_run(actions.add_parser("run", help="search as a study file says", description="Search as a study file says."))


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: dse study run dse-out/jpeg/study.yaml --out dse-out/again"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("study", metavar="STUDY.yaml", help="the study file; paths in it lead from its folder")
    parser.add_argument("--out", metavar="DIR", help="folder of the results (default: dse-out/NETWORK)")
    parser.add_argument("--resume", action="store_true", help="continue the search whose results are in the folder")
    parser.add_argument(
        "--workers",
        metavar="N",
        type=option_integer,
        default=os.cpu_count() or 1,
        help="threads that estimate (default: all cores); no result depends on it",
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="estimate on the workers of a dask scheduler")
    parser.add_argument(
        "--trust", action="store_true", help="let the study bind natives to code and open folders to the network"
    )


def run(args: argparse.Namespace) -> int:
    """Do what is asked for."""
    return _run_study(args)


def _run_study(args: argparse.Namespace) -> int:
    refuse_empty("folder of results", args.out)
    options = replace(
        read_study_options(args.study, trust=args.trust),
        out=Path(args.out) if args.out is not None else None,
        resume=args.resume,
        workers=args.workers,
        cluster=args.cluster,
    )
    return search(options, quiet=args.quiet, json=args.json)
