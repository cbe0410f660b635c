"""No name of any input does anything in any output: page, picture, XML, JSON, terminal."""

import contextlib
import hashlib
import io
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.trace_store import MAGIC
from dse.formats.xdf import read_xdf, write_xdf
from dse.report.page.assets import page_assets
from tests.property.hostile_names import (
    ANYWHERE,
    FILE_NAME,
    HOSTILE,
    NOT_IN_XML,
    World,
    live_in,
    make_world,
    page_of,
    unprintable,
    xml_shape,
)
from tests.unit.report.timeline_readers import read as read_timeline

_ESTIMATE = ("--engine", "compiled", "--missing-weights", "nominal")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def dse(*arguments: str, stream: Callable[[], io.StringIO] = io.StringIO) -> tuple[int, str, str]:
    """Return exit code, standard output and error of a command."""
    output, error = stream(), stream()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        try:
            code = main(list(arguments))
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return code, output.getvalue(), error.getvalue()


def commands(world: World) -> dict[str, tuple[str, ...]]:
    """Return commands that succeed in a world, in an order in which each finds the files that it needs."""
    n, p, o = world.network, world.platform, world.out
    explore = ("explore", n, "--platform", p, *_ESTIMATE, "--budget", "6")
    return {
        "check": ("check", n),
        "check-all": ("check", "--all", "."),
        "check-ir": ("check", "--print-ir", world.names[3], n),
        "check-json": ("check", "--json", n),
        "check-gpu": ("check", "--gpu", n),
        "run": ("run", "--why", n),
        "run-json": ("run", "--json", n),
        "trace": ("trace", n, "-o", f"{o}.trace"),
        "trace-info": ("trace", "--info", f"{o}.trace"),
        "trace-json": ("trace", "--json", "--info", f"{o}.trace"),
        "trace-export": ("trace", f"{o}.trace", "--export", f"{o}e.trace"),
        "trace-picture": ("trace", f"{o}.trace", "--export", f"{o}.dot"),
        "trace-graph": ("trace", f"{o}.trace", "--export", f"{o}e.xml"),
        "graph-info": ("trace", "--info", f"{o}e.xml"),
        "graph-estimate": ("estimate", f"{o}e.xml", "--missing-weights", "zero", "--engine", "compiled"),
        "throughput": ("throughput", f"{o}e.xml", "--missing-weights", "zero", "--overlap", "--storage", "3"),
        "throughput-out": (
            "throughput",
            f"{o}e.xml",
            "--missing-weights",
            "zero",
            "--storage",
            "3",
            "-o",
            f"{o}e.bxdf",
        ),
        "throughput-json": ("throughput", n, "--platform", p, *_ESTIMATE, "--json"),
        "trace-import": ("trace", "--import", f"{o}e.trace", "--net", f"{o}e.net", "-o", f"{o}i.trace"),
        "explore": (*explore, "--objectives", "makespan,partitions", "--out", o, "--timeline", f"{o}b.json"),
        "explore-json": (*explore, "--out", f"{o}2", "--json"),
        "estimate": ("estimate", n, "--platform", p, *_ESTIMATE, "--mapping", f"{o}/best-01.xcf"),
        "estimate-json": ("estimate", n, "--platform", p, *_ESTIMATE, "--mapping", f"{o}/best-01.xcf", "--json"),
        "estimate-accounts": ("estimate", n, "--platform", p, *_ESTIMATE, "--accounts"),
        "what-if": (
            "what-if",
            n,
            "--platform",
            p,
            *_ESTIMATE,
            "--mapping",
            f"{o}/best-01.xcf",
            "--curve",
            world.names[0],
        ),
        "what-if-json": ("what-if", n, "--platform", p, *_ESTIMATE, "--mapping", f"{o}/best-01.xcf", "--json"),
        "why": ("why", n, "--platform", p, *_ESTIMATE, "--mapping", f"{o}/best-01.xcf"),
        "why-json": ("why", n, "--platform", p, *_ESTIMATE, "--mapping", f"{o}/best-01.xcf", "--json"),
        "why-program": ("why", n, "--platform", p, *_ESTIMATE, "--path", f"{o}p.csv"),
        "timeline": ("estimate", n, "--platform", p, *_ESTIMATE, "--timeline", f"{o}.json"),
        "timeline-perfetto": (
            "why",
            n,
            "--platform",
            p,
            *_ESTIMATE,
            "--mapping",
            f"{o}/best-01.xcf",
            "--timeline",
            f"{o}.pftrace",
        ),
        "study-show": ("study", "show", o),
        "study-compare": ("study", "compare", o, o),
        "study-export": ("study", "export", o),
        "estimate-two": ("estimate", n, "--platform", p, *_ESTIMATE, "--mapping", *[f"{o}/best-01.xcf"] * 2),
        "buffers": ("buffers", n, "--platform", p, *_ESTIMATE, "--out", f"{o}.bxdf"),
        "buffers-json": ("buffers", n, "--platform", p, *_ESTIMATE, "--json"),
        "nominal": ("weights", "nominal", n, "--platform", p, "-o", f"{o}w"),
        "predict": ("weights", "predict", n, "--device", world.device, "-o", f"{o}g"),
        "show": ("weights", "show", f"{o}g"),
        "show-json": ("weights", "show", f"{o}g", "--json"),
        "merge": ("weights", "merge", f"{o}w", f"{o}g", "-o", f"{o}m"),
    }


