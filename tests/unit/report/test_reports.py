"""Ranking, reasons and page of a real estimate: totals agree, the page is whole and loads nothing."""

import base64
import dataclasses
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dse.estimate.engine import make_engine
from dse.explore.space.build import build_space
from dse.explore.space.space import Space, SpaceOptions
from dse.formats.mapping_text import MappingTexts
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Deadlock, DeadlockRow, Estimate, FiringTimes, PartitionAccount
from dse.model.problem import Problem
from dse.model.study import Evaluation, LowerBound, Study
from dse.model.trace import Topology, Trace, TraceActor, TraceBuffer, tokens_of_buffers
from dse.report.gantt import gantt_picture, occupancy, steady_window
from dse.report.html import ReportInputs, report_page
from dse.report.network_picture import network_picture, place
from dse.report.quantities import percent_text, time_text
from dse.report.ranking import busiest_partition, ranked_rows, ranking_table, render, row_json
from dse.report.svg import Bar, stacked_bars
from dse.report.why import CORE_CATEGORIES, deadlock_lines, partition_table, reason_lines, reasons_of
from tests.browser.reports import drawn_ranking, network, report_inputs
from tests.unit.explore.random_problems import BOX, problem_of
from tests.unit.explore.test_buffers import pipeline, spread


def space_of(problem: Problem) -> Space:
    buffers = problem.trace.topology.buffers
    return build_space(problem.trace.topology, BOX, SpaceOptions(capacities=((4,) * len(buffers),)))


def texts_of(problem: Problem) -> MappingTexts:
    return MappingTexts(topology=problem.trace.topology, platform=BOX)


