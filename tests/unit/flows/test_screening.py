"""A search of a long trace begins on a shorter one: said, counted, left out when asked, the same for every worker."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from dse.cli.main import main
from dse.estimate.engine import make_engine
from dse.explore.evaluator import Budget
from dse.explore.methods.improving.descents import Descent
from dse.explore.methods.improving.iterated_search import IteratedSearch
from dse.explore.space.space import Candidate
from dse.flows.search import screening, study
from dse.model.study import Evaluation, Screening
from tests.examples import IN_FULL
from tests.unit.explore.searches import context_of, space_of
from tests.unit.explore.test_buffers import pipeline

JPEG = str(Path(__file__).parents[3] / "actors" / "jpeg" / "jpeg.xdf")
EXPLORE = ["explore", JPEG, "--weights", "nominal", "--method", "iterated-search", "--budget", "100"]
NOTE = '{"firings": 9, "whole": 99, "estimates": 7, "counted": 1, "best": [DIGESTS]}'


@pytest.fixture(autouse=True)
def short_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "LEAST_FIRINGS", 1000)
    monkeypatch.setattr(screening, "PRICE", 1)
    monkeypatch.setattr(screening, "PROPOSAL", 0)
    monkeypatch.setattr(screening, "BUILDING", 0)
    monkeypatch.setattr(screening, "BUILDING_RUN", 0)
    monkeypatch.setattr(screening, "LEAST_GAIN", 1)


def explored(out: Path, *options: str) -> dict[str, Any]:
    assert main([*EXPLORE, "--out", str(out), *options]) == 0
    found: dict[str, Any] = json.loads((out / "ranking.json").read_text())
    return found


def test_it_is_said_and_counted_and_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = explored(tmp_path / "on", "--workers", "1")
    made = found["screening"]
    told = " ".join(capsys.readouterr().out.split())
    assert f"screened on {made['runs']:,} runs of the" in told
    assert made["agreed"] is True
    assert 0 < made["counted_evaluations"] <= 80
    assert found["evaluations"] + made["counted_evaluations"] == 100
    assert explored(tmp_path / "two", "--workers", "2") == found
    without = explored(tmp_path / "off", "--no-screening")
    assert "screening" not in without
    assert without["evaluations"] == 100


@IN_FULL  # that of finished screening resumes one too
def test_a_search_that_is_resumed_ends_as_one_in_a_row(tmp_path: Path) -> None:
    explored(tmp_path, "--budget", "60")
    resumed = explored(tmp_path, "--resume")
    assert resumed["best"]["makespan"] == explored(tmp_path / "row")["best"]["makespan"]


def test_finished_screening_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explored(tmp_path)

    def again(*_: object, **__: object) -> None:
        raise AssertionError("it has been screened")

    with monkeypatch.context() as patched:
        patched.setattr(study, "screen", again)
        assert explored(tmp_path, "--resume") == whole


@IN_FULL
def test_screening_that_was_interrupted_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(screening, "agreement", Mock(side_effect=KeyboardInterrupt))
        main([*EXPLORE, "--out", str(tmp_path / "killed")])
    assert explored(tmp_path / "killed", "--resume") == explored(tmp_path / "row")


def test_a_short_trace_that_ranks_otherwise_is_left_after_a_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screening, "LEAST_AGREEMENT", 1.1)
    found = explored(tmp_path)
    assert found["screening"]["agreed"] is False
    assert found["screening"]["counted_evaluations"] <= 2 * 100 // screening.ROUNDS
    assert "left, since they rank mappings otherwise" in " ".join(capsys.readouterr().out.split())


def test_agreement_is_the_rank_correlation_of_points_that_complete() -> None:
    def evaluated(makespan: int, *, deadlock: bool = False) -> Evaluation:
        return Mock(spec=Evaluation, makespan=makespan, deadlock=deadlock)

    assert screening.agreement([(1, evaluated(10)), (2, evaluated(20)), (3, evaluated(30))]) == 1
    assert screening.agreement([(1, evaluated(30)), (2, evaluated(20)), (3, evaluated(10))]) == -1
    assert screening.agreement([(1, evaluated(10)), (2, evaluated(30)), (3, evaluated(20))]) == pytest.approx(1 / 3)
    assert screening.agreement([(1, evaluated(9)), (1, evaluated(8)), (2, evaluated(1, deadlock=True))]) == 1


@pytest.mark.parametrize(
    "value",
    [
        "",
        "[]",
        "{}",
        '{"best": 1}',
        NOTE.replace("DIGESTS", ""),
        NOTE.replace("DIGESTS", '"' + "0" * 64 + '"').replace("7", "-7"),
        NOTE.replace("DIGESTS", '"' + "0" * 64 + '"').replace('"best"', '"agreed": 1, "best"'),
        NOTE.replace("DIGESTS", '"0"'),
        NOTE.replace("DIGESTS", '"' + "0" * 64 + '"'),
    ],
)
def test_what_a_study_says_of_screening_is_not_believed(value: str) -> None:
    notes, evaluator, space = Mock(), Mock(), Mock()
    notes.noted.return_value = value
    evaluator.stored.return_value = None
    assert screening.noted_screening(notes, Budget(evaluations=50), evaluator, space) is None


@pytest.mark.parametrize(
    "options",
    [("--policy", "ROUND_ROBIN", "--budget", "50"), ("--buffers", "512", "--buffers", "1024", "--budget", "50")],
)
def test_other_searches_begin_as_ever(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert "screening" not in explored(tmp_path, *options)


def test_an_interrupt_while_screening_ends_the_search_with_the_best_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = screening._Rounds._promote
    raised: list[KeyboardInterrupt] = []

    def interrupted(self: screening._Rounds, ranks: Sequence[int]) -> None:
        if not raised:
            raised.append(KeyboardInterrupt())
            raise raised[0]
        real(self, ranks)

    monkeypatch.setattr(screening._Rounds, "_promote", interrupted)
    main([*EXPLORE, "--out", str(tmp_path)])
    found = json.loads((tmp_path / "ranking.json").read_text())
    assert "interrupted" in capsys.readouterr().err
    assert found["evaluations"] == 2
    assert len(list(tmp_path.glob("best-*.xcf"))) == 2  # one core, and the best of the short trace


@pytest.mark.parametrize(("building", "screens"), [(45, True), (47, False)])
def test_a_short_trace_that_takes_the_whole_share_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, building: int, screens: bool
) -> None:
    monkeypatch.setattr(screening.ShortTrace, "building", building)
    found = explored(tmp_path, "--budget", "61")
    assert ("screening" in found) is screens
    assert found["evaluations"] + (found["screening"]["counted_evaluations"] if screens else 0) == 61


def test_a_large_batch_leaves_something_for_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening.ShortTrace, "price", 9.0)
    found = explored(tmp_path, "--batch", "1000", "--budget", "41")
    assert found["screening"]["counted_evaluations"] <= 40 - screening.PROMOTED_OF_ROUND
    assert found["evaluations"] > screening.PROMOTED_OF_ROUND


def test_a_search_begins_as_ever_where_what_was_found_deadlocks() -> None:
    problem, evaluator = pipeline((3, 5), firings=9), Mock()
    context, candidate = context_of(problem, space_of(problem)), Candidate(assignment=(0, 1))
    found = screening.Screened(
        best=[candidate], screening=Screening(firings=1, whole=9, estimates=1, counted=1, agreed=True)
    )
    for deadlock in (True, False):
        evaluator.evaluate.return_value = [Mock(spec=Evaluation, deadlock=deadlock, makespan=1)]
        begun = screening.begun_at(found, context, evaluator)
        assert (begun.start, begun.begun) == (() if deadlock else (candidate,), not deadlock)


def _sieve(makespans: Mapping[Candidate, int | None], *, left: int | None) -> tuple[screening.ShortSieve, Mock, Mock]:
    """Return a sieve of a short trace with these makespans (None: a deadlock), its engine and the evaluator."""
    space, evaluator = Mock(), Mock(evaluations_left=left)
    space.to_point.side_effect = lambda candidate: candidate
    engine = Mock()
    engine.outcomes.side_effect = lambda points, _: [
        Mock(makespan=makespans[point] or 0, deadlock=makespans[point] is None) for point in points
    ]
    short = screening.ShortTrace(engine=engine, n_actors=2, firings=1, whole=4)  # a look: a quarter of an evaluation
    return screening.ShortSieve(short, space, evaluator, 1), engine, evaluator


def test_a_sieve_leaves_out_what_the_short_trace_finds_worse() -> None:
    origin, *others = (Candidate(assignment=(0, n)) for n in range(5))
    found = dict(zip((origin, *others), (1000, 1006, None, 1004, 900), strict=True))
    sieve, engine, evaluator = _sieve(found, left=None)
    assert sieve.passes(origin, others) == [False, False, True, True]
    evaluator.charge.assert_called_once_with(2)  # five looks
    assert sieve.passes(others[0], [origin, others[1]]) == [True, False]
    assert engine.outcomes.call_count == 1, "what is known is not looked at again"
    before = Screening(firings=1, whole=4, estimates=10, counted=6)
    after = sieve.added_to(before)
    assert (after.estimates, after.counted) == (15, 8)
    sieve.close()


@pytest.mark.parametrize(("left", "looks"), [(3, True), (2, False)])
def test_a_sieve_does_not_look_where_that_would_end_the_budget(left: int, looks: bool) -> None:
    origin, *others = (Candidate(assignment=(0, n)) for n in range(5))
    sieve, engine, evaluator = _sieve(dict.fromkeys((origin, *others), 10) | {others[0]: 20}, left=left)
    assert sieve.passes(origin, others) == [not looks, True, True, True]
    assert (engine.outcomes.called, evaluator.charge.called) == (looks, looks)


class _Nothing:
    """Lets no neighbour pass."""

    def passes(self, origin: Candidate, neighbours: Sequence[Candidate]) -> list[bool]:
        assert origin not in neighbours
        return [False] * len(neighbours)


def test_a_descent_asks_for_nothing_that_a_sieve_leaves_out() -> None:
    problem = pipeline((3, 5, 4, 6, 7, 2), firings=9)
    known, engine = context_of(problem, space_of(problem)), make_engine("compiled", problem)
    for sieve in (None, _Nothing()):
        method = IteratedSearch(replace(known, rng=np.random.default_rng(1), sieve=sieve))
        method.ask(1)
        candidate = Candidate(assignment=(0,) * 6)
        point = known.space.to_point(candidate)
        made = Evaluation.of(
            ordinal=0, point=point, digest="", makespan=243, tick_unit="cycles", deadlock=False, seconds=0.0,
            partitions=engine.estimate(point).partitions,
        )  # fmt: skip
        (state,) = method._states([candidate], [made])
        descent, tried = Descent.of(state), [kind.tried for kind in method._kinds]
        trials = method._trials(descent)
        if sieve is None:
            assert trials
            assert descent.sieved == 0
        else:
            assert not trials
            assert descent.sieved > 0
            assert sum(kind.tried for kind in method._kinds) == sum(tried) + descent.sieved
            polishing = method._polished(state)
            batch, end = next(polishing), None
            while end is None:
                assert not batch, "an empty batch, to look at the clock"
                try:
                    batch = polishing.send([])
                except StopIteration as stop:
                    end = stop.value
            assert end == (state, True)


@pytest.mark.parametrize(
    ("evaluations", "seconds", "fits"),
    [(40, None, True), (39, None, False), (None, 20.0, True), (None, 19.0, False), (None, None, True)],
)
def test_a_small_budget_is_not_split(evaluations: int | None, seconds: float | None, fits: bool) -> None:
    assert screening.enough(Budget(evaluations=evaluations), seconds) is fits
