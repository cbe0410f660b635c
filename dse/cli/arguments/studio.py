"""The arguments of ``dse studio``."""

import argparse

from dse.cli.arguments.problem import add_mapping_argument, add_problem_arguments
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse studio``."""
    parser.epilog = (
        "examples: dse studio actors/jpeg/jpeg.xdf\n"
        "          dse studio dse-out/jpeg\n\n"
        "Only this machine can reach the page, and only by the address that is printed. What is done on the page is\n"
        "kept in studio.jsonl in the folder of the results; Ctrl-C ends the server."
    )
    add_problem_arguments(parser, program="NETWORK.xdf|TRACE|STUDY")
    add_mapping_argument(parser, default="as it was last time, else the best that a search in the folder found")
    parser.add_argument(
        "-o", "--out", metavar="DIR", help="folder of the results (default: dse-out/NETWORK, or the study's)"
    )
    parser.add_argument("--port", metavar="N", type=option_integer, default=0, help="port (default: any that is free)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--trust", action="store_true", help="let a study file bind natives and open folders")
