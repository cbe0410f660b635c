"""The arguments of ``dse measure``."""

import argparse

from dse.cli.arguments.bench import add_bench_arguments
from dse.cli.arguments.cuda import add_cuda
from dse.cli.arguments.running import add_run_arguments
from dse.cli.arguments.timeline import add_timeline_argument
from dse.cli.option_types import option_integer, option_real


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse measure``."""
    parser.epilog = (
        "examples: dse measure actors/jpeg/jpeg.xdf --sample 32\n"
        "          dse measure actors/jpeg/jpeg.xdf --mapping dse-out/jpeg --buffers 512 --buffers 1024"
    )
    parser.add_argument("program", metavar="NETWORK.xdf", help="the network")
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        action="append",
        default=[],
        help="input (default: what input.default beside it names); may be repeated: each is measured",
    )
    which = parser.add_argument_group("the mappings (one of these)")
    help_text = 'mappings: .xcf files, folders with some, a .csv file of many, or texts "P0:a,b P1:c"'
    names = ("--mapping", "--map", "--mappings")
    which.add_argument(*names, dest="mappings", metavar="M", nargs="+", action="extend", default=[], help=help_text)
    which.add_argument("--top", type=option_integer, metavar="N", help="the N best by estimate")
    which.add_argument("--sample", type=option_integer, metavar="N", help="N drawn from all mappings on this machine")
    parser.add_argument(
        "--buffers",
        metavar="N",
        type=option_integer,
        action="append",
        default=[],
        help="FIFO capacity in tokens (default: those of the mappings); may be repeated: each mapping with each",
    )
    parser.add_argument(
        "--weights", metavar="W", action="append", default=[], help="weights (default: they are measured first)"
    )
    parser.add_argument(
        "--calibrate",
        type=option_integer,
        default=3,
        metavar="N",
        help="mappings that tell what crossing costs; they are not scored (default 3)",
    )
    gpu = parser.add_argument_group("mappings that use a GPU")
    add_cuda(gpu, "actors may be on the GPU of this machine; emulated: a rehearsal without one")
    gpu.add_argument(
        "--dynamic", action="store_true", help="all FIFOs as if they might cross (default: those inside it are special)"
    )
    gpu.add_argument("--link", metavar="P", help="platform whose link estimates take (`dse gpu link` writes one)")
    parser.add_argument("--runs", type=option_integer, default=7, metavar="N", help="runs of each mapping (default 7)")
    parser.add_argument("--seconds", type=option_real, metavar="S", help="start no further round of runs after S")
    parser.add_argument("--seed", type=option_integer, default=1, metavar="N", help="of sample and order (default 1)")
    parser.add_argument("-o", "--out", metavar="DIR", help="folder of the results (default: dse-out/NETWORK/measured)")
    parser.add_argument("--engine", default="compiled", help="compiled (default) or reference: equal numbers")
    add_timeline_argument(parser, "every firing of the fastest mapping, estimated and measured")
    add_bench_arguments(parser)
    add_run_arguments(parser)
