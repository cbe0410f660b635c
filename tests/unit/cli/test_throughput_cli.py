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
