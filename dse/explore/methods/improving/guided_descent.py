"""Descents that look at where the time goes: idle local search and communication-frequency local search.

Both start from the constructed mappings and then from random ones (Michalska 2017; TURNUS has them under these names):
the steps of one generator are tried in its order, the first that lowers the makespan is taken, and a step that failed
is not tried again before its target partition has changed.
"""

from dse.explore.method import cost
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves import generators
from dse.explore.moves.generators import Generator, view_of
from dse.explore.moves.moves import Position, Step, position_of, random_candidate, reset
from dse.model.study import Evaluation

TRIED_AT_ONCE = 4


class GuidedDescent(Scripted):
    """First-improvement descent over the steps of one generator."""

    generator: Generator

    def _script(self) -> Script:
        starts = constructed(self._context)
        results = yield starts
        order = sorted(range(len(starts)), key=lambda i: (cost(results[i]), i))
        for i in order:
            yield from self._descent(position_of(starts[i]), results[i])
        while True:
            self.ceiling = None
            candidate = random_candidate(self._context)
            results = yield [candidate]
            yield from self._descent(position_of(candidate), results[0])

    def _descent(self, position: Position, evaluation: Evaluation) -> Script:
        refused: set[tuple[int, int]] = set()
        improved = True
        while improved:
            improved = False
            self.ceiling = None if evaluation.deadlock else evaluation.makespan
            steps = self._offered(position, evaluation, refused)
            for start in range(0, len(steps), TRIED_AT_ONCE):
                some = steps[start : start + TRIED_AT_ONCE]
                results = yield [step.candidate for step in some]
                better = [i for i, r in enumerate(results) if cost(r) < cost(evaluation)]
                refused |= _fruitless(some, better)
                improved = bool(better)
                if improved:
                    chosen = min(better, key=lambda i: (cost(results[i]), i))
                    refused = _still_refused(refused, some[chosen])
                    position, evaluation = some[chosen].position, results[chosen]
                    break

    def _offered(self, position: Position, evaluation: Evaluation, refused: set[tuple[int, int]]) -> list[Step]:
        """Return the steps of the generator that were not refused, and changes of the settings."""
        view = view_of(self._context, position, evaluation)
        steps = [s for s in type(self).generator(view) if _target(s) not in refused]
        return self._worth_trying([*steps, *reset(self._space, position)], evaluation)

    def _worth_trying(self, steps: list[Step], evaluation: Evaluation) -> list[Step]:
        """Return the steps whose bound does not exclude an improvement."""
        bounds = self._context.bounds([step.candidate for step in steps])
        return [s for s, b in zip(steps, bounds, strict=True) if evaluation.deadlock or b < evaluation.makespan]


def _slots(step: Step) -> list[int]:
    return [step.position.slots[actor] for actor, _ in step.left]


def _target(step: Step) -> tuple[int, int]:
    """Return (actor, slot) of a move; (-1, -1) where no actor moves."""
    return (step.left[0][0], _slots(step)[0]) if step.left else (-1, -1)


class IdleSearch(GuidedDescent):
    """Takes actors that wait for their core to partitions that are idle."""

    generator = staticmethod(generators.idle)


class CommunicationSearch(GuidedDescent):
    """Takes actors to the partition that they exchange the most tokens with."""

    generator = staticmethod(generators.communication)


def _fruitless(some: list[Step], better: list[int]) -> set[tuple[int, int]]:
    """Return the targets of the moves that did not help."""
    return {_target(step) for i, step in enumerate(some) if i not in better and step.left}


def _still_refused(refused: set[tuple[int, int]], taken: Step) -> set[tuple[int, int]]:
    """Return what stays refused after a step: targets on slots that it has not changed."""
    changed = {*_slots(taken), *(slot for _, slot in taken.left)}
    return {pair for pair in refused if pair[1] not in changed}
