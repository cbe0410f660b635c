"""Fronts and hypervolumes against what counting cell by cell gives."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import OptionError
from dse.explore.evaluator import Budget, Evaluator
from dse.explore.methods.exact.exhaustive import Exhaustive
from dse.explore.methods.registry import METHODS
from dse.explore.methods.sampling.pareto_search import ParetoSearch
from dse.explore.objectives.front import (
    ByGoals,
    Goals,
    by_goals,
    check_method_for,
    choose_method_for,
    front_of,
    ranked_by,
)
from dse.explore.objectives.objectives import Outcome, Unbounded
from dse.explore.objectives.pareto import Costs, ParetoArchive, dominates, hypervolume
from dse.explore.search import run_search
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation, ObjectiveAxis
from tests.examples import examples
from tests.unit.explore.fakes import FormulaEngine, chain_space, context


def points(size: int, highest: int = 5) -> st.SearchStrategy[list[Costs]]:
    one = st.tuples(*[st.integers(0, highest)] * size)
    return st.lists(one, max_size=12)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@given(data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_hypervolume_is_the_number_of_dominated_cells(size: int, data: st.DataObject) -> None:
    found = data.draw(points(size))
    reference = tuple(data.draw(st.integers(0, 6)) for _ in range(size))
    cells = itertools.product(*(range(r) for r in reference))
    inside = sum(any(all(c <= x for c, x in zip(p, cell, strict=True)) for p in found) for cell in cells)
    assert hypervolume(found, reference) == inside


@given(found=points(3))
@settings(max_examples=examples(100), deadline=None)
def test_the_archive_keeps_what_nothing_dominates(found: list[Costs]) -> None:
    archive = ParetoArchive()
    for key, costs in enumerate(found):
        archive.add(key, costs)
    expected = {c for c in found if not any(dominates(other, c) for other in found)}
    front = archive.front
    assert {costs for _, costs in front} == expected
    assert len(front) == len(expected)
    assert all(found.index(costs) == key for key, costs in front)  # of equals the first


class Busy(Unbounded):
    of_makespan = False
    maximise = False
    unit = "cycles"

    def cost(self, point: DesignPoint, outcome: Outcome) -> int:
        return outcome.makespan

    def value(self, cost: int) -> float:
        return cost


class Count(Unbounded):
    of_makespan = False
    maximise = False
    unit = "partitions"

    def cost(self, point: DesignPoint, outcome: Outcome) -> int:
        return len(point.partitions)

    def value(self, cost: int) -> float:
        return cost


def goals() -> Goals:
    axes = tuple(ObjectiveAxis(name=name, unit="u", maximise=False) for name in ("busy", "count"))
    return Goals(axes=axes, objectives=(Busy(), Count()))


class NoStore:
    def known(self) -> dict[str, Evaluation]:
        return {}

    def add(self, evaluation: Evaluation) -> None:
        pass

    def commit(self) -> None:
        pass


def searched(name: str, cores: int = 3, n: int = 7, evaluations: int = 5000) -> tuple[Evaluator, bool]:
    seen = context(chain_space(cores=cores, n=n), seed=3)
    method = ByGoals(METHODS.load(name)(by_goals(seen, goals())), goals())
    evaluator = Evaluator(
        FormulaEngine(), budget=Budget(evaluations=evaluations), store=NoStore(), clock=lambda: 0.0,
        progress=lambda _: None,
    )  # fmt: skip
    outcome = run_search(method, evaluator, None)
    return evaluator, outcome.stop == "complete" and method.exact


def test_exhaustive_search_gives_the_whole_front() -> None:
    evaluator, complete = searched("exhaustive")
    assert complete
    assert len(evaluator.evaluations) == chain_space(cores=3, n=7).size
    front = front_of(goals(), evaluator.evaluations)
    assert front is not None
    best = {k: min(e.makespan for e in evaluator.evaluations if len(e.point.partitions) == k) for k in (1, 2, 3)}
    expected = [(m, k) for k, m in best.items() if all(m < best[j] for j in range(1, k))]
    assert [p.values for p in front.points] == sorted(expected)
    assert 0 < front.hypervolume <= 1
    volumes = [v for _, v in front.history]
    assert volumes == sorted(volumes)
    assert volumes[-1] == front.hypervolume


@pytest.mark.parametrize("name", ["pareto-search", "nsga2"])
def test_multi_objective_methods_come_close_to_the_front_with_fewer_evaluations(name: str) -> None:
    if name == "nsga2":
        pytest.importorskip("pymoo", reason="pymoo is missing: pip install 'dse[search]'")
    whole, _ = searched("exhaustive", n=8)
    some, _ = searched(name, n=8, evaluations=len(whole.evaluations) // 3)
    found, all_of_it = front_of(goals(), some.evaluations), front_of(goals(), whole.evaluations)
    assert found is not None
    assert all_of_it is not None
    assert [p.values[1] for p in found.points] == [p.values[1] for p in all_of_it.points]
    for ours, best in zip(found.points, all_of_it.points, strict=True):
        assert ours.values[0] <= 1.02 * best.values[0]


def test_other_methods_minimise_the_first_objective() -> None:
    class Fewest(Count):
        pass

    fewest = Goals(axes=(ObjectiveAxis(name="count", unit="u", maximise=False),), objectives=(Fewest(),))
    seen = context(chain_space(cores=4, n=8), seed=3)
    method = ByGoals(METHODS.load("local-search")(by_goals(seen, fewest)), fewest)
    evaluator = Evaluator(
        FormulaEngine(), budget=Budget(evaluations=60), store=NoStore(), clock=lambda: 0.0, progress=lambda _: None
    )  # fmt: skip
    run_search(method, evaluator, None)
    assert len(ranked_by(fewest, evaluator.evaluations)[0].point.partitions) == 1


def test_deadlocks_are_on_no_front() -> None:
    seen = context(chain_space(cores=3, n=6))
    method = ByGoals(ParetoSearch(by_goals(seen, goals())), goals())
    evaluator = Evaluator(
        FormulaEngine(deadlocks=True), budget=Budget(evaluations=50), store=NoStore(), clock=lambda: 0.0,
        progress=lambda _: None,
    )  # fmt: skip
    run_search(method, evaluator, None)
    front = front_of(goals(), evaluator.evaluations)
    assert front is not None
    assert not any(p.evaluation.deadlock for p in front.points)
    dead = [e for e in evaluator.evaluations if e.deadlock]
    assert dead
    assert front_of(goals(), dead) is None


def test_auto_covers_small_spaces_and_walks_the_front_of_large_ones() -> None:
    budget = Budget(evaluations=300)
    assert choose_method_for(goals(), chain_space(cores=2, n=4), budget)[0] == "exhaustive"
    assert choose_method_for(goals(), chain_space(cores=4, n=12), budget)[0] == "pareto-search"


def test_methods_that_prove_makespans_are_refused() -> None:
    with pytest.raises(OptionError, match="bounds of the makespan"):
        check_method_for(goals(), "branch-and-bound")
    check_method_for(goals(), "nsga2")


def test_bounds_say_nothing_about_other_objectives() -> None:
    seen = context(chain_space(), seed=1)
    assert set(by_goals(seen, goals()).bounds(list(seen.space.candidates())[:5])) == {0}
    method = Exhaustive(by_goals(seen, goals()))
    asked = sum(len(method.ask(1)) for _ in iter(lambda: method.done, True))
    assert asked == seen.space.size
    assert np.random.default_rng(1) is not seen.rng
