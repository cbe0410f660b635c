"""Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983), with the rules of Orsila et al. 2008 for task mapping.

The first temperature accepts some of the worsening steps; each level tries as many steps as an actor has partners and
cools by a constant factor; a frozen search starts again from its best point at half the temperature, by turns with a
random point. The number that decides on a step is drawn first, so a step whose bound alone would be refused is refused
without an evaluation: the course of the search is the same, only cheaper.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass

from dse.explore.method import cost
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import Position, Step, position_of, random_candidate, random_step
from dse.explore.space.space import Candidate
from dse.model.study import Evaluation

COOLING = 0.9
FIRST_ACCEPTANCE = 0.3
"""Share of the worsening steps that the first temperature accepts; more would waste a small budget."""
SAMPLE = 16
FROZEN_LEVELS = 4
"""So many levels without an accepted change end a descent."""
LEAST_TEMPERATURE = 1e-4
"""Of the makespan: below it no worsening step is accepted in practice."""

_Cost = tuple[bool, int]
_One = Generator[list[Candidate], list[Evaluation], Evaluation]


@dataclass(slots=True)
class _Walk:
    position: Position
    value: _Cost


class SimulatedAnnealing(Scripted):
    """Annealing with restarts; see the module."""

    patience = 2000  # a batch is one step here

    def _script(self) -> Script:
        starts = constructed(self._context)
        results = yield starts
        value, first = min(((cost(r), i) for i, r in enumerate(results)), key=lambda pair: pair)
        best = _Walk(position_of(starts[first]), value)
        hot = yield from self._first_temperature(best)
        restarts = 0
        while True:
            walk = _Walk(best.position, best.value)
            if restarts % 2:
                candidate = random_candidate(self._context)
                walk = _Walk(position_of(candidate), cost((yield from self._one(candidate))))
            yield from self._descent(walk, best, hot if restarts < 2 else hot / 2)
            restarts += 1

    def _one(self, candidate: Candidate) -> _One:
        results = yield [candidate]
        return results[0]

    def _first_temperature(self, start: _Walk) -> Generator[list[Candidate], list[Evaluation], float]:
        """Return the temperature at which a worsening step of the usual size is accepted as often as wanted."""
        steps = [random_step(self._space, start.position, self._context.rng) for _ in range(SAMPLE)]
        results = yield [step.candidate for step in steps if step is not None]
        worse = [r.makespan - start.value[1] for r in results if not r.deadlock and r.makespan > start.value[1]]
        typical = sum(worse) / len(worse) if worse else start.value[1] / 20
        return max(1.0, typical / -math.log(FIRST_ACCEPTANCE))

    def _descent(self, walk: _Walk, best: _Walk, temperature: float) -> Script:
        frozen = 0
        while frozen < FROZEN_LEVELS and temperature > LEAST_TEMPERATURE * best.value[1]:
            accepted = False
            for _ in range(max(8, self._space.n_actors * 2)):
                accepted |= yield from self._try(walk, best, temperature)
            frozen = 0 if accepted else frozen + 1
            temperature *= COOLING

    def _try(self, walk: _Walk, best: _Walk, temperature: float) -> Generator[list[Candidate], list[Evaluation], bool]:
        """Try one step; returns whether it was accepted with another makespan."""
        step = random_step(self._space, walk.position, self._context.rng)
        margin = -temperature * math.log(1.0 - self._context.rng.random())
        if step is None:
            return False
        if not walk.value[0] and self._bound(step) > walk.value[1] + margin:
            return False
        self.ceiling = None if walk.value[0] else math.floor(walk.value[1] + margin)
        value = cost((yield from self._one(step.candidate)))
        self.ceiling = None
        if not (value < walk.value or (value[0] == walk.value[0] and value[1] <= walk.value[1] + margin)):
            return False
        changed = value != walk.value
        walk.position, walk.value = step.position, value
        if value < best.value:
            best.position, best.value = step.position, value
        return changed

    def _bound(self, step: Step) -> int:
        return self._context.bounds([step.candidate])[0]
