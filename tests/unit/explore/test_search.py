"""Methods, evaluator, budget and ranking on a problem whose engine is a formula."""

import itertools
import sqlite3
from pathlib import Path

import pytest

from dse.base.errors import ExecutionError, FormatError, OptionError
from dse.explore.batch import BATCH
from dse.explore.evaluator import Budget, Evaluator, Progress
from dse.explore.methods.choose import choose_method, size_text
from dse.explore.methods.registry import METHODS
from dse.explore.search import SearchOutcome, ranked, run_search
from dse.explore.space.space import Space
from dse.formats.study_file import create_study, move_aside, point_to_json, resume_study
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation
from tests.examples import WHOLE
from tests.unit.explore.fakes import FormulaEngine, chain, chain_space, context, makespan
from tests.unit.explore.points import point_from_json

IDENTITY = {"trace": "t1", "seed": "1"}


class NoStore:
    def __init__(self) -> None:
        self.committed = 0

    def known(self) -> dict[str, Evaluation]:
        return {}

    def add(self, evaluation: Evaluation) -> None:
        pass

    def commit(self) -> None:
        self.committed += 1


def evaluator(engine: FormulaEngine, store: object = None, **budget: object) -> Evaluator:
    return Evaluator(
        engine,
        budget=Budget(**budget),  # type: ignore[arg-type]
        store=store or NoStore(),  # type: ignore[arg-type]
        clock=itertools.count().__next__,
        progress=lambda p: None,
    )


def search(
    name: str, space: Space, *, seed: int = 1, bounded: bool = True, engine: FormulaEngine | None = None,
    store: object = None, **budget: object,
) -> tuple[Evaluator, SearchOutcome, int]:  # fmt: skip
    method = METHODS.load(name)(context(space, seed=seed, bounded=bounded))
    run = evaluator(engine or FormulaEngine(), store, **budget)
    outcome = run_search(method, run, space.one_core())
    return run, outcome, method.pruned


def best_by_brute_force(space: Space, keep: int) -> list[int]:
    return sorted(makespan(space.to_point(c)) for c in space.candidates())[:keep]


@pytest.mark.parametrize("gpu", [False, True])
def test_exhaustive_finds_the_best_and_proves_the_rest(gpu: bool) -> None:
    space = chain_space(cores=4, gpu=gpu)
    run, outcome, pruned = search("exhaustive", space)
    assert [e.makespan for e in ranked(run.evaluations)[:5]] == best_by_brute_force(space, 5)
    assert outcome.stop == "complete"
    assert pruned > 0
    # the baseline is a point of the space: counted once when the bound would have excluded it
    assert len(run.evaluations) + pruned in (space.size, space.size + 1)


def test_exhaustive_without_a_bound_asks_for_everything() -> None:
    space = chain_space()
    run, _, pruned = search("exhaustive", space, bounded=False)
    assert (len(run.evaluations), pruned) == (space.size, 0)


def test_exhaustive_of_a_large_space_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.explore.methods.exact.exhaustive.EXHAUSTIVE_POINTS", 10)
    space = chain_space(cores=4)
    run, _, pruned = search("exhaustive", space)
    assert [e.makespan for e in ranked(run.evaluations)[:5]] == best_by_brute_force(space, 5)
    assert len(run.evaluations) + pruned in (space.size, space.size + 1)


@pytest.mark.parametrize("gpu", [False, True])
def test_local_search_reaches_the_optimum_of_a_small_space(gpu: bool) -> None:
    space = chain_space(cores=3, gpu=gpu)
    run, _, _ = search("local-search", space, evaluations=10_000)
    assert ranked(run.evaluations)[0].makespan == best_by_brute_force(space, 1)[0]


def test_local_search_beats_random_points_in_a_large_space() -> None:
    space = chain_space(cores=4, n=20)
    run, outcome, _ = search("local-search", space, evaluations=400)
    assert outcome.stop == "evaluations"
    assert len(run.evaluations) == 400
    rng = context(space).rng
    drawn = [space.random_assignment(rng) for _ in range(400)]
    candidate = next(iter(space.candidates()))
    random_best = min(makespan(space.to_point(type(candidate)(assignment=a))) for a in drawn)
    assert ranked(run.evaluations)[0].makespan < random_best


@pytest.mark.parametrize("name", METHODS.names())
def test_same_seed_same_evaluations(name: str) -> None:
    space = chain_space(cores=3, n=9)
    first, second = (search(name, space, seed=7, evaluations=150 if WHOLE else 80)[0] for _ in range(2))
    assert [e.digest for e in first.evaluations] == [e.digest for e in second.evaluations]


def test_other_seed_other_evaluations() -> None:
    space = chain_space(cores=3, n=9)
    first, second = (search("local-search", space, seed=s, evaluations=150)[0] for s in (1, 2))
    assert [e.digest for e in first.evaluations] != [e.digest for e in second.evaluations]


