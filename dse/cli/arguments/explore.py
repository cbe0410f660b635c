"""The arguments of ``dse explore``."""

import argparse
import os

from dse.cli.arguments.cuda import add_cuda
from dse.cli.arguments.problem import add_problem_arguments, add_scaling_arguments, add_timing_arguments
from dse.cli.arguments.robust import add_robust_arguments
from dse.cli.arguments.timeline import add_timeline_argument
from dse.cli.option_types import option_integer
from dse.explore.batch import BATCH
from dse.explore.methods.registry import METHODS
from dse.explore.objectives.registry import OBJECTIVES
from dse.sizing.methods import SIZING_METHODS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse explore``."""
    parser.epilog = (
        "example: dse explore actors/jpeg/jpeg.xdf --partitions 3 --budget 500,60s\n\n"
        "Interrupted or killed, a search loses nothing that it reported: the same command with --resume continues it."
    )
    add_problem_arguments(parser, program="NETWORK.xdf")
    parser.add_argument(
        "--partitions", metavar="N|A-B", help="at most N, or A to B partitions (default: up to all cores)"
    )
    parser.add_argument(
        "--pin", metavar="ACTOR=UNIT", action="append", default=[], help="keep an actor on a unit; may be repeated"
    )
    parser.add_argument("--policy", metavar="P[,P]", default="NON_PREEMPTIVE", help="policies to choose from")
    parser.add_argument(
        "--policy-per-partition", action="store_true", help="each partition may have another of the policies"
    )
    parser.add_argument(
        "--buffers",
        metavar="N|X.bxdf|M",
        action="append",
        default=[],
        help=f"FIFO capacities: tokens, a file, or {', '.join(SIZING_METHODS)}; repeat it to let the search choose",
    )
    parser.add_argument(
        "--clocks",
        metavar="UNIT=MHZ[,MHZ]",
        action="append",
        default=[],
        help="clocks from which the search chooses one for a unit (or each of a kind; a+b: in common); may be repeated",
    )
    add_scaling_arguments(parser)
    add_timing_arguments(parser)
    parser.add_argument("--method", default="auto", help=f"auto, {', '.join(METHODS.names())} (default: auto)")
    parser.add_argument(
        "--objectives",
        metavar="O[,O]",
        default="makespan",
        help=f"what to optimise, the first one ranks: {', '.join(OBJECTIVES.names())} (default: makespan)",
    )
    parser.add_argument(
        "--budget",
        metavar="N|T|N,T",
        help="evaluations, time, or both: 2000, 90s, 5m, 2000,90s; a time bounds all but the engine's compiling,"
        " the report, and what --measure and --refine run",
    )
    parser.add_argument("--seed", type=option_integer, default=1, help="seed of everything random (default: 1)")
    parser.add_argument(
        "--workers",
        "--jobs",
        metavar="N",
        type=option_integer,
        default=os.cpu_count() or 1,
        help="threads that estimate, or, where the trace is short, processes that search (default: all cores);"
        " --jobs is its former name",
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="estimate on the workers of a dask scheduler, such as tcp://host:8786"
    )
    parser.add_argument(
        "--batch",
        metavar="N",
        type=option_integer,
        default=BATCH,
        help=f"mappings under way at once (default: {BATCH}); more than workers on a cluster",
    )
    parser.add_argument(
        "--no-screening",
        action="store_true",
        help="search long traces from the beginning on, and not first what one core fires in a row as one firing",
    )
    parser.add_argument(
        "--best", metavar="N", type=option_integer, default=5, help="mapping files to write (default: 5)"
    )
    parser.add_argument(
        "--measure",
        metavar="N",
        type=option_integer,
        help="run the best N mappings, and the one on one core, on this machine: measured times beside the estimates;"
        " takes up to about a minute on top of --budget",
    )
    parser.add_argument(
        "--refine",
        metavar="N",
        type=option_integer,
        default=0,
        help="measure the best mapping in place and search again, at most N times, until the ranking is stable;"
        " each search has the whole --budget",
    )
    add_cuda(
        parser, "the GPU of this machine is measured too, and run by --measure and --refine; emulated: a rehearsal"
    )
    add_robust_arguments(parser)
    parser.add_argument(
        "--dialect",
        choices=("exelixi", "turnus", "streamblocks", "art"),
        default="exelixi",
        help="of the mapping files: whose tools are to read them (default: exelixi)",
    )
    parser.add_argument("-o", "--out", metavar="DIR", help="folder of the results (default: dse-out/NETWORK)")
    add_timeline_argument(parser, "every firing of the best mapping")
    parser.add_argument("--resume", action="store_true", help="continue the search whose results are in the folder")
