"""Random search: points drawn uniformly from the space, each at most once (Bergstra and Bengio 2012).

What every other method has to beat at the same budget.
"""

from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import random_candidate

DRAWN = 32


class RandomSearch(Scripted):
    """Draws until the budget ends or nothing unknown turns up."""

    ceiling = 0

    def _script(self) -> Script:
        while True:
            yield [random_candidate(self._context) for _ in range(DRAWN)]
