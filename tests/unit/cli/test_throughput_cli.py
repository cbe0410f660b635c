"""``dse throughput`` on the command line: graphs, programs, sizes, and that an estimation never beats what it says."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
CAMERA, RESAMPLER = (str(ROOT / "tests" / "graphs" / name) for name in ("camera.xml", "resampler.xml"))
PINGPONG = str(ROOT / "actors" / "pingpong" / "pingpong.xdf")


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Return the JSON that a command prints."""
    assert main([*arguments, "--json", "--quiet"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def region(found: dict[str, object]) -> dict[str, object]:
    """Return the only region."""
    regions = found["regions"]
    assert isinstance(regions, list)
    (only,) = regions
    return dict(only)


def test_the_cycle_that_limits_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """By hand, with overlap: 40 + 25 + 60 and another 40, as `sensor` does not overlap with itself, for two rounds."""
    found = region(document(capsys, "throughput", CAMERA, "--overlap"))
    assert (found["period"], found["least_cores"]) == ("165/2", 5)
    alone = region(document(capsys, "throughput", CAMERA))
    assert alone["period"] == 8 * 25
    assert alone["cycle"] == [{"actor": "filter", "channel": "", "room": False}]


@pytest.mark.parametrize("release", ["reading", "processing"])
def test_more_iterations_of_an_estimate_take_what_it_says(capsys: pytest.CaptureFixture[str], release: str) -> None:
    """Each actor on a core of its own is the quickest there is; 20 more iterations take 20 periods more, exactly."""
    period = region(document(capsys, "throughput", CAMERA, "--release", release))["period"]
    spans = []
    for iterations in ("40", "60"):
        mapping = ("--mapping", "P0:sensor P1:filter P2:gain", "--release", release)
        assert main(["estimate", CAMERA, "--iterations", iterations, *mapping, "--json", "--quiet"]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        spans.append(found["makespan"])
    assert spans[1] - spans[0] == 20 * int(str(period))


def test_sizes_and_the_period_that_they_allow(capsys: pytest.CaptureFixture[str]) -> None:
    storage = region(document(capsys, "throughput", RESAMPLER, "--storage"))["storage"]
    assert isinstance(storage, dict)
    assert [(p["memory"], p["period"]) for p in storage["points"]] == [(3, 14), (4, 13), (5, 11)]
    assert (storage["proven"], storage["unit"]) == (3, "tokens")
    assert main(["throughput", RESAMPLER, "--storage", "1"]) == 0
    assert "proven for the first 1 only, after" in capsys.readouterr().out


def test_the_static_regions_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "throughput", PINGPONG, "--weights", "nominal")
    assert (found["unit"], found["not_static"]) == ("ps", [])
    assert region(found)["mean_times"] == ["PingPong"]
    assert main(["throughput", PINGPONG, "--weights", "nominal"]) == 0
    text = capsys.readouterr().out
    assert "5 actors of 'pingpong', 5 firings an iteration, 4 of them in the trace" in text
    assert "limited by  Merger, which is never idle" in text


def test_sizes_are_written_and_taken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Sizes of the front, for `--buffers` of all verbs; given sizes have the period that the front says."""
    out = str(tmp_path / "new" / "sizes.bxdf")
    assert main(["throughput", RESAMPLER, "--storage", "-o", out]) == 0
    assert f"written to {out}" in capsys.readouterr().out
    assert region(document(capsys, "throughput", RESAMPLER, "--buffers", out))["period"] == 11
    assert region(document(capsys, "throughput", RESAMPLER, "--buffers", "2"))["period"] == 13
    mapping = ("--mapping", "P0:reader P1:filter P2:writer", "--iterations", "40", "--buffers", out)
    assert main(["estimate", RESAMPLER, *mapping, "--release", "processing", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["makespan"] < 41 * 11
    sizes = str(tmp_path / "pingpong.bxdf")
    assert main(["throughput", PINGPONG, "--weights", "nominal", "--storage", "-o", sizes, "--quiet"]) == 0
    capsys.readouterr()
    found = document(capsys, "throughput", PINGPONG, "--weights", "nominal", "--buffers", sizes)
    assert region(found)["period"] == region(document(capsys, "throughput", PINGPONG, "--weights", "nominal"))["period"]


def test_a_search_by_the_steady_state_ends_with_a_proof(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The quickest mapping of the camera meets the period of the graph, 200 cycles; three cores are not needed."""
    out = ("--out", str(tmp_path / "out"))
    search = ("explore", CAMERA, "--objectives", "steady-throughput", "--partitions", "1-3")
    found = document(capsys, *search, *out)
    (axis,) = found["objectives"]  # type: ignore[misc]
    assert axis == {"name": "steady-throughput", "unit": "iterations/cycle", "maximise": True, "limit": 1 / 200}
    ranking = found["ranking"]
    assert isinstance(ranking, list)
    values = [row["values"]["steady-throughput"] for row in ranking]
    assert values == [1 / 200, 1 / 200, 1 / 260, 1 / 280, 1 / 340]
    met = document(capsys, *search, "--method", "local-search", "--out", str(tmp_path / "met"))
    assert met["complete"] is True
    assert met["evaluations"] <= found["evaluations"]  # type: ignore[operator]


def test_sizes_hold_for_mappings_too(capsys: pytest.CaptureFixture[str]) -> None:
    mapping = ("--mapping", "P0:reader P1:filter P2:writer")
    for size, period in (("2", 13), ("3", 11)):
        found = document(capsys, "throughput", RESAMPLER, "--buffers", size, *mapping)
        (rate,) = found["mappings"]  # type: ignore[misc]
        assert (region(found)["period"], rate["period"]) == (period, period)
