"""The arguments of ``dse profile``."""

import argparse

from dse.cli.arguments.bench import add_bench_arguments
from dse.cli.arguments.cuda import add_cuda
from dse.cli.arguments.problem import add_mapping_argument
from dse.cli.arguments.running import add_fifo_size, add_run_arguments
from dse.cli.option_types import option_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse profile``."""
    parser.epilog = (
        "examples: dse profile actors/jpeg/jpeg.xdf -o weights/jpeg/here\n"
        "          dse profile actors/jpeg/jpeg.xdf --mapping best-01.xcf -o weights/jpeg/in-place\n"
        "          dse profile actors/jpeg/jpeg.xdf --cuda -o weights/jpeg/card"
    )
    parser.add_argument("program", metavar="NETWORK.xdf", help="the network")
    parser.add_argument("-i", "--input", metavar="FILE", help="input (default: what input.default beside it names)")
    parser.add_argument("-o", "--output", metavar="W", required=True, help="weight folder to write")
    add_mapping_argument(parser, default="all on one core; with it, the weights are of this configuration")
    parser.add_argument(
        "--calibrate",
        type=option_integer,
        default=2,
        metavar="N",
        help="mappings on two cores that tell what crossing costs (default 2; 0: a micro-benchmark tells)",
    )
    add_cuda(
        parser, "weights of a GPU too, and of FIFOs between it and the processor; emulated: a rehearsal without one"
    )
    parser.add_argument("--runs", type=option_integer, default=5, metavar="N", help="runs that are merged (default 5)")
    parser.add_argument(
        "--samples", action="store_true", help="keep the cost of every firing, by its place in the trace"
    )
    parser.add_argument(
        "--seed", type=option_integer, default=1, metavar="N", help="of the order of the runs (default 1)"
    )
    add_bench_arguments(parser)
    add_fifo_size(parser)
    add_run_arguments(parser)
