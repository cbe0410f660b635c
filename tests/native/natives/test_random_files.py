"""Whatever a program does with files, the natives in C++ do what those in Python do."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dse.run.options import RunOptions
from tests.native.natives.both import Script, run_cpp, run_python
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
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
