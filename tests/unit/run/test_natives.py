"""Natives: bound by declaring unit, overridable, failing only when called; sources, sinks, writers, displays."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import ExecutionError, OptionError
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.natives.screen import encode
from dse.run.options import RunOptions
from tests.unit.run.programs import network_of, run_program

ECHO = """actor Echo () ==> :
    @native procedure source_init() end
    @native procedure source_readNBytes(uint(size=8) buffer[4], uint n) end
    @native function source_sizeOfFile() --> int end
    @native procedure source_exit(int code) end
    int left := 0;
    initialize ==> do source_init(); left := source_sizeOfFile(); end
    action ==> guard left > 0 var uint(size=8) b[4], int n := if left < 4 then left else 4 end
    do source_readNBytes(b, n); left := left - n; foreach int i in 0 .. n - 1 do print(b[i] + " "); end
        source_exit(0); end
end"""


def twice(value: int) -> int:
    """A native that the tests bind."""
    return 2 * value


def picture_network(folder: Path, frames: int, native: str = "displayYUV_displayPicture") -> Network:
    text = f"""actor D () ==> :
        @native procedure {native}(uint(size=8) y[16], uint(size=8) u[4], uint(size=8) v[4], int w, int h) end
        int n := 0;
        action ==> guard n < {frames} var uint(size=8) y[16] := [ n + i : for int i in 0 .. 15 ],
            uint(size=8) u[4] := [ 100 : for int i in 0 .. 3 ], uint(size=8) v[4] := [ 200 : for int i in 0 .. 3 ]
        do n := n + 1; {native}(y, u, v, 4, 4); end end"""
    return network_of(folder, (text,), "d=D")


def planar(n: int) -> bytes:
    return bytes([n + i for i in range(16)]) + bytes([100] * 4 + [200] * 4)


def test_a_source_reads_the_input_and_its_exit_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(bytes([1, 2, 3, 4, 5, 255]))
    result = run_program(tmp_path, (ECHO,), "e=Echo", RunOptions(input=str(tmp_path / "in.bin")))
    assert (result.stdout, result.why) == ("1 2 3 4 5 255 ", "quiescent")


def test_input_problems_are_told(tmp_path: Path) -> None:
    network = network_of(tmp_path, (ECHO,), "e=Echo")
    (tmp_path / "empty").write_bytes(b"")
    for given, message in (
        (None, "none was given"),
        (str(tmp_path / "absent"), "cannot read the input"),
        (str(tmp_path / "empty"), "is empty"),
        (str(tmp_path), "is a folder"),
    ):
        with pytest.raises(ExecutionError, match=message):
            run_network(network, RunOptions(input=given))


def test_an_input_without_a_reader_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    options = RunOptions(input=str(tmp_path / "x"))
    result = run_program(tmp_path, ("actor A () ==> : action ==> guard false end end",), "a=A", options)
    assert [w.message for w in result.warnings] == ["the network reads no input; -i has no effect"]


def test_reading_an_input_several_times_that_the_network_reads_once_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(bytes((1, 2)))
    options = RunOptions(input=str(tmp_path / "in.bin"), loops=2)
    result = run_program(tmp_path, (ECHO,), "e=Echo", options)
    assert [w.message for w in result.warnings] == ["the network reads its input once; -l has no effect"]


def test_an_unknown_native_fails_only_when_called_and_can_be_bound(tmp_path: Path) -> None:
    text = """actor A () ==> : @native function strange(int x) --> int(size=8) end int n := 0;
        action ==> guard n < {} do n := n + 1; println(strange(100)); end end"""
    assert run_program(tmp_path, (text.format(0),), "a=A").stdout == ""
    network = network_of(tmp_path, (text.format(1),), "a=A")
    with pytest.raises(ExecutionError, match="native 'strange', declared in A, has no Python counterpart") as caught:
        run_network(network, RunOptions())
    assert caught.value.diagnostics[0].span.line == 2
    bound = RunOptions(natives=(("A.strange", f"{__name__}:twice"),))
    assert run_network(network, bound).stdout == "-56\n"
    for override, message in (("A.other", "declares no native"), ("A.strange", "cannot be bound")):
        target = f"{__name__}:twice" if override == "A.other" else "no.such:thing"
        with pytest.raises(OptionError, match=message):
            run_network(network, RunOptions(natives=((override, target),)))


def test_a_module_beside_the_network_is_found_and_is_new_in_each_run(tmp_path: Path) -> None:
    text = """actor A () ==> : @native function next() --> int(size=8) end int n := 0;
        action ==> guard n < 2 do n := n + 1; println(next()); end end"""
    for name, first in (("one", 1), ("two", 5)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(
            f"from step import STEP\nlast = {first} - STEP\ndef after():\n"
            "    global last\n    last += STEP\n    return last\n"
        )
        (folder / "step.py").write_text("STEP = 1\n")
        network = network_of(folder, (text,), "a=A")
        for _ in range(2):
            result = run_network(network, RunOptions(natives=(("A.next", "mine:after"),)))
            assert result.stdout == f"{first}\n{first + 1}\n"
    assert not [path for path in sys.path if path.startswith(str(tmp_path))]
    (tmp_path / "two" / "mine.py").write_text("1 / 0\n")
    with pytest.raises(OptionError, match=r"'A\.next' cannot be bound to 'mine:after': division by zero"):
        run_network(network, RunOptions(natives=(("A.next", "mine:after"),)))


def test_a_program_that_fails_ends_the_run_with_its_code(tmp_path: Path) -> None:
    text = "actor A () ==> : @native procedure source_exit(int c) end action ==> do source_exit(3); end end"
    result = run_program(tmp_path, (text,), "a=A")
    assert (result.why, result.exit_code) == ("exit", 3)


def test_a_guard_that_depends_on_a_native_is_tried_again(tmp_path: Path) -> None:
    loop = """@native procedure source_decrementNbLoops() end
        @native function source_isMaxLoopsReached() --> bool end"""
    late = f"""actor L () ==> : {loop} bool done := false;
        action ==> guard not done, source_isMaxLoopsReached() do done := true; println("end"); end end"""
    count = f"actor C () ==> : {loop} int n := 0; action ==> guard n < 1 do n := 1; source_decrementNbLoops(); end end"
    assert run_program(tmp_path, (late, count), "l=L c=C").stdout == "end\n"


def filter_program(folder: Path) -> Network:
    source = """actor source () ==> int O : @native procedure native_source_init(int i) end
        @native function native_source_produce(int i) --> int end
        initialize ==> do native_source_init(0); end
        action ==> O:[native_source_produce(0)] end end"""
    sink = """actor sink () int I ==> : @native procedure native_sink_consume(int x) end
        action I:[x] ==> do native_sink_consume(x * 2); end end"""
    return network_of(folder, (source, sink), "s=source k=sink s.O->k.I")


def test_a_source_of_samples_ends_and_the_rest_drains(tmp_path: Path) -> None:
    (tmp_path / "input_0.in").write_text("1\n-2\n3\n")
    out = tmp_path / "out.txt"
    result = run_network(filter_program(tmp_path), RunOptions(input=str(tmp_path), output=str(out)))
    assert (out.read_text(), result.why, result.tokens_left) == ("2\n-4\n6\n", "quiescent", 0)
    assert result.actions[0][0] == 3
    assert result.outputs == (str(out),)


def test_a_bad_sample_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("1 x")
    with pytest.raises(ExecutionError, match="holds 'x' where a number should be"):
        run_network(filter_program(tmp_path), RunOptions(input=str(tmp_path / "in")))


def test_a_writer_writes_bytes_and_closing_it_ends_the_program(tmp_path: Path) -> None:
    text = """actor W () ==> : @native procedure Writer_init() end @native procedure Writer_write(uint(size=8) b) end
        @native procedure Writer_close() end int n := 0;
        initialize ==> do Writer_init(); end
        write: action ==> guard n < 3 do Writer_write(254 + n); n := n + 1; end
        close: action ==> guard n >= 3 do Writer_close(); end end"""
    out = tmp_path / "out.bin"
    result = run_program(tmp_path, (text,), "w=W", RunOptions(output=str(out)))
    assert out.read_bytes() == bytes([254, 255, 0])
    assert (result.why, result.exit_code, result.n_firings) == ("exit", 0, 4)
    with pytest.raises(ExecutionError, match="no name was given"):
        run_program(tmp_path, (text,), "w=W")


def test_pictures_are_written_planar_or_one_file_each(tmp_path: Path) -> None:
    network = picture_network(tmp_path, 2)
    result = run_network(network, RunOptions(output=str(tmp_path / "o.yuv")))
    assert (tmp_path / "o.yuv").read_bytes() == planar(0) + planar(1)
    assert result.frames == 2
    result = run_network(network, RunOptions(output=str(tmp_path / "o.pgm")))
    assert [Path(p).name for p in result.outputs] == ["o.pgm", "o_2.pgm"]
    assert (tmp_path / "o_2.pgm").read_bytes() == b"P5\n4 4\n255\n" + planar(1)[:16]
    with pytest.raises(OptionError, match="no picture format"):
        run_network(network, RunOptions(output=str(tmp_path / "o.tiff")))


def test_encodings_have_the_size_of_luma() -> None:
    grey = np.full((3, 5), 128, np.uint8)
    chroma = np.full((2, 3), 128, np.uint8)
    assert encode(".ppm", (grey, chroma, chroma)) == b"P6\n5 3\n255\n" + bytes([128] * 45)
    assert encode(".png", (grey,)).startswith(b"\x89PNG")


@pytest.mark.parametrize("native", ["displayYUV_displayPicture", "compareYUV_comparePicture"])
def test_pictures_are_compared_with_the_reference(tmp_path: Path, native: str) -> None:
    network = picture_network(tmp_path, 3, native)
    (tmp_path / "ref.yuv").write_bytes(planar(0) + planar(2) + planar(2))

    def run(tolerance: int) -> RunResult:
        return run_network(network, RunOptions(reference=str(tmp_path / "ref.yuv"), tolerance=tolerance))

    comparison = run(0).comparison
    assert comparison is not None
    assert (comparison.compared, comparison.equal, comparison.max_difference) == (3, 2, 1)
    tolerant = run(1).comparison
    assert tolerant is not None
    assert tolerant.equal == 3


def test_enough_pictures_end_the_run(tmp_path: Path) -> None:
    result = run_network(picture_network(tmp_path, 9), RunOptions(frames=2, output=str(tmp_path / "o.yuv")))
    assert (result.why, result.frames, result.exit_code) == ("frames", 2, 0)
    assert (tmp_path / "o.yuv").read_bytes() == planar(0) + planar(1)


def test_consoles_and_files_that_a_program_names(tmp_path: Path) -> None:
    folder = tmp_path / "system" / "io"
    folder.mkdir(parents=True)
    (folder / "Console.cal").write_text("""package system.io; unit Console :
        @native function openConsole(String id) --> int end @native function readInteger(int d) --> int end
        @native procedure write(int d, String t) end end""")
    (folder / "AccessFile.cal").write_text("""package system.io; unit AccessFile :
        @native function openFile(String n) --> int end @native function sizeOfFile(int d) --> int end
        @native function readByte(int d) --> uint(size=8) end @native procedure writeByte(int d, int(size=8) b) end
        @native procedure seek(int d, int(size=32) p) end @native function closeFile(int d) --> int end end""")
    text = """import system.io.Console.*; import system.io.AccessFile.*; actor A () ==> : bool ran := false;
        action ==> guard not ran var int c := openConsole("x"), int f := openFile("data"), int z
        do ran := true; write(c, "n=" + readInteger(c)); writeByte(f, -1); seek(f, 0);
            println(readByte(f) + sizeOfFile(f)); z := closeFile(f); end end"""
    (tmp_path / "data").write_bytes(b"abc")
    network = network_of(tmp_path, (text,), "a=A")
    options = RunOptions(console_input=("17",), files=str(tmp_path / "files"))
    assert run_network(network, options).stdout == "n=17258\n"
    assert (tmp_path / "data").read_bytes() == b"abc"
    assert (tmp_path / "files" / "data").read_bytes() == b"\xffbc"
    with pytest.raises(ExecutionError, match="no line is left"):
        run_network(network, replace(options, console_input=()))
