"""Measured times beside estimates: columns, sentences, JSON and the page."""

from fractions import Fraction

import pytest

from dse.model.estimate import Estimate
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.model.problem import Problem
from dse.model.study import Study
from dse.report.html import ReportInputs, report_page
from dse.report.measured import (
    Measurements,
    all_states_text,
    main_state,
    measured_json,
    measured_lines,
    measured_text,
    ranks_text,
)
from dse.report.ranking import ranked_rows, ranking_table, render, row_json
from dse.report.why import reasons_of
from tests.unit.explore.random_problems import problem_of
from tests.unit.report.test_reports import study_of, texts_of


@pytest.fixture(scope="module")
def case() -> tuple[Problem, Study, Estimate]:
    problem = problem_of(11, clock=500, given_host=True)
    return problem, *study_of(problem)


def times(state: str, median_ns: float, runs: int = 5) -> StateTimes:
    """Times with quartiles at 98 and 104 per cent of the median."""
    return StateTimes(state=state, median_ns=median_ns, lower_ns=0.98 * median_ns, upper_ns=1.04 * median_ns, runs=runs)


def measured(study: Study, factors: list[Fraction | None]) -> Measurements:
    """The first of a study, each as long as its estimate times a factor; None: not run."""
    ranked = []
    for evaluation, factor in zip(study.ranking, factors, strict=False):
        ns = float(evaluation.makespan * (factor or 0)) / 1000
        point = MeasuredPoint(times=(times("far", ns),)) if factor else MeasuredPoint(skipped="it needs 9 cores")
        ranked.append((evaluation.digest, point))
    assert study.baseline is not None
    one = MeasuredPoint(times=(times("far", study.baseline.makespan / 1000 * 1.1),))
    return Measurements(ranked=tuple(ranked), one_core=one)


def test_the_state_that_is_shown_is_the_one_with_the_most_runs() -> None:
    both = MeasuredPoint(times=(times("near", 2e6, runs=3), times("far", 3e6, runs=2)))
    far = MeasuredPoint(times=(times("far", 4e6, runs=4),))
    assert main_state([both]) == "near"
    assert main_state([both, None, far]) == "far"
    assert main_state([None, MeasuredPoint(times=(times("", 1e6),))]) == ""
    assert measured_text(both, "far") == "3.000 ms ±3.0 %"
    assert measured_text(far, "near") == "-"
    assert measured_text(None, "near") == "-"
    assert all_states_text(both) == "2.000 ms ±3.0 % (near), 3.000 ms ±3.0 % (far)"
    assert all_states_text(MeasuredPoint(skipped="it crashes")) == "not measured: it crashes"
    assert all_states_text(MeasuredPoint(discarded=7)).endswith("changed in all of its 7 runs")
    assert all_states_text(None) == ""


def test_the_table_has_a_column_only_where_something_was_measured(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, _ = case
    texts = texts_of(problem)
    plain = ranked_rows(study, texts, 4)
    assert "measured" not in render(ranking_table(plain, texts)[0])
    assert "measured" not in row_json(plain[0])
    rows = ranked_rows(study, texts, 4, measured(study, [Fraction(2), None]))
    text = render(ranking_table(rows, texts)[0])
    assert "measured (far)" in text
    assert "busiest" not in text  # there is no room for it
    assert max(map(len, text.splitlines())) <= 100
    lines = text.splitlines()
    assert sum("±3.0 %" in line for line in lines) == 1
    assert row_json(rows[0])["measured"]["times"][0]["median_ns"] == study.ranking[0].makespan * 2 / 1000
    assert row_json(rows[1])["measured"] == {
        "times": [],
        "discarded_runs": 0,
        "stalls": 0.0,
        "not_measured": "it needs 9 cores",
    }
    assert rows[2].measured is None


def test_sentences_say_what_one_core_took_how_far_estimates_are_off_and_what_was_left_out(
    case: tuple[Problem, Study, Estimate],
) -> None:
    _, study, _ = case
    found = measured(study, [Fraction(5, 4), Fraction(1), None, None])
    lines = measured_lines(found, study.ranking, study.baseline)
    assert study.baseline is not None
    gain = study.baseline.makespan * 1.1 / study.ranking[1].makespan
    one = study.baseline.makespan * 1.1 / (study.ranking[0].makespan * 1.25)
    assert lines[0].startswith("on one core: ")
    assert lines[0].endswith(f"the fastest that ran is #{2 if gain > one else 1}, {max(gain, one):.2f}x as fast")
    # 1 / 1.25, 1 and 1 / 1.1 of the measured times
    mean = (0.2 + 0 + (1 - 1 / 1.1)) / 3
    told = f"estimated and measured times of 3 mappings (far cores) differ by {100 * mean:.1f} % in the mean, 20.0 %"
    assert lines[1] == f"{told} at most"
    assert lines[2] == "not measured: #3, #4 (it needs 9 cores)"
    (short,) = lines[3:]  # they took a microsecond
    assert short.startswith("#1 and 2 more: runs of 0.00")


def test_ranks_in_a_row_are_a_range() -> None:
    assert ranks_text([1]) == "#1"
    assert ranks_text([1, 2]) == "#1, #2"
    assert ranks_text([1, 2, 3, 5, 7, 8, 9, 10]) == "#1 to #3, #5, #7 to #10"


def test_what_has_no_time_is_compared_with_nothing(case: tuple[Problem, Study, Estimate]) -> None:
    _, study, _ = case
    found = Measurements(ranked=((study.ranking[0].digest, MeasuredPoint(skipped="it crashes")),))
    assert measured_lines(found, study.ranking, study.baseline) == ["not measured: #1 (it crashes)"]
    assert measured_lines(Measurements(ranked=()), study.ranking, None) == []
    failed = Measurements(ranked=(), one_core=MeasuredPoint(skipped="it crashes"))
    assert measured_lines(failed, study.ranking, study.baseline)[0].endswith("not measured: it crashes")


def test_json_has_nanoseconds_of_every_state() -> None:
    document = measured_json(MeasuredPoint(times=(times("near", 100.0), times("", 50.0)), discarded=2))
    assert document["times"][0] == {
        "state": "near", "median_ns": 100.0, "lower_quartile_ns": 98.0, "upper_quartile_ns": 104.0, "runs": 5,
    }  # fmt: skip
    assert document["times"][1]["state"] is None
    assert (document["discarded_runs"], document["not_measured"]) == (2, None)


def test_the_page_shows_both(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    topology, found = problem.trace.topology, measured(study, [Fraction(2), None])
    page = report_page(
        ReportInputs(
            study=study, trace=problem.trace, rows=ranked_rows(study, texts_of(problem), 5, found),
            texts=texts_of(problem), estimate=estimate,
            reasons=reasons_of(topology, study.ranking[0].point, estimate, study.lower_bounds),
            manifest=(), measured=found,
        )
    )  # fmt: skip
    assert '<th class="n">measured</th>' in page
    assert "Estimated and measured" in page
    assert "not measured: it needs 9 cores" in page
    ranking = page.split("<h2>The best that was found")[0]
    assert ranking.count('<td class="n">') % len(ranked_rows(study, texts_of(problem), 5, found)) == 0
