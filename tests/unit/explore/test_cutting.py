"""Simulations that are stopped once a point is out of the running change no ranking, and are stored as bounds."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator
from dse.explore.methods.registry import METHODS
from dse.explore.search import SearchOutcome, ranked, run_search
from dse.explore.space.space import Space
from dse.formats.study_file import create_study, resume_study
from dse.model.problem import Problem
from dse.model.study import Evaluation
from tests.examples import seldom
from tests.unit.explore.fakes import FormulaEngine, chain, chain_space, estimate_of
from tests.unit.explore.random_problems import problem_of
from tests.unit.explore.searches import NoStore, context_of, space_of

KEEP = 3
POLICIES = ("NON_PREEMPTIVE", "ROUND_ROBIN")


def searched(
    name: str, problem: Problem, space: Space, *, cut: bool, workers: int = 1, evaluations: int | None = 60,
    store: object = None,
) -> tuple[list[Evaluation], SearchOutcome]:  # fmt: skip
    tables = build_tables(problem)
    method = METHODS.load(name)(context_of(tables, space, keep=KEEP))
    estimator = ThreadEstimator(make_engine("compiled", tables), workers, problem.trace.n_firings)
    evaluator = Evaluator(
        estimator, budget=Budget(evaluations=evaluations), store=store or NoStore(),  # type: ignore[arg-type]
        clock=itertools.count().__next__, progress=lambda _: None, cutting=Cutting(keep=KEEP) if cut else None,
    )  # fmt: skip
    outcome = run_search(method, evaluator, None)
    estimator.close()
    return evaluator.evaluations, outcome


def top(evaluations: list[Evaluation]) -> list[tuple[str, int]]:
    return [(e.digest, e.makespan) for e in ranked(evaluations)[:KEEP]]


def problem_and_space(seed: int) -> tuple[Problem, Space]:
    problem = problem_of(seed, clock=500, given_host=bool(seed % 2), n_actors=5 + seed % 3, n_firings=40)
    return problem, space_of(problem, policies=POLICIES, transfers=("sequential", "parallel")[seed % 2])


@pytest.mark.parametrize("name", METHODS.names())
@pytest.mark.parametrize("seed", [0, *seldom(1)])
def test_cutting_changes_no_ranking(name: str, seed: int) -> None:
    problem, space = problem_and_space(seed)
    plain, outcome = searched(name, problem, space, cut=False)
    found, cut_outcome = searched(name, problem, space, cut=True)
    assert top(found) == top(plain)
    assert cut_outcome.stop == outcome.stop
    if name != "exhaustive":  # it may end a little earlier or later: what is cut is no makespan to compare with
        assert [e.digest for e in found] == [e.digest for e in plain]
    truth = {e.digest: e for e in plain}
    for evaluation in found:
        exact = truth.get(evaluation.digest)
        if exact is not None and evaluation.cut:
            assert exact.deadlock or exact.makespan >= evaluation.makespan
        elif exact is not None:
            assert (exact.makespan, exact.deadlock) == (evaluation.makespan, evaluation.deadlock)


@pytest.mark.parametrize("name", ["exhaustive", "random", "local-search", "annealing", "idle", "branch-and-bound"])
def test_methods_that_can_do_without_makespans_are_cut(name: str) -> None:
    cut = 0
    for seed in range(4):
        found, _ = searched(name, *problem_and_space(seed), cut=True)
        cut += sum(e.cut for e in found)
    assert cut > 0


@pytest.mark.parametrize("name", ["tabu", "tabu-joint", "nsga2", "pareto-search"])
def test_methods_that_compare_losers_are_never_cut(name: str) -> None:
    found, _ = searched(name, *problem_and_space(1), cut=True)
    assert not any(e.cut for e in found)


@pytest.mark.parametrize("name", ["exhaustive", "local-search", "portfolio", "random"])
def test_workers_change_nothing(name: str) -> None:
    problem, space = problem_and_space(2)
    runs = [searched(name, problem, space, cut=True, workers=workers)[0] for workers in (1, 2, 4)]
    plain = [[replace(e, seconds=0.0) for e in run] for run in runs]
    assert plain[0] == plain[1] == plain[2]
    assert any(e.cut for e in plain[0])


@pytest.mark.parametrize("name", ["exhaustive", "local-search", "annealing", "portfolio", "idle"])
@pytest.mark.parametrize("half", [7, 20, 45])
def test_a_resumed_search_takes_the_same_decisions(name: str, half: int, tmp_path: Path) -> None:
    problem, space = problem_and_space(3)
    topology = problem.trace.topology
    whole, _ = searched(name, problem, space, cut=True)
    store = create_study(tmp_path / "s.sqlite", topology, {}, {})
    searched(name, problem, space, cut=True, evaluations=half, store=store)
    store.close()
    store = resume_study(tmp_path / "s.sqlite", topology, {}, {})
    again, _ = searched(name, problem, space, cut=True, store=store)
    assert [e.digest for e in again] == [e.digest for e in whole]
    assert top(again) == top(whole)
    stored = store.known()
    assert {(e.digest, e.makespan, e.cut) for e in stored.values()} == {(e.digest, e.makespan, e.cut) for e in again}
    store.close()


def evaluator(engine: FormulaEngine, store: object = None) -> Evaluator:
    return Evaluator(
        engine, budget=Budget(), store=store or NoStore(), clock=itertools.count().__next__,  # type: ignore[arg-type]
        progress=lambda _: None, cutting=Cutting(keep=2, counts=lambda e: e.n_partitions > 1),
    )  # fmt: skip


def test_the_limit_is_that_of_the_worst_kept_point_that_counts(tmp_path: Path) -> None:
    space = chain_space()
    points = sorted((space.to_point(c) for c in space.candidates()), key=lambda p: estimate_of(p).makespan)
    two, one = points[:2], next(p for p in points if len(p.partitions) == 1)
    worse, worst = points[-3:-1]
    store = create_study(tmp_path / "s.sqlite", chain(), {}, {})
    engine = FormulaEngine()
    run = evaluator(engine, store)
    assert not run.evaluate([one, two[0]], 0)[1].cut
    assert not run.evaluate([worst], 0)[0].cut  # one that does not count and one that does: two are to be kept
    run.evaluate([two[1]], 0)
    limit = estimate_of(two[1]).makespan
    cut = run.evaluate([worse], 0)[0]
    assert (cut.cut, cut.makespan, cut.deadlock, cut.partitions) == (True, limit + 1, False, ())
    assert run.evaluate([worst], 0)[0].cut  # known exactly, told like a point that is not
    assert store.known()[cut.digest].makespan == limit + 1
    of_cut = "SELECT count(*), max(at_least) FROM evaluation WHERE makespan IS NULL"
    assert store._tables._connection.execute(of_cut).fetchone() == (1, limit + 1)
    asked = len(engine.asked)
    assert run.evaluate([worse], limit)[0].cut
    assert len(engine.asked) == asked  # what is known suffices
    assert run.evaluate([worse], estimate_of(worse).makespan)[0].makespan == estimate_of(worse).makespan
    assert not run.evaluate([worse, worst])[0].cut
    assert len(engine.asked) == asked + 1
    assert [e.ordinal for e in run.evaluations] == list(range(5))
    assert not any(e.cut for e in run.evaluations)
    store.close()
