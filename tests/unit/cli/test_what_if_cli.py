"""``dse what-if`` on the command line: what is printed is what was simulated."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
NETWORK = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")


def test_the_document_has_every_change_and_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["what-if", NETWORK, "--weights", "nominal", "--workers", "2", "--curve", "PingPong"]
    assert main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["unit"] == "ps"
    kinds = {(change["kind"], change["of"]) for tried in document["singles"] for change in tried["changes"]}
    assert ("faster", "actor") in kinds
    twice = [t for t in document["singles"] if t["changes"][0] == {**t["changes"][0], "kind": "faster", "speed": 2.0}]
    best = min(twice, key=lambda tried: tried["makespan"])
    assert document["best_single"] == best
    assert best["saved_share"] == pytest.approx(1 - best["makespan"] / document["makespan"])
    assert document["best_pair"]["makespan"] <= best["makespan"]
    curve = {point["speed"]: point["makespan"] for point in document["curves"][0]["points"]}
    assert curve[0.5] > curve[1.0] == document["makespan"] > curve[None]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert f"simulated again {document['simulations']:,} times" in printed
    assert f"the best single improvement: {best['changes'][0]['what']} 2 times as fast saves" in printed


def test_improvements_are_searched_for_from_the_best_mapping(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["what-if", NETWORK, "--weights", "nominal", "--search", "60", "--partitions", "2", "--workers", "2"]
    assert main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    searched = document["searched"]
    assert searched["makespan"] == document["makespan"]
    rows = searched["improvements"]
    assert rows
    assert [row["makespan"] for row in rows] == sorted(row["makespan"] for row in rows)
    for row in rows:
        assert row["makespan"] <= row["makespan_on_mapping"]  # the search begins with that mapping
        assert row["best_mapping_without"] >= searched["makespan"]  # the first search was over a space as small
        assert row["what"]
    assert main([*command, "--quiet"]) == 0
    assert "saved over the best mapping of each" in capsys.readouterr().out
    assert main([*command, "--mapping", "P0:*"]) == 2
    assert main(["what-if", NETWORK, "--weights", "nominal", "--partitions", "2"]) == 2
    assert "add --search" in capsys.readouterr().err
