"""Natives of one run may be called by several threads, and no line that they print is torn."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.native.natives.both import compiled

SOURCE = Path(__file__).with_name("threads.cpp")


@pytest.mark.slow
def test_several_threads(tmp_path: Path) -> None:
    program = compiled(SOURCE, ("-fsanitize=thread",))
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "a").write_bytes(b"abc" * 100)
    (tmp_path / "in").write_bytes(bytes(range(256)))
    command = [program, "net", "in", "o.yuv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "400\n")
    parts = Counter(done.stdout.split("|")[:-1])
    wanted = (
        {f"{c * 15}\n": 100 for c in "abc"} | {f"{c * 15}\n{c * 3}\n": 100 for c in "abc"} | {c * 3: 1 for c in "abc"}
    )
    wanted |= {"d" * 3 * 2 * 200: 1}  # of one actor on two threads
    assert parts == wanted, "each part is whole lines, or the rest of a thread, of one thread alone"
    assert (tmp_path / "o.yuv").stat().st_size == 200 * (4 + 16)
    assert (tmp_path / "o.yuv.txt").read_text() == "".join(f"{k}\n" for k in range(200))
    assert {p.name for p in (tmp_path / "net-files").iterdir()} == {"a", "b"}
