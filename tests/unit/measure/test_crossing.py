"""Crossing costs, from synthetic calibration runs whose costs are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.measure.crossing import Calibration, Crossings, crossing_costs, entries_of, with_crossings
from dse.measure.looks import Called, looks_of
from dse.measure.profile import Profile, make_profile
from dse.measure.profile_weights import exact, local_weights
from dse.measure.raw_records import read_samples
from dse.model.trace import Trace
from tests.unit.measure.networks import FACTS, TrueCosts, chain, chain_trace, timed_run
from tests.unit.measure.records import header, thread, write
from tests.unit.measure.test_profile import run_steps
from tests.unit.measure.thinned import thinned

TRUE = TrueCosts()
BETWEEN = 15.0
"""Counts from the end of a visit to the start of the next one, also on one core."""


def profiled(
    tmp_path: Path, rng: np.random.Generator, quiet: float = 0.0
) -> tuple[Trace, list[tuple[int, int, int]], Profile]:
    trace, visits = chain_trace(800, rng, quiet)
    run = timed_run(tmp_path / "local", trace.firings, visits, TRUE, rng)
    return trace, visits, make_profile([run], chain(), trace.firings, [run_steps(trace, visits) / 2], FACTS)


def calibration(
    path: Path, trace: Trace, visits: list[tuple[int, int, int]], split: int, costs: dict[str, float]
) -> Calibration:
    """Return a run with actors from ``split`` on in another partition; a visit that crosses costs block and tokens.

    Of what a visit takes, 15 counts are between it and the visit before it. Before every other visit a thread calls
    some actors in vain, ``look`` counts each; before the others it waits.
    """
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
        took += float(rng.normal()) * 3 - BETWEEN
        thread_rows = rows[actor >= split]
        apart, vain = (0x80, 0) if len(thread_rows) % 2 else (0, int(rng.integers(0, 4)))
        gap = BETWEEN + FACTS.cost + vain * (costs.get("look", 0.0) + FACTS.cost)
        now = start = (thread_rows[-1][1] if thread_rows and not apart else now) + int(gap)
        thread_rows.append((start, start + int(took), n, actor, 1, apart | vain))
        now += int(took)
    data = (header(3, 2, span=(1000, now)), thread(rows[0], partition=0), thread(rows[1], partition=1))
    owner = tuple(int(actor >= split) for actor in range(3))
    return Calibration(partition_of=owner, samples=read_samples(write(path, *data), 3), firings=trace.firings)


def crossed(profile: Profile, calibrations: list[Calibration]) -> Crossings:
    return crossing_costs(
        profile, chain(), calibrations, looks_of([Called(samples=one.samples) for one in calibrations], FACTS.cost)
    )


def test_crossing_costs_are_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(21)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 900.0, "written": 15.0, "read": 500.0, "taken": 8.0, "look": 700.0}
    one = calibration(tmp_path / "c", trace, visits, 1, costs)
    looks = looks_of([Called(samples=one.samples)], FACTS.cost)
    assert looks.look == pytest.approx(700, rel=0.01)
    assert looks.between == pytest.approx(BETWEEN, abs=2)
    found = crossed(profile, [one])
    write_side, read_side = found.of("write", 0), found.of("read", 0)
    assert write_side.each == pytest.approx(15.0, rel=0.05)
    assert write_side.entry == pytest.approx(900, rel=0.05)
    assert read_side.each == pytest.approx(8.0, rel=0.1)
    assert read_side.entry == pytest.approx(500, rel=0.1)
    assert read_side.transfers == len(trace.firings[0])
    assert read_side.visits == sum(actor == 1 for actor, _, _ in visits)
    assert found.unexplained == pytest.approx(0, abs=0.005)
    entries = entries_of(found, chain())
    assert entries["source", "Out", "filter", "In", "write"] == exact(write_side.entry)


def test_visits_that_move_nothing_pay_no_entry(tmp_path: Path) -> None:
    rng = np.random.default_rng(26)
    trace, visits, profile = profiled(tmp_path, rng, quiet=0.5)
    costs = {"write": 900.0, "written": 15.0, "read": 0.0, "taken": 0.0}
    found = crossed(profile, [calibration(tmp_path / "c", trace, visits, 2, costs)])
    wrote = [bool((trace.firings[1][first : first + n] == 0).any()) for actor, first, n in visits if actor == 1]
    assert 0.4 < np.mean(wrote) < 0.6
    assert found.of("write", 1).entry == pytest.approx(900, rel=0.05)
    assert found.of("write", 1).visits == sum(wrote)
    assert found.unexplained == pytest.approx(0, abs=0.005)


def test_visits_in_turns_tell_the_same_less_what_timing_adds(tmp_path: Path) -> None:
    rng = np.random.default_rng(29)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 900.0, "written": 15.0, "read": 500.0, "taken": 8.0}
    whole = calibration(tmp_path / "c", trace, visits, 1, costs)
    some = replace(whole, samples=thinned(whole.samples, 2, rng))
    looks = looks_of([Called(samples=some.samples)], FACTS.cost)
    found = crossing_costs(profile, chain(), [some], looks, (100.0, 50.0, 0.0))
    assert 0 < found.of("write", 0).visits < 0.6 * crossed(profile, [whole]).of("write", 0).visits
    assert found.of("write", 0).entry == pytest.approx(800, rel=0.03)
    assert found.of("read", 0).entry == pytest.approx(450, rel=0.03)


def test_a_visit_that_was_interrupted_counts_to_a_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(27)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 900.0, "written": 15.0, "read": 0.0, "taken": 0.0}
    quiet = calibration(tmp_path / "quiet", trace, visits, 1, costs)
    (first, *others) = quiet.samples.threads
    late = first.visits.end + np.where(np.arange(len(first.visits.end)) == 7, np.uint64(10**8), np.uint64(0))
    disturbed = replace(first, visits=replace(first.visits, end=late))
    noisy = replace(quiet, samples=replace(quiet.samples, threads=(disturbed, *others)))
    looks = looks_of([Called(samples=quiet.samples)], FACTS.cost)
    found, undisturbed = (crossing_costs(profile, chain(), [one], looks) for one in (noisy, quiet))
    limit = 20e-6 * FACTS.hz / len(first.visits.end)
    assert abs(found.of("write", 0).entry - undisturbed.of("write", 0).entry) < 10 * limit


def test_buffers_that_never_crossed_get_the_mean_by_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(22)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 300.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    found = crossed(profile, [calibration(tmp_path / "c", trace, visits, 1, costs)])
    other = found.of("write", 1)
    assert other.transfers == 0
    assert other.each == pytest.approx(4 * found.of("write", 0).each)  # 4 bytes a token, not 1
    assert other.entry == pytest.approx(found.of("write", 0).entry)
    assert other.entry == pytest.approx(300, rel=0.1)


def test_weights_of_crossings_stand_beside_the_local_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(23)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 0.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    calibrations = [calibration(tmp_path / f"c{split}", trace, visits, split, costs) for split in (1, 2)]
    found = crossed(profile, calibrations)
    table = with_crossings(local_weights(profile, chain(), trace.firings), found, chain())
    cost = table.transfers["filter", "Out", "sink", "In", "cpu_cpu", "cpu", "read"]
    local = table.transfers["filter", "Out", "sink", "In", "local", "cpu", "read"]
    assert float(cost.per_token_cycles - local.per_token_cycles) == pytest.approx(10.0, rel=0.1)
    assert cost.mean_cycles == local.mean_cycles, "what a visit pays once is no part of a transfer"
    assert cost.count == len(trace.firings[2])


def test_without_crossings_there_are_no_costs(tmp_path: Path) -> None:
    rng = np.random.default_rng(24)
    trace, visits, profile = profiled(tmp_path, rng)
    costs = {"write": 0.0, "written": 0.0, "read": 0.0, "taken": 0.0}
    alone = calibration(tmp_path / "c", trace, visits, 3, costs)
    found = crossed(profile, [alone])
    assert all(c.entry == c.each == 0 and c.transfers == 0 for c in (*found.reads, *found.writes))
    assert entries_of(found, chain()) == {}


def test_what_crosses_in_place_costs_what_it_costs_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(25)
    trace, visits, profile = profiled(tmp_path, rng)
    elsewhere = {"write": 0.0, "written": 20.0, "read": 0.0, "taken": 10.0}
    there = {"write": 0.0, "written": 60.0, "read": 0.0, "taken": 30.0}
    others = [calibration(tmp_path / f"c{split}", trace, visits, split, elsewhere) for split in (1, 2)]
    one = calibration(tmp_path / "in-place", trace, visits, 1, there)
    found = crossed(profile, [*others, replace(one, in_place=True)])
    assert found.of("write", 0).each == pytest.approx(60.0, rel=0.05)
    assert found.of("read", 0).each == pytest.approx(30.0, rel=0.05)
    assert found.of("write", 1).each == pytest.approx(20.0, rel=0.05)
    assert found.unexplained < -0.05, "what is paid is too much for the other run"
    together = crossed(profile, [*others, one])
    assert together.of("write", 0).each == pytest.approx(40.0, rel=0.1)
    assert together.unexplained == pytest.approx(0.0, abs=0.03)
