"""Arguments of verbs that rank mappings under uncertain weights."""

import argparse

from dse.cli.option_types import option_integer


def add_robust_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how mappings are ranked under uncertain weights."""
    group = parser.add_argument_group("uncertain weights (docs/what-if.md)")
    group.add_argument(
        "--robust",
        metavar="BY",
        nargs="?",
        const="mean",
        help="rank the (best) mappings under drawn weights, by the mean of their makespans or a quantile, such as 95%%",
    )
    group.add_argument(
        "--error",
        metavar="[ORIGIN=]OWN[+COMMON]",
        action="append",
        default=[],
        help="relative error of costs, of each by itself and of all of their origin in common: predicted=30%%+10%%;"
        " without an origin of all that were not measured; may be repeated",
    )
    group.add_argument(
        "--draws", metavar="N", type=option_integer, help="draws of weights (default: as many as take some seconds)"
    )
