"""The loop between a search method and the evaluator, and the ranking of what it found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dse.explore.batch import BATCH
from dse.explore.evaluator import Evaluator, HoldBack
from dse.explore.method import SearchMethod
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
) -> SearchOutcome:
    """Evaluate the baseline, then what the method asks for, until it is done, a budget ends or the user interrupts.

    An interrupt ends the search, never the program: what was evaluated is kept and ranked.
    """
    first: list[Evaluation] = []
    try:
        if baseline is not None:
            first = evaluator.evaluate([baseline])
        stop = _loop(method, evaluator, batch, closing)
    except KeyboardInterrupt:
        stop = "interrupted"
    evaluator.close()
    return SearchOutcome(baseline=first[0] if first else None, stop=stop)


def _loop(method: SearchMethod, evaluator: Evaluator, batch: int, closing: ClosingLook | None) -> StopReason:
    evaluator.hold_back(HoldBack() if closing is None else closing.share)
    while not method.done:
        points = method.ask(batch)
        results = evaluator.evaluate(points, method.ceiling)
        if evaluator.stop is not None and closing is not None:
            evaluator.hold_back(HoldBack())
            closing.look()
            closing = None
            results = evaluator.evaluate(points, method.ceiling)
        method.tell(results)
        if evaluator.stop is not None and (points or _goes_on(method)):
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
