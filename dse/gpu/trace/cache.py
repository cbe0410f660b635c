"""The cache that a warp's lines meet: reuse distances and a set-associative cache with LRU replacement.

A line belongs to set ``line mod sets``. The reuse distance of an access is the number of distinct lines of its set
since the line's last use; the access hits if and only if it is below the associativity (equations (9) to (11) of the
CGPredict paper). A set kept in order of last use answers both: the position of a line is its reuse distance.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numba import njit
from numba.extending import register_jitable

from dse.base.kept_code import kept_by_sources

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function with numba and keep the machine code beside the module."""
    return cast(F, njit(cache=True)(kept_by_sources(function)))


def compilable(function: F) -> F:
    """Let compiled functions call a function that stays Python for everybody else."""
    register_jitable(function)
    return function


@compiled
def use_line(recent: np.ndarray, line: int) -> int:
    """Use a line; ``recent[set]`` holds the lines of a set, the last used first (-1: none), shape (sets, ways).

    Returns the reuse distance if it is below ``ways`` (a hit), else ``ways``.
    """
    sets, ways = recent.shape
    order = recent[line % sets]
    position = 0
    while position < ways and order[position] != line:
        position += 1
    for at in range(min(position, ways - 1), 0, -1):
        order[at] = order[at - 1]
    order[0] = line
    return position


@compiled
def count_hits(lines: np.ndarray, sets: int, ways: int) -> int:
    """Return the hits of a sequence of lines (int64) in an empty cache."""
    recent = np.full((sets, ways), -1, np.int64)
    hits = 0
    for line in lines:
        if use_line(recent, line) < ways:
            hits += 1
    return hits


@compiled
def reuse_distances(lines: np.ndarray, sets: int) -> np.ndarray:
    """Return the reuse distance within its set of each access of ``lines`` (int64); -1 at a line's first use."""
    found = np.empty(lines.size, np.int64)
    counts = np.zeros(sets, np.int64)
    for line in lines:
        counts[line % sets] += 1
    most = 1
    for count in counts:
        most = max(most, int(count))
    recent = np.full((sets, most), -1, np.int64)
    for at in range(lines.size):
        distance = use_line(recent, lines[at])
        found[at] = distance if distance < most else -1
    return found
