"""Portfolio: several methods take turns on one budget and share what was evaluated (Huberman, Lukose and Hogg 1997).

What one member has evaluated costs another nothing, and branch and bound takes the best makespan of all as its own.
A member that has ended leaves the rest its turns; one that is exact ends the search with a proof.
"""

from collections.abc import Sequence
from dataclasses import replace

from dse.explore.method import SearchContext, SearchMethod
from dse.explore.methods.annealing import SimulatedAnnealing
from dse.explore.methods.branch_and_bound import BranchAndBound
from dse.explore.methods.guided_descent import IdleSearch
from dse.explore.methods.local_search import LocalSearch
from dse.explore.methods.tabu import Tabu
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation


class Portfolio:
    """Local search, tabu search, annealing, idle search and branch and bound in turns."""

    def __init__(self, context: SearchContext) -> None:
        seeds = iter(context.rng.spawn(5))
        self._exact = BranchAndBound(replace(context, rng=next(seeds)))
        kinds = (LocalSearch, Tabu, SimulatedAnnealing, IdleSearch)
        self._members: list[SearchMethod] = [kind(replace(context, rng=next(seeds))) for kind in kinds]
        self._members.append(self._exact)
        self._turn = 0

    @property
    def exact(self) -> bool:
        """Whether branch and bound has ended, which proves the best point."""
        return self._exact.done

    @property
    def proven(self) -> int:
        """What branch and bound has proven so far."""
        return self._exact.proven

    @property
    def pruned(self) -> int:
        """The points that branch and bound has excluded."""
        return self._exact.pruned

    @property
    def done(self) -> bool:
        """Whether the best point is proven, or every member has ended."""
        return self._exact.done or not self._members

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return what the member whose turn it is asks for; nothing when it only thought."""
        return self._members[self._turn % len(self._members)].ask(n)

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Tell the member that asked, and branch and bound; then it is the next one's turn."""
        member = self._members[self._turn % len(self._members)]
        member.tell(results)
        if member is not self._exact:
            for result in results:
                self._exact.observe(result)
        if member.done:
            self._members.remove(member)
        else:
            self._turn += 1
