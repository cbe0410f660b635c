"""Crossing costs, from synthetic calibration runs whose costs are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.measure.crossing import Calibration, crossing_costs, with_crossings
from dse.measure.profile import Profile, make_profile
from dse.measure.profile_weights import local_weights
from dse.measure.raw_records import read_samples
from dse.model.trace import Trace
from tests.unit.measure.networks import FACTS, TrueCosts, chain, chain_trace, timed_run
from tests.unit.measure.records import header, thread, write
from tests.unit.measure.test_profile import run_steps

TRUE = TrueCosts()


def profiled(tmp_path: Path, rng: np.random.Generator) -> tuple[Trace, list[tuple[int, int, int]], Profile]:
    trace, visits = chain_trace(800, rng)
    run = timed_run(tmp_path / "local", trace.firings, visits, TRUE, rng)
    return trace, visits, make_profile([run], chain(), trace.firings, [run_steps(trace, visits) / 2], FACTS)


def calibration(
    path: Path, trace: Trace, visits: list[tuple[int, int, int]], split: int, costs: dict[str, float]
) -> Calibration:
    """Return a run with actors from ``split`` on in another partition; a visit that crosses costs block and tokens."""
    rows: tuple[list, list] = ([], [])
    now = 1000
    rng = np.random.default_rng(split)
    for actor, first, n in visits:
        ids = trace.firings[actor][first : first + n]
        took = TRUE.visit[actor] + FACTS.cost + sum(TRUE.actions[actor][action] for action in ids.tolist())
        written = 2 * int((ids == 0).sum()) if actor == 1 else n
        if actor == split - 1:
            took += costs["write"] + costs["written"] * written if written else 0
        if actor == split:
            took += costs["read"] + costs["taken"] * n * (64 if actor == 2 else 1)
        took += float(rng.normal()) * 3
        rows[actor >= split].append((now, now + int(took), n, actor, 1, 0x80))  # each waits for the other
        now += int(took)
    data = (header(3, 2, span=(1000, now)), thread(rows[0], partition=0), thread(rows[1], partition=1))
    owner = tuple(int(actor >= split) for actor in range(3))
    return Calibration(partition_of=owner, samples=read_samples(write(path, *data), 3), firings=trace.firings)


def test_crossing_costs_are_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(21)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 900.0, "written": 15.0, "read": 500.0, "taken": 8.0}
    found = crossing_costs(profile, chain(), [calibration(tmp_path / "c", trace, visits, 1, costs)])
    write_side, read_side = found.of("write", 0), found.of("read", 0)
    assert write_side.price.each == pytest.approx(15.0, rel=0.05)
    # what a visit pays once is spread over the firings of the longest one: 900 counts over some 400
    firings, longest = len(trace.firings[0]), max(n for actor, _, n in visits if actor == 0)
    assert write_side.price.fixed == pytest.approx(900 / longest, rel=0.1)
    assert read_side.price.each == pytest.approx(8.0, rel=0.1)
    assert read_side.transfers == firings
    paid_once = sum(900 * (actor == 0) + 500 * (actor == 1) for actor, _, _ in visits)
    charged = firings * (write_side.price.fixed + read_side.price.fixed)
    busy = sum(_local(trace, visit) for visit in visits if visit[0] < 2) + paid_once + firings * (15.0 + 8.0)
    assert paid_once - charged > 0.03 * busy, "most visits are not full"
    assert found.unexplained == pytest.approx((paid_once - charged) / busy, abs=0.01)


def _local(trace: Trace, visit: tuple[int, int, int]) -> float:
    """Return what a visit takes on one core."""
    actor, first, n = visit
    return TRUE.visit[actor] + sum(TRUE.actions[actor][action] for action in trace.firings[actor][first : first + n])


def test_buffers_that_never_crossed_get_the_mean_by_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(22)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 0.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    found = crossing_costs(profile, chain(), [calibration(tmp_path / "c", trace, visits, 1, costs)])
    other = found.of("write", 1)
    assert other.transfers == 0
    assert other.price.each == pytest.approx(4 * found.of("write", 0).price.each)  # 4 bytes a token, not 1


def test_weights_of_crossings_stand_beside_the_local_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(23)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 0.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    calibrations = [calibration(tmp_path / f"c{split}", trace, visits, split, costs) for split in (1, 2)]
    found = crossing_costs(profile, chain(), calibrations)
    table = with_crossings(local_weights(profile, chain(), trace.firings), found, chain())
    crossed = table.transfers["filter", "Out", "sink", "In", "cpu_cpu", "cpu", "read"]
    local = table.transfers["filter", "Out", "sink", "In", "local", "cpu", "read"]
    assert float(crossed.per_token_cycles - local.per_token_cycles) == pytest.approx(10.0, rel=0.1)
    assert crossed.count == len(trace.firings[2])


def test_without_crossings_there_are_no_costs(tmp_path: Path) -> None:
    rng = np.random.default_rng(24)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 0.0, "written": 0.0, "read": 0.0, "taken": 0.0}
    alone = calibration(tmp_path / "c", trace, visits, 3, costs)
    found = crossing_costs(profile, chain(), [alone])
    assert all(c.price.of(10) == 0 and c.transfers == 0 for c in (*found.reads, *found.writes))


def test_what_crosses_in_place_costs_what_it_costs_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(25)
    trace, visits, profile = profiled(tmp_path, rng)
    elsewhere = {"write": 0.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    there = {"write": 0.0, "written": 60.0, "read": 0.0, "taken": 30.0}
    others = [calibration(tmp_path / f"c{split}", trace, visits, split, elsewhere) for split in (1, 2)]
    one = calibration(tmp_path / "in-place", trace, visits, 1, there)
    found = crossing_costs(profile, chain(), [*others, replace(one, in_place=True)])
    assert found.of("write", 0).price.each == pytest.approx(60.0, rel=0.05)
    assert found.of("read", 0).price.each == pytest.approx(30.0, rel=0.05)
    assert found.of("write", 1).price.each == pytest.approx(20.0, rel=0.05)
    assert found.unexplained < -0.05, "what is paid is too much for the other run"
    together = crossing_costs(profile, chain(), [*others, one])
    assert together.of("write", 0).price.each == pytest.approx(40.0, rel=0.1)
    assert together.unexplained == pytest.approx(0.0, abs=0.03)
