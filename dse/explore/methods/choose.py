"""Which search method ``auto`` is in a space."""

from dse.base.numbers import about_count
from dse.explore.space.space import Space

EXHAUSTIVE_POINTS = 200_000
"""Up to this many points ``exhaustive`` sorts by their bound (a few seconds) and ``auto`` prefers it.

Sorted, the points most likely to be good come first and few are left to estimate: of the 175 275 mappings of
``smith_waterman`` on four cores 237 had to be, in 1 s; local search took 5000 estimations to find no better one.
"""


def choose_method(space: Space) -> tuple[str, str]:
    """Return the method that ``auto`` stands for, and why in words."""
    if space.size <= EXHAUSTIVE_POINTS:
        return "exhaustive", "the likely best first, until a bound excludes the rest"
    return "portfolio", f"{size_text(space)} are too many to cover: searches in turns, and branch and bound for a proof"


def size_text(space: Space) -> str:
    """Return the size of a space in words."""
    if space.size == space.mappings:
        return f"{about_count(space.size)} mappings"
    return f"{about_count(space.size)} points ({about_count(space.mappings)} mappings)"
