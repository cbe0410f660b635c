"""The document of a page: columns come back as they were, timelines hold every firing, or say which they left out."""

import base64
import itertools
import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dse.estimate.engine import make_engine
from dse.model.critical_path import SegmentKind, Segments
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Estimate, FiringTimes
from dse.model.problem import Problem
from dse.model.steps import FiringSteps
from dse.report.page.columns import column, steps_up
from dse.report.page.document import mapping_view, network_view, path_json
from dse.report.page.timeline import WAITS, Detail, longest_waits, timeline_json, windows_around
from tests.unit.explore.test_buffers import pipeline, spread


def read(given: dict[str, Any]) -> NDArray[np.int64]:
    """Return the values of a column, read as the page reads them."""
    data = base64.b64decode(given["d"])
    planes = np.frombuffer(zlib.decompress(data) if given["z"] else data, dtype=np.uint8).reshape(
        given["w"], given["n"]
    )
    values = np.zeros(given["n"], dtype=np.int64)
    for plane, bytes_ in enumerate(planes):
        values += bytes_.astype(np.int64) << (8 * plane)
    return values


def firings_of(timeline: dict[str, Any], actor: int) -> list[tuple[int, int, int, int]]:
    """Return (index, start, end, action) of the firings of an actor that a timeline holds."""
    first = sum(timeline["counts"][:actor])
    own = slice(first, first + timeline["counts"][actor])
    starts = np.cumsum(read(timeline["start"])[own])
    index = np.arange(len(starts)) if timeline["index"] is None else np.cumsum(read(timeline["index"])[own])
    ends = starts + read(timeline["length"])[own]
    return list(
        zip(index.tolist(), starts.tolist(), ends.tolist(), read(timeline["action"])[own].tolist(), strict=True)
    )


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("top", [0, 1, 255, 256, 65_535, 65_536, 2**40, 2**63 - 1])
def test_columns_come_back(top: int, packed: bool) -> None:
    values = np.array([0, top // 3, top, 1 if top else 0], dtype=np.int64)
    found = column(values, packed=packed)
    assert read(found).tolist() == values.tolist()
    assert found["w"] == max(1, -(-top.bit_length() // 8))


def test_an_empty_column() -> None:
    assert read(column(np.zeros(0, dtype=np.int64), packed=True)).tolist() == []
    assert steps_up(np.array([3, 3, 9])).tolist() == [3, 0, 6]


@pytest.fixture(scope="module")
def case() -> tuple[Problem, DesignPoint, Estimate]:
    problem = pipeline((3, 60, 30))
    point = spread(problem, (8, 8))
    return problem, point, make_engine("reference", problem).estimate(point, firing_times=True)


def test_every_firing_is_there(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem, point, estimate = case
    view = mapping_view(problem.trace, point, estimate, label="#1", detail=Detail(packed=False))
    timeline: Any = view["timeline"]
    assert (timeline["complete"], timeline["held"], timeline["levels"]) == (True, problem.trace.n_firings, None)
    assert estimate.firing_times is not None
    for actor, times in enumerate(estimate.firing_times):
        starts, ends = times.start.tolist(), times.end.tolist()
        actions = problem.trace.firings[actor].tolist()
        assert firings_of(timeline, actor) == list(zip(range(len(starts)), starts, ends, actions, strict=True))


def test_a_view_tells_the_accounts_of_the_estimate(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem, point, estimate = case
    view: Any = mapping_view(problem.trace, point, estimate, label="#1")
    assert view["owner"] == list(point.partition_of(len(problem.trace.topology.actors)))
    assert [row[:9] for row in view["actors"]] == [list(a[:9]) for a in estimate.actors]
    assert all(sum(row[:9]) == view["makespan"] == estimate.makespan for row in view["actors"])
    assert [sum(p["times"]) for p in view["partitions"]] == [estimate.makespan * p["cores"] for p in view["partitions"]]
    assert [row[0] for row in view["buffers"]] == list(point.capacities)


def path_of(edges: list[int], actors: list[int]) -> Segments:
    """Return a path of processing that changes from actor to actor at ``edges``."""
    n, times = len(actors), np.array(edges)
    none, zeros = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    return Segments(
        kind=np.full(n, int(SegmentKind.PROCESSING)), actor=np.array(actors), firing=np.arange(n), buffer=none,
        link=none, start=times[:-1], end=times[1:], cause=zeros, cause_buffer=none, waited=zeros,
    )  # fmt: skip


def test_a_path_is_told_whole() -> None:
    found: Any = path_json(path_of([0, 5, 5, 9, 20], [1, 0, 1, 2]), 4, Detail(packed=False))
    assert (found["complete"], found["first"], found["ticks"]) == (True, 0, [0, 9, 11, 0])
    assert found["kinds"][read(found["kind"])[0]] == "processing"
    assert (read(found["actor"]) - 1).tolist() == [1, 0, 1, 2]
    assert (read(found["firing"]) - 1).tolist() == [0, 1, 2, 3]
    assert set(read(found["buffer"]).tolist()) == {0}
    assert read(found["length"]).tolist() == [5, 0, 4, 11]


def test_a_long_path_is_told_by_actors() -> None:
    edges = [0, *np.cumsum(np.full(1000, 60)).tolist()]
    path = path_of(edges, [k // 100 % 3 for k in range(1000)])
    found: Any = path_json(path, 3, Detail(all_firings=100, packed=False))
    assert not found["complete"]
    assert sum(found["ticks"]) == edges[-1]
    assert (read(found["actor"]) - 1).tolist() == [k % 3 for k in range(10)]
    assert np.cumsum(read(found["length"])) == pytest.approx([6000 * k for k in range(1, 11)], abs=edges[-1] / 16_384)
    assert set((read(found["firing"]) - 1).tolist()) == {-1}


def test_parts_of_firings_are_there(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem, point, estimate = case
    assert estimate.firing_times is not None
    steps = tuple(
        FiringSteps(start=t.start, scheduled=t.start + 1, read=t.start + 1, computed=t.end - 1, end=t.end)
        for t in estimate.firing_times
    )
    view: Any = mapping_view(problem.trace, point, estimate, label="#1", steps=steps)
    scheduling, reading, processing = map(read, view["timeline"]["parts"])
    assert set(scheduling.tolist()) == {1}
    assert set(reading.tolist()) == {0}
    assert (processing == read(view["timeline"]["length"]) - 2).all()


def test_names_are_shown_as_text(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem, point, estimate = case
    view: Any = mapping_view(problem.trace, point, estimate, label="a\x1b\u202eb", lines=("c\x07",))
    assert (view["label"], view["lines"]) == ("a\ufffd\ufffdb", ["c\ufffd"])
    network: Any = network_view(problem.trace)
    assert [b["source"] for b in network["buffers"]] == [b.source for b in problem.trace.topology.buffers]


def test_a_long_run_holds_windows_and_says_what_is_left_out(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem, point, estimate = case
    assert estimate.firing_times is not None
    detail = Detail(all_firings=20, packed=False)
    timeline: Any = timeline_json(problem.trace, point, estimate.firing_times, estimate.makespan, detail)
    assert not timeline["complete"]
    assert 0 < timeline["held"] < timeline["firings"] == problem.trace.n_firings
    windows = timeline["windows"]
    assert all(a[1] < b[0] for a, b in itertools.pairwise(windows))
    for actor, times in enumerate(estimate.firing_times):
        found = firings_of(timeline, actor)
        for index, start, end, _ in found:
            assert (start, end) == (times.start[index], times.end[index])
        inside = [
            k for k, (s, e) in enumerate(zip(times.start, times.end, strict=True))
            if any(s <= end and e > start for start, end in windows)
        ]  # fmt: skip
        assert [index for index, *_ in found] == inside
    bins = timeline["levels"]["bins"]
    busy = read(timeline["levels"]["busy"]).reshape(-1, bins)
    for row, account in zip(busy, estimate.actors, strict=True):
        assert row.sum() / 255 / bins == pytest.approx(sum(account[:5]) / estimate.makespan, abs=0.01)


def test_waits_are_where_no_actor_of_a_partition_fires() -> None:
    point = DesignPoint(
        partitions=(Partition(name="P0", actors=(0, 1), unit="cpu"), Partition(name="P1", actors=(2,), unit="cpu")),
        capacities=(),
    )
    times = (
        FiringTimes(start=np.array([0, 50]), end=np.array([10, 60])),
        FiringTimes(start=np.array([8, 55]), end=np.array([30, 58])),
        FiringTimes(start=np.array([5, 10, 100]), end=np.array([10, 20, 110])),
    )
    waits = [(w.partition, w.actor, w.firing, w.start, w.end) for w in longest_waits(point, times)]
    assert waits == [(1, 2, 2, 20, 100), (0, 0, 1, 30, 50)]
    assert windows_around((), times, 10) == []


def test_no_more_waits_than_are_said() -> None:
    starts = np.arange(0, 1000, 10)
    times = (FiringTimes(start=starts, end=starts + 1 + starts // 200),)
    point = DesignPoint(partitions=(Partition(name="P0", actors=(0,), unit="cpu"),), capacities=())
    waits = longest_waits(point, times)
    assert len(waits) == WAITS
    assert {w.end - w.start for w in waits} == {9}
