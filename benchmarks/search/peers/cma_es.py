"""CMA-ES (Hansen and Ostermeier 2001) of the package ``cma``, in a cube whose axes are cut into the values."""

import cma

from benchmarks.search.peers.peer import Peer
from dse.explore.methods.scripted import Script

SIGMA = 0.3


class CmaEs(Peer):
    """Runs that begin in the middle of the cube, one after the other, until the budget ends."""

    def _script(self) -> Script:
        n = len(self._variables)
        while True:
            strategy = cma.CMAEvolutionStrategy(
                n * [0.5], SIGMA, {"bounds": [0, 1], "seed": self._seed(), "verbose": -9, "verb_log": 0}
            )
            while not strategy.stop():
                places = strategy.ask()
                costs = yield from self._costs([self._variables.in_cube(place) for place in places])
                strategy.tell(places, costs)
