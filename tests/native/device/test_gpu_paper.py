"""The command for the paper's experiments on a GPU: its mappings, what it tells, and nothing without a card."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.native import gpu_paper
from benchmarks.native.gpu_paper import (
    NOT_MEASURED,
    Experiment,
    Outcome,
    evenly,
    experiments,
    main,
    mapping_of,
    mappings_of,
    row_of,
    table_text,
)
from dse.base.errors import BuildError
from dse.flows.mappings import read_mappings
from dse.flows.static_mapping import GPU
from dse.frontend.network.elaborate import load_network
from dse.model.platform import Platform, Unit
from dse.run.record import topology_of

HERE = Platform(name="here", units=(Unit(name="cpu", kind="cpu"), GPU))


def test_a_sample_is_even_and_has_both_ends() -> None:
    assert evenly(16, 128) == list(range(16))
    assert evenly(512, 5) == [0, 128, 256, 383, 511]
    assert evenly(512, 1) == [511]
    for wanted in range(2, 40):
        found = evenly(512, wanted)
        assert (len(set(found)), found[0], found[-1]) == (wanted, 0, 511)
        steps = [b - a for a, b in pairwise(found)]
        assert max(steps) - min(steps) <= 1


def test_mappings_are_those_of_the_paper() -> None:
    assert mapping_of(("a", "b", "c"), frozenset({"b"})) == "P0:a,c PG/full-parallel:b"
    assert mapping_of(("a", "b"), frozenset()) == "P0:a,b"
    images, mappings, _, waterman = experiments(small=True)
    one, _ = mappings_of(images.path, every=False, most=128)
    assert one == ("P0:source,display PG/full-parallel:parser,huffman,dequant,idct2d",)
    every, count = mappings_of(mappings.path, every=True, most=128)
    assert (len(set(every)), count) == (16, 16)
    some, count = mappings_of(waterman.path, every=True, most=7)
    assert (len(set(some)), count) == (7, 512), "printer prints, so it stays on the processor with source"
    for path, texts in ((mappings.path, every), (waterman.path, some)):
        found = read_mappings(texts, topology_of(load_network(str(path)).network), HERE)
        assert len(found.mappings) == len(texts)


def test_inputs_are_those_of_the_paper() -> None:
    images, mappings, pairs, waterman = experiments(small=False)
    assert [name for name, _ in images.inputs][:2] == ["4096x2240-q90.jpg", "2048x1536-q90.jpg"]
    assert [len(one.inputs) for one in (images, mappings, pairs, waterman)] == [8, 1, 4, 1]
    assert [one.buffers for one in (images, waterman)] == [(512, 1024), (256, 1024)]
    assert [(one.figure, one.goal) for one in experiments(small=True)] == [(11, 3), (12, 13), (14, 8), (15, 11)]


def test_without_a_compiler_the_table_says_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_request: object) -> None:
        raise BuildError("there is no nvcc", expected="install it")

    monkeypatch.setattr("dse.flows.link.device_build", missing)
    assert main(["--out", str(tmp_path), "--only", "jpeg-images,sw-mappings"]) == 1
    text = capsys.readouterr().out
    assert text.count(f"| {NOT_MEASURED} ") == 2 * 7
    assert "- sw-mappings: there is no nvcc; install it" in text
    assert (tmp_path / "table.md").read_text() == text[:-1]
    with pytest.raises(SystemExit):
        main(["--only", "jpeg"])
    assert "there is no experiment 'jpeg'" in capsys.readouterr().err


def told(*, every: bool) -> dict[str, object]:
    state = {"by_first": {"mean": 0.01, "max": 0.025}, "mean_divergence": 0.04, "max_divergence": 0.1}
    return {"states": [{**state, "spearman": 0.97, "regret": 0.02}], "skipped": [{}] if every else [], "wrong": []}


@pytest.mark.parametrize("every", [False, True])
def test_a_row_tells_what_was_measured(every: bool, tmp_path: Path) -> None:
    one: Experiment = experiments(small=True)[1 if every else 0]
    (tmp_path / one.name).mkdir()
    with (tmp_path / one.name / "predicted.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("predicted_ns", "measured_ns"))
        rows.writerows(((1, 2), (3, 5), (8, 9)))
    outcome = Outcome(experiment=one, document=told(every=every), mappings=16 if every else 1, of=16)
    row = row_of(outcome, tmp_path)
    assert row[2:5] == (("16 of 16", "31 of 32", "10.0 %") if every else ("1, 8 inputs", "16 of 16", "2.5 %"))
    assert row[5:7] == (("13 %", "26.5 %") if every else ("3 %", "6 %"))
    assert row[-3:] == ("0.970", "2.0 %", "1.000, 0.60 (3 actions)")
    text = table_text([outcome], tmp_path, "emulated")
    assert "A rehearsal on an emulated GPU: these figures say nothing of a card." in text
    assert gpu_paper.HEAD[0] in text
