"""Which mappings to calibrate with: few, in which every FIFO crosses, and in which actors see different crossings.

An actor does not pay the sum of what each of its crossing FIFOs costs alone, so mappings are preferred in which an
actor has a set of crossing FIFOs that it has not had yet.
"""

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dse.model.trace import Topology

_MOST_LISTED = 14
"""Of so many actors all halves are looked at; of more, some that are drawn."""
_DRAWN = 4096
Owners: TypeAlias = tuple[int, ...]
"""The partition of each actor, 0 or 1."""
_Seen: TypeAlias = tuple[int, frozenset[int]]
"""An actor and the FIFOs of it that cross."""


def calibration_mappings(topology: Topology, loads: Sequence[float], count: int) -> tuple[Owners, ...]:
    """Return up to ``count`` splits over two cores, fewer where one more would show nothing new.

    ``loads``: what each actor takes on one core; equal splits are preferred where all else is equal.
    """
    candidates = _halves(len(topology.actors))
    chosen: list[Owners] = []
    crossed: set[int] = set()
    seen: set[_Seen] = set()
    while len(chosen) < count:
        best = max(candidates, key=lambda owners: _value(owners, topology, loads, crossed, seen), default=None)
        if best is None or not any(_value(best, topology, loads, crossed, seen)[:2]):
            break
        chosen.append(best)
        crossed |= _crossing(best, topology)
        seen |= _patterns(best, topology)
    return tuple(chosen)


def _halves(actors: int) -> list[Owners]:
    """Return splits in two that are not empty; the first actor is in partition 0."""
    if actors < 2:
        return []
    if actors <= _MOST_LISTED:
        return [(0, *rest) for rest in itertools.product((0, 1), repeat=actors - 1) if any(rest)]
    drawn = np.random.default_rng(1).integers(0, 2, (_DRAWN, actors))
    drawn[:, 0] = 0
    return sorted({tuple(row) for row in drawn.tolist() if any(row)})


def _crossing(owners: Owners, topology: Topology) -> set[int]:
    return {i for i, b in enumerate(topology.buffers) if owners[b.source] != owners[b.target]}


def _patterns(owners: Owners, topology: Topology) -> set[_Seen]:
    """Return for each actor with crossing FIFOs which they are."""
    crossing = _crossing(owners, topology)
    of_actor: dict[int, set[int]] = {}
    for i in crossing:
        of_actor.setdefault(topology.buffers[i].source, set()).add(i)
        of_actor.setdefault(topology.buffers[i].target, set()).add(i)
    return {(actor, frozenset(fifos)) for actor, fifos in of_actor.items()}


def _value(
    owners: Owners, topology: Topology, loads: Sequence[float], crossed: set[int], seen: set[_Seen]
) -> tuple[int, int, float]:
    """Return what a split shows that is new, and how equal it is."""
    uneven = abs(sum(load if owner else -load for owner, load in zip(owners, loads, strict=True)))
    return len(_crossing(owners, topology) - crossed), len(_patterns(owners, topology) - seen), -uneven
