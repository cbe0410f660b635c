"""``dse weights`` from the command line."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.weights_folder import read_weights

PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")
EXDF = """<network name="n"><actor id="a" frequency="2.9" frequency-unit="GHz">
  <action id="x" clockcyles="0.1" firings="3" extra="1"/></actor></network>
"""


@pytest.fixture
def old(tmp_path: Path) -> str:
    (tmp_path / "old.exdf").write_text(EXDF)
    return str(tmp_path / "old.exdf")


def test_show(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weights", "show", old]) == 0
    out = capsys.readouterr().out
    assert "n: 1 compute, no scheduling, no communication weights" in out
    assert "clocks: 2900 MHz" in out
    assert "a.x" in out
    assert main(["weights", "show", old, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["compute"] == [
        {
            "actor": "a", "action": "x", "unit": "cpu", "mean_cycles": 0.1, "min_cycles": None, "max_cycles": None,
            "variance_cycles2": None, "frequency_mhz": 2900, "count": 3, "origin": "unknown",
        }
    ]  # fmt: skip
    assert document["scheduling"] is None
    assert document["origins"] == {"unknown": 1}


def test_show_says_how_tokens_arrive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.cxdf"
    path.write_text(
        '<communication network="n">'
        '<arrival latency="390.5" frequency="2600" turn-firings="64" turn-parts="4"/></communication>'
    )
    assert main(["weights", "show", str(path)]) == 0
    text = "tokens arrive after 390.5 cycles at 2600 MHz on another core, published each 64 firings, each 4th part of a"
    assert text in " ".join(capsys.readouterr().out.split())
    assert main(["weights", "show", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    turns = {"turn_firings": 64, "turn_parts": 4}
    assert document["arrival"] == {"cycles": 390.5, "frequency_mhz": 2600, **turns, "visits": None}
    merged = str(tmp_path / "set")
    assert main(["weights", "convert", str(path), "-o", merged]) == 0
    assert read_weights([merged]).arrival == read_weights([str(path)]).arrival


def test_visits_are_shown_and_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.cxdf"
    path.write_text(
        '<communication network="n"><arrival latency="390.5"><visits look="250" wake="40.5" glance="31.5">'
        '<entry source-actor="s" source-port="O" target-actor="k" target-port="I" side="read" latency="77.25"/>'
        "</visits></arrival></communication>"
    )
    assert main(["weights", "show", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "a call in vain takes 250 cycles, 31.5 of an actor that only writes to other cores, waking 40.5; ends" in shown
    )
    assert "77.25 cpu s.O->k.I (a visit, cpu_cpu read)" in shown
    assert main(["weights", "show", str(path), "--json"]) == 0
    ends = {"source_actor": "s", "source_port": "O", "target_actor": "k", "target_port": "I"}
    assert json.loads(capsys.readouterr().out)["arrival"]["visits"] == {
        "look_cycles": 250,
        "glance_cycles": 31.5,
        "wake_cycles": 40.5,
        "entries": [{**ends, "side": "read", "cycles": 77.25}],
    }
    bare, merged = tmp_path / "bare.cxdf", str(tmp_path / "set")
    bare.write_text('<communication network="n"/>')
    assert main(["weights", "merge", str(path), str(bare), "-o", merged]) == 0
    assert read_weights([merged]).arrival == read_weights([str(path)]).arrival
    bare.write_text('<communication network="n"><arrival latency="7"/></communication>')
    assert main(["weights", "merge", str(path), str(bare), "-o", merged]) == 0
    arrival = read_weights([merged]).arrival
    assert arrival is not None
    assert arrival.visits is None, "the arrival of the last set wins, and it says nothing of visits"


def test_convert_a_file_keeps_what_it_does_not_know(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = str(tmp_path / "weights-GPU.exdf")
    assert main(["weights", "convert", old, "-o", new, "--unit", "gpu"]) == 0
    assert 'extra="1"' in Path(new).read_text()
    assert 'clockcycles="0.1"' in Path(new).read_text()
    assert list(read_weights([new]).compute) == [("a", "x", "gpu")]


def test_convert_to_a_folder_and_merge(old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, merged = str(tmp_path / "set"), str(tmp_path / "merged")
    assert main(["weights", "nominal", PINGPONG, "-o", folder, "--platform", "desktop-gtx1660s"]) == 0
    nominal = read_weights([folder])
    assert {cost.origin for cost in nominal.compute.values()} == {"nominal"}
    assert main(["weights", "merge", folder, old, "-o", merged, "--json"]) == 0
    written = json.loads(capsys.readouterr().out.split("manifest.yaml\n")[-1])["written"]
    assert [Path(p).name for p in written][:2] == ["weights-CPU.exdf", "weights-CPU.sxdf"]
    both = read_weights([merged])
    assert set(both.compute) == {*nominal.compute, ("a", "x", "cpu")}
    assert both.scheduling == nominal.scheduling
    single = str(tmp_path / "one.cxdf")
    assert main(["weights", "convert", merged, "-o", single]) == 0
    assert {key[4] for key in read_weights([single]).transfers} == {"local", "cpu_cpu"}


def test_a_file_has_a_part_of_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, one = str(tmp_path / "set"), str(tmp_path / "one.exdf")
    assert main(["weights", "nominal", PINGPONG, "-o", folder]) == 0
    assert main(["weights", "convert", folder, "-o", one]) == 0
    said = capsys.readouterr()
    assert f"6 compute, no scheduling, no communication weights; wrote {one}" in said.out
    assert f"warning: {one} has no place for 6 scheduling, 20 communication weights: -o FOLDER writes all" in said.err
    for name, lost in (("set/weights-CPU.cxdf", "20 communication"), ("one.exdf", "6 compute")):
        part = tmp_path / "part.sxdf"
        assert main(["weights", "convert", str(tmp_path / name), "-o", str(part)]) == 2
        assert f"'{part}' has no place for any of these: {lost} weights" in capsys.readouterr().err
        assert not part.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "a"],
        ["show", "a", "-o", "b"],
        ["convert", "a", "b", "-o", "c"],
        ["show", ".", "--unit", "cpu"],
        ["guess", "a"],
    ],
)
def test_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["weights", *arguments])
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    assert code == 2
    assert "error:" in capsys.readouterr().err
