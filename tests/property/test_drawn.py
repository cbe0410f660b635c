"""Engines make the same of drawn costs, and the same as of tables with these costs."""

import random

import numpy as np

from dse.estimate.draws import DrawnCosts
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.tables import IntArray, ProblemTables
from tests.property.estimation_cases import Case, Shape, random_case, with_clocks, with_deviations

SHAPES = (Shape(max_firings=100), Shape(max_firings=100, flowing=True, mixed=True), Shape(max_firings=80, hosts=True))
CASES = 45
SETS = 3


def drawn(rng: np.random.Generator, tables: ProblemTables) -> DrawnCosts:
    """Costs up to twice those of the tables."""

    def scaled(ticks: IntArray) -> IntArray:
        factors = rng.random((SETS, *ticks.shape)) * 2
        return np.where(ticks < 0, ticks, np.rint(ticks * factors).astype(np.int64))

    compute = scaled(tables.compute)
    return DrawnCosts(
        compute=compute,
        block_ticks=scaled(tables.block_ticks),
        deviations=np.abs(tables.deviations),
        first_scheduling=scaled(tables.first_scheduling) if rng.random() < 0.7 else None,
        pair_scheduling=scaled(tables.pair_scheduling) if rng.random() < 0.7 else None,
        reads=scaled(tables.reads.ticks) if rng.random() < 0.7 else None,
        writes=scaled(tables.writes.ticks) if rng.random() < 0.7 else None,
    )


def test_drawn_costs_are_those_of_tables_and_engines_agree() -> None:
    deadlocks = 0
    for seed in range(CASES):
        case: Case = random_case(random.Random(seed), SHAPES[seed % len(SHAPES)])
        case = with_deviations(random.Random(seed), case) if seed % 5 == 0 else with_clocks(random.Random(seed), case)
        tables = build_tables(case.problem)
        costs = drawn(np.random.default_rng(seed), tables)
        compiled, reference = (make_engine(name, case.problem) for name in ("compiled", "reference"))
        found = compiled.drawn(case.point, costs)
        assert found.tolist() == reference.drawn(case.point, costs).tolist(), f"seed {seed}"
        for n, makespan in enumerate(found.tolist()):
            estimate = compiled.with_tables(costs.put_into(tables, n)).estimates([case.point])[0]
            assert makespan == (-1 if estimate.deadlock is not None else estimate.makespan), f"seed {seed}"
        deadlocks += int((found < 0).sum())
        assert (
            compiled.estimates([case.point])[0].makespan
            == make_engine("compiled", case.problem).estimate(case.point).makespan
        )
    assert 0 < deadlocks < CASES * SETS
