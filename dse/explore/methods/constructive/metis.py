"""METIS: multilevel k-way graph partitioning (Karypis and Kumar 1998). Needs the package ``pymetis``.

Vertices are actors weighted by load, edges are the tokens between two actors; METIS minimises the cut tokens with
loads balanced within a few percent. Each number of partitions is tried with several seeds.
"""

import itertools
from typing import Any

from dse.base.extras import import_extra
from dse.explore.method import SearchContext
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import cheapest_load, groups_of, mappings_of, scaled, traffic_between
from dse.explore.moves.moves import settings_of
from dse.explore.space.space import Candidate

SEEDS = 4
"""METIS runs for each number of partitions."""


class Metis(Scripted):
    """Asks for the mappings of METIS for each number of partitions, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        module = import_extra("pymetis", "metis")
        seeds = self._context.rng.integers(1, 2**31 - 1, SEEDS).tolist()
        found: dict[Candidate, None] = {}
        for seed in seeds:
            groups = lambda count, s=seed: _groups(module, self._context, count, s)  # noqa: E731
            found.update(dict.fromkeys(mappings_of(self._context, groups)))
        yield settings_of(self._space, list(found))


def _groups(module: Any, context: SearchContext, count: int, seed: int) -> list[list[int]]:
    n = context.space.n_actors
    if count == 1 or n == 1:
        return [list(range(n))]
    neighbours = _neighbours(context)
    starts = [0, *itertools.accumulate(map(len, neighbours))]
    _, labels = module.part_graph(
        count,
        adjacency=module.CSRAdjacency(adj_starts=starts, adjacent=[b for row in neighbours for b, _ in row]),
        eweights=[w for row in neighbours for _, w in row],
        vweights=scaled([cheapest_load(context, a) for a in range(n)]),
        options=module.Options(seed=seed),
    )
    return groups_of([int(label) for label in labels])


def _neighbours(context: SearchContext) -> list[list[tuple[int, int]]]:
    """Return of each actor those that it exchanges tokens with, and how many, scaled."""
    pairs = traffic_between(context)
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(context.space.n_actors)]
    for (a, b), weight in zip(pairs, scaled(list(pairs.values())), strict=True):
        neighbours[a].append((b, weight))
        neighbours[b].append((a, weight))
    return neighbours
