"""Dynamic round robin: cores take the actors in turn, whichever core is free first; where an actor ends up it stays.

What a run-time system without affinity does, on loads instead of firings: the load of each actor is served in equal
slices, turn after turn in pipeline order, each slice by the core that is free first. An actor then belongs to the core
that served it the most. The number of slices decides how far the turns drift apart, so several are tried. TURNUS's
method of that name takes the last core of a simulation with one shared queue instead.
"""

from dse.explore.method import SearchContext
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import mappings_of, pipeline_order
from dse.explore.moves.moves import settings_of
from dse.explore.space.space import Candidate

SLICES = (1, 2, 3, 5, 8, 13)
"""Numbers of slices that are tried."""


class RoundRobin(Scripted):
    """Asks for the mappings of each number of slices, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        found: dict[Candidate, None] = {}
        for slices in SLICES:
            found.update(dict.fromkeys(mappings_of(self._context, lambda n, s=slices: _served(self._context, n, s))))  # type: ignore[misc]
        yield settings_of(self._space, list(found))


def _served(context: SearchContext, count: int, slices: int) -> list[list[int]]:
    """Return the actors of each of ``count`` cores: each is on the core that serves it the longest."""
    served = _times_on_cores(context, count, slices)
    core_of = [max(range(count), key=lambda c: (times[c], -c)) for times in served]
    return [[a for a, c in enumerate(core_of) if c == core] for core in range(count) if core in core_of]


def _times_on_cores(context: SearchContext, count: int, slices: int) -> list[list[int]]:
    """Return how long each core serves each actor when they go to the core that is free first, slice by slice."""
    order = pipeline_order(context)
    heaviest = [max(context.loads[a][u] for u in context.space.allowed[a]) for a in range(context.space.n_actors)]
    free_at = [0] * count
    served = [[0] * count for _ in order]
    for turn in range(slices):
        for actor in order:
            core = min(range(count), key=lambda c: (free_at[c], c))
            share = heaviest[actor] * (turn + 1) // slices - heaviest[actor] * turn // slices
            free_at[core] += share
            served[actor][core] += share + 1  # an actor without load belongs somewhere too
    return served
