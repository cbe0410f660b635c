"""Which files a program may open: below the network and on the command line, never the user's others."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import DseError, ExecutionError, OptionError
from dse.base.folders import results_folder
from dse.program.network import Network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.unit.run.programs import network_of

ACCESS = """package system.io; unit AccessFile :
    @native function openFile(String n) --> int end @native function closeFile(int d) --> int end
    @native procedure readBytes(int d, uint(size=8) b[32], int n) end @native function sizeOfFile(int d) --> int end
    @native procedure writeByte(int d, int(size=8) b) end @native procedure seek(int d, int(size=32) p) end end"""
CHANNEL = """package intf.channel; unit File : @native function open(String n, String mode) --> int end
    @native function readByte(int d) --> int end @native procedure writeByte(int d, int(size=8) b) end
    @native procedure close(int d) end end"""
SHOW = "foreach int k in 0 .. 3 do print(b[k] + ','); end"


def program(folder: Path, unit: str, *steps: str) -> Network:
    """Return a network in ``folder``/net whose only actor does some steps, once each."""
    home = folder / "net"
    for path, text in (("system/io/AccessFile", ACCESS), ("intf/channel/File", CHANNEL)):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / f"{path}.cal").write_text(text)
    actions = "\n".join(
        f"action ==> guard n = {k} var int f, int g, int z, uint(size=8) b[32] do n := {k + 1}; {step} end"
        for k, step in enumerate(steps)
    )
    head = f"import {unit}.*; " if unit else ""
    writer = "@native function writer_open(String n) --> int end @native procedure writer_closeAndQuit(int d) end"
    return network_of(home, (f"{head}actor A () ==> : int n := 0; {writer} {actions} end",), "a=A")


def access(folder: Path, *steps: str) -> Network:
    """Return a program that uses ``system.io.AccessFile``."""
    return program(folder, "system.io.AccessFile", *steps)


def channel(folder: Path, *steps: str) -> Network:
    """Return a program that uses a file channel."""
    return program(folder, "intf.channel.File", *steps)


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunOptions:
    """The options of a run in an empty folder; outside the network lies a secret."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net").mkdir()
    (tmp_path / "secret").write_bytes(b"TOP")
    return RunOptions()


def read(name: str) -> str:
    return f'f := openFile("{name}"); readBytes(f, b, 4); print(b[0]); print(" "); z := closeFile(f);'


def write(name: str, byte: int = 88) -> str:
    return f'f := openFile("{name}"); writeByte(f, {byte}); z := closeFile(f);'


