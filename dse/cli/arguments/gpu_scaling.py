"""The arguments of ``dse gpu scaling``."""

import argparse

from dse.cli.option_types import option_integer, option_real

_SET = (
    "CSV of kernels at all configurations: kernel, core_mhz, memory_mhz, time_ms; compute_units, power_watt, counters"
)


def configure_scaling(parser: argparse.ArgumentParser) -> None:
    """Add the steps of ``dse gpu scaling``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples: dse gpu scaling train set.csv --base 1800/5000 --card gtx1080ti -o model.json\n"
        "          dse gpu scaling predict model.json counters.csv --at 1600/4000\n"
        "          dse gpu scaling judge set.csv --base 1800/5000 --plot pictures"
    )
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    _configure_train(steps.add_parser("train", help="clusters of scaling surfaces, and classifiers from counters"))
    _configure_predict(steps.add_parser("predict", help="time and power of kernels at other configurations"))
    _configure_judge(steps.add_parser("judge", help="each kernel of a set by models of all others"))


def _configure_train(parser: argparse.ArgumentParser) -> None:
    _add_set_arguments(parser)
    parser.add_argument(
        "--card", metavar="D", required=True, help="the device that was measured, by the name of its file"
    )
    parser.add_argument("-o", "--output", metavar="MODEL.json", required=True, help="the file of the model")
    parser.add_argument("--plot", metavar="DIR", help="write surfaces and centroids as pictures")
    _add_output_arguments(parser)


def _configure_predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL.json", help="what 'dse gpu scaling train' has written")
    parser.add_argument(
        "counters", metavar="COUNTERS.csv", help="kernel and its counters at the base; perhaps time_ms, power_watt"
    )
    parser.add_argument(
        "--at", metavar="CORE/MEMORY", action="append", default=[], help="only this configuration; may be repeated"
    )
    _add_output_arguments(parser)


def _configure_judge(parser: argparse.ArgumentParser) -> None:
    _add_set_arguments(parser)
    parser.add_argument("--plot", metavar="DIR", help="write predictions and errors as pictures")
    _add_output_arguments(parser)


def _add_set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("set", metavar="SET.csv", nargs="+", help=_SET)
    parser.add_argument(
        "--base",
        metavar="CORE/MEMORY",
        required=True,
        help="the configuration at which new kernels are run, in MHz; UNITS/CORE/MEMORY where compute units are told",
    )
    parser.add_argument(
        "--clusters", metavar="K", type=option_integer, help="of each set (default: chosen by cross-validation)"
    )
    parser.add_argument(
        "--penalty",
        metavar="X",
        type=option_real,
        help="of large weights of classifiers, such as 1 (default: chosen by cross-validation)",
    )
    parser.add_argument("--seed", type=option_integer, default=1, help="seed of everything random (default: 1)")


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="print results only")
    parser.add_argument("--limit", metavar="NAME=N", action="append", default=argparse.SUPPRESS, help="raise a limit")
