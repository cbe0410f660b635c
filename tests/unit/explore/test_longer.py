"""The section of longer searches: of whole seeds alone, in gaps to the best known of all runs."""

import json
from pathlib import Path

import pytest

from benchmarks.search import longer
from benchmarks.search.peers import LONG_PEERS


def line(network: str, method: str, seed: int, curve: list[tuple[int, int]]) -> str:
    return json.dumps({"network": network, "method": method, "seed": seed, "curve": curve})


def test_gaps_are_of_seeds_that_were_performed_on_every_network(tmp_path: Path) -> None:
    path = tmp_path / "longer.jsonl"
    lines = [
        line("a", "auto", 1, [(1, 150), (900, 120), (19_000, 100)]),
        line("b", "auto", 1, [(1, 300), (400, 220)]),
        line("a", "without legs", 1, [(1, 150), (6_000, 110)]),
        line("b", "without legs", 1, [(1, 300), (400, 200)]),
        line("a", "auto", 2, [(1, 100)]),
    ]
    path.write_text("\n".join(lines))
    gaps = longer.read_gaps(path)
    assert [longer.mean_gap(gaps, "auto", i) for i in range(5)] == pytest.approx([50, 15, 15, 15, 5])
    found = longer.difference(gaps, "without legs", "auto", 4)
    assert (found.value, found.low, found.high) == pytest.approx((0, -10, 10))
    own = longer.section(gaps)
    assert "| `auto` | 1 | 50.00 | 15.00 | 15.00 | 15.00 | 5.00 | – |" in own
    assert "| `auto` without legs | 1 | 50.00 | 25.00 | 25.00 | 5.00 | 5.00 | 0.00 (-10.00 to 10.00) |" in own


def test_both_ways_begin_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longer, "BUDGET", 40)
    runs = [longer.LongRun(network="tree-15x4g", method=method, seed=1) for method in ("auto", "without legs")]
    first, other = map(longer.performed, runs)
    assert first["made"] == other["made"] == 40
    assert first["curve"] == other["curve"]
    every = [run.method for run in longer.runs(1)][:: len(longer.NETWORKS)]
    assert every == ["auto", "without legs", *LONG_PEERS, *longer.OTHERS]
    assert {run.method for run in longer.runs(2, ["tabu"])} == {"tabu"}
