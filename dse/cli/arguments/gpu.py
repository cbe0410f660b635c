"""The arguments of ``dse gpu``."""

import argparse

from dse.cli.arguments.gpu_breakdown import configure_breakdown
from dse.cli.arguments.gpu_link import configure_link
from dse.cli.arguments.gpu_scaling import configure_scaling
from dse.cli.arguments.gpu_sweep import configure_sweep
from dse.cli.option_types import option_integer, option_real
from dse.gpu.default_device import DEFAULT_DEVICE, DEFAULT_MODEL


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-verbs of ``dse gpu``."""
    parser.epilog = (
        "examples: dse gpu predict gemm.c --define N=1024\n"
        "          dse gpu predict gemm.c --device gtx1660s --block 16x16 --json\n"
        "          dse gpu predict --model memory_pipeline --device tesla-m2050 \\\n"
        "                  --requests 5 --transactions 1 --warps 6054 --launches 1000\n"
        "          dse gpu choose gemm.c --devices jetson-tk1 h200 --fpga zc702\n"
        "          dse gpu devices gtx1660s\n"
        "          dse gpu link -o here.yaml\n"
        "          dse gpu sweep gemm.c --over N=256,512,1024 --plot pictures\n"
        "          dse gpu calibrate gtx1080ti measured.csv -o my-gtx1080ti.yaml\n"
        "          dse gpu scaling train set.csv --base 1800/5000 --card gtx1080ti -o model.json"
    )
    verbs = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _configure_predict(verbs.add_parser("predict", help="the time of every kernel of a C file, and why"))
    _configure_choose(verbs.add_parser("choose", help="GPUs, FPGAs and given times against each other"))
    configure_sweep(verbs.add_parser("sweep", help="predicted times over sizes, strides, blocks or warps"))
    _configure_calibrate(verbs.add_parser("calibrate", help="rates of a device from measured times, with intervals"))
    configure_breakdown(verbs.add_parser("breakdown", help="measured times of an OpenCL kernel: computing or memory"))
    configure_link(verbs.add_parser("link", help="what tokens take between processor and GPU, measured here"))
    configure_scaling(verbs.add_parser("scaling", help="time and power over clocks, learnt from measured kernels"))
    _configure_devices(verbs.add_parser("devices", help="the built-in devices, and where their constants come from"))


def _configure_predict(parser: argparse.ArgumentParser) -> None:
    _add_kernel_arguments(parser)
    parser.add_argument(
        "--device",
        default=DEFAULT_DEVICE,
        metavar="D",
        help=f"device file, or the name of a built-in one (default: {DEFAULT_DEVICE})",
    )
    parser.add_argument("--no-advice", action="store_true", help="leave out what changes would give")
    parser.add_argument("--sensitivity", action="store_true", help="also at half and a quarter of every size")
    hand = parser.add_argument_group("memory_pipeline by hand, instead of a kernel")
    hand.add_argument("--requests", type=option_real, metavar="X", help="global memory requests a warp (m_inst)")
    hand.add_argument("--transactions", type=option_real, metavar="X", help="transactions a request (tpr)")
    hand.add_argument("--warps", type=option_real, metavar="X", help="warps launched (w)")


def _configure_choose(parser: argparse.ArgumentParser) -> None:
    _add_kernel_arguments(parser)
    parser.add_argument(
        "--devices", nargs="+", default=[DEFAULT_DEVICE], metavar="D", help="device files or names of built-in ones"
    )
    parser.add_argument(
        "--fpga",
        nargs="+",
        action="extend",
        default=[],
        metavar="F",
        help="FPGA files or names of built-in ones: the same loops are scheduled for them",
    )
    parser.add_argument("--fpga-ms", type=option_real, metavar="X", help="time on an FPGA, in milliseconds")
    parser.add_argument("--cpu-ms", type=option_real, metavar="X", help="time on a CPU, in milliseconds")
    parser.add_argument(
        "--with-host", action="store_true", help="count kernel starts and copies between host and device, too"
    )


def _configure_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("device", metavar="D", help="device file, or the name of a built-in device, to start from")
    parser.add_argument(
        "measured",
        metavar="MEASURED.csv",
        help="columns benchmark, kernel, n, block_x, block_y, median_ms; gpu",
    )
    parser.add_argument(
        "--kernels",
        metavar="DIR",
        default="",
        help="C files of kernels that are not built in: file BENCHMARK.c, function KERNEL, size N",
    )
    parser.add_argument("-o", "--output", metavar="FILE.yaml", help="write the device file with the fitted rates")
    _add_dlcm(parser)
    _add_output_arguments(parser)


def _configure_devices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "device",
        metavar="D",
        nargs="?",
        help="a device file, built-in device or built-in FPGA: all its constants, with their sources",
    )
    _add_output_arguments(parser)


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="print results only")
    parser.add_argument("--limit", metavar="NAME=N", action="append", default=argparse.SUPPRESS, help="raise a limit")


def _add_dlcm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dlcm",
        choices=("ca", "cg"),
        help="loads of global memory as nvcc -Xptxas -dlcm compiles them: ca looks into L1, cg does not "
        "(default: ca where the device file has an L1)",
    )


def _add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", metavar="KERNEL.c", nargs="?", help="the C file")
    _add_output_arguments(parser)
    parser.add_argument("--function", metavar="F", help="only the kernels of this function")
    parser.add_argument(
        "--define", metavar="N=1024", nargs="+", action="extend", default=[], help="macros; they win over the file's"
    )
    parser.add_argument(
        "--block",
        metavar="WxH",
        help="threads of a block in x and y, x the innermost parallel loop (default: 32x32, 256x1 for one loop)",
    )
    parser.add_argument(
        "--trace-size",
        type=option_integer,
        metavar="T",
        help="size at which the memory trace is taken (default: 128, 1024)",
    )
    parser.add_argument(
        "--no-promotion", action="store_true", help="accumulators stay in memory instead of in registers"
    )
    parser.add_argument(
        "--parallel",
        metavar="LOOP",
        nargs="+",
        action="extend",
        default=[],
        help="loops whose iterations are threads, by their variables, outermost first (default: found)",
    )
    parser.add_argument(
        "--tile", metavar="ARRAY", nargs="+", action="extend", default=[], help="arrays that are shared memory tiles"
    )
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        help="hierarchy (default), which real cards confirm best; cgpredict; memory_pipeline",
    )
    _add_dlcm(parser)
    parser.add_argument(
        "--read-cycle",
        choices=("timing", "measured"),
        default="timing",
        help="memory_pipeline: the DRAM read cycle from its timing (default) or as measured",
    )
    parser.add_argument(
        "--launches", type=option_integer, default=1, metavar="N", help="memory_pipeline: times it is started"
    )
