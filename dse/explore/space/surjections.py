"""Counting and drawing the mappings of very many actors without a table for each of them.

A mapping that uses so many slots of each unit puts every actor on one of them so that none stays empty, whatever the
slots of a unit are called. Inclusion and exclusion counts such mappings with a product of powers for each number of
slots (Stanley, *Enumerative Combinatorics*, volume 1, 2012, section 2.1). To draw one, the numbers of slots are drawn
by their counts, then the slot of each actor, until no slot stays empty: with many actors the first time nearly always.
``Space`` has the recurrence that also counts what is left behind some actors.
"""

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST_TERMS = 100_000
"""So many products of large numbers are made at most."""
MOST_DRAWS = 4
"""Where on average more draws than this would leave a slot empty, this is not the way."""

_Used: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManyMappings:
    """The mappings of a space by the slots that they use: ``used``, and how many use these or the ones before."""

    allowed: tuple[tuple[int, ...], ...]
    """For each actor the units that it may be on."""
    first: tuple[int, ...]
    """The first slot of each unit."""
    used: tuple[_Used, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """The number of mappings."""
        return self.counts[-1]

    def drawn(self, rng: np.random.Generator) -> _Used:
        """Return the slots of the actors in a mapping drawn from all, slots called in any way."""
        # More random bytes than the number needs keep the bias of the remainder below 2**-64.
        rank = int.from_bytes(rng.bytes(self.total.bit_length() // 8 + 9), "little") % self.total
        used = self.used[bisect.bisect_right(self.counts, rank)]
        slots_of = {
            units: np.concatenate([np.arange(self.first[u], self.first[u] + used[u]) for u in units])
            for units in dict.fromkeys(self.allowed)
        }
        choices = np.array([len(slots_of[units]) for units in self.allowed])
        while True:
            drawn = rng.integers(choices).tolist()
            slots = tuple(int(slots_of[units][i]) for units, i in zip(self.allowed, drawn, strict=True))
            if len(set(slots)) == sum(used):
                return slots


def many_mappings(
    slots: Sequence[int], allowed: Sequence[tuple[int, ...]], *, least: int, most: int
) -> ManyMappings | None:
    """Return the mappings of actors that may be on the units ``allowed`` with so many slots, if this is quick.

    The slots of a unit are alike, no two units are. ``least``, ``most``: so many slots are used.
    """
    shape = tuple(n + 1 for n in slots)
    if math.prod(shape) * sum(shape) > MOST_TERMS:
        return None
    anywhere = _anywhere(shape, allowed)
    everywhere = _without_empty_ones(anywhere)
    counts: list[int] = []
    found: list[_Used] = []
    draws = 0
    for used in itertools.product(*map(range, shape)):
        names = math.prod(map(math.factorial, used))
        if least <= sum(used) <= most and everywhere[used]:
            found.append(used)
            counts.append(everywhere[used] // names)
            draws += anywhere[used] // names
    if not counts or draws > MOST_DRAWS * sum(counts):
        return None
    return ManyMappings(
        allowed=tuple(allowed),
        first=tuple(itertools.accumulate(slots, initial=0))[:-1],
        used=tuple(found),
        counts=tuple(itertools.accumulate(counts)),
    )


def _anywhere(shape: tuple[int, ...], allowed: Sequence[tuple[int, ...]]) -> NDArray[np.object_]:
    """Return in how many ways the actors go to so many slots of each unit, told apart, some of them empty or not."""
    ways = np.empty(shape, dtype=object)
    of_units = Counter(allowed)
    for used in itertools.product(*map(range, shape)):
        ways[used] = math.prod(sum(used[u] for u in units) ** n for units, n in of_units.items())
    return ways


def _without_empty_ones(ways: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return in how many of these ways no slot is empty."""
    for axis, size in enumerate(ways.shape):
        signed = np.array(
            [[(-1) ** (k + j) * math.comb(k, j) for j in range(size)] for k in range(size)], dtype=object
        )  # of k slots j may be used
        ways = np.moveaxis(np.tensordot(signed, ways, axes=(1, axis)), 0, axis)
    return ways
