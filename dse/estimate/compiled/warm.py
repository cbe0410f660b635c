"""Compiles the kernel once, so that the first estimate on a machine need not wait for it: run as a module."""

import importlib


def warm() -> None:
    """Compile the kernel, or find that it is compiled."""
    importlib.import_module("dse.estimate.compiled.kernel")


if __name__ == "__main__":
    warm()
