"""The closing look at each number of cores, on a problem whose engine is a formula."""

import itertools
from dataclasses import replace

import pytest

from dse.explore.each_number import MOST_OF_A_NUMBER, closing_look, hardly_looked_at, share_of
from dse.explore.evaluator import Budget, Cutting, Evaluator, HoldBack
from dse.explore.methods.registry import METHODS
from dse.explore.search import run_search
from dse.explore.space.space import Space
from dse.model.study import Evaluation
from tests.unit.explore.fakes import FormulaEngine, chain_space, context, makespan

CORES = 5


class Memory:
    """Keeps evaluations while a test runs."""

    def __init__(self) -> None:
        self.held: dict[str, Evaluation] = {}

    def known(self) -> dict[str, Evaluation]:
        return dict(self.held)

    def add(self, evaluation: Evaluation) -> None:
        self.held[evaluation.digest] = evaluation

    def commit(self) -> None:
        pass


def searched(
    name: str, budget: Budget, *, closing: bool = True, n: int = 7, store: Memory | None = None
) -> tuple[list[Evaluation], str]:
    space = chain_space(cores=CORES, n=n)
    evaluator = Evaluator(
        FormulaEngine(), budget=budget, store=store or Memory(), clock=itertools.count().__next__,
        progress=lambda _: None, cutting=Cutting(keep=2),
    )  # fmt: skip
    look = closing_look(context(space), budget.evaluations, evaluator, lambda part: context(part, keep=1))
    outcome = run_search(
        METHODS.load(name)(context(space, keep=2)), evaluator, space.one_core(), closing=look if closing else None
    )
    return evaluator.evaluations, outcome.stop


def best_of(evaluations: list[Evaluation]) -> dict[int, int]:
    """The least exact makespan by number of partitions."""
    best: dict[int, int] = {}
    for e in evaluations:
        if not e.cut:
            best[e.n_partitions] = min(e.makespan, best.get(e.n_partitions, e.makespan))
    return best


def true_best(space: Space, number: int) -> int:
    return min(makespan(space.to_point(c)) for c in space.of_partitions(number).candidates())


def test_the_best_of_each_number_is_found_where_a_search_leaves_out_some() -> None:
    plain, _ = searched("exhaustive", Budget(), closing=False)
    assert set(best_of(plain)) < set(range(1, CORES + 1)), "else there is nothing to look for"
    found, stop = searched("exhaustive", Budget())
    space = chain_space(cores=CORES, n=7)
    assert stop == "complete"
    assert best_of(found) == {number: true_best(space, number) for number in range(1, CORES + 1)}


@pytest.mark.parametrize("name", ["random", "iterated-search", "exhaustive"])
@pytest.mark.parametrize("evaluations", [1, 9, 40, 300])
def test_the_look_is_part_of_the_budget(name: str, evaluations: int) -> None:
    found, stop = searched(name, Budget(evaluations=evaluations), n=12)
    assert (len(found), stop) == (evaluations, "evaluations")
    assert [e.digest for e in found] == [e.digest for e in searched(name, Budget(evaluations=evaluations), n=12)[0]]
    if evaluations >= 2 * CORES:
        assert set(best_of(found)) == set(range(1, CORES + 1))


@pytest.mark.parametrize("name", ["random", "iterated-search", "exhaustive"])
def test_more_of_a_budget_goes_on_as_a_search_that_had_it_at_once(name: str) -> None:
    store = Memory()
    searched(name, Budget(evaluations=50), n=12, store=store)
    resumed, _ = searched(name, Budget(evaluations=120), n=12, store=store)
    fresh, _ = searched(name, Budget(evaluations=120), n=12)
    assert [replace(e, seconds=0) for e in resumed] == [replace(e, seconds=0) for e in fresh]


def test_a_time_leaves_a_part_for_the_look() -> None:
    found, stop = searched("random", Budget(seconds=200), n=12)
    assert stop == "seconds"
    assert set(best_of(found)) == set(range(1, CORES + 1))


def test_numbers_that_are_missing_come_first_and_that_of_the_best_is_left_out() -> None:
    found, _ = searched("exhaustive", Budget(), closing=False)
    exact = best_of(found)
    missing = [number for number in range(CORES, 0, -1) if number not in exact]
    wanted = hardly_looked_at(range(1, CORES + 1), found)
    assert wanted[: len(missing)] == missing
    assert min(exact, key=exact.__getitem__) not in wanted


def test_the_share_is_small_but_for_one_evaluation_of_each_number() -> None:
    assert share_of(1, None, 4) == HoldBack()
    assert share_of(20, None, 4) == HoldBack(evaluations=4)
    assert share_of(1000, 30.0, 4) == HoldBack(evaluations=100, seconds=3.0)
    assert share_of(10**6, None, 4) == HoldBack(evaluations=4 * MOST_OF_A_NUMBER)
