"""CP-SAT of OR-Tools: mappings that are best in a model of loads and transfers, then steps from the best of them.

The model has a variable for each actor and slot, and minimises the largest load plus a price for each buffer whose
ends are apart, as load balancers do. It is solved for several prices, each within a fixed amount of work, and its last
solutions are estimated. Then single moves and exchanges are drawn, and kept when they do not harm.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.search.peers.cp_sat_model import Model, solve
from benchmarks.search.peers.peer import Peer
from dse.explore.methods.scripted import Script

PRICES = (0.0, 0.05, 0.1, 0.2, 0.4)
"""What it counts that all buffers are cut, in parts of the mean load, as in our own annealed loads."""
LOAD = 10_000
"""All loads together in the integers of the model."""


class CpSat(Peer):
    """Solutions of the model, then polishing."""

    def _script(self) -> Script:
        best, least = list[int](), float("inf")
        for indices in self._solutions():
            (cost,) = yield from self._costs([indices])
            if cost < least:
                best, least = indices, cost
        while True:
            indices = self._step(best)
            (cost,) = yield from self._costs([indices])
            if cost <= least:
                best, least = indices, cost

    def _solutions(self) -> Iterator[list[int]]:
        """Yield the solutions for all prices."""
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            for price in PRICES:
                yield from pool.submit(solve, self._model(price)).result()

    def _model(self, price: float) -> Model:
        context, space = self._context, self._space
        values = tuple(map(tuple, self._variables.values))
        total = sum(map(min, context.loads)) or 1
        tokens = sum(edge.tokens for edge in context.traffic) or 1
        slots = len({slot for own in values for slot in own})
        return Model(
            values=values,
            loads=tuple(
                tuple(round(LOAD * context.loads[a][space.unit_of_slot[slot]] / total) for slot in own)
                for a, own in enumerate(values)
            ),
            cuts=tuple(self._cuts(price * LOAD / slots / tokens)),
            seed=self._seed() % 2**30,
        )

    def _cuts(self, of_a_token: float) -> Iterator[tuple[int, int, int]]:
        """Yield the buffers between two actors, with the price of each when it is cut."""
        for edge in self._context.traffic:
            price = round(of_a_token * edge.tokens)
            if edge.source != edge.target and price:
                yield edge.source, edge.target, price

    def _step(self, best: list[int]) -> list[int]:
        """Return the point with one actor elsewhere, or two exchanged."""
        rng, values = self._context.rng, self._variables.values
        a, b = int(rng.integers(len(best))), int(rng.integers(len(best)))
        found = list(best)
        there = values[b][best[b]]
        if rng.random() < 0.5 and there in values[a] and values[a][best[a]] in values[b]:
            found[a], found[b] = values[a].index(there), values[b].index(values[a][best[a]])
        else:
            found[a] = int(rng.integers(len(values[a])))
        return found
