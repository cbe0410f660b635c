"""Warnings of files and networks, as Python tells them."""

import sys
import warnings
from collections.abc import Iterable

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic

SHOWN = 5


class DseWarning(UserWarning):
    """Something in a file or a network that is probably not meant so, with its place."""


def warn(found: Iterable[Diagnostic]) -> None:
    """Warn of the first few, and of how many more there are; ``warnings`` of Python can hide or raise them."""
    told, level = tuple(found), _caller()
    for diagnostic in told[:SHOWN]:
        warnings.warn(render(diagnostic), DseWarning, stacklevel=level)
    if len(told) > SHOWN:
        warnings.warn(f"{len(told) - SHOWN} more warnings: see `dse check`", DseWarning, stacklevel=level)


def _caller() -> int:
    """Return how far up who called the API stands, as ``warnings.warn`` counts in the function that asks this."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dse."):
        level, frame = level + 1, frame.f_back
    return level
