"""Portfolio: several methods take turns on one budget and share what was evaluated (Huberman, Lukose and Hogg 1997).

What one member has evaluated costs another nothing, and branch and bound takes the best makespan of all as its own.
Branch and bound gets more branches than its turns would give it, because they cost no evaluation. The search ends with
a proof: branch and bound has ended, or the best makespan of all is a bound that holds for the whole space, or together
the members have seen all points. A member that has ended leaves the rest its turns.

Iterated search has most turns: it finds good mappings of large networks with the fewest evaluations
(``docs/search-quality.md``). Above 500 actors it moves groups of them first (``multilevel``), and no turn is spent on
branches. Else, where a proof is within reach, branch and bound has every third turn, in somewhat larger spaces after
5,000 evaluations, else one of 128, since it proves nothing there. The integer program is solved once, for its bound.

Where iterated search goes on in legs, the others have their turns when so many evaluations were made in legs as it
would have made in its turns of a round.
"""

from collections.abc import Sequence
from dataclasses import replace

from dse.explore.method import SearchContext, SearchMethod, least_makespan
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.exact.branch_and_bound import BranchAndBound
from dse.explore.methods.exact.integer_program import placement_bound
from dse.explore.methods.improving.iterated_search import MANY_ACTORS, IteratedSearch
from dse.explore.methods.improving.leg import Leg, LegOutcome
from dse.explore.methods.improving.multilevel import Multilevel
from dse.explore.methods.improving.tabu import TabuJoint
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

PAUSES = 8
"""In its turn branch and bound looks at so many times the branches between two looks at the clock, if it asks nothing
and a proof is within reach; else once: a tenth of a second."""
PROGRAM_TURN = 40
"""Before this turn the integer program is solved, once, for its bound: searches that end sooner need none."""
PROVABLE = 10**9
"""In spaces up to this size branch and bound often ends within some hundred evaluations."""
PROVABLE_LATER, LATER = 10**10, 5_000
"""In spaces up to this size it ends within some ten thousand evaluations: it has as many turns after so many."""
LEGS_OF_ROUND = 500
"""So many evaluations does iterated search make in a round of turns, each of four or five."""


class Portfolio:
    """Turns of iterated search, branch and bound and tabu search."""

    def __init__(self, context: SearchContext) -> None:
        context = replace(context, constructed=tuple(constructed(context)))
        iterated, tabu, exact = (replace(context, rng=rng) for rng in context.rng.spawn(3))
        self._exact = BranchAndBound(exact)
        provable, many = context.space.size <= PROVABLE, context.space.n_actors > MANY_ACTORS
        self._later = PROVABLE < context.space.size <= PROVABLE_LATER
        self._walking = (
            None if many else IteratedSearch(replace(iterated, legs=context.legs and not (provable or self._later)))
        )
        """Iterated search, which may go on in legs; groups of actors do not."""
        often, joint = self._walking or Multilevel(iterated), TabuJoint(tabu)
        round_of: list[SearchMethod] = [*[often] * 31, joint]
        self._turns: list[SearchMethod] = [*[often] * 15, often if many else self._exact, *[often] * 15, joint]
        self._turns += round_of * 3
        self._proving: list[SearchMethod] = [often, self._exact, often, often, self._exact, joint]
        """The turns where a proof is within reach."""
        self._pauses, self._turn = 1, 0
        if provable:
            self._turn_to_proof()
        self._others: list[SearchMethod] = [joint, joint, self._exact, joint, joint]
        self._owed: list[SearchMethod] = []
        """Those that have a turn before the next leg is taken."""
        self._in_legs = 0
        """Evaluations in legs since the last round."""
        self._told: dict[SearchMethod, set[str]] = {member: set() for member in self._turns}
        self._size, self._least = context.space.size, context.placement.least
        self._seen: set[str] = set()
        self._best: int | None = None
        self._context = context
        self._placed = 0
        """What the integer program has proven (``dse.explore.methods.exact.integer_program``), once it was solved."""

    def _turn_to_proof(self) -> None:
        self._turns = [member for member in self._proving if member is self._exact or not member.done]
        self._pauses, self._turn, self._later = PAUSES, 0, False

    @property
    def exact(self) -> bool:
        """Whether the best point is proven: by branch and bound, by a bound of the space, or all points were seen."""
        return self._exact.done or len(self._seen) >= self._size or self._meets_bound()

    @property
    def done(self) -> bool:
        """Whether the best point is proven: branch and bound is the member that ends last."""
        return self.exact

    def _meets_bound(self) -> bool:
        return self._best is not None and self._best <= max(self._least, self._placed, self._exact.proven)

    @property
    def proven(self) -> int:
        """What branch and bound or the integer program has proven; the best makespan where all points were seen."""
        if self.exact and self._best is not None:
            return self._best
        return max(self._placed, self._exact.proven)

    @property
    def pruned(self) -> int:
        """The points that branch and bound has excluded, or the bound that the best one meets."""
        if self.exact and not self._exact.done:
            return self._size - len(self._seen)
        return self._exact.pruned

    @property
    def ceiling(self) -> int | None:
        """That of the member whose turn it is."""
        return self._next().ceiling

    @property
    def legs_soon(self) -> bool:
        """See ``InLegs``."""
        return self._walking is not None and self._walking.legs_soon

    @property
    def awaited(self) -> int | None:
        """See ``InLegs``."""
        walking = self._walking
        return None if self._owed or walking is None or walking.done else walking.awaited

    def next_leg(self) -> Leg | None:
        """See ``InLegs``."""
        return None if self._walking is None or self.awaited is None else self._walking.next_leg()

    def take(self, outcome: LegOutcome) -> None:
        """See ``InLegs``."""
        assert self._walking is not None, "it has set out"
        self._walking.take(outcome)
        self._note(outcome.made, self._walking)
        self._in_legs += len(outcome.made)
        rounds, self._in_legs = divmod(self._in_legs, LEGS_OF_ROUND)
        self._owed = [member for member in self._others * rounds if not member.done]

    def _next(self) -> SearchMethod:
        """Return the member whose turn it is."""
        return self._owed[0] if self._owed else self._turns[self._turn % len(self._turns)]

    def _note(self, results: Sequence[Evaluation], member: SearchMethod) -> None:
        """Note what a member was told; branch and bound is told what the others were."""
        self._best = least_makespan(results, self._best)
        self._seen.update(result.digest for result in results)
        if member is not self._exact:
            self._exact.observe(results)

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return what the member whose turn it is asks for; nothing when it only thought."""
        if self._turn == PROGRAM_TURN and not self._placed:
            self._placed = max(1, placement_bound(self._context))
        member = self._next()
        for _ in range(self._pauses if member is self._exact else 1):
            points = member.ask(n)
            if points or member.done:
                break
        return points

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Tell the member that asked, and branch and bound; then it is the next one's turn.

        A member that asked for nothing but what it had been told as cut keeps its turn: others would not have asked.
        """
        member = self._next()
        member.tell(results)
        told = self._told[member]
        again = bool(results) and all(result.digest in told for result in results)
        told.update(result.digest for result in results)
        self._note(results, member)
        self._end_turn(member, again=again)

    def _end_turn(self, member: SearchMethod, *, again: bool) -> None:
        """Go on to the next turn, without a member that is done; ``again``: the same one has another turn."""
        if not self._owed:
            self._turn += not again
        elif not again:
            del self._owed[0]
        if self._later and len(self._seen) >= LATER:
            self._turn_to_proof()
        if member.done:
            self._turns = [other for other in self._turns if other is not member]
            self._owed = [other for other in self._owed if other is not member]
