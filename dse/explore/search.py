"""The loop between a search method and the evaluator, and the ranking of what it found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dse.explore.batch import BATCH
from dse.explore.distribution.crew import Crew
from dse.explore.evaluator import Evaluator, HoldBack
from dse.explore.method import SearchMethod
from dse.explore.methods.improving.leg import LEG_EVALUATIONS, LegOutcome
from dse.explore.methods.in_legs import InLegs
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation, StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """How a search ended; the evaluations are with the evaluator."""

    baseline: Evaluation | None
    stop: StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingLook:
    """What is looked at besides, once the method is done or has spent all of the budget but ``share``.

    ``look``: evaluates what it wants; what it leaves of the budget is the method's again.
    """

    share: HoldBack
    look: Callable[[], None]


def run_search(
    method: SearchMethod,
    evaluator: Evaluator,
    baseline: DesignPoint | None,
    batch: int = BATCH,
    closing: ClosingLook | None = None,
    crew: Crew | None = None,
) -> SearchOutcome:
    """Evaluate the baseline, then what the method asks for, until it is done, a budget ends or the user interrupts.

    An interrupt ends the search, never the program: what was evaluated is kept and ranked. ``crew``: walks the legs of
    a method that goes on in legs.
    """
    first: list[Evaluation] = []
    try:
        if baseline is not None:
            first = evaluator.evaluate([baseline])
        stop = _loop(method, evaluator, batch, closing, crew)
    except KeyboardInterrupt:
        stop = "interrupted"
    evaluator.close()
    return SearchOutcome(baseline=first[0] if first else None, stop=stop)


class _Asked:
    """A turn in which the method is asked and told."""

    def __init__(self, method: SearchMethod, evaluator: Evaluator, batch: int) -> None:
        self._method, self._evaluator = method, evaluator
        self._points = method.ask(batch)
        self.wants = bool(self._points)

    def make(self) -> list[Evaluation]:
        return self._evaluator.evaluate(self._points, self._method.ceiling)

    def tell(self, results: list[Evaluation]) -> None:
        self._method.tell(results)


class _Walked:
    """A turn in which a leg is taken."""

    wants = True

    def __init__(self, method: InLegs, evaluator: Evaluator, crew: Crew, number: int) -> None:
        self._method, self._evaluator, self._crew, self._number = method, evaluator, crew, number
        self._outcome: LegOutcome | None = None
        left = evaluator.evaluations_left
        crew.hold(None if left is None else number + max(1, -(-left // LEG_EVALUATIONS)))
        while (leg := method.next_leg()) is not None:
            crew.give(leg)

    def make(self) -> list[Evaluation]:
        if self._outcome is None or not self._outcome.complete:
            self._outcome = self._crew.outcome(self._number, lambda: self._evaluator.is_late)
        return self._evaluator.take(() if self._outcome is None else self._outcome.made)

    def tell(self, _: list[Evaluation]) -> None:
        if self._outcome is not None and self._outcome.complete:
            self._method.take(self._outcome)


def _turn(method: SearchMethod, evaluator: Evaluator, batch: int, crew: Crew | None) -> _Asked | _Walked:
    """Return the next turn of a method."""
    if crew is not None and isinstance(method, InLegs):
        if method.legs_soon:
            crew.get_ready()
        if (number := method.awaited) is not None:
            return _Walked(method, evaluator, crew, number)
    return _Asked(method, evaluator, batch)


def _loop(
    method: SearchMethod, evaluator: Evaluator, batch: int, closing: ClosingLook | None, crew: Crew | None
) -> StopReason:
    evaluator.hold_back(HoldBack() if closing is None else closing.share)
    while not method.done:
        turn = _turn(method, evaluator, batch, crew)
        results = turn.make()
        if evaluator.stop is not None and closing is not None:
            evaluator.hold_back(HoldBack())
            closing.look()
            closing = None
            results = turn.make()
        turn.tell(results)
        if evaluator.stop is not None and (turn.wants or _goes_on(method)):
            return evaluator.stop
    if closing is not None:
        evaluator.hold_back(HoldBack())
        closing.look()
    return "complete"


def _goes_on(method: SearchMethod) -> bool:
    return not method.done


def ranked(
    evaluations: list[Evaluation], memory_bytes: Callable[[Sequence[int]], int] | None = None
) -> tuple[Evaluation, ...]:
    """Return the evaluations without deadlock, best first: makespan, fewer partitions, less memory, the earlier one.

    Cut ones are left out: as many as the evaluator keeps are ahead of them. ``memory_bytes``: what buffers of such
    capacities take, where points differ in them.
    """
    alive = [e for e in evaluations if not e.deadlock and not e.cut]

    def key(e: Evaluation) -> tuple[int, int, int, int]:
        memory = 0 if memory_bytes is None else memory_bytes(e.packed.layout.capacities)
        return e.makespan, e.n_partitions, memory, e.ordinal

    return tuple(sorted(alive, key=key))
