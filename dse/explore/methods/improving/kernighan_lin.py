"""Communication cost: few tokens between partitions, by Kernighan and Lin's exchanges (Kernighan and Lin 1970).

Two groups of about equal load are improved by passes: the best exchange of two actors is made and both are locked,
until one group is all locked; the best prefix of the pass stands. More groups come from cutting groups again.
"""

import numpy as np
from numpy.typing import NDArray

from dse.explore.method import SearchContext
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import cheapest_load, mappings_of, traffic_between
from dse.explore.moves.moves import settings_of

PASSES = 10
"""Passes of exchanges over one bisection; all but the first few change nothing."""


class KernighanLin(Scripted):
    """Asks for one mapping of few cut tokens for each number of partitions, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        yield settings_of(self._space, mappings_of(self._context, lambda count: _grouped(self._context, count)))


def _grouped(context: SearchContext, count: int) -> list[list[int]]:
    tokens = np.zeros((context.space.n_actors, context.space.n_actors), dtype=np.int64)
    for (a, b), n in traffic_between(context).items():
        tokens[a, b] = tokens[b, a] = n
    loads = [cheapest_load(context, a) for a in range(context.space.n_actors)]
    return _cut(list(range(context.space.n_actors)), count, tokens, loads)


def _cut(actors: list[int], count: int, tokens: NDArray[np.int64], loads: list[int]) -> list[list[int]]:
    """Return at most ``count`` groups: two of proportional load, improved by exchanges, each cut again."""
    if count <= 1 or len(actors) <= 1:
        return [actors]
    parts = (count // 2, count - count // 2)
    sides: tuple[list[int], list[int]] = ([], [])
    filled = [0, 0]
    for actor in sorted(actors, key=lambda a: -loads[a]):
        side = 0 if (filled[0] + loads[actor]) * parts[1] <= (filled[1] + loads[actor]) * parts[0] else 1
        sides[side].append(actor)
        filled[side] += loads[actor]
    for _ in range(PASSES):
        if not _improved(sides[0], sides[1], tokens):
            break
    return [g for s, part in zip(sides, parts, strict=True) if s for g in _cut(s, part, tokens, loads)]


def _improved(left: list[int], right: list[int], tokens: NDArray[np.int64]) -> bool:
    """Make the best prefix of one pass of exchanges; returns whether it saved tokens."""
    if not left or not right:
        return False
    inner = tokens[np.ix_(left, right)].astype(np.int64)
    gain_left = inner.sum(axis=1) - tokens[np.ix_(left, left)].sum(axis=1)
    gain_right = inner.sum(axis=0) - tokens[np.ix_(right, right)].sum(axis=1)
    free_left, free_right = np.ones(len(left), bool), np.ones(len(right), bool)
    pairs: list[tuple[int, int]] = []
    gains: list[int] = []
    for _ in range(min(len(left), len(right))):
        gain = gain_left[:, None] + gain_right[None, :] - 2 * inner
        gain = np.where(free_left[:, None] & free_right[None, :], gain, np.iinfo(np.int64).min)
        i, j = (int(k) for k in np.unravel_index(int(gain.argmax()), gain.shape))
        pairs.append((i, j))
        gains.append(int(gain[i, j]))
        free_left[i] = free_right[j] = False
        # What an exchange does to the others: ties to the actor that left become outer, to the one that came inner.
        gain_left += 2 * (tokens[left, left[i]] - tokens[left, right[j]])
        gain_right += 2 * (tokens[right, right[j]] - tokens[right, left[i]])
    sums = np.cumsum(gains)
    best = int(sums.argmax())
    if sums[best] <= 0:
        return False
    for i, j in pairs[: best + 1]:
        left[i], right[j] = right[j], left[i]
    return True
