"""Whatever a program does, the natives in C++ do what those in Python do."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dse.run.options import RunOptions
from tests.examples import examples
from tests.native.natives.both import Script, run_cpp, run_python
from tests.native.natives.declared import CALLS, Call
from tests.native.natives.test_equal import NAMES, left_behind, make_tree, readable, snapshot

_NAMES = tuple(n for n in NAMES if not n.startswith("/"))
_NUMBERS = st.integers(2, 9)
_COUNTS = st.sampled_from((-1, 0, 1, 3, 60, 4000, 4096, 4097, 9000))
_STEPS = st.one_of(
    st.tuples(st.just("AccessFile.openFile"), st.sampled_from(_NAMES)),
    st.tuples(st.just("channel.open"), st.sampled_from(_NAMES), st.sampled_from(("r", "w"))),
    st.tuples(st.just("Writer.writer_open"), st.sampled_from(_NAMES)),
    st.tuples(st.just("Source.source_open"), st.sampled_from(_NAMES)),
    st.tuples(st.just("AccessFile.readBytes"), _NUMBERS, st.just("$b"), _COUNTS),
    st.tuples(st.just("AccessFile.writeBytes"), _NUMBERS, st.just("$b"), _COUNTS),
    st.tuples(st.just("AccessFile.seek"), _NUMBERS, st.integers(0, 9000)),
    st.tuples(
        st.sampled_from(("AccessFile.readByte", "AccessFile.sizeOfFile", "AccessFile.filePointer", "channel.readByte")),
        _NUMBERS,
    ),
    st.tuples(st.sampled_from(("AccessFile.closeFile", "channel.close", "Writer.writer_closeAndQuit")), _NUMBERS),
    st.tuples(st.just("AccessFile.writeByte"), _NUMBERS, st.integers(-300, 300)),
    st.tuples(st.just("Writer.Writer_init")),
    st.tuples(st.just("Writer.Writer_write"), st.integers(0, 255)),
)
_MANY = settings(
    max_examples=examples(150),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each example starts a program: to shrink one takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
_OPTIONS = st.builds(
    RunOptions,
    input=st.sampled_from((None, "in", "bits")),
    output=st.sampled_from((None, "out", "o.bin")),
    allow_files=st.sampled_from(((), ("allowed",), ("net",))),
    unnamed_output=st.sampled_from((None, "small")),
)


def transcript(script: Script, folder: Path, run: Callable[[Script], list[str]], *, left: bool) -> object:
    """Return what a script gave in a fresh folder, and what is in the folder then."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    make_tree(root)
    os.chdir(root)
    if left:
        left_behind()
    return readable(run(script)), snapshot(root)


@pytest.mark.slow
@_MANY
@given(steps=st.lists(_STEPS, max_size=25), options=_OPTIONS, left=st.booleans())
def test_random_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[tuple[object, ...]], options: RunOptions, left: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Script(options).list("$b", "u8", (5000,), [(7 * k) % 256 for k in range(5000)])
    for name, *arguments in steps:
        script.call(str(name), *arguments)
    python, cpp = (transcript(script, tmp_path, run, left=left) for run in (run_python, run_cpp))
    assert cpp == python
    assert (tmp_path / "root" / "secret").read_bytes() == b"TOP"


_TEXTS = ("small", "data/x", "r", "w", "", "../secret", "in_q.txt", "bits", "x")
_INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 64, 65, 255, 256, -1, -2, 1 << 31, -(1 << 31), (1 << 62) + 1, -(1 << 62))
_REALS = (0.0, -0.5, 1.5, 1e300, float("inf"), float("-inf"), float("nan"))
_ELEMENTS = {
    "u8": st.integers(0, 255),
    "i32": st.integers(-(1 << 31), (1 << 31) - 1),
    "u64": st.integers(0, (1 << 64) - 1),
    "bool": st.integers(0, 1),
    "f32": st.sampled_from((0.0, 0.5, -2.0)),
    "f64": st.sampled_from(_REALS),
}
_CALLED = tuple(c for c in CALLS if not c.unit.startswith("other."))


def _argument(parameter: str) -> st.SearchStrategy[object]:
    element, star, dimensions = parameter.partition("*")
    if star:
        return st.just(f"${element}{dimensions}")
    match element:
        case "text":
            return st.sampled_from(_TEXTS)
        case "real":
            return st.sampled_from(_REALS)
        case "flag":
            return st.booleans()
        case "byte" | "u64":
            return st.integers(0, 255)
        case _:
            return st.sampled_from(_INTEGERS)


@st.composite
def _calls(draw: st.DrawFn) -> list[tuple[Call, tuple[object, ...]]]:
    """Draw calls of a few natives, so that they meet again; of exit codes only those of the system are told alike."""
    known = draw(st.lists(st.sampled_from(_CALLED), min_size=1, max_size=5))
    chosen = draw(st.lists(st.sampled_from(known), max_size=12))
    return [(call, tuple(draw(_argument(p)) for p in call.parameters)) for call in chosen if call.name != "source_exit"]


@pytest.mark.slow
@_MANY
@given(calls=_calls(), data=st.data(), options=_OPTIONS)
def test_random_calls(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: list[tuple[Call, tuple[object, ...]]],
    data: st.DataObject,
    options: RunOptions,
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = data.draw
    suffix = draw(st.sampled_from((".yuv", ".png", ".pgm", ".ppm")))
    options = replace(
        options,
        output=options.output and f"{options.output}{suffix}",
        reference=draw(st.sampled_from((None, "bits"))),
        frames=draw(st.sampled_from((None, 2))),
        tolerance=draw(st.sampled_from((0, 9))),
        console_input=("1", "x"),
    )
    script = Script(options, calls=calls)
    used = {p for call, _ in calls for p in call.parameters if "*" in p}
    for element, _, dimensions in (p.partition("*") for p in sorted(used)):
        sizes = (3, 4) if dimensions == "2" else (9,)
        script.list(f"${element}{dimensions}", element, sizes, draw(st.lists(_ELEMENTS[element], max_size=9)))
    python, cpp = (transcript(script, tmp_path, run, left=False) for run in (run_python, run_cpp))
    assert cpp == python
