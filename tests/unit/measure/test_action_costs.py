"""Costs of actions, from synthetic visits whose costs are known."""

from dataclasses import replace

import numpy as np
import pytest

from dse.measure.action_costs import actor_costs, merged_visits, singles_of_actor
from dse.measure.counter import CounterFacts
from dse.measure.samples import ActorVisits, CounterKind, Singles

FACTS = CounterFacts(kind=CounterKind.TSC, hz=2.6e9, step=26.0, cost=20.0)


def visits_of(counts: np.ndarray, steps: np.ndarray) -> ActorVisits:
    firings = counts.sum(axis=1)
    n = len(counts)
    return ActorVisits(
        actor=0,
        steps=steps,
        readings=np.ones(n, dtype=np.int64),
        ending=np.ones(n, dtype=np.uint8),
        before=np.ones(n, dtype=np.uint8),
        thread=np.zeros(n, dtype=np.int64),
        row=np.arange(n),
        start=np.arange(n, dtype=np.uint64),
        end=np.arange(n, dtype=np.uint64),
        first=np.cumsum(firings) - firings,
        counts=counts.astype(np.int32),
    )


def singles_of(rows: list[tuple[int, int, int, int, int]]) -> Singles:
    """Return records of actor 0 from (action, firing, reading, computing, writing)."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Singles(
        actor=np.zeros(len(rows), dtype=np.uint16),
        action=columns[0].astype(np.uint16),
        firing=columns[1],
        chosen=np.arange(len(rows), dtype=np.uint64),
        choosing=np.full(len(rows), 0xFFFFFFFF, dtype=np.uint32),
        reading=columns[2].astype(np.uint32),
        computing=columns[3].astype(np.uint32),
        writing=columns[4].astype(np.uint32),
    )


NONE = singles_of([])


def test_short_actions_come_from_visits_alone() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 64, (4_000, 2))
    steps = 90.0 + counts @ np.array([11.0, 35.0]) + FACTS.cost + rng.normal(0, 2, 4_000)
    singles = singles_of_actor([[NONE]], 0, FACTS.cost)
    costs = actor_costs(0, [visits_of(counts, steps)], singles, FACTS)
    assert costs.visit == pytest.approx(90.0, rel=0.02)
    assert costs.means() == pytest.approx([11.0, 35.0], rel=0.01)
    assert costs.actions[0] is not None
    assert costs.actions[0].computing.of_visits
    assert costs.actions[0].computing.least <= 11.0 <= costs.actions[0].computing.most
    assert costs.total == pytest.approx(float((steps - FACTS.cost).sum()), rel=1e-3)


def test_an_action_that_never_fires_has_no_costs() -> None:
    counts = np.array([[3, 0], [5, 0], [9, 0]])
    singles = singles_of_actor([[NONE]], 0, 0.0)
    costs = actor_costs(0, [visits_of(counts, 20.0 + counts[:, 0] * 10.0)], singles, replace(FACTS, cost=0.0))
    assert costs.actions[1] is None
    assert costs.means()[0] == pytest.approx(10.0, rel=0.01)


def test_long_actions_keep_their_phases() -> None:
    rng = np.random.default_rng(2)
    n = 2_000
    counts = np.column_stack([rng.integers(0, 50, n), rng.integers(0, 3, n)])
    rows, steps, firing = [], [], 0
    for short, long in counts.tolist():
        took = 60.0 + 10.0 * short + FACTS.cost
        for k in range(long):
            phases = (200, 5_000 + int(rng.integers(-100, 100)), 300)
            rows.append((1, firing + short + k, *(phase + int(FACTS.cost) for phase in phases)))
            took += sum(phases) + 70.0 + 4 * FACTS.cost  # 70: choosing
        firing += short + long
        steps.append(took)
    singles = singles_of_actor([[singles_of(rows)]], 0, FACTS.cost)
    costs = actor_costs(0, [visits_of(counts, np.array(steps))], singles, FACTS)
    long = costs.actions[1]
    assert long is not None
    assert long.choosing is not None
    assert long.reading is not None
    assert long.writing is not None
    assert (long.reading.mean, long.writing.mean) == (200.0, 300.0)
    assert long.computing.mean == pytest.approx(5_000, rel=0.01)
    assert long.computing.variance == pytest.approx(100**2 / 3, rel=0.2)
    assert not long.computing.of_visits
    assert long.choosing.mean == pytest.approx(70.0, rel=0.02)
    assert costs.means()[0] == pytest.approx(10.0, rel=0.02)


def test_repeated_runs_are_medians_and_interruptions_are_counted() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 64, (1_000, 1))
    true = 50.0 + 20.0 * counts[:, 0] + FACTS.cost
    true[7] += 400_000.0  # a visit that takes long in every run: it is no interruption
    runs = []
    for run in range(3):
        steps = true + rng.normal(0, 1, 1_000) * np.sqrt(1 + counts[:, 0])
        steps[100 * run + 1 :: 500] += 1e5
        runs.append(visits_of(counts, steps))
    singles = singles_of_actor([[NONE]] * 3, 0, FACTS.cost)
    merged = merged_visits(runs, singles, FACTS)
    assert merged.repeated
    assert merged.outliers.left_out >= 6
    assert merged.outliers.left_out < 20
    costs = actor_costs(0, runs, singles, FACTS)
    assert costs.total == pytest.approx(float((true - FACTS.cost).sum()), rel=1e-3)


def test_different_visits_are_pooled() -> None:
    counts = np.array([[4], [8], [16]])
    one = visits_of(counts, 5.0 * counts[:, 0])
    other = visits_of(counts[::-1], 5.0 * counts[::-1, 0])
    facts = replace(FACTS, cost=0.0)
    singles = singles_of_actor([[NONE]] * 3, 0, 0.0)
    costs = actor_costs(0, [one, other, one], singles, facts)
    assert costs.visits == 3
    assert costs.actions[0] is not None
    assert costs.actions[0].firings == 28
    assert costs.total == pytest.approx(5.0 * 28)


def test_a_phase_beyond_the_record_is_left_out() -> None:
    rows = [(0, 0, 10, 0xFFFFFFFE, 10), (0, 1, 30, 70, 50)]
    singles = singles_of_actor([[singles_of(rows)]], 0, 20.0)
    assert singles.computing.tolist() == [50.0]
    assert singles.firing.tolist() == [1]


def test_a_firing_that_takes_long_in_every_run_is_no_outlier() -> None:
    counts = np.ones((200, 1), dtype=np.int64)
    true = np.full(200, 2_000)
    true[::40] = 90_000  # data, not interruptions
    runs, singles = [], []
    for run in range(3):
        took = true.copy()
        took[7 + run] += 500_000  # an interruption
        cost = int(FACTS.cost)
        singles.append([singles_of([(0, k, cost, int(t) + cost, cost) for k, t in enumerate(took)])])
        runs.append(visits_of(counts, took + 50.0 + 5 * FACTS.cost))
    costs = actor_costs(0, runs, singles_of_actor(singles, 0, FACTS.cost), FACTS)
    assert costs.actions[0] is not None
    assert costs.actions[0].computing.mean == pytest.approx(true.mean())
    assert costs.actions[0].computing.most == 90_000
    assert costs.total == pytest.approx(float(true.sum()) + 200 * 50.0, rel=1e-3)
    assert costs.outliers.left_out >= 3
