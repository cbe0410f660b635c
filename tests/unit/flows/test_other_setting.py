"""What a policy or sizes that nobody asked for would give is told, holds, and leaves the ranking as it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.model.study import OtherSetting
from dse.report.other_setting import other_text

MATRIX = str(Path(__file__).parents[3] / "actors" / "matrix" / "matrix.xdf")


def explored(out: Path, *options: str) -> dict[str, Any]:
    argv = ["explore", MATRIX, "--weights", "nominal", "--partitions", "2-2", "--budget", "300", "--out", str(out)]
    assert main([*argv, *options]) == 0
    found: dict[str, Any] = json.loads((out / "ranking.json").read_text())
    return found


def test_what_is_told_holds_when_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = explored(tmp_path / "usual")
    other, best = usual["other_setting"], usual["best"]["makespan"]
    told = capsys.readouterr().out
    gain = f"{100 * (other['makespan'] - best) / best:.1f} %"
    asked = ["--policy", other["policy"], "--buffers", other["buffers"]]
    bytes_more = f"{other['more_bytes']:,} more bytes"
    assert f"with {other['policy']} and {bytes_more}: {gain} (`{' '.join(asked)}`)" in told
    assert f"and {bytes_more}: {gain} ({' '.join(asked)})" in (tmp_path / "usual" / "report.html").read_text()
    followed = explored(tmp_path / "followed", *asked)
    assert followed["best"]["makespan"] <= other["makespan"] < best
    assert "other_setting" not in followed, "somebody chose"


def test_of_several_policies_and_sizes_the_ranking_prefers_less_memory(tmp_path: Path) -> None:
    sizes = ("--buffers", "maximal", "--buffers", "1000000", "--policy", "NON_PREEMPTIVE,ROUND_ROBIN")
    found = explored(tmp_path, *sizes)
    rows = [
        (row["makespan"], row["partitions"], sum(row["design_point"]["capacities_tokens"])) for row in found["ranking"]
    ]
    assert len({row[2] for row in rows}) == 2
    assert rows == sorted(rows)
    chosen = found["best"]["design_point"]
    policies = {partition["policy"] for partition in chosen["partitions"]}
    assert policies == {"ROUND_ROBIN"}
    mapping = (tmp_path / "best-01.xcf").read_text()
    assert "ROUND_ROBIN" in mapping
    assert all(f'size="{tokens}"' in mapping for tokens in chosen["capacities_tokens"])


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (OtherSetting(policy="ROUND_ROBIN", buffers="", more_bytes=0, makespan=90, than=100),
         "with ROUND_ROBIN: -10.0 % (`--policy ROUND_ROBIN`)"),
        (OtherSetting(policy=None, buffers="1024", more_bytes=2048, makespan=95, than=100),
         "with 2,048 more bytes: -5.0 % (`--buffers 1024`)"),
        (OtherSetting(policy=None, buffers="maximal", more_bytes=-8, makespan=95, than=100),
         "with 8 fewer bytes: -5.0 % (`--buffers maximal`)"),
        (OtherSetting(policy=None, buffers="maximal", more_bytes=0, makespan=95, than=100),
         "with other sizes of as many bytes: -5.0 % (`--buffers maximal`)"),
    ],
)  # fmt: skip
def test_the_line(other: OtherSetting, line: str) -> None:
    assert other_text(other) == line
