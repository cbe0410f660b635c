"""Pareto local search (Paquete, Chiarandini and Stuetzle 2004): the front moves by the neighbours of its own points.

Starts from the constructed mappings; takes a front point whose neighbours were not looked at, evaluates them, and lets
those that nothing beats join the front, until every point of it was looked at; then points drawn from the whole space
follow, each the start of a new front to join. With one objective it is a local search that never walks away.
"""

from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import all_moves, position_of, random_candidate, reset, settings_of, some_swaps
from dse.explore.objectives.pareto import ParetoArchive
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation

NEIGHBOURS = 64
"""So many neighbours of one point are evaluated before the next point is chosen; more are drawn at random."""
DRAWN = 16
"""So many points of the whole space are evaluated when all of the front was looked at."""


class ParetoSearch(Scripted):
    """Local search with a front instead of a current point; see the module."""

    def _script(self) -> Script:
        starts = settings_of(self._space, constructed(self._context))
        archive, evaluated, looked_at = ParetoArchive(), list[Candidate](), set[int]()
        batch = starts
        while True:
            results = yield batch
            for candidate, result in zip(batch, results, strict=True):
                if not result.deadlock:
                    archive.add(len(evaluated), costs_of(result))
                    evaluated.append(candidate)
            unseen = [key for key, _ in archive.front if key not in looked_at]
            if unseen:
                chosen = unseen[int(self._context.rng.integers(len(unseen)))]
                looked_at.add(chosen)
                batch = self._neighbours(evaluated[chosen])
            else:
                batch = [random_candidate(self._context) for _ in range(DRAWN)]

    def _neighbours(self, candidate: Candidate) -> list[Candidate]:
        """Return some neighbours in random order."""
        position = position_of(candidate)
        steps = [
            *all_moves(self._space, position),
            *some_swaps(self._space, position, self._context.rng),
            *reset(self._space, position),
        ]
        found = list(dict.fromkeys(step.candidate for step in steps))
        order = self._context.rng.permutation(len(found)).tolist()
        return [found[i] for i in order[:NEIGHBOURS]]


def costs_of(result: Evaluation) -> tuple[int, ...]:
    """Return the costs of the objectives; the makespan where a search has no others."""
    return result.costs or (result.makespan,)
