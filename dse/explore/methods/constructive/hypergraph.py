"""Hypergraph partitioning with Mt-KaHyPar (Gottesbüren et al. 2024). Needs the package ``mtkahypar``.

A port with its readers is one hyperedge, weighted by its tokens: a broadcast counts once for each partition it
reaches, which a graph cannot say. The deterministic preset is used, each number of partitions with several seeds.
"""

import functools
from typing import Any

from dse.base.extras import import_extra
from dse.explore.method import SearchContext
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import cheapest_load, groups_of, mappings_of, scaled
from dse.explore.moves.moves import settings_of
from dse.explore.space.space import Candidate

SEEDS = 2
"""Runs for each number of partitions and each imbalance."""
IMBALANCES = (0.03, 0.2)
"""How far the heaviest partition may exceed a fair share: tight for load, loose for few tokens between partitions."""


class Hypergraph(Scripted):
    """Asks for the mappings of Mt-KaHyPar for each number of partitions, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        module = import_extra("mtkahypar", "hypergraph")
        partitioner = _partitioner(module)
        seeds = self._context.rng.integers(1, 2**31 - 1, SEEDS).tolist()
        found: dict[Candidate, None] = {}
        for seed in seeds:
            for imbalance in IMBALANCES:
                groups = lambda n, s=seed, e=imbalance: _groups(module, partitioner, self._context, n, s, e)  # noqa: E731
                found.update(dict.fromkeys(mappings_of(self._context, groups)))
        yield settings_of(self._space, list(found))


@functools.cache
def _partitioner(module: Any) -> Any:
    """Return the library's one instance; a second initialisation would be a warning on the terminal."""
    return module.initialize(1)


def _groups(
    module: Any, partitioner: Any, context: SearchContext, count: int, seed: int, imbalance: float
) -> list[list[int]]:
    n = context.space.n_actors
    nets = _nets(context)
    if count == 1 or n <= count or not nets:
        return [[a] for a in range(n)] if count > 1 else [list(range(n))]
    setup = partitioner.context_from_preset(module.PresetType.DETERMINISTIC)
    setup.set_partitioning_parameters(count, imbalance, module.Objective.KM1)
    setup.logging = False
    module.set_seed(seed)
    graph = partitioner.create_hypergraph(
        setup,
        n,
        len(nets),
        [pins for pins, _ in nets],
        scaled([cheapest_load(context, a) for a in range(n)]),
        scaled([tokens for _, tokens in nets]),
    )
    result = graph.partition(setup)
    return groups_of([int(result.block_id(a)) for a in range(n)])


def _nets(context: SearchContext) -> list[tuple[list[int], int]]:
    """Return (actors, tokens) of each port that reaches another actor."""
    ports: dict[tuple[int, int], dict[int, None]] = {}
    tokens: dict[tuple[int, int], int] = {}
    for edge in context.traffic:
        port = (edge.source, edge.port)
        ports.setdefault(port, {edge.source: None})[edge.target] = None
        tokens[port] = max(tokens.get(port, 0), edge.tokens)
    return [(list(actors), tokens[port]) for port, actors in ports.items() if len(actors) > 1]
