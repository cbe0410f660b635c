"""Each native in C++ does what the native in Python does: results, messages, files, to the byte."""

import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from PIL import Image

from dse.native import natives as forms
from dse.run.natives import display, files, registry, signals, source, writer
from dse.run.options import RunOptions
from tests.native.natives.both import Script, run_cpp, run_python

Same: TypeAlias = Callable[[Script], list[str]]


def snapshot(folder: Path) -> dict[str, str]:
    """Return what lies below a folder: contents, links, folders; of PNG files the pixels."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        elif path.is_fifo():
            found[name] = "pipe"
        elif path.read_bytes().startswith(b"\x89PNG"):
            found[name] = _pixels(path.read_bytes())
        else:
            found[name] = f"{path.stat().st_mode:o} {path.read_bytes().hex()}"
    return found


def _pixels(data: bytes) -> str:
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return f"{image.mode} {image.size} {image.tobytes().hex()}"


def make_tree(root: Path) -> None:
    """Make what the scripts work on: a network's folder with data and links, a secret outside, inputs."""
    home = root / "net"
    (home / "data").mkdir(parents=True)
    (home / "data" / "x").write_bytes(bytes(range(200)))
    (home / "small").write_bytes(b"abcdef")
    (home / "empty").write_bytes(b"")
    (home / "link").symlink_to("../secret")
    (home / "inner").symlink_to("data/x")
    (home / "chain").symlink_to("link")
    (home / "way").symlink_to("..")
    (home / "circle").symlink_to("circle2")
    (home / "circle2").symlink_to("circle/../circle")
    (home / "lost").symlink_to("nowhere/at/all")
    (home / "absolute").symlink_to(home / "data")
    os.mkfifo(home / "pipe")
    (root / "secret").write_bytes(b"TOP")
    (root / "net-other").mkdir()
    (root / "net-other" / "secret").write_bytes(b"TOP")
    (root / "in").mkdir()
    (root / "in" / "input_0.in").write_text("1\n-2\n3 99999999999999999999 1_000 +7")
    (root / "in" / "input_1.in").symlink_to("../secret")
    (root / "in" / "in_i.txt").write_text("1.5 -0 1e400 nan -inf 1_0.5e1 .5 5. 3.4028236e38")
    (root / "in" / "in_q.txt").write_text("0.1 0.2 0.3 1e39")
    (root / "bits").write_bytes(bytes(range(256)) * 40)
    (root / "nothing").write_bytes(b"")
    (root / "allowed").mkdir()
    (root / "allowed" / "x").write_bytes(b"ab")
    (root / "out").mkdir()


@pytest.fixture
def same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Same]:
    """Run a script in Python and in C++, each in the same fresh folder; assert that all is equal; return the lines."""
    root = tmp_path / "root"

    def run(script: Script, prepare: Callable[[], None] = lambda: None) -> list[str]:
        found = []
        for execute in (run_python, run_cpp):
            monkeypatch.chdir(tmp_path)
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            make_tree(root)
            monkeypatch.chdir(root)
            prepare()
            found.append((execute(script), snapshot(root)))
        (python, left), (cpp, left_cpp) = found
        assert readable(cpp) == readable(python)
        assert left_cpp == left
        return readable(python)

    yield run
    monkeypatch.chdir(tmp_path)


def readable(lines: list[str]) -> list[str]:
    """Return the lines of a transcript with their texts as they are."""
    return [" ".join(_readable(w) for w in line.split(" ")) for line in lines]


def _readable(word: str) -> str:
    if not word.startswith("x"):
        return word
    return repr(bytes.fromhex(word[1:]).decode("utf-8", "surrogateescape").replace("\0", "\ufffd"))


def test_every_native_of_python_has_a_form() -> None:
    families = {
        source.natives: forms.SOURCE,
        writer.natives: forms.WRITER,
        display.natives: forms.DISPLAY,
        files.compare: forms.COMPARE,
        signals.digital_filtering: forms.DIGITAL_FILTERING,
        registry._simulation: forms.SIMULATION,
        signals.zigbee: forms.ZIGBEE,
        signals.predistortion: forms.PREDISTORTION,
        files.access_file: forms.ACCESS_FILE,
        files.console: forms.CONSOLE,
        files.channel: forms.CHANNEL,
    }
    assert [(p, families[f]) for p, f in registry._BY_UNIT] == list(forms.BY_UNIT)
    assert [families[f] for f in registry._BY_NAME] == list(forms.BY_NAME)
    context = registry.NativeContext.__new__(registry.NativeContext)
    context.options, context.screen = RunOptions(), None  # type: ignore[assignment]
    for family, table in families.items():
        assert set(family(context)) == set(table), family


