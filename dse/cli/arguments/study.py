"""The arguments of ``dse study``."""

import argparse
import os

from dse.cli.option_types import option_integer

ACTIONS = ("run", "show", "compare", "export")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse study``."""
    parser.epilog = (
        "examples: dse study run actors/pingpong/study.yaml\n"
        "          dse study show dse-out/pingpong\n"
        "          dse study compare dse-out/pingpong dse-out/jpeg\n"
        "          dse study export dse-out/pingpong -o evaluations.csv\n\n"
        "`dse explore` writes a study.yaml into the folder of its results: running it gives the same ranking."
    )
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument(
        "places", metavar="STUDY.yaml|DIR", nargs="+", help="run: a study file; else: folders of results"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="export: the file to write, .csv or .parquet (default: CSV on the output)",
    )
    group = parser.add_argument_group("running a study file")
    group.add_argument("--out", metavar="DIR", help="folder of the results (default: dse-out/NETWORK)")
    group.add_argument("--resume", action="store_true", help="continue the search whose results are in the folder")
    group.add_argument(
        "--workers",
        metavar="N",
        type=option_integer,
        default=os.cpu_count() or 1,
        help="threads that estimate (default: all cores); no result depends on it",
    )
    group.add_argument("--cluster", metavar="ADDRESS", help="estimate on the workers of a dask scheduler")
    group.add_argument(
        "--trust",
        action="store_true",
        help="let the study bind natives to code, open folders to the network, raise limits",
    )
