"""How many visits are timed, and what timing them adds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.measure import turns
from dse.measure.turns import timing_costs, visits_apart
from tests.unit.measure.networks import FACTS, TrueCosts, timed_run
from tests.unit.measure.test_crossing import TRUE, profiled


def test_few_visits_are_all_timed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    trace, visits, profile = profiled(tmp_path, rng)
    run = timed_run(tmp_path / "run", trace.firings, visits, TRUE, rng)
    assert visits_apart(profile, [run]) == 1


def test_the_shorter_visits_are_the_fewer_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    trace, visits, profile = profiled(tmp_path, rng)
    run = timed_run(tmp_path / "run", trace.firings, visits, TRUE, rng)
    monkeypatch.setattr(turns, "FEWEST_TIMED", 50)
    mean = profile.closure.plain / len(visits)
    slow = replace(profile, facts=replace(FACTS, cost=0.02 * mean))
    assert visits_apart(slow, [run, run]) == 4, "two readings are 4 % of a visit, and may be 1 %"
    slower = replace(profile, facts=replace(FACTS, cost=mean))
    assert visits_apart(slower, [run]) == 8


def test_what_timing_adds_is_told_by_runs_on_one_core(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    trace, visits, profile = profiled(tmp_path, rng)
    slower = TrueCosts(visit=tuple(cost + more for cost, more in zip(TRUE.visit, (30.0, 40.0, 0.0), strict=True)))
    alone = [timed_run(tmp_path / str(k), trace.firings, visits, slower, rng) for k in range(3)]
    assert timing_costs(profile, alone, trace.firings) == pytest.approx((30.0, 40.0, 0.0), abs=4.0)
    assert timing_costs(profile, [], trace.firings) == (0.0, 0.0, 0.0)