def test_a_source_reads_its_input(same: Same) -> None:
    script = Script(RunOptions(input="bits", loops=3)).list("$b", "u8", (64,)).list("$w", "i32", (300,))
    script.call("Source.source_init").call("Source.source_sizeOfFile").call("Source.source_readNBytes", "$b", 64)
    script.call("Source.source_readNBytes", "$b", 8).call("Source.source_readNBytes", "$w", 200, lists="i32")
    script.call("Source.source_readByte").call("Source.source_readNBytes", "$b", 100)
    script.call("Source.source_rewind").call("Source.source_readByte").call("Source.source_getNbLoop")
    for _ in range(4):
        script.call("Source.source_isMaxLoopsReached").call("Source.source_decrementNbLoops")
    script.call("Source.source_init").call("Source.source_isMaxLoopsReached")
    script.call("Source.source_exit", 0).call("Source.source_exit", 3).call("Source.source_close")
    script.call("Source.source_readNBytes", "$b", 20000)
    assert "fault 'the program reads 20000 bytes at 1 of an input of 10240 bytes'" in " ".join(same(script))


@pytest.mark.parametrize("given", [None, "nothing", "in", "absent", "bits/x", "net/circle", "bits"])
def test_problems_of_the_input(same: Same, given: str | None) -> None:
    script = Script(RunOptions(input=given, loops=2)).list("$b", "u8", (4,))
    script.call("Source.source_readByte").call("Source.source_init").call("Source.source_readNBytes", "$b", 0)
    same(script)
    same(Script(RunOptions(input=given)).call("Display.displayYUV_getFlags"))
    same(Script(RunOptions(input=given)).call("Report.report_fail", "it is wrong", "mend it"))


def test_the_last_byte_is_followed_by_the_first(same: Same) -> None:
    script = Script(RunOptions(input="secret"))
    for _ in range(7):
        script.call("Source.source_readByte")
    same(script)


@pytest.mark.parametrize("given", ["in", "bits"])
def test_descriptors(same: Same, given: str) -> None:
    script = Script(RunOptions(input=given)).list("$b", "u8", (5000,)).list("$w", "i32", (3,))
    for name in ("bits", "in_q.txt", "input_1.in", "secret", "../secret", "absent", "a\0b", "x" * 300, ""):
        script.call("Source.source_open", name)
    for number in (3, 4, 2):
        script.call("Source.source_sizeOfFileFd", number).call("Source.source_readNBytesFd", number, "$b", 4)
        script.call("Source.source_readNBytesFd", number, "$w", 5, lists="i32")
        script.call("Source.source_readNBytesFd", number, "$b", 5000)
        script.call("Source.source_readNBytesFd", number, "$b", 100000).call("Source.source_rewindFd", number)
        script.call("Source.source_readNBytesFd", number, "$w", -1, lists="i32")
        script.call("Source.source_readNBytesFd", number, "$w", 2, lists="i32").call("Source.source_closeFd", number)
        script.call("Source.source_closeFd", number).call("Source.source_rewindFd", number)
    same(script)


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(output="out/o.bin"),
        RunOptions(output="o.txt", write="w.txt"),
        RunOptions(unnamed_output="output"),
        RunOptions(output="out"),
        RunOptions(output="absent/x"),
        RunOptions(output="", write=""),
    ],
)
def test_writers(same: Same, options: RunOptions) -> None:
    script = Script(options).list("$b", "u8", (4,), [1, 2, 255, 4]).list("$w", "i32", (3,), [-1, 256, 65])
    script.call("Writer.Writer_write", 1).call("Writer.Writer_init").call("Writer.Writer_write", 254)
    script.call("Writer.Writer_write", 7).call("Writer.Writer_init").call("Writer.Writer_close")
    script.call("Writer.writer_setStop", True).call("Writer.writer_getStop")
    for name in ("one", "../two", "in/three", "/secret"):
        script.call("Writer.writer_open", name)
    for number in range(3, 8):
        script.call("Writer.writer_writeNTokens", number, "$b", 3)
        script.call("Writer.writer_writeNTokens", number, "$w", 9, lists="i32")
        script.call("Writer.writer_writeNTokens", number, "$b", -1)
    for number in range(2, 9):
        script.call("Writer.writer_closeAndQuit", number)
    script.call("Writer.Writer_write", 7)
    script.call("Writer.writer_open", "again").call("Writer.writer_writeNTokens", 8, "$b", 4)
    same(script)


