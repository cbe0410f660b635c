"""``dse trace`` from the command line: record, inspect, export, import, and the same digest all the way."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.trace_store import read_trace

ACTORS = Path(__file__).resolve().parents[3] / "actors"
PINGPONG = str(ACTORS / "pingpong" / "pingpong.xdf")
JPEG = str(ACTORS / "jpeg" / "jpeg.xdf")
GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "turnus" / "case_03"


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["trace", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_record_and_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.trace")
    made = document(capsys, PINGPONG, "-o", path)
    assert made["firings"] == 20
    assert made["actors"]["PingPong"] == {"ping": 2, "pong": 2}
    assert made["bytes"] == Path(path).stat().st_size
    assert made["accesses"] is False
    info = document(capsys, "--info", path)
    assert {key: info[key] for key in ("firings", "actors", "bytes", "digest")} == {
        key: made[key] for key in ("firings", "actors", "bytes", "digest")
    }
    assert read_trace(path).digest == made["digest"]
    assert dict(read_trace(path).made_by)["network"] == PINGPONG
    assert main(["trace", path]) == 0
    assert "PingPong.pong" in capsys.readouterr().out


def test_the_default_input_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.trace")
    made = document(capsys, JPEG, "-o", path)
    assert made["bytes"] <= 2 * made["firings"]
    assert Path(dict(read_trace(path).made_by)["input"]).name == "input.jpg"


def test_accesses_are_recorded_on_demand_and_do_not_change_the_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, full = str(tmp_path / "plain"), str(tmp_path / "full")
    without = document(capsys, PINGPONG, "-o", plain)
    with_accesses = document(capsys, PINGPONG, "-o", full, "--accesses")
    assert with_accesses["accesses"] is True
    assert with_accesses["digest"] == without["digest"]
    assert len(read_trace(full).accesses) == 5


def test_export_and_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, turnus, back = (str(tmp_path / name) for name in ("t.trace", "u.tracez", "back.trace"))
    document(capsys, PINGPONG, "-o", store, "--accesses")
    exported = document(capsys, "--export", turnus, store)
    assert exported["exported"] == [turnus, str(tmp_path / "u.net")]
    kinds = exported["dependencies"]
    assert kinds["tokens"] == 20
    assert all(kinds[kind] for kind in ("fsm", "port read", "variable write-read", "guard enable"))
    imported = document(capsys, "--import", turnus, "-o", back)
    again = document(capsys, "--import", turnus, "--net", str(tmp_path / "u.net"))
    assert imported["digest"] == again["digest"] == read_trace(back).digest
    assert imported["actors"] == exported["actors"]
    document(capsys, "--export", str(tmp_path / "v.trace"), back)
    assert document(capsys, "--import", str(tmp_path / "v.trace"))["digest"] == imported["digest"]


def test_a_golden_trace_of_turnus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "t.trace")
    made = document(capsys, "--import", str(GOLDEN / "top.trace"), "--net", str(GOLDEN / "top.net"), "-o", out)
    assert made["firings"] == 120
    assert document(capsys, "--info", out)["digest"] == made["digest"]


def test_steps_only_and_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turnus = tmp_path / "u.trace"
    assert document(capsys, PINGPONG, "--export", str(turnus), "--no-dependencies")["dependencies"] is None
    text = turnus.read_text()
    assert text.count("<step ") == 20
    assert "<dependency" not in text


def test_options_of_the_run_go_into_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t")
    assert document(capsys, PINGPONG, "-o", path, "--max-firings", "7", "-s", "64")["firings"] == 7
    made_by = dict(read_trace(path).made_by)
    assert (made_by["max_firings"], made_by["fifo_tokens"], made_by["ended"]) == ("7", "64", "budget")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--info", "a", "--import", "b"],
        ["a.xdf", "--info", "b"],
        ["--info", "a", "--net", "n"],
        ["a.xdf", "-o", "x.tracez"],
    ],
)
def test_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", *arguments]) == 2
    assert "error:" in capsys.readouterr().err


def test_a_trace_that_ends_in_a_deadlock_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = "actor W () ==> int A, int B : a: action ==> A:[1] end b: action ==> B:[1] guard false end end"
    reader = "actor R () int A, int B ==> : b: action B:[x], A:[y] ==> end end"
    ports = "".join(f'<Connection src="w" src-port="{p}" dst="r" dst-port="{p}"/>' for p in "AB")
    (tmp_path / "W.cal").write_text(writer)
    (tmp_path / "R.cal").write_text(reader)
    instances = "".join(f'<Instance id="{i}"><Class name="{i.upper()}"/></Instance>' for i in "wr")
    (tmp_path / "full.xdf").write_text(f'<XDF name="full">{instances}{ports}</XDF>')
    assert main(["trace", str(tmp_path / "full.xdf"), "-o", str(tmp_path / "t.trace")]) == 3
    assert "warning: the trace ends in a deadlock" in (err := capsys.readouterr().err)
    assert "w.A->r.A is full with 512 tokens" in err
