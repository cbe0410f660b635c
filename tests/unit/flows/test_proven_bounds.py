"""A makespan below what is proven to be the least is refused, just estimated or read from a study."""

from pathlib import Path

import pytest

from dse.cli.main import main
from dse.model.study import LowerBound

PINGPONG = str(Path(__file__).parents[3] / "actors" / "pingpong" / "pingpong.xdf")
TOO_HIGH = (LowerBound(makespan=10**15, reason="a bound that is wrong"),)


def test_a_makespan_below_the_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["explore", PINGPONG, "--weights", "nominal", "--budget", "5", "--quiet", "--out", str(tmp_path)]
    assert main(search) == 0
    ranking = (tmp_path / "ranking.json").read_bytes()
    monkeypatch.setattr("dse.flows.search.study.space_bounds", lambda *_: TOO_HIGH)
    capsys.readouterr()
    assert main([*search, "--resume"]) == 1
    assert f"but no mapping takes less than {10**15}" in capsys.readouterr().err
    assert (tmp_path / "ranking.json").read_bytes() == ranking
    assert main([*search[:-1], str(tmp_path / "new")]) == 1
    assert "one of the two is wrong" in capsys.readouterr().err
    assert not (tmp_path / "new" / "ranking.json").exists()
