"""The arguments of ``dse gpu breakdown``."""

import argparse

from dse.cli.option_types import option_integer, option_real
from dse.gpu.default_device import DEFAULT_MODEL


def configure_breakdown(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse gpu breakdown``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples: dse gpu breakdown sgmm.cl --define N=1000 --device a8-3870 --measured times.csv\n"
        "          dse gpu breakdown sgmm.cl --define N=256 --device pocl --profile 1,2,4,8,16 -o times.csv"
    )
    parser.add_argument(
        "kernel_file", metavar="KERNEL.cl|.c", help="OpenCL C, or a loop nest in C, with a macro for the tile width"
    )
    parser.add_argument("--kernel", metavar="NAME", help="which kernel or function of the file (default: the only one)")
    parser.add_argument("--device", metavar="D", required=True, help="device file, or the name of a built-in device")
    parser.add_argument("--measured", metavar="T.csv", help="columns tile, ms; perhaps local_size, repeats")
    parser.add_argument("--profile", metavar="T,T", help="run the kernel here at these tile widths (pyopencl)")
    parser.add_argument(
        "--repeats", metavar="N", type=option_integer, default=10, help="runs of each tile with --profile (default: 10)"
    )
    parser.add_argument("-o", "--output", metavar="T.csv", help="write the times of --profile")
    parser.add_argument("--host", metavar="HOST.c", help="host program in C: its macros, constants, arguments")
    parser.add_argument(
        "--define", metavar="N=1024", nargs="+", action="extend", default=[], help="macros, and values of arguments"
    )
    parser.add_argument("--tile", metavar="MACRO", default="TILE", help="macro of the tile width (default: TILE)")
    parser.add_argument("--size", metavar="N", default="N", help="work set size: a macro, or a number (default: N)")
    parser.add_argument(
        "--operations", metavar="X", type=option_real, help="operations of the whole kernel (default: as counted)"
    )
    parser.add_argument(
        "--put",
        choices=("as_printed", "prose", "rounds"),
        default="as_printed",
        help="reading of the computing term that is shown in full (default: as_printed)",
    )
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, help=f"what predicts beside the split ({DEFAULT_MODEL}, cgpredict)"
    )
    parser.add_argument("--knots", action="store_true", help="terms may bend where a group needs other wave-fronts")
    parser.add_argument("--plot", metavar="DIR", help="write fits and bars as pictures")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="print results only")
    parser.add_argument("--limit", metavar="NAME=N", action="append", default=argparse.SUPPRESS, help="raise a limit")
