"""How searches are scored against random search, and the peers that are judged with them."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search import judge_page
from benchmarks.search.networks import JUDGED, RECIPES
from benchmarks.search.peers.peer import Peer
from benchmarks.search.peers.variables import UNFIT, Variables, cost_of
from benchmarks.search.scoring import (
    MOMENTS,
    Baseline,
    baseline_of,
    interval,
    moments,
    performance,
    resampled_scores,
)
from dse.explore.methods.registry import METHODS
from dse.explore.methods.scripted import Script
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation
from tests.unit.explore.fakes import chain_space, context, estimate_of, makespan


def evaluation_of(point: DesignPoint) -> Evaluation:
    estimate = estimate_of(point)
    return Evaluation.of(
        ordinal=0, point=point, digest=point.digest(), makespan=estimate.makespan, tick_unit="cycles",
        deadlock=False, partitions=estimate.partitions, seconds=0.0,
    )  # fmt: skip


@pytest.mark.parametrize("draws", range(1, 6))
def test_the_baseline_is_the_mean_over_all_draws(draws: int) -> None:
    values = [7, 3, 3, 11, 20]
    every = [min(drawn) for drawn in itertools.combinations(values, draws)]
    assert baseline_of(values, 5).expected[draws - 1] == pytest.approx(np.mean(every))
    assert baseline_of(values, 9).expected[5:] == (3.0,) * 4
    assert baseline_of(values, 1).median == 7


def test_a_budget_ends_where_random_search_is_near_the_optimum() -> None:
    baseline = Baseline(expected=(100.0, 60.0, 15.0, 14.0), median=110.0)
    assert baseline.budget(10.0) == 3
    assert baseline.budget(0.0) == 4


def test_performance_is_the_part_of_the_way_to_the_optimum() -> None:
    baseline = Baseline(expected=(100.0, 50.0), median=100.0)
    assert set(moments(2).tolist()) == {1, 2}
    assert performance([100.0, 10.0], baseline, 10.0, 2)[[0, -1]].tolist() == [0.0, 1.0]
    assert performance([145.0, 70.0], baseline, 10.0, 2)[[0, -1]].tolist() == [-0.5, -0.5]
    there = Baseline(expected=(10.0, 10.0), median=10.0)
    assert performance([12.0, 10.0], there, 10.0, 2)[[0, -1]].tolist() == [0.0, 1.0]


def test_an_interval_holds_what_spaces_and_seeds_leave_open() -> None:
    even = {name: np.full((3, MOMENTS), 0.5) for name in "abc"}
    assert set(resampled_scores(even, 1).tolist()) == {0.5}
    mixed = even | {"d": np.zeros((3, MOMENTS))}
    found = interval(0.375, resampled_scores(mixed, 1))
    assert 0.0 <= found.low < 0.375 < found.high == 0.5
    of_seeds = {"a": np.array([np.zeros(MOMENTS), np.ones(MOMENTS)])}
    assert set(resampled_scores(of_seeds, 1).tolist()) == {0.0, 0.5, 1.0}


def test_the_networks_that_are_judged_are_no_others() -> None:
    assert not {recipe.name for recipe in JUDGED} & {recipe.name for recipe in RECIPES}
    assert not {recipe.seed for recipe in JUDGED} & {recipe.seed for recipe in RECIPES}


def test_a_peer_is_told_what_its_variables_cost() -> None:
    class Corners(Peer):
        def _script(self) -> Script:
            last = [len(own) - 1 for own in self._variables.values]
            self.costs = yield from self._costs([[0] * len(last), [0, 1, 2], [0] * len(last)])

    space = chain_space(3, 3)
    peer = Corners(context(space))
    asked = peer.ask(8)
    assert len(asked) == len(set(asked)) == 2  # what is known is not asked again
    peer.tell([evaluation_of(point) for point in asked])
    assert not peer.ask(8)
    one, apart = map(makespan, asked)
    assert one != apart
    assert peer.costs == [one, apart, one]
    assert cost_of(None) == UNFIT


def test_the_cube_holds_every_value() -> None:
    variables = Variables(chain_space(3, 4))
    n = len(variables.values[0])
    found = [variables.in_cube([x, 0.0, 0.0, 0.0])[0] for x in (-0.1, 0.0, 0.999, 1.0, 1.2)]
    assert found == [0, 0, n - 1, n - 1, n - 1]
    drawn = variables.random(np.random.default_rng(1))
    assert all(0 <= index < len(own) for index, own in zip(drawn, variables.values, strict=True))


def test_the_page_names_who_is_best_alone(tmp_path: Path) -> None:
    def run(method: str, curve: list[list[int]]) -> dict[str, object]:
        return {"key": method, "network": "n", "role": "judged", "method": method, "curve": curve, "budget": 300}

    expected = [200.0 - n / 3 for n in range(300)]
    lines = [
        {"key": "s", "network": "n", "role": "baseline", "expected": expected, "median": 200, "best": 100},
        run("auto", [[1, 150], [9, 100]]),
        run("random", [[1, 180], [200, 130]]),
        run("greedy", [[1, 120]]),
        run("peer-cma-es", [[1, 90]]),
        {"key": "broken", "network": "n", "role": "judged", "method": "tabu", "error": "E: told"},
    ]
    path = tmp_path / "judged.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    judged = judge_page.read_judged(path)
    assert judged.best == {"n": 90.0}
    assert judge_page.wins_of(judged, ["auto", "random", "greedy"]) == {
        "greedy": (("n", 1), ("n", 3)),
        "auto": (("n", 10), ("n", 30), ("n", 100), ("n", 300)),
    }
    own = judge_page.section(judged)
    assert "Never best alone: `random`." in own.replace("\n", " ")
    assert "This run failed: broken: E: told" in own
    page = "# P\n\n## Small spaces, exhausted\n\nrest\n"
    once = judge_page.with_section(page, own)
    assert judge_page.with_section(once, own) == once
    assert once.endswith("## Small spaces, exhausted\n\nrest\n")
    assert judge_page.judged_picture(judged).count("<polyline") == 2


def test_peers_are_no_methods_of_ours() -> None:
    assert not [name for name in METHODS.names() if name.startswith("peer-")]