@pytest.mark.parametrize("output", [None, "o.yuv", "o.raw", "o.png", "o.PGM", "o.ppm", "o.tiff", ".png", "no/o.yuv"])
@pytest.mark.parametrize("frames", [None, 2])
def test_displays(same: Same, output: str | None, frames: int | None) -> None:
    script = Script(RunOptions(output=output, frames=frames, reference="bits", tolerance=200, input="bits"))
    luma = [(37 * k) % 256 for k in range(35)]
    script.list("$y", "u8", (40,), luma).list("$u", "u8", (35,), luma[::-1]).list("$v", "u8", (35,), luma[7:])
    script.list("$t", "i32", (5, 7), [-k for k in luma]).list("$l", "u64", (6,), luma[:6]).list("$f", "bool", (6,), [1])
    script.call("Display.displayYUV_init").call("Display.displayYUV_getFlags").call("Display.displayYUV_getNbFrames")
    script.call("Display.displayYUV_displayPicture", "$y", "$u", "$v", 7, 5)
    script.call("Display.displayYUV_displayPicture", "$y", "$u", "$v", 6, 4)
    script.call("Display.displayYUV_displayPicture", "$t", "$l", "$f", 5, 4, lists="i32*2")
    script.call("Display.displayYUV444_displayPicture", "$y", "$u", "$v", 7, 5)
    script.call("Display.displayYUV444_init", 1, 2).call("Display.display_getnbframes")
    script.call("Display.displayGray", 3, 2, "$y", "$t", lists="u8*1").call("Source.source_exit", 0)
    for size in ((0, 4), (8, 6), (-2, -2), (-1, 4), (1, 9), (9, 1)):
        script.call("Display.displayYUV_displayPicture", "$y", "$u", "$v", *size)
    same(script)


def test_samples_beyond_64_bits_with_a_sign_are_too_large(same: Same) -> None:
    script = Script().list("$t", "i32", (2, 2)).list("$l", "u64", (2,), [1 << 63]).list("$f", "bool", (2,))
    script.call("Display.displayYUV_displayPicture", "$t", "$l", "$f", 2, 2, lists="i32*2")
    assert "a value becomes too large" in " ".join(same(script))


@pytest.mark.parametrize("reference", [None, "bits", "secret", "nothing", "absent"])
def test_comparisons(same: Same, reference: str | None) -> None:
    script = Script(RunOptions(reference=reference, tolerance=3)).list("$b", "u8", (100,), range(100))
    script.list("$w", "i32", (8,), [256, 257, 258, -250, 4, 5, 6, 7])
    script.call("Compare.compare_NBytes", "$b", 64).call("Compare.compare_init").call("Compare.compare_readByte", 65)
    script.call("Compare.compare_NBytes", "$w", 8, lists="i32").call("Compare.compare_NBytesNext", "$b", 16, 0)
    script.call("Compare.compare_NBytes", "$b", 1000).call("Compare.compare_NBytes", "$b", -1)
    script.call("Compare.compare_NBytesNext", "$b", 0, 0).call("Compare.compare_NBytesNext", "$b", 50, 0)
    script.call("Compare.compare_close")
    same(script)


def test_pictures_of_the_program_are_compared_by_itself(same: Same) -> None:
    script = Script(RunOptions(reference="bits")).list("$y", "u8", (16,), range(16))
    script.call("Display.compareYUV_init").call("Display.compareYUV_comparePicture", "$y", "$y", "$y", 4, 4)
    script.call("Display.displayYUV_displayPicture", "$y", "$y", "$y", 4, 4)
    script.call("Display.compareYUV_comparePicture", "$y", "$y", "$y", 4, 9)
    assert "comparison 1 0 20 0" in same(script)


