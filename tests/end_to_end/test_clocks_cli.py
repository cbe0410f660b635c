"""``--clocks`` as a user meets it: search, front, files, estimate of what was found, resume."""

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main

PINGPONG = str(Path(__file__).resolve().parents[2] / "actors" / "pingpong" / "pingpong.xdf")
EXPLORE = ["explore", PINGPONG, "--platform", "big-little", "--partitions", "2"]
CLOCKS = ["--clocks", "big=1000,2000", "--clocks", "little=700,1400"]


def document(argv: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def clocks_of(entry: dict[str, Any]) -> dict[str, float]:
    return {p["unit"]: p["clock_mhz"] for p in entry["design_point"]["partitions"]}


def test_what_a_search_finds_is_estimated_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document([*EXPLORE, *CLOCKS, "--objectives", "makespan,energy", "--out", str(tmp_path)], capsys)
    assert found["space"] == found["evaluations"]
    assert len({tuple(clocks_of(entry).items()) for entry in found["pareto"]}) > 2
    assert found["best"]["mapping"].startswith("P0@big=2000:")
    assert "MHz" in (tmp_path / "report.html").read_text()
    files = sorted(map(str, tmp_path.glob("pareto-*.xcf")))
    for engine in ("compiled", "reference"):
        argv = ["estimate", PINGPONG, "--platform", "big-little", "--engine", engine, "--mapping", *files]
        estimated = document(argv, capsys)
        assert [e["makespan"] for e in estimated] == [e["values"]["makespan"] for e in found["pareto"]]
        clocks = [{p["unit"]: p["clock_mhz"] for p in e["partitions"]} for e in estimated]
        assert clocks == [clocks_of(entry) for entry in found["pareto"]]


def test_a_search_with_clocks_is_resumed_only_with_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*EXPLORE, "--method", "local-search", "--out", str(tmp_path)]
    document([*argv, *CLOCKS, "--budget", "20"], capsys)
    resumed = document([*argv, *CLOCKS, "--budget", "60", "--resume"], capsys)
    whole = document([*argv, *CLOCKS, "--budget", "60", "--workers", "3"], capsys)
    assert {**resumed, "seconds": 0} == {**whole, "seconds": 0}
    assert main([*argv, "--clocks", "big=1000,1900", "--budget", "60", "--resume"]) == 2
    assert "clocks: big=2000,1000 little=1400,700 in the study, big=1900,1000 now" in capsys.readouterr().err


POWERED = "name: two\nunits:\n  cpu: {{kind: cpu, cores: 2, clock_mhz: 1000{}}}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (", power_watt: 2.5", ""),
        (", power_watt: 2.5", ", power_watt: 2.6"),
        (", power_watt: 2.5", ", power_watt: 2.5, power_static_watt: 1"),
        (", power_watt: 2.5, power_static_watt: 1", ", power_watt: 2.5, power_static_watt: 0.5"),
        (", power_watt: 2.5", ", power_watt: 2.5, power_exponent: 2"),
        (
            ", power_watt: 2.5, power_watt_at_mhz: {1000: 2.5, 500: 1}",
            ", power_watt: 2.5, power_watt_at_mhz: {1000: 2.5, 500: 0.9}",
        ),
        (", power_watt: 2.5, clock_range_mhz: [500, 1000]", ", power_watt: 2.5, clock_range_mhz: [400, 1000]"),
    ],
)
def test_a_search_is_not_resumed_with_other_powers(
    before: str, after: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    platform = tmp_path / "two.yaml"
    platform.write_text(POWERED.format(before))
    argv = ["explore", PINGPONG, "--platform", str(platform), "--out", str(tmp_path / "out")]
    argv += ["--clocks", "cpu=500,1000", "--objectives", "energy,makespan", "--budget", "4"]
    first = document(argv, capsys)
    platform.write_text(POWERED.format(before) + "# a comment changes nothing\n")
    assert document([*argv, "--resume"], capsys)["pareto"] == first["pareto"]
    platform.write_text(POWERED.format(after))
    if after:
        assert main([*argv, "--resume"]) == 2
        told = capsys.readouterr().err
        assert "was made from other inputs (the platform changed)" in told
        assert "leave out --resume to start a new study" in told
    assert main([*argv[:-4], "--budget", "4", "--resume"]) == 2
    assert "the platform changed" in capsys.readouterr().err


def test_a_kind_stands_for_its_units_and_a_sum_for_one_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [*EXPLORE, "--out", str(tmp_path), "--objectives", "makespan,units", "--best", "1"]
    single = document([*argv, "--clocks", "big=700,1400", "--clocks", "little=1400,700"], capsys)
    kind = document([*argv, "--clocks", "cpu=700,1400"], capsys)
    common = document([*argv, "--clocks", "big+little=700,1400"], capsys)
    assert kind["space"] == single["space"] > common["space"]
    assert kind["ranking"] == single["ranking"]


def test_policies_sizes_and_clocks_are_searched_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*EXPLORE, *CLOCKS, "--policy", "ROUND_ROBIN,DATA_DEMAND_DRIVEN", "--policy-per-partition"]
    argv += ["--buffers", "minimal", "--buffers", "maximal", "--budget", "40", "--out", str(tmp_path)]
    found = document([*argv, "--objectives", "throughput,energy,memory,traffic,partitions,units"], capsys)
    assert found["evaluations"] == 40
    assert {axis["name"] for axis in found["objectives"]} >= {"energy", "memory"}
    assert 0 < found["hypervolume"]["share"] <= 1


def test_units_that_weights_do_not_tell_apart_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [*EXPLORE, "--budget", "3", "--out", str(tmp_path)]
    assert any("little 1400 MHz; see --clocks" in line for line in document(argv, capsys)["assumed"])
    told = document([*argv, "--clocks", "little=1400"], capsys)["assumed"]
    assert not any("see --clocks" in line for line in told)


def test_an_estimate_takes_clocks_over_those_of_a_mapping(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document([*EXPLORE, *CLOCKS, "--out", str(tmp_path)], capsys)
    argv = ["estimate", PINGPONG, "--platform", "big-little", "--mapping", str(tmp_path / "best-01.xcf")]
    (own,) = document(argv, capsys)
    (slower,) = document([*argv, "--clocks", "big=1000"], capsys)
    assert slower["makespan"] > own["makespan"]
    assert {p["clock_mhz"] for p in slower["partitions"]} == {1000}
    assert main(["buffers", PINGPONG, "--platform", "big-little", "--mapping", argv[-1]]) == 0