def test_what_lies_below_the_network_is_read(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").mkdir()
    (tmp_path / "net" / "data" / "x").write_bytes(b"AB")
    (tmp_path / "net" / "inner").symlink_to("data/x")
    for name in ("data/x", "inner", "./data/../data/x", str(tmp_path / "net" / "data" / "x")):
        assert run_network(access(tmp_path, read(name)), options).stdout == "65 "


def test_no_other_file_is_read_or_changed(tmp_path: Path, options: RunOptions) -> None:
    home = tmp_path / "net"
    (home / "link").symlink_to(tmp_path / "secret")
    (home / "folder").symlink_to(tmp_path)
    (home / "chain").symlink_to("link")
    os.mkfifo(home / "pipe")
    outside = (
        "../secret",
        "link",
        "folder/secret",
        "chain",
        str(tmp_path / "secret"),
        f"/proc/self/root{tmp_path}/secret",
    )
    for name in outside:
        for step in (read(name), write(name)):
            with pytest.raises(ExecutionError, match=r"may not (read|write)") as caught:
                run_network(access(tmp_path, step), options)
            (found,) = caught.value.diagnostics
            assert "--allow-files DIR" in found.expected, name
            assert name in found.message
            assert found.span.line > 0
        with pytest.raises(ExecutionError, match="may not read"):
            run_network(channel(tmp_path, f'f := open("{name}", "r"); close(f);'), options)
    for name in ("../secret", "../new", str(tmp_path / "secret"), "folder/../../secret"):
        with pytest.raises(ExecutionError, match="may not write"):
            run_network(channel(tmp_path, f'f := open("{name}", "w"); close(f);'), options)
    with pytest.raises(ExecutionError, match="no regular file but a device or a pipe"):
        run_network(access(tmp_path, read("pipe")), options)
    with pytest.raises(ExecutionError, match="no regular file but a device or a pipe"):
        run_network(access(tmp_path, read("/dev/zero")), replace(options, allow_files=("/dev",)))
    assert (tmp_path / "secret").read_bytes() == b"TOP"


def test_a_written_file_is_a_copy_that_is_read_from_then_on(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").write_bytes(b"abc")
    (tmp_path / "net" / "other").write_bytes(b"xyz")
    result = run_network(access(tmp_path, read("data"), write("data"), read("./data"), read("other")), options)
    assert result.stdout == "97 88 120 "
    assert (tmp_path / "net" / "data").read_bytes() == b"abc"
    assert (tmp_path / "dse-out" / "Top" / "files" / "data").read_bytes() == b"Xbc"
    assert result.outputs == ("dse-out/Top/files/data",)
    assert not (tmp_path / "dse-out" / "Top" / "files" / "other").exists(), "what is only read is not copied"


def test_what_an_earlier_run_left_is_not_read(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").write_bytes(b"abc")
    first = run_network(access(tmp_path, write("data"), read("data"), write("new"), read("new")), options)
    assert first.stdout == "88 88 "
    second = run_network(access(tmp_path, read("data"), write("new", 89), read("new")), options)
    assert second.stdout == "97 89 "
    reader = channel(tmp_path, 'f := open("new", "r"); print(readByte(f)); close(f);')
    with pytest.raises(ExecutionError, match="cannot open 'new': No such file"):
        run_network(reader, options)
    left = access(tmp_path, read(str(tmp_path / "dse-out" / "Top" / "files" / "data")), read("data"))
    assert run_network(left, options).stdout == "0 97 ", "made anew, as it is not there for this run"


def test_all_who_have_a_file_open_see_the_copy(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").write_bytes(b"abcdef")
    both = """f := openFile("data"); g := openFile("data"); readBytes(g, b, 2); seek(f, 2); writeByte(f, 88);
        z := closeFile(f); readBytes(g, b, 2); print(b[0]); print(" "); print(b[1]);"""
    assert run_network(access(tmp_path, both), options).stdout == "88 100"


def test_a_channel_that_writes_makes_a_new_file(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").write_bytes(b"abc")
    network = channel(
        tmp_path,
        'f := open("data", "w"); writeByte(f, 90); close(f);',
        'f := open("data", "r"); print(readByte(f)); print(readByte(f)); close(f);',
    )
    assert run_network(network, options).stdout == "90-1"
    assert (tmp_path / "net" / "data").read_bytes() == b"abc"


def test_a_copy_never_goes_through_a_link_or_into_another_name_of_a_file(tmp_path: Path, options: RunOptions) -> None:
    files = tmp_path / "dse-out" / "Top" / "files"
    files.mkdir(parents=True)
    (files / "link").symlink_to(tmp_path / "secret")
    (files / "way").symlink_to(tmp_path)
    os.link(tmp_path / "secret", files / "hard")
    for name in ("link", "way/secret"):
        with pytest.raises(ExecutionError, match="may not write 'dse-out/Top/files/"):
            run_network(access(tmp_path, write(name)), options)
    run_network(access(tmp_path, write("hard")), options)
    assert (files / "hard").read_bytes() == b"X"
    assert (tmp_path / "secret").read_bytes() == b"TOP"


def test_folders_can_be_allowed(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_bytes(b"ab")
    name = str(tmp_path / "there" / "x")
    allowed = replace(options, allow_files=("there",))
    assert run_network(access(tmp_path, read(name), write("../there/x"), read(name)), allowed).stdout == "97 88 "
    assert (tmp_path / "there" / "x").read_bytes() == b"Xb"
    with pytest.raises(OptionError, match="there is no folder 'absent'"):
        run_network(access(tmp_path, read(name)), replace(options, allow_files=("absent",)))


def test_the_folder_for_files_does_not_hold_the_network(tmp_path: Path, options: RunOptions) -> None:
    for folder in (".", "net", str(tmp_path)):
        with pytest.raises(OptionError, match="holds the network"):
            run_network(access(tmp_path, write("x")), replace(options, files=folder))


def test_a_folder_of_inputs_or_outputs_is_not_left(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "input_0.in").symlink_to(tmp_path / "secret")
    text = """actor S () ==> : @native function native_source_produce(int i) --> int end
        action ==> do println(native_source_produce(0)); end end"""
    with pytest.raises(ExecutionError, match=r"may not read 'in/input_0\.in'"):
        run_network(network_of(tmp_path / "net", (text,), "s=S"), replace(options, input="in"))
    open_source = """actor S () ==> : @native function source_open(String n) --> int end
        action ==> do println(source_open("secret")); end end"""
    (tmp_path / "bits").write_bytes(b"b")
    with pytest.raises(ExecutionError, match="may not read 'secret'"):
        run_network(network_of(tmp_path / "net", (open_source,), "s=S"), replace(options, input="bits"))
    (tmp_path / "out").mkdir()
    for name in ("../secret", str(tmp_path / "secret")):
        with pytest.raises(ExecutionError, match="may not write"):
            run_network(program(tmp_path, "", f'f := writer_open("{name}");'), replace(options, write="out"))
    result = run_network(program(tmp_path, "", 'f := writer_open("w"); writer_closeAndQuit(f);'), options)
    assert (result.why, result.outputs) == ("exit", ("dse-out/Top/files/w",))
    assert (tmp_path / "secret").read_bytes() == b"TOP"


def test_amounts_and_places_in_files_are_bounded(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net" / "data").write_bytes(b"abc")
    for step, message in (
        ("readBytes(f, b, -1);", "reads -1 bytes"),
        ("seek(f, -1);", "seeks byte -1"),
    ):
        with pytest.raises(ExecutionError, match=message):
            run_network(access(tmp_path, f'f := openFile("data"); {step}'), options)
    whole = 'f := openFile("data"); readBytes(f, b, 2147483647); print(b[2]); print(sizeOfFile(f));'
    assert run_network(access(tmp_path, whole), options).stdout == "993"


def test_every_name_of_a_network_gives_a_folder_below_the_results() -> None:
    for name in ("..", ".", "", "../../x", "/etc", "a/b", " ", "C:\\x"):
        folder = results_folder(name)
        assert folder.parent == Path("dse-out")
        assert folder.name not in ("", ".", "..")
    assert results_folder("jpeg") == Path("dse-out/jpeg")


def test_a_native_declared_with_other_parameters_is_told(tmp_path: Path, options: RunOptions) -> None:
    text = "actor A () ==> : @native procedure source_init(int x) end action ==> do source_init(1); end end"
    with pytest.raises(DseError, match="native 'source_init' takes another number of parameters than the 1"):
        run_network(network_of(tmp_path / "net", (text,), "a=A"), options)


def boom(_value: int) -> int:
    """A native of the user that fails."""
    raise RuntimeError("no such thing")


def test_a_native_of_the_user_that_fails_is_no_traceback(tmp_path: Path, options: RunOptions) -> None:
    text = "actor A () ==> : @native function own(int x) --> int end action ==> do println(own(1)); end end"
    bound = replace(options, natives=(("A.own", f"{__name__}:boom"),))
    with pytest.raises(ExecutionError, match=r"the native 'A.own' .* failed: RuntimeError: no such thing"):
        run_network(network_of(tmp_path / "net", (text,), "a=A"), bound)


def nothing(_value: int) -> None:
    """A native of the user that returns no number."""


def text(_value: int) -> str:
    """A native of the user that returns a text."""
    return "12"


@pytest.mark.parametrize(("native", "said"), [("nothing", "returned None"), ("text", "returned '12'")])
def test_a_native_of_the_user_returns_a_value_of_its_type(
    tmp_path: Path, options: RunOptions, native: str, said: str
) -> None:
    actor = "actor A () ==> : @native function own(int x) --> int end action ==> do println(own(1)); end end"
    bound = replace(options, natives=(("A.own", f"{__name__}:{native}"),))
    with pytest.raises(ExecutionError, match=f"'own', declared in A, {said}") as caught:
        run_network(network_of(tmp_path / "net", (actor,), "a=A"), bound)
    assert caught.value.diagnostics[0].expected == "a value of its type, int(size=32)"


def fill(a: list[list[int]], b: list[bool], f: list[float], s: list[str]) -> None:
    """A native of the user that fills lists, with values that have to be stored."""
    a[0][0], a[1][1] = 300, -1000
    b[0], f[0], s[1] = 2, 0.1, "x"  # type: ignore[call-overload]


def shorten(a: list[list[int]], b: list[bool], f: list[float], s: list[str]) -> None:
    a[0].pop()


def spoil(a: list[list[int]], b: list[bool], f: list[float], s: list[str]) -> None:
    b[1] = None  # type: ignore[call-overload]


def digits(a: list[list[int]], b: list[bool], f: list[float], s: list[str]) -> None:
    f[0] = "12"  # type: ignore[call-overload]


FILLED = """actor A () ==> :
    @native procedure own(int(size=8) a[2][2], bool b[2], float f[1], String s[2]) end
    int(size=8) a[2][2]; bool b[2]; float f[1]; String s[2]; bool done := false;
    action ==> guard not done do
        done := true; own(a, b, f, s);
        println("" + a[0][0] + " " + a[1][1] + " " + b[0] + " " + (f[0] = 0.1) + s[1]); end end"""


def test_lists_that_a_native_of_the_user_fills_hold_values_of_their_types(tmp_path: Path, options: RunOptions) -> None:
    network = network_of(tmp_path / "net", (FILLED,), "a=A")
    assert run_network(network, replace(options, natives=(("A.own", f"{__name__}:fill"),))).stdout == ("44 24 1 0x\n")
    for native, name in (("shorten", "a"), ("spoil", "b")):
        with pytest.raises(ExecutionError, match=f"'own', declared in A, left in '{name}' what is no value of it"):
            run_network(network, replace(options, natives=(("A.own", f"{__name__}:{native}"),)))
    (tmp_path / "doubles").mkdir()
    doubles = network_of(tmp_path / "doubles", (FILLED.replace("float f", "double f"),), "a=A")
    with pytest.raises(ExecutionError, match="left in 'f' what is no value of it"):
        run_network(doubles, replace(options, natives=(("A.own", f"{__name__}:digits"),)))


def test_a_folder_whose_name_only_begins_alike_is_outside(tmp_path: Path, options: RunOptions) -> None:
    (tmp_path / "net-other").mkdir()
    (tmp_path / "net-other" / "secret").write_bytes(b"TOP")
    with pytest.raises(ExecutionError, match=r"may not read '\.\./net-other/secret'"):
        run_network(access(tmp_path, read("../net-other/secret")), options)


def test_a_channel_does_not_read_what_an_earlier_run_left(tmp_path: Path, options: RunOptions) -> None:
    left = tmp_path / "dse-out" / "Top" / "files" / "left"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"old")
    with pytest.raises(ExecutionError, match="No such file"):
        run_network(channel(tmp_path, f'f := open("{left}", "r"); print(readByte(f)); close(f);'), options)


def test_the_reference_is_named_by_the_user_and_may_be_read(tmp_path: Path, options: RunOptions) -> None:
    secret = tmp_path / "secret"
    named = replace(options, reference=str(secret))
    assert (
        run_network(channel(tmp_path, f'f := open("{secret}", "r"); print(readByte(f)); close(f);'), named).stdout
        == "84"
    )
    with pytest.raises(ExecutionError, match="may not read"):
        run_network(channel(tmp_path, f'f := open("{secret}", "r"); print(readByte(f)); close(f);'), options)
