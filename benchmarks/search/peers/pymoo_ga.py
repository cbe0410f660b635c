"""The genetic algorithm of pymoo (Blank and Deb 2020) as its documentation sets it up for integers."""

import numpy as np
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.evaluator import Evaluator
from pymoo.core.problem import Problem
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from pymoo.problems.static import StaticProblem

from benchmarks.search.peers.peer import Peer
from dse.explore.methods.scripted import Script

POPULATION = 20


class PymooGa(Peer):
    """Generations until the budget ends."""

    def _script(self) -> Script:
        highest = np.array([len(own) - 1 for own in self._variables.values])
        problem = Problem(n_var=len(highest), n_obj=1, xl=np.zeros_like(highest), xu=highest, vtype=int)
        algorithm = GA(
            pop_size=POPULATION,
            sampling=IntegerRandomSampling(),
            crossover=SBX(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
            mutation=PM(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
            eliminate_duplicates=True,
        )
        algorithm.setup(problem, termination=("n_gen", 10**9), seed=self._seed(), verbose=False)
        while True:
            generation = algorithm.ask()
            if generation is None:
                return
            rows = np.asarray(generation.get("X"), dtype=int).tolist()
            costs = yield from self._costs(rows)
            Evaluator().eval(StaticProblem(problem, F=np.array(costs)[:, None]), generation)
            algorithm.tell(infills=generation)
