"""A closing look at each number of cores: what more of them give is shown, so that each needs a mapping worth showing.

A search for the best of all leaves out whole numbers of partitions, by their bounds or because nothing good is there,
and cuts simulations short. Behind it a tenth of the budget goes to the numbers without a mapping, and to those whose
best is worse than one on fewer cores: a search among the mappings of that number alone.
"""

from collections.abc import Callable, Sequence

from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Evaluator, HoldBack
from dse.explore.method import SearchMethod
from dse.explore.search import ClosingLook
from dse.explore.space.space import Space
from dse.model.study import Evaluation

SHARE = 10
"""One part in so many of a budget is for the closing look,"""
MOST_OF_A_NUMBER = 60
"""but no more evaluations than this for each number of partitions."""
EXHAUSTIVE_POINTS = 5_000
"""Up to so many points of one number are sorted by their bounds, likely the best first."""
MOST_ACTORS = 500
"""With more actors to set up a search for each number takes too long: mappings are constructed."""

MethodIn = Callable[[str, Space], SearchMethod]
"""Sets up a method by name in a part of the space."""


def closing_look(space: Space, budget: Budget, evaluator: Evaluator, method_in: MethodIn) -> ClosingLook | None:
    """Return the closing look of a search; None where its points have one number of partitions."""
    numbers = range(space.least, min(space.most, space.n_actors) + 1)
    share = share_of(budget, len(numbers))
    if len(numbers) < 2:
        return None
    most = share.evaluations if budget.evaluations is not None else MOST_OF_A_NUMBER * len(numbers)

    def look() -> None:
        wanted = wanting(numbers, evaluator.evaluations)
        each = min(MOST_OF_A_NUMBER, most // max(1, len(wanted)))
        begun: list[SearchMethod] = []
        for number in wanted[:most]:  # one mapping of each before a second one of any: the time may end
            part = space.of_partitions(number)
            if part.size:
                begun.append(method_in(_method_for(part), part))
                _go_on(begun[-1], 1, evaluator)
        for method in begun:
            _go_on(method, each - 1, evaluator)

    return ClosingLook(share=share, look=look)


def share_of(budget: Budget, numbers: int) -> HoldBack:
    """Return what is held back of a budget: enough for one evaluation of each number, where half of it is."""
    n = budget.evaluations or 0
    return HoldBack(
        evaluations=min(MOST_OF_A_NUMBER * numbers, max(n // SHARE, min(numbers, n // 2))),
        seconds=(budget.seconds or 0.0) / SHARE,
    )


def wanting(numbers: Sequence[int], evaluations: Sequence[Evaluation]) -> list[int]:
    """Return the numbers of partitions without an exact makespan, or whose least is above that of a smaller number."""
    best: dict[int, int] = {}
    for evaluation in evaluations:
        if not evaluation.deadlock and not evaluation.cut:
            number = evaluation.n_partitions
            best[number] = min(best.get(number, evaluation.makespan), evaluation.makespan)
    found = []
    for number in numbers:
        fewer = min((makespan for n, makespan in best.items() if n < number), default=None)
        if number not in best or (fewer is not None and best[number] > fewer):
            found.append(number)
    return found


def _go_on(method: SearchMethod, most: int, evaluator: Evaluator) -> None:
    """Go on with a search for so many evaluations at most, or until the budget ends."""
    asked = 0
    while asked < most and not method.done and evaluator.stop is None:
        points = method.ask(min(BATCH, most - asked))
        method.tell(evaluator.evaluate(points))  # without a ceiling: the makespans are to be exact
        asked += len(points)


def _method_for(space: Space) -> str:
    if space.n_actors > MOST_ACTORS:
        return "greedy"
    return "exhaustive" if space.size <= EXHAUSTIVE_POINTS else "iterated-search"
