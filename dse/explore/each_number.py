"""A closing look at each number of cores: what more of them give is shown, so that each needs a mapping worth showing.

A search for the best of all leaves out whole numbers of partitions, by their bounds or because nothing good is there,
and cuts simulations short. Behind it a tenth of the budget goes to the numbers that it hardly looked at. From the
largest down each gets one mapping first: the best of the number above with two of its partitions joined. Then follows a
search among the mappings of each number, which begins there and at mappings whose loads were annealed.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dse.estimate.bounds.slot_loads import Annealing
from dse.explore.batch import BATCH
from dse.explore.evaluator import Evaluator, HoldBack
from dse.explore.method import SearchContext, SearchMethod
from dse.explore.methods.improving.descents import COLD, HOT, STAGE_WEIGHT, STEPS_OF_START
from dse.explore.methods.registry import METHODS
from dse.explore.moves.load_model import LoadAnnealer
from dse.explore.moves.moves import candidate_of, position_of, random_candidate
from dse.explore.search import ClosingLook
from dse.explore.space.locate import candidate_at
from dse.explore.space.space import Candidate, Space
from dse.model.study import Evaluation

LOOK_SHARE = 10
"""One part in so many of a budget is for each look behind a search: this one, and that at what nobody asked for
(``dse.flows.search.look``),"""
MOST_OF_A_NUMBER = 60
"""but no more evaluations than this for each number of partitions."""
ANNEALED = ((0.1, 1), (0.1, 4), (0.4, 1), (0.4, 4))
"""How loads are annealed: what it counts that all buffers are cut, and in how many stages (``iterated_search``)."""
EXHAUSTIVE_POINTS = 5_000
"""Up to so many points of one number are sorted by their bounds, likely the best first."""
MOST_ACTORS = 500
"""With more actors to search each number takes too long: mappings are constructed."""

ContextIn = Callable[[Space], SearchContext]
"""Returns what a method may know in a part of the space."""


def closing_look(
    context: SearchContext, evaluations: int | None, evaluator: Evaluator, context_in: ContextIn
) -> ClosingLook | None:
    """Return the closing look of a search in ``context``; None where its points have one number of partitions.

    ``evaluations``: of the whole budget. Of its time only what is left counts: setting up may have taken most.
    """
    space = context.space
    numbers = range(space.least, min(space.most, space.n_actors) + 1)
    if len(numbers) < 2:
        return None
    share = share_of(evaluations, evaluator.seconds_left, len(numbers))
    most = share.evaluations if evaluations is not None else MOST_OF_A_NUMBER * len(numbers)
    return ClosingLook(share=share, look=lambda: _Look(context, evaluator, context_in).run(numbers, most))


def share_of(evaluations: int | None, seconds: float | None, numbers: int) -> HoldBack:
    """Return what is held back of a budget: enough for one evaluation of each number, where half of it is."""
    n = evaluations or 0
    return HoldBack(
        evaluations=min(MOST_OF_A_NUMBER * numbers, max(n // LOOK_SHARE, min(numbers, n // 2))),
        seconds=(seconds or 0.0) / LOOK_SHARE,
    )


def hardly_looked_at(numbers: Sequence[int], evaluations: Sequence[Evaluation]) -> list[int]:
    """Return the numbers of partitions with few evaluations, or none to show, the largest first, those without before.

    That of the best mapping is none of them.
    """
    tried, best = Counter(e.n_partitions for e in evaluations), best_of_each(evaluations)
    winner = min(best.values(), key=_by_makespan).n_partitions if best else None
    missing = [n for n in reversed(numbers) if n not in best]
    few = [n for n in reversed(numbers) if n in best and tried[n] < MOST_OF_A_NUMBER and n != winner]
    return [*missing, *few]


def best_of_each(evaluations: Sequence[Evaluation]) -> dict[int, Evaluation]:
    """Return the best exact evaluation of each number of partitions that has one; of equal ones the first."""
    best: dict[int, Evaluation] = {}
    for evaluation in evaluations:
        if not evaluation.deadlock and not evaluation.cut:
            number = evaluation.n_partitions
            best[number] = min(best.get(number, evaluation), evaluation, key=_by_makespan)
    return best


def _by_makespan(evaluation: Evaluation) -> int:
    return evaluation.makespan


@dataclass(slots=True)
class _Look:
    """The look at numbers of partitions, one after the other."""

    context: SearchContext
    evaluator: Evaluator
    context_in: ContextIn

    def run(self, numbers: Sequence[int], most: int) -> None:
        """Look with so many evaluations at most, or until the budget ends."""
        best = best_of_each(self.evaluator.evaluations)
        wanted = hardly_looked_at(numbers, self.evaluator.evaluations)[:most]
        first: dict[int, Candidate] = {}
        for number in sorted(wanted, reverse=True):
            part = self.context.space.of_partitions(number)
            joined = self._joined(part, best.get(number + 1))
            if joined is not None and self.evaluator.stop is None:
                first[number] = joined
                found = self.evaluator.evaluate([part.to_point(joined)])
                best |= best_of_each([*found, *filter(None, [best.get(number)])])
        each = min(MOST_OF_A_NUMBER, most // max(1, len(wanted)))
        for number in wanted:
            if self.evaluator.stop is not None:
                return
            self._search(number, first.get(number), each - (number in first))

    def _joined(self, part: Space, above: Evaluation | None) -> Candidate | None:
        """Return the best mapping with one partition more, two of them joined: whose loads together are the least."""
        whole = None if above is None else candidate_at(self.context.space, above.point)
        if whole is None:
            return None
        loads: Counter[int] = Counter()
        for actor, slot in enumerate(whole.assignment):
            loads[slot] += self.context.loads[actor][part.unit_of_slot[slot]]
        pairs = sorted(itertools.permutations(loads, 2), key=lambda pair: loads[pair[0]] + loads[pair[1]])
        for kept, left in pairs:
            slots = tuple(kept if slot == left else slot for slot in whole.assignment)
            joined = part.candidate(slots, policy=whole.policy, capacity=whole.capacity)
            if joined is not None:
                return joined
        return None

    def _search(self, number: int, first: Candidate | None, most: int) -> None:
        """Search the mappings of one number with so many evaluations at most, or until the budget ends."""
        part, asked = self.context.space.of_partitions(number), 0
        if most < 1 or not part.size:
            return
        method = _method_in(self.context_in(part), first)
        while asked < most and not method.done and self.evaluator.stop is None:
            points = method.ask(min(BATCH, most - asked))
            method.tell(self.evaluator.evaluate(points))  # without a ceiling: the makespans are to be exact
            asked += len(points)


def _method_in(context: SearchContext, first: Candidate | None) -> SearchMethod:
    """Return how a part of the space is searched; ``first``: a point of it that is known."""
    space = context.space
    method: SearchMethod
    if space.size <= EXHAUSTIVE_POINTS:
        method = METHODS.load("exhaustive")(context)
    elif space.n_actors > MOST_ACTORS:
        method = METHODS.load("greedy")(context)
    else:
        start = dict.fromkeys([*([] if first is None else [first]), *_annealed(context, first)])
        method = METHODS.load("local-search")(replace(context, start=tuple(start)))
    return method


def _annealed(context: SearchContext, first: Candidate | None) -> list[Candidate]:
    """Return mappings whose loads were annealed, from the point that is known or random ones."""
    annealer, space = LoadAnnealer(context), context.space
    found = []
    for cut_weight, stages in ANNEALED:
        origin = position_of(first or random_candidate(context))
        how = Annealing(cut_weight=cut_weight, stage_weight=STAGE_WEIGHT, hot=HOT, cold=COLD)
        slots = annealer.annealed(origin.slots, how, steps=STEPS_OF_START * space.n_actors, stages=stages)
        found.append(candidate_of(space, replace(origin, slots=slots)))
    return [candidate for candidate in found if candidate is not None]
