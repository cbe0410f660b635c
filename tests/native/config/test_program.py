"""The command line of a native program: options, exit codes, what it says and writes, and how it fails."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import dse
from dse.native.emission import SHARED_UNITS
from tests.examples import IN_FULL
from tests.native.config.readers import Readers
from tests.native.shared import COMPILER, RUNTIME, needs_compiler

ENDLESS = ("--idle-firings", str(10**12))


def read_trace(path: Path) -> "list[NDArray[np.uint8] | NDArray[np.uint16]]":
    """Return the ids of each actor in a file of --trace."""
    data = path.read_bytes()
    assert data[:8] == b"DSENATV1"
    at = 12 + 9 * int.from_bytes(data[8:12], "little")
    found: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    for entry in range(12, at, 9):
        count, width = int.from_bytes(data[entry : entry + 8], "little"), data[entry + 8]
        kind = np.uint8 if width == 1 else np.uint16
        found.append(np.frombuffer(data[at : at + count * width], dtype=kind))
        at += count * width
    assert at == len(data)
    return found


@IN_FULL
def test_what_all_programs_share_compiles_without_a_warning(tmp_path: Path) -> None:
    """Of more warnings than a build asks for, which are errors there."""
    needs_compiler()
    warnings = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
    for unit in SHARED_UNITS:
        (tmp_path / "unit.cpp").write_text(unit.text)
        command = [str(COMPILER), "-std=c++20", "-fsyntax-only", *warnings, f"-I{RUNTIME}", str(tmp_path / "unit.cpp")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def run(program: Path, *arguments: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run the program to its end."""
    return subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=folder
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("fan --max-firings 1000", 0, "1000 firings; the firing budget is spent\n342 tokens were left in FIFOs:\n"),
        ("fan -s8", 0, "48359 firings; no actor can fire any more\n"),
        ("fan --quiet", 0, ""),
        (
            "starved",
            0,
            "0 firings; no actor can fire any more\nwarning: nothing fired: this is what the actors wait for\n",
        ),
        ("starved --why", 0, "wait for\n  hollow: the guard of act is false\n"),
        ("starved --quiet", 0, ""),
        ("idle --idle-firings=100", 0, "actors fire, but no token moves\n"),
        ("fan -s 8 --why", 0, "\n  split: pair waits for 2 tokens on In, has 1\n  split: the guard of one is false\n"),
        ("fan --tolerence 5", 2, "error: there is no option '--tolerence'\n  = did you mean '--tolerance'?\n"),
        ("fan --xyzzy", 2, "error: there is no option '--xyzzy'\n  = --help lists the options\n"),
        ("fan input.jpg", 2, "error: there is no use for 'input.jpg'\n"),
        ("fan -s", 2, "error: argument -s/--fifo-size: expected one argument\n"),
        ("fan -s --quiet", 2, "error: argument -s/--fifo-size: expected one argument\n"),
        ("fan --quiet=yes", 2, "error: argument --quiet: takes no value\n"),
        ("fan -s 0", 2, "error: the FIFO size is 0, must be at least 1\n"),
        ("fan -s -3", 2, "error: the FIFO size is -3, must be at least 1\n"),
        ("fan -s 1e3", 2, "error: argument -s/--fifo-size: invalid int value: '1e3'\n"),
        ("fan -s 9223372036854775808", 2, "is beyond measure: expected at most 9223372036854775807\n"),
        ("fan -l 0", 2, "error: the number of loops is 0, must be at least 1\n"),
        ("fan -f 0", 2, "error: the number of frames is 0, must be at least 1\n"),
        ("fan --max-firings 0", 2, "error: the number of firings is 0, must be at least 1\n"),
        ("fan --max-memory 5X", 2, "memory '5X' is not understood\n  = a whole number and its unit: 500M, 4G\n"),
        ("fan --max-memory 0G", 2, "memory '0G' is not understood"),
        ("fan --files=", 2, "error: what follows '--files' is empty\n"),
        ("fan --input=", 2, "error: what follows '--input' is empty\n"),
        ("fan --allow-files=", 2, "error: what follows '--allow-files' is empty\n"),
        ("fan --mapping=", 2, "error: what follows '--mapping' is empty\n"),
        ("fan -o no/such/x.yuv", 2, "error: the folder 'no/such' of the output does not exist\n"),
        ("fan -y no-such.yuv", 2, "error: cannot read the reference 'no-such.yuv': no such file\n"),
        ("fan --raw x", 2, "there is nothing for --raw and --singly\n  = 'dse profile' builds one that does\n"),
        ("fan --mapping no.xcf", 2, "no.xcf: error: no such file\n"),
        ("fan --mapping .", 2, ".: error: this is a folder, not a file\n"),
        ("fan --trace no/such/t", 1, "error: 'no/such/t': No such file or directory\n  = make room"),
        ("fan --result /dev/full", 1, "error: '/dev/full': No space left on device\n"),
        ("fan --trace /dev/full", 1, "error: '/dev/full': No space left on device\n"),
        ("divide", 1, "Loner.cal:3:5: error: in 'lonér\ufffd', act: division by zero\n"),
        ("refuse", 1, "error: this is no \ufffd[31mpicture\n  = take another\n"),
        ("stray", 1, "8 firings; the program ended itself\nthe program ended with exit code 5\n"),
        ("stray", 1, "Loner.cal:3:5: warning: 'list' was accessed out of bounds 8 times; reads gave 0, writes were"),
    ],
)
def test_what_is_said(checked: Path, tmp_path: Path, arguments: str, code: int, said: str) -> None:
    done = run(checked, *arguments.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr if said else done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_help_and_version(checked: Path) -> None:
    done = run(checked, "fan", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n  -s, --fifo-size N" in done.stdout
    assert "Run network fan." in done.stdout
    assert run(checked, "fan", "--version").stdout == f"fan, made by dse {dse.__version__}\n"


def test_trace_and_result(checked: Path, tmp_path: Path) -> None:
    trace, result = tmp_path / "t.bin", tmp_path / "r.json"
    done = run(checked, "fan", "--trace", str(trace), "--result", str(result), "--hashes", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(result.read_text())
    ids = read_trace(trace)
    actions = [a["actions"] for a in document["actors"]]
    assert [np.bincount(i, minlength=len(a)).tolist() for i, a in zip(ids, actions, strict=True)] == actions
    assert document["firings"] == sum(map(len, ids)) == 48359
    assert [a["name"] for a in document["actors"]] == ["source", "split", "sum", "sink"]
    assert (document["version"], document["why"], document["exit_code"], document["error"]) == (1, "quiescent", 0, None)
    assert [w["kind"] for w in document["waits"]].count("guard") == 3
    assert document["channels"][0]["hash"].isdigit()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "t.bin"]


def test_long_traces_of_wide_ids(checked: Path, tmp_path: Path) -> None:
    trace = tmp_path / "t.bin"
    assert run(checked, "wide", "--trace", str(trace), *ENDLESS, "--max-firings", "3000001").returncode == 0
    (ids,) = read_trace(trace)
    assert ids.dtype == np.uint16
    assert np.array_equal(ids, np.arange(3000001) % 300)


def test_a_trace_into_a_pipe(checked: Path) -> None:
    command = [str(checked), "wide", "--trace", "/dev/stdout", "--max-firings", "5", "--quiet"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert done.stdout == b"DSENATV1" + bytes([1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2]) + bytes(
        [0, 0, 1, 0, 2, 0, 3, 0, 4, 0]
    )


def test_old_files_stay_where_a_run_fails(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("old")
    (tmp_path / "r").write_text("old")
    (tmp_path / "r").chmod(0o640)
    (tmp_path / "link").symlink_to("r")
    done = run(checked, "divide", "--trace", "t", "--result", "link", folder=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "t").read_text() == "old"
    error = json.loads((tmp_path / "r").read_text())["error"]
    assert (error["message"], error["kind"]) == ("in 'lonér\x1b', act: division by zero", "fault")
    assert (error["path"], error["line"], error["column"], error["end_column"]) == ("Loner.cal", 3, 5, 9)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "r", "t"]


@pytest.mark.parametrize(("kind", "name"), [("refuse", "input"), ("-o no/x", "option")])
def test_whose_fault_an_error_is(checked: Path, tmp_path: Path, kind: str, name: str) -> None:
    done = run(checked, *(kind if kind == "refuse" else f"fan {kind}").split(), "--result", "r", folder=tmp_path)
    if name == "option":  # known before anything is written
        assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    else:
        assert json.loads((tmp_path / "r").read_text())["error"]["kind"] == name


def test_the_printed_text_is_as_it_is_in_a_pipe(checked: Path, tmp_path: Path) -> None:
    done = run(checked, "print", "--max-firings", "300", "--result", "r", "--quiet", folder=tmp_path)
    assert done.stdout == "".join(f"line {k} \x1b[31mé\n" for k in range(300))
    assert json.loads((tmp_path / "r").read_text())["stdout_bytes"] == len(done.stdout.encode())


def test_a_terminal_gets_only_what_prints(checked: Path) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [str(checked), "print", "--max-firings", "1", "--quiet"], stdout=theirs, timeout=60, check=False
    )
    assert done.returncode == 0
    assert os.read(ours, 100).decode().replace("\r", "") == "line 0 \ufffd[31mé\n"
    os.close(ours)
    os.close(theirs)


def test_nobody_reads(checked: Path, tmp_path: Path) -> None:
    for more, code in (((), 141), (("--trace", str(tmp_path / "t"), "--max-firings", "9000"), 0)):
        with subprocess.Popen([str(checked), "print", "--quiet", *more], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(30) == code


def test_a_full_disk_is_told(checked: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(checked), "print", "--max-firings", "9", "--quiet"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "error: standard output: No space left on device")


def test_the_largest_size_of_files_is_told(checked: Path, tmp_path: Path) -> None:
    command = f"ulimit -f 0; exec {checked} print --max-firings 9 --quiet --trace {tmp_path}/t"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, f"error: '{tmp_path}/t': File too large")


def test_closed_streams_are_no_files(checked: Path, tmp_path: Path) -> None:
    command = f"exec {checked} print --max-firings 3 --trace {tmp_path}/t >&- 2>&- <&-"
    assert subprocess.run(["sh", "-c", command], timeout=60, check=False).returncode == 0
    assert len(read_trace(tmp_path / "t")[0]) == 3


@pytest.mark.parametrize(
    ("kind", "number"), [("segfault", signal.SIGSEGV), ("abort", signal.SIGABRT), ("overflow", signal.SIGSEGV)]
)
def test_crashes_name_signal_and_actor(plain: Path, kind: str, number: signal.Signals) -> None:
    done = run(plain, kind)
    assert done.returncode == -number
    assert done.stderr == f"crash: {number.name} in 'lon??r?'\n"


def test_memory_has_a_wall(plain: Path) -> None:
    done = run(plain, "hungry", "--max-memory", "100M")
    assert done.returncode == 1
    assert "error: in 'lonér\ufffd': the run needs more memory than the 100 MiB that it may take, after " in done.stderr
    assert (
        "\n  = if it would go on for ever, end it with --max-firings N; --max-memory SIZE allows more\n" in done.stderr
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_run(checked: Path, tmp_path: Path, number: signal.Signals) -> None:
    command = [str(checked), "wide", "--trace", str(tmp_path / "t"), *ENDLESS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.3)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 128 + number
    assert said.startswith("interrupted; the run was in 'lonér\ufffd', after ")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(checked: Path) -> None:
    told, telling = os.pipe()
    command = [str(checked), "wide", "--progress", str(telling), *ENDLESS, "--max-firings", "20000000", "--quiet"]
    done = subprocess.run(command, pass_fds=(telling,), timeout=60, check=False)
    os.close(telling)
    with os.fdopen(told) as lines:
        numbers = [int(line) for line in lines]
    assert done.returncode == 0
    assert numbers
    assert numbers == sorted(numbers)


MAPPING = """<Configuration><Partitioning>
<Partition id="a" scheduling="ROUND_ROBIN"><Instance id="source"/><Instance id="sum"/></Partition>
<Partition id="b"><Instance id="split"/><Instance id="sink"/></Partition></Partitioning>
<connections><connection source="sum" source-port="Out" target="sink" target-port="A" size="{size}"/></connections>
</Configuration>"""


def test_a_mapping_is_shown(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "m.xcf").write_text(MAPPING.format(size=8))
    (tmp_path / "b.bxdf").write_text("<bxdf default-size='33'/>")
    done = run(checked, "fan", "--mapping", "m.xcf", "--show-mapping", "-s", "70", folder=tmp_path)
    document = json.loads(done.stdout)
    assert [p["actors"] for p in document["partitions"]] == [["source", "sum"], ["split", "sink"]]
    assert [p["policy"] for p in document["partitions"]] == ["ROUND_ROBIN", "NON_PREEMPTIVE"]
    assert document["capacities"] == [70, 70, 70, 8, 70]
    done = run(checked, "fan", "--mapping", "m.xcf", "--buffers", "b.bxdf", "--show-mapping", folder=tmp_path)
    assert json.loads(done.stdout)["capacities"] == [33] * 5


def test_a_capacity_below_a_rate_is_refused(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "m.xcf").write_text(MAPPING.format(size=3))
    done = run(checked, "fan", "--mapping", "m.xcf", folder=tmp_path)
    assert done.returncode == 2
    said = "error: connection sum.Out->sink.A has room for 3 tokens, but a firing moves 4 at once"
    assert done.stderr == f"{said}\n  = give it at least 4\n"


def test_the_version_is_that_of_dse() -> None:
    assert f'#define DSE_VERSION "{dse.__version__}"\n' in SHARED_UNITS[0].text
    headers = [path.read_text() for path in RUNTIME.rglob("*.hpp")]
    assert not [text for text in headers if f'"{dse.__version__}"' in text], "it stands in dse/__init__.py alone"


@pytest.mark.parametrize("policy", ["ROUND_ROBIN", "NON_PREEMPTIVE", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL"])
def test_a_mapping_runs_as_one_thread_does(checked: Path, tmp_path: Path, policy: str) -> None:
    (tmp_path / "m.xcf").write_text(MAPPING.format(size=8).replace("ROUND_ROBIN", policy))
    found = []
    for more in ((), ("--mapping", "m.xcf"), ("--mapping", "m.xcf", "--pin")):
        files = ("--trace", "t", "--result", "r", "--hashes", "--quiet")
        assert run(checked, "fan", *files, *more, folder=tmp_path).returncode == 0
        document = json.loads((tmp_path / "r").read_text())
        hashes = [channel["hash"] for channel in document["channels"]]
        found.append((hashes, [ids.tolist() for ids in read_trace(tmp_path / "t")][:3]))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("cores", ["0", "0,1,2", "0,x", "0,-1", "", "0,1024", "1,,2"])
def test_cores_are_pairs(checked: Path, cores: str) -> None:
    done = run(checked, "fan", f"--ping-pong={cores}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: cores '{cores}' are n")


def test_ping_pong(plain: Path, tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    alone = json.loads(run(plain, "fan", "--ping-pong", f"{core},{core}").stdout)
    assert [pair["cores"] for pair in alone["pairs"]] == [[core, core]]
    run(plain, "fan", "--ping-pong", f"{core},{core}", "--result", "r", folder=tmp_path)
    machine = json.loads((tmp_path / "r").read_text())["machine"]
    (pair,) = machine["ping_pong"]
    assert pair["cores"] == [core, core]
    assert len(pair["work_ns"]) == 4
    assert all(0.05 < ns < 1000 for ns in pair["work_ns"]), "ten instructions"
    assert len(machine["threads"]) == 1


def test_actions_that_are_timed_one_by_one(readers: Readers, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("0 0\n\n  2   1\r\n3 2")
    assert readers.ask("singly", str(path)) == [[0, 0], [2, 1], [3, 2]]
    for wrong in ("4 0", "0 1", "-1 0", "0", "0 0 0", "a b", "0 99999999999999999999"):
        path.write_text(f"0 0\n{wrong}\n")
        (error,) = readers.ask("singly", str(path))["errors"]
        assert (error["message"], error["place"][0]) == (f"'{wrong}' names no action", 2)
