"""Reading whole files: what is no file of its own is read to its end, if it has one."""

import os
import threading
from pathlib import Path

import pytest

from dse.base.errors import DseError
from dse.base.rendering import read_source
from dse.formats.xml_source import read_bytes


def test_a_device_without_end_is_refused() -> None:
    assert read_bytes("/dev/null") == b""
    with pytest.raises(DseError, match="with more than 64 MiB") as caught:
        read_bytes("/dev/zero")
    assert caught.value.diagnostics[0].span.path == "/dev/zero"
    with pytest.raises(OSError, match="with more than 64 MiB"):
        read_source("/dev/zero")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"x" * 100_000,))
    writer.start()
    assert read_bytes(str(pipe)) == b"x" * 100_000
    writer.join()


def test_what_is_no_file(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "this is a folder"), (tmp_path / "no", "no such file"), ("a\0b", "not a file name")):
        with pytest.raises(DseError, match=said):
            read_bytes(str(path))
