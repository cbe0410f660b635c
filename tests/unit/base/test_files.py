"""Files are whole or as they were, whatever stops a writer: errors, interrupts, a full disk."""

import os
import re
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import dse
from dse.base.errors import DseError
from dse.base.files import whole_file, write_whole
from dse.cli.main import main
from dse.flows.explore import explore
from dse.flows.options import ExploreOptions, ProblemOptions, parse_budget
from dse.flows.search.plan import Watcher
from dse.formats.platform_yaml import load_platform, write_platform
from dse.formats.xdf import read_xdf, write_xdf

ACTORS = Path(__file__).resolve().parents[3] / "actors"
PINGPONG = str(ACTORS / "pingpong" / "pingpong.xdf")
JPEG = str(ACTORS / "jpeg" / "jpeg.xdf")


@contextmanager
def disk_for(n_bytes: int) -> Iterator[None]:
    """No file grows beyond ``n_bytes``: the system refuses, as it does when a disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _write_half(path: Path, error: type[BaseException]) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("before", [None, b"before"])
def test_what_stops_a_writer_changes_nothing(before: bytes | None, error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(error):
        _write_half(path, error)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_full_disk_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, "before")
    with disk_for(100), pytest.raises(OSError) as raised:
        write_whole(path, "x" * 101)
    assert raised.value.filename == str(path)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"]
    missing = tmp_path / "none" / "file"
    with pytest.raises(FileNotFoundError) as absent:
        write_whole(missing, "")
    assert absent.value.filename == str(missing)
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "")


def test_rights_and_links_stay(tmp_path: Path) -> None:
    target, link, new = tmp_path / "target", tmp_path / "link", tmp_path / "new"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("target")
    write_whole(link, "é")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "é"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    usual = os.umask(0o027)
    try:
        write_whole(new, b"")
    finally:
        os.umask(usual)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


def test_what_is_no_ordinary_file_is_written_to(tmp_path: Path) -> None:
    write_whole("/dev/null", "away")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def tool(*argv: str) -> Callable[[Path], None]:
    """A writer: the command with ``$`` for the folder; raises where it fails."""

    def write(folder: Path) -> None:
        if main([a.replace("$", str(folder)) for a in argv]):
            raise DseError("it failed")

    return write


WRITERS: dict[str, Callable[[Path], None]] = {
    "trace": tool("trace", PINGPONG, "-o", "$/t"),
    "turnus": tool("trace", PINGPONG, "--export", "$/t.trace"),
    "turnus packed": tool("trace", PINGPONG, "--export", "$/t.tracez"),
    "weights": tool("weights", "nominal", PINGPONG, "-o", "$/w"),
    "picture": tool("run", JPEG, "-i", str(ACTORS / "jpeg" / "input.jpg"), "-o", "$/p.png"),
    "platform": lambda folder: write_platform(load_platform(), str(folder / "p.yaml")),
    "network": lambda folder: write_xdf(read_xdf(PINGPONG), str(folder / "n.xdf")),
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_no_writer_leaves_half_a_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WRITERS[name](tmp_path)
    before = files_of(tmp_path)
    least = min(map(len, before.values()))
    with disk_for(least - 1), pytest.raises((DseError, OSError)):
        WRITERS[name](tmp_path)
    assert files_of(tmp_path) == before
    with disk_for(least - 1), pytest.raises((DseError, OSError)):
        WRITERS[name](tmp_path / "new")
    assert files_of(tmp_path) == before


def test_a_full_disk_at_the_end_of_a_search(tmp_path: Path) -> None:
    """The files of an earlier search stay whole, put aside; those of this one are whole or not there."""
    options = ExploreOptions(
        problem=ProblemOptions(program=PINGPONG, weights=("nominal",)), budget=parse_budget("5"), out=tmp_path
    )
    explore(options)
    before = files_of(tmp_path)
    for n_bytes in (200, 3000, len(before["report.html"]) - 1):
        room = disk_for(n_bytes)
        watcher = Watcher(stage=lambda what, room=room: room.__enter__() if "report" in what else None)  # type: ignore[misc]
        with pytest.raises(DseError, match="cannot write"):
            explore(options, watcher)
        room.__exit__(None, None, None)
        after = {k: v for k, v in files_of(tmp_path).items() if not k.startswith("study")}
        assert after == {f"results-previous/{k}": v for k, v in before.items() if not k.startswith("study")}


def test_a_stream_of_pictures_ends_with_a_whole_one(tmp_path: Path) -> None:
    """Pictures that were shown before the disk was full stay: the run has failed, they have not."""
    argv = ["run", JPEG, "-i", str(ACTORS / "jpeg" / "input.jpg"), "-o", str(tmp_path / "p.yuv")]
    assert main(argv) == 0
    one = (tmp_path / "p.yuv").read_bytes()
    with disk_for(2 * len(one) + 5):
        assert main([*argv, "-l", "3"]) == 1
    assert files_of(tmp_path) == {"p.yuv": one * 2}


def test_every_writer_uses_the_helper() -> None:
    """Only the files that a program itself opens are written in place, as it may read them again, and journals are."""
    direct = re.compile(
        r"write_text\(|\.write_bytes\(|open\([^)]*[\"'](w|a|x|r\+)b?[\"']|savefig|NamedTemporary|mkstemp"
    )
    package = Path(dse.__file__).parent
    found = {str(p.relative_to(package)) for p in package.rglob("*.py") if direct.search(p.read_text("utf-8"))}
    of_programs = {"run/natives/access.py", "run/natives/context.py"}
    journals = {"flows/measure_journal.py", "studio/journal.py"}
    assert found == {"base/files.py"} | of_programs | journals
