"""Files kept by key: found again, bounded, and no error whatever happens to the folder."""

import os
from pathlib import Path

import pytest

from dse.base.caches import digest_of
from dse.native.cache import FileCache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "native" / "things"


def made(tmp_path: Path, text: str, mode: int = 0o644) -> Path:
    path = tmp_path / "made"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_found_again_with_its_rights(tmp_path: Path, folder: Path) -> None:
    cache = FileCache("things", ".x")
    assert cache.get("a") is None
    assert cache.put("a", made(tmp_path, "one", 0o755)) == folder / "a.x"
    assert os.access(folder / "a.x", os.X_OK)
    assert cache.get("a") == folder / "a.x"
    cache.put("a", made(tmp_path, "two"))
    assert (folder / "a.x").read_text() == "two"


def test_what_was_used_longest_ago_goes(tmp_path: Path, folder: Path) -> None:
    cache = FileCache("things", most_bytes=250)
    for k, key in enumerate("abc"):
        cache.put(key, made(tmp_path, key * 80))
        os.utime(folder / key, ns=(k * 10**9, k * 10**9))
    assert cache.get("a") is not None  # used again, so "b" is the oldest
    cache.put("d", made(tmp_path, "d" * 80))
    assert sorted(p.name for p in folder.iterdir()) == ["a", "d"]
    cache.put("e", made(tmp_path, "e" * 300))
    assert sorted(p.name for p in folder.iterdir()) == ["e"]


def test_nothing_is_kept_where_nothing_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = made(tmp_path, "one")
    monkeypatch.setenv("DSE_CACHE", "")
    assert FileCache("things").put("a", file) == file
    assert FileCache("things").get("a") is None
    monkeypatch.setenv("DSE_CACHE", str(file))  # a file where the folder should be
    assert FileCache("things").put("a", file) == file
    assert FileCache("things").get("a") is None


def test_where_a_part_ends_counts() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("ab") == digest_of(b"ab")
    assert digest_of("\udcff")


def test_a_program_can_be_run_as_soon_as_it_has_its_name(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may find it before the one that keeps it goes on."""
    named = Path.replace
    rights = []

    def replace(self: Path, target: Path) -> Path:
        rights.append(self.stat().st_mode & 0o777)
        return named(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    FileCache("things").put("a", made(tmp_path, "one", 0o755))
    assert rights == [0o755]


def test_what_a_build_has_taken_stays_there(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = FileCache("things", ".x")
    kept = cache.put("a", made(tmp_path, "one"))
    assert not cache.take("b", tmp_path / "none")
    assert cache.take("a", tmp_path / "linked")

    def on_another_disk(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("os.link", on_another_disk)
    assert cache.take("a", tmp_path / "copied")
    assert not cache.take("a", tmp_path / "no such folder" / "x")
    assert kept == folder / "a.x"
    kept.unlink()
    assert [(tmp_path / name).read_text() for name in ("linked", "copied")] == ["one", "one"]
