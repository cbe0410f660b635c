"""Balanced pipeline: the actors in topological order, cut into runs of neighbours whose heaviest is lightest.

The chains-on-chains problem, solved exactly by bisection on the heaviest load (Pinar and Aykanat 2004).
"""

from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import chunks, mappings_of
from dse.explore.moves.moves import settings_of


class BalancedPipeline(Scripted):
    """Asks for the best cut of the pipeline for each number of partitions, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        yield settings_of(self._space, mappings_of(self._context, lambda count: chunks(self._context, count)))
