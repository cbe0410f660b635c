"""Compiles the kernel once, so that the first estimate on a machine need not wait for it: run as a module."""

import importlib
import sys

from dse.estimate.compiled.behind import quicker_beside


def warm() -> None:
    """Compile the kernels, or find that they are compiled."""
    kernels = (
        "kernel",
        "path_kernel",
        "load_kernel",
        "place_kernel",
        "walk_kernel",
        "dependency_kernel",
        "waits_kernel",
        "one_core_kernel",
        "tree_kernel",
    )
    for module in kernels:
        importlib.import_module(f"dse.estimate.compiled.{module}")
    importlib.import_module("dse.estimate.token_kernel")


def warm_all() -> None:
    """Compile also what can be done without (``behind``), beside the rest: two cores take two thirds of the time."""
    with quicker_beside() as beside:
        warm()
    if beside.returncode:
        sys.exit(f"the quicker kernels are not compiled: the process ended with {beside.returncode}")


if __name__ == "__main__":
    warm_all()
