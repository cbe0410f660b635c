"""``dse gpu scaling``: from measured kernels to a model, its predictions, its errors and pictures."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.scaling_model import read_scaling_model
from tests.unit.formats.test_scaling_files import rows, set_file


def trained(folder: Path, *options: str) -> list[str]:
    """The command that trains a model in a folder."""
    given, out = set_file(folder, rows()), str(folder / "model.json")
    return ["gpu", "scaling", "train", given, "--base", "1000/500", "--card", "mine", "-o", out, *options]


def test_train_and_predict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(trained(tmp_path, "--clusters", "2", "--plot", str(tmp_path / "pictures"))) == 0
    told = capsys.readouterr().out
    assert "mine: 8 kernels, 2 core clocks x 2 memory clocks, with power, 2 counters, base 1000/500" in told
    assert "does not vary compute units" in told
    pictures = sorted(p.name for p in (tmp_path / "pictures").iterdir())
    assert pictures == [
        "centroids-power-core.svg",
        "centroids-power-memory.svg",
        "centroids-time-core.svg",
        "centroids-time-memory.svg",
        "surfaces-power.svg",
        "surfaces-time.svg",
    ]
    assert all((tmp_path / "pictures" / name).read_text().startswith("<svg ") for name in pictures)
    assert read_scaling_model(str(tmp_path / "model.json")).card == "mine"
    counters = tmp_path / "new.csv"
    counters.write_text("kernel,loads,flops,time_ms,power_watt\nnew,10000,3,5.0,80\n")
    command = ["gpu", "scaling", "predict", str(tmp_path / "model.json"), str(counters)]
    assert main([*command, "--json"]) == 0
    found = {p["configuration"]: p for p in json.loads(capsys.readouterr().out)["predictions"]}
    assert found["500/500"]["time_ms"] == pytest.approx(10.0)  # it computes: half the clock, twice the time
    assert found["1000/1000"]["time_ms"] == pytest.approx(5.0)
    assert found["500/1000"]["power_watt"] == pytest.approx(60.0)
    assert main([*command, "--at", "500/500"]) == 0
    assert "10" in capsys.readouterr().out


def test_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = set_file(tmp_path, rows())
    command = ["gpu", "scaling", "judge", given, "--base", "1000/500", "--clusters", "2", "--penalty", "0.1"]
    assert main([*command, "--json"]) == 0
    time, power = json.loads(capsys.readouterr().out)["quantities"]
    assert time["error"] < 1e-9
    assert power["error"] < 1e-9
    assert time["base_value"] > 0.2
    assert [row["steps"] for row in time["by_distance"]] == [1, 2]
    assert main([*command, "--plot", str(tmp_path / "pictures")]) == 0
    assert len(list((tmp_path / "pictures").iterdir())) == 6
    assert "classifier" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clusters", "0"], "--clusters is 0"),
        (["--penalty", "0"], "--penalty is 0"),
        (["--seed", "-1"], "--seed is -1"),
        (["--base", "700/500"], "no configuration of the set"),
        (["--clusters", "8"], "the set has 8 kernels, and at least 9 are needed"),
    ],
)
def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main([*trained(tmp_path), *words]) == 2
    assert message in capsys.readouterr().err


def test_outside_of_the_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(trained(tmp_path, "--clusters", "2")) == 0
    counters = tmp_path / "new.csv"
    counters.write_text("kernel,loads,flops\nnew,1,1\n")
    assert main(["gpu", "scaling", "predict", str(tmp_path / "model.json"), str(counters), "--at", "2000/500"]) == 2
    assert "does not guess beyond its grid" in capsys.readouterr().err


def test_no_counters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = "\n".join(",".join(line.split(",")[:5]) for line in rows().splitlines())
    given = set_file(tmp_path, bare + "\n")
    command = ["--base", "1000/500", "--card", "c", "-o", str(tmp_path / "m.json")]
    assert main(["gpu", "scaling", "train", given, *command]) == 2
    assert "has no counters" in capsys.readouterr().err
    assert main(["gpu", "scaling", "judge", given, "--base", "1000/500", "--clusters", "2"]) == 0
    assert "the best of 2 clusters is taken, which knows the answer" in capsys.readouterr().out
