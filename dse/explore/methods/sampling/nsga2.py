"""NSGA-II: a genetic algorithm for several objectives at once (Deb et al. 2002). Needs the package ``pymoo``.

Objectives: those of the search; where that is the makespan alone, also the number of partitions and the tokens between
partitions. The population keeps all trade-offs between them. Genes are the slot of each actor, the policy, the
capacities and the clocks; uniform crossover, and mutation that draws genes anew (polynomial). The population starts
with the constructed mappings.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.base.extras import import_extra
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import Position, candidate_of, random_candidate, settings_of
from dse.explore.space.space import Candidate, Space
from dse.model.study import Evaluation

POPULATION = 24
CROSSOVER = 0.9
MUTATION_SPREAD = 1.0
"""Distribution index of polynomial mutation; small, as neighbouring slots have nothing in common."""
OWN_OBJECTIVES = 3
UNFIT = 1e30
"""Objectives of what deadlocks or is no point of the space."""


class Nsga2(Scripted):
    """Generations until the budget ends or nothing unknown is born."""

    def _script(self) -> Script:
        self._genes = _values_of_genes(self._space)
        algorithm, population = self._algorithm()
        while True:
            generation = algorithm.ask()
            if generation is None:
                return  # no individual can be bred that the population does not hold
            rows = np.asarray(generation.get("X"))
            decoded = [self._decode(row) for row in rows]
            results = yield [candidate for candidate in decoded if candidate is not None]
            told = iter(results)
            unfit = (UNFIT,) * self._n_objectives
            fitness = [unfit if c is None else self._objectives(c, next(told)) for c in decoded]
            generation.set("F", np.array(fitness, dtype=float))
            population.set_evaluated(generation)
            algorithm.tell(infills=generation)

    def _algorithm(self) -> tuple[Any, Any]:
        seed = int(self._context.rng.integers(2**31 - 1))
        highest = np.array([len(gene) - 1 for gene in self._genes])
        population = _Pymoo(highest, self._first_population(), seed, self._n_objectives)
        return population.algorithm, population

    def _first_population(self) -> NDArray[np.int64]:
        first = dict.fromkeys(settings_of(self._space, constructed(self._context))[: POPULATION // 2])
        for _ in range(20 * POPULATION):
            if len(first) == POPULATION:
                break
            first[random_candidate(self._context)] = None
        return np.array([self._encode(candidate) for candidate in first], dtype=np.int64)

    def _encode(self, candidate: Candidate) -> list[int]:
        clocks = self._space.clocks.levels(candidate.clocks)
        values = (*candidate.assignment, candidate.policy, candidate.capacity, *clocks)
        return [gene.index(value) for gene, value in zip(self._genes, values, strict=True)]

    def _decode(self, row: NDArray[Any]) -> Candidate | None:
        values = [gene[round(float(index))] for gene, index in zip(self._genes, row, strict=True)]
        n = self._space.n_actors
        return candidate_of(
            self._space,
            Position(slots=tuple(values[:n]), policy=values[n], capacity=values[n + 1], clocks=tuple(values[n + 2 :])),
        )

    @property
    def _n_objectives(self) -> int:
        return self._context.objectives or OWN_OBJECTIVES

    def _objectives(self, candidate: Candidate, evaluation: Evaluation) -> tuple[float, ...]:
        if evaluation.deadlock:
            return (UNFIT,) * self._n_objectives
        if self._context.objectives:
            return tuple(map(float, evaluation.costs))
        slots = candidate.assignment
        cut = sum(edge.tokens for edge in self._context.traffic if slots[edge.source] != slots[edge.target])
        return float(evaluation.makespan), float(len(set(slots))), float(cut)


class _Pymoo:
    """The algorithm object of pymoo, set up for integer genes from 0 to ``highest``."""

    def __init__(self, highest: NDArray[np.int64], first: NDArray[np.int64], seed: int, n_objectives: int) -> None:
        self._static = import_extra("pymoo.problems.static", "nsga2").StaticProblem
        self._evaluator = import_extra("pymoo.core.evaluator", "nsga2").Evaluator()
        problem = import_extra("pymoo.core.problem", "nsga2").Problem(
            n_var=len(highest), n_obj=n_objectives, xl=np.zeros(len(highest), dtype=int), xu=highest, vtype=int
        )
        repair = import_extra("pymoo.operators.repair.rounding", "nsga2").RoundingRepair()
        crossover = import_extra("pymoo.operators.crossover.ux", "nsga2").UniformCrossover(
            prob=CROSSOVER, repair=repair
        )
        mutation = import_extra("pymoo.operators.mutation.pm", "nsga2").PM
        self.algorithm = import_extra("pymoo.algorithms.moo.nsga2", "nsga2").NSGA2(
            pop_size=POPULATION,
            sampling=first,
            crossover=crossover,
            mutation=mutation(prob=1.0, eta=MUTATION_SPREAD, vtype=float, repair=repair),
            repair=repair,
            eliminate_duplicates=True,
        )
        self.algorithm.setup(problem, termination=("n_gen", 10**9), seed=seed, verbose=False)

    def set_evaluated(self, generation: Any) -> None:
        """Mark the individuals as evaluated with the objectives that they were given."""
        problem = self._static(self.algorithm.problem, F=generation.get("F"))
        self._evaluator.eval(problem, generation)


def _values_of_genes(space: Space) -> list[list[int]]:
    """Return the values that each gene may have: the slot of each actor, policy, capacities, the clocks."""
    return [
        *([s for u in space.allowed[a] for s in space.slots_of_unit(u)] for a in range(space.n_actors)),
        list(range(len(space.options.policies))),
        list(range(len(space.options.capacities))),
        *(list(range(len(domain.clocks_mhz))) for domain in space.clocks.domains),
    ]
