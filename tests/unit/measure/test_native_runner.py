"""Running native programs for measurements, with a program that is a script."""

import json
import sys
from pathlib import Path

import pytest

from dse.base.errors import ExecutionError
from dse.measure import native_runner
from dse.measure.native_runner import Apps, NativeRunner, core_pairs
from dse.measure.runs import ProcessorCounts, RunOrder
from dse.program.network import Network
from dse.run.options import RunOptions

DOCUMENT = {
    "version": 1,
    "why": "quiescent",
    "exit_code": 0,
    "error": None,
    "frames": 0,
    "actors": [{"actions": [3, 4]}],
    "channels": [{"tokens": 7, "hash": None}],
    "times": {"run_ns": 1234},
    "machine": {
        "threads": [{"involuntary_switches": 1}, {"involuntary_switches": 2}],
        "ping_pong": [
            {"cores": [0, 1], "before_ns": 90.5, "after_ns": 110.0, "work_ns": [1, 1.25, 1.5, 2]},
            {"cores": [0, 2], "before_ns": 0, "after_ns": 0},
        ],
    },
}


def runner(
    folder: Path, document: object, cores: tuple[int, ...] = (0, 1), *, printed: str = "printed"
) -> NativeRunner:
    """Return a runner whose programs write ``document`` and what they were asked to a file beside them."""
    for name in ("plain", "timed"):
        script = folder / name
        script.write_text(
            f"#!{sys.executable}\n"
            "import sys\n"
            f"open({str(folder / (name + '.asked'))!r}, 'w').write(' '.join(sys.argv[1:]))\n"
            "where = sys.argv.index('--singly') + 1 if '--singly' in sys.argv else 0\n"
            f"where and open({str(folder / 'singly')!r}, 'w').write(open(sys.argv[where]).read())\n"
            f"open(sys.argv[sys.argv.index('--result') + 1], 'w').write({json.dumps(document)!r})\n"
            f"print({printed!r})\n"
        )
        script.chmod(0o755)
    network = Network(name="n", path=str(folder / "n.xdf"), instances=(), connections=())
    apps = Apps(plain=folder / "plain", timed=folder / "timed")
    return NativeRunner(network, apps, RunOptions(), cores, time_limit_s=30)


def test_a_run_is_told(tmp_path: Path) -> None:
    record = runner(tmp_path, DOCUMENT).run(RunOrder(input="in", mapping=Path("x.xcf")))
    assert record.run_ns == 1234
    assert record.switches == 3
    assert [(t.cores, t.before_ns, t.after_ns) for t in record.trips] == [((0, 1), 90.5, 110.0)]
    assert [t.work_ns for t in record.trips] == [(1.0, 1.25, 1.5, 2.0)]
    assert record.state == "near"
    asked = (tmp_path / "plain.asked").read_text()
    for words in ("-i in", "--mapping x.xcf", "--pin", "--ping-pong 0,1", "--quiet"):
        assert words in asked


def test_sleeps_beside_waiting_are_told(tmp_path: Path) -> None:
    assert runner(tmp_path, DOCUMENT).run(RunOrder()).stalls is None
    threads = [{"voluntary_switches": 90, "sleeps": 2}, {"voluntary_switches": 1, "sleeps": 3}]
    told = {**DOCUMENT, "machine": {"threads": threads, "ping_pong": []}}
    assert runner(tmp_path, told).run(RunOrder()).stalls == 88


def test_what_the_processor_counted(tmp_path: Path) -> None:
    assert runner(tmp_path, DOCUMENT).run(RunOrder()).counts is None
    threads = [{"cycles": 5, "instructions": 7}, {"cycles": 10, "instructions": 20}]
    counted = {**DOCUMENT, "machine": {"threads": threads, "ping_pong": []}}
    assert runner(tmp_path, counted).run(RunOrder()).counts == ProcessorCounts(cycles=15, instructions=27)
    threads[0]["instructions"] = None  # type: ignore[assignment]
    assert runner(tmp_path, counted).run(RunOrder()).counts is None


def test_the_timed_program_gets_its_files(tmp_path: Path) -> None:
    order = RunOrder(timed=True, records=Path("r"), trace=Path("t"), singly=((0, 3), (2, 1)))
    runner(tmp_path, DOCUMENT, cores=(0,)).run(order)
    asked = (tmp_path / "timed.asked").read_text()
    assert "--raw r --trace t --singly" in asked
    assert "--ping-pong" not in asked
    assert (tmp_path / "singly").read_text() == "0 3\n2 1\n"


def test_tokens_are_hashed_where_that_is_asked_for(tmp_path: Path) -> None:
    made = runner(tmp_path, DOCUMENT)
    made.run(RunOrder())
    assert "--hashes" not in (tmp_path / "plain.asked").read_text()
    made.run(RunOrder(hashed=True))
    assert "--hashes" in (tmp_path / "plain.asked").read_text()


def test_a_run_that_takes_much_longer_than_others_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = runner(tmp_path, DOCUMENT)
    made._time_limit_s = None
    made.run(RunOrder())
    monkeypatch.setattr(native_runner, "_LEAST_LIMIT_S", 0.5)
    monkeypatch.setattr(native_runner, "_LIMIT_RUNS", 0)
    (tmp_path / "plain").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    with pytest.raises(ExecutionError, match=r"has not ended after 0\.5 s"):
        made.run(RunOrder())


def test_equal_work_has_an_equal_digest(tmp_path: Path) -> None:
    one = runner(tmp_path, DOCUMENT).run(RunOrder()).result
    faster = DOCUMENT | {"times": {"run_ns": 1}}
    other = DOCUMENT | {"actors": [{"actions": [3, 5]}]}
    assert runner(tmp_path, faster).run(RunOrder()).result == one
    assert runner(tmp_path, other).run(RunOrder()).result != one


def test_the_order_of_what_several_cores_print_is_no_other_result(tmp_path: Path) -> None:
    """Actors print a line piece by piece, so that lines of two cores may mix."""
    one, mixed, other = (
        runner(tmp_path, DOCUMENT, printed=text).run(RunOrder()).result for text in ("a 1\nb 2", "b a 2\n1", "a 1\nb 3")
    )
    assert mixed == one
    assert other != one


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (DOCUMENT | {"times": {}}, "does not tell how long it ran"),
        (DOCUMENT | {"machine": None}, "does not tell of the machine"),
        (DOCUMENT | {"error": {"message": "division by zero"}}, "division by zero"),
        (DOCUMENT | {"version": 99}, "not of version 1"),
    ],
)
def test_what_is_missing_is_an_error(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(ExecutionError, match=message):
        runner(tmp_path, document).run(RunOrder())


def test_pairs_of_cores() -> None:
    assert core_pairs((0, 1)) == ((0, 1),)
    assert core_pairs((2, 4, 5)) == ((2, 4), (2, 5), (4, 5))
    assert core_pairs((0, 1, 2, 3, 4)) == ((0, 1), (0, 2), (0, 3), (0, 4))
    assert core_pairs((3,)) == ()
