"""What the scripts of peers have in common: they ask for indices of variables, and are told costs."""

from collections.abc import Generator, Sequence

from benchmarks.search.peers.variables import Variables, cost_of
from dse.explore.method import SearchContext
from dse.explore.methods.scripted import Scripted
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation


class Peer(Scripted):
    """A peer that asks for points one by one or in generations."""

    patience = 5000

    def __init__(self, context: SearchContext) -> None:
        super().__init__(context)
        self._variables = Variables(context.space)

    def _costs(self, asked: Sequence[Sequence[int]]) -> Generator[Sequence[Candidate], list[Evaluation], list[float]]:
        """Ask for points and return their costs, in their order; what is no point of the space is asked of nobody."""
        candidates = [self._variables.candidate(indices) for indices in asked]
        wanted = [candidate for candidate in candidates if candidate is not None]
        told = iter((yield wanted) if wanted else ())
        return [cost_of(None if candidate is None else next(told)) for candidate in candidates]

    def _seed(self) -> int:
        return int(self._context.rng.integers(1, 2**31 - 1))