@pytest.fixture(scope="module")
def eight_with_gpu() -> tuple[Space, set[str]]:
    """A space, and the digests of all of its points."""
    space = chain_space(cores=3, n=8, gpu=True)
    return space, {space.to_point(c).digest() for c in space.candidates()}


@pytest.mark.parametrize("name", METHODS.names())
def test_points_asked_for_are_valid_and_no_engine_call_is_wasted(
    name: str, eight_with_gpu: tuple[Space, set[str]]
) -> None:
    space, valid = eight_with_gpu
    engine = FormulaEngine()
    run, _, _ = search(name, space, engine=engine, evaluations=300 if WHOLE else 150)
    assert {p.digest() for p in engine.asked} <= valid
    assert len(engine.asked) == len({p.digest() for p in engine.asked}) == len(run.evaluations)


def test_greedy_is_close_to_the_optimum() -> None:
    space = chain_space(cores=3)
    run, outcome, _ = search("greedy", space)
    assert outcome.stop == "complete"
    assert ranked(run.evaluations)[0].makespan <= 1.25 * best_by_brute_force(space, 1)[0]


def test_deadlocks_are_left_out_of_the_ranking_and_escaped() -> None:
    space = chain_space(cores=4)
    run, _, _ = search("local-search", space, engine=FormulaEngine(deadlocks=True), evaluations=10_000)
    ranking = ranked(run.evaluations)
    alive = [e for e in run.evaluations if not e.deadlock]
    assert 0 < len(ranking) == len(alive) < len(run.evaluations)
    assert [e.makespan for e in ranking] == sorted(e.makespan for e in ranking)


def test_budgets_stop_the_search() -> None:
    space = chain_space(cores=4)
    run, outcome, _ = search("exhaustive", space, bounded=False, evaluations=13)
    assert (len(run.evaluations), outcome.stop) == (13, "evaluations")
    run, outcome, _ = search("exhaustive", space, bounded=False, seconds=50.0)
    assert outcome.stop == "seconds"
    assert 0 < len(run.evaluations) < space.size


@pytest.mark.parametrize("budget", [{"evaluations": 0}, {"seconds": 0.0}, {"evaluations": -1}])
def test_empty_budgets_are_errors(budget: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="no evaluation"):
        Budget(**budget)  # type: ignore[arg-type]


def test_unknown_method() -> None:
    with pytest.raises(OptionError, match="unknown search method 'exhaustiv'") as caught:
        METHODS.load("exhaustiv")
    assert "'exhaustive'" in caught.value.diagnostics[0].expected


def test_auto_says_why() -> None:
    space = chain_space(cores=4)
    assert choose_method(space)[0] == "exhaustive"
    assert size_text(space) == "187 mappings"
    large = chain_space(cores=4, n=30)
    assert choose_method(large)[0] == "portfolio"
    assert size_text(large) == "about 10^16 mappings"


class Interrupting(FormulaEngine):
    def __call__(self, points, limit):  # type: ignore[no-untyped-def]
        for estimate in super().__call__(points, limit):
            if len(self.asked) == 10:
                raise KeyboardInterrupt
            yield estimate


def test_an_interrupt_keeps_what_was_evaluated(tmp_path: Path) -> None:
    space = chain_space(cores=4)
    store = create_study(tmp_path / "s.sqlite", chain(), IDENTITY, {})
    run, outcome, _ = search("exhaustive", space, engine=Interrupting(), store=store)
    store.close()
    assert outcome.stop == "interrupted"
    reopened = resume_study(tmp_path / "s.sqlite", chain(), IDENTITY, {})
    assert list(reopened.known().values()) == run.evaluations
    assert len(run.evaluations) == 9


def test_a_full_disk_is_an_error_and_keeps_what_was_reported(tmp_path: Path) -> None:
    space = chain_space(cores=4, n=10)
    seen: list[Progress] = []
    store = create_study(tmp_path / "s.sqlite", chain(10), IDENTITY, {})
    pages = store._tables._connection.execute("PRAGMA page_count").fetchone()[0]
    store._tables._connection.execute(f"PRAGMA max_page_count = {pages + 30}")
    run = Evaluator(
        FormulaEngine(), budget=Budget(), store=store, clock=itertools.count().__next__, progress=seen.append
    )
    with pytest.raises(ExecutionError, match=r"cannot write the study .* disk is full") as full:
        run_search(METHODS.load("exhaustive")(context(space, bounded=False)), run, None)
    assert full.value.exit_code == 1, "the usage was right"
    store.close()
    kept = resume_study(tmp_path / "s.sqlite", chain(10), IDENTITY, {}).known()
    assert len(kept) >= seen[-1].evaluations > 0
    assert len(kept) < space.size


def test_progress_is_reported_after_the_commit() -> None:
    seen: list[Progress] = []
    store = NoStore()
    space = chain_space()
    run = Evaluator(
        FormulaEngine(), budget=Budget(), store=store, clock=itertools.count().__next__, progress=seen.append
    )
    run_search(METHODS.load("exhaustive")(context(space, bounded=False)), run, None)
    assert seen[-1].evaluations == space.size
    assert seen[-1].best == best_by_brute_force(space, 1)[0]
    assert store.committed == len(seen) >= space.size / BATCH


