"""``dse study`` as a user meets it: a search made again from its file, results shown, compared and exported."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.flows.setting import load_setting
from dse.flows.study_options import read_study_options

ACTORS = Path(__file__).resolve().parents[2] / "actors"
PINGPONG = str(ACTORS / "pingpong" / "pingpong.xdf")
JPEG = str(ACTORS / "jpeg" / "jpeg.xdf")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a search with a budget, in which simulations are stopped."""
    out = tmp_path_factory.mktemp("results") / "pp"
    assert main(["explore", PINGPONG, "--weights", "nominal", "--out", str(out), "--quiet"]) == 0
    return out


def shown(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(list(argv)) == code
    found = capsys.readouterr()
    return found.err if code else found.out


@pytest.mark.parametrize(
    "command",
    [
        (JPEG, "--weights", "nominal", "--budget", "8", "--partitions", "2-3", "--seed", "5", "--method", "tabu"),
        (PINGPONG, "--platform", "big-little", "--clocks", "big=1000,2000", "--objectives", "energy,makespan",
         "--buffers", "8", "--buffers", "minimal", "--policy", "ROUND_ROBIN,NON_PREEMPTIVE", "--pin", "Prod=big",
         "--release", "processing", "--transfers", "parallel", "--budget", "20", "--best", "2", "--max-firings", "18"),
    ],
    ids=["default input", "all options"],
)  # fmt: skip
def test_the_study_of_a_search_gives_the_same_ranking(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    network = os.path.relpath(command[0], tmp_path)  # from elsewhere, it is called something else
    assert main(["explore", network, *command[1:], "--out", "first/out", "--quiet"]) == 0
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["study", "run", "../first/out/study.yaml", "--out", "second", "--quiet", "--workers", "3"]) == 0
    assert main(["study", "run", "second/study.yaml", "--out", "third", "--quiet"]) == 0
    first = (tmp_path / "first" / "out" / "ranking.json").read_bytes()
    for name in ("second", "third"):
        assert Path(name, "ranking.json").read_bytes() == first
        assert Path(name, "best-01.xcf").read_bytes() == (tmp_path / "first" / "out" / "best-01.xcf").read_bytes()


def test_a_study_of_ones_own_stays_and_an_earlier_one_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "out" / "study.yaml"
    own.parent.mkdir()
    text = f"# mine\nnetwork: {PINGPONG}\nweights: nominal\nbudget: {{evaluations: 9}}\n"
    own.write_text(text)
    assert main(["study", "run", "out/study.yaml", "--out", "out", "--quiet"]) == 0
    assert own.read_text() == text
    assert main(["explore", PINGPONG, "--weights", "nominal", "--budget", "5", "--out", "out", "--quiet"]) == 0
    assert (tmp_path / "out" / "study-previous.yaml").read_text() == text
    assert "evaluations: 5" in own.read_text()
    assert (tmp_path / "out" / "study-previous.sqlite").is_file()
    again = ["study", "run", "out/study-previous.yaml", "--out", "again", "--quiet"]
    assert main(again) == 0  # its paths lead from where it is now
    first = json.loads((tmp_path / "out" / "results-previous" / "ranking.json").read_text())
    assert json.loads((tmp_path / "again" / "ranking.json").read_text()) == first


def test_the_example_runs(tmp_path: Path) -> None:
    study = str(ACTORS / "pingpong" / "study.yaml")
    assert main(["study", "run", study, "--out", str(tmp_path), "--quiet"]) == 0
    ranking = json.loads((tmp_path / "ranking.json").read_text())
    units = {
        partition["unit"]
        for row in ranking["ranking"]
        for partition in row["design_point"]["partitions"]
        if "Prod" in partition["actors"]
    }
    assert units == {"little"}


def test_actors_for_the_gpu_are_chosen_in_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "s.yaml"
    text = f"network: {PINGPONG}\nmissing_weights: nominal\nplatform: desktop-gtx1660s\n"
    study.write_text(f"{text}space: {{gpu_capable: [PingPong, Merger]}}\n")
    setting = load_setting(read_study_options(str(study)).problem)
    names = [actor.name for actor in setting.trace.topology.actors]
    assert [name for name in names if setting.platform.may_use_gpu(name)] == ["PingPong", "Merger"]
    study.write_text(f"{text}space: {{gpu_capable: [Mergr]}}\n")
    assert "there is no actor 'Mergr'" in shown(capsys, "study", "run", str(study), code=2)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_all_evaluations_are_exported(results: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = shown(capsys, "study", "export", str(results))
    rows, ranking = rows_of(text), json.loads((results / "ranking.json").read_text())
    assert len(rows) == ranking["evaluations"]
    states = [row["state"] for row in rows]
    assert states.count("at least") == ranking["cut_while_running"] > 0
    exact = {row["digest"]: int(row["makespan"]) for row in rows if row["state"] == "exact"}
    assert all(exact[row["digest"]] == row["makespan"] for row in ranking["ranking"])
    best = next(row for row in rows if row["digest"] == ranking["best"]["digest"])
    assert float(best["busiest_share"]) == ranking["best"]["busiest_share"]
    path = tmp_path / "all.csv"
    assert "evaluations written to" in shown(capsys, "study", "export", str(results / "study.sqlite"), "-o", str(path))
    assert path.read_text() == text
    lines = [row for row in rows if row["state"] == "exact"]
    estimated = json.loads(
        shown(capsys, "estimate", PINGPONG, "--weights", "nominal", "--mapping", str(path), "--json")
    )
    found = {row["mapping"]: row["makespan"] for row in estimated}
    assert all(any(int(row["makespan"]) == value for value in found.values()) for row in lines)
    assert len(found) == len(rows)
    again = str(tmp_path / "again.csv")
    command = ("estimate", PINGPONG, "--weights", "nominal", "--mapping")
    assert "mappings written to" in shown(capsys, *command, str(path), "-o", again)
    written = rows_of(Path(again).read_text())
    assert {row["name"]: int(row["makespan"]) for row in written} == found
    third = json.loads(shown(capsys, *command, again, "--json"))
    assert [row["makespan"] for row in third] == [int(row["makespan"]) for row in written]
    assert "is no name of a table" in shown(capsys, *command, "P0:*", "-o", "x.xls", code=2)


def test_parquet_holds_the_same(results: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet is written by pyarrow")
    path = tmp_path / "all.parquet"
    shown(capsys, "study", "export", str(results), "-o", str(path))
    table = parquet.read_table(path)
    rows = rows_of(shown(capsys, "study", "export", str(results)))
    assert table.column_names == list(rows[0])
    assert [str(value) for value in table.column("makespan").to_pylist()] == [row["makespan"] for row in rows]


def test_results_are_shown(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "study", "show", str(results))
    assert "the search is complete" in text
    assert "lower bound:" in text
    assert "seed: 1" in text
    document = json.loads(shown(capsys, "study", "show", str(results), "--json"))
    ranking = json.loads((results / "ranking.json").read_text())["ranking"]
    assert [row["digest"] for row in document["best"]] == [row["digest"] for row in ranking]
    (results / "ranking.json").rename(results / "kept")
    try:
        assert "no ranking was written" in shown(capsys, "study", "show", str(results))
        (results / "ranking.json").write_text('{"network": 3}')
        assert "this is no ranking" in shown(capsys, "study", "show", str(results), code=1)
    finally:
        (results / "kept").replace(results / "ranking.json")


def test_two_results_are_compared(results: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    argv = ["--weights", "nominal", "--platform", "big-little", "--budget", "12", "--seed", "2"]
    assert main(["explore", PINGPONG, *argv, "--out", str(tmp_path), "--quiet"]) == 0
    text = shown(capsys, "study", "compare", str(results), str(tmp_path))
    assert "  seed: 1 -> 2" in text.splitlines()
    assert "platform: desktop" in text
    assert "Prod.cal" not in text
    same = shown(capsys, "study", "compare", str(results), str(results))
    assert "differs from" in same
    assert "nothing that is known" in same
    document: Any = json.loads(shown(capsys, "study", "compare", str(results), str(results), "--json"))
    assert document["ranks"] == [[rank, rank] for rank in range(1, 11)]
    assert document["differences"][0]["differences"] == []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["show", "{t}"], "holds no results of a search"),
        (["show", "{t}/x"], "is no folder of results"),
        (["compare", "{r}"], "there is nothing to compare"),
        (["show", "{r}", "{r}"], "'show' takes one place, not 2"),
        (["show", "{r}", "-o", "x.csv"], "'show' does not write to a file"),
        (["show", "{r}/study.yaml"], "says what to search for, and holds no results"),
        (["export", "{r}", "--json"], "writes CSV or Parquet, no JSON"),
        (["export", "{r}", "--trust"], "--trust means nothing"),
        (["export", "{r}", "-o", "{t}/x.xls"], "is no name of a table"),
        (["run", "{r}"], "is a folder, not a study file"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_what_makes_no_sense_is_refused(
    argv: list[str], message: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (word.format(t=tmp_path, r=results) for word in argv)
    assert message in shown(capsys, "study", *words, code=2)
