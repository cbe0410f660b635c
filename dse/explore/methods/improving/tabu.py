"""Tabu search (Glover 1989) with the neighbourhoods of Michalska, Zufferey and Mattavelli 2016.

At each iteration a share of the neighbours is evaluated and the best is moved to, better or not; an actor that left a
partition may not return to it for a number of iterations, unless that gives the best point so far (aspiration).
The neighbours come from one generator, from all together (JOINT), or from one drawn by how often it helped (PROB).
After many iterations without a new best the search starts again from a random point.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dse.explore.method import cost
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves import generators
from dse.explore.moves.generators import Generator, View, view_of
from dse.explore.moves.moves import Step, position_of, random_candidate, reset
from dse.model.study import Evaluation

SHARE = 0.4
"""Share of the neighbours that is evaluated."""
MOST_NEIGHBOURS = 24
"""At most this many are evaluated in one iteration: those with the smallest bound of the share."""
RESTART_AFTER = 4
"""Iterations without a new best before a restart, for each actor."""
GUIDED: tuple[Generator, ...] = (generators.random, generators.idle, generators.communication, generators.balancing)


@dataclass(slots=True)
class _Record:
    """How often a generator was used, and how often it gave a new best."""

    used: int = 4
    helped: int = 1


class Tabu(Scripted):
    """PROB: one generator an iteration, drawn in proportion to its successes per use."""

    neighbourhoods: tuple[Generator, ...] = GUIDED
    together = False

    def _script(self) -> Script:
        starts = constructed(self._context)
        results = yield starts
        order = sorted(range(len(starts)), key=lambda i: (cost(results[i]), i))
        best = results[order[0]]
        position, current = position_of(starts[order[0]]), best
        records = [_Record() for _ in self.neighbourhoods]
        while True:
            forbidden: dict[tuple[int, int], int] = {}
            since_best = iteration = 0
            while since_best < RESTART_AFTER * self._space.n_actors + 4:
                iteration += 1
                since_best += 1
                drawn = self._drawn(records)
                steps = self._steps(view_of(self._context, position, current), drawn)
                admitted = self._admitted(steps, forbidden, iteration, best)
                results = yield [step.candidate for step in admitted]
                chosen = self._chosen(admitted, results, forbidden, iteration, best)
                if chosen is None:
                    continue
                position, current = admitted[chosen].position, results[chosen]
                for pair in admitted[chosen].left:
                    forbidden[pair] = iteration + self._tenure()
                records[drawn].used += 1
                if cost(current) < cost(best):
                    best, since_best = current, 0
                    records[drawn].helped += 1
            candidate = random_candidate(self._context)
            results = yield [candidate]
            position, current = position_of(candidate), results[0]
            if cost(current) < cost(best):
                best = current

    def _drawn(self, records: list[_Record]) -> int:
        """Return the index of the generator of this iteration, by the roulette of successes."""
        if self.together or len(records) == 1:
            return 0
        chances = [record.helped / record.used for record in records]
        value = self._context.rng.random() * sum(chances)
        for index, chance in enumerate(chances):
            value -= chance
            if value < 0:
                return index
        return len(chances) - 1

    def _steps(self, view: View, drawn: int) -> list[Step]:
        """Return the distinct steps of this iteration; any random ones where the generator has none."""
        used = self.neighbourhoods if self.together else (self.neighbourhoods[drawn],)
        steps = [step for generator in used for step in generator(view)]
        steps = [*(steps or generators.random(view)), *reset(self._space, view.position)]
        return list({step.candidate: step for step in steps}.values())

    def _admitted(
        self, steps: list[Step], forbidden: dict[tuple[int, int], int], iteration: int, best: Evaluation
    ) -> list[Step]:
        """Return the sampled steps to evaluate: free ones, and forbidden ones that could be the best so far."""
        rng = self._context.rng
        wanted = min(MOST_NEIGHBOURS, math.ceil(SHARE * len(steps)))
        bounds = self._context.bounds([step.candidate for step in steps])
        open_steps = [
            (bound, step)
            for bound, step in zip(bounds, steps, strict=True)
            if not _is_tabu(step, forbidden, iteration) or best.deadlock or bound < best.makespan
        ]
        sample = [open_steps[i] for i in rng.permutation(len(open_steps)).tolist()][: 2 * wanted]
        sample.sort(key=lambda pair: pair[0])
        return [step for _, step in sample[:wanted]]

    def _chosen(
        self,
        steps: Sequence[Step],
        results: list[Evaluation],
        forbidden: dict[tuple[int, int], int],
        iteration: int,
        best: Evaluation,
    ) -> int | None:
        """Return the index of the best step that is free or aspires."""
        allowed = [
            i
            for i, step in enumerate(steps)
            if not _is_tabu(step, forbidden, iteration) or cost(results[i]) < cost(best)
        ]
        return min(allowed, key=lambda i: (cost(results[i]), i)) if allowed else None

    def _tenure(self) -> int:
        """Return for how long a move may not be taken back: about the root of the number of actors, drawn anew."""
        root = math.isqrt(self._space.n_actors)
        return 1 + root + int(self._context.rng.integers(root + 1))


def _is_tabu(step: Step, forbidden: dict[tuple[int, int], int], iteration: int) -> bool:
    return any(forbidden.get((actor, step.position.slots[actor]), 0) >= iteration for actor, _ in step.left)


class TabuJoint(Tabu):
    """JOINT: the steps of all generators together at each iteration."""

    together = True


class TabuSwap(Tabu):
    """Exchanges of two actors; the number of actors of a partition never changes between restarts."""

    neighbourhoods = (generators.swap,)


class TabuBalancing(Tabu):
    """Moves from the busiest partition to the least busy one."""

    neighbourhoods = (generators.balancing,)