@pytest.mark.parametrize("name", ["exhaustive", "local-search"])
@pytest.mark.parametrize("stopped_after", [1, 7, 50])
def test_a_resumed_search_makes_the_evaluations_of_an_uninterrupted_one(
    tmp_path: Path, name: str, stopped_after: int
) -> None:
    space = chain_space(cores=4, n=10)
    whole = search(name, space, bounded=False, evaluations=120)[0].evaluations
    store = create_study(tmp_path / "s.sqlite", chain(10), IDENTITY, {"tool": "dse"})
    search(name, space, bounded=False, store=store, evaluations=stopped_after)
    store.close()
    store = resume_study(tmp_path / "s.sqlite", chain(10), IDENTITY, {})
    engine = FormulaEngine()
    run, _, _ = search(name, space, bounded=False, engine=engine, store=store, evaluations=120)
    assert len(engine.asked) == 120 - stopped_after
    assert [(e.ordinal, e.digest, e.makespan) for e in run.evaluations] == [
        (e.ordinal, e.digest, e.makespan) for e in whole
    ]
    assert list(store.known().values()) == run.evaluations


def test_resume_needs_a_study(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no study to resume"):
        resume_study(tmp_path / "none.sqlite", chain(), IDENTITY, {})


def test_resume_refuses_other_inputs_and_names_them(tmp_path: Path) -> None:
    create_study(tmp_path / "s.sqlite", chain(), IDENTITY, {}).close()
    with pytest.raises(OptionError, match="seed: 1 in the study, 2 now; trace: t1 in the study, t2 now"):
        resume_study(tmp_path / "s.sqlite", chain(), {"trace": "t2", "seed": "2"}, {})


@pytest.mark.parametrize("damage", ["text", "truncated", "foreign", "row"])
def test_damaged_studies_are_errors(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.sqlite"
    store = create_study(path, chain(), IDENTITY, {})
    search("exhaustive", chain_space(), store=store)
    if damage == "row":
        store._tables._connection.execute("UPDATE evaluation SET members = x'0102' WHERE ordinal = 3")
    store.close()
    data = path.read_bytes()
    if damage == "text":
        path.write_text("this is not a database, whatever its name says" * 100)
    elif damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "foreign":
        path.unlink()
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE other (x)")
    with pytest.raises(FormatError, match="study file cannot be read"):
        resume_study(path, chain(), IDENTITY, {}).known()


def test_a_study_killed_before_its_first_commit_is_started_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"")
    assert resume_study(path, chain(), IDENTITY, {}).known() == {}


def test_two_searches_cannot_write_one_study(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = create_study(path, chain(), IDENTITY, {})
    search("exhaustive", chain_space(), store=store)
    with pytest.raises(OptionError, match="locked"):
        resume_study(path, chain(), IDENTITY, {})
    store.close()


def test_points_survive_json() -> None:
    space = chain_space(cores=3, gpu=True)
    for candidate in space.candidates():
        point = space.to_point(candidate)
        assert point_from_json(point_to_json(point, chain()), chain()) == point


def test_the_name_of_a_point_is_not_its_identity() -> None:
    point = chain_space().one_core()
    assert point is not None
    named = DesignPoint(partitions=point.partitions, capacities=point.capacities, name="x")
    assert named.digest() == point.digest()


def test_a_study_is_moved_aside_only_if_it_holds_something(tmp_path: Path) -> None:
    path, kept = tmp_path / "study.sqlite", tmp_path / "study-previous.sqlite"
    assert not move_aside(path)
    create_study(path, chain(), IDENTITY, {}).close()
    assert not move_aside(path)
    assert not path.exists()
    store = create_study(path, chain(), IDENTITY, {})
    search("greedy", chain_space(), store=store)
    with pytest.raises(OptionError, match="locked"):
        move_aside(path)
    store.close()
    whole = path.read_bytes()
    assert move_aside(path) == kept
    path.write_text("not a database at all")
    second = tmp_path / "study-previous-2.sqlite"
    assert move_aside(path) == second
    assert (kept.read_bytes(), second.read_text()) == (whole, "not a database at all")


def test_an_estimate_below_the_proven_bound_ends_the_search_and_is_not_stored() -> None:
    space, store = chain_space(cores=4), NoStore()
    one_core = space.one_core()
    assert one_core is not None
    least = makespan(one_core)
    run = Evaluator(
        FormulaEngine(), budget=Budget(), store=store, clock=itertools.count().__next__, progress=lambda _: None,
        least=least,
    )  # fmt: skip
    with pytest.raises(ExecutionError, match=rf"it is proven that none takes less than {least}"):
        run_search(METHODS.load("exhaustive")(context(space, bounded=False)), run, one_core)
    assert run.evaluations
    assert min(e.makespan for e in run.evaluations) == least
