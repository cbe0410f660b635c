"""Groups of actors that move as one: they hold all actors, cost what these cost, and their mappings are mappings."""

import itertools

import numpy as np
import pytest

from benchmarks.search.networks import Recipe, case_of
from dse.estimate.engine import make_engine
from dse.explore.evaluator import Budget, Evaluator
from dse.explore.method import SearchContext
from dse.explore.methods.improving import multilevel
from dse.explore.methods.improving.iterated_search import IteratedSearch
from dse.explore.methods.improving.multilevel import Multilevel
from dse.explore.methods.sampling import portfolio
from dse.explore.moves import coarsening
from dse.explore.moves.coarsening import Coarsening, Level, grouped_context, settled
from dse.explore.space.space import Candidate
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import NoStore, context_of, run, space_of

N_ACTORS = 160


@pytest.fixture(scope="module", params=[False, True], ids=["cores", "gpu"])
def wide(request: pytest.FixtureRequest) -> SearchContext:
    recipe = Recipe(shape="irregular", actors=N_ACTORS, cores=6, gpu=request.param, room=2, seed=5)
    case = case_of(recipe)
    return context_of(case.problem, case.space)


def a_mapping(context: SearchContext, seed: int) -> tuple[int, ...]:
    """Actors in a row on each of six cores."""
    begins = np.sort(np.random.default_rng(seed).choice(np.arange(1, N_ACTORS), 5, replace=False))
    slots = tuple(np.searchsorted(begins, np.arange(N_ACTORS), side="right").tolist())
    assert context.space.canonical(slots) == slots
    return slots


def test_each_level_holds_all_actors_once_on_one_slot_and_is_a_third_of_the_next(wide: SearchContext) -> None:
    slots = a_mapping(wide, 1)
    levels = Coarsening(wide).levels(slots)
    assert levels
    below = N_ACTORS
    for level in reversed(levels):
        assert sorted(a for group in level.members for a in group) == list(range(N_ACTORS))
        assert all(len({slots[a] for a in group}) == 1 for group in level.members)
        assert [group[0] for group in level.members] == sorted(group[0] for group in level.members)
        assert below / 4 < len(level.members) < below
        below = len(level.members)


def test_what_groups_map_to_is_a_canonical_point_that_costs_the_same_bound(wide: SearchContext) -> None:
    level = Coarsening(wide).levels(a_mapping(wide, 2))[0]
    space = level.context.space
    for seed in range(20):
        candidate = Candidate(assignment=space.random_assignment(np.random.default_rng(seed)))
        fine = Candidate(assignment=level.assignment(candidate))
        assert wide.space.canonical(fine.assignment) == fine.assignment
        assert level.expanded(space.to_point(candidate)) == wide.space.to_point(fine)
        assert level.context.bounds([candidate]) == wide.bounds([fine])
        assert settled(level.members, fine.assignment) == candidate.assignment


def test_groups_cost_what_their_actors_cost_wherever_they_lie(wide: SearchContext) -> None:
    level = Coarsening(wide).levels(a_mapping(wide, 3))[0]
    candidate = Candidate(assignment=level.context.space.random_assignment(np.random.default_rng(4)))
    assert costs_of(level.context, candidate.assignment) == costs_of(wide, level.assignment(candidate))


def costs_of(context: SearchContext, slots: tuple[int, ...]) -> list[int]:
    """What each slot computes and transfers."""
    unit_of, found = context.space.unit_of_slot, [0] * len(context.space.unit_of_slot)
    for actor, slot in enumerate(slots):
        found[slot] += context.loads[actor][unit_of[slot]]
    for edge in context.placement.edges:
        a, b = slots[edge.source], slots[edge.target]
        u, v = unit_of[a], unit_of[b]
        found[a] += edge.write_same[u] if a == b else edge.write_apart[u][v]
        found[b] += edge.read_same[v] if a == b else edge.read_apart[v][u]
    return found


def test_an_evaluation_is_told_with_what_all_actors_of_a_group_waited() -> None:
    case = case_of(Recipe(shape="tree", actors=N_ACTORS, cores=4, gpu=False, room=2, seed=6))
    context = context_of(case.problem, case.space)
    found = run("greedy", case.problem, case.space, evaluations=2).evaluations[-1]
    groups = tuple((a, a + 1) for a in range(0, N_ACTORS, 2))
    level = Level(members=groups, context=grouped_context(context, groups))
    told = level.grouped(found, level.context.space.to_point(Candidate(assignment=(0,) * len(groups))))
    (outcome,) = make_engine("compiled", case.problem).outcomes([found.point])
    assert told.waiting == tuple(outcome.waiting[a] + outcome.waiting[a + 1] for a in range(0, N_ACTORS, 2))
    assert told.partitions == found.partitions
    assert told.makespan == found.makespan


def test_the_search_is_repeatable_and_gets_better_on_its_levels() -> None:
    case = case_of(Recipe(shape="tree", actors=N_ACTORS, cores=4, gpu=False, room=2, seed=7))
    one = run("multilevel", case.problem, case.space, evaluations=400)
    assert one.best == run("multilevel", case.problem, case.space, evaluations=400).best
    assert len({e.digest for e in one.evaluations}) == 400
    starts = [e.makespan for e in one.evaluations[:100] if not e.deadlock]
    assert one.best < min(starts)
    assert isinstance(one.method, Multilevel)


@pytest.mark.parametrize(("many", "kind"), [(N_ACTORS - 1, Multilevel), (N_ACTORS, IteratedSearch)])
def test_auto_moves_groups_where_there_are_many_actors(
    wide: SearchContext, monkeypatch: pytest.MonkeyPatch, many: int, kind: type
) -> None:
    asked = list[object]()
    monkeypatch.setattr(portfolio, "MANY_ACTORS", many)
    monkeypatch.setattr(kind, "ask", lambda self, _: asked.append(self) or [])
    portfolio.Portfolio(wide).ask(4)
    assert [type(one) for one in asked] == [kind]


def test_it_ends_where_all_points_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each coarsening begins another search of the actors, none of which sees all points for itself."""
    monkeypatch.setattr(coarsening, "LEAST_GROUPS", 2)
    monkeypatch.setattr(coarsening, "GROUPS_OF_SLOT", 1)
    monkeypatch.setattr(multilevel, "ACTORS_PATIENCE", 10)
    monkeypatch.setattr(multilevel, "STALE_TURNS", 30)
    case = case_of(Recipe(shape="irregular", actors=6, cores=2, gpu=False, room=4, seed=5), 4)
    method, engine = Multilevel(context_of(case.problem, case.space)), make_engine("compiled", case.problem)
    evaluator = Evaluator(
        lambda points, _: iter(engine.outcomes(points)), budget=Budget(evaluations=1_000), store=NoStore(),
        clock=itertools.count().__next__, progress=lambda _: None,
    )  # fmt: skip
    turns = 0
    while not method.done and turns < 1_000:
        method.tell(evaluator.evaluate(method.ask(8)))
        turns += 1
    assert method.done
    assert len(evaluator.evaluations) > case.space.size / 2


def test_few_actors_have_no_levels() -> None:
    problem = problem_of(3, clock=None, given_host=True, n_actors=7, n_firings=9)
    space = space_of(problem)
    context = context_of(problem, space)
    assert Coarsening(context).levels(next(space.assignments())) == []
    asked = [point.digest() for point in Multilevel(context).ask(8)]
    assert asked == [point.digest() for point in IteratedSearch(context_of(problem, space)).ask(8)]
