"""Greedy construction: a few mappings built from loads and traffic alone, one set for each number of partitions.

Three rules, all classic: longest processing time first on the least loaded slot (Graham 1969); contiguous chunks of the
pipeline with balanced loads; clusters along the heaviest FIFOs, packed as in the first rule.
"""

from collections.abc import Sequence

from dse.explore.method import SearchContext
from dse.explore.moves.construction import chunks, clusters, packed, singles, slot_choices
from dse.explore.moves.moves import settings_of
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation


class Greedy:
    """Asks for the constructed mappings, with every policy, capacity vector and clock, and is done."""

    exact = False
    proven = 0
    ceiling = 0

    def __init__(self, context: SearchContext) -> None:
        self._space = context.space
        self._waiting = settings_of(context.space, constructed(context))

    @property
    def done(self) -> bool:
        """Whether all constructed mappings were asked for."""
        return not self._waiting

    @property
    def pruned(self) -> int:
        """Greedy construction excludes nothing."""
        return 0

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next constructed mappings."""
        asked, self._waiting = self._waiting[:n], self._waiting[n:]
        return [self._space.to_point(candidate) for candidate in asked]

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Nothing to learn."""


def constructed(context: SearchContext) -> list[Candidate]:
    """Return the points to start from and the constructed mappings, distinct, in a fixed order; never empty."""
    if context.constructed:
        return list(context.constructed)
    found: dict[Candidate, None] = dict.fromkeys(context.start)
    for slots in slot_choices(context.space):
        for groups in (
            singles(context),
            chunks(context, len(slots)),
            clusters(context, len(slots)),
        ):
            assignment = context.space.canonical(packed(context, groups, slots))
            if assignment is not None:
                found[Candidate(assignment=assignment)] = None
    if not found:  # pins and bounds on the number of partitions can refuse all of them
        found[Candidate(assignment=next(context.space.assignments()))] = None
    return list(found)
