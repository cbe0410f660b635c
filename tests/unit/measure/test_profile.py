"""Profiles and their weights, from synthetic runs whose costs are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.estimate.engine import make_engine
from dse.formats.weights_folder import read_weights_folder, write_weights_folder
from dse.measure.port_prices import PortPrice, TimedPhase, port_prices
from dse.measure.profile import make_profile
from dse.measure.profile_weights import local_weights
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.problem import Problem
from tests.unit.measure.networks import FACTS, TrueCosts, chain, chain_trace, timed_run

TRUE = TrueCosts()


def run_steps(trace, visits) -> float:
    """Return what a run takes without a counter, in counts."""
    counts = [np.bincount(ids, minlength=2) for ids in trace.firings]
    firing = sum(float(c[: len(a)] @ np.array(a)) for c, a in zip(counts, TRUE.actions, strict=True))
    return firing + sum(TRUE.visit[actor] for actor, _, _ in visits)


@pytest.mark.parametrize("singly", [(), ((2, 0),)])
def test_costs_are_found_and_close(tmp_path: Path, singly: tuple[tuple[int, int], ...]) -> None:
    rng = np.random.default_rng(11)
    trace, visits = chain_trace(1_500, rng)
    runs = [timed_run(tmp_path / f"{k}", trace.firings, visits, TRUE, rng, singly=singly) for k in range(3)]
    plain = run_steps(trace, visits)
    lengths = [plain / 2, plain / 2 + 9.0, plain / 2 + 5.0, plain, plain]  # the slower half does not count
    profile = make_profile(runs, trace.topology, trace.firings, lengths, FACTS)
    assert abs(profile.closure.error) < 0.02
    assert profile.actors[0].means() == pytest.approx([9.0], rel=0.03)
    assert profile.actors[1].means() == pytest.approx([30.0, 12.0], rel=0.03)
    assert profile.actors[2].means() == pytest.approx([4000.0], rel=0.03)
    assert profile.in_vain[1].visits == 10
    assert profile.facts.cost == pytest.approx(FACTS.cost, rel=0.02)  # what a reading takes is measured
    assert profile.in_vain[1].steps == pytest.approx(45 - profile.facts.cost)


@pytest.mark.parametrize(("alone", "in_program"), [(14.0, 20.0), (8.0, 16.0), (30.0, 20.0)])
def test_a_reading_takes_longer_or_less_in_a_program_than_beside_others(
    tmp_path: Path, alone: float, in_program: float
) -> None:
    rng = np.random.default_rng(15)
    trace, visits = chain_trace(1_500, rng)
    run = timed_run(tmp_path / "raw", trace.firings, visits, TRUE, rng)
    facts = replace(FACTS, cost=alone)
    profile = make_profile([run], trace.topology, trace.firings, [run_steps(trace, visits) / 2], facts)
    assert profile.facts.cost == pytest.approx(in_program, rel=0.05)  # 20 in the records; at most twice
    assert (abs(profile.closure.error) < 1e-3) == (in_program == FACTS.cost)


def test_runs_without_single_firings_tell_what_an_actor_takes(tmp_path: Path) -> None:
    rng = np.random.default_rng(16)
    trace, visits = chain_trace(1_500, rng)
    singly = ((2, 0),)
    slowed = replace(TRUE, actions=(*TRUE.actions[:2], (5000.0,)), visit=(*TRUE.visit[:2], 300.0))
    runs = [timed_run(tmp_path / f"s{k}", trace.firings, visits, slowed, rng, singly=singly) for k in range(3)]
    without = [timed_run(tmp_path / f"{k}", trace.firings, visits, TRUE, rng) for k in range(3)]
    profile = make_profile(runs, trace.topology, trace.firings, [run_steps(trace, visits) / 2], FACTS, without)
    assert abs(profile.closure.error) < 0.02
    assert profile.actors[1].means() == pytest.approx([30.0, 12.0], rel=0.03)
    assert profile.actors[2].means() == pytest.approx([4000.0], rel=0.03)
    assert profile.actors[2].actions[0].reading.mean == pytest.approx(400.0, rel=0.05)


def test_the_estimate_on_one_core_is_the_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    trace, visits = chain_trace(400, rng)
    run = timed_run(tmp_path / "raw", trace.firings, visits, TRUE, rng, singly=((2, 0),))
    plain = run_steps(trace, visits)
    profile = make_profile([run], trace.topology, trace.firings, [plain / 2], FACTS)
    weights = local_weights(profile, trace.topology, trace.firings)
    platform = Platform(name="here", units=(Unit(name="cpu", kind="cpu", cores=1),))
    point = DesignPoint(partitions=(Partition(name="P0", actors=(0, 1, 2), unit="cpu"),), capacities=(512, 512))
    problem = Problem(trace=trace, weights=weights, platform=platform)
    estimate = make_engine("reference", problem).estimate(point)
    # The simulation changes between actors at other moments than the run of the test: only that may differ.
    firings = sum(account.processing + account.reading + account.writing for account in estimate.actors)
    pure = (plain - sum(TRUE.visit[actor] for actor, _, _ in visits)) / 2 * 1000
    choosing = 70 * len(trace.firings[2]) / 2 * 1000
    assert firings + choosing == pytest.approx(pure, rel=0.02)
    assert estimate.makespan == pytest.approx(plain / 2 * 1000, rel=0.1)


def test_phases_of_long_actions_are_kept_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    trace, visits = chain_trace(400, rng)
    run = timed_run(tmp_path / "raw", trace.firings, visits, TRUE, rng, singly=((2, 0),))
    profile = make_profile([run], chain(), trace.firings, [run_steps(trace, visits) / 2], FACTS)
    weights = local_weights(profile, chain(), trace.firings)
    read = weights.transfers["filter", "Out", "sink", "In", "local", "cpu", "read"]
    assert float(read.mean_cycles + 64 * read.per_token_cycles) == pytest.approx(400, rel=0.03)
    assert float(weights.scheduling["sink", "block", "block", "cpu"].mean_cycles) == pytest.approx(70, rel=0.15)
    assert float(weights.compute["sink", "block", "cpu"].mean_cycles) == pytest.approx(4000 - 400 - 70, rel=0.03)
    assert weights.compute["sink", "block", "cpu"].spread == "firings"
    assert weights.compute["filter", "odd", "cpu"].spread == "visits"
    assert weights.scheduling["filter", "odd", "even", "cpu"].count == int(
        np.sum((trace.firings[1][:-1] == 0) & (trace.firings[1][1:] == 1))
    )


def test_weights_survive_their_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(14)
    trace, visits = chain_trace(100, rng)
    run = timed_run(tmp_path / "raw", trace.firings, visits, TRUE, rng)
    profile = make_profile([run], chain(), trace.firings, [run_steps(trace, visits) / 2], FACTS)
    weights = local_weights(profile, chain(), trace.firings)
    write_weights_folder(weights, str(tmp_path / "set"))
    back = read_weights_folder(str(tmp_path / "set"))
    assert back.scheduling == weights.scheduling
    assert {key: cost.mean_cycles for key, cost in back.compute.items()} == {
        key: cost.mean_cycles for key, cost in weights.compute.items()
    }
    assert {cost.spread for cost in back.compute.values()} == {"visits"}


def test_records_of_another_trace_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(15)
    trace, visits = chain_trace(50, rng)
    run = timed_run(tmp_path / "raw", trace.firings, visits, TRUE, rng)
    with pytest.raises(ValueError, match="its trace has"):
        make_profile([run], chain(), [ids[1:] for ids in trace.firings], [1e6], FACTS)


def test_port_prices_tell_fixed_from_each_where_rates_differ() -> None:
    phases = [TimedPhase(rates=(n,), mean=50.0 + 3.0 * n, firings=100) for n in (1, 16, 64)]
    (price,) = port_prices(phases, 1, [100 * (1 + 16 + 64)])
    assert (price.fixed, price.each) == (pytest.approx(50.0, rel=0.01), pytest.approx(3.0, rel=0.01))
    assert price.of(0) == 0.0


def test_port_prices_of_one_rate_are_by_token() -> None:
    (price,) = port_prices([TimedPhase(rates=(64,), mean=640.0, firings=10)], 1, [640])
    assert price == PortPrice(fixed=0.0, each=pytest.approx(10.0))


def test_ports_that_nothing_timed_uses_cost_nothing() -> None:
    assert port_prices([TimedPhase(rates=(0, 0), mean=5.0, firings=1)], 2, [0, 0]) == (PortPrice(), PortPrice())


def test_a_rare_long_action_prices_nothing() -> None:
    rare = TimedPhase(rates=(1, 64), mean=5_000.0, firings=3)
    assert port_prices([rare], 2, [100_000, 3 * 64]) == (PortPrice(), PortPrice(each=pytest.approx(5_000 / 64)))
    assert port_prices([], 1, [7]) == (PortPrice(),)