def study_of(problem: Problem) -> tuple[Study, Estimate]:
    space, engine = space_of(problem), make_engine("reference", problem)
    found = []
    for ordinal, candidate in enumerate(space.candidates()):
        point = space.to_point(candidate)
        e = engine.estimate(point)
        found.append(
            Evaluation.of(
                ordinal=ordinal, point=point, digest=point.digest(), makespan=e.makespan, tick_unit=e.tick_unit,
                deadlock=False, partitions=e.partitions, seconds=0.0,
            )
        )  # fmt: skip
    ranking = tuple(sorted(found, key=lambda e: e.makespan))
    baseline = next(e for e in found if e.point == space.one_core())
    study = Study(
        network="tree", method="exhaustive", method_reason="small <space>", seed=1, space_size=space.size,
        evaluations=len(found), deadlocks=0, pruned=0, complete=True, stop="complete", seconds=1.0, ranking=ranking,
        baseline=baseline, lower_bounds=(LowerBound(makespan=ranking[0].makespan // 2, reason="work"),),
        assumed=("weights & more",),
    )  # fmt: skip
    return study, engine.estimate(ranking[0].point, firing_times=True)


@pytest.fixture(scope="module")
def case() -> tuple[Problem, Study, Estimate]:
    problem = problem_of(11, clock=500, given_host=True)
    return problem, *study_of(problem)


def test_times_and_shares() -> None:
    assert time_text(0, "ps") == "0 ps"
    assert time_text(999, "ps") == "999 ps"
    assert time_text(1_234_567, "ps") == "1.235 us"
    assert time_text(45_678_000_000, "ps") == "45.68 ms"
    assert time_text(345_678 * 10**9, "ps") == "345.7 s"
    assert time_text(48210, "cycles") == "48,210 cycles"
    assert percent_text(0, 0) == "0.0 %"
    assert percent_text(1, 3) == "33.3 %"


def test_ranking_rows_and_table(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, _ = case
    rows = ranked_rows(study, texts_of(problem), 4)
    assert [row.rank for row in rows] == [1, 2, 3, 4]
    assert study.baseline is not None
    assert rows[0].speedup == study.baseline.makespan / study.ranking[0].makespan
    assert rows[0].gap == pytest.approx(1.0, abs=0.01)
    table, note = ranking_table(rows, texts_of(problem))
    assert note == ""
    text = render(table)
    assert max(map(len, text.splitlines())) <= 100
    assert "makespan" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert row_json(rows[0])["unit"] == "ps"
    without = dataclasses.replace(study, baseline=None, lower_bounds=(LowerBound(makespan=0, reason="nothing"),))
    row = ranked_rows(without, texts_of(problem), 1)[0]
    assert (row.speedup, row.gap) == (None, None)


def test_one_busy_actor_is_told_what_it_would_give_to_be_faster() -> None:
    problem = pipeline((3, 60, 30))
    point = spread(problem, (8, 8))
    topology, engine = problem.trace.topology, make_engine("reference", problem)

    def verdict(point: DesignPoint) -> str:
        return reasons_of(topology, point, engine.estimate(point), ()).verdict

    assert verdict(point) == (
        "a1 alone keeps P1 99 % busy: no mapping helps but on a faster unit; "
        "a faster a1 gives up to 2.03x, until P2 limits it (49 % busy)"
    )
    joined = (Partition(name="P0", actors=(0, 1), unit="cpu"), point.partitions[2])
    assert verdict(dataclasses.replace(point, partitions=joined)).endswith("only taking work off that partition helps")
    single = pipeline((5,))
    reasons = reasons_of(
        single.trace.topology, spread(single, ()), make_engine("reference", single).estimate(spread(single, ())), ()
    )
    assert reasons.verdict.endswith("as much as a0 is faster, so is the whole")


def test_busiest_is_by_share_of_core_time() -> None:
    def account(busy: int, free: int) -> PartitionAccount:
        return PartitionAccount(
            scheduling=0, reading=0, processing=busy, writing=0, link_waiting=0, unoccupied=free, cores=1
        )

    problem = problem_of(11, clock=None, given_host=True)
    space = space_of(problem)
    n = space.n_actors
    point = space.to_point(next(c for c in space.candidates() if len(set(c.assignment)) == 2 and n > 1))
    assert busiest_partition(point, [account(5, 5), account(6, 4)]).partition == point.partitions[1].name  # type: ignore[union-attr]
    assert busiest_partition(point, [account(5, 5), account(5, 5)]).partition == point.partitions[0].name  # type: ignore[union-attr]
    assert busiest_partition(point, [account(0, 0), account(0, 0)]) is None


def test_reasons_add_up(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    reasons = reasons_of(problem.trace.topology, study.ranking[0].point, estimate, study.lower_bounds)
    assert all(p.core_time == p.cores * estimate.makespan for p in reasons.partitions)
    assert all(len(p.ticks) == len(CORE_CATEGORIES) for p in reasons.partitions)
    text = render(partition_table(reasons))
    assert max(map(len, text.splitlines())) <= 100
    lines = reason_lines(reasons, estimate)
    assert lines[0].startswith("what limits it: ")
    assert lines[-1].startswith("lower bound: ")


def test_a_met_bound_is_said(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    bound = LowerBound(makespan=estimate.makespan, reason="the critical path of the trace")
    reasons = reasons_of(problem.trace.topology, study.ranking[0].point, estimate, (bound,))
    assert "meets a proven lower bound (the critical path of the trace)" in reasons.verdict


def test_deadlocks_in_words() -> None:
    problem = problem_of(11, clock=None, given_host=True)
    topology = problem.trace.topology
    rows = (
        DeadlockRow(actor=0, action=0, buffer=0, kind="space", have=1, need=2),
        DeadlockRow(actor=1, action=1, buffer=0, kind="tokens", have=0, need=1),
    )
    capacities = (1,) * len(topology.buffers)
    remedy = (2, *capacities[1:])
    lines = deadlock_lines(topology, Deadlock(rows=rows, remedy=remedy), capacities)
    assert lines == [
        "a0.x0 waits on a0.o->a1.i for space for 2 tokens, 1 free of 1",
        "a1.x1 waits on a0.o->a1.i for 1 tokens, 0 there",
        "larger capacities that would do: a0.o->a1.i 1 -> 2",
    ]
    assert deadlock_lines(topology, Deadlock(rows=rows, remedy=None), capacities)[-1].startswith("no buffer capacity")


class Page(HTMLParser):
    """Checks that tags nest and gathers what the page would load."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.loads += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    topology = problem.trace.topology
    page = report_page(
        ReportInputs(
            study=study, trace=problem.trace, rows=ranked_rows(study, texts_of(problem), 5), texts=texts_of(problem),
            estimate=estimate,
            reasons=reasons_of(topology, study.ranking[0].point, estimate, study.lower_bounds),
            manifest=(("tool", "dse <1>"),),
        )
    )  # fmt: skip
    parser = Page()
    parser.feed(page)
    assert (parser.open, parser.loads) == ([], [])
    assert "sourceMappingURL" not in page
    assert "small &lt;space&gt;" in page
    assert "dse &lt;1&gt;" in page
    (data,) = re.findall(r'<script type="application/json" id="document">(.*?)</script>', page)
    found = json.loads(data)
    assert [actor["name"] for actor in found["network"]["actors"]] == [actor.name for actor in topology.actors]
    assert [view["makespan"] for view in found["mappings"]] == [estimate.makespan]
    assert min(time for _, time in found["search"]["found"]) == study.ranking[0].makespan


def test_the_page_allows_its_own_scripts_and_nothing_else(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    reasons = reasons_of(problem.trace.topology, study.ranking[0].point, estimate, study.lower_bounds)
    rows = ranked_rows(study, texts_of(problem), 5)
    page = report_page(
        ReportInputs(
            study=study, trace=problem.trace, rows=rows, texts=texts_of(problem), estimate=estimate, reasons=reasons,
            manifest=(),
        )
    )  # fmt: skip
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
    assert rules.pop("style-src") == "'unsafe-inline'"
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert rules.pop("script-src") == " ".join(f"'sha256-{text}'" for text in hashes)
    assert set(rules.values()) == {"'none'"}
    assert "default-src" in rules


def test_a_page_is_no_larger_than_it_may_be_and_knows_what_it_leaves_out() -> None:
    inputs = report_inputs(network(11), firings=1_100, mappings=3)
    whole = report_page(inputs)

    def document(most_bytes: int) -> dict[str, Any]:
        page = report_page(inputs, most_bytes)
        assert len(page.encode()) <= most_bytes
        (data,) = re.findall(r'<script type="application/json" id="document">(.*?)</script>', page)
        return dict(json.loads(data))

    known = document(len(whole) + 200)
    bare = len(json.dumps({**known["mappings"][0], "timeline": None, "path": None}, separators=(",", ":")))
    timed = len(json.dumps(known["mappings"][0], separators=(",", ":"))) - bare
    least = len(whole) - 3 * timed  # about; a timeline takes many times what is uncertain about it
    for timelines, mappings, most in ((3, 3, len(whole) + 200), (2, 3, len(whole) - 1), (0, 3, least + timed // 2)):
        found = document(most)
        assert [view["timeline"] is not None for view in found["mappings"]] == [k < timelines for k in range(mappings)]
        assert (found["rows"], found["leftOut"]) == (3, mappings - timelines)
    found = document(least - bare)
    assert [view["timeline"] for view in found["mappings"]] == [None] * len(found["mappings"])
    assert 1 <= len(found["mappings"]) < found["rows"]


def test_the_page_shows_ties_and_what_draws_say() -> None:
    inputs = report_inputs(network(11), firings=110)
    page = report_page(replace(inputs, robust=drawn_ranking(inputs)))
    tables = re.findall(r"<tbody>(.*?)</tbody>", page)
    for table in tables[:2]:  # the ranking, and what draws say of it
        assert re.findall(r'<tr><td class="n">(.*?)</td>', table) == ["1=", "1=", "3"]
    assert "90 % within" in page
    assert "50 %" in tables[1]


def test_stacked_bars_fill_their_length() -> None:
    bar = Bar(label="P0", parts=(("processing", 30), ("unoccupied", 70)))
    root = ElementTree.fromstring(stacked_bars([bar], "x"))
    widths = [
        float(r.get("width", 0)) for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("height") == "20"
    ]
    assert widths[0] / sum(widths) == pytest.approx(0.3, abs=0.001)


def test_occupancy_agrees_with_busy_time() -> None:
    rng = np.random.default_rng(2)
    gaps, lengths = rng.integers(0, 9, 50), rng.integers(1, 9, 50)
    start = np.cumsum(gaps + np.concatenate([[0], lengths[:-1]]))
    times = FiringTimes(start=start, end=start + lengths)
    makespan = int(times.end[-1]) + 5
    shares = occupancy([times], [0], makespan, 13)
    assert shares.sum() * makespan / 13 == pytest.approx(lengths.sum())
    brute = np.zeros(makespan)
    for s, e in zip(times.start, times.end, strict=True):
        brute[s:e] += 1
    assert occupancy([times], [0], makespan, makespan) == pytest.approx(brute)


def test_window_holds_about_the_firings_asked_for(case: tuple[Problem, Study, Estimate]) -> None:
    problem, study, estimate = case
    assert estimate.firing_times is not None
    window = steady_window(estimate.firing_times, estimate.makespan, firings=5)
    assert 0 <= window.start < window.end <= estimate.makespan
    whole = steady_window(estimate.firing_times, estimate.makespan, firings=10_000)
    assert (whole.start, whole.end) == (0, estimate.makespan)
    picture = gantt_picture(problem.trace, study.ranking[0].point, estimate, whole)
    assert picture.count("(firing ") == problem.trace.n_firings


def ring(n: int) -> Topology:
    actors = tuple(
        TraceActor(name=f"a{i}", class_name="A", inputs=("i",), outputs=("o",), actions=()) for i in range(n)
    )
    buffers = tuple(
        TraceBuffer(source=i, source_port=0, target=(i + 1) % n, target_port=0, token_bytes=1, token_bits=8)
        for i in range(n)
    )
    return Topology(name="ring", actors=actors, buffers=buffers)


def test_layers_of_cycles_and_self_loops() -> None:
    assert place(ring(4)).layer == (0, 1, 2, 3)
    assert place(ring(1)).layer == (0,)
    topology = ring(3)
    space = build_space(topology, BOX, SpaceOptions(capacities=((1, 1, 1),)))
    point: DesignPoint = space.to_point(next(space.candidates()))
    ElementTree.fromstring(network_picture(topology, point, (0, 0, 0)))


def test_tokens_of_buffers_are_counted(case: tuple[Problem, Study, Estimate]) -> None:
    trace: Trace = case[0].trace
    assert tokens_of_buffers(trace) == (len(trace.firings[0]),) * len(trace.topology.buffers)
