"""What ``make test`` leaves to ``make test-full``: random examples, and long cases beside others of their kind."""

import os

import pytest
from hypothesis import settings

WHOLE = "DSE_FULL" in os.environ
"""Whether all is done: ``make test-full``."""
IN_FULL = pytest.mark.skipif(not WHOLE, reason="DSE_FULL is not set: make test-full does")


def examples(number: int) -> int:
    """Return how many of ``number`` examples are drawn: all in ``make test-full``, which draws others each time."""
    return number if settings.get_current_profile_name() != "ci" else min(number, max(20, number // 3))


def in_full(*rows: tuple[object, ...]) -> list[object]:
    """Return rows of several parameters that only ``make test-full`` has."""
    return [pytest.param(*row, marks=IN_FULL) for row in rows]


def seldom(*values: object) -> list[object]:
    """Return parameters of a test that only ``make test-full`` has."""
    return [pytest.param(value, marks=IN_FULL) for value in values]
