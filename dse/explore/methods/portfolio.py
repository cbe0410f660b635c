"""Portfolio: several methods take turns on one budget and share what was evaluated (Huberman, Lukose and Hogg 1997).

What one member has evaluated costs another nothing, and branch and bound takes the best makespan of all as its own.
A member that has ended leaves the rest its turns; one that is exact ends the search with a proof.
"""

from collections.abc import Sequence
from dataclasses import replace

from dse.explore.method import SearchContext, SearchMethod
from dse.explore.methods.annealing import SimulatedAnnealing
from dse.explore.methods.branch_and_bound import BranchAndBound
from dse.explore.methods.local_search import LocalSearch
from dse.explore.methods.tabu import Tabu
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation


class Portfolio:
    """Turns of local search, tabu search, annealing and branch and bound; local search has every other turn."""

    def __init__(self, context: SearchContext) -> None:
        local, tabu, annealing, exact = (replace(context, rng=rng) for rng in context.rng.spawn(4))
        self._exact = BranchAndBound(exact)
        often = LocalSearch(local)
        self._turns: list[SearchMethod] = [often, self._exact, often, Tabu(tabu), often, SimulatedAnnealing(annealing)]
        self._turn = 0
        self._told: dict[SearchMethod, set[str]] = {member: set() for member in self._turns}

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
        """Whether the best point is proven: branch and bound is the member that ends last."""
        return self._exact.done

    @property
    def ceiling(self) -> int | None:
        """That of the member whose turn it is."""
        return self._turns[self._turn % len(self._turns)].ceiling

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return what the member whose turn it is asks for; nothing when it only thought."""
        return self._turns[self._turn % len(self._turns)].ask(n)

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Tell the member that asked, and branch and bound; then it is the next one's turn.

        A member that asked for nothing but what it had been told as cut keeps its turn: others would not have asked.
        """
        member = self._turns[self._turn % len(self._turns)]
        member.tell(results)
        told = self._told[member]
        again = bool(results) and all(result.digest in told for result in results)
        told.update(result.digest for result in results)
        if member is not self._exact:
            for result in results:
                self._exact.observe(result)
        if member.done:
            self._turns = [other for other in self._turns if other is not member]
        self._turn += not again
