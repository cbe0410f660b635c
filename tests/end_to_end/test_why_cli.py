"""``dse why`` as a user meets it: a mapping, the program itself, a trace with and without accesses, what it refuses."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main

PINGPONG = str(Path(__file__).resolve().parents[2] / "actors" / "pingpong" / "pingpong.xdf")
MAPPING = "P0:PingPong,Merger P1:*"
SMALL = ["--buffers", "1"]


def shown(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*argv, "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with weights, and with traces that have and lack accesses."""
    made = tmp_path_factory.mktemp("why")
    assert main(["weights", "nominal", PINGPONG, "-o", str(made / "w"), "--quiet"]) == 0
    assert main(["trace", PINGPONG, "-o", str(made / "plain.trace"), "--quiet"]) == 0
    assert main(["trace", PINGPONG, "--accesses", "-o", str(made / "full.trace"), "--quiet"]) == 0
    return made


def test_the_path_of_a_mapping_is_its_makespan_and_its_sums_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slack, path = tmp_path / "slack.csv", tmp_path / "path.csv"
    given = [PINGPONG, "--mapping", MAPPING, *SMALL]
    found = shown(capsys, "why", *given, "--slack", str(slack), "--path", str(path))
    (estimate,) = shown(capsys, "estimate", *given)
    assert found["critical_path"] == estimate["makespan"] == sum(found["kinds"].values())
    assert found["unit"] == "ps"
    for key in ("actions", "actors"):
        assert sum(share["ticks"] for share in found[key]) == found["critical_path"]
    assert found["written"] == [str(slack), str(path)]
    segments = rows_of(path)
    assert int(segments[0]["start"]) == 0
    assert int(segments[-1]["end"]) == found["critical_path"]
    assert [s["start"] for s in segments[1:]] == [s["end"] for s in segments[:-1]]
    assert segments[0]["because"] == "start"
    firings = rows_of(slack)
    assert len(firings) == sum(of["firings"] for of in found["slack"])
    for of in found["slack"]:
        mine = [int(row["slack"]) for row in firings if row["actor"] == of["name"]]
        assert (min(mine), mine.count(0)) == (of["least"], of["critical"])


def test_full_fifos_are_named_with_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    small = shown(capsys, "why", PINGPONG, "--mapping", "P0:Prod P1:PingPong P2:*", *SMALL)
    full = [fifo for fifo in small["fifos"] if fifo["full"]]
    assert full
    assert all(fifo["capacity_tokens"] == 1 for fifo in full)
    wide = shown(capsys, "why", PINGPONG, "--mapping", "P0:Prod P1:PingPong P2:*")
    assert not any(fifo["full"] for fifo in wide["fifos"])


def test_text_of_a_mapping_fits_a_terminal_and_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", PINGPONG, "--mapping", MAPPING, "--top", "2"]) == 0
    text = capsys.readouterr().out
    assert "critical path: " in text
    assert "largest bottleneck: " in text
    assert "--top 5 shows all" in text
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("assumed"))


def test_a_program_is_explained_without_a_mapping(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slack, path = tmp_path / "slack.csv", tmp_path / "path.csv"
    found = shown(capsys, "why", PINGPONG, "--slack", str(slack), "--path", str(path))
    assert found["mapping"] is None
    assert not found["lower_bound_only"]
    assert found["record_with"] is None
    assert 0 < found["critical_path"] <= found["in_order"] <= found["work"]
    on_path = rows_of(path)
    assert len(on_path) == found["firings"]
    assert int(on_path[-1]["end"]) == found["critical_path"]
    assert sum(int(row["end"]) - int(row["start"]) for row in on_path) == found["critical_path"]
    assert min(int(row["slack"]) for row in rows_of(slack)) == 0
    assert main(["why", PINGPONG]) == 0
    text = capsys.readouterr().out
    assert "critical path of the program itself" in text
    assert "lower bound" not in text


def test_a_trace_without_accesses_gives_a_bound_and_the_command_that_gives_more(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = ["--weights", str(folder / "w")]
    plain = shown(capsys, "why", str(folder / "plain.trace"), *weights)
    full = shown(capsys, "why", str(folder / "full.trace"), *weights)
    assert plain["lower_bound_only"]
    assert not full["lower_bound_only"]
    assert plain["critical_path"] <= full["critical_path"]
    kinds = {dependency["kind"] for dependency in plain["dependencies"]}
    assert not any(kind.startswith(("variable", "guard")) for kind in kinds)
    again = plain["record_with"].split()
    assert again == ["dse", "trace", PINGPONG, "--accesses", "-o", str(folder / "plain.trace")]
    assert main(["why", str(folder / "plain.trace"), *weights]) == 0
    assert "lower bound" in capsys.readouterr().out


def test_a_deadlock_has_a_path_to_its_last_event(capsys: pytest.CaptureFixture[str]) -> None:
    order = "P0/static-order=Prod,Merger,PingPong,CopyTokensA,CopyTokensB:*"
    found = shown(capsys, "why", PINGPONG, "--mapping", order, code=3)
    assert found["deadlock"]
    assert [actor["name"] for actor in found["actors"]] == ["Prod"]
    assert sum(found["kinds"].values()) == found["critical_path"] > 0
    assert main(["why", PINGPONG, "--mapping", order]) == 3
    streams = capsys.readouterr()
    assert "critical path to the last event before the deadlock" in streams.out
    assert "waits on" in streams.err


def refused(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 1) -> str:
    capsys.readouterr()
    assert main(["why", *argv]) == code
    return capsys.readouterr().err


def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no actor 'Idct'" in refused(capsys, PINGPONG, "--mapping", "P0:Idct P1:*")
    assert "weights are needed" in refused(capsys, str(folder / "plain.trace"), code=2)
    assert "--buffers says nothing of a program without a mapping" in refused(
        capsys, PINGPONG, "--buffers", "4", code=2
    )
    assert "end it in .csv or .parquet" in refused(
        capsys, PINGPONG, "--mapping", MAPPING, "--slack", str(folder / "slack.txt"), code=2
    )
    assert "at least 1 row" in refused(capsys, PINGPONG, "--mapping", MAPPING, "--top", "0", code=2)
