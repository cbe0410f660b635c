"""The arguments of ``dse gpu sweep``."""

import argparse

from dse.cli.option_types import option_integer, option_real
from dse.gpu.default_device import DEFAULT_DEVICE, DEFAULT_MODEL


def configure_sweep(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse gpu sweep``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples: dse gpu sweep gemm.c syrk.c --over N=256,512,1024,2048 --plot pictures\n"
        "          dse gpu sweep gemm.c --define N=1024 --over block=8x8,16x16,32x8 --devices gtx1080ti a100\n"
        "          dse gpu sweep --models memory_pipeline --devices tesla-m2050 --requests 100 \\\n"
        "                  --over warps=512,1024,2048 --over transactions=5,10,15,20 --plot pictures"
    )
    parser.add_argument("kernel", metavar="KERNEL.c", nargs="*", help="C files; none: memory_pipeline by hand")
    parser.add_argument(
        "--over",
        metavar="NAME=V,V",
        action="append",
        required=True,
        help="what varies: a macro, 'block', or requests, transactions, warps by hand; once or twice, the first across",
    )
    parser.add_argument(
        "--devices", nargs="+", default=[DEFAULT_DEVICE], metavar="D", help="device files or names of built-in ones"
    )
    parser.add_argument(
        "--models",
        nargs="+",
        default=[DEFAULT_MODEL],
        metavar="M",
        help=f"{DEFAULT_MODEL} (default), cgpredict, memory_pipeline; simple_cache is what cgpredict compares with",
    )
    parser.add_argument(
        "--define", metavar="N=1024", nargs="+", action="extend", default=[], help="macros that do not vary"
    )
    parser.add_argument("--function", metavar="F", help="only the kernels of this function")
    parser.add_argument("--block", metavar="WxH", help="threads of a block in x and y, where they do not vary")
    parser.add_argument(
        "--trace-size", type=option_integer, metavar="T", help="size at which the memory trace is taken"
    )
    parser.add_argument("--requests", type=option_real, metavar="X", help="by hand: requests a warp (m_inst)")
    parser.add_argument("--transactions", type=option_real, metavar="X", help="by hand: transactions a request (tpr)")
    parser.add_argument("--warps", type=option_real, metavar="X", help="by hand: warps launched (w)")
    parser.add_argument(
        "--read-cycle", choices=("timing", "measured"), default="timing", help="memory_pipeline: where rc comes from"
    )
    parser.add_argument(
        "--launches", type=option_integer, default=1, metavar="N", help="memory_pipeline: times it is started"
    )
    parser.add_argument("--measured", metavar="M.csv", help="columns of --over and ms; perhaps kernel, device")
    parser.add_argument("-o", "--output", metavar="T.csv", help="write the predicted times")
    parser.add_argument("--plot", metavar="DIR", help="write times, throughputs and errors as pictures")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="print results only")
    parser.add_argument("--limit", metavar="NAME=N", action="append", default=argparse.SUPPRESS, help="raise a limit")