@pytest.mark.parametrize("output", [None, "o.yuv", "o.png", "o.pgm", "o.ppm"])
def test_pictures_line_by_line(same: Same, output: str | None) -> None:
    script = Script(RunOptions(output=output, frames=5)).list("$y", "u8", (6,), [9, 80, 255, 3, 4, 5])
    script.list("$u", "u8", (6,), [0, 255, 7, 130, 90, 4]).list("$v", "u8", (2,), [200, 10])
    script.list("$w", "i32", (6,), [255, 0, 300, -1]).list("$t", "i32", (6,), [-1])
    script.call("Picture.picture_start", 3, 2, 3)
    for _ in range(2):
        script.call("Picture.picture_line", "$y", "$u", "$y")
    script.call("Picture.picture_end").call("Picture.picture_end")
    script.call("Picture.picture_line", "$y", "$u", "$y").call("Picture.picture_end")
    script.call("Picture.picture_start", 2, 1, 1).call("Picture.picture_line", "$w", lists="i32")
    script.call("Picture.picture_end").call("Picture.picture_start", 3, 1, 1)
    script.call("Picture.picture_line", "$w", lists="i32").call("Picture.picture_line", "$t", lists="i32")
    script.call("Picture.picture_end").call("Picture.picture_line", "$y", "$u", "$v").call("Picture.picture_end")
    script.call("Picture.picture_start", 3, 1, 3).call("Picture.picture_line", "$y", "$u", "$v")
    script.call("Picture.picture_end")
    for size in ((0, 1, 1), (1, 0, 3), (4, 4, 2)):
        script.call("Picture.picture_start", *size)
    script.call("Picture.picture_start", 1, 1, 1)
    for _ in range(4):
        script.call("Picture.picture_line", "$y", "$y", "$y").call("Picture.picture_end")
        script.call("Picture.picture_start", 1, 1, 1)
    same(script)


def test_an_output_that_is_a_link_or_was_there(same: Same) -> None:
    def prepare() -> None:
        Path("there.yuv").write_bytes(b"old")
        Path("there.yuv").chmod(0o640)
        Path("l.yuv").symlink_to("there.yuv")
        Path("n.yuv").symlink_to("/dev/null")

    for name in ("there.yuv", "l.yuv", "net", "net/lost.yuv"):
        script = Script(RunOptions(output=name)).list("$y", "u8", (4,), range(4))
        script.call("Display.displayGray", 2, 2, "$y", "$y", lists="u8*1")
        same(script, prepare)  # type: ignore[call-arg]


def test_a_picture_before_any_is_begun(same: Same) -> None:
    for output in (None, "o.yuv", "o.png"):
        script = Script(RunOptions(output=output, reference="bits"))
        script.call("Picture.picture_end")
        same(script)


@pytest.mark.parametrize("given", ["in", "in/input_0.in", "bits", None, "absent"])
@pytest.mark.parametrize("output", [None, "o.txt", "out/.x", "/", "in"])
def test_sample_files(same: Same, given: str | None, output: str | None) -> None:
    script = Script(RunOptions(input=given, output=output))
    script.call("fir.native_source_init", 1).call("fir.native_source_init", 0).call("fir.native_source_init")
    script.call("fir.native_source_produce_sf")
    for _ in range(3):
        script.call("fir.native_source_produce", 0)
    script.call("fir.native_source_produce").call("fir.native_source_produce_hf", 0)
    script.call("fir.native_source_produce", 0).call("fir.native_source_produce_sf").call("fir.native_source_init", 7)
    script.call("fir.native_source_close").call("fir.native_sink_init").call("fir.native_sink_consume", -5)
    script.call("fir.native_sink_consume", (1 << 64) - 1, lists="u64")
    script.call("fir.native_sink_consume", True, lists="flag")
    for value in (0.5, 1.5, 2.5, -0.4, 1e22, float("inf"), float("nan")):
        script.call("fir.native_sink_consume_sf", value, lists="real").call("fir.native_sink_consume_hf", value)
    script.call("fir.native_sink_consume_sf", 7, lists="int")
    same(script)


