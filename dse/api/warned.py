"""Warnings of files and networks, as Python tells them."""

import warnings
from collections.abc import Iterable

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic

SHOWN = 5


class DseWarning(UserWarning):
    """Something in a file or a network that is probably not meant so, with its place."""


def warn(found: Iterable[Diagnostic]) -> None:
    """Warn of the first few, and of how many more there are; ``warnings`` of Python can hide or raise them."""
    told = tuple(found)
    for diagnostic in told[:SHOWN]:
        warnings.warn(render(diagnostic), DseWarning, stacklevel=4)
    if len(told) > SHOWN:
        warnings.warn(f"{len(told) - SHOWN} more warnings: see `dse check`", DseWarning, stacklevel=4)