def results(world: World) -> dict[str, tuple[int, str, str]]:
    """Return what each command of a world gives; all of them succeed."""
    found = {}
    with contextlib.chdir(world.folder):
        for name, command in commands(world).items():
            found[name] = dse(*command)
            assert found[name][0] == 0, (name, found[name])
    return found


Worlds = tuple[World, World, dict[str, tuple[int, str, str]]]


@pytest.fixture(scope="module")
def hostile_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world in which no command has run."""
    return make_world(tmp_path_factory.mktemp("world") / "hostile", HOSTILE, ANYWHERE, FILE_NAME)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """Return a hostile world, a harmless one of the same shape, and what the commands print in the hostile one."""
    folder = tmp_path_factory.mktemp("worlds")
    hostile = make_world(folder / "hostile", HOSTILE, ANYWHERE, FILE_NAME)
    plain = tuple(f"name{i:02d}" for i in range(len(HOSTILE)))
    harmless = make_world(folder / "harmless", plain, tuple(f"other{i}" for i in range(len(ANYWHERE))), "plain")
    results(harmless)
    return hostile, harmless, results(hostile)


def files(world: World, pattern: str) -> list[Path]:
    """Return the files of a world by what their names end in, in an order that the names do not change."""
    found = [p for p in world.folder.rglob("*") if p.is_file() and p.name.endswith(pattern)]
    return sorted(found, key=lambda p: (p.parent.name[-1:], len(p.name), p.name[-12:]))


def test_the_page_holds_names_as_text_only(worlds: Worlds) -> None:
    hostile, harmless, _ = worlds
    pages, plain = files(hostile, "report.html"), files(harmless, "report.html")
    assert len(pages) == len(plain) == 2
    for path, harmless_path in zip(pages, plain, strict=True):
        page, expected = page_of(path.read_text("utf-8")), page_of(harmless_path.read_text("utf-8"))
        assert page.shape == expected.shape, "a name brought an element or an attribute"
        assert live_in(page) == ["script"] * 4, "the data, two libraries, our own"
        texts = [text for text in page.texts if text not in page_assets().scripts]
        assert len(texts) == len(page.texts) - 3
        assert not unprintable("".join(texts).replace("\t", ""))
        assert "Content-Security-Policy" in path.read_text("utf-8")
        for name in (*HOSTILE[:7], *ANYWHERE[:3]):
            assert any(name in text for text in page.texts), f"{name} is not in the page as text"


def test_what_is_live_would_be_found() -> None:
    """The test above sees the fault that it is about."""
    page = page_of("<svg><title><img src=x onerror=alert(1)></title><a href='javascript:x'>y</a></svg>")
    assert live_in(page) == ["img", "src", "onerror", "a", "href"]
    assert unprintable("a\x1b[31m\u202e\x9b\x7f\n") == {"\x1b", "\u202e", "\x9b", "\x7f"}


@pytest.mark.parametrize("suffix", [".xcf", ".bxdf", ".exdf", ".sxdf", ".cxdf", ".net", "e.trace", "e.xml"])
def test_xml_holds_names_as_values_only(worlds: Worlds, suffix: str) -> None:
    hostile, harmless, _ = worlds
    found, plain = files(hostile, suffix), files(harmless, suffix)
    assert found
    assert len(found) == len(plain)
    shapes = sorted(xml_shape(path.read_bytes()) for path in found)
    assert shapes == sorted(xml_shape(path.read_bytes()) for path in plain)


def test_a_network_that_is_written_has_the_names_that_were_read(worlds: Worlds, tmp_path: Path) -> None:
    hostile, _, _ = worlds
    network = read_xdf(str(hostile.folder / hostile.network))
    write_xdf(network, str(tmp_path / "again.xdf"))
    again = read_xdf(str(tmp_path / "again.xdf"))
    assert [i.id for i in again.instances] == list(HOSTILE)


def test_timelines_hold_names_that_print(worlds: Worlds) -> None:
    hostile, _, _ = worlds
    for ending in (".json", ".pftrace", "b.json"):
        name = f"{hostile.out}{ending}"
        (process,) = read_timeline(name, (hostile.folder / name).read_bytes())
        texts = [process.title, *process.tracks, *process.counters, *(at.name for at in process.slices)]
        assert not unprintable("".join(texts))
        assert any(HOSTILE[0] in text for text in texts)


def test_an_imported_trace_has_the_names_that_were_exported(worlds: Worlds) -> None:
    _, _, printed = worlds
    assert json.loads(printed["trace-json"][1])["actors"].keys() == set(HOSTILE)


def test_json_is_printable_ascii_with_the_names_themselves(worlds: Worlds) -> None:
    _, _, printed = worlds
    named = [command for command in printed if command.endswith("-json")]
    assert len(named) == 10
    for command in named:
        output = printed[command][1]
        assert output.isascii()
        assert not unprintable(output)
        json.loads(output)
    assert list(json.loads(printed["run-json"][1])["actors"]) == list(HOSTILE)


def test_a_terminal_gets_nothing_but_what_prints(worlds: Worlds) -> None:
    _, _, printed = worlds
    for command, (_, output, error) in printed.items():
        assert not unprintable(output), (command, unprintable(output))
        assert not unprintable(error), (command, unprintable(error))
        assert not any(line.startswith("error:") for line in (output + error).splitlines()), command
    assert "[blink]x[red]." in printed["trace-info"][1], "names are no markup of ours"


def test_progress_on_a_terminal_is_the_same_as_with_harmless_names(worlds: Worlds) -> None:
    """On a terminal there are control sequences; names bring none."""
    sequences = []
    for world in worlds[:2]:
        with contextlib.chdir(world.folder):
            found = set[str]()
            for name in ("explore", "predict", "check-all", "run", "trace"):
                code, output, error = dse(*commands(world)[name], stream=Terminal)
                assert code == 0
                found |= unprintable(output) | unprintable(error)
                harmless = ("�31m", "�[31m", "\\u009b31m", "\\u001b[31m")  # as printed, quoted in a mapping
                assert "31m" not in re.sub("|".join(map(re.escape, harmless)), "", output + error)
                assert "\x1b]" not in output + error
            sequences.append(found)
    assert sequences[0] <= {"\x1b", "\r"}
    assert sequences[0] == sequences[1]


_BAD = f"<b>{FILE_NAME}"
_OPTIONS = (
    ("{x}",),
    ("check", "{x}"),
    ("check", "{x}", "{x}"),
    ("check", "--{x}", "N"),
    ("check", "N", "--print-ir", "{x}"),
    ("check", "--all", "{x}"),
    ("run", "N", "-o", "no/{x}"),
    ("run", "N", "-y", "{x}"),
    ("run", "N", "-f", "{x}"),
    ("run", "N", "--native", "{x}"),
    ("run", "N", "--native", "a.b={x}:{x}"),
    ("trace", "--info", "{x}"),
    ("trace", "--import", "{x}"),
    ("trace", "N", "-o", "{x}/{x}"),
    ("estimate", "N", "--engine", "{x}"),
    ("estimate", "N", "--mapping", "{x}"),
    ("estimate", "N", "--platform", "{x}"),
    ("estimate", "N", "--weights", "{x}"),
    ("estimate", "N", "--buffers", "{x}"),
    ("estimate", "N", "--clocks", "{x}"),
    ("explore", "N", "--method", "{x}"),
    ("explore", "N", "--pin", "{x}"),
    ("explore", "N", "--pin", "{x}={x}"),
    ("explore", "N", "--policy", "{x}"),
    ("explore", "N", "--objectives", "{x}"),
    ("explore", "N", "--budget", "{x}"),
    ("explore", "N", "--partitions", "{x}"),
    ("explore", "N", "--cluster", "{x}"),
    ("explore", "N", "--out", "h/Sink.cal/{x}", "--budget", "2"),
    ("explore", "N", "--clocks", "{x}=3"),
    ("build", "N", "-o", "built", "--compiler", "{x}"),
    ("build", "N", "-o", "built", "--compiler", "g++ '{x}"),
    ("build", "N", "-o", "built", "--sanitize", "{x}"),
    ("build", "N", "-o", "built", "--native", "{x}"),
    ("build", "N", "-o", "built", "--native", "a.b={x}.cpp:{x}"),
    ("build", "N", "-o", "h/Sink.cal/{x}"),
    ("build", "N", "-o", "h"),
    ("profile", "N", "-o", "w", "--mapping", "{x}"),
    ("profile", "N", "-o", "w", "--compiler", "{x}"),
    ("profile", "N", "-o", "w", "-i", "{x}"),
    ("measure", "N", "--mappings", "{x}"),
    ("measure", "N", "--sample", "1", "--engine", "{x}"),
    ("measure", "N", "--sample", "1", "--compiler", "{x}"),
    ("measure", "N", "--sample", "1", "-i", "{x}"),
    ("buffers", "N", "--method", "{x}"),
    ("buffers", "N", "--tolerance", "{x}"),
    ("buffers", "N", "--mapping", "{x}"),
    ("weights", "{x}", "a"),
    ("weights", "show", "{x}"),
    ("weights", "predict", "N", "--device", "{x}"),
    ("weights", "predict", "N", "--device", "gtx1660s", "--threads", "{x}"),
    ("gpu", "{x}", "--device", "gtx1660s"),
    ("gpu", "{x}.c", "--device", "{x}"),
    ("gpu", "x.c", "--define", "{x}", "--device", "gtx1660s"),
    ("gpu", "choose", "{x}.c", "--fpga", "{x}"),
    ("gpu", "scaling", "{x}"),
    ("gpu", "scaling", "predict", "{x}", "{x}"),
    ("gpu", "scaling", "judge", "{x}", "--base", "1/2"),
    ("gpu", "scaling", "judge", "x", "--base", "{x}"),
    ("gpu", "sweep", "{x}.c", "--over", "N={x}"),
    ("gpu", "sweep", "{x}", "--over", "N=64", "--measured", "{x}"),
    ("gpu", "breakdown", "{x}", "--device", "pocl", "--measured", "{x}"),
    ("gpu", "breakdown", "{x}", "--device", "{x}", "--profile", "{x}"),
)


@pytest.mark.parametrize("command", _OPTIONS, ids=lambda c: " ".join(c).replace("{x}", "X"))
def test_a_wrong_option_is_shown_but_not_obeyed(hostile_world: World, command: tuple[str, ...]) -> None:
    extra = _ESTIMATE if command[0] in ("estimate", "explore", "buffers") and "--engine" not in command else ()
    with contextlib.chdir(hostile_world.folder):
        arguments = [hostile_world.network if word == "N" else word.replace("{x}", _BAD) for word in command]
        code, output, error = dse(*arguments, *extra)
    assert code in (1, 2), (output, error)
    assert not unprintable(output + error), unprintable(output + error)
    assert error


@pytest.mark.parametrize("name", NOT_IN_XML)
def test_a_name_that_no_file_can_hold_is_refused_where_it_comes_from(worlds: Worlds, name: str, tmp_path: Path) -> None:
    """A trace file and a platform file can spell any character; everything behind them could not."""
    _, harmless, _ = worlds
    trace = next(p for p in files(harmless, ".trace") if p.read_bytes().startswith(MAGIC))
    renamed = tmp_path / "renamed.trace"
    renamed.write_bytes(_with_name(trace.read_bytes(), "name03", name))
    platform = tmp_path / "platform.yaml"
    platform.write_text(f"name: a\nunits:\n  {json.dumps(name)}: {{kind: cpu, cores: 2}}\n")
    for command in (
        ("trace", "--info", str(renamed)),
        ("trace", str(renamed), "--export", str(tmp_path / "x.trace")),
        ("explore", str(renamed), "--out", str(tmp_path / "out")),
        ("estimate", str(trace), "--platform", str(platform)),
    ):
        code, output, error = dse(*command)
        assert code == 1, (command, output, error)
        assert not unprintable(output + error)
        assert "control characters" in error or "which no name has" in error, error


def _with_name(data: bytes, old: str, new: str) -> bytes:
    """Return a trace file with another name in it, and the right checksum of its header."""
    prefix = struct.Struct("<8sII32s")
    magic, version, length, _ = prefix.unpack(data[: prefix.size])
    header = data[prefix.size : prefix.size + length].replace(json.dumps(old).encode(), json.dumps(new).encode())
    columns = data[-(-(prefix.size + length) // 64) * 64 :]
    head = prefix.pack(magic, version, len(header), hashlib.sha256(header).digest()) + header
    return head + b"\0" * (-len(head) % 64) + columns