def test_packets_of_zigbee(same: Same) -> None:
    for given in ("in/input_0.in", "bits", "nothing", None, "in"):
        script = Script(RunOptions(input=given, output="o.txt"))
        script.call("common_tx.source_init").call("common_tx.source_sizeOfFile")
        for _ in range(5):
            script.call("common_tx.source_readByte")
        script.call("common_tx.source_sizeOfFile").call("common_tx.throw_away", 12).call("common_tx.print_cyclecount")
        same(script)


@pytest.mark.parametrize("given", ["in", "in/in_i.txt", "net"])
def test_predistortion(same: Same, given: str) -> None:
    script = Script(RunOptions(input=given, output="o.tar.txt")).list("$f", "f32", (4,), [0.5]).list("$d", "f64", (3,))
    script.call("common_dpd.source_init").call("common_dpd.source_read_q").call("common_dpd.source_read_i")
    script.call("common_dpd.source_read_i", "$f", 1, 2).call("common_dpd.source_read_q", "$d", -2, 1)
    script.call("common_dpd.source_read_q", "$d", -4, 9).call("common_dpd.source_read_i", "$f", 0, 9)
    script.call("common_dpd.sink_consume_i", 0.1).call("common_dpd.sink_consume_q", "$d", -1)
    script.call("common_dpd.sink_consume_i", "$f", 9).call("common_dpd.sink_consume_q", -1e-9)
    script.call("common_dpd.source_read_q", "$d", 2, 9).call("common_dpd.source_read_q", "$d", 0, 1)
    for _ in range(5):
        script.call("common_dpd.source_read_i")
    same(script)


def test_consoles(same: Same) -> None:
    lines = ("17", " -1_0 ", "x", "", "9" * 30, "text\twith ä", "١٢")
    script = Script(RunOptions(console_input=lines[:6]))
    script.call("Console.openConsole", "a").call("Console.openConsole", "b").call("Console.write", 1, "x\ny")
    for _ in range(5):
        script.call("Console.readInteger", 1)
    script.call("Console.read", 2).call("Console.read", 2).call("Console.closeConsole", 1)
    same(script)


NAMES = (
    "small", "data/x", "./data/../small", "data//x", "/", "", ".", "..", "data", "empty", "new", "new/deep/file",
    "../secret", "link", "chain", "inner", "way/secret", "way/net/small", "circle", "circle/x", "circle//x", "lost",
    "absolute/x", "pipe", "../net-other/secret", "/dev/zero", "/proc/self/root/etc/passwd", "../files/small",
    "../files/left", "../allowed/x", "../allowed/new", "data/x/y", "a\0b", "n" * 300, "../files/hard",
    "../files/way/secret", "hard", "way2/secret", "~", "small/", "//small", "ä€\U0001f600",
)  # fmt: skip
"""Names that a program may give, most of them with ill will."""


def left_behind() -> None:
    """Make what an earlier run, or somebody else, has left below the folder for files."""
    Path("files").mkdir()
    Path("files/left").write_bytes(b"old")
    Path("files/small").write_bytes(b"older")
    Path("files/way").symlink_to("..")
    Path("files/way2").symlink_to("..")
    Path("files/link").symlink_to("../secret")
    os.link("secret", "files/hard")


@pytest.mark.parametrize("prepare", [lambda: None, left_behind], ids=["fresh", "left"])
@pytest.mark.parametrize("allowed", [(), ("allowed",), ("/dev",), (".",)], ids=["none", "one", "dev", "all"])
@pytest.mark.parametrize("how", ["update", "read", "write"])
def test_names_of_files(same: Same, how: str, allowed: tuple[str, ...], prepare: Callable[[], None]) -> None:
    script = Script(RunOptions(input="in", reference="bits", allow_files=allowed)).list("$b", "u8", (8,))
    for name in NAMES:
        if allowed == ("/dev",) and name.startswith("/proc"):
            continue
        match how:
            case "update":
                script.call("AccessFile.openFile", name)
            case "read":
                script.call("channel.open", name, "r")
            case _:
                script.call("channel.open", name, "w")
    for number in range(3, 3 + len(NAMES)):
        script.call("AccessFile.sizeOfFile", number).call("AccessFile.readBytes", number, "$b", 4)
        script.call("AccessFile.writeByte", number, 88).call("AccessFile.seek", number, 1)
        script.call("AccessFile.readByte", number).call("AccessFile.filePointer", number)
    same(script, prepare)  # type: ignore[call-arg]
    assert Path("secret").read_bytes() == b"TOP" or allowed == (".",)


