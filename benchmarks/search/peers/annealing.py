"""Simulated annealing that knows nothing of mappings: Metropolis steps, and scipy's generalised form."""

import math
import threading
from queue import SimpleQueue

import numpy as np
from scipy.optimize import dual_annealing

from benchmarks.search.peers.peer import Peer
from dse.explore.methods.scripted import Script

STEPS = 300
"""Steps of a schedule, after which it begins anew at the best: the budget of the comparison."""
HOT, COLD = 0.1, 0.001
"""First and last temperature as parts of the first cost."""


class Metropolis(Peer):
    """One variable after another gets another value (Kirkpatrick, Gelatt and Vecchi 1983)."""

    steps = STEPS

    def _script(self) -> Script:
        rng, values = self._context.rng, self._variables.values
        changing = [a for a, own in enumerate(values) if len(own) > 1]
        now = self._variables.random(rng)
        (cost,) = yield from self._costs([now])
        best, least = now, cost
        while changing:
            scale = least
            for step in range(self.steps):
                temperature = scale * HOT * (COLD / HOT) ** (step / self.steps)
                actor = changing[int(rng.integers(len(changing)))]
                next_one = list(now)
                next_one[actor] = (now[actor] + int(rng.integers(1, len(values[actor])))) % len(values[actor])
                (found,) = yield from self._costs([next_one])
                if found <= cost or rng.random() < math.exp((cost - found) / temperature):
                    now, cost = next_one, found
                if cost < least:
                    best, least = now, cost
            now, cost = best, least


class LongMetropolis(Metropolis):
    """The same with half of the budget of long searches (``benchmarks.search.longer``) for a schedule."""

    steps = 10_000


class _Over(Exception):
    """The search is over, and so is the function that asks it."""


class ScipyDual(Peer):
    """``scipy.optimize.dual_annealing`` without local search (Xiang et al. 1997), as Kernel Tuner offers it.

    It calls a function, so it runs in a thread of its own, and one of the two threads always waits for the other.
    """

    def _script(self) -> Script:
        asked: SimpleQueue[list[int] | None] = SimpleQueue()
        told: SimpleQueue[float | None] = SimpleQueue()

        def function(place: np.ndarray) -> float:
            asked.put(self._variables.in_cube(place.tolist()))
            cost = told.get()
            if cost is None:
                raise _Over
            return cost

        def work(seed: int) -> None:
            try:
                bounds = [(0.0, 1.0)] * len(self._variables)
                dual_annealing(function, bounds, maxiter=10**6, maxfun=10**9, no_local_search=True, rng=seed)
            except _Over:
                return
            asked.put(None)

        thread = threading.Thread(target=work, args=(self._seed(),), daemon=True)
        thread.start()
        try:
            while (indices := asked.get()) is not None:
                (cost,) = yield from self._costs([indices])
                told.put(cost)
        finally:
            told.put(None)
            thread.join()
