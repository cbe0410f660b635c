"""The arguments of ``dse buffers``."""

import argparse

from dse.cli.arguments.problem import add_mapping_argument, add_problem_arguments
from dse.sizing.methods import SIZING_METHODS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse buffers``."""
    parser.epilog = (
        "example: dse buffers actors/jpeg/jpeg.xdf --mapping dse-out/jpeg/best-01.xcf -o jpeg.bxdf\n\n"
        "minimal: what runs without deadlock. maximal: what is ever used. critical, heavy, top-down: as little as\n"
        "keeps the makespan within --tolerance. throughput: the least memory that keeps the steady state of a static\n"
        "program as quick as any sizes do. docs/objectives.md says how."
    )
    add_problem_arguments(parser, program="NETWORK.xdf|TRACE")
    add_mapping_argument(parser, default="each actor on a core of its own")
    parser.add_argument("--method", default="critical", help=f"{', '.join(SIZING_METHODS)} (default: critical)")
    parser.add_argument(
        "--tolerance",
        metavar="T",
        default="1%",
        help="how much slower is fine than the quicker of maximal sizes and the mapping's own (default: 1%%)",
    )
    parser.add_argument("-o", "--out", metavar="X.bxdf", help="write the sizes to a file for --buffers")