def test_two_who_have_a_file_open(same: Same) -> None:
    script = Script().list("$b", "u8", (4,), b"wxyz")
    for _ in range(2):
        script.call("AccessFile.openFile", "small")
    script.call("AccessFile.readBytes", 4, "$b", 2).call("AccessFile.seek", 3, 2).call("AccessFile.writeByte", 3, 88)
    script.call("AccessFile.readByte", 4).call("AccessFile.closeFile", 3).call("AccessFile.readByte", 4)
    script.call("AccessFile.openFile", "./small").call("AccessFile.readByte", 5).call("channel.open", "small", "w")
    script.call("AccessFile.sizeOfFile", 4).call("AccessFile.readByte", 4)
    script.call("channel.writeByte", 6, 65).call("channel.readByte", 6).call("channel.isInputShutdown", 6)
    script.call("channel.exists", 6).call("channel.close", 6).call("channel.exists", 6)
    script.call("channel.isOutputShutdown", 6).call("channel.setOption", 1, "a", "b").call("channel.getOption", 1, "a")
    script.call("AccessFile.readBytes", 5, "$b", 4)
    same(script)


def test_amounts_and_places(same: Same) -> None:
    script = Script().list("$b", "u8", (5000,), [7] * 5000).list("$w", "i32", (3,), [-1, 300, 5])
    script.call("AccessFile.openFile", "data/x").call("AccessFile.openFile", "new")
    for number in (3, 4):
        for count in (-1, 0, 3, 150, 2147483647):
            script.call("AccessFile.readBytes", number, "$b", count)
            script.call("AccessFile.readBytes", number, "$w", count, lists="i32").call("AccessFile.filePointer", number)
        for place in (-1, 1 << 40, 100, 6000):
            script.call("AccessFile.seek", number, place)
            script.call("AccessFile.writeBytes", number, "$w", 2, lists="i32")
            script.call("AccessFile.writeBytes", number, "$b", 5000).call("AccessFile.writeBytes", number, "$b", -1)
            script.call("AccessFile.filePointer", number).call("AccessFile.sizeOfFile", number)
            script.call("AccessFile.seek", number, 90).call("AccessFile.readByte", number)
            script.call("AccessFile.writeByte", number, -2)
    script.call("AccessFile.closeFile", 9).call("AccessFile.readByte", 9)
    same(script)


@pytest.mark.parametrize("files", ["net", ".", "net/sub", "../root/net", "net/../files", "new/deep", "absolute"])
def test_the_folder_for_files(same: Same, files: str) -> None:
    script = replace_files(Script(), files)
    script.call("channel.open", "small", "w").call("channel.writeByte", 3, 1).call("AccessFile.openFile", "data/x")
    script.call("AccessFile.writeByte", 4, 1)
    same(script)


def replace_files(script: Script, files: str) -> Script:
    """Return a script with another folder for files."""
    return replace(script, files=files)


def test_folders_that_are_none(same: Same) -> None:
    for folder in ("absent", "bits", "net/circle", ""):
        same(Script(RunOptions(allow_files=(folder,))))


def test_natives_without_a_form_fail_when_they_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = readable(run_python(Script().call("other.source_init", 1)))
    assert [line.replace("MODULE:CALLABLE", "FILE.cpp:SYMBOL") for line in lines] == readable(
        run_cpp(Script().call("other.source_init", 1))
    )
    lines = readable(run_cpp(Script().call("other.strange", 1).call("other.display_checksum")))
    assert lines[1].startswith("fault \"native 'strange', declared in other.Unit, has no C++ form\"")
    assert "--native other.Unit.strange=FILE.cpp:SYMBOL" in lines[1]
    assert lines[2].startswith("fault \"native 'display_checksum' has no C++ form that gives int(size=32)\"")
