"""The arguments of ``dse weights``."""

import argparse

from dse.cli.arguments.running import add_run_arguments
from dse.gpu.default_device import ACTOR_MODELS, DEFAULT_MODEL

_ACTIONS = ("show", "convert", "merge", "nominal", "predict")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse weights``."""
    parser.epilog = (
        "examples: dse weights nominal actors/jpeg/jpeg.xdf -o nominal\n"
        "          dse weights predict actors/jpeg/jpeg.xdf --device gtx1660s -o predicted\n"
        "          dse weights merge nominal predicted -o merged     (the later one wins)\n"
        "          dse weights show merged\n"
        "          dse weights convert nominal/weights-CPU.exdf -o weights-CPU.exdf\n"
    )
    parser.add_argument("action", choices=_ACTIONS, help="what to do")
    parser.add_argument(
        "files", nargs="+", metavar="W", help="weight folders or files (.exdf .sxdf .cxdf); nominal, predict: a network"
    )
    parser.add_argument("-o", "--output", metavar="W", help="weight folder, or file, to write")
    parser.add_argument(
        "--unit", choices=("cpu", "gpu"), help="unit kind of a single file (default: what its name tells)"
    )
    parser.add_argument(
        "--platform",
        metavar="P",
        help="nominal: platform whose unit kinds and clocks to use; predict: of the CPU's side of host FIFOs",
    )
    parser.add_argument(
        "--source-path",
        metavar="DIR",
        action="append",
        default=[],
        help="nominal, predict: folder of classes; may be repeated",
    )
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        help="predict: input, or a folder of inputs (default: what input.default names)",
    )
    parser.add_argument("--device", metavar="D", help="predict: a device file, or the name of a built-in one")
    parser.add_argument(
        "--threads", metavar="THxBL", help="predict: TH blocks of BL threads an actor (default: what it holds)"
    )
    parser.add_argument(
        "--model",
        choices=ACTOR_MODELS,
        help=f"predict: the model that prices loops (default: {DEFAULT_MODEL})",
    )
    add_run_arguments(parser, prefix="predict: ")
