"""Rankings under uncertain weights: what is asked for, and what a search makes of it."""

import json
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.main import main
from dse.flows.robust import parse_errors, parse_ranked_by
from dse.model.uncertainty import StatedError

ROOT = Path(__file__).resolve().parents[3]
SEARCH = ["explore", str(ROOT / "actors" / "pingpong" / "pingpong.xdf"), "--weights", "nominal", "--partitions", "3"]


def test_errors_are_shares_of_an_origin() -> None:
    assert parse_errors("predicted=30%+10%") == (StatedError(origin="predicted", own=0.3, common=0.1),)
    assert parse_errors("measured = 0.02") == (StatedError(origin="measured", own=0.02),)
    assert {error.origin for error in parse_errors("5%")} == {"predicted", "nominal", "unknown"}


@pytest.mark.parametrize("text", ["", "x", "30%+", "30%+1%+2%", "-3%", "guessed=3%", "1e9", "predicted=", "99999%"])
def test_errors_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(OptionError):
        parse_errors(text)


def test_mappings_are_ranked_by_mean_or_quantile() -> None:
    assert parse_ranked_by("Mean") == "mean"
    assert parse_ranked_by("95%") == parse_ranked_by("0.95") == 0.95
    for text in ("", "median", "0", "100%", "1", "nan"):
        with pytest.raises(OptionError):
            parse_ranked_by(text)


def test_a_search_ranks_by_draws_and_its_study_file_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [*SEARCH, "--budget", "60", "--out", "o", "--robust", "90%", "--error", "90%+10%", "--draws", "150"]
    assert main([*command, "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert "90 % within" in printed
    assert "of 150 draws (seed 1)" in printed
    first = json.loads(Path("o/ranking.json").read_text())
    values = [row["robust"]["value"] for row in first["ranking"]]
    assert values == sorted(values)
    makespans = [row["makespan"] for row in first["ranking"]]
    assert makespans == [row["robust"]["estimated"] for row in first["ranking"]] != sorted(makespans)
    assert sum(row["robust"]["probability_first"] for row in first["ranking"]) == pytest.approx(1)
    assert first["robust"]["by"] == 0.9
    assert any(row["robust"]["tied_with_rank"] == 1 for row in first["ranking"][1:])
    for rows, digest in ((first["ranking"], "digest"), (first["ranking"], "mapping")):
        assert len({row[digest] for row in rows}) == len(rows)
    assert main(["study", "run", "o/study.yaml", "--out", "again"]) == 0
    capsys.readouterr()
    again = json.loads(Path("again/ranking.json").read_text())
    assert (again["ranking"], again["robust"]) == (first["ranking"], first["robust"])  # with other threads
    assert "How sure the ranking is" in Path("o/report.html").read_text()


def test_a_search_without_known_errors_is_refused_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([*SEARCH, "--robust", "--out", str(tmp_path / "o")]) == 2
    assert "nothing is known of how wrong the weights are" in capsys.readouterr().err
    assert main([*SEARCH, "--error", "3%", "--out", str(tmp_path / "o")]) == 2
    assert "add --robust" in capsys.readouterr().err
    assert (
        main(
            [*SEARCH, "--robust", "--error", "3%", "--objectives", "makespan,partitions", "--out", str(tmp_path / "o")]
        )
        == 2
    )
    assert "by the makespan alone" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_given_mappings_are_ranked_too(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["P0:Prod,PingPong P1:*", "P0:Prod P1:*", "P0:*"]
    command = ["estimate", SEARCH[1], "--weights", "nominal", "--mapping", *given, "--robust", "--draws", "64"]
    assert main([*command, "--error", "nominal=10%", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(found["robust"]["rank"] for found in document) == [1, 2, 3]
    best = next(found for found in document if found["robust"]["rank"] == 1)
    assert best["robust"]["mean"] == min(found["robust"]["mean"] for found in document)
    assert best["robust"]["draws"] == 64
    assert main([*command, "--error", "10%", "--quiet"]) == 0
    assert "is the best of 3 in" in capsys.readouterr().out
    assert main(command) == 2
    assert "nothing is known of how wrong" in capsys.readouterr().err
