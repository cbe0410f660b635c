"""The tree that branch and bound walks: every mapping once, in steps as in one go, and what is left out is counted."""

import pytest

from dse.estimate.bounds.placement_tree import BEYOND, PlacementTree
from dse.explore.methods.exact.branch_and_bound import BranchAndBound
from dse.explore.space.space import Assignment, Space
from dse.model.problem import Problem
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import context_of, small_cores, space_of


def setting(seed: int, **options: object) -> tuple[Problem, Space]:
    problem = small_cores(problem_of(seed, clock=500, given_host=True, n_actors=6, n_firings=40), 3)
    return problem, space_of(problem, **options)  # type: ignore[arg-type]


def tree_of(problem: Problem, space: Space) -> tuple[BranchAndBound, PlacementTree]:
    search = BranchAndBound(context_of(problem, space))
    return search, search._tree()


def walked(search: BranchAndBound, tree: PlacementTree, best: int | None, *, step: int) -> list[Assignment]:
    """The canonical forms of all placements found, in their order."""
    found: list[Assignment] = []
    while not tree.done:
        _, leaves = tree.walk(best, nodes=step, leaves=step)
        for slots in leaves[:, search._place_of].tolist():
            form = search._space.canonical(tuple(slots))
            assert form is not None
            found.append(form)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_without_a_best_every_mapping_is_found_once_however_often_the_walk_stops(seed: int) -> None:
    """With few partitions some uses of slots lead nowhere; policies for each partition share the cores of a unit."""
    policies = ("NON_PREEMPTIVE", "ROUND_ROBIN") if seed % 3 == 2 else ("NON_PREEMPTIVE",)
    problem, space = setting(
        seed, partitions=(2, 3) if seed % 2 else None, policies=policies, policy_per_partition=seed % 3 == 2
    )
    found = walked(*tree_of(problem, space), None, step=10**6)
    assert sorted(found) == sorted(space.assignments())
    assert walked(*tree_of(problem, space), None, step=3) == found


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_out_is_counted(seed: int) -> None:
    problem, space = setting(seed)
    search, tree = tree_of(problem, space)
    bounds = [search._context.placement.least]
    while not tree.done:
        tree.walk(None, nodes=1, leaves=1)
        bounds.append(tree.least_open)
    real = sorted(bound for bound in bounds if bound < BEYOND)
    best = real[len(real) // 2] + 1
    search, tree = tree_of(problem, space)
    found = walked(search, tree, best, step=5)
    left_out = sum(
        n * search._permuted.points(placed, search._uses.used[use]) for placed, use, n in tree.take_excluded()
    )
    settings = len(space.options.policies) * len(space.options.capacities)
    assert len(found) * settings + left_out == space.size
    assert left_out > 0
    assert tree.take_excluded() == []
