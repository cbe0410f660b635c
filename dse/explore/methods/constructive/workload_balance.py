"""Workload balance: longest processing time first, each actor on the core that it then loads the least (Graham 1969).

Ignores communication. One mapping for each number of partitions; Graham's rule is within 4/3 of the best load.
"""

from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.construction import mappings_of, singles
from dse.explore.moves.moves import settings_of


class WorkloadBalance(Scripted):
    """Asks for the LPT mappings, with every policy and capacity vector."""

    ceiling = 0

    def _script(self) -> Script:
        yield settings_of(self._space, mappings_of(self._context, lambda _: singles(self._context)))
