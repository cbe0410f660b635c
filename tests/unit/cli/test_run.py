"""``dse run``: output, JSON, exit codes, messages without a traceback."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from tests.unit.run.programs import SINK, network_of

HELLO = 'actor Hello () ==> : bool ran := false; say: action ==> guard not ran do ran := true; println("hi"); end end'
READER = """actor Reader () ==> : @native procedure source_init() end @native function source_sizeOfFile() --> int end
    initialize ==> do source_init(); println(source_sizeOfFile()); end end"""


def test_a_program_prints_on_standard_output_and_the_rest_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network_of(tmp_path, (HELLO,), "a=Hello")
    assert main(["run", str(tmp_path / "Top.xdf")]) == 0
    captured = capsys.readouterr()
    assert captured.out == "hi\n"
    assert "1 firings, run in Python; no actor can fire any more" in captured.err
    assert main(["run", str(tmp_path / "Top.xdf"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_json_is_one_document_with_stable_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network_of(tmp_path, (HELLO,), "a=Hello")
    assert main(["run", str(tmp_path / "Top.xdf"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["firings"] == 1
    assert document["outputs"] == []
    assert len(document["digest"]) == 64
    assert document["stdout"] == "hi\n"
    assert document["actors"] == {"a": {"say": 1}}
    assert (document["ended"], document["deadlock"], document["comparison"]) == ("quiescent", None, None)


def test_the_default_input_is_the_one_named_beside_the_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network_of(tmp_path, (READER,), "r=Reader")
    path = str(tmp_path / "Top.xdf")
    assert main(["run", path]) == 1
    assert "give a file with -i INPUT" in capsys.readouterr().err
    (tmp_path / "data.bin").write_bytes(b"12345")
    (tmp_path / "input.default").write_text("data.bin\n")
    assert main(["run", path]) == 0
    assert capsys.readouterr().out == "5\n"
    (tmp_path / "other").write_bytes(b"1")
    assert main(["run", path, "-i", str(tmp_path / "other")]) == 0
    assert capsys.readouterr().out == "1\n"
    (tmp_path / "data.bin").unlink()
    assert main(["run", path]) == 1
    assert "the default input 'data.bin' does not exist" in capsys.readouterr().err


def test_a_deadlock_has_exit_code_3_and_says_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """actor S () ==> int O, int P : int n := 0;
        all: action ==> O:[n] guard n < 10 do n := n + 1; end
        last: action ==> P:[n] guard n = 10 do n := 11; end end"""
    join = "actor J () int I, int K ==> : action K:[k], I:[a] ==> do println(k); end end"
    network_of(tmp_path, (source, join), "s=S j=J s.O->j.I s.P->j.K")
    assert main(["run", str(tmp_path / "Top.xdf"), "-s", "4", "--quiet"]) == 3
    error = capsys.readouterr().err
    assert "deadlock: j, s wait for each other; s.O->j.I is full with 4 tokens" in error
    assert "its writer goes on when it holds 5 tokens (-s 5, or bufferSize in the XDF)" in error
    assert "if the run then stops later, it needs more: try powers of two" in error
    assert main(["run", str(tmp_path / "Top.xdf"), "-s", "5", "--quiet"]) == 3  # as it does here
    assert main(["run", str(tmp_path / "Top.xdf"), "-s", "16", "--quiet"]) == 0
    assert main(["run", str(tmp_path / "Top.xdf")]) == 0
    assert main(["run", str(tmp_path / "Top.xdf"), "--why"]) == 0
    assert "j: untagged_0 waits for 1 tokens on K, has 0" in capsys.readouterr().err


def test_left_tokens_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 5 do n := n + 1; end end"
    pair = "actor P () int I ==> int(size=64) O : action I:[a, b] ==> O:[a + b] end end"
    network_of(tmp_path, (source, pair, SINK), "s=S p=P k=Sink s.O->p.I p.O->k.I")
    assert main(["run", str(tmp_path / "Top.xdf")]) == 0
    assert "1 tokens were left in FIFOs:\n  1 in s.O->p.I" in capsys.readouterr().err


def test_a_difference_from_the_reference_has_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """actor D () ==> : @native procedure compare_NBytes(uint(size=8) b[2], uint n) end bool ran := false;
        action ==> guard not ran var uint(size=8) b[2] := [1, 2] do ran := true; compare_NBytes(b, 2); end end"""
    network_of(tmp_path, (text,), "d=D")
    (tmp_path / "ref").write_bytes(b"\x01\x05")
    arguments = ["run", str(tmp_path / "Top.xdf"), "-y", str(tmp_path / "ref")]
    assert main(arguments) == 1
    assert "0 of 1 equal the reference; largest difference 3" in capsys.readouterr().err
    assert main([*arguments, "--tolerance", "3"]) == 0
    assert main([*arguments[:2], "--tolerance", "3"]) == 2
    assert "there is none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--native", "nonsense"], 2, "'nonsense' binds no native"),
        (["--native", "A.b=math:sqrt"], 2, "declares no native 'A.b'"),
        (["-s", "0"], 2, "FIFO size is 0"),
        (["-i", "/nowhere/at/all"], 0, ""),
    ],
)
def test_wrong_usage_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], code: int, message: str
) -> None:
    network_of(tmp_path, (HELLO,), "a=Hello")
    assert main(["run", str(tmp_path / "Top.xdf"), *extra]) == code
    assert message in capsys.readouterr().err


def test_a_missing_network_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "None.xdf")]) == 1
    assert "None.xdf" in capsys.readouterr().err


STARVED = "actor Starved () bool In ==> bool Out : say: action In:[a] ==> Out:[a] end end"


def test_nothing_fires_is_a_warning_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network_of(tmp_path, (STARVED,), "a=Starved b=Starved a.Out->b.In b.Out->a.In")
    for options in ((), ("--why",)):
        assert main(["run", str(tmp_path / "Top.xdf"), *options]) == 0
        error = capsys.readouterr().err
        assert "warning: nothing fired: this is what the actors wait for" in error
        assert error.count("  a") == 1
    assert main(["run", str(tmp_path / "Top.xdf"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", str(tmp_path / "Top.xdf"), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == ["nothing fired"]
    assert main(["estimate", str(tmp_path / "Top.xdf")]) == 1
    assert "= a" in capsys.readouterr().err


def test_who_fires_for_ever_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    idle = "actor Z () ==> : action ==> end end"
    once = "actor S () ==> int O : initialize ==> O:[1] end end"
    sink = "actor K () int I ==> : action I:[x] ==> end end"
    network_of(tmp_path, (idle, once, sink), "z=Z s=S k=K s.O->k.I")
    argv = ["run", str(tmp_path / "Top.xdf"), "--execution", "python"]
    assert main([*argv, "--why"]) == 0
    assert "  z: fires on, " in capsys.readouterr().err
    assert main(argv) == 0
    assert "fires on" not in capsys.readouterr().err
